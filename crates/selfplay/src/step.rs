//! One step of a game, as its script plays it: the verbs that sample, judge, draw and admit.
//!
//! A script ([`crate::game::Game::step`]) calls them in the order of its game, each as often as it likes. Everything that a verb does is
//! logged and can be rewarded. No verb does IO or reads a clock: the same state, seed, step, policy and executor give the same step.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use serde_json::Value;
use veriplay_core::{Digest, Execute, Policy, Reward, Role, Status};

use crate::advantages::EpisodeNotes;
use crate::curricula::{Curriculum, CurriculumTask};
use crate::environment::{Environment, JudgedDerivation, Proposer, Stage, VerifyOutput};
use crate::facts::{GivenReward, StepFacts};
use crate::game_state::GameState;
use crate::held::HeldEpisode;
use crate::judgement::is_decided;
use crate::memory::Memory;
use crate::metrics::{SolveCount, solve_counts};
use crate::play::{PlayError, StepContext};
use crate::preferences::Response;
use crate::randomness::generator;
use crate::rollout::Part;
use crate::settings::{ProposerMode, SharedSettings};
use crate::stages::{SolvedTask, StageCall, Stages, solved_tasks};
use crate::task_pool::{PrepareResults, StepTask, StepTasks, TaskChoice, TaskPool};

/// A step that is being played.
pub struct Step<'a, E: Environment> {
    stages: Stages<'a, E>,
    curriculum: &'a dyn Curriculum,
    /// What the curriculum remembers.
    memory: &'a mut Memory,
    number: u64,
    pool: &'a mut TaskPool<E::Task>,
    /// What earlier steps left, and what this one leaves.
    deferred: &'a mut BTreeMap<String, Value>,
    /// The keys of all tasks of the pool and of all proposals of the step.
    known: BTreeSet<Digest>,
    facts: StepFacts<E>,
    /// Tasks of the pool that have no prompt.
    without_prompt: BTreeSet<Digest>,
    done: Done,
}

/// How far the verbs have come.
#[derive(Default)]
struct Done {
    /// Proposals and derivations that a draw has seen.
    drawn: (usize, usize),
    /// Those that were let into the pool, or refused.
    admitted: (usize, usize),
    draws: usize,
    /// Chunks of proposers, and of solvers.
    chunks: (usize, usize),
    /// The number of each solver chunk's first task.
    first_chunks: BTreeMap<usize, usize>,
    /// Prompts of verifiers.
    verifiers: usize,
}

/// Who plays a stage: a role, and the policy that is sampled.
#[derive(Debug, Clone, Copy)]
pub struct Player<'a> {
    /// The role, which `game.roles` may say more of.
    pub role: Role,
    /// [`Player::LEARNER`], `start`, or a kept checkpoint such as `step-100`. Only what the learner sampled is learned from by ratios: leave out
    /// the episodes of others, or imitate them.
    pub policy: &'a str,
}

impl Player<'static> {
    /// The policy that learns.
    pub const LEARNER: &'static str = "learner";

    /// A role of the policy that learns.
    pub const fn learner(role: Role) -> Self {
        Self { role, policy: Self::LEARNER }
    }
}

/// Tasks that were drawn, each with the episode that its solvers begin.
pub struct DrawnTasks<E: Environment> {
    tasks: Vec<StepTask<E::Task>>,
    episodes: Vec<E::Episode>,
}

impl<E: Environment> DrawnTasks<E> {
    /// The tasks.
    pub fn tasks(&self) -> &[StepTask<E::Task>] {
        &self.tasks
    }
}

/// What the proposers of a step may be made of.
pub struct Proposing<'a, T> {
    /// The policy, the sandbox and the run's seed.
    pub context: StepContext<'a>,
    /// The pool.
    pub pool: &'a TaskPool<T>,
    /// Whether they are those of a step, or of the supervised examples before step 0 ([`Stage::SftPropose`]).
    pub stage: Stage,
    /// The step.
    pub step: u64,
}

/// The same stages with another policy, where there is one.
fn by<'s, E>(stages: &Stages<'s, E>, other: Option<&'s dyn Policy>) -> Stages<'s, E> {
    let policy = other.unwrap_or(stages.context.policy);
    Stages { game: stages.game, context: StepContext { policy, ..stages.context } }
}

impl<'a, E: Environment> Step<'a, E> {
    pub(crate) fn new(
        stages: Stages<'a, E>,
        curriculum: &'a dyn Curriculum,
        state: &'a mut GameState<E::Task>,
        number: u64,
    ) -> Self {
        let GameState { pool, deferred, curriculum: memory, .. } = state;
        let known = pool.keys();
        let (facts, without_prompt, done) = (StepFacts::default(), BTreeSet::new(), Done::default());
        Self { stages, curriculum, memory, number, pool, deferred, known, facts, without_prompt, done }
    }

    /// Its number; the first is 0.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The run's seed. Draw with [`generator`], under a purpose of your own.
    pub const fn seed(&self) -> u64 {
        self.stages.context.seed
    }

    /// Runs jobs.
    pub const fn execute(&self) -> &'a dyn Execute {
        self.stages.context.execute
    }

    /// The pool as it is now.
    pub const fn pool(&self) -> &TaskPool<E::Task> {
        self.pool
    }

    /// What has happened so far.
    pub const fn facts(&self) -> &StepFacts<E> {
        &self.facts
    }

    /// Samples the proposers that `proposers` makes, and judges what they propose. Returns the places of the new proposals in
    /// [`StepFacts::proposals`]. Where the configuration samples no proposer, `proposers` is not called and there are none.
    ///
    /// # Errors
    /// A fault of the policy, one of `proposers`, or no room for any of their prompts.
    pub fn propose(
        &mut self,
        proposers: impl FnOnce(&Proposing<'_, E::Task>) -> Result<Vec<Proposer<E>>, PlayError>,
    ) -> Result<Range<usize>, PlayError> {
        self.propose_as(Player::learner(Role::PROPOSER), proposers)
    }

    /// As [`Step::propose`], by another role or another policy.
    ///
    /// # Errors
    /// As [`Step::propose`], or there is no such policy.
    pub fn propose_as(
        &mut self,
        player: Player<'_>,
        proposers: impl FnOnce(&Proposing<'_, E::Task>) -> Result<Vec<Proposer<E>>, PlayError>,
    ) -> Result<Range<usize>, PlayError> {
        let first = self.facts.proposals.len();
        if self.stages.game.settings().proposer == ProposerMode::None {
            return Ok(first..first);
        }
        let (stage, step) = (Stage::Propose, self.number);
        let mut proposers = proposers(&Proposing { context: self.stages.context, pool: self.pool, stage, step })?;
        let other = self.other_policy(player)?;
        let stages = by(&self.stages, other.as_deref());
        self.facts.proposers_without_prompt += stages.retain_with_room(&mut proposers)?;
        let first_chunk = self.done.chunks.0;
        let call = StageCall { first_chunk, role: Some(player.role), ..StageCall::new(stage, step) };
        let proposals = stages.propose(call, &proposers, &mut self.known)?;
        self.done.chunks.0 = proposals.last().map_or(call.first_chunk, |last| last.proposed.chunk + 1);
        self.facts.proposals.extend(proposals);
        Ok(first..self.facts.proposals.len())
    }

    /// Judges derivations: tasks that no policy proposed. Returns their places in [`StepFacts::derived`].
    pub fn derive(&mut self, derivations: Vec<E::Derivation>) -> Range<usize> {
        let (first, known) = (self.facts.derived.len(), &mut self.known);
        let judged = self
            .stages
            .game
            .judge_derived(self.stages.context.execute, &derivations, &mut |_, key| !known.insert(key.clone()));
        let all = derivations.into_iter().zip(judged);
        self.facts.derived.extend(all.map(|(derivation, judged)| JudgedDerivation { derivation, judged }));
        first..self.facts.derived.len()
    }

    /// Draws tasks: `choose` takes some of the pool and of what was proposed and derived since the last draw. A task that has no prompt, or
    /// none that the policy has room for, is passed over and counted.
    ///
    /// # Errors
    /// A curriculum that is computed elsewhere may fail.
    pub fn draw(&mut self, choose: impl FnOnce(&mut TaskChoice<'_, E::Task>)) -> Result<DrawnTasks<E>, PlayError> {
        let (stages, pool) = (&self.stages, &*self.pool);
        let (game, StepContext { execute, seed, .. }) = (stages.game, stages.context);
        let proposed = self.facts.proposals.iter().enumerate().skip(self.done.drawn.0);
        let proposed = proposed.filter_map(|(index, one)| Some((Some(index), one.admission.task()?)));
        let derived = self.facts.derived.iter().skip(self.done.drawn.1);
        let derived = derived.filter_map(|one| Some((None, one.judged.admitted()?)));
        let seeds = game.seeds(Stage::Solve, seed, self.number);
        let mut episodes = Vec::new();
        let mut prepare = |tasks: &[&E::Task]| -> PrepareResults {
            let opened = game.solver_episodes(execute, seeds, tasks).into_iter();
            let mut keep = |episode: Option<E::Episode>| {
                let episode = episode.filter(|one| stages.has_room(Part::Solution, one));
                let askable = episode.is_some();
                episodes.extend(episode);
                askable
            };
            opened.map(|episode| episode.map(&mut keep)).collect()
        };
        let entries: Vec<CurriculumTask<'_>> = pool.entries().iter().map(Into::into).collect();
        let weights =
            self.curriculum.weights(self.number, &entries, game.settings().resample_learnable, self.memory)?;
        let weights = entries.iter().map(|task| task.id).zip(weights).collect();
        let purpose = match self.done.draws {
            0 => E::CHOICE_PURPOSE.to_owned(),
            draw => format!("{}/draw {draw}", E::CHOICE_PURPOSE),
        };
        let random = generator(seed, self.number, &purpose);
        let mut choice = TaskChoice::new(pool, proposed.chain(derived).collect(), weights, random, &mut prepare);
        choose(&mut choice);
        let StepTasks { tasks, without_prompt, dropped_tasks } = choice.finish();
        self.without_prompt.extend(without_prompt);
        self.facts.without_prompt = self.without_prompt.len();
        self.facts.dropped_tasks += dropped_tasks;
        self.done.drawn = (self.facts.proposals.len(), self.facts.derived.len());
        self.done.draws += 1;
        Ok(DrawnTasks { tasks, episodes })
    }

    /// Lets what is valid and new of the proposals, and of the derivations, into the pool. Where it has no room it forgets its oldest proposals.
    pub fn admit(&mut self) {
        let (step, capacity) = (self.number, self.stages.game.settings().buffer_capacity);
        let (proposals, derived) = self.done.admitted;
        let proposals = self.facts.proposals[proposals..].iter().filter_map(|one| one.admission.task());
        self.pool.admit(proposals.cloned(), step, capacity);
        let derived = self.facts.derived[derived..].iter().filter_map(|one| one.judged.admitted());
        self.pool.admit(derived.cloned(), step, capacity);
        self.done.admitted = (self.facts.proposals.len(), self.facts.derived.len());
    }

    /// Samples a group of solvers for each drawn task, and judges them. Returns the places of the tasks in [`StepFacts::tasks`].
    ///
    /// # Errors
    /// A fault of the policy.
    pub fn solve(&mut self, drawn: DrawnTasks<E>) -> Result<Range<usize>, PlayError> {
        self.solve_as(Player::learner(Role::SOLVER), drawn)
    }

    /// As [`Step::solve`], by another role or another policy.
    ///
    /// # Errors
    /// As [`Step::solve`], or there is no such policy.
    pub fn solve_as(&mut self, player: Player<'_>, drawn: DrawnTasks<E>) -> Result<Range<usize>, PlayError> {
        let DrawnTasks { tasks, episodes } = drawn;
        let first = self.facts.tasks.len();
        let first_chunk = self.done.chunks.1;
        let call = StageCall { first_chunk, role: Some(player.role), ..StageCall::new(Stage::Solve, self.number) };
        let other = self.other_policy(player)?;
        let mut solutions = by(&self.stages, other.as_deref()).solve(call, &tasks, episodes, &mut |_| {})?;
        solutions.iter_mut().for_each(|one| one.finished.source += first);
        self.done.first_chunks.insert(first, call.first_chunk);
        self.done.chunks.1 += self.stages.chunks(Stage::Solve, tasks.len());
        self.facts.solutions.extend(solutions);
        self.facts.tasks.extend(tasks);
        Ok(first..self.facts.tasks.len())
    }

    /// The tasks of these places, each with its solvers' episodes.
    pub fn solved(&self, tasks: &Range<usize>) -> Vec<SolvedTask<'_, E>> {
        let StepFacts { tasks: all, solutions, .. } = &self.facts;
        let first = solutions.partition_point(|one| one.finished.source < tasks.start);
        let end = solutions.partition_point(|one| one.finished.source < tasks.end);
        solved_tasks(&all[tasks.clone()], &solutions[first..end])
    }

    /// Samples verifiers of chosen responses, and judges the responses of both roles together, task by task. `tasks` is what one
    /// [`Step::solve`] returned; `chosen` has, for each of these tasks, places among its solvers' episodes, each as often as it is verified.
    ///
    /// # Errors
    /// A fault of the policy.
    pub fn verify(&mut self, tasks: &Range<usize>, chosen: Vec<Vec<usize>>) -> Result<(), PlayError> {
        self.verify_as(Player::learner(Role::VERIFIER), tasks, chosen)
    }

    /// As [`Step::verify`], by another role or another policy.
    ///
    /// # Errors
    /// As [`Step::verify`], or there is no such policy.
    pub fn verify_as(
        &mut self,
        player: Player<'_>,
        tasks: &Range<usize>,
        chosen: Vec<Vec<usize>>,
    ) -> Result<(), PlayError> {
        let first_chunk = self.done.first_chunks.get(&tasks.start).copied().unwrap_or_default();
        let call = StageCall { first_chunk, role: Some(player.role), ..StageCall::new(Stage::Solve, self.number) };
        let other = self.other_policy(player)?;
        let stages = by(&self.stages, other.as_deref());
        let StepFacts { tasks: all, solutions, .. } = &mut self.facts;
        let first = solutions.partition_point(|one| one.finished.source < tasks.start);
        let end = solutions.partition_point(|one| one.finished.source < tasks.end);
        let VerifyOutput { mut verifications, rounds } =
            stages.verify(call, &all[tasks.clone()], &mut solutions[first..end], chosen)?;
        for one in &mut verifications {
            one.task += tasks.start;
            one.finished.source += self.done.verifiers;
        }
        self.done.verifiers = verifications.iter().map(|one| one.finished.source + 1).max().unwrap_or_default();
        self.facts.verifications.extend(verifications);
        self.facts.rounds.resize_with(tasks.start, || None);
        self.facts.rounds.extend(rounds);
        Ok(())
    }

    /// Gives an episode this reward, in place of the scheme's.
    pub fn reward(&mut self, response: Response, reward: Reward) {
        self.facts.given.insert(response, GivenReward::Episode(reward));
    }

    /// Gives each turn of an episode its own reward, in place of the scheme's. There are as many as it has turns.
    pub fn reward_turns(&mut self, response: Response, rewards: Vec<f64>) {
        debug_assert_eq!(rewards.len(), self.facts.turns(response).len(), "a reward for each turn");
        self.facts.given.insert(response, GivenReward::Turns(rewards));
    }

    /// Learns nothing from an episode, whatever it was worth.
    pub fn leave_out(&mut self, response: Response) {
        self.facts.given.insert(response, GivenReward::Nothing);
    }

    /// Says of an episode what an advantage estimator may look at.
    pub fn note(&mut self, response: Response, notes: EpisodeNotes) {
        self.facts.notes.insert(response, notes);
    }

    /// States a number of the step: it is logged as `play/NAME`, and monitors see it.
    pub fn fact(&mut self, name: &str, number: f64) {
        self.facts.numbers.insert(name.to_owned(), number);
    }

    /// What an earlier step left for this one under this name.
    pub fn deferred(&self, name: &str) -> Option<&Value> {
        self.deferred.get(name)
    }

    /// Leaves something for later steps. It is part of the run's state: a resumed run has it to the byte. Numbers come back as they were written in
    /// JSON.
    pub fn defer(&mut self, name: &str, value: Value) {
        self.deferred.insert(name.to_owned(), value);
    }

    /// Keeps episodes under a name until a later step knows what they were worth. Nothing of them is learned in this step.
    ///
    /// # Errors
    /// They cannot be written as JSON.
    pub fn defer_episodes(&mut self, name: &str, responses: &[Response]) -> Result<(), PlayError> {
        let held: Vec<HeldEpisode> = responses.iter().map(|one| HeldEpisode::new(&self.facts, *one)).collect();
        let value = serde_json::to_value(held).map_err(|error| PlayError::Setup(error.to_string()))?;
        self.deferred.insert(name.to_owned(), value);
        responses.iter().for_each(|one| self.leave_out(*one));
        Ok(())
    }

    /// Gives the episodes that were deferred under this name their rewards, in their order: they are learned from in this step, by the
    /// log-probabilities that they were sampled with. Returns how many there were.
    ///
    /// # Errors
    /// What is deferred under this name are no episodes, or there are fewer rewards.
    pub fn reward_deferred(&mut self, name: &str, role: Role, rewards: &[Reward]) -> Result<usize, PlayError> {
        let Some(value) = self.deferred.remove(name) else { return Ok(0) };
        let held: Vec<HeldEpisode> = serde_json::from_value(value)
            .map_err(|error| PlayError::Setup(format!("`{name}` is deferred, and no list of episodes: {error}")))?;
        if rewards.len() != held.len() {
            let (found, wanted) = (rewards.len(), held.len());
            return Err(PlayError::Setup(format!("`{name}` has {wanted} episodes, and there are {found} rewards")));
        }
        let released = held.into_iter().zip(rewards).map(|(held, reward)| held.release(role, E::KINDS, reward.clone()));
        let before = self.facts.released.len();
        self.facts.released.extend(released.flatten());
        Ok(self.facts.released.len() - before)
    }

    /// The names of the policies that can play beside the one that learns: `start`, and kept checkpoints such as `step-100`, oldest first.
    pub fn other_policies(&self) -> Vec<String> {
        self.stages.context.policy.others()
    }

    fn other_policy(&self, player: Player<'_>) -> Result<Option<Rc<dyn Policy>>, PlayError> {
        if player.policy == Player::LEARNER {
            return Ok(None);
        }
        Ok(Some(self.stages.context.policy.other(player.policy)?))
    }

    /// How often each task was solved, which the pool notes. It forgets what would be drawn in vain. Returns the facts of the step.
    pub(crate) fn finish(mut self) -> StepFacts<E> {
        let solved = self.solve_counts();
        self.without_prompt.iter().for_each(|id| self.pool.remove_proposal(id));
        let SharedSettings { drop_unsolved, drop_solved, .. } = *self.stages.game.settings();
        for (asked, count) in self.facts.tasks.iter().zip(&solved).filter(|(_, count)| count.judged > 0) {
            let id = asked.id();
            self.pool.note(&id, *count);
            if drop_unsolved && count.solved == 0 || drop_solved && count.solved == count.judged {
                self.pool.remove_proposal(&id);
            }
        }
        self.facts.solved = solved;
        self.facts.pool_proposals = self.pool.entries().iter().filter(|entry| !entry.seed).count();
        self.facts
    }

    fn solve_counts(&self) -> Vec<SolveCount> {
        let StepFacts { tasks, solutions, rounds, .. } = &self.facts;
        let statuses = solutions.iter().filter_map(|one| -> Option<(usize, Status)> {
            let task = one.finished.source;
            let verdict = one.judged.verdict.as_ref().ok().filter(|_| is_decided(rounds, task))?;
            Some((task, verdict.status))
        });
        solve_counts(tasks.len(), statuses)
    }
}
