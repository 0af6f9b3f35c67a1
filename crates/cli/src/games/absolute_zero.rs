//! `absolute_zero`: its configuration, and its tasks from the corpus.

mod config;
mod teach;

use std::sync::LazyLock;

use veriplay_core::{Execute, Task, TaskType};
use veriplay_corpus::{Drafts, Grammar, Split};
use veriplay_learner::ModelConfig;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::games::absolute_zero::{self, AbsoluteZero, TaskSource, draft_tasks};
use veriplay_selfplay::splits::Guard;

use super::{Demand, EvalSet, Setup};
use crate::config::LearnConfig;
use crate::executor::Referee;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::workers::Workers;

pub(crate) use config::AbsoluteZeroSetup;

impl Setup for AbsoluteZeroSetup {
    type Game = AbsoluteZero;
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

    fn open(&self, workers: Workers) -> Result<(Referee, SelfPlay<AbsoluteZero>), Failure> {
        let referee = Referee::open(workers)?;
        let (mut guard, mut evaluation) = (Guard::default(), Vec::new());
        for set in EvalSet::ALL {
            let tasks = self.evaluation_tasks(set, &referee)?;
            for (number, task) in tasks.iter().enumerate() {
                guard.measure_program(set.measured(), &format!("task {number}"), task.question.program());
            }
            if set == self.eval.set {
                evaluation = tasks;
            }
        }
        // Checked here, so that drawing them cannot fail.
        self.drafts(Split::Train, &self.tasks.seed_mix, TaskType::Deduction, 0)?;
        let source = self.source(evaluation);
        let game = AbsoluteZero::new(self.game.clone(), source, guard).or_fail(ExitCode::Input)?;
        Ok((referee, SelfPlay::new(game)))
    }
}

/// Tasks are drawn from it for as long as the process lives.
static GRAMMAR: LazyLock<Grammar> = LazyLock::new(Grammar::embedded_tiny);

impl AbsoluteZeroSetup {
    /// One of the two sets: the same for every run, whatever its seed.
    fn evaluation_tasks(&self, set: EvalSet, execute: &dyn Execute) -> Result<Vec<Task>, Failure> {
        let mut all = Vec::new();
        for task_type in TaskType::ALL {
            let drafts = self.drafts(set.into(), &self.tasks.eval_mix, task_type, self.tasks.eval_seed)?;
            all.extend(draft_tasks(execute, &self.gate, Box::new(drafts), self.eval.tasks_per_type)?);
        }
        Ok(all)
    }

    fn source(&self, evaluation: Vec<Task>) -> TaskSource {
        let setup = self.clone();
        TaskSource {
            gate: self.gate.clone(),
            seed_drafts: Box::new(move |task_type, seed| {
                let drafts = setup.drafts(Split::Train, &setup.tasks.seed_mix, task_type, seed);
                Box::new(drafts.into_iter().flatten())
            }),
            seeds_per_type: self.tasks.seeds_per_type,
            sft_per_type: self.tasks.sft_per_type,
            evaluation,
        }
    }

    fn drafts(&self, split: Split, mix: &str, task_type: TaskType, seed: u64) -> Result<Drafts<'static>, Failure> {
        let inputs = self.game.own.induction_inputs();
        Drafts::new(&GRAMMAR, split, mix, seed, task_type, inputs).or_fail(ExitCode::Input)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use veriplay_core::{Question, Scripted, Turn, Value, program_hash};
    use veriplay_selfplay::environment::Environment;
    use veriplay_selfplay::play::StepContext;
    use veriplay_selfplay::splits::{HELD_OUT, MeasuredSet};
    use veriplay_selfplay::step::LogRecord;
    use veriplay_verifier::formats::compact::{INPUT, PROPOSE_ABDUCTION, PROPOSE_DEDUCTION};

    use super::*;
    use crate::config::PlayConfig;
    use crate::embedded;

    fn small() -> AbsoluteZeroSetup {
        let config = PlayConfig::<AbsoluteZeroSetup>::parse(embedded::QUICKSTART, "quickstart".as_ref());
        let mut setup = config.expect("it is valid").setup;
        (setup.eval.tasks_per_type, setup.tasks.seeds_per_type, setup.tasks.sft_per_type) = (3, 4, 2);
        (setup.game.own.proposals_per_type, setup.game.own.tasks_per_type, setup.game.shared.group_size) = (2, 2, 2);
        // The scripted policy has a token for each letter.
        setup.game.shared.proposer_max_tokens = 512;
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

    /// The game whose evaluation has this program, too.
    fn measuring(program: &str) -> SelfPlay<AbsoluteZero> {
        let setup = small();
        let mut guard = Guard::default();
        guard.measure_program(MeasuredSet::Validation, "task 9", program);
        SelfPlay::new(AbsoluteZero::new(setup.game.clone(), setup.source(Vec::new()), guard).expect("it is valid"))
    }

    #[test]
    fn a_proposal_with_a_measured_program_is_refused_and_counted_and_another_is_admitted() {
        let (referee, played) = small().open(Workers::Thread).expect("the image is there");
        let measured = played.game.evaluation_tasks()[0].task.clone();
        let policy = policy(&measured);
        let context = StepContext { policy: &policy, execute: &referee, seed: 1 };
        let mut state = played.init(&context).expect("nothing of the seeds is measured");
        let told = |tokens: &[u32]| tokens.iter().filter_map(|token| char::from_u32(*token)).collect::<String>();
        let anchors: Vec<String> = state.sft_examples.iter().map(|anchor| told(&anchor.tokens)).collect();
        assert!(anchors.iter().any(|text| text.contains("12345")), "{anchors:?}");
        assert!(!anchors.iter().any(|text| text.contains("# mine")), "a measured program is imitated: {anchors:?}");
        let step = played.step(&context, &mut state, 0).expect("a step");
        let mut rules: HashMap<&str, usize> = HashMap::new();
        for record in &step.records {
            if let LogRecord::Proposal(record) = record {
                let verdict = record.judged.verdict.as_ref().expect("no host fault");
                *rules.entry(verdict.evidence.rule.as_str()).or_default() += 1;
            }
        }
        assert_eq!(rules.get(HELD_OUT), Some(&2), "one of each type with a program: {rules:?}");
        assert_eq!(step.counts.proposals_in_held_out, 2);
        assert_eq!(step.counts.valid_proposals, 2, "{rules:?}");
        let measured = program_hash(measured.question.program());
        for task_type in TaskType::ALL {
            let programs = || state.pool.of_kind(task_type.name()).map(|entry| entry.task.question.program());
            assert!(programs().all(|program| program_hash(program) != measured));
            let own = programs().any(|program| program.contains("12345"));
            assert_eq!(own, task_type != TaskType::Induction, "{task_type:?}");
        }
        let again = played.replay(&referee, &step.records).expect("no host fault");
        assert_eq!(again.verdicts, again.same);
        let seed = state.pool.entries()[0].task.question.program().to_owned();
        let error = measuring(&seed).init(&context).expect_err("a seed is measured").to_string();
        assert!(
            error.starts_with("seed 0 of type `deduction` of `tasks.seed_mix`") && error.contains("task 9"),
            "{error}"
        );
    }
}
