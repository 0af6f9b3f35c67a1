//! What a run came to: the table for people, the one JSON line for programs.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use veriplay_selfplay::eval_table::{EvalNumbers, EvalTable};
use veriplay_selfplay::splits::EvalSet;

use crate::progress::{self, counted};
use crate::suites::{SuiteEstimates, SuiteScores};

/// The last stdout line of `play --json`. Rates and accuracies are fractions of 1.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Summary {
    pub(crate) schema_version: u32,
    /// Steps of the run.
    pub(crate) steps: u64,
    /// Steps that earlier processes had played.
    pub(crate) resumed_at: u64,
    /// Wall-clock seconds of the run's steps, whichever processes have played them; evaluations are no part of it.
    pub(crate) seconds: f64,
    /// The set that `eval` was measured on.
    pub(crate) eval_set: EvalSet,
    pub(crate) eval: BeforeAfter,
    /// pass@1 of the public sets that were measured, with 95 % intervals.
    pub(crate) suites: BeforeAfterSuites,
    /// Valid proposals among those judged, over the run.
    pub(crate) valid_proposal_rate: f64,
    /// Proposals refused because they hold what the policy is evaluated on, over the run.
    pub(crate) proposals_in_held_out: u64,
    /// Accepted attempts among those judged, over the run.
    pub(crate) solve_rate: f64,
    /// Sandbox jobs of the run's steps.
    pub(crate) jobs: u64,
    pub(crate) jobs_per_s: f64,
    pub(crate) process: ProcessShare,
    /// Attempts lost to a host fault, over the run.
    pub(crate) dropped: u64,
    /// Where everything is.
    pub(crate) run: String,
}

/// What this process did of the run: the steps from `resumed_at` on, and evaluations.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ProcessShare {
    /// Wall-clock seconds.
    pub(crate) seconds: f64,
    /// Sandbox jobs.
    pub(crate) jobs: u64,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct BeforeAfter {
    pub(crate) before: EvalTable,
    pub(crate) after: EvalTable,
}

/// pass@1 of public sets, by name; empty where the configuration names none.
#[derive(Debug, Clone, Serialize)]
#[serde(into = "WrittenSuites")]
pub(crate) struct BeforeAfterSuites {
    pub(crate) before: SuiteEstimates,
    pub(crate) after: SuiteEstimates,
}

/// The same as it is written: the intervals have keys of their own.
#[derive(Serialize)]
struct WrittenSuites {
    before: SuiteScores,
    after: SuiteScores,
    before_interval: BTreeMap<String, Option<[f64; 2]>>,
    after_interval: BTreeMap<String, Option<[f64; 2]>>,
}

impl From<BeforeAfterSuites> for WrittenSuites {
    fn from(suites: BeforeAfterSuites) -> Self {
        let values = |suites: &SuiteEstimates| {
            suites.iter().map(|(name, score)| (name.clone(), score.map(|score| score.value))).collect()
        };
        let intervals = |suites: &SuiteEstimates| {
            suites.iter().map(|(name, score)| (name.clone(), score.map(|score| score.interval))).collect()
        };
        Self {
            before: values(&suites.before),
            after: values(&suites.after),
            before_interval: intervals(&suites.before),
            after_interval: intervals(&suites.after),
        }
    }
}

impl Summary {
    /// The part of this process, for people, where others have played steps before it.
    fn process_text(&self) -> Option<String> {
        let steps = match self.resumed_at {
            0 => return None,
            first if first == self.steps => "no step".to_owned(),
            first => format!("the steps after step {first}"),
        };
        let ProcessShare { seconds, jobs } = self.process;
        let jobs = counted(jobs, "job");
        Some(format!("this process: {steps}, with evaluation in {seconds:.0} s and {jobs}"))
    }
}

/// Prints the summary: with `json`, one line; else the table.
pub(crate) fn report(summary: &Summary, json: bool) -> anyhow::Result<()> {
    if json {
        progress::data(serde_json::to_string(summary)?);
        return Ok(());
    }
    progress::data(table_text(summary.eval_set, Some(&summary.eval.before), &summary.eval.after));
    for (name, after) in &summary.suites.after {
        let before = summary.suites.before.get(name).copied().flatten();
        let [before, after] = [before, *after].map(|score| score.map(|score| score.value));
        progress::data(format!("suite {name}: {} %", percent(Some(before), after)));
    }
    progress::data(format!(
        "{} in {:.0} s; {:.0} % of proposals valid, {} refused as evaluation data; {:.0} % of attempts solved; {}, {:.0} jobs/s; {} dropped",
        counted(summary.steps, "step"),
        summary.seconds,
        100.0 * summary.valid_proposal_rate,
        summary.proposals_in_held_out,
        100.0 * summary.solve_rate,
        counted(summary.jobs, "job"),
        summary.jobs_per_s,
        summary.dropped,
    ));
    summary.process_text().into_iter().for_each(progress::data);
    let word = progress::shell_word(Path::new(&summary.run));
    progress::data(format!("run directory: {}; check it with `veriplay replay {word}`", summary.run));
    Ok(())
}

/// The rows of an evaluation and their mean, then its other numbers, in percent; with `before`, as `before → after`.
pub(crate) fn table_text(set: EvalSet, before: Option<&EvalTable>, after: &EvalTable) -> String {
    let before_rows: Option<BTreeMap<String, [f64; 3]>> = before.map(|table| rows(table).into_iter().collect());
    let mut text = format!("| %, {} | pass@1 (T=1) | greedy | pass@8 |\n|---|---|---|---|\n", set.label());
    for (name, after) in rows(after) {
        let cell = |column: usize| {
            let before = before_rows.as_ref().map(|before| before.get(&name).map(|row| row[column]));
            percent(before, Some(after[column]))
        };
        text += &format!("| {name} | {} |\n", [cell(0), cell(1), cell(2)].join(" | "));
    }
    for (name, after) in &after.numbers {
        let before = before.map(|before| before.numbers.get(name).copied().flatten());
        text += &format!("{name}: {} %\n", percent(before, *after));
    }
    text
}

/// The rows, then their mean.
fn rows(table: &EvalTable) -> Vec<(String, [f64; 3])> {
    let EvalNumbers { pass1, greedy, pass8 } = table.mean;
    let rows = table.rows.iter().map(|row| (row.row.clone(), [row.pass1, row.greedy, row.pass8]));
    rows.chain([("**mean**".to_owned(), [pass1, greedy, pass8])]).collect()
}

/// A fraction in percent, behind what it was where there was a measurement before.
fn percent(before: Option<Option<f64>>, after: Option<f64>) -> String {
    let of = |number: Option<f64>| number.map_or_else(|| "none".to_owned(), |number| format!("{:.1}", 100.0 * number));
    before.map_or_else(|| of(after), |before| format!("{} → {}", of(before), of(after)))
}
