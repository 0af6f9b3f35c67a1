//! What is watched in every step of every game: numbers in the log of events, each under `play/` and its monitor's name.
//!
//! One file a monitor, and one table of those that compare a number with a bound; each is in [`MONITORS`]. A monitor measures a step, or watches
//! the numbers of a run and raises an alarm, which the configuration's `on_alarm` acts on. It is a pure function of what it sees and of what it has
//! seen.

mod bounded;
mod entropy_collapse;
mod kl_jump;
mod own_tasks;
mod prompts_without_room;
mod proposals_in_held_out;
mod proposer_signal;
mod reward_truth_gap;
mod sharpening;
mod unsafe_share;

use crate::facts::StepSummary;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::intervals::Estimate;
use crate::memory::Memory;
use crate::play::Measurement;

/// Watches one number.
pub trait Monitor: Sync {
    /// Its name in the log of events.
    fn name(&self) -> &'static str;

    /// The number of a step; `None`, and no key in the log, where it only watches.
    fn measure(&self, _step: &StepSummary<'_>) -> Option<Measurement> {
        None
    }

    /// Looks at all numbers of step `step`, by the names of the log of events, when it has been learned from. Returns what is wrong, for people; it
    /// keeps what it has seen in `memory`.
    fn watch(&self, _step: u64, _numbers: &BTreeMap<String, f64>, _memory: &mut Memory) -> Option<String> {
        None
    }
}

/// A monitor's alarm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alarm {
    /// Whose it is.
    pub monitor: &'static str,
    /// What is wrong, with the numbers.
    pub what: String,
}

/// Every monitor.
pub const MONITORS: &[&dyn Monitor] = &[
    &proposals_in_held_out::ProposalsInHeldOut,
    &prompts_without_room::PromptsWithoutRoom,
    &own_tasks::OwnTasks,
    &proposer_signal::ProposerSignal,
    &entropy_collapse::EntropyCollapse,
    &bounded::ACCEPTED_SHARE,
    &bounded::CONSTANT_ANSWER,
    &bounded::STARVED_GROUPS,
    &bounded::INVALID_PROPOSALS,
    &bounded::REPEATED_PROPOSALS,
    &bounded::DISTINCT_TRIGRAMS,
    &bounded::LANGUAGE_DRIFT,
    &bounded::CUT_OFF_RESPONSES,
    &bounded::SOLVER_TOKENS,
    &bounded::REPEATED_TURNS,
    &bounded::VACUOUS_TESTS,
    &bounded::WRONG_CODE_ACCEPTED,
    &unsafe_share::UNSAFE_SHARE,
    &kl_jump::KlJump,
    &reward_truth_gap::RewardTruthGap,
    &sharpening::Sharpening,
];

/// The monitor of that name.
pub fn by_name(name: &str) -> Option<&'static dyn Monitor> {
    MONITORS.iter().copied().find(|monitor| monitor.name() == name)
}

/// Counts how often in a row something was so, and returns whether that has just become `times`: an alarm is raised once, and again only when it
/// was not so in between.
fn is_so_again(memory: &mut Memory, is_so: bool, times: f64) -> bool {
    let row = if is_so { memory.get("in_a_row").unwrap_or(0.0) + 1.0 } else { 0.0 };
    memory.set("in_a_row", row);
    row == times
}

/// A measure of the evaluation on the validation set, `pass1` or `pass8`: the mean over its rows, with an interval of two standard errors. `None`
/// in steps without one.
fn validated(numbers: &BTreeMap<String, f64>, measure: &str) -> Option<Estimate> {
    let rows = numbers.iter().filter_map(|(key, value)| {
        let row = key.strip_prefix("validation/rows/")?.strip_suffix(measure)?;
        let tasks = numbers.get(&format!("validation/rows/{row}tasks"))?;
        Some(Estimate::of_share(*value, *tasks as usize))
    });
    Estimate::mean(&rows.collect::<Vec<_>>())
}
