//! From scored samples to what the learner takes. Called by the cli after `score`.

use std::collections::HashMap;
use std::sync::Arc;

use veriplay_core::{Role, Rollout, Sample, TrainBatch};

use super::AbsoluteZero;
use super::buffer::draw;
use super::config::{Aggregation, ZeroAdvantage};
use super::records::{ProposalRecord, SolverRecord};
use super::score::{SampleRef, Scored};
use super::state::{Anchor, GameState};
use crate::randomness::generator;

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
        let mut batch = PromptGroups { aggregation: self.config.aggregation, ..PromptGroups::default() };
        let keep = self.config.zero_advantage == ZeroAdvantage::Keep;
        for sample in scored.samples.iter().filter(|sample| keep || sample.weight != 0.0) {
            let rollout: &Rollout = rollout(sample.source);
            let behaviour = Some(rollout.logprobs.clone());
            batch.push(&rollout.prompt_tokens, &rollout.tokens, |prompt, response| Sample {
                behaviour,
                ..Sample::new(prompt, response, sample.weight as f32)
            });
        }
        for anchor in self.draw_anchors(state, seed, step) {
            let weight = self.config.anchor_weight as f32;
            batch.push(&anchor.prompt_tokens, &anchor.tokens, |prompt, response| {
                Sample::example(prompt, response, weight)
            });
        }
        let solver_samples = scored.samples.iter().filter(|sample| sample.role == Role::Solver);
        let lengths = solver_samples.map(|sample| rollout(sample.source).tokens.len());
        batch.finish(&lengths.collect::<Vec<_>>(), self.config.solver_max_tokens)
    }

    fn draw_anchors<'a>(&self, state: &'a GameState, seed: u64, step: u64) -> Vec<&'a Anchor> {
        if self.config.anchor_weight == 0.0 {
            return Vec::new();
        }
        let anchors = state.anchors().iter().map(|anchor| (anchor, 1.0)).collect();
        draw(anchors, self.config.anchor_samples, &mut generator(seed, step, "anchors"))
    }
}

/// Samples by prompt, prompts in the order of their first sample.
#[derive(Default)]
struct PromptGroups<'a> {
    aggregation: Aggregation,
    groups: Vec<(Arc<[u32]>, Vec<Sample>)>,
    index: HashMap<&'a [u32], usize>,
}

impl<'a> PromptGroups<'a> {
    fn push(&mut self, prompt: &'a [u32], response: &[u32], make: impl FnOnce(Arc<[u32]>, Vec<u32>) -> Sample) {
        let next = self.groups.len();
        let index = *self.index.entry(prompt).or_insert(next);
        if index == next {
            self.groups.push((Arc::from(prompt), Vec::new()));
        }
        let (prompt, samples) = &mut self.groups[index];
        let mut sample = make(Arc::clone(prompt), response.to_vec());
        if self.aggregation == Aggregation::SequenceMean {
            sample.scale = 1.0 / sample.response.len() as f32;
        }
        samples.push(sample);
    }

    /// `lengths` are those of all paid solver rollouts; where there is none, the batch's own responses count.
    fn finish(self, lengths: &[usize], max_tokens: usize) -> TrainBatch {
        let samples: Vec<Sample> = self.groups.into_iter().flat_map(|(_, samples)| samples).collect();
        let own: Vec<usize> = samples.iter().map(|sample| sample.response.len()).collect();
        let lengths = if lengths.iter().sum::<usize>() > 0 { lengths } else { &own };
        let denominator = match self.aggregation {
            Aggregation::TokenMean => lengths.iter().sum(),
            Aggregation::SequenceMean => lengths.len(),
            Aggregation::ConstantLength => lengths.len() * max_tokens,
        };
        TrainBatch { samples, normalizer: denominator.max(1) as f64 }
    }
}
