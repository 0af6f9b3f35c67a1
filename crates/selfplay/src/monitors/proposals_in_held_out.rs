//! `proposals_in_held_out`: proposals that were refused because they hold what the policy is evaluated on.
//!
//! # What it measures
//! A count: proposals of the step whose program, function, text or repository is in the validation or the held-out set
//! ([`crate::splits`]).
//!
//! # Why
//! A policy that proposes what it is evaluated on has seen it, or has run out of other ideas. Training on it would void the evaluation.
//!
//! # Example
//! Of 32 proposals 2 repeat a held-out program in another layout: 2.

use super::Monitor;
use crate::facts::StepSummary;
use crate::play::Measurement;

pub(super) struct ProposalsInHeldOut;

impl Monitor for ProposalsInHeldOut {
    fn name(&self) -> &'static str {
        "proposals_in_held_out"
    }

    fn measure(&self, step: &StepSummary<'_>) -> Option<Measurement> {
        Some(Measurement::Count(step.counts.proposals_in_held_out))
    }
}
