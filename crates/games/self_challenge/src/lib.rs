//! `self_challenge` (Self-Challenging Agents, arXiv 2506.01716): one policy explores an environment of tools and makes a
//! Code-as-Task there, and does such tasks with tool calls as code.
//!
//! # One step
//! Challengers explore an environment for a number of turns and propose a Code-as-Task each. The artifact gate judges every proposal
//! ([`veriplay_verifier::environments::examine_artifact`]); [`FILTERS`] says what of it the paper's table tells. Executors do tasks of
//! challengers and given ones. An executor's last turn is the one whose code has called `answer` and come to its end;
//! [`veriplay_verifier::environments::judge_episode`] judges its calls and its answer. An executor out of turns or fuel is judged too, by
//! what it has done so far: the paper rewards only the final state. [`veriplay_selfplay::driver`] has the rest.
//!
//! # Prompts
//! `think` is the paper's game. `compact` and `direct` ([`prompts`]) are for small models: one turn each, and the verification
//! function is made from the solution. The gate and the judge are the same for all.
//!
//! # Rules
//! - A turn's code is a program of its own: the environment's state is carried over, as the calls made so far, and its
//!   variables are not.
//! - Calls of code that raised count; of code that was stopped (fuel, memory) there are none, and the state stays as it was.
//! - A response that holds no code costs a turn, and the next prompt says why.
//! - What code prints is shown up to a number of characters.
//! - A proposal with the instruction or the solution of a task that is evaluated on is refused ([`veriplay_selfplay::splits`]).
//!
//! # Invariants
//! An executor's prompt holds what the environment says of itself, the instruction, and what the policy itself did and saw:
//! never a state, a verification function, a solution, or an environment's source. A challenger, whose verification
//! function reads states, is told their layout, and calls tools to find what is in them. The same budget, responses and outcomes give the same moves.

mod config;
mod environment;
mod episode;
mod metrics;
pub mod prompts;
pub mod setup;

use std::ops::Deref;
use std::sync::Arc;

use rand::seq::{IndexedRandom, SliceRandom};
use serde::{Deserialize, Serialize};
use veriplay_core::{CodeTask, Digest, Dropped, Execute, Language, Prompt, content_hash};
use veriplay_python::Python;
use veriplay_verifier::environments::{ArtifactGate, EnvironmentDescription};

use metrics::SelfChallengeMetrics;
use prompts::ChallengeFormat;
use veriplay_selfplay::environment::{EvalTask, GameBase, Proposer, Proposing, Stage, StreamNames};
use veriplay_selfplay::facts::StepFacts;
use veriplay_selfplay::game::Game;
use veriplay_selfplay::play::{PlayError, StepContext};
use veriplay_selfplay::randomness::generator;
use veriplay_selfplay::rollout;
use veriplay_selfplay::splits::{EvalSet, Guard};
use veriplay_selfplay::step::Step;
use veriplay_selfplay::task_pool::{PoolTask, TaskChoice, TaskContent, TaskPool};

pub use config::{SelfChallengeConfig, SelfChallengeSettings};
pub use episode::{ANSWERED, PROPOSED, ToolBudget, ToolEpisode, ToolWorkspace};
pub use metrics::FILTERS;
pub use prompts::{ChallengeRequest, ToolGoal};

/// Its name in configurations: a value of `plays`.
pub const NAME: &str = "self_challenge";

/// The one kind of task.
const KIND: &str = "code_task";

/// An environment of tools, and what it says of itself.
#[derive(Debug, Clone)]
pub struct ToolEnvironment {
    /// The environment.
    pub environment: veriplay_core::Environment,
    /// As [`veriplay_verifier::environments::describe_environment`] gives it.
    pub about: Arc<EnvironmentDescription>,
}

/// The game, set up.
pub struct SelfChallenge {
    base: GameBase<ToolTask>,
    own: SelfChallengeSettings,
    gate: ArtifactGate,
    environments: Vec<ToolEnvironment>,
    given: Vec<CodeTask>,
    format: &'static dyn ChallengeFormat,
}

/// Adds what a task says and what solves it to the guard.
pub fn add_task_to_guard(guard: &mut Guard, set: EvalSet, task: &CodeTask) {
    let name = format!("task `{}`", task.task_id);
    guard.add_text(set, &name, &task.instruction);
    guard.add_program(set, &name, &task.solution);
}

impl SelfChallenge {
    /// Sets the game up. `given` tasks stand beside those of challengers, and may be none; `guard` holds what the game is evaluated on
    /// at other times.
    ///
    /// # Errors
    /// The first thing that has no meaning.
    ///
    /// # Panics
    /// Never: a checked config names a prompt format.
    pub fn new(
        config: SelfChallengeConfig,
        gate: ArtifactGate,
        environments: Vec<ToolEnvironment>,
        given: Vec<CodeTask>,
        evaluation: Vec<EvalTask<ToolTask>>,
        mut guard: Guard,
    ) -> Result<Self, PlayError> {
        config.check()?;
        gate.check().map_err(|error| PlayError::Setup(error.to_string()))?;
        let SelfChallengeConfig { shared: settings, own } = config;
        let format = prompts::by_name(&settings.format).expect("a checked config names a prompt format");
        evaluation.iter().for_each(|one| add_task_to_guard(&mut guard, EvalSet::HeldOut, &one.task));
        let game = Self { base: GameBase { settings, guard, evaluation }, own, gate, environments, given, format };
        game.check()?;
        Ok(game)
    }

    fn check(&self) -> Result<(), PlayError> {
        let refuse = |what: &str| Err(PlayError::Setup(what.to_owned()));
        if self.environments.is_empty() {
            return refuse("no environment: name at least one");
        }
        if self.base.evaluation.is_empty() {
            return refuse("there is no task to evaluate on: give at least one");
        }
        let mut tasks = self.given.iter().chain(self.base.evaluation.iter().map(|one| &*one.task));
        if let Some(CodeTask { task_id, environment, .. }) =
            tasks.find(|task| self.find_environment(&task.environment).is_err())
        {
            return refuse(&format!(
                "task `{task_id}` is about environment `{environment}`, which is not among those given"
            ));
        }
        for task in &self.given {
            let (data, item) = ("the given tasks", format!("task `{}`", task.task_id));
            self.base.guard.check_text(data, &item, &task.instruction)?;
            self.base.guard.check_program(data, &item, &task.solution)?;
        }
        self.base.settings.check_examples(self.given.len(), "given tasks")?;
        if self.given.is_empty() && self.own.challenges_per_step == 0 {
            return refuse("there are no given tasks, and the config makes none: set `challenges_per_step`");
        }
        Ok(())
    }

    fn find_environment(&self, name: &str) -> Result<&ToolEnvironment, Dropped> {
        let unknown = || Dropped { why: format!("there is no environment `{name}`") };
        self.environments.iter().find(|one| one.environment.name == name).ok_or_else(unknown)
    }

    /// The requests to challengers of a step: each environment in turn, with one of its tools.
    fn challenges(&self, seed: u64, step: u64, count: usize) -> Vec<ChallengeRequest> {
        let mut generator = generator(seed, step, "self_challenge/challenges");
        let mut environments: Vec<&ToolEnvironment> = self.environments.iter().collect();
        environments.shuffle(&mut generator);
        let request = |(index, one): (usize, &ToolEnvironment)| ChallengeRequest {
            task_id: format!("proposed/{step}/{index}"),
            environment: one.environment.name.clone(),
            tool: one.about.tools.choose(&mut generator).map_or_else(String::new, |tool| tool.name.clone()),
        };
        environments.into_iter().cycle().take(count).enumerate().map(request).collect()
    }

    /// An episode of this goal; `None` where its environment is not here.
    fn episode(&self, goal: ToolGoal) -> Option<ToolEpisode> {
        let about = &self.find_environment(goal.environment()).ok()?.about;
        let examples = self.examples_beside(&goal);
        ToolWorkspace::open(goal, about, self.format, &examples, self.own.budget)
    }

    /// The examples of a prompt: given tasks in its environment, and none with its instruction.
    fn examples_beside(&self, goal: &ToolGoal) -> Vec<&CodeTask> {
        let asked = match goal {
            ToolGoal::Execute { instruction, .. } => Some(instruction),
            ToolGoal::Challenge(_) => None,
        };
        let others = self.given.iter().filter(|task| task.environment == goal.environment());
        others.filter(|task| Some(&task.instruction) != asked).take(self.base.settings.examples).collect()
    }

    fn execution(&self, task: &CodeTask) -> Option<ToolEpisode> {
        let CodeTask { environment, instruction, .. } = task;
        self.episode(ToolGoal::Execute { environment: environment.clone(), instruction: instruction.clone() })
    }

    /// This step's new tasks up to their share, then given ones and earlier ones.
    fn choose_tasks(&self, choice: &mut TaskChoice<'_, ToolTask>) {
        let fresh = choice.take(choice.fresh(|_| true), self.own.fresh_tasks());
        let candidates = choice.by_curriculum(choice.entries(|_| true));
        choice.take(candidates, self.own.tasks_per_step - fresh);
    }
}

impl Game for SelfChallenge {
    type Metrics = SelfChallengeMetrics;

    fn step(&self, step: &mut Step<'_, Self>) -> Result<(), PlayError> {
        step.propose(|proposing| self.proposers(proposing))?;
        let tasks = step.draw(|choice| self.choose_tasks(choice))?;
        step.admit();
        step.solve(tasks)?;
        Ok(())
    }

    fn proposers(&self, proposing: &Proposing<'_, ToolTask>) -> Result<Vec<Proposer<Self>>, PlayError> {
        let Proposing { context, stage, step, .. } = *proposing;
        let count = match stage {
            Stage::SftPropose => self.own.sft_challenges,
            _ => self.own.challenges_per_step,
        };
        let requests = self.challenges(STREAMS.stage_seed(stage, context.seed), step, count);
        let proposer = |request: ChallengeRequest| {
            let episode = self.episode(ToolGoal::Challenge(request.clone()))?;
            Some(Proposer { request, episode, rollouts: 1, kind: KIND })
        };
        Ok(requests.into_iter().filter_map(proposer).collect())
    }

    fn initial_pool(&self, _context: &StepContext<'_>) -> Result<TaskPool<ToolTask>, PlayError> {
        let mut pool = TaskPool::default();
        pool.add_seeds(self.given.iter().cloned().map(ToolTask));
        Ok(pool)
    }

    fn plays_without_proposers(&self) -> bool {
        !self.given.is_empty() || self.base.settings.seed_proposals > 0
    }

    fn metrics(&self, step: &StepFacts<Self>) -> SelfChallengeMetrics {
        metrics::step_metrics(step)
    }

    fn preview(&self, _execute: &dyn Execute) -> Result<Vec<(String, Prompt)>, PlayError> {
        let challenge = self.challenges(0, 0, 1).pop().and_then(|request| self.episode(ToolGoal::Challenge(request)));
        let task = self.given.first().or_else(|| self.base.evaluation.first().map(|one| &*one.task));
        let execution = task.and_then(|task| self.execution(task));
        let episodes = [("challenger: make a task", challenge), ("executor: do a task", execution)];
        let prompt = |(what, episode): (&str, Option<ToolEpisode>)| {
            Some((what.to_owned(), rollout::Episode::prompt(&episode?)?))
        };
        Ok(episodes.into_iter().filter_map(prompt).collect())
    }
}

const STREAMS: StreamNames = StreamNames {
    proposer: "challenger",
    sft_proposers: "anchors of challengers",
    sft_solver: "executor",
    solver: "executor",
    proposer_tools: "self_challenge/code of challengers",
    solver_tools: "code",
    judge: "code",
};

/// A task of executors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolTask(pub CodeTask);

impl Deref for ToolTask {
    type Target = CodeTask;

    fn deref(&self) -> &CodeTask {
        &self.0
    }
}

impl PoolTask for ToolTask {
    fn id(&self) -> Digest {
        content_hash(self)
    }

    /// Tasks of one environment whose solutions are one program, but for names and parts that do nothing, are one task.
    fn key(&self) -> Digest {
        task_key(self)
    }

    fn kind(&self) -> &'static str {
        KIND
    }

    /// The code that does it. What is to be answered is the verification function's secret.
    fn content(&self) -> TaskContent {
        TaskContent::new(&self.solution, None)
    }
}

/// What [`PoolTask::key`] is of a task.
fn task_key(task: &CodeTask) -> Digest {
    content_hash(&(&task.environment, Python.fingerprint(&task.solution)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(solution: &str) -> Digest {
        let text = str::to_owned;
        PoolTask::key(&ToolTask(CodeTask {
            task_id: text("t"),
            environment: text("shop"),
            instruction: text("Buy it."),
            verify: text("def verify(before, after, answer):\n    return True"),
            solution: text(solution),
            failures: Vec::new(),
        }))
    }

    #[test]
    fn parts_that_do_nothing_make_no_new_task() {
        let plain = key("one = cheapest()\nbuy(one)\n");
        for same in ["one = cheapest()\npass\nbuy(one)\n0\n", "it = cheapest()\nif 0: pass\nbuy(it)\n'done'\n"] {
            assert_eq!(key(same), plain, "{same}");
        }
        assert_ne!(key("one = cheapest()\nsell(one)\n"), plain);
    }
}
