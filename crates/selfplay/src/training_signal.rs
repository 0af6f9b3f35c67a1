//! The stage in which a step becomes something to learn: rewards and advantages of its episodes, or preferences among its responses.

use std::collections::BTreeMap;

use veriplay_core::{Role, Status};

use crate::environment::{Environment, ProposalEpisode};
use crate::facts::StepFacts;
use crate::game::Game;
use crate::game_state::GameState;
use crate::intrinsic::IntrinsicTerms;
use crate::judgement::{JudgedResponse, is_decided};
use crate::methods::Methods;
use crate::metrics::is_right;
use crate::play::{Batch, PlayError, StepContext};
use crate::preferences::{Objective, Preferences, StepPreferences};
use crate::proposer_factor;
use crate::rewards::{self, EpisodeFacts, EpisodeResult, ProposalOutcome};
use crate::rollout::FinishedEpisode;
use crate::scoring::{ScoredEpisode, SftExample, SftRegulariser, assign_advantages, train_batch};
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
                let methods = (&*self.methods.reward, self.methods.advantage);
                let now = (self.context.seed, self.step);
                assign_advantages(&mut scored, settings, methods, G::KINDS, &mut state.memory, now);
                Ok(TrainingSignal { scored, ..TrainingSignal::default() })
            }
            Objective::Preference(_) => {
                let found = self.game.preferences(self.context, self.step, facts);
                let preferences = found.weighed(|role| settings.role_weight(role));
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
        train_batch(&facts.scored, settings, sft, now, |scored| facts.turns(scored.role, scored.index))
            .map(Batch::Samples)
    }

    /// The episodes that get a reward: proposers', solvers', verifiers'. Not among them are dropped ones, and those of rounds that came to
    /// nothing.
    fn reward_episodes<'f>(
        &self,
        pool: &TaskPool<G::Task>,
        facts: &'f StepFacts<G>,
    ) -> Result<Vec<ScoredEpisode>, PlayError> {
        let rates = facts.tasks.iter().zip(&facts.solved);
        let rates = rates.filter_map(|(asked, count)| Some((asked.proposal?, count.rate()?)));
        let rates: BTreeMap<usize, f64> = rates.collect();
        let proposer = |(index, one): (usize, &'f ProposalEpisode<G>)| {
            let outcome = one.admission.outcome(rates.get(&index).copied())?;
            let verdict = one.judged.verdict.as_ref().ok();
            // All proposals of a kind answered the same question, "invent a task", whatever they were shown: they are one group.
            let place = (Role::Proposer, index, one.kind, 0);
            Some((place, EpisodeResult::Proposal(outcome), &one.finished, verdict))
        };
        let response = |(role, index, task, finished, judged): ResponseFacts<'f, G>| {
            let verdict = judged.verdict.as_ref().ok().filter(|_| is_decided(&facts.rounds, task))?;
            let status = if is_right(verdict.status) { Status::Accepted } else { verdict.status };
            let place = (role, index, facts.tasks[task].task.kind(), finished.source);
            Some((place, EpisodeResult::Response(status), finished, Some(verdict)))
        };
        let proposers = facts.proposals.iter().enumerate().filter_map(proposer);
        let solvers = facts.solutions.iter().enumerate();
        let solvers =
            solvers.map(|(index, one)| (Role::Solver, index, one.finished.source, &one.finished, &one.judged));
        let verifiers = facts.verifications.iter().enumerate();
        let verifiers = verifiers.map(|(index, one)| (Role::Verifier, index, one.task, &one.finished, &one.judged));
        let all: Vec<_> = proposers.chain(solvers.chain(verifiers).filter_map(response)).collect();
        let known = all.iter().map(|&((role, index, kind, group), result, finished, verdict)| {
            let guess_rate = if role == Role::Proposer { facts.proposals[index].judged.guess_rate } else { None };
            let well_formed = self.game.is_well_formed(finished);
            EpisodeFacts { role, kind, group, result, guess_rate, well_formed, turns: &finished.turns, verdict }
        });
        let known: Vec<EpisodeFacts<'_>> = known.collect();
        let mut rewards = self.methods.reward.rewards(self.step, &known)?;
        rewards::discount_guesses(&known, &mut rewards);
        if let Some(factor) = &self.methods.proposer_factor {
            proposer_factor::apply(&**factor, self.step, &known, &mut rewards)?;
        }
        let intrinsic = IntrinsicTerms::new(&self.game.settings().intrinsic, pool);
        let scored = all.iter().zip(rewards).filter_map(|(&((role, index, kind, group), result, ..), reward)| {
            let mut reward = reward?;
            if let EpisodeResult::Proposal(ProposalOutcome::Solved { .. }) = result {
                facts.proposals[index].admission.task().into_iter().for_each(|task| intrinsic.add(task, &mut reward));
            }
            Some(ScoredEpisode::new(role, index, kind, group, reward))
        });
        Ok(scored.collect())
    }
}

/// A response to a task, as far as its reward needs it: role, place, task, episode, judgement.
type ResponseFacts<'a, E> = (
    Role,
    usize,
    usize,
    &'a FinishedEpisode<<E as Environment>::Episode>,
    &'a JudgedResponse<<E as Environment>::SolutionDetail>,
);
