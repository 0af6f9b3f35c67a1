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
use veriplay_selfplay::splits::{self, Guard};

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
        let (mut guard, mut held_out) = (Guard::default(), Vec::new());
        for set in EvalSet::ALL {
            let tasks = tasks::set(set, &self.tasks, &self.eval, &self.game, &self.gate, &referee)?;
            for (number, task) in tasks.iter().enumerate() {
                guard.measure_program(set.measured(), &format!("task {number}"), task.question.program());
            }
            if set == self.eval.set {
                held_out = tasks;
            }
        }
        let game = AbsoluteZero::new(self.game.clone(), guard).or_fail(ExitCode::Input)?;
        Ok((referee, InPlay { setup: self.clone(), game, held_out }))
    }
}

impl Play for InPlay {
    type State = GameState;
    type Record = RecordLine;
    type Metrics = StepMetrics;
    type Held = EvalTable;

    fn guard(&self) -> &Guard {
        self.game.guard()
    }

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
        again::judge_again(self, execute, records)
    }

    /// On seeds: what is measured is no part of a prompt of play.
    fn examples(&self, execute: &dyn Execute) -> Result<Vec<Example>, PlayError> {
        let count = self.setup.game.references.max(1);
        let seeds: Vec<Task> = begin::seeds(&self.setup, 0, count, execute)?.concat();
        let of_type = |task_type| seeds.iter().filter(move |task| task.question.task_type() == task_type);
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
                counts.proposals_in_held_out += u64::from(splits::is_refusal(&judged.verdict));
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use veriplay_core::{Question, Scripted, Turn, Value, program_hash};
    use veriplay_selfplay::splits::HELD_OUT;
    use veriplay_verifier::formats::compact::{INPUT, PROPOSE_ABDUCTION, PROPOSE_DEDUCTION};

    use super::*;
    use crate::config::PlayConfig;
    use crate::embedded;

    fn small() -> AbsoluteZeroSetup {
        let config = PlayConfig::<AbsoluteZeroSetup>::parse(embedded::QUICKSTART, "quickstart".as_ref());
        let mut setup = config.expect("it is valid").setup;
        (setup.eval.tasks_per_type, setup.tasks.seeds_per_type, setup.tasks.anchors_per_type) = (3, 4, 2);
        (setup.game.proposals_per_type, setup.game.tasks_per_type, setup.game.group) = (2, 2, 2);
        // The scripted policy has a token for each letter.
        setup.game.proposer_max_tokens = 512;
        setup
    }

    /// Of each pair of proposals one has a measured program in another layout, and one a program of nobody's.
    fn policy(task: &Task) -> Scripted {
        let (program, input) = match &task.question {
            Question::Deduction { program, pair } => (program.replacen(":\n", ":  # mine\n\n", 1), pair.input.clone()),
            other => panic!("{other:?}"),
        };
        let measured = format!("{program}{INPUT}{}", Value::arguments_text(&input));
        let own = format!("def f(x):\n    return x + 12345{INPUT}3");
        Scripted::new(move |turn: &Turn<'_>| {
            // References stand before it.
            let proposes = [PROPOSE_DEDUCTION, PROPOSE_ABDUCTION].iter().any(|token| turn.prompt.text.ends_with(token));
            match (proposes, turn.sample % 2) {
                (true, 0) => measured.clone(),
                (true, _) => own.clone(),
                _ => "1".to_owned(),
            }
        })
    }

    #[test]
    fn a_proposal_with_a_measured_program_is_refused_and_counted_and_another_is_admitted() {
        let (referee, played) = small().open(Workers::Thread).expect("the image is there");
        let policy = policy(&played.held_out[0]);
        let arena = Arena { policy: &policy, execute: &referee, seed: 1 };
        let mut state = played.begin(&arena).expect("nothing of the seeds is measured");
        let told = |tokens: &[u32]| tokens.iter().filter_map(|token| char::from_u32(*token)).collect::<String>();
        let anchors: Vec<String> = state.anchors().iter().map(|anchor| told(&anchor.tokens)).collect();
        assert!(anchors.iter().any(|text| text.contains("12345")), "{anchors:?}");
        assert!(!anchors.iter().any(|text| text.contains("# mine")), "a measured program is imitated: {anchors:?}");
        let step = played.step(&arena, &mut state, 0).expect("a step");
        let mut rules: HashMap<&str, usize> = HashMap::new();
        for record in &step.records {
            if let RecordLine::Proposer(record) = record {
                let verdict = &record.judged.as_ref().expect("no host fault").verdict;
                *rules.entry(verdict.evidence.rule.as_str()).or_default() += 1;
            }
        }
        assert_eq!(rules.get(HELD_OUT), Some(&2), "one of each type with a program: {rules:?}");
        assert_eq!(step.counts.proposals_in_held_out, 2);
        assert_eq!(step.counts.valid_proposals, 2, "{rules:?}");
        let measured = program_hash(played.held_out[0].question.program());
        for task_type in TaskType::ALL {
            let programs = || state.buffer(task_type).entries().iter().map(|entry| entry.task.question.program());
            assert!(programs().all(|program| program_hash(program) != measured));
            let own = programs().any(|program| program.contains("12345"));
            assert_eq!(own, task_type != TaskType::Induction, "{task_type:?}");
        }
        let again = played.judge_again(&referee, &step.records).expect("no host fault");
        assert_eq!(again.verdicts, again.same);
        let mut guard = played.guard().clone();
        let seed = state.buffer(TaskType::Deduction).entries()[0].task.question.program().to_owned();
        guard.measure_program(splits::MeasuredSet::Validation, "task 9", &seed);
        let game = AbsoluteZero::new(played.setup.game.clone(), guard).expect("it is valid");
        let error = InPlay { game, ..played }.begin(&arena).expect_err("a seed is measured").to_string();
        assert!(
            error.starts_with("seed 0 of type `deduction` of `tasks.seed_mix`") && error.contains("task 9"),
            "{error}"
        );
    }
}
