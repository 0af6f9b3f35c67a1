//! `evol_rl`: right answers that differ from the others are worth more (EVOL-RL, arXiv 2509.15194).
//!
//! # What it rewards
//! Solver: 0.5 + 0.5 ν when Accepted, −1 + 0.5 ν for any other answer, and −1 when malformed. The novelty of a response to a task is 1 − (m + x) / 2
//! with m its mean similarity to the others of the task that are as right as it is, and x its largest to any; ν is this moved to [0, 1] within the
//! right ones and within the wrong ones, 1 for one that is alone there and 0.5 where all are equally novel. The similarity of two texts is the share of
//! the trigrams of either that both have; malformed ones are not compared. Proposer: as under `failure_rate`.
//!
//! # Why
//! Among right answers the usual one is sampled most, and a reward that is the same for all makes it more usual still: pass@k falls. The bands never
//! cross, so that no wrong answer is worth more than a right one. The paper compares embeddings of texts, where no verifier tells what is right.
//!
//! # How it can be gamed
//! By words that say nothing: what differs is the text. `poly` compares what answers do.
//!
//! # Example
//! Three right answers, of which two have the similarity 0.9 and the others 0.2, and a wrong one with 0.3 to each: 0.5, 0.5, 1, −0.5.

use std::collections::{BTreeMap, BTreeSet};

use veriplay_core::{Reward, Status};

use super::curve::FAILURE_RATE;
use super::{EpisodeFacts, EpisodeResult, ProposalOutcome, RewardScheme};
use crate::external::ExternalError;
use crate::statistics::{mean_over, similarity};

pub(super) struct EvolRl;

impl RewardScheme for EvolRl {
    fn name(&self) -> &'static str {
        "evol_rl"
    }

    /// Of a response that is alone.
    fn solver(&self, status: Status, _well_formed: bool) -> Reward {
        match status {
            Status::Malformed => Reward::single("accuracy", -1.0),
            _ => reward_novelty(status == Status::Accepted, 1.0),
        }
    }

    fn proposer(&self, outcome: ProposalOutcome, well_formed: bool) -> Option<Reward> {
        FAILURE_RATE.proposer(outcome, well_formed)
    }

    fn rewards(&self, _step: u64, episodes: &[EpisodeFacts<'_>]) -> Result<Vec<Option<Reward>>, ExternalError> {
        let (mut rewards, mut questions) = (Vec::new(), BTreeMap::<_, Vec<(usize, bool)>>::new());
        for (place, one) in episodes.iter().enumerate() {
            rewards.push(match one.result {
                EpisodeResult::Proposal(outcome) => self.proposer(outcome, one.well_formed),
                EpisodeResult::Response(status) => Some(self.solver(status, one.well_formed)),
            });
            if let EpisodeResult::Response(status) = one.result
                && status != Status::Malformed
            {
                let answers = questions.entry((one.role, one.kind, one.group)).or_default();
                answers.push((place, status == Status::Accepted));
            }
        }
        for answers in questions.into_values() {
            let (places, right): (Vec<usize>, Vec<bool>) = answers.into_iter().unzip();
            let shapes: Vec<BTreeSet<[char; 3]>> = places.iter().map(|place| trigrams(&episodes[*place])).collect();
            let found = reward_novelties(&right, |one, other| similarity(&shapes[one], &shapes[other]));
            places.into_iter().zip(found).for_each(|(place, reward)| rewards[place] = Some(reward));
        }
        Ok(rewards)
    }
}

/// The rewards of the readable answers to a task, of which these are right, by the similarity of two of them in [0, 1].
pub fn reward_novelties(right: &[bool], similarity: impl Fn(usize, usize) -> f64) -> Vec<Reward> {
    /// Novelties that differ by less are equal.
    const NOISE: f64 = 1e-9;
    let mut novelties = Vec::new();
    for one in 0..right.len() {
        let others = || (0..right.len()).filter(|other| *other != one);
        let own = mean_over(others().filter(|other| right[*other] == right[one]), |other| similarity(one, other));
        let nearest = others().map(|other| similarity(one, other)).fold(0.0, f64::max);
        novelties.push(1.0 - f64::midpoint(own.unwrap_or_default(), nearest));
    }
    let mut rewards = Vec::new();
    for (novelty, is_right) in novelties.iter().zip(right) {
        let band = || novelties.iter().zip(right).filter(|(_, other)| *other == is_right).map(|(novelty, _)| *novelty);
        let (least, most) = (band().fold(f64::INFINITY, f64::min), band().fold(f64::NEG_INFINITY, f64::max));
        let share = match band().count() {
            1 => 1.0,
            _ if most - least < NOISE => 0.5,
            _ => (novelty - least) / (most - least),
        };
        rewards.push(reward_novelty(*is_right, share));
    }
    rewards
}

fn reward_novelty(is_right: bool, novelty: f64) -> Reward {
    let accuracy = if is_right { 0.5 } else { -1.0 };
    Reward { parts: vec![("accuracy".to_owned(), accuracy, 1.0), ("novelty".to_owned(), novelty, 0.5)] }
}

/// The trigrams of the last response of an episode; a border on either side tells short texts apart.
fn trigrams(episode: &EpisodeFacts<'_>) -> BTreeSet<[char; 3]> {
    let text = episode.turns.last().map_or("", |(_, rollout)| rollout.text.as_str());
    let text: Vec<char> = ['\0', '\0'].into_iter().chain(text.chars()).chain(['\0', '\0']).collect();
    text.windows(3).map(|three| [three[0], three[1], three[2]]).collect()
}
