//! What a run came to: the table for people, the one JSON line for programs.

use serde::Serialize;
use veriplay_core::SCHEMA_VERSION;
use veriplay_selfplay::play::HeldOut;

use crate::progress;

/// The last stdout line of `play --json`. Rates and accuracies are fractions of 1.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Summary<H> {
    pub(crate) schema_version: u32,
    /// Steps of the run.
    pub(crate) steps: u64,
    /// Wall-clock seconds of this process, measuring included.
    pub(crate) seconds: f64,
    pub(crate) eval: BeforeAfter<H>,
    /// Valid proposals among those judged, over the run.
    pub(crate) valid_proposal_rate: f64,
    /// Proposals refused because they hold what is measured, over the run.
    pub(crate) proposals_in_held_out: u64,
    /// Accepted attempts among those judged, over the run.
    pub(crate) solve_rate: f64,
    /// Sandbox jobs this process asked for.
    pub(crate) jobs: u64,
    pub(crate) jobs_per_s: f64,
    /// Attempts lost to a host fault, over the run.
    pub(crate) dropped: u64,
    /// Where everything is.
    pub(crate) run: String,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct BeforeAfter<H> {
    pub(crate) before: H,
    pub(crate) after: H,
}

/// Version of [`Summary`].
pub(super) const SUMMARY_VERSION: u32 = SCHEMA_VERSION;

/// Prints the summary: with `json`, one line; else the table.
pub(crate) fn report<H: HeldOut>(summary: &Summary<H>, json: bool) -> anyhow::Result<()> {
    if json {
        progress::data(serde_json::to_string(summary)?);
        return Ok(());
    }
    progress::data(table_text(Some(&summary.eval.before), &summary.eval.after));
    progress::data(format!(
        "{} steps in {:.0} s; {:.0} % of proposals valid, {} refused for what is measured; {:.0} % of attempts solved; {} jobs, {:.0} jobs/s; {} dropped",
        summary.steps,
        summary.seconds,
        100.0 * summary.valid_proposal_rate,
        summary.proposals_in_held_out,
        100.0 * summary.solve_rate,
        summary.jobs,
        summary.jobs_per_s,
        summary.dropped,
    ));
    progress::data(format!("run directory: {0}; check it with `veriplay replay {0}`", summary.run));
    Ok(())
}

/// The rows of a measurement and their mean, in percent; with `before`, as `before → after`.
pub(crate) fn table_text<H: HeldOut>(before: Option<&H>, after: &H) -> String {
    let with_mean = |held: &H| [held.rows(), vec![("**mean**".to_owned(), held.mean())]].concat();
    let before: Option<Vec<(String, [f64; 3])>> = before.map(with_mean);
    let mut text = String::from("| %, held-out | pass@1 (T=1) | greedy | pass@8 |\n|---|---|---|---|\n");
    for (row, (name, after)) in with_mean(after).into_iter().enumerate() {
        let cell = |column: usize| match &before {
            Some(before) => format!("{:.1} → {:.1}", 100.0 * before[row].1[column], 100.0 * after[column]),
            None => format!("{:.1}", 100.0 * after[column]),
        };
        text += &format!("| {name} | {} |\n", [cell(0), cell(1), cell(2)].join(" | "));
    }
    text
}
