//! Examples of all three roles: what warm-up teaches, in the very prompts the game uses.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use veriplay_core::{CallCase, Execute, Sample};
use veriplay_corpus::Grammar;
use veriplay_learner::{Tokenizer, TokenizerError, build_tokenizer};
use veriplay_selfplay::games::sol_ver::prompts::{SolVerFormat, by_name};
use veriplay_verifier::agreement::{SuiteTest, TestSuite, compact};

use super::SolVerSetup;
use crate::exit::Failure;
use crate::games::examples::{Teach, example};
use crate::programs::{DataConfig, Executed, Pools};

/// `[data]` and `[batch]` of a recipe.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Lessons {
    /// Which programs.
    data: DataConfig,
    /// What a batch holds.
    batch: BatchPlan,
}

/// How many examples of each kind one optimizer step holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchPlan {
    /// Programs to be put in words.
    problems: usize,
    /// Sentences to be answered by a program.
    codes: usize,
    /// Sentences with a program, to be tested; each has `suites` suites behind one shared prompt.
    programs: usize,
    /// Suites behind one prompt.
    suites: usize,
    /// Tests of a suite.
    tests: usize,
    /// How often the program that is shown is another than the one that is right: tests follow the sentence.
    wrong_candidates: f64,
}

impl Teach for SolVerSetup {
    type Lessons = Lessons;
    const LESSON_TABLES: &'static [&'static str] = &["data", "batch"];
    type Material = Pools;

    fn tokenizer() -> Result<Tokenizer, TokenizerError> {
        let grammar = Grammar::built_in();
        let own =
            [compact::SNIPPET, compact::PROBLEM, compact::TESTS, compact::PROGRAM, compact::INPUT, compact::OUTPUT];
        let mut fragments = grammar.fragments().to_vec();
        let new: Vec<String> = grammar.phrases().into_iter().filter(|phrase| !fragments.contains(phrase)).collect();
        fragments.extend(new);
        build_tokenizer(&own.map(str::to_owned), &fragments)
    }

    fn material(lessons: &Lessons, seed: u64, execute: &dyn Execute) -> Result<Pools, Failure> {
        Pools::build(&lessons.data, &Grammar::built_in(), seed, execute)
    }

    fn examples(
        lessons: &Lessons,
        material: &Pools,
        tokenizer: &Tokenizer,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<Sample>, TokenizerError> {
        let grammar = Grammar::built_in();
        let mut teacher = Teacher { plan: &lessons.batch, grammar, tokenizer, format: format(), samples: Vec::new() };
        for _ in 0..lessons.batch.problems {
            teacher.problem(material.draw(rng, &lessons.data.proposer_mix), rng)?;
        }
        for _ in 0..lessons.batch.codes {
            teacher.code(material.draw(rng, &lessons.data.solver_mix), rng)?;
        }
        for _ in 0..lessons.batch.programs {
            let (right, other) =
                (material.draw(rng, &lessons.data.solver_mix), material.draw(rng, &lessons.data.solver_mix));
            teacher.suites(right, other, rng)?;
        }
        Ok(teacher.samples)
    }
}

fn format() -> &'static dyn SolVerFormat {
    by_name("compact").expect("the compact format is registered")
}

struct Teacher<'a> {
    plan: &'a BatchPlan,
    grammar: Grammar,
    tokenizer: &'a Tokenizer,
    format: &'static dyn SolVerFormat,
    samples: Vec<Sample>,
}

impl Teacher<'_> {
    fn say(&self, executed: &Executed, rng: &mut ChaCha8Rng) -> String {
        let text = self.grammar.describe(&executed.program, executed.kind, rng);
        text.expect("a test holds that everything generated can be described")
    }

    fn problem(&mut self, executed: &Executed, rng: &mut ChaCha8Rng) -> Result<(), TokenizerError> {
        let response = self.format.problem_response(&self.say(executed, rng));
        self.teach(&self.format.proposer_text(&executed.program), &response)
    }

    fn code(&mut self, executed: &Executed, rng: &mut ChaCha8Rng) -> Result<(), TokenizerError> {
        let prompt = self.format.solver_text(&self.say(executed, rng));
        self.teach(&prompt, &self.format.program_response(&executed.program))
    }

    fn suites(&mut self, right: &Executed, other: &Executed, rng: &mut ChaCha8Rng) -> Result<(), TokenizerError> {
        let shown = if rng.random_bool(self.plan.wrong_candidates) { other } else { right };
        let prompt = self.format.verifier_text(&self.say(right, rng), &shown.program, self.plan.tests);
        for _ in 0..self.plan.suites {
            let pairs = right.pairs.choose_multiple(rng, self.plan.tests);
            let tests = pairs.map(|pair| CallCase { input: pair.input.clone(), expected: pair.output.clone() });
            let suite = TestSuite { tests: tests.map(SuiteTest::Case).collect() };
            self.teach(&prompt, &self.format.suite_response(&suite))?;
        }
        Ok(())
    }

    fn teach(&mut self, prompt: &str, response: &str) -> Result<(), TokenizerError> {
        let prompt = self.tokenizer.encode(prompt)?;
        self.samples.push(example(self.tokenizer, &prompt, "", response)?);
        Ok(())
    }
}
