//! What a run came to: the table for people, the one JSON line for programs.

use serde::Serialize;
use veriplay_core::SCHEMA_VERSION;
use veriplay_selfplay::heldout::EvalTable;

use crate::evaluate;
use crate::progress;

/// The last stdout line of `play --json`. Rates and accuracies are fractions of 1.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Summary {
    pub(crate) schema_version: u32,
    /// Steps of the run.
    pub(crate) steps: u64,
    /// Wall-clock seconds of this process, measuring included.
    pub(crate) seconds: f64,
    pub(crate) eval: BeforeAfter,
    /// Valid proposals among those judged, over the run.
    pub(crate) valid_proposal_rate: f64,
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
pub(crate) struct BeforeAfter {
    pub(crate) before: EvalTable,
    pub(crate) after: EvalTable,
}

impl Summary {
    pub(crate) const SCHEMA_VERSION: u32 = SCHEMA_VERSION;
}

/// Prints the summary: with `json`, one line; else the table.
pub(crate) fn report(summary: &Summary, json: bool) -> anyhow::Result<()> {
    if json {
        progress::data(serde_json::to_string(summary)?);
        return Ok(());
    }
    progress::data(evaluate::table_text(Some(&summary.eval.before), &summary.eval.after));
    progress::data(format!(
        "{} steps in {:.0} s; {:.0} % of proposals valid, {:.0} % of attempts solved; {} jobs, {:.0} jobs/s; {} dropped",
        summary.steps,
        summary.seconds,
        100.0 * summary.valid_proposal_rate,
        100.0 * summary.solve_rate,
        summary.jobs,
        summary.jobs_per_s,
        summary.dropped,
    ));
    progress::data(format!("run directory: {0}; check it with `veriplay replay {0}`", summary.run));
    Ok(())
}
