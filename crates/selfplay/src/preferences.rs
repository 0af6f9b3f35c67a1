//! Learning from what responses prove of each other: trusted ones are imitated, then better ones are preferred over worse ones (SFT,
//! then DPO).
//!
//! An environment states which ([`Preferences`]); the driver makes the batches. A response is the last turn of its episode.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veriplay_core::{PreferenceBatch, PreferencePair, Role, Rollout, Sample, TrainBatch};

use crate::play::Batch;
use crate::prompt_groups::PromptGroups;
use crate::randomness::generator;

/// The training objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Rewarded episodes, weighed by their advantages.
    PolicyGradient,
    /// What is trusted, and what is preferred over what.
    Preference(PreferenceSchedule),
}

/// Which batches a step makes of [`Preferences`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreferenceSchedule {
    /// Batches of examples, which come first.
    pub sft: Option<UpdateSchedule>,
    /// Batches of pairs.
    pub dpo: Option<UpdateSchedule>,
    /// Whether the learner holds the reference of the pairs. Else it is the policy that sampled them, by the log-probabilities of the
    /// rollouts.
    pub held_reference: bool,
}

/// How examples become optimizer steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateSchedule {
    /// Maximum examples, or pairs, of one optimizer step.
    pub batch: usize,
    /// How often each is learned from in the step that made it. Every pass is in another order.
    pub epochs: usize,
    /// Maximum number of optimizer steps; what is left over is not learned.
    pub max_updates: usize,
}

impl UpdateSchedule {
    /// The items in batches: `epochs` passes, each in an order of its own, as many batches as may be.
    fn deal<T: Copy>(self, items: &[T], seed: u64, step: u64, purpose: &str) -> Vec<Vec<T>> {
        let mut batches = Vec::new();
        for epoch in 0..self.epochs {
            let mut items = items.to_vec();
            items.shuffle(&mut generator(seed, step, &format!("{purpose}/{epoch}")));
            batches.extend(items.chunks(self.batch).map(<[T]>::to_vec));
        }
        batches.truncate(self.max_updates);
        batches
    }
}

/// A response of a step: its role, and its place among the step's episodes of the role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Response {
    /// The role.
    pub role: Role,
    /// The place.
    pub index: usize,
}

/// A response to imitate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Example {
    /// The response.
    pub response: Response,
    /// What it counts.
    pub weight: f64,
}

/// A response before another one to the same prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The better one.
    pub chosen: Response,
    /// The worse one.
    pub rejected: Response,
    /// What the pair counts.
    pub weight: f64,
}

/// What a step's responses prove of each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preferences {
    /// Responses that are trusted.
    pub examples: Vec<Example>,
    /// Responses that are better than others.
    pub pairs: Vec<Pair>,
}

impl Preferences {
    /// With the weight of each role on what it made; nothing is left of a role of weight 0.
    pub(crate) fn weighed(mut self, of_role: impl Fn(Role) -> f64) -> Self {
        self.examples.retain(|one| of_role(one.response.role) > 0.0);
        self.pairs.retain(|pair| of_role(pair.chosen.role) > 0.0);
        self.examples.iter_mut().for_each(|one| one.weight *= of_role(one.response.role));
        self.pairs.iter_mut().for_each(|pair| pair.weight *= of_role(pair.chosen.role));
        self
    }
}

impl PreferenceSchedule {
    /// The batches of a step. Responses without tokens, such as a server's that does not tell them, are left out.
    pub(crate) fn batches<'a>(
        &self,
        preferences: &Preferences,
        (seed, step, purpose): (u64, u64, &str),
        rollout: impl Fn(Response) -> Option<&'a Rollout>,
    ) -> Vec<Batch> {
        let rollout = |response: Response| rollout(response).filter(|rollout| rollout.is_trainable());
        let example = |one: &Example| Some((rollout(one.response)?, one.weight as f32));
        let pair = |one: &Pair| Some((rollout(one.chosen)?, rollout(one.rejected)?, one.weight as f32));
        let examples: Vec<_> = preferences.examples.iter().filter_map(example).collect();
        let pairs: Vec<_> = preferences.pairs.iter().filter_map(pair).collect();
        let deal = |schedule: UpdateSchedule| schedule.deal(&examples, seed, step, &format!("{purpose}/sft"));
        let sft = self.sft.map_or_else(Vec::new, deal).into_iter().map(|batch| Batch::Samples(samples(&batch)));
        let deal = |schedule: UpdateSchedule| schedule.deal(&pairs, seed, step, &format!("{purpose}/dpo"));
        let dpo = self.dpo.map_or_else(Vec::new, deal).into_iter();
        sft.chain(dpo.map(|batch| Batch::Preferences(self.pairs(&batch)))).collect()
    }

    fn pairs(&self, batch: &[(&Rollout, &Rollout, f32)]) -> PreferenceBatch {
        let mut groups = PromptGroups::default();
        for &(chosen, rejected, weight) in batch {
            groups.add(&chosen.prompt_tokens, |prompt| PreferencePair {
                prompt,
                chosen: chosen.tokens.clone(),
                rejected: rejected.tokens.clone(),
                weight,
                reference: self.reference(chosen, rejected),
                rollouts: chosen.id.zip(rejected.id).map(|(chosen, rejected)| [chosen, rejected]),
            });
        }
        PreferenceBatch { pairs: groups.finish() }
    }

    /// The log-probabilities under the policy that made the responses: in each step the one it starts from.
    fn reference(&self, chosen: &Rollout, rejected: &Rollout) -> Option<[f64; 2]> {
        let sum = |rollout: &Rollout| {
            let known = !rollout.tokens.is_empty() && rollout.logprobs.len() == rollout.tokens.len();
            known.then(|| rollout.logprobs.iter().map(|&logprob| f64::from(logprob)).sum())
        };
        (!self.held_reference).then(|| Some([sum(chosen)?, sum(rejected)?])).flatten()
    }
}

/// The loss is the mean over the batch's tokens.
fn samples(batch: &[(&Rollout, f32)]) -> TrainBatch {
    let mut groups = PromptGroups::default();
    for &(rollout, weight) in batch {
        groups.add(&rollout.prompt_tokens, |prompt| Sample {
            rollout: rollout.id,
            ..Sample::example(prompt, rollout.tokens.clone(), weight)
        });
    }
    let samples: Vec<Sample> = groups.finish();
    let tokens: usize = samples.iter().map(|sample| sample.response.len()).sum();
    TrainBatch { samples, normalizer: tokens.max(1) as f64 }
}
