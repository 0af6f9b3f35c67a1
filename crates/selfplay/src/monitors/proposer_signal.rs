//! `proposer_signal`: how much of what a step teaches is taught to the proposer.
//!
//! # What it measures
//! Σ |weight| of the proposers' episodes over Σ |weight| of all rewarded episodes, where a weight is the advantage times the weight of the role.
//! `null` where nothing is learned from. The norms of the roles' gradients are in `actor/grad_norm/ROLE`.
//!
//! # Why
//! A proposer whose signal is one percent of the update is as good as frozen.
//!
//! # Example
//! Solvers' weights sum to 570 and proposers' to 5.7: 0.0099.

use super::Monitor;
use crate::facts::StepSummary;
use crate::play::Measurement;
use crate::rollout::Part;
use crate::scoring::ScoredEpisode;

pub(super) struct ProposerSignal;

impl Monitor for ProposerSignal {
    fn name(&self) -> &'static str {
        "proposer_signal"
    }

    fn measure(&self, step: &StepSummary<'_>) -> Option<Measurement> {
        let proposals = step.scored.iter().filter(|one| matches!(one.part, Part::Proposal | Part::Deferred));
        let proposers = sum_of_weights(proposals);
        let all = sum_of_weights(step.scored);
        Some(Measurement::Number((all > 0.0).then(|| proposers / all)))
    }
}

fn sum_of_weights<'a>(scored: impl IntoIterator<Item = &'a ScoredEpisode>) -> f64 {
    scored.into_iter().map(|one| one.weight.abs()).sum()
}
