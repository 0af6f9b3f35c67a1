//! Chosen curves of runs as one SVG file, for a page or a paper: with a title and names, on white.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::chart::{curve_colour, tick};

/// Pixels of the chart, which a longer title widens, and of the picture's height, which more names raise.
const CHART: u32 = 610;
const HEIGHT: u32 = 300;
/// Pixels of a title's letter and of a name's. The font is the browser's, so these are more than in most.
const TITLE_LETTER: Letter = Letter { usual: 8, wide: 13 };
const NAME_LETTER: Letter = Letter { usual: 6, wide: 10 };
/// Pixels of a line in the list of names: where the first is, the distance to the next, the length of its sample and the room to either side.
const FIRST_NAME: u32 = 40;
const NEXT_NAME: u32 = 18;
const SAMPLE: u32 = 20;
const ROOM: u32 = 8;
/// Pixels of dash and gap for each further run.
const DASHES: [(u32, u32); 2] = [(6, 4), (2, 4)];
/// A curve of as many points or more is drawn by the means of its stretches, of which there are so many at most.
const LONG: usize = 300;
const STRETCHES: usize = 100;

pub(super) struct NamedCurve<'a> {
    pub(super) name: String,
    pub(super) points: &'a [(f64, f64)],
    /// Curves of one colour belong together.
    pub(super) colour: usize,
    /// 0 draws a whole line, others dashes.
    pub(super) dashes: usize,
}

impl NamedCurve<'_> {
    fn style(&self) -> ShapeStyle {
        curve_colour(self.colour).stroke_width(2)
    }

    /// Dash and gap, where the line has some.
    fn dash(&self) -> Option<(u32, u32)> {
        let of_further = self.dashes.checked_sub(1)?;
        Some(DASHES[of_further % DASHES.len()])
    }
}

/// Pixels of a letter, and of one such as `m`, `W` or one beyond ASCII.
#[derive(Clone, Copy)]
struct Letter {
    usual: u32,
    wide: u32,
}

impl Letter {
    fn width(self, text: &str) -> u32 {
        let is_wide = |letter: char| matches!(letter, 'm' | 'w' | 'A'..='Z') || !letter.is_ascii();
        text.chars().map(|letter| if is_wide(letter) { self.wide } else { self.usual }).sum()
    }
}

pub(super) fn draw(title: &str, curves: &[NamedCurve<'_>]) -> String {
    let longest = curves.iter().map(|curve| curve.points.len()).max().unwrap_or_default();
    let means: Vec<Vec<(f64, f64)>> = curves.iter().map(|curve| means(curve.points)).collect();
    let curves: Vec<NamedCurve<'_>> = curves
        .iter()
        .zip(&means)
        .map(|(curve, points)| NamedCurve { name: curve.name.clone(), points, ..*curve })
        .collect();
    let mut svg = String::new();
    try_draw(title, &step_label(longest), &curves, &mut svg).expect("drawing into a text cannot fail");
    svg
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn try_draw(title: &str, steps: &str, curves: &[NamedCurve<'_>], svg: &mut String) -> Drawn {
    let chart = CHART.max(TITLE_LETTER.width(title) + 2 * ROOM);
    let names = curves.iter().map(|curve| NAME_LETTER.width(&curve.name)).max().unwrap_or_default();
    let height = HEIGHT.max(FIRST_NAME + NEXT_NAME * curves.len() as u32);
    let root = SVGBackend::with_string(svg, (chart + names + SAMPLE + 3 * ROOM, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let (plot, list) = root.split_horizontally(chart);
    draw_chart(&plot, title, steps, curves)?;
    for (curve, y) in curves.iter().zip((FIRST_NAME..).step_by(NEXT_NAME as usize)) {
        draw_name(&list, curve, y as i32)?;
    }
    root.present()?;
    Ok(())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw_chart(plot: &Area<'_>, title: &str, steps: &str, curves: &[NamedCurve<'_>]) -> Drawn {
    let (left, right) = bounds(curves, |point| point.0);
    let (low, high) = bounds(curves, |point| point.1);
    let margin = (high - low) * 0.05;
    let mut chart = ChartBuilder::on(plot)
        .caption(title, ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(38)
        .y_label_area_size(48)
        .build_cartesian_2d(left..right, low - margin..high + margin)?;
    chart
        .configure_mesh()
        .x_desc(steps)
        .x_labels(8)
        .x_label_formatter(&|step| tick(*step))
        .y_labels(6)
        .y_label_formatter(&|value| tick(*value))
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .draw()?;
    for curve in curves {
        let points = curve.points.iter().copied();
        match curve.dash() {
            None => chart.draw_series(LineSeries::new(points, curve.style()))?,
            Some((dash, gap)) => chart.draw_series(DashedLineSeries::new(points, dash, gap, curve.style()))?,
        };
    }
    Ok(())
}

/// Draws a piece of the curve's line, and its name.
fn draw_name(list: &Area<'_>, curve: &NamedCurve<'_>, y: i32) -> Drawn {
    let (from, to) = (ROOM as i32, (ROOM + SAMPLE) as i32);
    let ends = [(from, y), (to, y)];
    match curve.dash() {
        None => list.draw(&PathElement::new(ends, curve.style()))?,
        Some((dash, gap)) => list.draw(&DashedPathElement::new(ends, dash, gap, curve.style()))?,
    }
    list.draw(&Text::new(curve.name.clone(), (to + ROOM as i32, y - 6), ("sans-serif", 12).into_font()))?;
    Ok(())
}

/// The least and the greatest coordinate, which are not the same.
fn bounds(curves: &[NamedCurve<'_>], of: fn(&(f64, f64)) -> f64) -> (f64, f64) {
    let found = curves.iter().flat_map(|curve| curve.points.iter().map(of));
    let (low, high) = found.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low < high { (low, high) } else { (low, low + 1.0) }
}

/// Points of a stretch of a curve of so many.
fn stretch(points: usize) -> usize {
    if points < LONG { 1 } else { points.div_ceil(STRETCHES) }
}

/// What the axis of steps is called, and what a point of the longest curve is.
fn step_label(longest: usize) -> String {
    match stretch(longest) {
        1 => "step".to_owned(),
        stretch => format!("step (a point is the mean of {stretch})"),
    }
}

/// The mean of each stretch of a long curve. A short one keeps its points.
fn means(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mean = |stretch: &[(f64, f64)]| {
        let (steps, values) =
            stretch.iter().fold((0.0, 0.0), |(steps, values), point| (steps + point.0, values + point.1));
        (steps / stretch.len() as f64, values / stretch.len() as f64)
    };
    points.chunks(stretch(points.len())).map(mean).collect()
}

/// What the paths of curves have in common, as a title, and what tells each apart.
pub(super) fn title_and_labels(paths: &[String]) -> (String, Vec<String>) {
    let parts: Vec<Vec<&str>> = paths.iter().map(|path| path.split('/').collect()).collect();
    let Some((first, others)) = parts.split_first().filter(|(_, others)| !others.is_empty()) else {
        return (paths.concat(), vec![String::new(); paths.len()]);
    };
    let shared = |matches: &dyn Fn(&[&str], usize) -> bool| {
        (0..first.len()).take_while(|at| others.iter().all(|other| matches(other, *at))).count()
    };
    let before = shared(&|other, at| other.get(at) == Some(&first[at]));
    let shortest = parts.iter().map(Vec::len).min().unwrap_or_default();
    let after = shared(&|other, at| other.iter().rev().nth(at) == first.iter().rev().nth(at));
    let after = after.min(shortest.saturating_sub(before));
    // Without anything in common there is no title.
    let left_out: &[&str] = if before + after == 0 { &[] } else { &["…"] };
    let title = [&first[..before], left_out, &first[first.len() - after..]].concat().join("/");
    (title, parts.iter().map(|parts| parts[before..parts.len() - after].join("/")).collect())
}

#[cfg(test)]
mod tests {
    use super::{NamedCurve, draw, means, title_and_labels};

    fn curve<'a>(name: &str, points: &'a [(f64, f64)]) -> NamedCurve<'a> {
        NamedCurve { name: name.to_owned(), points, colour: 0, dashes: 0 }
    }

    fn size(svg: &str) -> (u32, u32) {
        let number = |name: &str| {
            let (_, rest) = svg.split_once(&format!(" {name}=\"")).expect("it has a size");
            rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
        };
        (number("width"), number("height"))
    }

    #[test]
    fn every_curve_is_drawn_with_its_name_as_text() {
        let points: Vec<(f64, f64)> = (0..1000).map(|step| (f64::from(step), f64::from(step).sqrt())).collect();
        let curves = [curve("one", &points), NamedCurve { colour: 1, ..curve("<script>", &points[990..]) }];
        let svg = draw("a/…/b", &curves);
        assert!(svg.starts_with("<svg") && svg.contains("a/…/b") && svg.contains("step"), "{svg}");
        // A curve and a sample of it in each colour.
        assert_eq!((svg.matches("#0072B2").count(), svg.matches("#D55E00").count()), (2, 2));
        assert!(svg.contains("one") && svg.contains("&lt;script&gt;") && !svg.contains("<script"), "{svg}");
        assert!(draw("", &[curve("", &[(3.0, 0.5)])]).contains("#0072B2"));
    }

    #[test]
    fn a_picture_has_room_for_its_names() {
        let points = [(0.0, 0.0), (9.0, 1.0)];
        let short = size(&draw("", &[curve("a", &points)]));
        assert_eq!(short.1, 300);
        let long = "control-seed1: solver induction and others";
        let wide = size(&draw("", &[curve(long, &points)]));
        assert_eq!(wide, (short.0 + 6 * (long.len() as u32 - 1), 300));
        assert!(size(&draw(&"a title".repeat(20), &[curve("a", &points)])).0 > 8 * 140);
        let many: Vec<NamedCurve<'_>> = (0..20).map(|_| curve("a", &points)).collect();
        assert_eq!(size(&draw("", &many)), (short.0, 40 + 18 * 20));
    }

    #[test]
    fn a_long_curve_is_drawn_by_means() {
        let points: Vec<(f64, f64)> = (0..1400).map(|step| (f64::from(step), f64::from(step % 2))).collect();
        let means = means(&points);
        assert_eq!((means.len(), means[0]), (100, (6.5, 0.5)));
        assert_eq!(super::means(&points[..299]), points[..299]);
        assert!(draw("", &[curve("a", &points)]).contains("step (a point is the mean of 14)"));
        assert!(!draw("", &[curve("a", &points[..299])]).contains("mean of"));
    }

    #[test]
    fn curves_are_named_by_what_tells_them_apart() {
        let named = |paths: &[&str]| title_and_labels(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>());
        let labels = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>();
        let paths = ["play/roles/solver deduction/solve_rate", "play/roles/solver induction/solve_rate"];
        assert_eq!(
            named(&paths),
            ("play/roles/…/solve_rate".to_owned(), labels(&["solver deduction", "solver induction"]))
        );
        assert_eq!(named(&["actor/loss"]), ("actor/loss".to_owned(), labels(&[""])));
        assert_eq!(named(&["a/x", "a/b/x"]), ("a/…/x".to_owned(), labels(&["", "b"])));
        assert_eq!(named(&["a/b", "c/d"]), (String::new(), labels(&["a/b", "c/d"])));
        assert_eq!(named(&["a", "a"]), ("a/…".to_owned(), labels(&["", ""])));
    }
}
