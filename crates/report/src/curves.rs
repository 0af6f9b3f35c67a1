//! The curves of a run: every number of `events.jsonl`, by its path, its pace, and what public sets say of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;
use minijinja::context;
use serde_json::Value;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::read_json;
use veriplay_run::numbers::named_numbers;
use veriplay_run::rundir::RunDir;
use veriplay_selfplay::eval_table::{EvalNumbers, EvalTable};
use veriplay_selfplay::intervals::Estimate;

use super::chart::{self, Chart, ChartCurve};

/// Points (step, value) of each number, by its path, such as `play/roles/solver deduction/solve_rate`.
pub(crate) type Curves = BTreeMap<String, Vec<(f64, f64)>>;

/// 95 % intervals (step, low, high) of the numbers that have some, by their paths.
pub(crate) type Bands = BTreeMap<String, Vec<(f64, f64, f64)>>;

#[derive(Default)]
pub(crate) struct RunCurves {
    pub curves: Curves,
    pub bands: Bands,
}

/// Last parts of paths whose curves come first: how the policy learns, and what it makes.
const MAIN: &[&str] = &[
    "reward_mean", "solve_rate", "valid_rate", "valid_share", "learnable_share", "well_formed_share", "code_pass_rate",
    "test_accuracy", "entropy", "loss", "grad_norm", "ppo_kl", "kl_loss", "steps_per_minute", "jobs_per_second",
    "tokens_per_second",
];

/// First parts of paths whose curves come first too: evaluations on public sets and on the validation set.
const MAIN_GROUPS: &[&str] = &["eval/", "suites/", "validation/mean/"];

pub(crate) fn read_curves(dir: &RunDir) -> Result<RunCurves, Failure> {
    let RunCurves { mut curves, mut bands } = RunCurves::default();
    for_each_event(&dir.path("events.jsonl"), |step, event| {
        for (name, number) in named_numbers(event) {
            curves.entry(name).or_default().push((step, number));
        }
        add_validation_bands(&mut bands, step, &event["validation"]);
    })?;
    // A process that was killed may have timed steps that the run does not have.
    let last = curves.values().flatten().map(|point| point.0).fold(0.0, f64::max);
    let tokens = curves.get("perf/total_num_tokens").into_iter().flatten();
    let tokens: HashMap<u64, f64> = tokens.map(|(step, tokens)| (step.to_bits(), *tokens)).collect();
    for_each_event(&dir.path("timing.jsonl"), |step, timing| {
        if step <= last {
            add_pace(&mut curves, step, timing, tokens.get(&step.to_bits()).copied());
        }
    })?;
    add_suites(&mut curves, &mut bands, &dir.path("suites"))?;
    curves.values_mut().for_each(|points| keep_last_of_each_step(points, |point| point.0));
    bands.values_mut().for_each(|band| keep_last_of_each_step(band, |one| one.0));
    Ok(RunCurves { curves, bands })
}

/// The intervals of an evaluation on the validation set, which follow from its shares and its numbers of tasks.
fn add_validation_bands(bands: &mut Bands, step: f64, validation: &Value) {
    let Ok(table) = serde_json::from_value::<EvalTable>(validation.clone()) else { return };
    let mut add = |path: &str, numbers: EvalNumbers<Estimate>| {
        let EvalNumbers { pass1, greedy, pass8 } = numbers;
        for (measure, Estimate { interval: [low, high], .. }) in
            [("pass1", pass1), ("greedy", greedy), ("pass8", pass8)]
        {
            bands.entry(format!("validation/{path}/{measure}")).or_default().push((step, low, high));
        }
    };
    for (row, estimates) in table.rows.iter().zip(table.row_estimates()) {
        add(&format!("rows/{}", row.row), estimates);
    }
    if let Some(mean) = table.mean_estimates() {
        add("mean", mean);
    }
}

/// Calls `see` with the step and the object of each line. A last line that is still being written is left out, and a file that is not there
/// yet has none.
fn for_each_event(path: &Path, mut see: impl FnMut(f64, &Value)) -> Result<(), Failure> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        text => text.with_context(|| format!("cannot read `{}`", path.display())).or_fail(ExitCode::Input)?,
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (number, line) in whole.lines().enumerate() {
        let event: Value = serde_json::from_str(line)
            .with_context(|| format!("`{}` line {} is not an event", path.display(), number + 1))
            .or_fail(ExitCode::Input)?;
        see(event["step"].as_f64().unwrap_or(number as f64), &event);
    }
    Ok(())
}

/// The pace of a step, from a line of `timing.jsonl` and the tokens that its updates processed.
fn add_pace(curves: &mut Curves, step: f64, timing: &Value, tokens: Option<f64>) {
    let number = |key: &str| timing[key].as_f64().unwrap_or_default();
    let (play, update) = (number("play_s"), number("update_s"));
    let sampled = timing["sampled_s"].as_f64().unwrap_or(play);
    let rates = [
        ("steps_per_minute", Some(60.0), play + update),
        ("jobs_per_second", Some(number("jobs")), sampled),
        ("tokens_per_second", tokens, play + update),
    ];
    let rates = rates.into_iter().filter_map(|(name, count, seconds)| Some((name, count?, seconds)));
    for (name, count, seconds) in rates.filter(|(.., seconds)| *seconds > 0.0) {
        curves.entry(format!("timing/{name}")).or_default().push((step, count / seconds));
    }
}

/// Pass@k of public sets with its intervals, from `suites/step_N/SET.report.json`.
fn add_suites(curves: &mut Curves, bands: &mut Bands, folder: &Path) -> Result<(), Failure> {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(step) = name.strip_prefix("step_").and_then(|step| step.parse().ok()) else { continue };
        for file in std::fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some(suite) = name.strip_suffix(".report.json") else { continue };
            let report: Value = read_json(&file.path())?;
            let verdicts = &report["verdicts"];
            for (k, share) in verdicts["pass_at_k"].as_object().into_iter().flatten() {
                let path = format!("suites/{suite}/pass@{k}");
                let [low, high] = [0, 1].map(|end| verdicts["pass_at_k_interval"][k][end].as_f64());
                bands.entry(path.clone()).or_default().extend(low.zip(high).map(|(low, high)| (step, low, high)));
                curves.entry(path).or_default().extend(share.as_f64().map(|share| (step, share)));
            }
        }
    }
    Ok(())
}

/// A resumed run writes steps again, and folders are read in any order.
fn keep_last_of_each_step<T>(points: &mut Vec<T>, step: fn(&T) -> f64) {
    points.reverse();
    points.sort_by(|one, other| step(one).total_cmp(&step(other)));
    points.dedup_by(|later, kept| step(later) == step(kept));
}

/// A chart of each number over these steps, with the curves of all runs: the main ones, and the others. What never changes has none.
pub(crate) fn charts(runs: &[&RunCurves], steps: (f64, f64)) -> (Vec<minijinja::Value>, Vec<minijinja::Value>) {
    let paths: BTreeSet<&String> = runs.iter().flat_map(|run| run.curves.keys()).collect();
    let (mut main, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        let curves = curves_of(runs, path);
        if !changes(&curves) {
            continue;
        }
        let Chart { svg, frame, data } = chart::draw(&curves, steps, runs.len() > 1);
        let chart = context!(title => path.as_str(), svg, frame, data);
        let last = path.rsplit('/').next().unwrap_or(path);
        let is_main = MAIN.contains(&last) || MAIN_GROUPS.iter().any(|group| path.starts_with(group));
        if is_main { main.push(chart) } else { others.push(chart) }
    }
    (main, others)
}

/// The curves of one number, of all runs that have it.
fn curves_of<'a>(runs: &[&'a RunCurves], path: &str) -> Vec<ChartCurve<'a>> {
    let curve = |(run, all): (usize, &'a RunCurves)| {
        let points = all.curves.get(path).filter(|points| !points.is_empty())?;
        Some(ChartCurve { run, points, band: all.bands.get(path).map_or(&[][..], Vec::as_slice) })
    };
    runs.iter().copied().enumerate().filter_map(curve).collect()
}

fn changes(curves: &[ChartCurve<'_>]) -> bool {
    let mut values = curves.iter().flat_map(|curve| curve.points).map(|point| point.1);
    let first = values.next();
    values.any(|value| Some(value) != first)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Bands, Curves, RunCurves, add_pace, add_suites, add_validation_bands, charts, keep_last_of_each_step};

    #[test]
    fn a_step_that_was_played_again_counts_once() {
        let mut points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (1.0, 4.0), (2.0, 5.0)];
        keep_last_of_each_step(&mut points, |point| point.0);
        assert_eq!(points, [(0.0, 1.0), (1.0, 4.0), (2.0, 5.0)]);
    }

    #[test]
    fn a_pace_is_counts_over_seconds() {
        let mut curves = Curves::new();
        add_pace(&mut curves, 3.0, &json!({"play_s": 2.0, "update_s": 1.0, "jobs": 50}), Some(600.0));
        add_pace(&mut curves, 4.0, &json!({}), None);
        add_pace(&mut curves, 5.0, &json!({"play_s": 1e-6, "update_s": 3.0, "sampled_s": 2.5, "jobs": 50}), None);
        assert_eq!(curves["timing/steps_per_minute"][0], (3.0, 20.0));
        assert_eq!(curves["timing/jobs_per_second"], [(3.0, 25.0), (5.0, 20.0)]);
        assert_eq!(curves["timing/tokens_per_second"], [(3.0, 200.0)]);
    }

    #[test]
    fn a_number_that_never_changes_has_no_chart() {
        let of = |path: &str, points: &[(f64, f64)]| RunCurves {
            curves: Curves::from([(path.to_owned(), points.to_vec())]),
            bands: Bands::new(),
        };
        let flat = of("a/loss", &[(0.0, 1.0), (1.0, 1.0)]);
        let moving = of("a/loss", &[(0.0, 1.0), (1.0, 2.0)]);
        let counted = |runs: &[&RunCurves]| (charts(runs, (0.0, 3.0)).0.len(), charts(runs, (0.0, 3.0)).1.len());
        assert_eq!(counted(&[&flat, &flat]), (0, 0));
        assert_eq!(counted(&[&flat, &moving]), (1, 0));
        let named = |path: &str| of(path, &[(1.0, 0.25), (3.0, 0.5)]);
        assert_eq!(counted(&[&named("validation/mean/pass8")]), (1, 0));
        assert_eq!(counted(&[&named("validation/rows/induction/pass8")]), (0, 1));
        assert_eq!(counted(&[&of("a/loss", &[])]), (0, 0));
    }

    #[test]
    fn evaluations_have_bands() {
        let mut bands = Bands::new();
        let validation = json!({"rows": [{"row": "deduction", "tasks": 50, "pass1": 0.5, "greedy": 0.0, "pass8": 1.0}],
            "mean": {"pass1": 0.5, "greedy": 0.0, "pass8": 1.0}});
        add_validation_bands(&mut bands, 3.0, &validation);
        add_validation_bands(&mut bands, 4.0, &json!(null));
        assert_eq!(bands.len(), 6);
        let [(step, low, high)] = bands["validation/rows/deduction/pass1"][..] else { panic!("{bands:?}") };
        assert!(step == 3.0 && low > 0.3 && low < 0.5 && 0.5 < high && high < 0.7, "{low} to {high}");
        assert!(bands["validation/mean/greedy"][0].1.abs() < 1e-9);

        let dir = tempfile::tempdir().expect("a temporary directory");
        let folder = dir.path().join("step_7");
        std::fs::create_dir(&folder).expect("a folder");
        let report = json!({"verdicts": {"pass_at_k": {"1": 0.25}, "pass_at_k_interval": {"1": [0.125, 0.5]}}});
        std::fs::write(folder.join("humaneval.report.json"), report.to_string()).expect("the file is written");
        let mut curves = Curves::new();
        assert!(add_suites(&mut curves, &mut bands, dir.path()).is_ok());
        assert_eq!(
            (&curves["suites/humaneval/pass@1"][..], &bands["suites/humaneval/pass@1"][..]),
            (&[(7.0, 0.25)][..], &[(7.0, 0.125, 0.5)][..])
        );
    }
}
