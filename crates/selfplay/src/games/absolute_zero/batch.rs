//! From scored samples to what the learner takes. Called by the cli after `score`.

use veriplay_core::{Role, Rollout, Sample, TrainBatch};

use super::AbsoluteZero;
use super::config::{Aggregation, ZeroAdvantage};
use super::records::{ProposalRecord, SolverRecord};
use super::score::{SampleRef, Scored};
use super::state::GameState;
use crate::anchors::Imitation;
use crate::batching::PromptGroups;

impl AbsoluteZero {
    /// The step's batch: every sample whose weight is not 0, or every one if the config keeps those, then this step's draw of
    /// anchors, with samples of one prompt side by side. Denominators count all paid solver rollouts, those of weight 0 included,
    /// so that the solver's loss is the mean that the config's `aggregation` says. `samples` is empty when nothing is to be learned:
    /// skip the update.
    #[must_use]
    pub fn train_batch(
        &self,
        state: &GameState,
        seed: u64,
        step: u64,
        scored: &Scored,
        proposals: &[ProposalRecord],
        solutions: &[SolverRecord],
    ) -> TrainBatch {
        let rollout = |source| match source {
            SampleRef::Proposal(index) => &proposals[index].rollout,
            SampleRef::Solver(index) => &solutions[index].rollout,
        };
        let aggregation = self.config.aggregation;
        let scale = |tokens: &[u32]| match aggregation {
            Aggregation::SequenceMean => 1.0 / tokens.len() as f32,
            Aggregation::TokenMean | Aggregation::ConstantLength => 1.0,
        };
        let mut groups = PromptGroups::default();
        let keep = self.config.zero_advantage == ZeroAdvantage::Keep;
        for sample in scored.samples.iter().filter(|sample| keep || sample.weight != 0.0) {
            let rollout: &Rollout = rollout(sample.source);
            let behaviour = Some(rollout.logprobs.clone());
            groups.add(&rollout.prompt_tokens, &rollout.tokens, |prompt, response| Sample {
                behaviour,
                scale: scale(&response),
                ..Sample::new(prompt, response, sample.weight as f32)
            });
        }
        let (anchors, weight) = (state.anchors(), self.config.anchor_weight);
        for anchor in (Imitation { anchors, samples: self.config.anchor_samples, weight }).drawn(seed, step) {
            groups.add(&anchor.prompt_tokens, &anchor.tokens, |prompt, response| Sample {
                scale: scale(&response),
                ..Sample::example(prompt, response, weight as f32)
            });
        }
        let solver_samples = scored.samples.iter().filter(|sample| sample.role == Role::Solver);
        let lengths = solver_samples.map(|sample| rollout(sample.source).tokens.len()).collect();
        let samples = groups.finish();
        let normalizer = normalizer(aggregation, lengths, &samples, self.config.solver_max_tokens);
        TrainBatch { samples, normalizer }
    }
}

/// `lengths` are those of all paid solver rollouts; where there is none, the batch's own responses count.
fn normalizer(aggregation: Aggregation, lengths: Vec<usize>, samples: &[Sample], max_tokens: usize) -> f64 {
    let own = || samples.iter().map(|sample| sample.response.len()).collect();
    let lengths: Vec<usize> = if lengths.iter().sum::<usize>() > 0 { lengths } else { own() };
    let denominator = match aggregation {
        Aggregation::TokenMean => lengths.iter().sum(),
        Aggregation::SequenceMean => lengths.len(),
        Aggregation::ConstantLength => lengths.len() * max_tokens,
    };
    denominator.max(1) as f64
}
