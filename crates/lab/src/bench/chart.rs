//! The report of a benchmark as SVG: a chart for each job, of the jobs a second of each baseline by the number of threads, and below them
//! what was measured where, and whether it is to be trusted.

use plotters::prelude::*;
use veriplay_console::colours::COLOURS;

use super::rounds::{MeasuredJob, Samples};

/// Pixels of the chart of one job, its names included.
const PANEL: (u32, u32) = (520, 300);
/// Pixels of the names beside a chart.
const NAMES: u32 = 120;
const COLUMNS: usize = 2;
/// Pixels of a line of the caption, and of the room to its left. The font is the browser's: its letters are narrower in most.
const LINE: u32 = 16;
const MARGIN: u32 = 8;
const LETTER: u32 = 7;
/// Units of the axis of threads between a number of threads and its double.
const DOUBLING: f64 = 1000.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Draws all jobs, and the caption below them. Both axes are logarithmic: a sandbox may be a hundred times as fast as a process, and what
/// scales with the threads is a straight line.
pub fn svg(measured: &[MeasuredJob], caption: &[String]) -> String {
    let mut svg = String::new();
    try_draw(measured, caption, &mut svg).expect("drawing into a text cannot fail");
    svg
}

fn curve_colour(index: usize) -> RGBColor {
    let (red, green, blue) = COLOURS[index % COLOURS.len()];
    RGBColor(red, green, blue)
}

fn try_draw(measured: &[MeasuredJob], caption: &[String], svg: &mut String) -> Drawn {
    let columns = measured.len().clamp(1, COLUMNS);
    let rows = measured.len().div_ceil(columns).max(1);
    let (width, height) = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
    let letters = ((width - 2 * MARGIN) / LETTER) as usize;
    let lines: Vec<String> = caption.iter().flat_map(|text| wrap(text, letters)).collect();
    let root = SVGBackend::with_string(svg, (width, height + LINE * (lines.len() as u32 + 1))).into_drawing_area();
    root.fill(&WHITE)?;
    let (charts, below) = root.split_vertically(height);
    for (panel, job) in charts.split_evenly((rows, columns)).iter().zip(measured) {
        draw_job(panel, job)?;
    }
    for (line, y) in lines.into_iter().zip((0..).step_by(LINE as usize)) {
        below.draw(&Text::new(line, (MARGIN as i32, y), ("sans-serif", 12).into_font()))?;
    }
    root.present()?;
    Ok(())
}

/// The text in lines of at most so many letters, of which a longer word has one for itself.
fn wrap(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            word.clone_into(line);
        } else if line.chars().count() + 1 + word.chars().count() <= letters {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The speed of a baseline with a number of threads: the median of its rounds, the slowest and the fastest.
struct Speed {
    at: i32,
    median: f64,
    slowest: f64,
    fastest: f64,
}

impl Speed {
    fn new(threads: usize, samples: &Samples) -> Option<Self> {
        let (slowest, fastest) = samples.range()?;
        Some(Self { at: place(threads), median: samples.median_per_s()?, slowest, fastest })
    }
}

/// The place of a number of threads on its axis.
fn place(threads: usize) -> i32 {
    (DOUBLING * (threads as f64).log2()).round() as i32
}

/// The name of a baseline, and its speed by the number of threads; `None` where it gave wrong results, whose time means nothing.
type Curve<'a> = (&'a str, Option<Vec<Speed>>);

fn curves(job: &MeasuredJob) -> Vec<Curve<'_>> {
    let names = job.by_threads.iter().take(1).flat_map(|row| row.baselines.iter().map(|(name, _)| name.as_str()));
    let points = |name: &str| {
        let samples = || job.by_threads.iter().filter_map(|row| Some((row.threads, row.samples_of(name)?)));
        let right = samples().all(|(_, samples)| samples.wrong.count == 0);
        right.then(|| samples().filter_map(|(threads, samples)| Speed::new(threads, samples)).collect())
    };
    names.map(|name| (name, points(name))).collect()
}

fn draw_job(panel: &Area<'_>, job: &MeasuredJob) -> Drawn {
    let curves = curves(job);
    let speeds = || curves.iter().flat_map(|(_, points)| points.iter().flatten());
    let low = speeds().map(|speed| speed.slowest).fold(f64::INFINITY, f64::min);
    let high = speeds().map(|speed| speed.fastest).fold(f64::MIN_POSITIVE, f64::max);
    let threads = || job.by_threads.iter().map(|row| row.threads);
    let margin = DOUBLING as i32 / 4;
    let across = -margin..threads().map(place).max().unwrap_or_default() + margin;
    let (plot, names) = panel.split_horizontally(PANEL.0 - NAMES);
    let mut chart = ChartBuilder::on(&plot)
        .caption(job.job, ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(38)
        .y_label_area_size(66)
        .build_cartesian_2d(
            across.with_key_points(threads().map(place).collect()),
            (low.min(high) / 2.0..high * 2.0).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("threads")
        .y_desc("jobs a second")
        .y_labels(6)
        .x_label_formatter(&|at: &i32| {
            threads().find(|threads| place(*threads) == *at).map_or(String::new(), |threads| threads.to_string())
        })
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
        let (colour, line) = (curve_colour(index), points.iter().map(|speed| (speed.at, speed.median)));
        // Where the colours repeat, dots are hollow and lines are dashed.
        let repeats = index >= COLOURS.len();
        let dots = if repeats { colour.stroke_width(1) } else { colour.filled() };
        let spread = |speed: &Speed| PathElement::new([(speed.at, speed.slowest), (speed.at, speed.fastest)], colour);
        chart.draw_series(points.iter().map(spread))?;
        if repeats {
            chart.draw_series(DashedLineSeries::new(line.clone(), 6, 4, colour.stroke_width(2)))?;
        } else {
            chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(2)))?;
        }
        chart.draw_series(line.map(|point| Circle::new(point, 4, dots)))?;
        names.draw(&Circle::new((8, y), 4, dots))?;
        write((*name).to_owned())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{svg, wrap};
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
        let caption = ["2 × Some Processor, load 5.02".to_owned(), "these numbers are not to be trusted".to_owned()];
        let drawn = svg(&measured, &caption);
        assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"), "{drawn}");
        let texts =
            ["subprocess", "veriplay", "four", "Some Processor, load 5.02", "not to be trusted", "jobs a second"];
        for text in jobs.iter().chain(&texts) {
            assert!(drawn.contains(text), "no `{text}` in {drawn}");
        }
        // 3 jobs, 8 baselines, 3 points each and a dot beside the name.
        assert_eq!(drawn.matches("<circle").count(), 3 * 8 * 4);
        // The numbers of threads that were measured, and none between them.
        let lines: Vec<&str> = drawn.lines().collect();
        let is_mark = |pair: &[&str], text: &str| pair[0].contains("text-anchor=\"middle\"") && pair[1].trim() == text;
        for (threads, marks) in [("1", 3), ("2", 3), ("3", 0), ("4", 3)] {
            let found = lines.windows(2).filter(|pair| is_mark(pair, threads)).count();
            assert_eq!(found, marks, "{threads} in {drawn}");
        }
        assert!(svg(&[], &[]).starts_with("<svg"));
    }

    #[test]
    fn a_caption_is_broken_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a-very-long-word or not", 6), ["a-very-long-word", "or not"]);
    }

    #[test]
    fn a_peer_with_wrong_results_is_named_and_not_drawn() {
        let right = Samples { per_s: vec![10.0], ..Samples::default() };
        let wrong = Samples { wrong: WrongResults { count: 1, first: None }, ..right.clone() };
        let baselines = vec![("mine".to_owned(), wrong), ("veriplay".to_owned(), right)];
        let job = MeasuredJob { job: "empty", by_threads: vec![ThreadSamples { threads: 1, baselines }] };
        let drawn = svg(&[job], &[]);
        assert!(drawn.contains("mine (wrong)"), "{drawn}");
        assert_eq!(drawn.matches("<circle").count(), 2, "the point of one, and the dot beside its name: {drawn}");
    }
}
