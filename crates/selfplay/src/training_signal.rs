//! The stage in which a step becomes something to learn: rewards and advantages of its episodes, or preferences among its responses.

use std::collections::BTreeMap;

use veriplay_core::{Reward, Role, Rollout, Status, Verdict};

use crate::advantages::EpisodeNotes;
use crate::environment::Environment;
use crate::facts::{GivenReward, StepFacts};
use crate::game::Game;
use crate::game_state::GameState;
use crate::intrinsic::IntrinsicTerms;
use crate::judgement::is_decided;
use crate::methods::Methods;
use crate::metrics::SolveCount;
use crate::metrics::is_right;
use crate::play::{Batch, PlayError, StepContext};
use crate::preferences::{Objective, Preferences, Response, StepPreferences};
use crate::proposer_factor;
use crate::rewards::{self, EpisodeFacts, EpisodeResult, ProposalOutcome};
use crate::rollout::{FinishedEpisode, Part};
use crate::scoring::{ScoredEpisode, ScoredTurn, Scoring, SftExample, SftRegulariser, train_batch};
use crate::task_pool::{PoolTask, TaskPool};

/// What is learned from a step: by a policy gradient its rewarded episodes, by preference its examples and pairs.
#[derive(Default)]
pub(crate) struct TrainingSignal {
    pub(crate) scored: Vec<ScoredEpisode>,
    pub(crate) preferences: Preferences,
}

/// What makes of a step something to learn.
pub(crate) struct StepLearning<'a, G> {
    pub(crate) game: &'a G,
    pub(crate) methods: &'a Methods,
    pub(crate) context: &'a StepContext<'a>,
    pub(crate) step: u64,
}

impl<G: Game> StepLearning<'_, G> {
    /// Rewards the episodes of a step, or selects among them, as the game's objective says.
    pub(crate) fn signal(
        &self,
        state: &mut GameState<G::Task>,
        facts: &StepFacts<G>,
    ) -> Result<TrainingSignal, PlayError> {
        let settings = self.game.settings();
        match self.game.objective() {
            Objective::PolicyGradient => {
                let mut scored = self.reward_episodes(&state.pool, facts)?;
                let scoring = Scoring {
                    settings,
                    reward: &*self.methods.reward,
                    advantage: self.methods.advantage,
                    kinds: G::KINDS,
                    seed: self.context.seed,
                    step: self.step,
                };
                scoring.assign_advantages(&mut scored, &mut state.memory);
                Ok(TrainingSignal { scored, ..TrainingSignal::default() })
            }
            Objective::Preference(_) => {
                let mut found = self.game.preferences(self.context, self.step, facts);
                found.examples.retain(|one| facts.is_learnable(one.response));
                found.pairs.retain(|pair| [pair.chosen, pair.rejected].into_iter().all(|one| facts.is_learnable(one)));
                found.examples.extend(&facts.imitated);
                let preferences = found.weighed(|one| self.role_weight(facts, one.part, facts.role(one)));
                Ok(TrainingSignal { preferences, ..TrainingSignal::default() })
            }
        }
    }

    /// What the learner takes of a step, in this order. `facts` hold its training signal.
    pub(crate) fn batches(&self, state: &mut GameState<G::Task>, facts: &StepFacts<G>) -> Vec<Batch> {
        match self.game.objective() {
            Objective::PolicyGradient => self.sample_batch(&state.sft_examples, facts).into_iter().collect(),
            Objective::Preference(schedule) => {
                let now = (self.context.seed, self.step, G::PREFERENCE_PURPOSE);
                let kept = &mut state.training_data;
                let step = StepPreferences { preferences: &facts.preferences, kept, now };
                schedule.batches(step, |response| facts.rollout(response))
            }
        }
    }

    /// What the learner takes of the rewarded episodes of a step.
    fn sample_batch(&self, sft_examples: &[SftExample], facts: &StepFacts<G>) -> Option<Batch> {
        let (settings, now) = (self.game.settings(), (self.context.seed, self.step));
        let sft = SftRegulariser { examples: sft_examples, samples: settings.sft_samples, weight: settings.sft_weight };
        let imitated = facts.imitated.iter().filter_map(|one| {
            let rollout = facts.rollout(one.response).filter(|rollout| rollout.is_trainable())?;
            Some((rollout, one.weight))
        });
        let imitated: Vec<(&Rollout, f64)> = imitated.collect();
        train_batch(&facts.scored, settings, sft, &imitated, now, |scored| facts.turns(scored.response()))
            .map(Batch::Samples)
    }

    /// The episodes that get a reward: proposers', solvers', verifiers'. Not among them are dropped ones, those of rounds that came to nothing,
    /// and those that the script leaves out.
    fn reward_episodes(&self, pool: &TaskPool<G::Task>, facts: &StepFacts<G>) -> Result<Vec<ScoredEpisode>, PlayError> {
        let all = rewardable(facts);
        let known: Vec<EpisodeFacts<'_>> = all.iter().map(|one| one.facts(self.game)).collect();
        let mut rewards = self.methods.reward.rewards(self.step, &known)?;
        rewards::discount_guesses(&known, &mut rewards);
        if let Some(factor) = &self.methods.proposer_factor {
            proposer_factor::apply(&**factor, self.step, &known, &mut rewards)?;
        }
        let intrinsic = IntrinsicTerms::new(&self.game.settings().intrinsic, pool);
        let scored = all.iter().zip(rewards).filter_map(|(one, reward)| {
            if facts.policy(one.response).is_some() {
                return None;
            }
            let turns = match facts.given.get(&one.response) {
                Some(GivenReward::Nothing) => return None,
                Some(GivenReward::Episode(reward)) => return Some(self.scored(facts, one, reward.clone(), Vec::new())),
                Some(GivenReward::Turns(turns)) => turns.as_slice(),
                None => &[],
            };
            if !turns.is_empty() {
                let sum = Reward::single("turns", turns.iter().sum());
                let turn = |reward: &f64| ScoredTurn { reward: *reward, advantage: 0.0, weight: 0.0 };
                return Some(self.scored(facts, one, sum, turns.iter().map(turn).collect()));
            }
            let mut reward = reward?;
            if let EpisodeResult::Proposal(ProposalOutcome::Solved { .. }) = one.result {
                let task = facts.proposals[one.response.index].admission.task();
                task.into_iter().for_each(|task| intrinsic.add(task, &mut reward));
            }
            Some(self.scored(facts, one, reward, Vec::new()))
        });
        let released = facts.released.iter().enumerate().map(|(index, one)| ScoredEpisode {
            part: Part::Deferred,
            index,
            role: one.role,
            kind: one.kind,
            // Apart from what the role made in this step.
            group: usize::MAX - one.group,
            reward: one.reward.clone(),
            advantage: 0.0,
            weight: 0.0,
            turns: Vec::new(),
            notes: EpisodeNotes::default(),
            role_weight: self.role_weight(facts, one.part, one.role),
        });
        Ok(scored.chain(released).collect())
    }

    fn role_weight(&self, facts: &StepFacts<G>, part: Part, role: Role) -> f64 {
        self.game.settings().role_weight(part, role) * facts.role_factors.get(&role).copied().unwrap_or(1.0)
    }

    fn scored(
        &self,
        facts: &StepFacts<G>,
        one: &Rewardable<'_, G>,
        reward: Reward,
        turns: Vec<ScoredTurn>,
    ) -> ScoredEpisode {
        let Response { part, index } = one.response;
        ScoredEpisode {
            part,
            index,
            role: one.role,
            kind: one.kind,
            group: one.group,
            reward,
            advantage: 0.0,
            weight: 0.0,
            turns,
            notes: facts.notes.get(&one.response).copied().unwrap_or_default(),
            role_weight: self.role_weight(facts, part, one.role),
        }
    }
}

/// An episode that may get a reward.
struct Rewardable<'f, E: Environment> {
    response: Response,
    role: Role,
    kind: &'static str,
    group: usize,
    result: EpisodeResult,
    guess_rate: Option<f64>,
    finished: &'f FinishedEpisode<E::Episode>,
    verdict: Option<&'f Verdict>,
}

/// Proposals that were judged, and responses of rounds that were.
fn rewardable<E: Environment>(facts: &StepFacts<E>) -> Vec<Rewardable<'_, E>> {
    // A proposal that was asked several times is rewarded by all attempts at it.
    let mut counts: BTreeMap<usize, SolveCount> = BTreeMap::new();
    for (asked, count) in facts.tasks.iter().zip(&facts.solved) {
        if let Some(proposal) = asked.proposal {
            let sum = counts.entry(proposal).or_default();
            (sum.solved, sum.judged) = (sum.solved + count.solved, sum.judged + count.judged);
        }
    }
    let mut all = Vec::new();
    for (index, one) in facts.proposals.iter().enumerate() {
        let Some(outcome) = one.admission.outcome(counts.get(&index).and_then(|count| count.rate())) else { continue };
        all.push(Rewardable {
            response: Response { part: Part::Proposal, index },
            role: one.role,
            kind: one.kind,
            // All proposals of a kind answered the same question, "invent a task", whatever they were shown: they are one group.
            group: facts.group(Response { part: Part::Proposal, index }),
            result: EpisodeResult::Proposal(outcome),
            guess_rate: one.judged.guess_rate,
            finished: &one.finished,
            verdict: one.judged.verdict.as_ref().ok(),
        });
    }
    for (index, one) in facts.solutions.iter().enumerate() {
        all.extend(judged_response(facts, Part::Solution, index, one.finished.source));
    }
    for (index, one) in facts.verifications.iter().enumerate() {
        all.extend(judged_response(facts, Part::Verification, index, one.task));
    }
    all
}

/// A response to task `task`; `None` where it was not judged to an end.
fn judged_response<E: Environment>(
    facts: &StepFacts<E>,
    part: Part,
    index: usize,
    task: usize,
) -> Option<Rewardable<'_, E>> {
    let response = Response { part, index };
    let (finished, verdict) = match part {
        Part::Verification => (&facts.verifications[index].finished, &facts.verifications[index].judged.verdict),
        _ => (&facts.solutions[index].finished, &facts.solutions[index].judged.verdict),
    };
    let verdict = verdict.as_ref().ok().filter(|_| is_decided(&facts.rounds, task))?;
    let status = if is_right(verdict.status) { Status::Accepted } else { verdict.status };
    Some(Rewardable {
        response,
        role: facts.role(response),
        kind: facts.tasks[task].task.kind(),
        group: finished.source,
        result: EpisodeResult::Response(status),
        guess_rate: None,
        finished,
        verdict: Some(verdict),
    })
}

impl<E: Environment> Rewardable<'_, E> {
    /// What a reward may know of it.
    fn facts(&self, game: &E) -> EpisodeFacts<'_> {
        EpisodeFacts {
            role: self.role,
            kind: self.kind,
            group: self.group,
            result: self.result,
            guess_rate: self.guess_rate,
            well_formed: game.is_well_formed(self.finished),
            turns: &self.finished.turns,
            verdict: self.verdict,
        }
    }
}
