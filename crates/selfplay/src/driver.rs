//! The one driver of all games. A step: propose, judge, admit, choose tasks, solve, verify where the game has verifiers, judge, reward,
//! advantage or preferences, batch, record.
//!
//! # Invariants
//! No IO and no clock; one other thread, which judges while this one samples, and whose timing changes nothing. The same environment,
//! state, seed and step give the same result. A dropped episode is no part of a solve rate, a reward, a mean or a batch.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Execute, Prompt, Role, Sampling, Status};

use crate::advantages::AdvantageMemory;
use crate::curricula::CurriculumTask;
use crate::environment::{
    Environment, JudgedDerivation, ProposalBatch, ProposalEpisode, ProposalToJudge, Proposer, RoleSampling,
    SamplingCall, SolverEpisode, Stage, StepFacts, VerifyOutput,
};
use crate::judgement::{ProposalPosition, Seeds, is_decided};
use crate::methods::Methods;
use crate::metrics::{SolveCount, solve_counts};
use crate::pipeline::run_pipelined;
use crate::play::{PlayError, StepContext, StepOutput};
use crate::preferences::{Preferences, TrainingData};
use crate::randomness::generator;
use crate::rollout::{Episode, FinishedEpisode, PolicySampler, run_episodes};
use crate::scoring::SftExample;
use crate::settings::{ProposerMode, SharedSettings, invalid_value};
use crate::splits::Guard;
use crate::step::Record;
use crate::task_pool::{PoolTask, PrepareResults, Source, StepTask, StepTasks, TaskChoice, TaskPool};

/// A game as the loop plays it.
pub struct SelfPlay<E> {
    /// The game.
    pub game: E,
    /// How it is played.
    pub methods: Methods,
}

/// What is carried from step to step and saved with every checkpoint. It holds no floating point number but those the advantage
/// estimator keeps as bits, so JSON gives it back exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "T: PoolTask")]
pub struct GameState<T> {
    /// The tasks.
    pub pool: TaskPool<T>,
    /// The start model's own valid responses: examples of the SFT regulariser.
    pub sft_examples: Vec<SftExample>,
    /// What the advantage estimator remembers, where it does.
    #[serde(default, skip_serializing_if = "AdvantageMemory::is_empty")]
    pub memory: AdvantageMemory,
    /// What earlier steps have made to learn from, where each step trains the start model anew.
    #[serde(default, skip_serializing_if = "TrainingData::is_empty")]
    pub training_data: TrainingData,
}

/// The output of a step of an environment.
pub type Output<E> = StepOutput<<E as Environment>::Metrics, Record<E>>;

impl<T> Default for GameState<T> {
    fn default() -> Self {
        Self {
            pool: TaskPool::default(),
            sft_examples: Vec::new(),
            memory: AdvantageMemory::default(),
            training_data: TrainingData::default(),
        }
    }
}

/// The tasks of a step, and the episodes of their solvers.
type ChosenTasks<E> = (StepTasks<<E as Environment>::Task>, Vec<<E as Environment>::Episode>);

impl<E: Environment> SelfPlay<E> {
    /// The game with the methods that its settings name.
    pub fn new(game: E) -> Self {
        let methods = Methods::named_by(game.settings());
        Self { game, methods }
    }

    /// The game with other methods, such as ones that are in no registry.
    pub const fn with_methods(game: E, methods: Methods) -> Self {
        Self { game, methods }
    }

    /// What may not be trained on: everything of the validation and the held-out set.
    pub fn guard(&self) -> &Guard {
        self.game.guard()
    }

    /// Refuses settings under which nobody learns, or no step has a task.
    ///
    /// # Errors
    /// The setting, and what it may be.
    pub fn check(&self) -> Result<(), PlayError> {
        let settings = self.game.settings();
        let verifier = self.game.verifier().map(|_| Role::Verifier);
        let mut roles = [Role::Proposer, Role::Solver].into_iter().chain(verifier);
        let imitates = settings.sft_samples > 0 && settings.sft_weight > 0.0;
        if !imitates && !roles.any(|role| settings.learns(role)) {
            let allowed = "no other role learns either: give one a weight above `0`";
            return Err(invalid_value("solver_weight", settings.solver_weight, allowed).within("game").into());
        }
        if settings.proposer == ProposerMode::None && !self.game.plays_without_proposers() {
            let allowed = "the game has no other tasks: have it make or propose some before step 0, or use `frozen`";
            return Err(invalid_value("proposer", "none", allowed).within("game").into());
        }
        Ok(())
    }

    /// The state before step 0: a function of the environment, the seed and the start model.
    ///
    /// # Errors
    /// A fault of the policy or of the host, or tasks that cannot be made.
    pub fn init(&self, context: &StepContext<'_>) -> Result<GameState<E::Task>, PlayError> {
        self.check()?;
        let mut pool = self.game.initial_pool(context)?;
        self.seed_pool(context, &mut pool)?;
        let sft_examples = self.sft_examples(context, &pool)?;
        Ok(GameState { pool, sft_examples, ..GameState::default() })
    }

    /// As [`SelfPlay::step`], and of a step that fails nothing stays in the state.
    ///
    /// # Errors
    /// As [`SelfPlay::step`].
    pub fn step_or_undo(
        &self,
        context: &StepContext<'_>,
        state: &mut GameState<E::Task>,
        step: u64,
    ) -> Result<Output<E>, PlayError> {
        // It grows with every step, and a step adds to it when nothing can fail any more: it is moved to the copy and back.
        let training_data = std::mem::take(&mut state.training_data);
        let mut next = GameState { training_data, ..state.clone() };
        let played = self.step(context, &mut next, step);
        match &played {
            Ok(_) => *state = next,
            Err(_) => state.training_data = next.training_data,
        }
        played
    }

    /// Plays step `step`. After an error, discard the state and resume from the last checkpoint; `training_data` is as it was.
    ///
    /// # Errors
    /// A fault of the policy. A host fault drops what it touched, and the step goes on.
    pub fn step(
        &self,
        context: &StepContext<'_>,
        state: &mut GameState<E::Task>,
        step: u64,
    ) -> Result<Output<E>, PlayError> {
        let mut known = state.pool.keys();
        let (proposals, without_room) = match self.game.settings().proposer {
            ProposerMode::None => (Vec::new(), 0),
            ProposerMode::Train | ProposerMode::Frozen => {
                self.propose(context, &state.pool, Stage::Propose, step, &mut known)?
            }
        };
        let mut derived = self.derive(context, self.game.mutants(context, step), &mut known);
        let (chosen, episodes) = self.choose_tasks(context, &state.pool, &proposals, &derived, step)?;
        self.admit(state, step, proposals.iter().filter_map(|one| one.admission.task()));
        self.admit(state, step, derived.iter().filter_map(|one| one.judged.admitted()));
        let mut solutions = self.solve(context, &chosen.tasks, episodes, (Stage::Solve, step), &mut |_| {})?;
        let VerifyOutput { verifications, rounds } = self.verify(context, &chosen.tasks, &mut solutions, step)?;
        let judged: Vec<_> =
            solutions.iter().map(|one| (&chosen.tasks[one.finished.source].task, &one.judged)).collect();
        let later = self.derive(context, self.game.derive_from_solutions(context, step, &judged), &mut known);
        self.admit(state, step, later.iter().filter_map(|one| one.judged.admitted()));
        derived.extend(later);
        let solved = self.note_solve_counts(state, &chosen, &solutions, &rounds);
        let facts = StepFacts {
            proposals: &proposals,
            derived: &derived,
            without_prompt: chosen.without_prompt.len(),
            proposers_without_prompt: without_room,
            dropped_tasks: chosen.dropped_tasks,
            tasks: &chosen.tasks,
            solutions: &solutions,
            verifications: &verifications,
            rounds: &rounds,
            solved: &solved,
            scored: &[],
            preferences: &Preferences::default(),
            pool: &state.pool,
        };
        let signal = self.training_signal(context, &mut state.memory, step, &facts)?;
        let facts = StepFacts { scored: &signal.scored, preferences: &signal.preferences, ..facts };
        let batches = self.batches(&state.sft_examples, &mut state.training_data, (context.seed, step), &facts);
        let (propose, solve) =
            (self.game.seeds(Stage::Propose, context.seed, step), self.game.seeds(Stage::Solve, context.seed, step));
        let summary = facts.summary();
        Ok(StepOutput {
            batches,
            metrics: self.game.metrics(&facts),
            monitors: self.methods.monitors.iter().map(|monitor| (monitor.name(), monitor.measure(&summary))).collect(),
            counts: summary.counts,
            rewarded: facts.rewarded(),
            records: facts.records(step, propose, solve),
        })
    }

    /// Prompts as a run would ask them, with what each is.
    ///
    /// # Errors
    /// Tasks that cannot be made, or a host fault while they are.
    pub fn preview(&self, execute: &dyn Execute) -> Result<Vec<(String, Prompt)>, PlayError> {
        self.check()?;
        self.game.preview(execute)
    }

    /// The turns of what the start model did right. A host fault is an error: every run from this model has the same examples, or none.
    fn sft_examples(&self, context: &StepContext<'_>, pool: &TaskPool<E::Task>) -> Result<Vec<SftExample>, PlayError> {
        let (mut examples, mut numbers) = (Vec::new(), 0_u32..);
        let mut add = |finished: &FinishedEpisode<E::Episode>| {
            let rollouts = finished.turns.iter().map(|(_, rollout)| rollout);
            let turns: Vec<SftExample> =
                rollouts.filter(|rollout| !rollout.tokens.is_empty()).map(SftExample::from).collect();
            let episode = if turns.len() > 1 { numbers.next() } else { None };
            examples.extend(turns.into_iter().map(|turn| SftExample { episode, ..turn }));
        };
        let seeds = pool.entries().iter().filter(|entry| entry.seed).map(|entry| &entry.task);
        let own: Vec<&E::Task> = seeds.take(self.game.sft_tasks()).collect();
        let asked = self.game.solver_episodes(context.execute, self.game.seeds(Stage::SftSolve, context.seed, 0), &own);
        let (mut tasks, mut episodes) = (Vec::new(), Vec::new());
        for (task, episode) in own.into_iter().zip(asked) {
            if let Some(episode) = episode?.filter(|one| self.has_room(context, Role::Solver, one)) {
                tasks.push(asked_seed(task));
                episodes.push(episode);
            }
        }
        for solution in self.solve(context, &tasks, episodes, (Stage::SftSolve, 0), &mut |_| {})? {
            if solution.judged.verdict?.status == Status::Accepted {
                add(&solution.finished);
            }
        }
        for proposal in self.propose(context, pool, Stage::SftPropose, 0, &mut pool.keys())?.0 {
            proposal.judged.verdict.as_ref().map_err(Clone::clone)?;
            if proposal.admission.task().is_some() {
                add(&proposal.finished);
            }
        }
        Ok(examples)
    }

    /// Judges derivations.
    fn derive(
        &self,
        context: &StepContext<'_>,
        derivations: Vec<E::Derivation>,
        known: &mut BTreeSet<Digest>,
    ) -> Vec<JudgedDerivation<E>> {
        let judged = self.game.judge_derived(context.execute, &derivations, &mut |_, key| !known.insert(key.clone()));
        derivations
            .into_iter()
            .zip(judged)
            .map(|(derivation, judged)| JudgedDerivation { derivation, judged })
            .collect()
    }

    /// Samples the proposers of a stage. The number is of those that the policy has no room for.
    fn propose(
        &self,
        context: &StepContext<'_>,
        pool: &TaskPool<E::Task>,
        stage: Stage,
        step: u64,
        known: &mut BTreeSet<Digest>,
    ) -> Result<(Vec<ProposalEpisode<E>>, usize), PlayError> {
        let mut proposers = self.game.proposers(context, pool, stage, step)?;
        let without_room = self.retain_with_room(context, &mut proposers)?;
        Ok((self.run_proposers(context, &proposers, stage, step, known)?, without_room))
    }

    /// Leaves out the proposers whose prompts the policy has no room for, and returns their number.
    ///
    /// # Errors
    /// It has room for none: then it is the settings that ask too much, and not the references that a prompt happens to show.
    pub(crate) fn retain_with_room(
        &self,
        context: &StepContext<'_>,
        proposers: &mut Vec<Proposer<E>>,
    ) -> Result<usize, PlayError> {
        let all = proposers.len();
        proposers.retain(|one| self.has_room(context, Role::Proposer, &one.episode));
        if all > 0 && proposers.is_empty() {
            let what = format!(
                "no prompt of a proposer fits into the model's context, or into `learn.options.max_length` where that is less, with \
                 `game.proposer_max_tokens` = {} tokens behind it: lower that, show fewer examples or references, or raise \
                 `learn.options.max_length`",
                self.game.settings().proposer_max_tokens
            );
            return Err(PlayError::Setup(what));
        }
        Ok(all - proposers.len())
    }

    /// Whether the policy has room for the first prompt of an episode and its response.
    pub(crate) fn has_room(&self, context: &StepContext<'_>, role: Role, episode: &E::Episode) -> bool {
        let max_tokens = self.role_sampling(role).max_tokens;
        episode.prompt().is_none_or(|prompt| context.policy.has_room(&prompt, max_tokens))
    }

    fn role_sampling(&self, role: Role) -> RoleSampling {
        let settings = self.game.settings();
        match (role, self.game.verifier()) {
            (Role::Proposer, _) => {
                RoleSampling { temperature: settings.proposer_temperature, max_tokens: settings.proposer_max_tokens }
            }
            (Role::Verifier, Some(verifier)) => verifier.sampling,
            (Role::Solver | Role::Verifier, _) => {
                RoleSampling { temperature: settings.solver_temperature, max_tokens: settings.solver_max_tokens }
            }
        }
    }

    /// Samples proposers and judges each chunk while the next is sampled.
    pub(crate) fn run_proposers(
        &self,
        context: &StepContext<'_>,
        proposers: &[Proposer<E>],
        stage: Stage,
        step: u64,
        known: &mut BTreeSet<Digest>,
    ) -> Result<Vec<ProposalEpisode<E>>, PlayError> {
        let (seeds, execute) = (self.game.seeds(stage, context.seed, step), context.execute);
        let mut first = 0;
        let chunks = proposers.chunk_by(|one, other| (one.kind, one.rollouts) == (other.kind, other.rollouts));
        let chunks = chunks.enumerate().map(|(chunk, proposers)| {
            first += proposers.len();
            (chunk, first - proposers.len(), proposers)
        });
        let judged = run_pipelined(
            chunks,
            |(chunk, first, proposers): (usize, usize, &[Proposer<E>])| {
                let episodes = proposers.iter().enumerate().map(|(place, one)| (first + place, one.episode.clone()));
                let (role, group) = (Role::Proposer, proposers[0].rollouts);
                let draw = SamplingCall { stage, role, group, chunk, round: 0 };
                let finished = self.sample(context, episodes.collect(), (draw, step), seeds, &mut |_| {})?;
                Ok::<_, PlayError>((chunk, finished))
            },
            |(chunk, finished)| {
                let judge: Vec<ProposalToJudge<'_, E>> = finished
                    .iter()
                    .enumerate()
                    .map(|(offset, one)| ProposalToJudge {
                        request: &proposers[one.source].request,
                        finished: one,
                        proposed: ProposalPosition { step, chunk, offset },
                        stage,
                    })
                    .collect();
                let is_known = &mut |_: usize, key: &Digest| !known.insert(key.clone());
                let judged = self.game.judge_proposals(execute, ProposalBatch { proposals: &judge, is_known });
                drop(judge);
                let admissions = self.game.admissions(&judged);
                let all = finished.into_iter().zip(judged).zip(admissions).enumerate();
                all.map(|(offset, ((finished, judged), admission))| ProposalEpisode {
                    request: proposers[finished.source].request.clone(),
                    kind: proposers[finished.source].kind,
                    proposed: ProposalPosition { step, chunk, offset },
                    finished,
                    judged,
                    admission,
                })
                .collect::<Vec<_>>()
            },
        )?;
        Ok(judged.into_iter().flatten().collect())
    }

    /// Samples episodes of one stage to their ends. `ended` is told how many more have ended, as they do.
    pub(crate) fn sample(
        &self,
        context: &StepContext<'_>,
        first: Vec<(usize, E::Episode)>,
        (draw, step): (SamplingCall, u64),
        seeds: Seeds,
        ended: &mut dyn FnMut(usize),
    ) -> Result<Vec<FinishedEpisode<E::Episode>>, PlayError> {
        let settings = self.game.settings();
        let RoleSampling { temperature, max_tokens } = self.role_sampling(draw.role);
        let all = Sampling { stop: settings.stop.clone(), ..Sampling::new(max_tokens) };
        let sampling = match draw.stage {
            Stage::Evaluate => all,
            Stage::EvaluateGreedy => Sampling { temperature: 0.0, ..all },
            _ => {
                let SharedSettings { top_k, top_p, min_p, .. } = *settings;
                Sampling { temperature, top_k, top_p, min_p, ..all }
            }
        };
        let seed = |round| self.game.sampling_seed(context.seed, step, &SamplingCall { round, ..draw });
        let mut sampler = PolicySampler { policy: context.policy, sampling, seed: &seed };
        let mut over = 0;
        let all = run_episodes(first, draw.group, &mut sampler, |all| {
            self.game.advance(context.execute, seeds.tools, all);
            let now = all.iter().filter(|one| one.is_over()).count();
            ended(now.saturating_sub(over));
            over = now;
        })?;
        ended(all.len() - over);
        Ok(all)
    }

    fn choose_tasks(
        &self,
        context: &StepContext<'_>,
        pool: &TaskPool<E::Task>,
        proposals: &[ProposalEpisode<E>],
        derived: &[JudgedDerivation<E>],
        step: u64,
    ) -> Result<ChosenTasks<E>, PlayError> {
        let proposed =
            proposals.iter().enumerate().filter_map(|(index, one)| Some((Some(index), one.admission.task()?)));
        let derived = derived.iter().filter_map(|one| Some((None, one.judged.admitted()?)));
        let seeds = self.game.seeds(Stage::Solve, context.seed, step);
        let mut episodes = Vec::new();
        let mut prepare = |tasks: &[&E::Task]| -> PrepareResults {
            let opened = self.game.solver_episodes(context.execute, seeds, tasks).into_iter();
            let mut keep = |episode: Option<E::Episode>| {
                let episode = episode.filter(|one| self.has_room(context, Role::Solver, one));
                let askable = episode.is_some();
                episodes.extend(episode);
                askable
            };
            opened.map(|episode| episode.map(&mut keep)).collect()
        };
        let known: Vec<CurriculumTask<'_>> = pool.entries().iter().map(Into::into).collect();
        let learnable_weight = self.game.settings().resample_learnable;
        let weights = self.methods.curriculum.weights(step, &known, learnable_weight)?;
        let weights = known.iter().map(|task| task.id).zip(weights).collect();
        let generator = generator(context.seed, step, E::CHOICE_PURPOSE);
        let mut choice = TaskChoice::new(pool, proposed.chain(derived).collect(), weights, generator, &mut prepare);
        self.game.choose_tasks(&mut choice);
        Ok((choice.finish(), episodes))
    }

    /// Samples a group of solvers for each task and judges each chunk while the next is sampled. `ended` as for [`SelfPlay::sample`].
    pub(crate) fn solve(
        &self,
        context: &StepContext<'_>,
        tasks: &[StepTask<E::Task>],
        episodes: Vec<E::Episode>,
        (stage, step): (Stage, u64),
        ended: &mut dyn FnMut(usize),
    ) -> Result<Vec<SolverEpisode<E>>, PlayError> {
        let (settings, seeds, execute) =
            (self.game.settings(), self.game.seeds(stage, context.seed, step), context.execute);
        let group = match stage {
            Stage::Evaluate => settings.eval_samples,
            Stage::EvaluateGreedy => 1,
            _ => settings.group_size,
        };
        let size = self.game.chunk(stage).min(tasks.len().max(1));
        let mut episodes = episodes.into_iter().enumerate();
        let judged = run_pipelined(
            0..tasks.len().div_ceil(size),
            |chunk| {
                let first = episodes.by_ref().take(size).collect();
                let draw = SamplingCall { stage, role: Role::Solver, group, chunk, round: 0 };
                self.sample(context, first, (draw, step), seeds, ended)
            },
            |finished| self.judge_solutions(execute, seeds.judge, finished, |source| &tasks[source].task),
        )?;
        Ok(judged.into_iter().flatten().collect())
    }

    pub(crate) fn judge_solutions<'a>(
        &self,
        execute: &dyn Execute,
        seed: u64,
        finished: Vec<FinishedEpisode<E::Episode>>,
        task: impl Fn(usize) -> &'a E::Task,
    ) -> Vec<SolverEpisode<E>>
    where
        E::Task: 'a,
    {
        let pairs: Vec<_> = finished.iter().map(|one| (task(one.source), one)).collect();
        let judged = self.game.judge_solutions(execute, seed, &pairs);
        drop(pairs);
        finished.into_iter().zip(judged).map(|(finished, judged)| SolverEpisode { finished, judged }).collect()
    }

    /// Lets valid, new tasks into the pool.
    fn admit<'a>(&self, state: &mut GameState<E::Task>, step: u64, tasks: impl Iterator<Item = &'a E::Task>)
    where
        E::Task: 'a,
    {
        state.pool.admit(tasks.cloned(), step, self.game.settings().buffer_capacity);
    }

    /// How often each task was solved, which the pool notes. It forgets what would be drawn in vain.
    fn note_solve_counts(
        &self,
        state: &mut GameState<E::Task>,
        chosen: &StepTasks<E::Task>,
        solutions: &[SolverEpisode<E>],
        rounds: &[Option<E::Round>],
    ) -> Vec<SolveCount> {
        let status = |one: &SolverEpisode<E>| {
            let task = one.finished.source;
            let verdict = one.judged.verdict.as_ref().ok().filter(|_| is_decided(rounds, task))?;
            Some((task, verdict.status))
        };
        let solved = solve_counts(chosen.tasks.len(), solutions.iter().filter_map(status));
        chosen.without_prompt.iter().for_each(|id| state.pool.remove_proposal(id));
        let SharedSettings { drop_unsolved, drop_solved, .. } = *self.game.settings();
        for (asked, count) in chosen.tasks.iter().zip(&solved).filter(|(_, count)| count.judged > 0) {
            let id = asked.task.id();
            state.pool.note(&id, *count);
            if drop_unsolved && count.solved == 0 || drop_solved && count.solved == count.judged {
                state.pool.remove_proposal(&id);
            }
        }
        solved
    }
}

/// A task that was there before step 0, or is evaluated on.
pub(crate) fn asked_seed<T: Clone>(task: &T) -> StepTask<T> {
    StepTask { task: task.clone(), source: Source::Seed, proposal: None }
}
