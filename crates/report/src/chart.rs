//! One line chart as SVG, with its numbers.

use std::cmp::Ordering::Equal;

use plotters::prelude::*;
use veriplay_console::colours::COLOURS;

/// Pixels.
const SIZE: (u32, u32) = (420, 200);

/// The most stretches of a curve that a page has the data of, each as its lowest and its highest point.
const STRETCHES: usize = 1000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChartCurve<'a> {
    /// The run's index, which chooses the colour.
    pub(crate) run: usize,
    /// Steps and values; at least one.
    pub(crate) points: &'a [(f64, f64)],
    /// Steps with the lower and the upper end of an interval.
    pub(crate) band: &'a [(f64, f64, f64)],
}

/// A chart with the numbers that the page's script reads: the hover values, another smoothing and the CSV file come from them.
pub(crate) struct Chart {
    pub(crate) svg: String,
    /// JSON of numbers: the steps at both ends, the lowest and the highest value, and the pixels of these four.
    pub(crate) frame: String,
    /// JSON of numbers: of each curve its run, steps, values, and the steps and ends of its intervals.
    pub(crate) data: String,
}

/// Draws the curves over these steps, whose axis all charts of a page share: the intervals as bands, the values faintly where there is one
/// run, and their running mean.
pub(crate) fn draw(curves: &[ChartCurve<'_>], steps: (f64, f64), several: bool) -> Chart {
    let mut svg = String::new();
    let frame = try_draw(curves, steps, several, &mut svg).expect("drawing into a text cannot fail");
    let data: Vec<String> = curves.iter().map(data_of).collect();
    Chart { svg, frame: list(&frame), data: format!("[{}]", data.join(",")) }
}

/// The first and the last step of all these curves.
pub(crate) fn step_range<'a>(curves: impl Iterator<Item = &'a [(f64, f64)]>) -> (f64, f64) {
    let steps = curves.flatten().map(|point| point.0);
    let (first, last) = steps.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    (first, last.max(first + 1.0))
}

fn try_draw(
    curves: &[ChartCurve<'_>],
    (left, right): (f64, f64),
    several: bool,
    svg: &mut String,
) -> Result<[f64; 8], Box<dyn std::error::Error>> {
    let (low, high) = value_range(curves);
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&root)
        .margin(6)
        .x_label_area_size(22)
        .y_label_area_size(48)
        .build_cartesian_2d(left..right, low..high)?;
    chart
        .configure_mesh()
        .x_labels(6)
        .x_label_formatter(&|step| tick(*step))
        .y_labels(5)
        .y_label_formatter(&|value| tick(*value))
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .draw()?;
    for ChartCurve { run, points, band } in curves {
        let colour = curve_colour(*run);
        if !band.is_empty() {
            chart.draw_series(std::iter::once(Polygon::new(outline(band), colour.mix(0.15).filled())))?;
        }
        if !several {
            chart.draw_series(LineSeries::new(thinned(points, SIZE.0 as usize), colour.mix(0.3)))?;
        }
        let mean = thinned(&running_mean(points), SIZE.0 as usize);
        chart.draw_series(LineSeries::new(mean, colour.stroke_width(2)))?;
    }
    let (x, y) = chart.plotting_area().get_pixel_range();
    root.present()?;
    Ok([left, right, low, high, f64::from(x.start), f64::from(x.end), f64::from(y.end), f64::from(y.start)])
}

pub(super) fn curve_colour(index: usize) -> RGBColor {
    let (red, green, blue) = COLOURS[index % COLOURS.len()];
    RGBColor(red, green, blue)
}

/// A number at an axis: as short as it can be, and without what sums of steps leave of 0.
pub(super) fn tick(value: f64) -> String {
    if value.abs() < 1e-12 {
        return "0".to_owned();
    }
    format!("{value:.4e}").parse::<f64>().unwrap_or(value).to_string()
}

/// The lowest and the highest value of the chart, with a margin.
fn value_range(curves: &[ChartCurve<'_>]) -> (f64, f64) {
    let ends = curves.iter().flat_map(|curve| curve.band.iter().flat_map(|(_, low, high)| [*low, *high]));
    let values = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1)).chain(ends);
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let margin = ((high - low) * 0.05).max(f64::MIN_POSITIVE);
    (low - margin, high + margin)
}

/// The outline of a band: its upper ends, and its lower ones back.
fn outline(band: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    let upper = band.iter().map(|(step, _, high)| (*step, *high));
    upper.chain(band.iter().rev().map(|(step, low, _)| (*step, *low))).collect()
}

/// One curve as JSON of numbers alone, which need no quotes in an attribute.
fn data_of(curve: &ChartCurve<'_>) -> String {
    let points = thinned(curve.points, STRETCHES);
    // A band that is too long for the page loses its steps evenly.
    let every = curve.band.len().div_ceil(STRETCHES).max(1);
    let band: Vec<(f64, f64, f64)> = curve.band.iter().step_by(every).copied().collect();
    let column = |of: fn(&(f64, f64, f64)) -> f64| list(&band.iter().map(of).collect::<Vec<_>>());
    let (steps, values): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    let band = [column(|one| one.0), column(|one| one.1), column(|one| one.2)].join(",");
    format!("[{},{},{},{band}]", curve.run, list(&steps), list(&values))
}

/// Numbers as JSON: whole ones as they are, others to six digits.
fn list(numbers: &[f64]) -> String {
    let short = |number: &f64| match number.fract() == 0.0 {
        true => number.to_string(),
        false => format!("{number:.5e}").parse::<f64>().unwrap_or(*number).to_string(),
    };
    format!("[{}]", numbers.iter().map(short).collect::<Vec<String>>().join(","))
}

/// The mean of each point and those around it: a fifteenth of the curve to either side.
fn running_mean(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let reach = points.len() / 15;
    let sums: Vec<f64> = std::iter::once(0.0)
        .chain(points.iter().scan(0.0, |sum, point| {
            *sum += point.1;
            Some(*sum)
        }))
        .collect();
    let mean = |at: usize| {
        let (from, to) = (at.saturating_sub(reach), (at + reach + 1).min(points.len()));
        (points[at].0, (sums[to] - sums[from]) / (to - from) as f64)
    };
    (0..points.len()).map(mean).collect()
}

/// The lowest and the highest point of each of so many stretches, so that no peak is lost. A short curve keeps its points.
fn thinned(points: &[(f64, f64)], stretches: usize) -> Vec<(f64, f64)> {
    let stretch = points.len().div_ceil(stretches);
    if stretch < 3 {
        return points.to_vec();
    }
    let extremes = |stretch: &[(f64, f64)]| {
        let by_value = |one: &&(f64, f64), other: &&(f64, f64)| one.1.total_cmp(&other.1);
        let mut found = [stretch.iter().min_by(by_value), stretch.iter().max_by(by_value)];
        found.sort_by(|one, other| one.map(|point| point.0).partial_cmp(&other.map(|point| point.0)).unwrap_or(Equal));
        found.into_iter().flatten().copied().collect::<Vec<_>>()
    };
    points.chunks(stretch).flat_map(extremes).collect()
}

#[cfg(test)]
mod tests {
    use super::{ChartCurve, draw, running_mean, step_range, thinned, tick};

    #[test]
    fn numbers_at_an_axis_are_short() {
        let ticks = [10.0, -0.0, 0.1 + 0.2, -2.5e-17, 1e-6, -0.05].map(tick);
        assert_eq!(ticks, ["10", "0", "0.3", "0", "0.000001", "-0.05"]);
    }

    #[test]
    fn a_long_curve_keeps_its_peaks() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|step| (f64::from(step), 0.5)).collect();
        (points[1234].1, points[1235].1) = (9.0, -9.0);
        let thin = thinned(&points, 420);
        assert!(thin.len() < 1000 && thin.is_sorted_by(|one, other| one.0 <= other.0), "{}", thin.len());
        assert!(thin.contains(&(1234.0, 9.0)) && thin.contains(&(1235.0, -9.0)));
        assert_eq!(thinned(&points[..500], 420), points[..500]);
    }

    #[test]
    fn a_running_mean_is_that_of_the_points_around() {
        let points: Vec<(f64, f64)> = (0..15).map(|step| (f64::from(step), f64::from(step * step))).collect();
        let mean = running_mean(&points);
        assert_eq!((mean[0].1, mean[7].1), (0.5, (36.0 + 49.0 + 64.0) / 3.0));
    }

    #[test]
    fn a_chart_has_its_numbers_and_a_band_where_there_are_intervals() {
        let (points, band) = ([(0.0, 0.5), (2.0, 1.0 / 3.0)], [(0.0, 0.25, 0.75), (2.0, -1.0, 0.5)]);
        let curve = ChartCurve { run: 1, points: &points, band: &band };
        let chart = draw(&[curve], step_range([&points[..], &[(7.0, 1.0)]].into_iter()), false);
        assert_eq!(chart.data, "[[1,[0,2],[0.5,0.333333],[0,2],[0.25,-1],[0.75,0.5]]]");
        // From the first step to the last of any chart, and over the band with a margin.
        assert!(chart.frame.starts_with("[0,7,-1.0875,0.8375,"), "{}", chart.frame);
        assert_eq!((chart.svg.matches("<polygon").count(), chart.svg.matches("stroke-width=\"2\"").count()), (1, 1));
        let without = draw(&[ChartCurve { band: &[], ..curve }], (0.0, 2.0), true);
        assert_eq!(
            (without.svg.matches("<polygon").count(), without.data.as_str()),
            (0, "[[1,[0,2],[0.5,0.333333],[],[],[]]]")
        );
    }

    #[test]
    fn the_numbers_of_a_long_curve_are_bounded() {
        let points: Vec<(f64, f64)> = (0..100_000).map(|step| (f64::from(step), f64::from(step % 7))).collect();
        let band: Vec<(f64, f64, f64)> = points.iter().map(|(step, value)| (*step, value - 1.0, value + 1.0)).collect();
        let chart = draw(&[ChartCurve { run: 0, points: &points, band: &band }], (0.0, 1e5), false);
        assert!(chart.data.len() < 60_000, "{} bytes", chart.data.len());
        assert!(chart.data.contains(",999"), "the last stretch is there");
    }
}
