//! Runs side by side, for `veriplay compare`: evaluations with 95 % intervals, their differences to the first run, the keys of the
//! configurations that differ, and how the main curves end.

mod suites;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::progress::counted;
use veriplay_core::SCHEMA_VERSION;
use veriplay_games::effective_config::{Difference, EffectiveConfig};
use veriplay_run::config::parse_game_name;
use veriplay_run::judged_images::{self, ImagesFrom};
use veriplay_run::rundir::{StepsChange, read_steps_changes};
use veriplay_selfplay::eval_table::{EvalDifference, EvalNumbers, EvalRow, EvalTable};
use veriplay_selfplay::intervals::Estimate;
use veriplay_selfplay::splits::EvalSet;

use super::RunNumbers;
use super::curves::Curves;
use suites::{MeasuredSuites, SuiteDifference, read_suites};

/// Advice where a file of a run cannot be read.
const DAMAGED: &str = "restore the file from a copy, or leave this run out";

/// Last parts of the paths of the curves that are compared.
const MAIN: &[&str] = &[
    "reward_mean", "solve_rate", "valid_rate", "valid_share", "code_pass_rate", "test_accuracy", "entropy", "ppo_kl",
    "kl_loss", "tokens_per_second",
];

/// A run to compare, read.
pub struct ComparedRun {
    numbers: RunNumbers,
    game: String,
    eval_set: Option<EvalSet>,
    /// Steps that it has at its end.
    steps: u64,
    steps_changes: Vec<StepsChange>,
    images: Vec<ImagesFrom>,
    suites: BeforeAfter<MeasuredSuites>,
    config: EffectiveConfig,
}

/// Something of the start model, and of the trained one.
#[derive(Serialize)]
struct BeforeAfter<T> {
    before: T,
    after: T,
}

/// What `veriplay compare` prints. Shares are fractions of 1.
#[derive(Serialize)]
pub struct Comparison {
    schema_version: u32,
    game: String,
    runs: Vec<RunSummary>,
    /// Of each further run to the first one.
    differences: Vec<RunDifference>,
    /// What cannot be compared, and what to do about it.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct RunSummary {
    run: String,
    steps: u64,
    steps_done: u64,
    /// Whether it is evaluated after training.
    finished: bool,
    /// The set that `eval` was measured on.
    eval_set: Option<EvalSet>,
    /// `null` where it is not measured yet.
    eval: BeforeAfter<Option<Evaluation>>,
    /// Public sets by name; empty where none was measured.
    suites: BeforeAfter<MeasuredSuites>,
    curves: BTreeMap<String, CurveEnd>,
}

#[derive(Serialize)]
struct Evaluation {
    rows: Vec<MeasuredRow>,
    mean: Option<EvalNumbers<Estimate>>,
    /// Further numbers of the game.
    numbers: BTreeMap<String, Option<f64>>,
}

#[derive(Serialize)]
struct MeasuredRow {
    row: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Only an evaluation has a number of tasks.
    tasks: Option<usize>,
    #[serde(flatten)]
    measures: EvalNumbers<Estimate>,
}

#[derive(Debug, PartialEq, Serialize)]
struct CurveEnd {
    last: f64,
    last_step: u64,
    /// Over the last tenth of the steps done; `null` where it has no point there.
    mean_of_last_tenth: Option<f64>,
}

#[derive(Serialize)]
struct RunDifference {
    run: String,
    first: String,
    /// How much higher the evaluation after training is; `null` where the two cannot be compared.
    eval: Option<EvaluationDifference>,
    /// The same of pass@1 of the public sets that both have measured.
    suites: BTreeMap<String, SuiteDifference>,
    /// The keys whose values differ: `a` of the first run, `b` of this one.
    config: Vec<Difference>,
}

#[derive(Serialize)]
struct EvaluationDifference {
    /// Whether both have the same tasks, which are compared one by one.
    paired: bool,
    rows: Vec<MeasuredRow>,
    mean: EvalNumbers<Estimate>,
}

impl ComparedRun {
    /// Reads the run in `path`, finished or not.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let damaged = |failure: Failure| failure.or_hint(DAMAGED);
        let numbers = RunNumbers::read(path, path.display().to_string()).map_err(damaged)?;
        let config_path = path.join("config.toml");
        let config = EffectiveConfig::parse_of_run(&numbers.config, &config_path)?;
        let steps = numbers.settings.get("steps").and_then(toml::Value::as_integer);
        let steps = steps.and_then(|steps| u64::try_from(steps).ok()).unwrap_or_default();
        let suites = |step: u64| read_suites(&path.join(format!("suites/step_{step}"))).map_err(damaged);
        Ok(Self {
            game: parse_game_name(&numbers.config, &config_path)?,
            eval_set: numbers.eval_set(),
            steps,
            steps_changes: read_steps_changes(path, steps).map_err(damaged)?,
            images: judged_images::read(path).map_err(damaged)?,
            suites: BeforeAfter { before: suites(0)?, after: suites(steps)? },
            config,
            numbers,
        })
    }

    fn name(&self) -> &str {
        &self.numbers.name
    }

    /// Says that there is no evaluation after training, and how to get it.
    fn unfinished_note(&self) -> Option<String> {
        let (name, done, steps) = (self.name(), self.numbers.steps_done(), self.steps);
        let note = format!(
            "`{name}` is not finished, with {done} of {}: `veriplay play --resume {name}` plays on and evaluates",
            counted(steps, "step")
        );
        self.numbers.after.is_none().then_some(note)
    }

    /// Says where the run was given another number of steps: its configuration has the last one alone.
    fn steps_notes(&self) -> impl Iterator<Item = String> + use<'_> {
        self.steps_changes.iter().map(|StepsChange { at_step, from, to }| {
            let (name, from) = (self.name(), counted(*from, "step"));
            format!("`{name}` was a run of {from} up to step {at_step}, and then one of {to}, which its schedules follow from there on")
        })
    }

    /// Says where the run went on in other images, and up to where nobody knows in which.
    fn image_notes(&self) -> impl Iterator<Item = String> + use<'_> {
        let unknown = self.images.first().filter(|first| first.from_step > 0);
        let unknown = unknown.map(|first| {
            let step = first.from_step;
            format!(
                "`{}` was begun by a version that did not record its images: they are unknown up to step {step}",
                self.name()
            )
        });
        unknown.into_iter().chain(self.changed_image_notes())
    }

    fn changed_image_notes(&self) -> impl Iterator<Item = String> + use<'_> {
        self.images.iter().zip(self.images.iter().skip(1)).map(|(before, after)| {
            let [was, now] = [&before.images, &after.images].map(judged_images::describe);
            format!("`{}` was judged in {was} up to step {}, and in {now} from there on", self.name(), after.from_step)
        })
    }

    /// Says that the run was judged in other images than the first one; `None` where one of the two has not recorded its own.
    fn image_note(&self, first: &Self) -> Option<String> {
        let (own, firsts) = (&self.images.last()?.images, &first.images.last()?.images);
        let [described, firsts_described] = [own, firsts].map(judged_images::describe);
        let note =
            || format!("`{}` was judged in {described}, and `{}` in {firsts_described}", self.name(), first.name());
        (own != firsts).then(note)
    }

    /// Why the evaluations after training of this run and of the first cannot be compared, and what to do; `None` where they can, or where one
    /// of the two is not finished.
    fn evaluation_note(&self, first: &Self) -> Option<String> {
        let (after, first_after) = (self.numbers.after.as_ref()?, first.numbers.after.as_ref()?);
        let (name, first_name) = (self.name(), first.name());
        let why = match (self.eval_set, first.eval_set) {
            (Some(set), Some(first_set)) if set != first_set => {
                format!("on the {} set, and `{first_name}` on the {} one", set.label(), first_set.label())
            }
            _ if after.difference(first_after).is_none() => format!("in other rows than `{first_name}`"),
            _ => return None,
        };
        Some(format!(
            "`{name}` was evaluated {why}: `veriplay eval --model {name} --config {first_name}/config.toml` evaluates it as `{first_name}`"
        ))
    }

    /// Says which public sets cannot be compared with those of the first run, and what to do.
    fn suite_notes(&self, first: &Self) -> Vec<String> {
        let (name, first_name) = (self.name(), first.name());
        let (own, firsts) = (&self.suites.after, &first.suites.after);
        let note = |suite: &str| {
            let why = match suites::other_files(firsts, own, suite) {
                Some([first, own]) => format!(
                    "measured `{suite}` on a file with digest {own}, and `{first_name}` on one with {first}: measure both on one file"
                ),
                None => {
                    format!(
                        "measured other tasks of `{suite}` than `{first_name}`, or asked them otherwise: measure both"
                    )
                }
            };
            format!("`{name}` {why} with `veriplay eval --suite`")
        };
        suites::measured_otherwise(firsts, own).into_iter().map(note).collect()
    }
}

impl RunNumbers {
    fn steps_done(&self) -> u64 {
        let played =
            self.curves.curves.iter().filter(|(path, _)| !path.starts_with("suites/") && !path.starts_with("timing/"));
        played.filter_map(|(_, points)| Some(points.last()?.0 as u64 + 1)).max().unwrap_or_default()
    }
}

impl Comparison {
    /// Compares runs of one game, of which there is at least one.
    pub fn new(runs: Vec<ComparedRun>) -> Result<Self, Failure> {
        let [first, others @ ..] = runs.as_slice() else {
            return Err(Failure::message(ExitCode::Bug, "there is no run to compare"));
        };
        if let Some(other) = others.iter().find(|run| run.game != first.game) {
            return Err(other_game(first, other));
        }
        let mut notes: Vec<String> = runs.iter().filter_map(ComparedRun::unfinished_note).collect();
        notes.extend(runs.iter().flat_map(ComparedRun::steps_notes));
        notes.extend(runs.iter().flat_map(ComparedRun::image_notes));
        notes.extend(others.iter().filter_map(|run| run.image_note(first)));
        notes.extend(others.iter().filter_map(|run| run.evaluation_note(first)));
        notes.extend(others.iter().flat_map(|run| run.suite_notes(first)));
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            game: first.game.clone(),
            differences: others.iter().map(|run| RunDifference::new(first, run)).collect(),
            notes,
            runs: runs.into_iter().map(RunSummary::new).collect(),
        })
    }
}

fn other_game(first: &ComparedRun, other: &ComparedRun) -> Failure {
    let what = format!("`{}` plays `{}`, and `{}` plays `{}`", first.name(), first.game, other.name(), other.game);
    Failure::message(ExitCode::Input, what)
        .hint("compare runs of one game; `veriplay eval --suite` measures the models of both on public sets")
}

impl RunSummary {
    fn new(run: ComparedRun) -> Self {
        let steps_done = run.numbers.steps_done();
        let RunNumbers { name, before, after, curves, .. } = run.numbers;
        Self {
            run: name,
            steps: run.steps,
            steps_done,
            finished: after.is_some(),
            eval_set: run.eval_set,
            eval: BeforeAfter { before: before.map(Evaluation::new), after: after.map(Evaluation::new) },
            suites: run.suites,
            curves: curve_ends(&curves.curves, steps_done),
        }
    }
}

impl Evaluation {
    fn new(table: EvalTable) -> Self {
        let (estimates, mean) = (table.row_estimates(), table.mean_estimates());
        let row = |(EvalRow { row, tasks, .. }, measures)| MeasuredRow { row, tasks: Some(tasks), measures };
        Self { rows: table.rows.into_iter().zip(estimates).map(row).collect(), mean, numbers: table.numbers }
    }
}

impl RunDifference {
    fn new(first: &ComparedRun, run: &ComparedRun) -> Self {
        Self {
            run: run.name().to_owned(),
            first: first.name().to_owned(),
            eval: EvaluationDifference::new(first, run),
            suites: suites::differences(&first.suites.after, &run.suites.after),
            config: first.config.differences(&run.config),
        }
    }
}

impl EvaluationDifference {
    fn new(first: &ComparedRun, run: &ComparedRun) -> Option<Self> {
        if first.eval_set != run.eval_set {
            return None;
        }
        let after = run.numbers.after.as_ref()?;
        let EvalDifference { paired, rows, mean, .. } = after.difference(first.numbers.after.as_ref()?)?;
        let names = after.rows.iter().map(|row| row.row.clone());
        let rows = names.zip(rows).map(|(row, measures)| MeasuredRow { row, tasks: None, measures }).collect();
        Some(Self { paired, rows, mean })
    }
}

/// How the main curves of a run of so many steps end.
fn curve_ends(curves: &Curves, steps_done: u64) -> BTreeMap<String, CurveEnd> {
    let is_main = |path: &str| MAIN.contains(&path.rsplit('/').next().unwrap_or(path));
    let first_step = (steps_done - steps_done.div_ceil(10)) as f64;
    let end = |points: &[(f64, f64)]| {
        let (last_step, last) = *points.last()?;
        let tail: Vec<f64> = points.iter().filter(|(step, _)| *step >= first_step).map(|(_, value)| *value).collect();
        let mean_of_last_tenth = (!tail.is_empty()).then(|| tail.iter().sum::<f64>() / tail.len() as f64);
        Some(CurveEnd { last, last_step: last_step as u64, mean_of_last_tenth })
    };
    let main = curves.iter().filter(|(path, _)| is_main(path));
    main.filter_map(|(path, points)| Some((path.clone(), end(points)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::{CurveEnd, Curves, curve_ends};

    #[test]
    fn a_curve_ends_with_its_last_value_and_the_mean_of_a_tenth() {
        let points = |steps: u32| (0..steps).map(|step| (f64::from(step), f64::from(2 * step))).collect::<Vec<_>>();
        let early = vec![(0.0, 1.0), (3.0, 5.0)];
        let curves = Curves::from([
            ("actor/entropy".to_owned(), points(21)),
            ("loss_terms/actor/kl_loss".to_owned(), early),
            ("actor/lr".to_owned(), points(21)),
            ("play/solve_rate".to_owned(), Vec::new()),
        ]);
        let ends = curve_ends(&curves, 21);
        // The last tenth of 21 steps is 3 of them: 18 to 20.
        let entropy = CurveEnd { last: 40.0, last_step: 20, mean_of_last_tenth: Some(38.0) };
        let divergence = CurveEnd { last: 5.0, last_step: 3, mean_of_last_tenth: None };
        let want = [("actor/entropy".to_owned(), entropy), ("loss_terms/actor/kl_loss".to_owned(), divergence)];
        assert_eq!(ends, want.into());
        assert!(curve_ends(&Curves::new(), 0).is_empty());
    }
}
