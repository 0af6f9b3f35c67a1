//! Preference pairs among the rewarded episodes of a step, in any game: `learn_from` of `pairs` and `answer_pairs`.
//!
//! Under `pairs` a response of positive reward is chosen over one without, to the same prompt; of valid proposals, the better half of those to a
//! prompt over the other half. Nothing stands in two pairs, so that no response counts more than another. Under `answer_pairs` (SPIN, arXiv
//! 2401.01335) the executed answer of a task is chosen over attempts at it without a positive reward. A response is the last turn of its episode:
//! episodes of several turns make pairs where the prompts of their last turns are the same.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use veriplay_core::PreferencePair;

use crate::environment::Environment;
use crate::facts::{StepFacts, TaughtText};
use crate::preferences::{Pair, preference_pair, win_share};
use crate::randomness::generator;
use crate::rollout::Part;
use crate::scoring::ScoredEpisode;
use crate::settings::{LearnFrom, SharedSettings};

/// Draws the pairs of a step.
pub(crate) struct PairDraw<'a> {
    pub(crate) settings: &'a SharedSettings,
    pub(crate) seed: u64,
    pub(crate) step: u64,
}

impl PairDraw<'_> {
    /// The pairs, at most `pairs_per_prompt` of each prompt. What is chosen gets the advantage 1, and what is rejected −1.
    pub(crate) fn draw<E: Environment>(
        &self,
        facts: &StepFacts<E>,
        scored: &mut [ScoredEpisode],
    ) -> Vec<PreferencePair> {
        let (mut random, mut pairs) = (generator(self.seed, self.step, "pairs"), Vec::new());
        for mut group in by_prompt(facts, scored) {
            group.shuffle(&mut random);
            let rewards: Vec<f64> = group.iter().map(|place| scored[*place].reward.total()).collect();
            let answer = self.answer(facts, &scored[group[0]]);
            let (better, worse) = split_group(group, scored);
            if self.settings.learn_from == LearnFrom::AnswerPairs {
                let Some(answer) = answer else { continue };
                for place in worse.into_iter().take(self.settings.pairs_per_prompt) {
                    pairs.extend(answer_pair(facts, answer, &scored[place]));
                    scored[place].take_side(-1.0);
                }
                continue;
            }
            for (chosen, rejected) in better.into_iter().zip(worse).take(self.settings.pairs_per_prompt) {
                let both = [chosen, rejected].map(|place| scored[place].reward.total());
                // Proposals may be as good as each other.
                if both[0] <= both[1] {
                    continue;
                }
                let pair = Pair {
                    chosen: scored[chosen].response(),
                    rejected: scored[rejected].response(),
                    weight: scored[chosen].role_weight,
                    win: Some(both.map(|reward| win_share(reward, &rewards))),
                    rewards: Some(both),
                };
                let rollouts = facts.rollout(pair.chosen).zip(facts.rollout(pair.rejected));
                let held = self.settings.holds_reference();
                pairs.extend(rollouts.map(|(one, other)| preference_pair(&pair, held, [one, other])));
                scored[chosen].take_side(1.0);
                scored[rejected].take_side(-1.0);
            }
        }
        pairs
    }

    /// The executed answer at the prompt of an attempt, where there is one that a solver could have written.
    fn answer<'f, E: Environment>(&self, facts: &'f StepFacts<E>, attempt: &ScoredEpisode) -> Option<&'f TaughtText> {
        let prompt = &facts.rollout(attempt.response()).filter(|_| attempt.part == Part::Solution)?.prompt_tokens;
        let answer = facts.taught.iter().find(|one| one.task == attempt.group && one.prompt_tokens == *prompt)?;
        (answer.tokens.len() <= self.settings.solver_max_tokens).then_some(answer)
    }
}

/// The places of the episodes that can stand in pairs, in groups that answered the same prompt.
fn by_prompt<E: Environment>(facts: &StepFacts<E>, scored: &[ScoredEpisode]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, one) in scored.iter().enumerate() {
        let is_candidate = match one.part {
            Part::Proposal => facts.proposals[one.index].admission.task().is_some(),
            Part::Solution | Part::Verification => true,
            // Their sampler is not the policy that the step began with.
            Part::Deferred => false,
        };
        let last = facts.episode(one.response()).turns.last();
        let last = last.filter(|(_, rollout)| is_candidate && one.learns() && rollout.is_trainable());
        let Some((prompt, rollout)) = last else { continue };
        // Tokens that a trainer does not tell are empty.
        let prompt = (prompt.text(), rollout.prompt_tokens.as_slice());
        let group = one.notes.group.unwrap_or(one.group);
        groups.entry((one.part, one.role, one.kind, group, prompt)).or_default().push(place);
    }
    groups.into_values().collect()
}

/// What may be chosen of a group, and what may be rejected: of proposals its better half, else what got a positive reward.
fn split_group(mut group: Vec<usize>, scored: &[ScoredEpisode]) -> (Vec<usize>, Vec<usize>) {
    let reward = |place: usize| scored[place].reward.total();
    if scored[group[0]].part != Part::Proposal {
        return group.into_iter().partition(|place| reward(*place) > 0.0);
    }
    group.sort_by(|one, other| reward(*other).total_cmp(&reward(*one)));
    let worse = group.split_off(group.len().div_ceil(2));
    (group, worse)
}

/// An answer that nobody sampled before an attempt. The learner's reference is the opponent of both, and being right is a reward of 1.
fn answer_pair<E: Environment>(
    facts: &StepFacts<E>,
    answer: &TaughtText,
    attempt: &ScoredEpisode,
) -> Option<PreferencePair> {
    Some(PreferencePair {
        prompt: answer.prompt_tokens.as_slice().into(),
        chosen: answer.tokens.clone(),
        rejected: facts.rollout(attempt.response())?.tokens.clone(),
        weight: (answer.weight * attempt.role_weight) as f32,
        reference: None,
        rollouts: None,
        win: None,
        rewards: Some([1.0, attempt.reward.total()]),
    })
}
