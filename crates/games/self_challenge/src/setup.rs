//! `self_challenge`: its configuration, its environments and tasks, and its warm-up examples.

mod tasks;
mod warmup;

use std::path::Path;

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value};
use veriplay_console::isolation::Isolation;
use veriplay_console::progress::counted;
use veriplay_run::config::{LearnConfig, from_toml};
use veriplay_run::executor::GameExecutor;
use veriplay_run::game_setup::{EvalKeys, GameSetup, StepTokens, guard_and_evaluation};
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::methods::Methods;
use veriplay_selfplay::settings::SharedSettings;
use veriplay_verifier::environments::ArtifactGate;

use crate::{NAME, SelfChallenge, SelfChallengeConfig, add_task_to_guard, prompts};
use tasks::{SelfChallengeEvalConfig, SelfChallengeTaskConfig, ToolTasks};

/// `[game]`, `[gate]`, `[tasks]` and `[eval]`, as `configs/self-challenge-quickstart.toml` shows them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelfChallengeSetup {
    game: SelfChallengeConfig,
    /// When a Code-as-Task is worth asking.
    gate: ArtifactGate,
    /// Where environments and tasks come from.
    tasks: SelfChallengeTaskConfig,
    /// How the policy is evaluated.
    eval: SelfChallengeEvalConfig,
}

impl SelfChallengeSetup {
    /// Turns of an executor and of a challenger.
    fn turns(&self) -> (usize, usize) {
        let single = prompts::by_name(&self.game.shared.format).is_some_and(prompts::ChallengeFormat::is_single_turn);
        let budget = self.game.own.budget;
        if single { (1, 1) } else { (budget.executor_turns, budget.explore_turns + 1) }
    }
}

impl GameSetup for SelfChallengeSetup {
    type Game = SelfChallenge;
    type Eval = SelfChallengeEvalConfig;
    const NAME: &'static str = NAME;
    const TABLES: &'static [&'static str] = &["game", "gate", "tasks", "eval"];

    fn parse(text: &str, origin: &Path) -> Result<Self, Failure> {
        from_toml(text, origin)
    }

    fn shared_settings(&self) -> &SharedSettings {
        &self.game.shared
    }

    fn validate(&self, _learn: &LearnConfig) -> Result<(), Failure> {
        self.game.check().map_err(|error| error.within("game")).or_fail(ExitCode::Input)?;
        self.gate.check().or_fail(ExitCode::Input)?;
        GameExecutor::check_image("gate.image", &self.gate.image)?;
        if self.tasks.environments.is_empty() {
            return Err(bad_value("tasks.environments", &"[]", "at least one environment"));
        }
        Ok(())
    }

    /// Every turn is a sample; those of the first share their group's prompt, the others have one at most as long as the context.
    fn step_tokens(&self, context: usize) -> StepTokens {
        let (game, shared) = (&self.game.own, &self.game.shared);
        let (executor, challenger) = self.turns();
        let attempts = game.tasks_per_step * shared.group_size;
        let first = game.tasks_per_step * context + attempts * shared.solver_max_tokens;
        let later = attempts * (executor - 1) * context;
        let others = (game.challenges_per_step * challenger + shared.sft_samples) * context;
        let longest_response = shared.solver_max_tokens.max(shared.proposer_max_tokens);
        StepTokens { total: first + later + others, longest: context, longest_response }
    }

    fn eval(&self) -> &Self::Eval {
        &self.eval
    }

    fn eval_mut(&mut self) -> &mut Self::Eval {
        &mut self.eval
    }

    fn eval_seed(&self) -> u64 {
        self.tasks.eval_seed
    }

    fn describe_step(&self) -> Vec<String> {
        let (game, shared) = (&self.game.own, &self.game.shared);
        let ((executor, challenger), attempts) = (self.turns(), game.tasks_per_step * shared.group_size);
        let Methods { reward, advantage, .. } = Methods::named_by(shared);
        vec![
            format!(
                "a step: {} of at most {}, then {} of at most {} at each of {}",
                counted(game.challenges_per_step, "challenger"),
                counted(challenger, "turn"),
                counted(shared.group_size, "executor"),
                counted(executor, "turn"),
                counted(game.tasks_per_step, "task")
            ),
            format!(
                "jobs of a step: at most {} for attempts, and about {} for each artifact that is judged",
                attempts * (executor + 2),
                4 * (self.gate.failures + 1) + 2 * (self.gate.failures + 3 + self.gate.canned_answers.len())
            ),
            format!(
                "reward `{}`, learned from {}; advantage `{}`; prompts `{}`",
                reward.name(),
                shared.learn_from.name(),
                advantage.name(),
                shared.format
            ),
        ]
    }

    fn open(&self, workers: Isolation) -> Result<(GameExecutor, SelfPlay<SelfChallenge>), Failure> {
        let executor = GameExecutor::open(&self.gate.image, None, workers)?;
        let source = ToolTasks::open(&self.tasks, &self.gate, &executor)?;
        let environments = source.tool_environments()?;
        let tasks_of = |set| source.evaluation(&SelfChallengeEvalConfig { set, ..self.eval.clone() });
        let (guard, evaluation) = guard_and_evaluation(
            (self.eval.suite_schedule().guard()?, self.eval.set),
            tasks_of,
            |guard, set, _, one| {
                add_task_to_guard(guard, set, &one.task);
            },
        )?;
        let given = source.given()?;
        let game = SelfChallenge::new(self.game.clone(), self.gate.clone(), environments, given, evaluation, guard);
        Ok((executor, SelfPlay::new(game?)))
    }
}
