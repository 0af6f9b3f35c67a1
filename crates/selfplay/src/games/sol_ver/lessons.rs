//! From what was chosen to what the learner takes: imitation first, then preference.

use std::sync::Arc;

use rand::seq::SliceRandom;
use veriplay_core::{PreferenceBatch, PreferencePair, Rollout, Sample, TrainBatch};

use super::records::SolVerRecord;
use super::select::{Chosen, Pair, Response};
use super::{Lessons, SolVer, Stage};
use crate::play::Lesson;
use crate::randomness::generator;

impl SolVer {
    /// The lessons of a step. What has no tokens, because a server does not tell them, is left out.
    pub(super) fn lessons(&self, seed: u64, step: u64, records: &[SolVerRecord], chosen: &Chosen) -> Vec<Lesson> {
        let told = |response: &Response| !response.rollout(records).tokens.is_empty();
        let examples: Vec<Response> = chosen.examples.iter().copied().filter(told).collect();
        let both_told = |pair: &Pair| told(&pair.chosen) && told(&pair.rejected);
        let pairs: Vec<Pair> = chosen.pairs.iter().copied().filter(both_told).collect();
        let mut lessons = Vec::new();
        if self.config.lessons != Lessons::Dpo {
            let batches = dealt(&examples, self.config.sft, seed, step, "sol_ver/sft");
            lessons.extend(batches.iter().map(|batch| Lesson::Samples(self.samples(records, batch))));
        }
        if self.config.lessons != Lessons::Sft {
            let batches = dealt(&pairs, self.config.dpo, seed, step, "sol_ver/dpo");
            lessons.extend(batches.iter().map(|batch| Lesson::Pairs(self.pairs(records, batch))));
        }
        lessons
    }

    fn weight(&self, response: Response) -> f32 {
        let weight = match response {
            Response::Problem(_) => self.config.problem_weight,
            Response::Code(..) => self.config.code_weight,
            Response::Suite(..) => self.config.test_weight,
        };
        weight as f32
    }

    /// The loss is the mean over the batch's tokens.
    fn samples(&self, records: &[SolVerRecord], batch: &[Response]) -> TrainBatch {
        let sample = |response: &Response, prompt: Arc<[u32]>| {
            Sample::example(prompt, response.rollout(records).tokens.clone(), self.weight(*response))
        };
        let samples = by_prompt(batch, |response| response.rollout(records), sample);
        let tokens: usize = samples.iter().map(|sample| sample.response.len()).sum();
        TrainBatch { samples, normalizer: tokens.max(1) as f64 }
    }

    /// Under the policy that made the responses: DPO's reference, in each iteration the one it starts from.
    fn reference(&self, pair: &Pair, records: &[SolVerRecord]) -> Option<[f64; 2]> {
        let told = |response: &Response| {
            let rollout = response.rollout(records);
            let all = rollout.logprobs.len() == rollout.tokens.len();
            all.then(|| rollout.logprobs.iter().map(|&logprob| f64::from(logprob)).sum())
        };
        (!self.config.needs_reference()).then(|| Some([told(&pair.chosen)?, told(&pair.rejected)?])).flatten()
    }

    fn pairs(&self, records: &[SolVerRecord], batch: &[Pair]) -> PreferenceBatch {
        let pair = |pair: &Pair, prompt: Arc<[u32]>| PreferencePair {
            prompt,
            chosen: pair.chosen.rollout(records).tokens.clone(),
            rejected: pair.rejected.rollout(records).tokens.clone(),
            weight: self.weight(pair.chosen),
            reference: self.reference(pair, records),
        };
        PreferenceBatch { pairs: by_prompt(batch, |pair| pair.chosen.rollout(records), pair) }
    }
}

/// The items in batches: `epochs` passes, each in an order of its own, as many batches as may be.
fn dealt<T: Copy>(items: &[T], stage: Stage, seed: u64, step: u64, purpose: &str) -> Vec<Vec<T>> {
    let mut batches = Vec::new();
    for epoch in 0..stage.epochs {
        let mut items = items.to_vec();
        items.shuffle(&mut generator(seed, step, &format!("{purpose}/{epoch}")));
        batches.extend(items.chunks(stage.batch).map(<[T]>::to_vec));
    }
    batches.truncate(stage.max_updates);
    batches
}

/// What `make` makes of each item, those of one prompt side by side and sharing it, prompts in the order of their first.
fn by_prompt<'r, T, S>(items: &[T], rollout: impl Fn(&T) -> &'r Rollout, make: impl Fn(&T, Arc<[u32]>) -> S) -> Vec<S> {
    let mut groups: Vec<(Arc<[u32]>, Vec<S>)> = Vec::new();
    for item in items {
        let tokens = &rollout(item).prompt_tokens;
        let known = groups.iter().position(|(prompt, _)| prompt[..] == tokens[..]);
        let place = known.unwrap_or_else(|| {
            groups.push((Arc::from(tokens.as_slice()), Vec::new()));
            groups.len() - 1
        });
        let (prompt, made) = &mut groups[place];
        made.push(make(item, Arc::clone(prompt)));
    }
    groups.into_iter().flat_map(|(_, made)| made).collect()
}
