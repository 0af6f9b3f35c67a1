//! Supervised examples of all three roles, in the prompts of the compact format.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use veriplay_console::exit::{Failure, bad_value};
use veriplay_core::{CallCase, PolicyError};
use veriplay_corpus::Grammar;
use veriplay_learner::{Tokenizer, TokenizerError, build_tokenizer};
use veriplay_run::programs::{DataConfig, ExecutedProgram, ProgramPools, ProgramRunner};
use veriplay_run::warmup_examples::{ExampleConfig, Examples, WarmupExamples};
use veriplay_verifier::agreement::{SuiteTest, TestSuite, compact};

use super::SolVerSetup;
use crate::prompts::by_name;

/// How many examples of each kind one optimizer step holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolVerBatch {
    /// Programs to be put in words.
    problems: usize,
    /// Sentences to be answered by a program.
    codes: usize,
    /// Sentences with a program, to be tested; each has `suites` suites behind one shared prompt.
    programs: usize,
    suites: usize,
    tests: usize,
    /// How often the program that is shown is another than the one that is right: tests follow the sentence.
    wrong_candidates: f64,
}

impl WarmupExamples for SolVerSetup {
    type Data = DataConfig;
    type Batch = SolVerBatch;
    type Source = ProgramPools;

    fn tokenizer() -> Result<Tokenizer, TokenizerError> {
        let grammar = Grammar::built_in();
        let own =
            [compact::SNIPPET, compact::PROBLEM, compact::TESTS, compact::PROGRAM, compact::INPUT, compact::OUTPUT];
        let mut fragments = grammar.fragments().to_vec();
        let new: Vec<String> = grammar.phrases().into_iter().filter(|phrase| !fragments.contains(phrase)).collect();
        fragments.extend(new);
        build_tokenizer(&own.map(str::to_owned), &fragments)
    }

    fn check_examples(config: &ExampleConfig<DataConfig, SolVerBatch>) -> Result<(), Failure> {
        let wrong = config.batch.wrong_candidates;
        if !(0.0..=1.0).contains(&wrong) {
            return Err(bad_value("batch.wrong_candidates", &wrong, "from 0 to 1"));
        }
        config.data.check()
    }

    fn source(data: &DataConfig, seed: u64, runner: ProgramRunner<'_>) -> Result<ProgramPools, Failure> {
        ProgramPools::build(data, &Grammar::built_in(), seed, runner)
    }

    fn draw_examples(
        &self,
        config: &ExampleConfig<DataConfig, SolVerBatch>,
        source: &ProgramPools,
        rng: &mut ChaCha8Rng,
        examples: &mut Examples<'_>,
    ) -> Result<(), PolicyError> {
        let ExampleConfig { data, batch } = config;
        let (grammar, format) = (Grammar::built_in(), by_name("compact").expect("the compact format is registered"));
        for _ in 0..batch.problems {
            let executed = source.draw(rng, &data.proposer_mix);
            let response = format.problem_response(&describe(&grammar, executed, rng));
            examples.add(&format.proposer_content(&executed.program, &[]).to_string(), &response)?;
        }
        for _ in 0..batch.codes {
            let executed = source.draw(rng, &data.solver_mix);
            let prompt = format.solver_content(&describe(&grammar, executed, rng), &[]).to_string();
            examples.add(&prompt, &format.program_response(&executed.program))?;
        }
        for _ in 0..batch.programs {
            let (right, other) = (source.draw(rng, &data.solver_mix), source.draw(rng, &data.solver_mix));
            let shown = if rng.random_bool(batch.wrong_candidates) { other } else { right };
            let prompt =
                format.verifier_content(&describe(&grammar, right, rng), &shown.program, batch.tests, &[]).to_string();
            for _ in 0..batch.suites {
                examples.add(&prompt, &format.suite_response(&draw_suite(right, batch.tests, rng)))?;
            }
        }
        Ok(())
    }
}

fn describe(grammar: &Grammar, executed: &ExecutedProgram, rng: &mut ChaCha8Rng) -> String {
    let text = grammar.describe(&executed.program, executed.kind, rng);
    text.expect("a test holds that everything generated can be described")
}

fn draw_suite(executed: &ExecutedProgram, tests: usize, rng: &mut ChaCha8Rng) -> TestSuite {
    let pairs = executed.pairs.choose_multiple(rng, tests);
    let tests = pairs.map(|pair| CallCase::new(pair.input.clone(), pair.output.clone()));
    TestSuite { tests: tests.map(SuiteTest::Case).collect() }
}
