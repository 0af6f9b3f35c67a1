//! Learning from what responses prove of each other: trusted ones are imitated, then better ones are preferred over worse ones (SFT,
//! then DPO).
//!
//! An environment states which ([`Preferences`]); the driver makes the batches. A response is the last turn of its episode.

use std::cmp::Ordering;

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veriplay_core::{PreferenceBatch, PreferencePair, Rollout, Sample, TrainBatch};

use crate::play::Batch;
use crate::prompt_groups::PromptGroups;
use crate::randomness::generator;
use crate::rollout::Part;
use crate::statistics::mean_over;

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
    /// Whether each step learns from what all steps so far have made, because it trains the start model anew.
    pub from_start: bool,
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
    fn deal<'a, T>(self, items: &'a [T], seed: u64, step: u64, purpose: &str) -> Vec<Vec<&'a T>> {
        let mut batches = Vec::new();
        for epoch in 0..self.epochs {
            let mut items: Vec<&T> = items.iter().collect();
            items.shuffle(&mut generator(seed, step, &format!("{purpose}/{epoch}")));
            batches.extend(items.chunks(self.batch).map(<[&T]>::to_vec));
        }
        batches.truncate(self.max_updates);
        batches
    }
}

/// A response of a step: the part that its episode plays, and its place among the step's episodes of that part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Response {
    /// The part.
    pub part: Part,
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
    /// How often each of the two, the better one first, wins against a response to the prompt. `None` is a sure win.
    pub win: Option<[f64; 2]>,
    /// The reward of each, for losses over differences of rewards.
    pub rewards: Option<[f64; 2]>,
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
    pub(crate) fn weighed(mut self, weight: impl Fn(Response) -> f64) -> Self {
        self.examples.retain(|one| weight(one.response) > 0.0);
        self.pairs.retain(|pair| weight(pair.chosen) > 0.0);
        self.examples.iter_mut().for_each(|one| one.weight *= weight(one.response));
        self.pairs.iter_mut().for_each(|pair| pair.weight *= weight(pair.chosen));
        self
    }
}

/// The examples and pairs of all steps so far, which a checkpoint keeps: for games that train the start model anew in each step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingData {
    examples: Vec<KeptExample>,
    pairs: Vec<KeptPair>,
}

/// Bits instead of a weight: JSON then gives back exactly what was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptExample {
    prompt_tokens: Vec<u32>,
    tokens: Vec<u32>,
    weight_bits: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptPair {
    prompt_tokens: Vec<u32>,
    chosen: Vec<u32>,
    rejected: Vec<u32>,
    weight_bits: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    win_bits: Option<[u64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reward_bits: Option<[u64; 2]>,
}

impl TrainingData {
    /// Whether nothing was kept yet.
    pub const fn is_empty(&self) -> bool {
        self.examples.is_empty() && self.pairs.is_empty()
    }

    fn keep(&mut self, examples: &[Sample], pairs: &[PreferencePair]) {
        self.examples.extend(examples.iter().map(|one| KeptExample {
            prompt_tokens: one.prompt.to_vec(),
            tokens: one.response.clone(),
            weight_bits: one.weight.to_bits(),
        }));
        self.pairs.extend(pairs.iter().map(|pair| KeptPair {
            prompt_tokens: pair.prompt.to_vec(),
            chosen: pair.chosen.clone(),
            rejected: pair.rejected.clone(),
            weight_bits: pair.weight.to_bits(),
            win_bits: pair.win.map(|both| both.map(f64::to_bits)),
            reward_bits: pair.rewards.map(|both| both.map(f64::to_bits)),
        }));
    }
}

impl From<&KeptExample> for Sample {
    fn from(kept: &KeptExample) -> Self {
        Self::example(kept.prompt_tokens.as_slice().into(), kept.tokens.clone(), f32::from_bits(kept.weight_bits))
    }
}

/// Its reference is the learner's: the policy that sampled it is not the one that is trained.
impl From<&KeptPair> for PreferencePair {
    fn from(kept: &KeptPair) -> Self {
        Self {
            prompt: kept.prompt_tokens.as_slice().into(),
            chosen: kept.chosen.clone(),
            rejected: kept.rejected.clone(),
            weight: f32::from_bits(kept.weight_bits),
            reference: None,
            rollouts: None,
            win: kept.win_bits.map(|both| both.map(f64::from_bits)),
            rewards: kept.reward_bits.map(|both| both.map(f64::from_bits)),
        }
    }
}

/// What the batches of a step are made of.
pub(crate) struct StepPreferences<'a> {
    /// What the step's responses prove.
    pub(crate) preferences: &'a Preferences,
    /// What those of earlier steps have proved, where the schedule keeps that.
    pub(crate) kept: &'a mut TrainingData,
    /// Seed, step and purpose of the order.
    pub(crate) now: (u64, u64, &'a str),
}

impl PreferenceSchedule {
    /// The batches of a step. Responses without tokens, such as a server's that does not tell them, are left out. A step that has made nothing
    /// to learn from leaves the policy as it is.
    pub(crate) fn batches<'a>(
        &self,
        step: StepPreferences<'_>,
        rollout: impl Fn(Response) -> Option<&'a Rollout>,
    ) -> Vec<Batch> {
        let StepPreferences { preferences, kept, now } = step;
        let rollout = |response: Response| rollout(response).filter(|rollout| rollout.is_trainable());
        let example = |one: &Example| Some(sample(rollout(one.response)?, one.weight));
        let held = self.held_reference;
        let pair = |one: &Pair| Some(preference_pair(one, held, [rollout(one.chosen)?, rollout(one.rejected)?]));
        let examples = self.sft.iter().flat_map(|_| &preferences.examples).filter_map(example);
        let pairs = self.dpo.iter().flat_map(|_| &preferences.pairs).filter_map(pair);
        let (examples, pairs): (Vec<_>, Vec<_>) = (examples.collect(), pairs.collect());
        if !self.from_start || examples.is_empty() && pairs.is_empty() {
            return self.deal(&examples, &pairs, now);
        }
        kept.keep(&examples, &pairs);
        let (examples, pairs) = (kept.examples.iter().map(Sample::from), kept.pairs.iter().map(PreferencePair::from));
        self.deal(&examples.collect::<Vec<_>>(), &pairs.collect::<Vec<_>>(), now)
    }

    fn deal(
        &self,
        examples: &[Sample],
        pairs: &[PreferencePair],
        (seed, step, purpose): (u64, u64, &str),
    ) -> Vec<Batch> {
        let deal = |schedule: UpdateSchedule| schedule.deal(examples, seed, step, &format!("{purpose}/sft"));
        let sft = self.sft.map_or_else(Vec::new, deal).into_iter().map(|batch| Batch::Samples(sft_batch(&batch)));
        let deal = |schedule: UpdateSchedule| schedule.deal(pairs, seed, step, &format!("{purpose}/dpo"));
        let dpo = self.dpo.map_or_else(Vec::new, deal).into_iter();
        sft.chain(dpo.map(|batch| Batch::Preferences(preference_batch(&batch)))).collect()
    }
}

/// A pair for the learner. Where the learner holds no reference, it is the policy that made the responses: in each step the one it starts from.
pub(crate) fn preference_pair(pair: &Pair, held_reference: bool, [chosen, rejected]: [&Rollout; 2]) -> PreferencePair {
    let reference = if held_reference { None } else { logprob(chosen).zip(logprob(rejected)) };
    PreferencePair {
        prompt: chosen.prompt_tokens.as_slice().into(),
        chosen: chosen.tokens.clone(),
        rejected: rejected.tokens.clone(),
        weight: pair.weight as f32,
        reference: reference.map(|(chosen, rejected)| [chosen, rejected]),
        rollouts: chosen.id.zip(rejected.id).map(|(chosen, rejected)| [chosen, rejected]),
        win: pair.win,
        rewards: pair.rewards,
    }
}

/// The log-probability of a whole response, where it is known.
fn logprob(rollout: &Rollout) -> Option<f64> {
    let known = !rollout.tokens.is_empty() && rollout.logprobs.len() == rollout.tokens.len();
    known.then(|| rollout.logprobs.iter().map(|&logprob| f64::from(logprob)).sum())
}

/// How often a score is the higher one among those of all responses to a prompt. Equal ones, such as itself, are half a win each.
pub fn win_share(score: f64, all: &[f64]) -> f64 {
    let wins = mean_over(all, |other| match score.total_cmp(other) {
        Ordering::Less => 0.0,
        Ordering::Equal => 0.5,
        Ordering::Greater => 1.0,
    });
    wins.unwrap_or(0.5)
}

fn sample(rollout: &Rollout, weight: f64) -> Sample {
    let (prompt, tokens) = (rollout.prompt_tokens.as_slice().into(), rollout.tokens.clone());
    Sample { rollout: rollout.id, ..Sample::example(prompt, tokens, weight as f32) }
}

pub(crate) fn preference_batch(batch: &[&PreferencePair]) -> PreferenceBatch {
    let mut groups = PromptGroups::default();
    for &pair in batch {
        groups.add(&pair.prompt, |prompt| PreferencePair { prompt, ..pair.clone() });
    }
    PreferenceBatch { pairs: groups.finish() }
}

/// The loss is the mean over the batch's tokens.
fn sft_batch(batch: &[&Sample]) -> TrainBatch {
    let mut groups = PromptGroups::default();
    for &one in batch {
        groups.add(&one.prompt, |prompt| Sample { prompt, ..one.clone() });
    }
    let samples: Vec<Sample> = groups.finish();
    let tokens: usize = samples.iter().map(|sample| sample.response.len()).sum();
    TrainBatch { samples, normalizer: tokens.max(1) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_wins_counts_ties_and_itself_as_half() {
        let five = [1.0, 1.0, 0.5, 0.0, 0.0];
        for (score, all, want) in
            [(1.0, &five[..], 0.8), (0.5, &five, 0.5), (0.0, &five, 0.2), (1.0, &[1.0], 0.5), (1.0, &[], 0.5)]
        {
            assert!((win_share(score, all) - want).abs() < 1e-12, "{score} among {all:?}");
        }
    }

    #[test]
    fn kept_pairs_come_back_to_the_bit_and_leave_out_what_they_have_not() {
        let (win, rewards) = (Some([0.1, 1.0 / 3.0]), Some([f64::MIN_POSITIVE, -0.0]));
        for (win, rewards) in [(win, rewards), (None, None)] {
            let (prompt, reference, rollouts) = ([1, 2].into(), None, None);
            let (chosen, rejected, weight) = (vec![3], vec![4, 5], 0.1);
            let pair = PreferencePair { prompt, chosen, rejected, weight, reference, rollouts, win, rewards };
            let mut kept = TrainingData::default();
            kept.keep(&[], std::slice::from_ref(&pair));
            let text = serde_json::to_string(&kept).unwrap();
            assert_eq!(text.contains("_bits\":["), win.is_some());
            let read: TrainingData = serde_json::from_str(&text).unwrap();
            assert_eq!((PreferencePair::from(&read.pairs[0]), read), (pair, kept));
        }
    }
}
