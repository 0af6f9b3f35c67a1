//! What is watched in every step of every game: numbers in the log of events, each under `play/` and its monitor's name.
//!
//! One file a monitor; each is in [`MONITORS`] under its file's name. A monitor is a pure function of what happened in the step.

mod prompts_without_room;
mod proposals_in_held_out;

use crate::facts::StepSummary;
use crate::play::Measurement;

/// Watches one number.
pub trait Monitor: Sync {
    /// Its name in the log of events.
    fn name(&self) -> &'static str;

    /// The number of a step.
    fn measure(&self, step: &StepSummary<'_>) -> Measurement;
}

/// Every monitor.
pub const MONITORS: &[&dyn Monitor] =
    &[&proposals_in_held_out::ProposalsInHeldOut, &prompts_without_room::PromptsWithoutRoom];
