//! One step of a game, as its script plays it: the verbs that sample, judge, draw and admit.
//!
//! A script ([`crate::game::Game::step`]) calls them in the order of its game, each as often as it likes. Everything that a verb does is
//! logged and can be rewarded. No verb does IO or reads a clock: the same state, seed, step, policy and executor give the same step.

mod learning;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

use serde_json::Value;
use veriplay_core::{Digest, Execute, Policy, Role, Status};

use crate::curricula::{Curriculum, CurriculumContext, CurriculumTask};
use crate::environment::{Environment, JudgedDerivation, Proposer, Proposing, SolverEpisode, Stage, VerifyOutput};
use crate::facts::StepFacts;
use crate::game_state::GameState;
use crate::judgement::is_decided;
use crate::memory::Memory;
use crate::metrics::{SolveCount, solve_counts};
use crate::play::{PlayError, StepContext};
use crate::preferences::Response;
use crate::randomness::{derive_seed, generator};
use crate::rollout::Part;
use crate::settings::{ProposerMode, SharedSettings};
use crate::stages::{SolvedTask, StageCall, Stages, VerifierPlayer, solved_tasks, verify};
use crate::task_pool::{Maker, PrepareResults, StepTask, StepTasks, TaskChoice, TaskPool};

/// A step that is being played.
pub struct Step<'a, E: Environment> {
    stages: Stages<'a, E>,
    curriculum: &'a dyn Curriculum,
    memory: &'a mut Memory,
    /// What the search for a temperature remembers.
    temperatures: &'a Memory,
    number: u64,
    pool: &'a mut TaskPool<E::Task>,
    /// The curriculum's weights of the pool as it is; `None` until they are asked for.
    weights: Option<HashMap<Digest, f64>>,
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
    /// Proposals and derivations that a draw has taken.
    drawn_proposals: BTreeSet<usize>,
    drawn_derivations: BTreeSet<usize>,
    /// How many of them were let into the pool, or refused.
    admitted_proposals: usize,
    admitted_derivations: usize,
    /// Calls of the game's own proposers.
    proposals: usize,
    proposers: usize,
    draws: usize,
    proposer_chunks: usize,
    solver_chunks: usize,
    verifiers: usize,
    /// Tasks that wait for their verifiers.
    unverified: usize,
}

/// The attempts at the tasks of one [`Step::solve`]. In a game with verifiers they are handed to [`Step::verify`], once.
#[derive(Debug)]
pub struct Attempts {
    tasks: Range<usize>,
    first_chunk: usize,
}

impl Attempts {
    /// The places of the tasks in [`StepFacts::tasks`].
    pub fn tasks(&self) -> Range<usize> {
        self.tasks.clone()
    }
}

/// Who plays a stage: a role, and the policy that is sampled.
#[derive(Debug, Clone, Copy)]
pub struct Player<'a> {
    /// The role, which `game.roles` may say more of.
    pub role: Role,
    /// [`Player::LEARNER`], `start`, or a kept checkpoint such as `step-100`. What another policy than the learner wrote gets no reward, and counts
    /// in no solve rate; it may be imitated.
    pub policy: &'a str,
}

impl Player<'_> {
    /// The policy that learns.
    pub const LEARNER: &'static str = "learner";

    /// A role of the policy that learns.
    pub const fn learner(role: Role) -> Self {
        Self { role, policy: Self::LEARNER }
    }

    /// The policy's name, where it is not the one that learns.
    fn other(self) -> Option<String> {
        (self.policy != Player::LEARNER).then(|| self.policy.to_owned())
    }
}

/// Tasks that were drawn, each with the episode that its solvers begin. A copy can be solved by another policy.
pub struct DrawnTasks<E: Environment> {
    tasks: Vec<StepTask<E::Task>>,
    episodes: Vec<E::Episode>,
    /// Solvers of each task, where it is not `game.group_size`.
    group: Option<usize>,
}

impl<E: Environment> Clone for DrawnTasks<E> {
    fn clone(&self) -> Self {
        Self { tasks: self.tasks.clone(), episodes: self.episodes.clone(), group: self.group }
    }
}

impl<E: Environment> DrawnTasks<E> {
    /// The tasks, in the order they were taken.
    pub fn tasks(&self) -> &[StepTask<E::Task>] {
        &self.tasks
    }

    /// The same with so many solvers a task.
    #[must_use]
    pub fn in_groups_of(self, solvers: usize) -> Self {
        Self { group: Some(solvers), ..self }
    }
}

/// The error that a script names what there is not.
fn missing(what: &str, index: usize, count: usize) -> PlayError {
    PlayError::Setup(format!("the script names {what} {index}, and the step has {count} of them"))
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
        let GameState { pool, deferred, curriculum: memory, temperatures, .. } = state;
        let temperatures = &*temperatures;
        let known = pool.keys();
        let (facts, without_prompt, done) = (StepFacts::default(), BTreeSet::new(), Done::default());
        let weights = None;
        Self {
            stages,
            curriculum,
            memory,
            temperatures,
            number,
            pool,
            weights,
            deferred,
            known,
            facts,
            without_prompt,
            done,
        }
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

    /// Samples the game's own proposers, which `proposers` makes, and judges what they propose. Returns the places of the new proposals in
    /// [`StepFacts::proposals`]. Where the configuration samples no proposer, `proposers` is not called and there are none. Called again in a
    /// step, it draws other prompts.
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
    pub fn propose_as(
        &mut self,
        player: Player<'_>,
        proposers: impl FnOnce(&Proposing<'_, E::Task>) -> Result<Vec<Proposer<E>>, PlayError>,
    ) -> Result<Range<usize>, PlayError> {
        let first = self.facts.proposals.len();
        if self.stages.game.settings().proposer == ProposerMode::None {
            return Ok(first..first);
        }
        let (call, StepContext { seed, .. }) = (self.done.proposals as u64, self.stages.context);
        let seed = if call == 0 { seed } else { derive_seed(seed, call, "proposers again") };
        let context = StepContext { seed, ..self.stages.context };
        let (stage, step) = (Stage::Propose, self.number);
        let mut proposers = proposers(&Proposing { context, pool: self.pool, stage, step })?;
        self.done.proposals += 1;
        let other = self.other_policy(player)?;
        let role = Some(player.role);
        self.facts.proposers_without_prompt +=
            by(&self.stages, other.as_deref()).retain_some_with_room(role, &mut proposers)?;
        self.ask(player, proposers)
    }

    /// Samples these proposers, of the script's own making, and judges what they propose. Those whose prompts the policy has no room for are
    /// passed over and counted. Returns the places of the new proposals in [`StepFacts::proposals`]; none where the configuration samples no
    /// proposer.
    pub fn ask(&mut self, player: Player<'_>, mut proposers: Vec<Proposer<E>>) -> Result<Range<usize>, PlayError> {
        let first = self.facts.proposals.len();
        if self.stages.game.settings().proposer == ProposerMode::None {
            return Ok(first..first);
        }
        let other = self.other_policy(player)?;
        let stages = by(&self.stages, other.as_deref());
        let role = Some(player.role);
        self.facts.proposers_without_prompt += stages.retain_with_room(role, &mut proposers);
        let first_chunk = self.done.proposer_chunks;
        let call = StageCall { first_chunk, role, ..StageCall::new(Stage::Propose, self.number) };
        let mut proposals = stages.propose(call, &proposers, &mut self.known, &self.facts.proposals)?;
        for one in &mut proposals {
            one.finished.source += self.done.proposers;
            one.policy = player.other();
        }
        self.done.proposers += proposers.len();
        self.done.proposer_chunks = proposals.last().map_or(first_chunk, |last| last.proposed.chunk + 1);
        self.facts.proposals.extend(proposals);
        Ok(first..self.facts.proposals.len())
    }

    /// Judges derivations: tasks that no policy proposed. Returns their places in [`StepFacts::derived`].
    #[tracing::instrument(level = "debug", skip_all, fields(step = self.number))]
    pub fn derive(&mut self, derivations: Vec<E::Derivation>) -> Range<usize> {
        let (first, known) = (self.facts.derived.len(), &mut self.known);
        let judged = self
            .stages
            .game
            .judge_derived(self.stages.context.execute, &derivations, &mut |_, key| !known.insert(key.clone()));
        let game = self.stages.game;
        self.facts.derived.extend(derivations.into_iter().zip(judged).map(|(derivation, judged)| {
            let is_proposed = game.is_proposed(&derivation);
            JudgedDerivation { derivation, judged, is_proposed }
        }));
        first..self.facts.derived.len()
    }

    /// Draws tasks: `choose` takes some of the pool, and of what was proposed and derived in this step and that no draw has taken. A task that has no
    /// prompt, or none that the policy has room for, is passed over and counted. Draw before [`Step::admit`], which lets new tasks into the pool:
    /// behind it they are both new and of the pool.
    #[tracing::instrument(level = "debug", skip_all, fields(step = self.number))]
    pub fn draw(&mut self, choose: impl FnOnce(&mut TaskChoice<'_, E::Task>)) -> Result<DrawnTasks<E>, PlayError> {
        let (stages, pool) = (&self.stages, &*self.pool);
        let (game, StepContext { execute, seed, .. }) = (stages.game, stages.context);
        let Done { drawn_proposals, drawn_derivations, .. } = &self.done;
        let proposed = self.facts.proposals.iter().enumerate().filter(|(index, _)| !drawn_proposals.contains(index));
        let proposed = proposed.filter_map(|(index, one)| Some((Maker::Proposal(index), one.admission.task()?)));
        let derived = self.facts.derived.iter().enumerate().filter(|(index, _)| !drawn_derivations.contains(index));
        let derived = derived.filter_map(|(index, one)| {
            let maker = Maker::Derivation { index, is_proposed: one.is_proposed };
            Some((maker, one.judged.admitted()?))
        });
        let seeds = game.seeds(Stage::Solve, seed, self.number);
        let mut episodes = Vec::new();
        let mut prepare = |tasks: &[&E::Task]| -> PrepareResults {
            let opened = game.solver_episodes(execute, seeds, tasks).into_iter();
            let mut keep = |episode: Option<E::Episode>| {
                let episode = episode.filter(|one| stages.has_room(Part::Solution, None, one));
                let askable = episode.is_some();
                episodes.extend(episode);
                askable
            };
            opened.map(|episode| episode.map(&mut keep)).collect()
        };
        if self.weights.is_none() {
            let entries: Vec<CurriculumTask<'_>> = pool.entries().iter().map(Into::into).collect();
            let learnable_weight = game.settings().resample_learnable;
            let context = CurriculumContext { step: self.number, seed, learnable_weight, memory: self.memory };
            let weights = self.curriculum.weights(&context, &entries)?;
            self.weights = Some(entries.iter().map(|task| task.id.clone()).zip(weights).collect());
        }
        let weights = self.weights.get_or_insert_default();
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
        self.done.drawn_proposals.extend(tasks.iter().filter_map(|task| task.proposal));
        self.done.drawn_derivations.extend(tasks.iter().filter_map(|task| task.derivation));
        self.done.draws += 1;
        Ok(DrawnTasks { tasks, episodes, group: None })
    }

    /// Lets what is valid and new of the proposals, and of the derivations, into the pool. Where it has no room it forgets its oldest proposals.
    pub fn admit(&mut self) {
        let (step, capacity) = (self.number, self.stages.game.settings().buffer_capacity);
        let Done { admitted_proposals, admitted_derivations, .. } = self.done;
        let proposals = self.facts.proposals[admitted_proposals..].iter().filter_map(|one| one.admission.task());
        self.pool.admit(proposals.cloned(), true, step, capacity);
        let derived = &self.facts.derived[admitted_derivations..];
        for is_proposed in [false, true] {
            let tasks = derived.iter().filter(|one| one.is_proposed == is_proposed);
            let tasks = tasks.filter_map(|one| one.judged.admitted());
            self.pool.admit(tasks.cloned(), is_proposed, step, capacity);
        }
        self.done.admitted_proposals = self.facts.proposals.len();
        self.done.admitted_derivations = self.facts.derived.len();
        self.weights = None;
    }

    /// Tasks of this step that are asked again, each by its place in [`StepFacts::tasks`] and with an episode of the script's own, such as one that
    /// says what was wrong. Replay judges their logged responses, and does not make these episodes again.
    pub fn pose(&self, posed: Vec<(usize, E::Episode)>) -> Result<DrawnTasks<E>, PlayError> {
        let (mut tasks, mut episodes) = (Vec::new(), Vec::new());
        for (place, episode) in posed {
            let count = self.facts.tasks.len();
            let task = self.facts.tasks.get(place).ok_or_else(|| missing("task", place, count))?;
            tasks.push(StepTask { proposal: None, derivation: None, ..task.clone() });
            episodes.push(episode);
        }
        Ok(DrawnTasks { tasks, episodes, group: None })
    }

    /// Samples a group of solvers for each drawn task, and judges them.
    pub fn solve(&mut self, drawn: DrawnTasks<E>) -> Result<Attempts, PlayError> {
        self.solve_as(Player::learner(Role::SOLVER), drawn)
    }

    /// As [`Step::solve`], by another role or another policy. Tasks that it has no room for are left out and counted.
    pub fn solve_as(&mut self, player: Player<'_>, drawn: DrawnTasks<E>) -> Result<Attempts, PlayError> {
        let other = self.other_policy(player)?;
        let stages = by(&self.stages, other.as_deref());
        let role = Some(player.role);
        let all = drawn.tasks.len();
        let both = drawn.tasks.into_iter().zip(drawn.episodes);
        let (tasks, episodes): (Vec<_>, Vec<_>) =
            both.filter(|(_, episode)| stages.has_room(Part::Solution, role, episode)).unzip();
        self.facts.without_prompt += all - tasks.len();
        let (first, first_chunk) = (self.facts.tasks.len(), self.done.solver_chunks);
        for (temperature, places) in self.by_temperature(player, tasks.len()) {
            let first_chunk = self.done.solver_chunks;
            let call = StageCall { first_chunk, role, temperature, ..StageCall::new(Stage::Solve, self.number) };
            let own: Vec<StepTask<E::Task>> = places.iter().map(|place| tasks[*place].clone()).collect();
            let asked = places.iter().map(|place| episodes[*place].clone()).collect();
            let mut solutions = stages.solve(call, drawn.group, &own, asked, &mut |_| {})?;
            for one in &mut solutions {
                one.finished.source = first + places[one.finished.source];
                one.policy = player.other();
            }
            self.done.solver_chunks += self.stages.chunks(Stage::Solve, own.len());
            self.facts.solutions.extend(solutions);
        }
        self.facts.solutions.sort_by_key(|one| one.finished.source);
        self.done.unverified += if self.stages.game.verifier().is_some() { tasks.len() } else { 0 };
        self.facts.tasks.extend(tasks);
        Ok(Attempts { tasks: first..self.facts.tasks.len(), first_chunk })
    }

    /// The temperatures that a player's attempts at the next `tasks` tasks are sampled at, `None` for that of the settings, each with the places of
    /// its tasks among them.
    fn by_temperature(&self, player: Player<'_>, tasks: usize) -> Vec<(Option<f64>, Vec<usize>)> {
        let search = self.stages.game.settings().search_of(player.role, player.other().as_ref());
        let mut all: Vec<(Option<f64>, Vec<usize>)> = Vec::new();
        for place in 0..tasks {
            let task = self.facts.tasks.len() + place;
            let temperature = search.and_then(|search| search.temperature(self.number, task, self.temperatures));
            match all.iter_mut().find(|(known, _)| *known == temperature) {
                Some((_, places)) => places.push(place),
                None => all.push((temperature, vec![place])),
            }
        }
        all
    }

    /// The tasks, each with its solvers' episodes.
    pub fn solved(&self, attempts: &Attempts) -> Vec<SolvedTask<'_, E>> {
        let places = self.solutions(&attempts.tasks);
        solved_tasks(&self.facts.tasks[attempts.tasks()], &self.facts.solutions[places])
    }

    /// How often each of the tasks was solved, as far as it is judged.
    pub fn rates(&self, attempts: &Attempts) -> Vec<SolveCount> {
        self.solve_counts().drain(attempts.tasks()).collect()
    }

    /// The attempts, each with what names it.
    pub fn responses(&self, attempts: &Attempts) -> Vec<(Response, &SolverEpisode<E>)> {
        let places = self.solutions(&attempts.tasks);
        let response = |index| Response { part: Part::Solution, index };
        places.map(|index| (response(index), &self.facts.solutions[index])).collect()
    }

    /// The places of the solvers' episodes of tasks.
    fn solutions(&self, tasks: &Range<usize>) -> Range<usize> {
        let all = &self.facts.solutions;
        let place = |task| all.partition_point(|one| one.finished.source < task);
        place(tasks.start)..place(tasks.end)
    }

    /// Samples verifiers of chosen responses, and judges the responses of both roles together, task by task. `chosen` has, for each task,
    /// places among its solvers' episodes, each as often as it is verified.
    pub fn verify(&mut self, attempts: Attempts, chosen: Vec<Vec<usize>>) -> Result<(), PlayError> {
        self.verify_by(attempts, vec![(Player::learner(Role::VERIFIER), chosen)])
    }

    /// As [`Step::verify`], by several players: what all of them write is judged together with the responses.
    pub fn verify_by(
        &mut self,
        attempts: Attempts,
        players: Vec<(Player<'_>, Vec<Vec<usize>>)>,
    ) -> Result<(), PlayError> {
        if self.stages.game.verifier().is_none() {
            return Err(PlayError::Setup("the script verifies attempts, and the game has no verifiers".to_owned()));
        }
        let Attempts { tasks, first_chunk } = attempts;
        let others = players.iter().map(|(player, _)| self.other_policy(*player)).collect::<Result<Vec<_>, _>>()?;
        let places = self.solutions(&tasks);
        let players = players.into_iter().zip(&others).map(|((player, chosen), other)| {
            let (stages, policy) = (by(&self.stages, other.as_deref()), player.other());
            VerifierPlayer { stages, role: player.role, policy, chosen }
        });
        let players: Vec<_> = players.collect();
        let call = StageCall { first_chunk, ..StageCall::new(Stage::Solve, self.number) };
        let StepFacts { tasks: all, solutions, .. } = &mut self.facts;
        let VerifyOutput { prompts, mut verifications, rounds } =
            verify(call, &players, &all[tasks.clone()], &mut solutions[places])?;
        for one in &mut verifications {
            one.task += tasks.start;
            one.finished.source += self.done.verifiers;
        }
        self.done.verifiers += prompts;
        self.done.unverified -= tasks.len();
        self.facts.verifications.extend(verifications);
        self.facts.rounds.resize_with(self.facts.tasks.len(), || None);
        tasks.zip(rounds).for_each(|(task, round)| self.facts.rounds[task] = round);
        Ok(())
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
    pub(crate) fn finish(mut self) -> Result<StepFacts<E>, PlayError> {
        if self.done.unverified > 0 {
            let what = format!(
                "the script leaves the attempts at {} tasks without verifiers: in this game, hand what `solve` returns to `verify`",
                self.done.unverified
            );
            return Err(PlayError::Setup(what));
        }
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
        Ok(self.facts)
    }

    /// How often each task of the step was solved so far, as [`StepFacts::tasks`] has them.
    pub fn solve_counts(&self) -> Vec<SolveCount> {
        let StepFacts { tasks, solutions, rounds, .. } = &self.facts;
        let own = solutions.iter().filter(|one| one.policy.is_none());
        let statuses = own.filter_map(|one| -> Option<(usize, Status)> {
            let task = one.finished.source;
            let verdict = one.judged.verdict.as_ref().ok().filter(|_| is_decided(rounds, task))?;
            Some((task, verdict.status))
        });
        solve_counts(tasks.len(), statuses)
    }
}
