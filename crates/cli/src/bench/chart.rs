//! The report of a benchmark as SVG: a chart for each job, of the jobs a second of each baseline by the number of threads.

use plotters::prelude::*;

use super::rounds::MeasuredJob;
use crate::report::chart::COLOURS;

/// Pixels of the chart of one job, its names included.
const PANEL: (u32, u32) = (520, 280);
/// Pixels of the names beside a chart.
const NAMES: u32 = 120;
/// Charts beside each other.
const COLUMNS: usize = 2;

/// Draws all jobs. Speeds are on a logarithmic axis: a sandbox may be a hundred times as fast as a process.
pub(crate) fn svg(measured: &[MeasuredJob]) -> String {
    let mut svg = String::new();
    try_draw(measured, &mut svg).expect("drawing into a text cannot fail");
    svg
}

fn try_draw(measured: &[MeasuredJob], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let columns = measured.len().clamp(1, COLUMNS);
    let rows = measured.len().div_ceil(columns).max(1);
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&WHITE)?;
    for (panel, job) in root.split_evenly((rows, columns)).iter().zip(measured) {
        draw_job(panel, job)?;
    }
    root.present()?;
    Ok(())
}

/// The name of a baseline, and its speed by the number of threads; `None` where it gave wrong results, whose time means nothing.
type Curve<'a> = (&'a str, Option<Vec<(f64, f64)>>);

fn curves(job: &MeasuredJob) -> Vec<Curve<'_>> {
    let names = job.by_threads.iter().take(1).flat_map(|row| row.baselines.iter().map(|(name, _)| name.as_str()));
    let points = |name: &str| {
        let samples = || job.by_threads.iter().filter_map(|row| Some((row.threads as f64, row.samples_of(name)?)));
        let right = samples().all(|(_, samples)| samples.wrong.count == 0);
        right.then(|| samples().filter_map(|(threads, samples)| Some((threads, samples.median_per_s()?))).collect())
    };
    names.map(|name| (name, points(name))).collect()
}

/// Whether a mark of the axis is at a whole number, but for rounding.
fn is_whole(number: f64) -> bool {
    (number - number.round()).abs() < 1e-6
}

fn draw_job(
    panel: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    job: &MeasuredJob,
) -> Result<(), Box<dyn std::error::Error>> {
    let curves = curves(job);
    let speeds = || curves.iter().flat_map(|(_, points)| points.iter().flatten().map(|(_, speed)| *speed));
    let (low, high) = (speeds().fold(f64::INFINITY, f64::min), speeds().fold(f64::MIN_POSITIVE, f64::max));
    let most_threads = job.by_threads.last().map_or(1.0, |row| row.threads as f64);
    let (plot, names) = panel.split_horizontally(PANEL.0 - NAMES);
    let mut chart = ChartBuilder::on(&plot)
        .caption(format!("{}, jobs a second by threads", job.job), ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(24)
        .y_label_area_size(56)
        .build_cartesian_2d(0.5..most_threads + 0.5, (low.min(high) / 2.0..high * 2.0).log_scale())?;
    chart
        .configure_mesh()
        .x_labels(8)
        .y_labels(6)
        // Half a thread is the margin, and between whole threads there is nothing to say.
        .x_label_formatter(&|threads| if is_whole(*threads) { format!("{threads:.0}") } else { String::new() })
        .y_label_formatter(&|speed| if *speed < 1.0 { format!("{speed:.2}") } else { format!("{speed:.0}") })
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .draw()?;
    for (index, (name, points)) in curves.iter().enumerate() {
        let y = 40 + 18 * index as i32;
        let write = |text: String| names.draw(&Text::new(text, (18, y - 6), ("sans-serif", 12).into_font()));
        let Some(points) = points else {
            write(format!("{name} (wrong)"))?;
            continue;
        };
        let (colour, line) = (COLOURS[index % COLOURS.len()], points.iter().copied());
        // Where the colours repeat, dots are hollow and lines are dashed.
        let repeats = index >= COLOURS.len();
        let dots = if repeats { colour.stroke_width(1) } else { colour.filled() };
        if repeats {
            chart.draw_series(DashedLineSeries::new(line, 6, 4, colour.stroke_width(2)))?;
        } else {
            chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
        }
        chart.draw_series(points.iter().map(|point| Circle::new(*point, 4, dots)))?;
        names.draw(&Circle::new((8, y), 4, dots))?;
        write((*name).to_owned())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::svg;
    use crate::bench::rounds::{MeasuredJob, Samples, ThreadSamples};
    use crate::bench::worker::WrongResults;

    #[test]
    fn every_job_and_baseline_is_drawn() {
        let samples = |per_s| Samples { per_s: vec![per_s], ..Samples::default() };
        let row = |threads, scale: f64| {
            let names = ["subprocess", "fork", "pool", "one", "two", "three", "four", "veriplay"];
            let baselines =
                names.iter().zip(1..).map(|(name, n)| ((*name).to_owned(), samples(scale * f64::from(n).exp())));
            ThreadSamples { threads, baselines: baselines.collect() }
        };
        let jobs = ["empty", "triplet", "cpu-bound"];
        let measured = jobs.map(|job| MeasuredJob { job, by_threads: vec![row(1, 0.01), row(2, 0.02), row(4, 0.03)] });
        let drawn = svg(&measured);
        assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"), "{drawn}");
        for text in jobs.iter().chain(&["subprocess", "veriplay", "four"]) {
            assert!(drawn.contains(text), "no `{text}` in {drawn}");
        }
        // 3 jobs, 8 baselines, 3 points each and a dot beside the name.
        assert_eq!(drawn.matches("<circle").count(), 3 * 8 * 4);
        assert!(svg(&[]).starts_with("<svg"));
    }

    #[test]
    fn a_peer_with_wrong_results_is_named_and_not_drawn() {
        let right = Samples { per_s: vec![10.0], ..Samples::default() };
        let wrong = Samples { wrong: WrongResults { count: 1, first: None }, ..right.clone() };
        let baselines = vec![("mine".to_owned(), wrong), ("veriplay".to_owned(), right)];
        let drawn = svg(&[MeasuredJob { job: "empty", by_threads: vec![ThreadSamples { threads: 1, baselines }] }]);
        assert!(drawn.contains("mine (wrong)"), "{drawn}");
        assert_eq!(drawn.matches("<circle").count(), 2, "the point of one, and the dot beside its name: {drawn}");
    }
}
