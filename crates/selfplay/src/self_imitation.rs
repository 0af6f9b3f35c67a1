//! Self-imitation (SPEAR, arXiv 2509.22601): attempts that did better than their group are kept, and trained on again in later steps.
//!
//! # What it computes
//! An attempt of a solver whose advantage is above `min_advantage` is kept for `max_age` steps, among the newest `capacity`. In each of these
//! steps its advantage is estimated anew: its reward less the median of the newest `baseline_groups` group means of its kind of task, this step's
//! included. Where that is positive, the attempt is trained on with its old log-probabilities, and weighs as much times the solver's weight times
//! `coefficient` · (1 − cos(π·t / T)) / 2, which rises until step t = T = `warmup_steps`.
//!
//! The loss is a mean over the step's own attempts. Where n earlier attempts are more than those m, each counts m / n as much, so that together
//! they are a mean, too, as in SPEAR; fewer count as the step's own do. Episodes whose turns are rewarded apart are not kept. SPEAR's own code
//! waits until its buffer is full, trains on it once and empties it.
//!
//! # Why
//! A right attempt at a hard task is rare, and one update learns little of it. When all attempts at most tasks succeed, the median says so, and what
//! is kept teaches nothing any more. The loss clips the ratio to the old policy, so that what has been learned already is left alone.
//!
//! # Example
//! A reward of 1 where the median is 0.25: 0.75. At T = 100 it weighs 0.110 in step 25, 0.375 in step 50, and 0.75 from step 100 on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::Role;

use crate::held::HeldTurn;
use crate::scoring::{EarlierAttempt, ScoredEpisode, Turns};
use crate::settings::SelfImitationSettings;
use crate::statistics::{mean, median};

/// The attempts that are kept, and the group means that their rewards are compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptAttempts {
    /// What later steps may train on again, the oldest first.
    attempts: Vec<KeptAttempt>,
    /// Bits of the newest group means of each kind of task, the oldest first: JSON gives them back exactly.
    group_means: BTreeMap<String, Vec<u64>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptAttempt {
    /// The step that it was sampled in.
    step: u64,
    /// Its kind of task, whose group means it is compared with.
    kind: String,
    reward_bits: u64,
    turns: Vec<HeldTurn>,
}

impl KeptAttempts {
    /// Whether nothing was kept yet.
    pub fn is_empty(&self) -> bool {
        self.attempts.is_empty() && self.group_means.is_empty()
    }

    /// Gives what step `step` trains on again, with `role_weight` as the solver's weight. Then keeps those of its own attempts that did well.
    pub(crate) fn advance<'a>(
        &mut self,
        settings: &SelfImitationSettings,
        step: u64,
        role_weight: f64,
        scored: &[ScoredEpisode],
        turns: impl Fn(&ScoredEpisode) -> &'a Turns,
    ) -> Vec<EarlierAttempt> {
        let own: Vec<(&str, usize, &ScoredEpisode)> = scored.iter().filter_map(solver_attempt).collect();
        self.note_group_means(settings.baseline_groups, &own);
        self.attempts.retain(|one| step.saturating_sub(one.step) <= settings.max_age as u64);
        let again = self.train_again(settings.coefficient_at(step) * role_weight, own.len());
        let good = own.iter().filter(|(.., one)| one.advantage > settings.min_advantage);
        self.attempts.extend(good.filter_map(|(kind, _, one)| KeptAttempt::new(step, kind, one, turns(one))));
        self.attempts.drain(..self.attempts.len().saturating_sub(settings.capacity));
        again
    }

    /// Adds the mean reward of each group, and forgets the oldest of a kind above `most`.
    fn note_group_means(&mut self, most: usize, own: &[(&str, usize, &ScoredEpisode)]) {
        let mut groups: BTreeMap<(&str, usize), Vec<f64>> = BTreeMap::new();
        for (kind, group, one) in own {
            groups.entry((*kind, *group)).or_default().push(one.reward.total());
        }
        for ((kind, _), rewards) in groups {
            let means = self.group_means.entry(kind.to_owned()).or_default();
            means.extend(mean(&rewards).map(f64::to_bits));
        }
        for means in self.group_means.values_mut() {
            means.drain(..means.len().saturating_sub(most));
        }
    }

    /// Those whose advantage is still positive, each with it times `factor` as its weight. Beside fewer attempts of the step's own, which the loss is
    /// a mean over, all together count as that many.
    fn train_again(&self, factor: f64, own: usize) -> Vec<EarlierAttempt> {
        let mut medians: BTreeMap<&str, f64> = BTreeMap::new();
        for (kind, means) in &self.group_means {
            let means: Vec<f64> = means.iter().map(|bits| f64::from_bits(*bits)).collect();
            medians.extend(median(&means).map(|median| (kind.as_str(), median)));
        }
        let again = self.attempts.iter().filter_map(|one| {
            let advantage = f64::from_bits(one.reward_bits) - medians.get(&*one.kind)?;
            let weight = advantage * factor;
            let turns = one.turns.iter().map(|turn| turn.clone().release(Role::SOLVER));
            (weight > 0.0).then(|| EarlierAttempt { turns: turns.collect(), weight, share: 1.0 })
        });
        let mut again: Vec<EarlierAttempt> = again.collect();
        if (1..again.len()).contains(&own) {
            let share = own as f64 / again.len() as f64;
            again.iter_mut().for_each(|one| one.share = share);
        }
        again
    }
}

impl KeptAttempt {
    /// `None` of an episode whose tokens or log-probabilities are unknown.
    fn new(step: u64, kind: &str, scored: &ScoredEpisode, turns: &Turns) -> Option<Self> {
        let is_known = turns.iter().all(|(_, one)| !one.tokens.is_empty() && one.logprobs.len() == one.tokens.len());
        (is_known && !turns.is_empty()).then(|| Self {
            step,
            kind: kind.to_owned(),
            reward_bits: scored.reward.total().to_bits(),
            turns: turns.iter().map(|(_, rollout)| HeldTurn::new(rollout)).collect(),
        })
    }
}

/// Kind, group and attempt of a solver that is rewarded as a whole.
fn solver_attempt(scored: &ScoredEpisode) -> Option<(&'static str, usize, &ScoredEpisode)> {
    let (role, kind, group) = scored.task()?;
    (role == Role::SOLVER && scored.turns.is_empty()).then_some((kind, group, scored))
}

/// The share of Σ |weight| that is that of earlier attempts, as far as they count; 0 where nothing is learned.
pub(crate) fn signal(earlier: &[EarlierAttempt], scored: &[ScoredEpisode]) -> f64 {
    let again: f64 = earlier.iter().map(|one| one.weight * one.share).sum();
    let all = again + scored.iter().map(|one| one.weight.abs()).sum::<f64>();
    if all > 0.0 { again / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use veriplay_core::{FinishReason, PolicyVersion, Prompt, Reward, Rollout};

    use super::*;
    use crate::preferences::Response;
    use crate::rollout::Part;

    fn settings() -> SelfImitationSettings {
        SelfImitationSettings { warmup_steps: 1, ..SelfImitationSettings::default() }
    }

    /// Attempts at tasks of a kind: a reward and an advantage each, and two to a group.
    fn attempts(kind: &'static str, each: &[(f64, f64)]) -> Vec<ScoredEpisode> {
        let mut all = Vec::new();
        for (index, (reward, advantage)) in each.iter().enumerate() {
            let (response, reward) = (Response { part: Part::Solution, index }, Reward::single("accuracy", *reward));
            let scored = ScoredEpisode::new(response, Role::SOLVER, kind, index / 2, reward);
            all.push(ScoredEpisode { advantage: *advantage, weight: *advantage, ..scored });
        }
        all
    }

    fn turn(logprobs: &[f32]) -> (Prompt, Rollout) {
        let rollout = Rollout {
            id: None,
            prompt_tokens: vec![1, 2],
            rendered_prompt: None,
            tokens: vec![3, 0],
            logprobs: logprobs.to_vec(),
            text: "a".to_owned(),
            finish: FinishReason::Stop,
            policy: PolicyVersion(7),
        };
        (Prompt::new(Role::SOLVER, String::new()), rollout)
    }

    /// The weights of what a step trains on again, as far as it counts.
    fn weights(
        kept: &mut KeptAttempts,
        settings: &SelfImitationSettings,
        step: u64,
        own: &[ScoredEpisode],
    ) -> Vec<f64> {
        let turns = [turn(&[-0.1, -0.7])];
        kept.advance(settings, step, 1.0, own, |_| &turns).iter().map(|one| one.weight * one.share).collect()
    }

    #[track_caller]
    fn assert_close(found: &[f64], wanted: &[f64]) {
        let is_close = |(found, wanted): (&f64, &f64)| (found - wanted).abs() < 5e-4;
        let is_same = found.len() == wanted.len() && found.iter().zip(wanted).all(is_close);
        assert!(is_same, "{found:?} is not {wanted:?}");
    }

    #[test]
    fn the_coefficient_rises_along_half_a_cosine_and_stays() {
        let settings = SelfImitationSettings { warmup_steps: 100, coefficient: 2.0, ..settings() };
        let found = [0, 25, 50, 75, 100, 1_000].map(|step| settings.coefficient_at(step));
        assert_close(&found, &[0.0, 0.293, 1.0, 1.707, 2.0, 2.0]);
    }

    #[test]
    fn an_advantage_is_the_reward_less_the_median_of_the_newest_group_means_of_the_kind() {
        let mut kept = KeptAttempts::default();
        assert!(weights(&mut kept, &settings(), 0, &[]).is_empty() && kept.is_empty());
        // Group means 0.5 and 0; the second attempt is no better than the bound, and the third got the reward of 0.
        let own = attempts("one", &[(1.0, 1.5), (0.0, 1.0), (0.0, 2.0), (0.0, 0.0)]);
        assert!(weights(&mut kept, &settings(), 0, &own).is_empty(), "in the step that sampled it");
        assert_close(&weights(&mut kept, &settings(), 1, &[]), &[0.75]);
        // Other kinds say nothing of it.
        assert_close(&weights(&mut kept, &settings(), 1, &attempts("two", &[(1.0, 0.0)])), &[0.75]);
        // Means 0, 0.5, 1.
        assert_close(&weights(&mut kept, &settings(), 1, &attempts("one", &[(1.0, 0.0)])), &[0.5]);
        let half = SelfImitationSettings { coefficient: 0.5, warmup_steps: 4, ..settings() };
        assert_close(&weights(&mut kept, &half, 2, &[]), &[0.125]);
    }

    #[test]
    fn what_everybody_finds_by_now_is_not_trained_on_again() {
        let mut kept = KeptAttempts::default();
        let newest = SelfImitationSettings { baseline_groups: 2, ..settings() };
        weights(&mut kept, &newest, 0, &attempts("one", &[(1.0, 2.0), (0.0, 0.0)]));
        assert_close(&weights(&mut kept, &newest, 1, &attempts("one", &[(1.0, 0.0)])), &[0.25]);
        let found = weights(&mut kept, &newest, 2, &attempts("one", &[(1.0, 0.0)]));
        assert!(found.is_empty(), "the two newest means are 1: {found:?}");
        assert_eq!(kept.attempts.len(), 1, "it is kept until it is too old");
    }

    #[test]
    fn attempts_are_kept_up_to_an_age_and_the_newest_up_to_the_capacity() {
        let mut kept = KeptAttempts::default();
        let few = SelfImitationSettings { capacity: 3, max_age: 2, ..settings() };
        let two = attempts("one", &[(1.0, 2.0), (0.8, 2.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]);
        weights(&mut kept, &few, 0, &two);
        assert_close(&weights(&mut kept, &few, 1, &two), &[1.0, 0.8]);
        assert_close(&weights(&mut kept, &few, 2, &[]), &[0.8, 1.0, 0.8]);
        assert_close(&weights(&mut kept, &few, 3, &[]), &[1.0, 0.8]);
        assert!(weights(&mut kept, &few, 4, &[]).is_empty() && kept.attempts.is_empty());
    }

    #[test]
    fn more_earlier_attempts_than_the_steps_own_count_as_many_as_those() {
        let mut kept = KeptAttempts::default();
        let four = attempts("one", &[(1.0, 2.0), (0.8, 2.0), (0.6, 2.0), (0.4, 2.0)]);
        weights(&mut kept, &settings(), 0, &four);
        // Group means 0.9 and 0.5, then twice 0.
        let none = attempts("one", &[(0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]);
        assert_close(&weights(&mut kept, &settings(), 1, &none), &[0.75, 0.55, 0.35, 0.15]);
        // A fifth mean of 0 makes the median 0.
        assert_close(&weights(&mut kept, &settings(), 2, &none[..1]), &[0.25, 0.2, 0.15, 0.1]);
        assert_close(&weights(&mut kept, &settings(), 3, &[]), &[1.0, 0.8, 0.6, 0.4]);
    }

    #[test]
    fn only_whole_attempts_of_solvers_with_their_log_probabilities_are_kept() {
        let good = attempts("one", &[(1.0, 2.0)]).remove(0);
        let proposal = ScoredEpisode { part: Part::Proposal, ..good.clone() };
        let other = ScoredEpisode { role: Role::new("writer"), ..good.clone() };
        let by_turns = ScoredEpisode { turns: vec![crate::scoring::ScoredTurn::default()], ..good.clone() };
        let mut kept = KeptAttempts::default();
        weights(&mut kept, &settings(), 0, &[proposal, other, by_turns]);
        assert!(kept.is_empty());
        let untold = [turn(&[])];
        kept.advance(&settings(), 0, 1.0, &[good], |_| &untold);
        assert!(kept.attempts.is_empty());
    }

    #[test]
    fn a_saved_state_is_exact_and_gives_the_same_tokens_and_log_probabilities() {
        let mut kept = KeptAttempts::default();
        let turns = [turn(&[-0.1, -1e-30]), turn(&[f32::MIN_POSITIVE, -3.3])];
        kept.advance(&settings(), 0, 1.0, &attempts("one", &[(0.1 + 0.2, 2.0), (0.0, 0.0)]), |_| &turns);
        let text = serde_json::to_string(&kept).expect("it is JSON");
        let mut saved: KeptAttempts = serde_json::from_str(&text).expect("it is read back");
        assert_eq!((&saved, serde_json::to_string(&saved).expect("it is JSON")), (&kept, text));
        let live = kept.advance(&settings(), 1, 0.3, &[], |_| &turns);
        assert_eq!(live, saved.advance(&settings(), 1, 0.3, &[], |_| &turns));
        let again: Vec<&Rollout> = live[0].turns.iter().map(|(_, rollout)| rollout).collect();
        for (again, (_, sampled)) in again.into_iter().zip(&turns) {
            assert_eq!((&again.prompt_tokens, &again.tokens), (&sampled.prompt_tokens, &sampled.tokens));
            assert_eq!(again.logprobs, sampled.logprobs);
        }
        assert_eq!(signal(&live, &[]), 1.0);
        assert_eq!((signal(&[], &[]), signal(&[], &attempts("one", &[(1.0, 1.0)]))), (0.0, 0.0));
    }
}
