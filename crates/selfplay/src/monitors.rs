//! What is watched in every step of every game: numbers in the log of events, each under `play/` and its monitor's name.
//!
//! One file a monitor; each is in [`MONITORS`] under its file's name. A monitor measures a step, or watches the numbers of a run and raises an
//! alarm, which the configuration's `on_alarm` acts on. It is a pure function of what it sees and of what it has seen.

mod entropy_collapse;
mod own_tasks;
mod prompts_without_room;
mod proposals_in_held_out;
mod proposer_signal;

use crate::facts::StepSummary;
use std::collections::BTreeMap;

use serde::Serialize;

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
];
