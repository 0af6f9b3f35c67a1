//! The policy at a game's evaluation tasks: with a bar, before and after a run and for `veriplay eval`; and in the run, on the validation set.

use veriplay_console::exit::{Failure, bad_value};
use veriplay_console::isolation::Isolation;
use veriplay_console::progress;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::environment::Environment;
use veriplay_selfplay::eval_table::EvalTable;
use veriplay_selfplay::play::{PlayError, StepContext};
use veriplay_selfplay::splits::EvalSet;

use crate::game_setup::{EvalKeys, GameSetup, open_game};

/// Evaluates a policy, with a bar over the episodes.
pub fn evaluate_with_bar<E: Environment>(
    game: &SelfPlay<E>,
    context: &StepContext<'_>,
) -> Result<EvalTable, PlayError> {
    let bar = progress::bar(game.evaluation_episodes() as u64, "evaluate");
    let table = game.evaluate_watched(context, &mut |ended| bar.inc(ended as u64));
    bar.finish_and_clear();
    table
}

/// Evaluations in the run: `tasks_every` of `[eval]`. They are on the validation set, so that nobody looks at the held-out set to choose a step.
pub struct Validation<E> {
    every: u64,
    /// The game on that set; `None` where the run's own is.
    game: Option<SelfPlay<E>>,
}

impl<E: Environment> Validation<E> {
    /// Makes the tasks, where the configuration asks for evaluations in the run.
    pub fn open<S: GameSetup<Game = E>>(
        setup: &S,
        workers: Isolation,
        of_run: &SelfPlay<E>,
    ) -> Result<Option<Self>, Failure> {
        let Some(every) = setup.eval().tasks_every() else { return Ok(None) };
        let game = match setup.eval().set() {
            EvalSet::Validation => None,
            EvalSet::HeldOut => {
                let mut setup = setup.clone();
                *setup.eval_mut().set_mut() = EvalSet::Validation;
                // The images are the same, so the run's executor serves both.
                Some(open_game(&setup, workers)?.1)
            }
        };
        let validation = Self { every, game };
        if validation.game(of_run).game.evaluation_tasks().is_empty() {
            let want = "left out, because the validation set of this configuration has no task";
            return Err(bad_value("eval.tasks_every", &every, want));
        }
        Ok(Some(validation))
    }

    /// Whether the policy is evaluated after `step` steps.
    pub fn is_due(&self, step: u64) -> bool {
        step.is_multiple_of(self.every)
    }

    /// The game on the validation set; `of_run` is the run's own.
    pub fn game<'a>(&'a self, of_run: &'a SelfPlay<E>) -> &'a SelfPlay<E> {
        self.game.as_ref().unwrap_or(of_run)
    }
}
