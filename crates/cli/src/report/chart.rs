//! One line chart as SVG.

use std::cmp::Ordering::Equal;

use plotters::prelude::*;

/// Colours of runs, in their order: told apart by those who cannot see red and green, too (Okabe and Ito's).
pub(crate) const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// Pixels.
const SIZE: (u32, u32) = (420, 200);

/// Draws the curves, each the points of a run by its index: the values faintly, and their running mean.
pub(crate) fn draw(curves: &[(usize, &[(f64, f64)])], names: &[&str]) -> String {
    let mut svg = String::new();
    let drawn = try_draw(curves, names.len() > 1, &mut svg);
    drawn.expect("drawing into a text cannot fail");
    svg
}

fn try_draw(
    curves: &[(usize, &[(f64, f64)])],
    several: bool,
    svg: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|(_, points)| points.iter());
    let bounds = |of: fn(&(f64, f64)) -> f64| {
        points().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    };
    let ((left, right), (low, high)) = (bounds(|point| point.0), bounds(|point| point.1));
    let margin = ((high - low) * 0.05).max(f64::MIN_POSITIVE);
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&root)
        .margin(6)
        .x_label_area_size(22)
        .y_label_area_size(48)
        .build_cartesian_2d(left..right.max(left + 1.0), low - margin..high + margin)?;
    chart
        .configure_mesh()
        .x_labels(6)
        .y_labels(5)
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .draw()?;
    for (run, points) in curves {
        let colour = COLOURS[run % COLOURS.len()];
        if !several {
            chart.draw_series(LineSeries::new(thinned(points), colour.mix(0.3)))?;
        }
        chart.draw_series(LineSeries::new(thinned(&running_mean(points)), colour.stroke_width(2)))?;
    }
    root.present()?;
    Ok(())
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

/// No more points than can be told apart: the lowest and the highest of each stretch, so that no peak is lost.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let stretch = points.len().div_ceil(SIZE.0 as usize);
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
    use super::{running_mean, thinned};

    #[test]
    fn a_long_curve_keeps_its_peaks() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|step| (f64::from(step), 0.5)).collect();
        (points[1234].1, points[1235].1) = (9.0, -9.0);
        let thin = thinned(&points);
        assert!(thin.len() < 1000 && thin.is_sorted_by(|one, other| one.0 <= other.0), "{}", thin.len());
        assert!(thin.contains(&(1234.0, 9.0)) && thin.contains(&(1235.0, -9.0)));
        assert_eq!(thinned(&points[..500]), points[..500]);
    }

    #[test]
    fn a_running_mean_is_that_of_the_points_around() {
        let points: Vec<(f64, f64)> = (0..15).map(|step| (f64::from(step), f64::from(step * step))).collect();
        let mean = running_mean(&points);
        assert_eq!((mean[0].1, mean[7].1), (0.5, (36.0 + 49.0 + 64.0) / 3.0));
    }
}
