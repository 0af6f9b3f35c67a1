//! `svs` (Self-play with Variational problem Synthesis, arXiv 2508.14029): variants of tasks that are solved sometimes, made of their right
//! answers. A script over Absolute Zero.
//!
//! # One step
//! 1. Solvers attempt tasks of the pool, as in Absolute Zero.
//! 2. Of every induction task whose solve rate lies in the band, each different right program is given to the policy, which writes another list
//!    of inputs and a message for it: a variant, whose answer is known because it was right.
//! 3. Solvers attempt the variants.
//! 4. All three are learned from. Under `reward = "svs"` a variant is worth 1 where its own solve rate s is in 1/8 ≤ s ≤ 5/8: what gives the
//!    answer away is solved always, and what says something else is solved never.
//!
//! # Choices
//! The paper has the policy write another statement of a mathematical problem, which keeps the answer. Here the answer is a program, and what is
//! stated of it are pairs of input and output: those of the variant are the program's own, by execution. Variants do not enter the pool, as
//! there: every step starts from the tasks of the pool. With `game.proposer = "none"` it is reinforcement learning on them alone: the control.
//!
//! # Invariants
//! Those of Absolute Zero. A right program that is evaluated on, or a variant that the step has already, is refused by its gate.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_absolute_zero::setup::AbsoluteZeroSetup;
use veriplay_absolute_zero::{AbsoluteZero, AbsoluteZeroRequest};
use veriplay_console::exit::{Failure, bad_value};
use veriplay_console::progress::counted;
use veriplay_core::{Attempt, Role, Status, TaskType};
use veriplay_run::scripted_setup::{ScriptSetup, ScriptedSetup};
use veriplay_selfplay::environment::SolverEpisode;
use veriplay_selfplay::game::Script;
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::randomness::{generator, weighted_sample};
use veriplay_selfplay::step::{Attempts, Player, Step};

/// Its name in configurations: a value of `plays`.
pub const NAME: &str = "svs";

/// The tables of Absolute Zero, and `[svs]`.
pub type SvsSetup = ScriptedSetup<SvsTables>;

/// The tables that Absolute Zero does not have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SvsTables {
    /// Its one table, `[svs]` of the file.
    pub svs: Svs,
}

/// Which variants a step makes, and of what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Svs {
    /// The least solve rate of a task that variants are made of.
    pub min_rate: f64,
    /// The greatest solve rate of such a task.
    pub max_rate: f64,
    /// Variants a step at most: of more right programs, as many are drawn.
    pub variants_per_step: usize,
}

impl Script<AbsoluteZero> for Svs {
    fn step(&self, game: &AbsoluteZero, step: &mut Step<'_, AbsoluteZero>) -> Result<(), PlayError> {
        let tasks = step.draw(|choice| game.choose_tasks(choice))?;
        let tried = step.solve(tasks)?;
        game.imitate_answers(step, &tried)?;
        let requests = self.requests(step, &tried).into_iter();
        let writers = requests.map(|request| game.proposer(request, Vec::new(), 1)).collect();
        step.ask(Player::learner(Role::PROPOSER), writers)?;
        let variants = step.draw(|choice| {
            let fresh = choice.fresh(|_| true);
            choice.take(fresh, self.variants_per_step);
        })?;
        let solved = step.solve(variants)?;
        game.imitate_answers(step, &solved)
    }
}

impl Svs {
    /// A request for a variant of each right program of a task in the band.
    fn requests(&self, step: &Step<'_, AbsoluteZero>, tried: &Attempts) -> Vec<AbsoluteZeroRequest> {
        let mut right: BTreeSet<&str> = BTreeSet::new();
        for ((task, attempts), count) in step.solved(tried).into_iter().zip(step.rates(tried)) {
            let is_wanted = count.rate().is_some_and(|rate| self.is_in_band(rate));
            if is_wanted && task.question.task_type() == TaskType::Induction {
                right.extend(attempts.iter().filter_map(right_program));
            }
        }
        let programs = right.into_iter().map(|program| (program, 1.0)).collect();
        let generator = &mut generator(step.seed(), step.number(), "svs/programs");
        let drawn = weighted_sample(programs, self.variants_per_step, generator).into_iter();
        drawn.map(AbsoluteZeroRequest::inputs_to).collect()
    }

    fn is_in_band(&self, rate: f64) -> bool {
        (self.min_rate..=self.max_rate).contains(&rate)
    }
}

fn right_program(attempt: &SolverEpisode<AbsoluteZero>) -> Option<&str> {
    let is_right = attempt.judged.verdict.as_ref().is_ok_and(|verdict| verdict.status == Status::Accepted);
    match &attempt.judged.detail {
        Attempt::Program(program) if is_right => Some(program),
        _ => None,
    }
}

impl ScriptSetup for SvsTables {
    type Base = AbsoluteZeroSetup;
    const NAME: &'static str = NAME;
    const TABLES: &'static [&'static str] = &["game", "gate", "tasks", "eval", "svs"];

    fn validate(&self, base: &AbsoluteZeroSetup) -> Result<(), Failure> {
        let Svs { min_rate, max_rate, variants_per_step } = self.svs;
        for (key, rate) in [("svs.min_rate", min_rate), ("svs.max_rate", max_rate)] {
            if !(0.0..=1.0).contains(&rate) {
                return Err(bad_value(key, &rate, "a number from 0 to 1"));
            }
        }
        if min_rate > max_rate {
            return Err(bad_value("svs.min_rate", &min_rate, "at most `svs.max_rate`"));
        }
        if !(1..=65_536).contains(&variants_per_step) {
            return Err(bad_value("svs.variants_per_step", &variants_per_step, "a whole number from 1 to 65536"));
        }
        if !base.game.own.task_types.contains(&TaskType::Induction) {
            return Err(bad_value(
                "game.task_types",
                &"without induction",
                "with `induction`: variants are made of its tasks",
            ));
        }
        Ok(())
    }

    /// Requests, and groups of attempts at what came of them.
    fn more_tokens(&self, base: &AbsoluteZeroSetup, context: usize) -> usize {
        let shared = &base.game.shared;
        self.svs.variants_per_step * (2 * context + shared.group_size * shared.solver_max_tokens)
    }

    fn describe_step(&self, base: &AbsoluteZeroSetup) -> Vec<String> {
        let (game, shared) = (&base.game.own, &base.game.shared);
        let Svs { min_rate, max_rate, variants_per_step } = self.svs;
        let tasks = counted(game.task_types.len() * game.tasks_per_type, "task");
        let attempts = counted(shared.group_size, "attempt");
        vec![
            format!(
                "a step: {attempts} at each of {tasks}; of induction tasks solved at a rate of {min_rate} to {max_rate} at most \
                     {variants_per_step} variants, and {attempts} at each"
            ),
            format!("reward `{}`; prompts `{}`", shared.reward.as_deref().unwrap_or_default(), shared.format),
        ]
    }

    fn script(&self, _base: &AbsoluteZeroSetup) -> Result<Box<dyn Script<AbsoluteZero>>, Failure> {
        Ok(Box::new(self.svs.clone()))
    }
}
