//! Supervised examples of both roles, in the prompts of the compact format.

use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Deserialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value};
use veriplay_console::progress::{self, counted};
use veriplay_core::{IoPair, Limits, PolicyError, Value};
use veriplay_corpus::{GeneratedProgram, Grammar, ProgramStream, Split};
use veriplay_learner::{Tokenizer, TokenizerError, build_tokenizer};
use veriplay_run::programs::{ProgramFilter, ProgramRunner, execute_on};
use veriplay_run::warmup_examples::{ExampleConfig, Examples, WarmupExamples};
use veriplay_selfplay::randomness::generator;
use veriplay_verifier::bugs::{INJECTORS, mutate_program};

use super::BugRepairSetup;
use crate::prompts::{BUG, CODE, FIX, INJECT, TEST, injection_prompt, repair_prompt};

/// What stands before, between and after a test's arguments and value.
const ASSERT: &str = "assert f(";
const EQUALS: &str = ") == ";

/// Which functions, and which bugs in them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BugRepairData {
    /// Functions drawn; repeats, held-out and dull ones are left out.
    functions: usize,
    /// The mix of families they are drawn from.
    mix: String,
    /// Inputs each is run on; a bug is kept when it changes what comes of one.
    inputs: usize,
    /// Maximum mutants of a function by each operator.
    each: usize,
    operators: Vec<String>,
    /// When a function is worth a bug.
    worth: ProgramFilter,
    limits: Limits,
}

/// How many examples of each kind one optimizer step holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BugRepairBatch {
    repairs: usize,
    /// Functions to put a bug into.
    injections: usize,
    /// Maximum failing tests that a prompt shows.
    lines: usize,
}

/// A function, one with a bug, and the tests that tell.
#[derive(Debug, Clone)]
pub struct BugExample {
    right: String,
    wrong: String,
    failing: Vec<IoPair>,
}

impl WarmupExamples for BugRepairSetup {
    type Data = BugRepairData;
    type Batch = BugRepairBatch;
    type Source = Vec<BugExample>;

    fn tokenizer() -> Result<Tokenizer, TokenizerError> {
        let mut fragments = Grammar::built_in().fragments().to_vec();
        fragments.extend([ASSERT, EQUALS, &format!("\n{ASSERT}")].map(str::to_owned));
        build_tokenizer(&[BUG, TEST, FIX, CODE, INJECT].map(str::to_owned), &fragments)
    }

    fn check_examples(config: &ExampleConfig<BugRepairData, BugRepairBatch>) -> Result<(), Failure> {
        let names: Vec<&str> = INJECTORS.iter().map(|injector| injector.name).collect();
        let operators = &config.data.operators;
        let unknown = operators.iter().find(|name| !names.contains(&name.as_str()));
        if unknown.is_some() || operators.is_empty() {
            let want = format!("a list of some of `{}`", names.join("`, `"));
            return Err(bad_value("data.operators", &unknown.map_or("", String::as_str), &want));
        }
        Ok(())
    }

    fn source(data: &BugRepairData, seed: u64, runner: ProgramRunner<'_>) -> Result<Vec<BugExample>, Failure> {
        let grammar = Grammar::built_in();
        let programs = ProgramStream::new(&grammar, Split::Train, &data.mix, seed).or_fail(ExitCode::Input)?;
        let mut rng = generator(seed, 0, "inputs of functions to put bugs into");
        let mut seen = std::collections::HashSet::new();
        let fresh = programs.take(data.functions).filter(|generated| seen.insert(generated.program.clone()));
        let drawn: Vec<(GeneratedProgram, Vec<Vec<Value>>)> = fresh
            .map(|generated| {
                let inputs = grammar.inputs(&mut rng, generated.input_kind, data.inputs);
                (generated, inputs)
            })
            .collect();
        let bar = progress::bar(drawn.len() as u64, "functions");
        let bugs: Result<Vec<Vec<BugExample>>, Failure> = drawn
            .into_par_iter()
            .map(|(generated, inputs)| {
                bar.inc(1);
                bugs_in(data, seed, &generated.program, inputs, runner)
            })
            .collect();
        bar.finish_and_clear();
        let bugs = bugs?.concat();
        progress::say(counted(bugs.len(), "bug"));
        Ok(bugs)
    }

    fn draw_examples(
        &self,
        config: &ExampleConfig<BugRepairData, BugRepairBatch>,
        source: &Vec<BugExample>,
        rng: &mut ChaCha8Rng,
        examples: &mut Examples<'_>,
    ) -> Result<(), PolicyError> {
        let batch = &config.batch;
        for bug in draw(source, batch.repairs, rng) {
            let tests = tests(bug, batch.lines, rng);
            examples.add(&repair_prompt(&bug.wrong, &tests), &bug.right)?;
        }
        for bug in draw(source, batch.injections, rng) {
            examples.add(&injection_prompt(&bug.right), &bug.wrong)?;
        }
        Ok(())
    }
}

fn draw<'a>(source: &'a [BugExample], count: usize, rng: &mut impl Rng) -> Vec<&'a BugExample> {
    source.choose_multiple(rng, count).collect()
}

/// Up to `lines` of the tests that fail, in any order.
fn tests(bug: &BugExample, lines: usize, rng: &mut impl Rng) -> String {
    let mut failing: Vec<&IoPair> = bug.failing.iter().collect();
    failing.shuffle(rng);
    let line = |pair: &&IoPair| format!("{ASSERT}{}{EQUALS}{}", Value::arguments_text(&pair.input), pair.output);
    failing.iter().take(lines).map(line).collect::<Vec<_>>().join("\n")
}

/// The function's mutants that return other values, or none, for some input.
fn bugs_in(
    data: &BugRepairData,
    seed: u64,
    program: &str,
    inputs: Vec<Vec<Value>>,
    runner: ProgramRunner<'_>,
) -> Result<Vec<BugExample>, Failure> {
    let Some(right) = execute_on(&data.worth, data.limits, program, inputs, runner).or_fail(ExitCode::Host)? else {
        return Ok(Vec::new());
    };
    let made = mutate_program(runner.execute, runner.image, data.limits, program, seed, data.each)?;
    let candidates = made.into_iter().flat_map(|mutants| mutants.candidates);
    let wanted = candidates.filter(|candidate| data.operators.iter().any(|name| name == candidate.injector));
    let anything = ProgramFilter { max_output_chars: usize::MAX, min_distinct_outputs: 0 };
    let mut bugs = Vec::new();
    for wrong in wanted.map(|candidate| candidate.text) {
        let asked = right.iter().map(|pair| pair.input.clone()).collect();
        let returned = execute_on(&anything, data.limits, &wrong, asked, runner).or_fail(ExitCode::Host)?;
        let returned = returned.unwrap_or_default();
        let failing: Vec<IoPair> = right.iter().filter(|pair| !returned.contains(pair)).cloned().collect();
        if !failing.is_empty() {
            bugs.push(BugExample { right: program.to_owned(), wrong, failing });
        }
    }
    Ok(bugs)
}
