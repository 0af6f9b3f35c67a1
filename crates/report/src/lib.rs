//! A run for people: its evaluation, its curves, and logged records with their verdicts. [`render`] makes one page that loads nothing;
//! `veriplay watch` shows the same parts live, and `veriplay compare` prints the numbers of several runs.

mod chart;
mod comparison;
mod curves;
mod log_sample;
mod log_summary;
mod picture;
mod records;
mod templates;
mod tokens;
pub mod watch;

use std::path::Path;

use minijinja::{Value, context};
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::json_file::read_json;
use veriplay_selfplay::eval_table::EvalTable;
use veriplay_selfplay::splits::EvalSet;

use curves::{Bands, RunCurves, read_curves};
use log_sample::{LogSample, read_log};
use picture::NamedCurve;
use templates::render_template;
use veriplay_run::config::{from_toml, read_text};
use veriplay_run::rundir::RunDir;

pub use comparison::{ComparedRun, Comparison};

/// A run, read.
pub struct RunReport {
    numbers: RunNumbers,
    log: LogSample,
    /// What the log says of each step, by role and type of task.
    shares: RunCurves,
}

struct RunNumbers {
    name: String,
    config: String,
    settings: toml::Table,
    before: Option<EvalTable>,
    after: Option<EvalTable>,
    curves: RunCurves,
}

impl RunReport {
    /// Reads the run in `path`, finished or not, with `samples` of its records. The page calls it `name`.
    pub fn read(path: &Path, name: String, samples: usize) -> Result<Self, Failure> {
        let numbers = RunNumbers::read(path, name)?;
        let log = read_log(path, &numbers.name, samples)?;
        let shares = RunCurves { curves: log.summary.curves(&numbers.curves.curves), bands: Bands::new() };
        Ok(Self { numbers, log, shares })
    }

    /// The points of the curve that the page calls so.
    fn curve(&self, path: &str) -> Option<&[(f64, f64)]> {
        let points = self.numbers.curves.curves.get(path).or_else(|| self.shares.curves.get(path));
        points.map(Vec::as_slice)
    }
}

impl RunNumbers {
    /// The set that it was evaluated on; `None` where its configuration does not say.
    fn eval_set(&self) -> Option<EvalSet> {
        self.settings.get("eval").and_then(|eval| eval.get("set")?.clone().try_into().ok())
    }

    /// Reads the run in `path`, finished or not.
    fn read(path: &Path, name: String) -> Result<Self, Failure> {
        let dir = RunDir::open(path)?;
        let config_path = dir.path("config.toml");
        let config = read_text(&config_path)?;
        let table = |name: &str| {
            let path = dir.path(name);
            path.exists().then(|| read_json::<EvalTable>(&path)).transpose()
        };
        Ok(Self {
            name,
            settings: from_toml(&config, &config_path)?,
            before: table("before.json")?,
            after: table("after.json")?,
            curves: read_curves(&dir)?,
            config,
        })
    }
}

/// The page of these runs.
pub fn render(runs: &[RunReport]) -> Result<String, Failure> {
    let records = runs.iter().flat_map(|run| run.log.records.iter().cloned());
    let all: Vec<&RunCurves> = runs.iter().map(|run| &run.shares).collect();
    let (mut shares, others) = curves::charts(&all, step_range(runs));
    shares.extend(others);
    let values = context!(
        records => records.collect::<Vec<_>>(),
        logs => runs.iter().map(|run| run.log.summary.to_value(&run.numbers.name)).collect::<Vec<_>>(),
        shares,
        ..values(runs)
    );
    render_template(&[], "page.html", values)
}

/// The curves of these paths as an SVG file, each of every run that has it.
pub fn draw_curves(runs: &[RunReport], paths: &[String]) -> Result<String, Failure> {
    let (title, labels) = picture::title_and_labels(paths);
    let mut curves = Vec::new();
    for (at, (path, label)) in paths.iter().zip(&labels).enumerate() {
        let before = curves.len();
        for (index, run) in runs.iter().enumerate() {
            let name = curve_name(&run.numbers, label, runs.len() > 1);
            // One curve has a colour for each run. Of several, each has its colour in all runs.
            let (colour, dashes) = if paths.len() == 1 { (index, 0) } else { (at, index) };
            curves.extend(run.curve(path).map(|points| NamedCurve { name, points, colour, dashes }));
        }
        if curves.len() == before {
            let hint = "the charts of the page have the paths of their curves as captions";
            return Err(Failure::message(ExitCode::Input, format!("no run has a curve `{path}`")).hint(hint));
        }
    }
    Ok(picture::draw(&title, &curves))
}

/// What tells a curve apart: its run, or what of its path other curves have not, or both.
fn curve_name(run: &RunNumbers, label: &str, several: bool) -> String {
    let folder =
        Path::new(&run.name).file_name().map_or_else(|| run.name.clone(), |name| name.to_string_lossy().into());
    match (label.is_empty(), several) {
        (true, _) => folder,
        (false, true) => format!("{folder}: {label}"),
        (false, false) => label.to_owned(),
    }
}

/// What the templates show of runs, apart from their records.
fn values(runs: &[RunReport]) -> Value {
    let steps = step_range(runs);
    let runs: Vec<&RunNumbers> = runs.iter().map(|run| &run.numbers).collect();
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let (main, others) = curves::charts(&runs.iter().map(|run| &run.curves).collect::<Vec<_>>(), steps);
    context!(
        names => names.iter().map(|name| Value::from(*name)).collect::<Vec<_>>(),
        main,
        others,
        evaluations => runs.iter().map(|run| evaluation(run)).collect::<Vec<_>>(),
        differences => runs.iter().skip(1).filter_map(|run| difference(runs[0], run)).collect::<Vec<_>>(),
        configs => runs.iter().map(|run| context!(name => run.name.as_str(), text => run.config.as_str())).collect::<Vec<_>>(),
    )
}

fn step_range(runs: &[RunReport]) -> (f64, f64) {
    let all = runs.iter().flat_map(|run| [&run.numbers.curves, &run.shares]);
    chart::step_range(all.flat_map(|all| all.curves.values()).map(Vec::as_slice))
}

/// The table of a run, in percent: a row's name, and pass@1, greedy and pass@8, each as *before → after*.
fn evaluation(run: &RunNumbers) -> Value {
    let (before, after) = (run.before.as_ref().map(measures), run.after.as_ref().map(measures));
    let names = run.after.as_ref().or(run.before.as_ref()).map(measures).unwrap_or_default();
    let row = |(index, (name, _)): (usize, (String, [f64; 3]))| {
        let text = |table: &Option<Vec<(String, [f64; 3])>>, column: usize| {
            let number = table.as_ref().and_then(|rows| Some(rows.get(index)?.1[column]));
            number.map_or_else(|| "not yet".to_owned(), |number| format!("{:.1}", 100.0 * number))
        };
        let cells = [0, 1, 2].map(|column| format!("{} → {}", text(&before, column), text(&after, column)));
        context!(name, cells => cells.to_vec())
    };
    context!(run => run.name.as_str(), rows => names.into_iter().enumerate().map(row).collect::<Vec<_>>())
}

/// The rows of a table and their mean, as fractions of 1.
fn measures(table: &EvalTable) -> Vec<(String, [f64; 3])> {
    let rows = table.rows.iter().map(|row| (row.row.clone(), [row.pass1, row.greedy, row.pass8]));
    rows.chain([("mean".to_owned(), [table.mean.pass1, table.mean.greedy, table.mean.pass8])]).collect()
}

/// How much higher the mean pass@1 of a run is than that of the first, after training, in points, with the 95 % interval. `None` where one of
/// the two is not finished, or their tables are of other sets or have other rows.
fn difference(first: &RunNumbers, run: &RunNumbers) -> Option<Value> {
    if first.eval_set() != run.eval_set() {
        return None;
    }
    let difference = run.after.as_ref()?.difference(first.after.as_ref()?)?;
    let pass1 = difference.mean.pass1;
    let [low, high] = pass1.interval.map(points);
    let (first, run, points) = (first.name.as_str(), run.name.as_str(), points(pass1.value));
    Some(context!(first, run, points, low, high, paired => difference.paired))
}

/// A difference of fractions, in points.
fn points(difference: f64) -> String {
    format!("{:+.1}", 100.0 * difference)
}
