//! What a run came to: the table for people, the one JSON line for programs.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use veriplay_console::progress::{self, counted};
use veriplay_selfplay::eval_table::{EvalDifference, EvalNumbers, EvalTable};
use veriplay_selfplay::intervals::Estimate;
use veriplay_selfplay::splits::EvalSet;

use super::signal::Signal;
use crate::suites::{SuiteEstimates, SuiteScores};

/// The last stdout line of `play --json`. Rates and accuracies are fractions of 1.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    pub schema_version: u32,
    /// Steps of the run.
    pub steps: u64,
    /// Steps that earlier processes had played.
    pub resumed_at: u64,
    /// Wall-clock seconds of the run's steps, whichever processes have played them; evaluations are no part of it.
    pub seconds: f64,
    /// The set that `eval` was measured on.
    pub eval_set: EvalSet,
    pub eval: BeforeAfter,
    /// pass@1 of the public sets that were measured, with 95 % intervals.
    pub suites: BeforeAfterSuites,
    /// Whose tasks were learned from, and how much each role's part was.
    pub signal: Signal,
    /// Valid proposals among those judged, over the run; `None` where nobody proposed.
    pub valid_proposal_rate: Option<f64>,
    /// Proposals refused because they hold what the policy is evaluated on, over the run.
    pub proposals_in_held_out: u64,
    /// Accepted attempts among those judged, over the run.
    pub solve_rate: f64,
    /// Sandbox jobs of the run's steps.
    pub jobs: u64,
    pub jobs_per_s: f64,
    pub process: ProcessShare,
    /// Attempts lost to a host fault, over the run.
    pub dropped: u64,
    /// Where everything is.
    pub run: String,
}

/// What this process did of the run: the steps from `resumed_at` on, and evaluations.
#[derive(Debug, Clone, Serialize)]
pub struct ProcessShare {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Sandbox jobs.
    pub jobs: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct BeforeAfter {
    before: EvalTable,
    after: EvalTable,
    /// How much higher `after` is, with 95 % intervals over the choice of tasks; `None` where the rows differ.
    difference: Option<EvalDifference>,
}

impl BeforeAfter {
    pub fn new(before: EvalTable, after: EvalTable) -> Self {
        Self { difference: after.difference(&before), before, after }
    }
}

/// pass@1 of public sets, by name; empty where the configuration names none.
#[derive(Debug, Clone, Serialize)]
pub struct BeforeAfterSuites {
    before: SuiteScores,
    after: SuiteScores,
    before_interval: BTreeMap<String, Option<[f64; 2]>>,
    after_interval: BTreeMap<String, Option<[f64; 2]>>,
}

impl BeforeAfterSuites {
    pub fn new(before: &SuiteEstimates, after: &SuiteEstimates) -> Self {
        Self {
            before: each(before, |score| score.value),
            after: each(after, |score| score.value),
            before_interval: each(before, |score| score.interval),
            after_interval: each(after, |score| score.interval),
        }
    }
}

fn each<T>(suites: &SuiteEstimates, part: fn(Estimate) -> T) -> BTreeMap<String, Option<T>> {
    suites.iter().map(|(name, score)| (name.clone(), score.map(part))).collect()
}

/// The part of this process, for people, where others have played steps before it.
fn process_text(summary: &Summary) -> Option<String> {
    let steps = match summary.resumed_at {
        0 => return None,
        first if first == summary.steps => "no step".to_owned(),
        first => format!("the steps after step {first}"),
    };
    let (seconds, jobs) = (summary.process.seconds, counted(summary.process.jobs, "job"));
    Some(format!("this process: {steps}, with evaluation in {seconds:.0} s and {jobs}"))
}

/// Prints the summary: with `json`, one line; else the table.
pub fn report(summary: &Summary, json: bool) -> anyhow::Result<()> {
    if json {
        progress::data(serde_json::to_string(summary)?);
        return Ok(());
    }
    progress::data(table_text(summary.eval_set, Some(&summary.eval.before), &summary.eval.after));
    for (name, after) in &summary.suites.after {
        let before = summary.suites.before.get(name).copied().flatten();
        progress::data(format!("suite {name}: {} %", percent(Some(before), *after)));
    }
    progress::data(format!(
        "{} in {:.0} s; {}; {:.0} % of attempts solved; {}, {:.0} jobs/s; {} dropped",
        counted(summary.steps, "step"),
        summary.seconds,
        proposals_text(summary.valid_proposal_rate, summary.proposals_in_held_out),
        100.0 * summary.solve_rate,
        counted(summary.jobs, "job"),
        summary.jobs_per_s,
        summary.dropped,
    ));
    progress::data(summary.signal.text());
    process_text(summary).into_iter().for_each(progress::data);
    let word = progress::shell_word(Path::new(&summary.run));
    progress::data(format!("run directory: {}; check it with `veriplay replay {word}`", summary.run));
    Ok(())
}

/// What people are told of a run in which nobody proposed.
pub(super) const NO_PROPOSALS: &str = "no proposals";

fn proposals_text(valid_rate: Option<f64>, refused: u64) -> String {
    let text = |rate| format!("{:.0} % of proposals valid, {refused} refused as evaluation data", 100.0 * rate);
    valid_rate.map_or_else(|| NO_PROPOSALS.to_owned(), text)
}

/// The rows of an evaluation and their mean, then its other numbers, in percent; with `before`, as `before → after`, and with the difference
/// of the means in points.
pub fn table_text(set: EvalSet, before: Option<&EvalTable>, after: &EvalTable) -> String {
    let before_rows: Option<BTreeMap<String, [f64; 3]>> = before.map(|table| rows(table).into_iter().collect());
    let mut text = format!("| %, {} | pass@1 (T=1) | greedy | pass@8 |\n|---|---|---|---|\n", set.label());
    for (name, after) in rows(after) {
        let cell = |column: usize| {
            let before = before_rows.as_ref().map(|before| before.get(&name).map(|row| row[column]));
            percent(before, Some(after[column]))
        };
        text += &format!("| {name} | {} |\n", [cell(0), cell(1), cell(2)].join(" | "));
    }
    text += &before.and_then(|before| after.difference(before)).map_or_else(String::new, difference_row);
    for (name, after) in &after.numbers {
        let before = before.map(|before| before.numbers.get(name).copied().flatten());
        text += &format!("{name}: {} %\n", percent(before, *after));
    }
    for (name, table) in &after.further {
        let before = before.and_then(|before| before.further.get(name));
        text += &format!("\nby {name}:\n{}", table_text(set, before, table));
    }
    text
}

/// The rows, then their mean.
fn rows(table: &EvalTable) -> Vec<(String, [f64; 3])> {
    let EvalNumbers { pass1, greedy, pass8 } = table.mean;
    let rows = table.rows.iter().map(|row| (row.row.clone(), [row.pass1, row.greedy, row.pass8]));
    rows.chain([("**mean**".to_owned(), [pass1, greedy, pass8])]).collect()
}

/// The difference of the means as a row of their table, with 95 % intervals.
fn difference_row(EvalDifference { paired, mean, .. }: EvalDifference) -> String {
    let EvalNumbers { pass1, greedy, pass8 } = mean.map(|Estimate { value, interval: [low, high] }| {
        let [value, low, high] = [value, low, high].map(|share| 100.0 * share);
        format!("{value:+.1} ({low:+.1} to {high:+.1})")
    });
    let tasks = if paired { "task by task" } else { "other tasks" };
    format!("| difference, 95 %, {tasks} | {pass1} | {greedy} | {pass8} |\n")
}

/// A fraction in percent, behind what it was where there was a measurement before.
fn percent(before: Option<Option<f64>>, after: Option<f64>) -> String {
    let of = |number: Option<f64>| number.map_or_else(|| "none".to_owned(), |number| format!("{:.1}", 100.0 * number));
    before.map_or_else(|| of(after), |before| format!("{} → {}", of(before), of(after)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A table of two tasks, in a further table too.
    fn table(solved: [u32; 2]) -> EvalTable {
        let share = f64::from(solved[0] + solved[1]) / 16.0;
        let numbers = json!({"pass1": share, "greedy": 0.5, "pass8": 1.0});
        let row = json!({"row": "deduction", "tasks": 2, "pass1": share, "greedy": 0.5, "pass8": 1.0});
        let counts = json!({"set": "0".repeat(64), "samples": 8, "rows": [{"solved": solved, "greedy": [0, 1]}]});
        let table = json!({"rows": [row], "mean": numbers, "counts": counts});
        let mut nested = table.clone();
        nested["further"] = json!({"depth": table});
        serde_json::from_value(nested).expect("a table")
    }

    #[test]
    fn the_difference_of_each_table_follows_its_mean() {
        let (before, after) = (table([2, 4]), table([6, 8]));
        let text = table_text(EvalSet::HeldOut, Some(&before), &after);
        let difference =
            "| **mean** | 37.5 → 87.5 | 50.0 → 50.0 | 100.0 → 100.0 |\n| difference, 95 %, task by task | +50.0 (";
        assert_eq!(text.matches(difference).count(), 2, "{text}");
        assert!(!table_text(EvalSet::HeldOut, None, &after).contains("difference"));
        let summary = serde_json::to_value(BeforeAfter::new(before, after)).expect("it can be written");
        let difference = &summary["difference"];
        let mean = &difference["mean"]["pass1"];
        assert_eq!(
            (&difference["paired"], &mean["value"], mean["interval"].as_array().map(Vec::len)),
            (&json!(true), &json!(0.5), Some(2))
        );
        assert_eq!(&difference["further"]["depth"]["mean"]["pass1"], mean);
    }

    #[test]
    fn a_run_without_proposals_has_no_rate_of_them() {
        assert_eq!(proposals_text(Some(0.5), 3), "50 % of proposals valid, 3 refused as evaluation data");
        assert_eq!(proposals_text(None, 0), "no proposals");
    }
}
