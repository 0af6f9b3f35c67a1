//! Chosen curves of runs as one SVG file, for a page or a paper: with a title and names, on white.

use plotters::prelude::*;

use super::chart::COLOURS;

/// Pixels.
const SIZE: (u32, u32) = (760, 300);
/// Pixels of the names beside the chart.
const NAMES: u32 = 150;
/// Points of a curve: each is the mean over a hundredth of the steps.
const POINTS: usize = 100;

/// A curve with its name.
pub(super) struct NamedCurve<'a> {
    pub(super) name: String,
    pub(super) points: &'a [(f64, f64)],
}

/// Draws the curves over the step.
pub(super) fn draw(title: &str, curves: &[NamedCurve<'_>]) -> String {
    let means: Vec<Vec<(f64, f64)>> = curves.iter().map(|curve| means(curve.points)).collect();
    let named: Vec<(&str, &[(f64, f64)])> =
        curves.iter().zip(&means).map(|(curve, means)| (curve.name.as_str(), means.as_slice())).collect();
    let mut svg = String::new();
    try_draw(title, &named, &mut svg).expect("drawing into a text cannot fail");
    svg
}

fn try_draw(title: &str, curves: &[(&str, &[(f64, f64)])], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (plot, names) = root.split_horizontally(SIZE.0 - NAMES);
    let (left, right) = bounds(curves, |point| point.0);
    let (low, high) = bounds(curves, |point| point.1);
    let margin = (high - low) * 0.05;
    let mut chart = ChartBuilder::on(&plot)
        .caption(title, ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(38)
        .y_label_area_size(48)
        .build_cartesian_2d(left..right, low - margin..high + margin)?;
    chart
        .configure_mesh()
        .x_desc("step")
        .x_labels(8)
        .x_label_formatter(&|step| format!("{step:.0}"))
        .y_labels(6)
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .draw()?;
    for (index, (name, points)) in curves.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
        let y = 40 + 18 * index as i32;
        names.draw(&Circle::new((8, y), 4, colour.filled()))?;
        names.draw(&Text::new((*name).to_owned(), (18, y - 6), ("sans-serif", 12).into_font()))?;
    }
    root.present()?;
    Ok(())
}

/// The least and the greatest coordinate, which are not the same.
fn bounds(curves: &[(&str, &[(f64, f64)])], of: fn(&(f64, f64)) -> f64) -> (f64, f64) {
    let found = curves.iter().flat_map(|(_, points)| points.iter().map(of));
    let (low, high) = found.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low < high { (low, high) } else { (low, low + 1.0) }
}

/// The mean of each stretch of a long curve. A short one keeps its points.
fn means(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mean = |stretch: &[(f64, f64)]| {
        let (steps, values) =
            stretch.iter().fold((0.0, 0.0), |(steps, values), point| (steps + point.0, values + point.1));
        (steps / stretch.len() as f64, values / stretch.len() as f64)
    };
    points.chunks(points.len().div_ceil(POINTS).max(1)).map(mean).collect()
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
    let title = [&first[..before], &["…"], &first[first.len() - after..]].concat().join("/");
    (title, parts.iter().map(|parts| parts[before..parts.len() - after].join("/")).collect())
}

#[cfg(test)]
mod tests {
    use super::{NamedCurve, draw, means, title_and_labels};

    #[test]
    fn every_curve_is_drawn_with_its_name_as_text() {
        let points: Vec<(f64, f64)> = (0..1000).map(|step| (f64::from(step), f64::from(step).sqrt())).collect();
        let curve = |name: &str, from: usize| NamedCurve { name: name.to_owned(), points: &points[from..] };
        let svg = draw("a/…/b", &[curve("one", 0), curve("<script>", 990)]);
        assert!(svg.starts_with("<svg") && svg.contains("a/…/b") && svg.contains("step"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("one") && svg.contains("&lt;script&gt;") && !svg.contains("<script"), "{svg}");
        let flat = [(3.0, 0.5)];
        assert!(draw("", &[NamedCurve { name: String::new(), points: &flat }]).contains("<circle"));
    }

    #[test]
    fn a_long_curve_is_drawn_by_means() {
        let points: Vec<(f64, f64)> = (0..1400).map(|step| (f64::from(step), f64::from(step % 2))).collect();
        let means = means(&points);
        assert_eq!((means.len(), means[0]), (100, (6.5, 0.5)));
        assert_eq!(super::means(&points[..7]), points[..7]);
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
        assert_eq!(named(&["a", "a"]), ("a/…".to_owned(), labels(&["", ""])));
    }
}
