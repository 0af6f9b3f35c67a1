//! `absolute_zero`: its configuration, its tasks, and its half-steps with judging beside generating.

mod again;
mod begin;
mod config;
mod judge;
mod measure;
mod propose;
mod records;
mod solve;
mod tasks;
mod teach;

use veriplay_core::{Execute, Status, Task, TaskType};
use veriplay_learner::ModelConfig;
use veriplay_selfplay::games::absolute_zero::{
    self, AbsoluteZero, GameState, ProposalRecord, SolverRecord, StepMetrics,
};
use veriplay_selfplay::heldout::EvalTable;
use veriplay_selfplay::play::{Again, Arena, Counts, Example, Lesson, Play, PlayError, Played};
use veriplay_selfplay::prompts::ProposerRequest;

use super::{Demand, EvalSet, Setup};
use crate::config::LearnConfig;
use crate::executor::Referee;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::workers::Workers;

pub(crate) use config::AbsoluteZeroSetup;

use measure::measure;
use records::RecordLine;

/// The game with its tasks.
pub(crate) struct InPlay {
    setup: AbsoluteZeroSetup,
    game: AbsoluteZero,
    /// What is measured.
    held_out: Vec<Task>,
}

impl Setup for AbsoluteZeroSetup {
    type Game = InPlay;
    const NAME: &'static str = absolute_zero::GAME.name;
    const TABLES: &'static [&'static str] = &["game", "gate", "tasks", "eval"];

    fn validate(&self, learn: &LearnConfig) -> Result<(), Failure> {
        self.check(learn)
    }

    fn demand(&self, model: &ModelConfig) -> Demand {
        self.most(model)
    }

    fn measure_on(&mut self, set: EvalSet) {
        self.eval.set = set;
    }

    fn eval_seed(&self) -> u64 {
        self.tasks.eval_seed
    }

    fn told(&self) -> Vec<String> {
        self.lines()
    }

    fn open(&self, workers: Workers) -> Result<(Referee, InPlay), Failure> {
        let referee = Referee::open(workers)?;
        let held_out = tasks::set(self.eval.set, &self.tasks, &self.eval, &self.game, &self.gate, &referee)?;
        let game = AbsoluteZero::new(self.game.clone()).or_fail(ExitCode::Input)?;
        Ok((referee, InPlay { setup: self.clone(), game, held_out }))
    }
}

impl Play for InPlay {
    type State = GameState;
    type Record = RecordLine;
    type Metrics = StepMetrics;
    type Held = EvalTable;

    fn begin(&self, arena: &Arena<'_>) -> Result<GameState, PlayError> {
        begin::state(self, arena)
    }

    fn step(
        &self,
        arena: &Arena<'_>,
        state: &mut GameState,
        step: u64,
    ) -> Result<Played<StepMetrics, RecordLine>, PlayError> {
        let (proposer_turns, proposals) = propose::propose(self, arena, state, step)?;
        let (turns, answers) = solve::solve(self, arena, state, step, &proposals)?;
        let scored = self.game.score(state, arena.seed, step, &proposals, &turns, &answers);
        let batch = self.game.train_batch(state, arena.seed, step, &scored, &proposals, &answers);
        let asked =
            records::Asked { proposer_turns: &proposer_turns, proposals: &proposals, turns: &turns, answers: &answers };
        let records = records::lines(step, &asked, &scored);
        let lessons = if batch.samples.is_empty() { Vec::new() } else { vec![Lesson::Samples(batch)] };
        Ok(Played { lessons, records, counts: counts(&proposals, &answers), metrics: scored.metrics })
    }

    fn measure(&self, arena: &Arena<'_>) -> Result<EvalTable, PlayError> {
        measure(arena, &self.game, &self.held_out, &self.setup.eval)
    }

    fn judge_again(&self, execute: &dyn Execute, records: &[RecordLine]) -> Result<Again, PlayError> {
        again::judge_again(&self.setup, execute, records)
    }

    fn examples(&self, _execute: &dyn Execute) -> Result<Vec<Example>, PlayError> {
        let of_type = |task_type| self.held_out.iter().filter(move |task| task.question.task_type() == task_type);
        let format = self.game.format();
        let example = |task_type: TaskType| {
            let references = of_type(task_type).take(self.setup.game.references).collect();
            let given = of_type(TaskType::Deduction).next().filter(|_| task_type == TaskType::Induction);
            let given = given.map(|task| task.question.program());
            let request = ProposerRequest { task_type, references, given, inputs: self.setup.game.induction_inputs() };
            let proposer =
                Example { what: format!("proposer, {}", task_type.name()), prompt: format.proposer_prompt(&request) };
            let solver = of_type(task_type).next().map(|task| Example {
                what: format!("solver, {}", task_type.name()),
                prompt: format.solver_prompt(task),
            });
            std::iter::once(proposer).chain(solver)
        };
        Ok(TaskType::ALL.into_iter().flat_map(example).collect())
    }
}

fn counts(proposals: &[ProposalRecord], answers: &[SolverRecord]) -> Counts {
    let mut counts = Counts::default();
    for record in proposals {
        match &record.judged {
            Ok(judged) => {
                counts.proposals += 1;
                counts.valid_proposals += u64::from(judged.verdict.status == Status::Valid);
            }
            Err(_) => counts.dropped += 1,
        }
    }
    for record in answers {
        match &record.judged {
            Ok(verdict) => {
                counts.attempts += 1;
                counts.accepted += u64::from(verdict.status == Status::Accepted);
            }
            Err(_) => counts.dropped += 1,
        }
    }
    counts
}
