//! From scored samples to what the learner takes. Called by the cli after `score`.

use std::collections::HashMap;
use std::sync::Arc;

use veriplay_core::{Role, Rollout, Sample, TrainBatch};

use super::AbsoluteZero;
use super::buffer::draw;
use super::records::{ProposalRecord, SolverRecord};
use super::score::{SampleRef, Scored};
use super::state::{Anchor, GameState};
use crate::randomness::generator;

impl AbsoluteZero {
    /// The step's batch: every sample whose weight is not 0, then this step's draw of anchors, with samples of one prompt
    /// side by side. The normalizer is the number of response tokens of all paid solver rollouts, those of weight 0
    /// included, so that the solver's loss is a token mean. `samples` is empty when nothing is to be learned: skip the update.
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
        let mut batch = PromptGroups::default();
        for sample in scored.samples.iter().filter(|sample| sample.weight != 0.0) {
            let rollout: &Rollout = rollout(sample.source);
            batch.push(&rollout.prompt_tokens, &rollout.tokens, sample.weight as f32);
        }
        for anchor in self.draw_anchors(state, seed, step) {
            batch.push(&anchor.prompt_tokens, &anchor.tokens, self.config.anchor_weight as f32);
        }
        let solver_samples = scored.samples.iter().filter(|sample| sample.role == Role::Solver);
        let solver_tokens: usize = solver_samples.map(|sample| rollout(sample.source).tokens.len()).sum();
        batch.finish(solver_tokens)
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
    groups: Vec<(Arc<[u32]>, Vec<Sample>)>,
    index: HashMap<&'a [u32], usize>,
}

impl<'a> PromptGroups<'a> {
    fn push(&mut self, prompt: &'a [u32], response: &[u32], weight: f32) {
        let next = self.groups.len();
        let index = *self.index.entry(prompt).or_insert(next);
        if index == next {
            self.groups.push((Arc::from(prompt), Vec::new()));
        }
        let (prompt, samples) = &mut self.groups[index];
        samples.push(Sample { prompt: Arc::clone(prompt), response: response.to_vec(), masked: 0, weight });
    }

    /// The normalizer is `solver_tokens`, or the batch's own response tokens where no solver was paid.
    fn finish(self, solver_tokens: usize) -> TrainBatch {
        let samples: Vec<Sample> = self.groups.into_iter().flat_map(|(_, samples)| samples).collect();
        let own_tokens: usize = samples.iter().map(|sample| sample.response.len()).sum();
        let tokens = if solver_tokens > 0 { solver_tokens } else { own_tokens.max(1) };
        TrainBatch { samples, normalizer: tokens as f64 }
    }
}
