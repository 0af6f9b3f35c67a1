//! One line chart as SVG.

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
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.mix(0.3)))?;
        }
        chart.draw_series(LineSeries::new(running_mean(points), colour.stroke_width(2)))?;
    }
    root.present()?;
    Ok(())
}

/// The mean of each point and those around it: a fifteenth of the curve to either side.
fn running_mean(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let reach = points.len() / 15;
    let mean = |at: usize| {
        let around = &points[at.saturating_sub(reach)..(at + reach + 1).min(points.len())];
        (points[at].0, around.iter().map(|point| point.1).sum::<f64>() / around.len() as f64)
    };
    (0..points.len()).map(mean).collect()
}
