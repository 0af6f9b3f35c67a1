//! `prompts_without_room`: proposers and tasks that were passed over because of their prompts.
//!
//! # What it measures
//! A count: proposers of the step that were not asked, and tasks that no solver was asked about, because the prompt and the response at its
//! longest do not fit into the model's context, or because the game can make no prompt of the task. Another task is drawn in the place of
//! such a task, and it leaves the pool unless it was there before step 0.
//!
//! # Why
//! A model that proposes ever longer programs writes what it cannot read. Where the count grows, lower the size that proposals may have, or
//! the references in a prompt.
//!
//! # Example
//! Of 24 proposers 2 show references too long for the context, and so is one task: 3.

use super::Monitor;
use crate::facts::StepSummary;
use crate::play::Measurement;

pub(super) struct PromptsWithoutRoom;

impl Monitor for PromptsWithoutRoom {
    fn name(&self) -> &'static str {
        "prompts_without_room"
    }

    fn measure(&self, step: &StepSummary<'_>) -> Option<Measurement> {
        Some(Measurement::Count(step.without_prompt as u64))
    }
}
