//! The stage in which a step becomes something to learn: rewards and advantages of its episodes, or preferences among its responses.

use std::collections::{BTreeMap, BTreeSet};

use veriplay_core::{Dropped, Prompt, Reward, Role, Rollout, Status, Verdict};

use crate::advantages::EpisodeNotes;
use crate::behaviours::Behaviours;
use crate::environment::Environment;
use crate::facts::{EpisodeView, GivenReward, StepFacts};
use crate::game::Game;
use crate::game_state::GameState;
use crate::intrinsic::IntrinsicTerms;
use crate::judgement::is_decided;
use crate::methods::Methods;
use crate::metrics::is_right;
use crate::pairs::PairDraw;
use crate::play::{Batch, PlayError, StepContext};
use crate::preferences::{Objective, Response, StepPreferences, preference_batch};
use crate::proposer_factor;
use crate::rewards::{self, EpisodeFacts, EpisodeResult, ProposalFacts, ProposalOutcome};
use crate::rollout::{FinishedEpisode, Part};
use crate::scoring::{
    EarlierAttempt, Imitation, ScoredEpisode, ScoredTurn, Scoring, SftExample, SftRegulariser, train_batch,
};
use crate::self_imitation::{self, KeptAttempts};
use crate::settings::LearnFrom;
use crate::statistics::mean;
use crate::task_pool::TaskPool;
use crate::waypoints::coverage;

/// What makes of a step something to learn.
pub(crate) struct StepLearning<'a, G> {
    pub(crate) game: &'a G,
    pub(crate) methods: &'a Methods,
    pub(crate) context: &'a StepContext<'a>,
    pub(crate) step: u64,
    /// The parts that nothing is learned of.
    pub(crate) frozen: BTreeSet<Part>,
}

impl<G: Game> StepLearning<'_, G> {
    /// Rewards the episodes of a step, or selects among them, as the game's objective says: by a policy gradient its rewarded episodes are learned
    /// from, by preference its examples and pairs.
    pub(crate) fn choose(&self, state: &mut GameState<G::Task>, facts: &mut StepFacts<G>) -> Result<(), PlayError> {
        match self.game.objective() {
            Objective::PolicyGradient => {
                let GameState { pool, behaviours, .. } = state;
                let mut scored = self.reward_episodes(pool, behaviours, facts)?;
                let scoring = Scoring {
                    settings: self.game.settings(),
                    reward: &*self.methods.reward,
                    advantage: self.methods.advantage,
                    kinds: G::KINDS,
                    seed: self.context.seed,
                    step: self.step,
                };
                scoring.assign_advantages(&mut scored, &mut state.memory);
                self.credit_tokens(&mut scored, facts)?;
                if scoring.settings.learn_from.makes_pairs() {
                    let draw = PairDraw { settings: scoring.settings, seed: self.context.seed, step: self.step };
                    facts.pairs = draw.draw(facts, &mut scored);
                    facts.numbers.insert("preference_pairs".to_owned(), facts.pairs.len() as f64);
                }
                if scoring.settings.self_imitation.is_some() {
                    facts.earlier = self.train_again(&mut state.kept_attempts, facts, &scored);
                    let signal = self_imitation::signal(&facts.earlier, &scored);
                    let numbers = [("attempts", facts.earlier.len() as f64), ("signal", signal)];
                    facts.numbers.extend(numbers.map(|(name, number)| (format!("self_imitation_{name}"), number)));
                }
                facts.scored = scored;
            }
            Objective::Preference(_) => {
                let mut found = self.game.preferences(self.context, self.step, facts);
                found.examples.retain(|one| facts.is_learnable(one.response));
                found.pairs.retain(|pair| [pair.chosen, pair.rejected].into_iter().all(|one| facts.is_learnable(one)));
                found.examples.extend(&facts.imitated);
                facts.preferences = found.weighed(|one| self.role_weight(facts, one.part, facts.episode(one).role));
            }
        }
        Ok(())
    }

    /// The attempts of earlier steps that are trained on again, where the settings say so; and keeps those of this step for later ones.
    fn train_again(
        &self,
        kept: &mut KeptAttempts,
        facts: &StepFacts<G>,
        scored: &[ScoredEpisode],
    ) -> Vec<EarlierAttempt> {
        let Some(settings) = &self.game.settings().self_imitation else { return Vec::new() };
        let weight = self.role_weight(facts, Part::Solution, Role::SOLVER);
        kept.advance(settings, self.step, weight, scored, |scored| facts.episode(scored.response()).turns)
    }

    /// What the learner takes of a step, in this order. `facts` hold its training signal.
    pub(crate) fn batches(&self, state: &mut GameState<G::Task>, facts: &StepFacts<G>) -> Vec<Batch> {
        match self.game.objective() {
            Objective::PolicyGradient => {
                // Pairs first: the policy that the step begins with is their reference.
                let pairs: Vec<_> = facts.pairs.iter().collect();
                let pairs = (!pairs.is_empty()).then(|| Batch::Preferences(preference_batch(&pairs)));
                pairs.into_iter().chain(self.sample_batch(&state.sft_examples, facts)).collect()
            }
            Objective::Preference(schedule) => {
                let now = (self.context.seed, self.step, G::PREFERENCE_PURPOSE);
                let kept = &mut state.training_data;
                let step = StepPreferences { preferences: &facts.preferences, kept, now };
                schedule.batches(step, |response| facts.rollout(response))
            }
        }
    }

    /// What the learner takes of the rewarded episodes of a step, where it does not learn from pairs, and of what is imitated.
    fn sample_batch(&self, sft_examples: &[SftExample], facts: &StepFacts<G>) -> Option<Batch> {
        let (settings, now) = (self.game.settings(), (self.context.seed, self.step));
        let sft = SftRegulariser { examples: sft_examples, samples: settings.sft_samples, weight: settings.sft_weight };
        let imitated = facts.imitated.iter().filter(|one| !self.frozen.contains(&one.response.part));
        let imitated = imitated.filter_map(|one| {
            let rollout = facts.rollout(one.response).filter(|rollout| rollout.is_trainable())?;
            let Rollout { prompt_tokens, tokens, id, .. } = rollout;
            Some(Imitation {
                prompt_tokens,
                tokens,
                rollout: *id,
                role: facts.episode(one.response).role,
                weight: one.weight,
            })
        });
        let is_taught = !self.frozen.contains(&Part::Solution) && settings.learn_from != LearnFrom::AnswerPairs;
        let taught = facts.taught.iter().filter(|_| is_taught).map(|one| Imitation {
            prompt_tokens: &one.prompt_tokens,
            tokens: &one.tokens,
            rollout: None,
            role: Role::SOLVER,
            weight: one.weight,
        });
        let imitated: Vec<Imitation<'_>> = imitated.chain(taught).collect();
        let scored: &[ScoredEpisode] = if settings.learn_from.makes_pairs() { &[] } else { &facts.scored };
        let earlier = &facts.earlier;
        train_batch(scored, settings, sft, &imitated, earlier, now, |one| facts.episode(one.response()).turns)
            .map(Batch::Samples)
    }

    /// The episodes that get a reward: proposers', solvers', verifiers'. Not among them are dropped ones, those of rounds that came to nothing,
    /// and those that the script leaves out.
    fn reward_episodes(
        &self,
        pool: &TaskPool<G::Task>,
        behaviours: &mut Behaviours,
        facts: &StepFacts<G>,
    ) -> Result<Vec<ScoredEpisode>, PlayError> {
        let mut valid = self.compare_behaviours(behaviours, facts);
        count_attempts(facts, &mut valid);
        let (responses, known): (Vec<_>, Vec<_>) = rewardable(self.game, facts, &valid).into_iter().unzip();
        let mut rewards = self.methods.reward.rewards(self.step, &known)?;
        rewards::discount_guesses(&known, &mut rewards);
        proposer_factor::apply(&self.methods.proposer_factors, self.step, &known, &mut rewards)?;
        self.credit_waypoints(facts, &responses, &known, &mut rewards);
        let settings = self.game.settings();
        let intrinsic = IntrinsicTerms::new(&settings.intrinsic, settings.intrinsic_left(self.step), pool);
        let attempts = responses.iter().zip(&known).map(|(response, one)| {
            let is_own = response.part == Part::Solution && facts.episode(*response).policy.is_none();
            is_own.then_some(one)
        });
        intrinsic.add_to_attempts(&attempts.collect::<Vec<_>>(), &mut rewards);
        let mut scored = Vec::new();
        for ((response, one), reward) in responses.into_iter().zip(&known).zip(rewards) {
            if facts.episode(response).policy.is_some() {
                continue;
            }
            let (reward, turns) = match facts.given.get(&response) {
                Some(GivenReward::Nothing) => continue,
                Some(GivenReward::Episode(reward)) => (reward.clone(), &[][..]),
                Some(GivenReward::Turns(turns)) => (Reward::single("turns", turns.iter().sum()), turns.as_slice()),
                None => {
                    let Some(mut reward) = reward else { continue };
                    if let EpisodeResult::Proposal(ProposalOutcome::Solved(_)) = one.result {
                        let task = facts.proposals[response.index].admission.task();
                        task.into_iter().for_each(|task| intrinsic.add(task, &mut reward));
                    }
                    (reward, &[][..])
                }
            };
            scored.push(ScoredEpisode {
                turns: turns.iter().map(|reward| ScoredTurn { reward: *reward, ..ScoredTurn::default() }).collect(),
                notes: self.notes(facts, response),
                role_weight: self.role_weight(facts, response.part, one.role),
                ..ScoredEpisode::new(response, one.role, one.kind, one.group, reward)
            });
        }
        for (index, one) in facts.released.iter().enumerate() {
            let response = Response { part: Part::Deferred, index };
            // Apart from what the role made in this step.
            let group = usize::MAX - one.group;
            scored.push(ScoredEpisode {
                role_weight: self.role_weight(facts, one.part, one.role),
                ..ScoredEpisode::new(response, one.role, one.kind, group, one.reward.clone())
            });
        }
        Ok(scored)
    }

    /// Waypoint credit: a wrong answer gets, beside the scheme's reward, the coefficient times the share of its reference's trace that its text shows.
    fn credit_waypoints(
        &self,
        facts: &StepFacts<G>,
        responses: &[Response],
        known: &[EpisodeFacts<'_>],
        rewards: &mut [Option<Reward>],
    ) {
        let credit = self.game.settings().waypoint_credit;
        if credit == 0.0 {
            return;
        }
        let wrong = EpisodeResult::Response(Status::WrongAnswer);
        let is_wrong = |place: &usize| responses[*place].part == Part::Solution && known[*place].result == wrong;
        let wrong: Vec<usize> = (0..known.len()).filter(is_wrong).collect();
        let asked: BTreeSet<usize> = wrong.iter().map(|place| known[*place].group).collect();
        let tasks: Vec<&G::Task> = asked.iter().map(|task| &facts.tasks[*task].task).collect();
        let traces = self.game.waypoints(self.context.execute, &tasks);
        let traces: BTreeMap<usize, Vec<String>> =
            asked.into_iter().zip(traces).filter_map(|(task, values)| Some((task, values?))).collect();
        for place in wrong {
            let (Some(values), Some((prompt, last)), Some(reward)) =
                (traces.get(&known[place].group), known[place].turns.last(), &mut rewards[place])
            else {
                continue;
            };
            if let Some(share) = coverage(values, &prompt.text(), &last.text) {
                reward.parts.push(("waypoints".to_owned(), share, credit));
            }
        }
    }

    /// Privileged re-scoring: to the advantage of each token of a solver's response is added what the reference in the prompt adds to its
    /// log-probability, times the coefficient. Only where there is an advantage, in episodes of one turn, and where the prompt has room.
    fn credit_tokens(&self, scored: &mut [ScoredEpisode], facts: &mut StepFacts<G>) -> Result<(), PlayError> {
        let (credit, policy) = (self.game.settings().privileged_credit, self.context.policy);
        if credit == 0.0 {
            return Ok(());
        }
        let (mut credited, mut responses) = (Vec::new(), Vec::new());
        let (mut plain, mut privileged): (Vec<Prompt>, Vec<Prompt>) = Default::default();
        for one in scored.iter_mut().filter(|one| one.part == Part::Solution && one.weight != 0.0) {
            let task = &facts.tasks[facts.solutions[one.index].finished.source].task;
            let ([(prompt, rollout)], Some(shown)) =
                (facts.episode(one.response()).turns, self.game.privileged_prompt(task))
            else {
                continue;
            };
            if rollout.tokens.is_empty() || !policy.has_room(&shown, rollout.tokens.len()) {
                continue;
            }
            plain.push(prompt.clone());
            privileged.push(shown);
            responses.push(rollout.tokens.as_slice());
            credited.push(one);
        }
        if credited.is_empty() {
            return Ok(());
        }
        plain.append(&mut privileged);
        // By one call: the two differ by their prompts, and not by how they were computed.
        let scores = policy.score_responses(&plain, &[responses.as_slice(), &responses].concat())?;
        let (without, with) = scores.split_at(credited.len());
        let mut gains = Vec::new();
        for ((one, without), with) in credited.into_iter().zip(without).zip(with) {
            let both = with.iter().zip(without);
            let own: Vec<f64> = both.map(|(with, without)| f64::from(*with) - f64::from(*without)).collect();
            one.token_advantages = own.iter().map(|gain| (credit * one.role_weight * gain) as f32).collect();
            gains.extend(own);
        }
        facts.numbers.extend(mean(&gains).map(|gain| ("privileged_gain".to_owned(), gain)));
        Ok(())
    }

    fn notes(&self, facts: &StepFacts<G>, response: Response) -> EpisodeNotes {
        match facts.notes.get(&response) {
            Some(own) => *own,
            None if self.methods.advantage.reads_notes() => self.game.notes(facts, response),
            None => EpisodeNotes::default(),
        }
    }

    /// The facts of each proposal that behaviours tell, where a factor looks at them: for others nothing is executed.
    fn compare_behaviours(&self, earlier: &mut Behaviours, facts: &StepFacts<G>) -> Vec<ProposalFacts> {
        let mut all = vec![ProposalFacts::default(); facts.proposals.len()];
        if self.methods.proposer_factors.iter().any(|factor| factor.needs_behaviours()) {
            let admitted = facts.proposals.iter().enumerate();
            let admitted = admitted.filter_map(|(index, one)| Some((index, one.kind, one.admission.task()?)));
            let admitted: Vec<(usize, &str, &G::Task)> = admitted.collect();
            let tasks: Vec<&G::Task> = admitted.iter().map(|(_, _, task)| *task).collect();
            let behaviours = self.game.behaviours(self.context.execute, &tasks);
            let step: Vec<_> = admitted.iter().map(|(_, kind, _)| *kind).zip(behaviours).collect();
            admitted.iter().zip(earlier.compare(&step)).for_each(|((index, ..), compared)| all[*index] = compared);
        }
        all
    }

    fn role_weight(&self, facts: &StepFacts<G>, part: Part, role: Role) -> f64 {
        let settings = self.game.settings();
        if self.frozen.contains(&part) || !settings.phase_learns(self.step, role) {
            return 0.0;
        }
        settings.role_weight(part, role) * facts.role_factors.get(&role).copied().unwrap_or(1.0)
    }
}

/// Adds what the attempts tell to the facts of proposals. One that was asked several times is rewarded by all attempts at it.
fn count_attempts<E: Environment>(facts: &StepFacts<E>, proposals: &mut [ProposalFacts]) {
    for (asked, count) in facts.tasks.iter().zip(&facts.solved) {
        if let Some(proposal) = asked.proposal {
            let sum = &mut proposals[proposal];
            (sum.solved, sum.judged) = (sum.solved + count.solved, sum.judged + count.judged);
        }
    }
    for one in facts.solutions.iter().filter(|one| one.policy.is_none()) {
        let proposal = facts.tasks[one.finished.source].proposal;
        let judged = judged_response(facts, one.finished.source, &one.judged.verdict);
        if let (Some(proposal), Some(_)) = (proposal, judged) {
            let tokens: usize = one.finished.turns.iter().map(|(_, rollout)| rollout.tokens.len()).sum();
            let share = tokens as f64 / f64::from(proposals[proposal].judged);
            *proposals[proposal].solver_tokens.get_or_insert_default() += share;
        }
    }
}

/// The episodes that may get a reward: proposals that were judged, with the facts of those that are valid, and responses of rounds that were judged.
fn rewardable<'f, E: Environment>(
    game: &E,
    facts: &'f StepFacts<E>,
    valid: &[ProposalFacts],
) -> Vec<(Response, EpisodeFacts<'f>)> {
    let mut all = Vec::new();
    for (index, (one, valid)) in facts.proposals.iter().zip(valid).enumerate() {
        let Some(outcome) = one.admission.outcome(*valid) else { continue };
        let (response, verdict) = (Response { part: Part::Proposal, index }, one.judged.verdict.as_ref().ok());
        let result = EpisodeResult::Proposal(outcome);
        let known = episode_facts(game, facts, response, &one.finished, verdict, result);
        all.push((response, EpisodeFacts { guess_rate: one.judged.guess_rate, ..known }));
    }
    for (index, one) in facts.solutions.iter().enumerate() {
        let Some((verdict, result)) = judged_response(facts, one.finished.source, &one.judged.verdict) else {
            continue;
        };
        let response = Response { part: Part::Solution, index };
        all.push((response, episode_facts(game, facts, response, &one.finished, Some(verdict), result)));
    }
    for (index, one) in facts.verifications.iter().enumerate() {
        let Some((verdict, result)) = judged_response(facts, one.task, &one.judged.verdict) else { continue };
        let response = Response { part: Part::Verification, index };
        all.push((response, episode_facts(game, facts, response, &one.finished, Some(verdict), result)));
    }
    all
}

/// The verdict on a response to task `task`, and what is rewarded; `None` where it was not judged to an end.
fn judged_response<'f, E: Environment>(
    facts: &StepFacts<E>,
    task: usize,
    verdict: &'f Result<Verdict, Dropped>,
) -> Option<(&'f Verdict, EpisodeResult)> {
    let verdict = verdict.as_ref().ok().filter(|_| is_decided(&facts.rounds, task))?;
    let status = if is_right(verdict.status) { Status::Accepted } else { verdict.status };
    Some((verdict, EpisodeResult::Response(status)))
}

/// What a reward may know of an episode.
fn episode_facts<'f, E: Environment>(
    game: &E,
    facts: &'f StepFacts<E>,
    response: Response,
    finished: &FinishedEpisode<E::Episode>,
    verdict: Option<&'f Verdict>,
    result: EpisodeResult,
) -> EpisodeFacts<'f> {
    let EpisodeView { role, kind, group, turns, .. } = facts.episode(response);
    let well_formed = game.is_well_formed(finished);
    EpisodeFacts { role, kind, group, result, guess_rate: None, well_formed, turns, verdict }
}
