//! `ladder` (LADDER, arXiv 2503.00735): easier variants of tasks that no attempt solved, so that solvers climb from what they can do. A script over
//! Absolute Zero.
//!
//! # One step
//! 1. A step of Absolute Zero.
//! 2. Of every task that no attempt solved, easier variants are derived: its program without the last statement, and its input with texts and lists
//!    of half the length. What the gate lets through is attempted.
//! 3. The same of the variants that no attempt solved, up to `ladder.depth` times in all.
//! 4. All attempts are learned from alike, and the variants enter the pool.
//!
//! # Choices
//! The paper has a model write variants of an integral, whose answers are checked numerically, and trains before a test on those of the test. Here a
//! program makes them, execution gives their answers, and nothing is made of what is evaluated on. No policy proposes a variant, so none is rewarded
//! for it. With `ladder.tasks_per_rung = 0` it is Absolute Zero alone: the control.
//!
//! # Invariants
//! Those of Absolute Zero, for variants as for proposals: one with a program that is evaluated on, or that the pool has, is refused. A variant counts
//! as proposed where the task that it is made of does.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_absolute_zero::setup::AbsoluteZeroSetup;
use veriplay_absolute_zero::{AbsoluteZero, Derivation, easier_variants};
use veriplay_console::exit::{Failure, bad_value};
use veriplay_console::progress::counted;
use veriplay_core::Digest;
use veriplay_run::scripted_setup::{ScriptSetup, ScriptedSetup};
use veriplay_selfplay::game::{Game, Script};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::randomness::{generator, weighted_sample};
use veriplay_selfplay::step::Step;
use veriplay_selfplay::task_pool::PoolTask;

/// Its name in configurations: a value of `plays`.
pub const NAME: &str = "ladder";

/// The tables of Absolute Zero, and `[ladder]`.
pub type LadderSetup = ScriptedSetup<LadderTables>;

/// The tables that Absolute Zero does not have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LadderTables {
    /// Its one table, `[ladder]` of the file.
    pub ladder: Ladder,
}

/// How far down a step goes, and how many variants it tries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    /// How often a step derives variants: first of its tasks, then of variants.
    pub depth: usize,
    /// Variants at most, each time: of more, as many are drawn.
    pub tasks_per_rung: usize,
}

impl Script<AbsoluteZero> for Ladder {
    fn step(&self, game: &AbsoluteZero, step: &mut Step<'_, AbsoluteZero>) -> Result<(), PlayError> {
        game.step(step)?;
        let mut first = 0;
        for rung in 1..=self.depth {
            let easier = self.draw_variants(step, first, rung);
            first = step.facts().tasks.len();
            let derived = step.derive(easier);
            let admitted = step.facts().derived[derived].iter().filter_map(|one| one.judged.admitted());
            let made: BTreeSet<Digest> = admitted.map(PoolTask::id).collect();
            let variants = step.draw(|choice| {
                // Proposals that no draw has taken are new, too.
                let fresh = choice.fresh(|task| made.contains(&PoolTask::id(task)));
                choice.take(fresh, self.tasks_per_rung);
            })?;
            let tried = step.solve(variants)?;
            game.imitate_answers(step, &tried)?;
        }
        step.admit();
        Ok(())
    }
}

impl Ladder {
    /// Variants of the step's tasks from number `first` on that no attempt solved.
    fn draw_variants(&self, step: &Step<'_, AbsoluteZero>, first: usize, rung: usize) -> Vec<Derivation> {
        let tasks = step.facts().tasks.iter().zip(step.solve_counts()).skip(first);
        let unsolved = tasks.filter(|(_, count)| count.judged > 0 && count.solved == 0);
        let variants = unsolved.flat_map(|(asked, _)| easier_variants(&asked.task));
        let generator = &mut generator(step.seed(), step.number(), &format!("ladder/rung {rung}"));
        weighted_sample(variants.map(|one| (one, 1.0)).collect(), self.tasks_per_rung, generator)
    }
}

impl ScriptSetup for LadderTables {
    type Base = AbsoluteZeroSetup;
    const NAME: &'static str = NAME;
    const TABLES: &'static [&'static str] = &["game", "gate", "tasks", "eval", "ladder"];

    fn validate(&self, base: &AbsoluteZeroSetup) -> Result<(), Failure> {
        let language = &base.game.own.language;
        if language != "python" {
            return Err(bad_value("game.language", language, "`python`: variants are made of its statements"));
        }
        let Ladder { depth, tasks_per_rung } = self.ladder;
        if !(1..=3).contains(&depth) {
            return Err(bad_value("ladder.depth", &depth, "a whole number from 1 to 3"));
        }
        if tasks_per_rung > 65_536 {
            return Err(bad_value("ladder.tasks_per_rung", &tasks_per_rung, "a whole number from 0 to 65536"));
        }
        Ok(())
    }

    fn more_tokens(&self, base: &AbsoluteZeroSetup, context: usize) -> usize {
        let shared = &base.game.shared;
        self.ladder.depth * self.ladder.tasks_per_rung * (context + shared.group_size * shared.solver_max_tokens)
    }

    fn describe_step(&self, base: &AbsoluteZeroSetup) -> Vec<String> {
        let Ladder { depth, tasks_per_rung } = self.ladder;
        let (times, variants) = (counted(depth, "time"), counted(tasks_per_rung, "easier variant"));
        let attempts = counted(base.game.shared.group_size, "attempt");
        let own = format!("{times}: at most {variants} of tasks that no attempt solved, and {attempts} at each");
        let jobs = depth * tasks_per_rung * (3 + base.game.shared.group_size);
        base.describe_step_with(jobs).into_iter().chain([own]).collect()
    }

    fn script(&self, _base: &AbsoluteZeroSetup) -> Result<Box<dyn Script<AbsoluteZero>>, Failure> {
        Ok(Box::new(self.ladder.clone()))
    }
}

#[cfg(test)]
mod tests {
    use veriplay_absolute_zero::TripletTask;
    use veriplay_console::isolation::Isolation;
    use veriplay_core::{Attempt, Provenance, Question, ScriptedPolicy, ScriptedRequest, TaskType, Value};
    use veriplay_run::builtin_configs;
    use veriplay_run::game_setup::GameSetup;
    use veriplay_run::play_config::PlayConfig;
    use veriplay_selfplay::driver::Output;
    use veriplay_selfplay::game_state::GameState;
    use veriplay_selfplay::play::StepContext;
    use veriplay_selfplay::records::{DerivedRecord, LogRecord};
    use veriplay_selfplay::replay::LogCheck;

    use super::*;

    type State = GameState<TripletTask>;

    /// A proposal of two statements, and its only variant.
    const PROPOSED: &str = "def f(x):\n    x = x + 12345\n    return x * 2";
    const EASIER: &str = "def f(x):\n    return x + 12345";

    /// The quickstart with eight deduction tasks a step, of which one is the step's own.
    fn setup(depth: usize) -> LadderSetup {
        let text = builtin_configs::find(NAME).expect("it is built in").text;
        let mut setup = PlayConfig::<LadderSetup>::parse(text, NAME.as_ref()).expect("it is valid").setup;
        setup.own.ladder.depth = depth;
        let AbsoluteZeroSetup { game, tasks, eval, .. } = &mut setup.base;
        (game.own.task_types, game.own.fresh_fraction) = (vec![TaskType::Deduction], 0.125);
        (game.own.proposals_per_type, game.own.tasks_per_type, game.shared.group_size) = (1, 8, 2);
        // The scripted policy has a token for each letter.
        (game.shared.sft_samples, game.shared.proposer_max_tokens) = (0, 512);
        (tasks.seeds_per_type, tasks.sft_per_type, eval.tasks) = (16, 0, 3);
        setup
    }

    /// Proposes the one program, and knows these answers by the ends of their prompts.
    fn policy(answers: Vec<(String, String)>) -> ScriptedPolicy {
        ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| {
            let prompt = turn.prompt.text();
            if prompt.ends_with("<PD>") {
                return format!("{PROPOSED}<I>3");
            }
            let answer = answers.iter().find(|(asked, _)| prompt.ends_with(asked));
            answer.map_or_else(|| "-98765".to_owned(), |(_, answer)| answer.clone())
        })
    }

    /// The answers to all deduction tasks of a pool, and to the proposal.
    fn answers(state: &State) -> Vec<(String, String)> {
        let known = state.pool.entries().iter().filter_map(|entry| match &entry.task.question {
            Question::Deduction { program, pair } => {
                let asked = format!("{program}<I>{}<O>", Value::arguments_text(&pair.input));
                Some((asked, pair.output.to_string()))
            }
            _ => None,
        });
        known.chain([(format!("{PROPOSED}<I>3<O>"), "24696".to_owned())]).collect()
    }

    /// The first step of a run that goes so deep, with a policy that knows all answers or none, and what it leaves. It is judged again.
    fn play(depth: usize, knows_answers: bool) -> (Output<AbsoluteZero>, State) {
        let (executor, game) = setup(depth).open(Isolation::Thread).expect("the image is there");
        let ignorant = policy(Vec::new());
        let context = StepContext { policy: &ignorant, execute: &executor, seed: 1 };
        let mut state = game.init(&context).expect("seeds");
        let knowing = policy(answers(&state));
        let context = StepContext { policy: if knows_answers { &knowing } else { &ignorant }, ..context };
        let step = game.step(&context, &mut state, 0).expect("a step");
        let again = game.replay(&executor, &step.records).expect("no host fault");
        assert_eq!(again.verdicts, again.same);
        let mut check = LogCheck::default();
        step.records.iter().for_each(|record| check.check(record).expect("it fits"));
        let saved = serde_json::to_string(&state).expect("JSON");
        let mut resumed: State = serde_json::from_str(&saved).expect("a state");
        let [went_on, resumed] = [&mut state.clone(), &mut resumed].map(|state| {
            let step = game.step(&context, state, 1).expect("a step");
            serde_json::to_string(&(step.records, &*state)).expect("JSON")
        });
        assert_eq!(went_on, resumed);
        (step, state)
    }

    fn derived(step: &Output<AbsoluteZero>) -> Vec<&DerivedRecord<Derivation, TripletTask, Attempt>> {
        let derived = step.records.iter().filter_map(|record| match record {
            LogRecord::Derived(record) => Some(&**record),
            _ => None,
        });
        derived.collect()
    }

    #[test]
    fn what_nobody_solves_is_made_easier_again_and_again_and_enters_the_pool() {
        let (step, state) = play(3, false);
        let [one, all] = [derived(&play(1, false).0).len(), derived(&step).len()];
        assert!(one > 0 && all > one, "{one}, {all}");
        let variants: Vec<_> = state.pool.entries().iter().filter(|entry| !entry.seed).collect();
        let of = |program: &str| variants.iter().find(|entry| entry.task.question.program() == program);
        // The proposal has one variant, which is the run's own as it is, and was attempted in vain.
        let easier = of(EASIER).expect("it is valid");
        assert!(easier.is_proposed && easier.last.is_some_and(|last| (last.solved, last.judged) == (0, 2)));
        assert!(of(PROPOSED).is_some_and(|entry| entry.is_proposed));
        let of_seeds: Vec<_> = variants.iter().filter(|entry| !entry.is_proposed).collect();
        assert!(!of_seeds.is_empty() && of_seeds.iter().all(|entry| entry.task.provenance == Provenance::Seed));
    }

    #[test]
    fn nothing_is_made_of_what_is_solved() {
        let (step, state) = play(3, true);
        assert!(step.counts.accepted > 0 && step.counts.accepted == step.counts.attempts, "{:?}", step.counts);
        assert!(derived(&step).is_empty());
        assert!(state.pool.entries().iter().all(|entry| entry.task.question.program() != EASIER));
    }

    #[test]
    fn programs_in_javascript_have_no_variants() {
        let mut setup = setup(1);
        "javascript".clone_into(&mut setup.base.game.own.language);
        let told = setup.own.validate(&setup.base).expect_err("variants are made of Python").to_string();
        assert!(told.contains("`game.language` is `javascript`"), "{told}");
    }

    #[test]
    fn a_depth_that_no_step_has_is_refused() {
        for (depth, is_valid) in [(0, false), (1, true), (3, true), (4, false)] {
            let setup = setup(depth);
            match setup.own.validate(&setup.base) {
                Ok(()) => assert!(is_valid, "{depth}"),
                Err(failure) => assert!(!is_valid && failure.to_string().contains("`ladder.depth`"), "{failure}"),
            }
        }
    }
}
