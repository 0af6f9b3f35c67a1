//! Snippets and held-out problems, from the generator: programs, and sentences that say what they do.

use std::collections::HashSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veriplay_core::{CallCase, Execute, Limits};
use veriplay_corpus::{Generated, Grammar, Programs, Split};
use veriplay_selfplay::games::sol_ver::HeldProblem;
use veriplay_selfplay::randomness::generator;

use crate::exit::{ExitCode, Failure, OrFail};
use crate::games::EvalSet;
use crate::warmup::{Executed, Worth, execute_on};

/// Where snippets and held-out problems come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskConfig {
    /// The mix of families that snippets are drawn from, as the grammar names it.
    pub(super) snippet_mix: String,
    /// Snippets, all different.
    pub(super) snippets: usize,
    /// Seeds them: the same for every run.
    pub(super) snippet_seed: u64,
    /// The mix of families of the held-out and validation problems.
    pub(super) eval_mix: String,
    /// Seeds these problems, and the samples that measure: the same for every run.
    pub(super) eval_seed: u64,
    /// Hidden cases of a held-out problem at most; repeated inputs are left out.
    pub(super) hidden: usize,
    /// When a generated program is worth a problem.
    pub(super) worth: Worth,
}

/// How the held-out set is measured. How often each problem is sampled says `game.held_samples`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EvalConfig {
    /// `held_out` for claims, `validation` for tuning.
    pub(super) set: EvalSet,
    /// Problems.
    pub(super) problems: usize,
}

/// Programs executed together.
const BLOCK: usize = 128;

/// The pool that proposers start from.
pub(super) fn snippets(tasks: &TaskConfig) -> Result<Vec<String>, Failure> {
    let grammar = Grammar::embedded_tiny();
    let programs = Programs::new(&grammar, Split::Train, &tasks.snippet_mix, tasks.snippet_seed);
    let mut seen = HashSet::new();
    let fresh = programs.or_fail(ExitCode::Input)?.map(|generated| generated.program);
    // A small mix repeats itself for ever: so many draws find what there is.
    let snippets = fresh.take(50 * tasks.snippets).filter(|program| seen.insert(program.clone()));
    let snippets: Vec<String> = snippets.take(tasks.snippets).collect();
    enough(snippets.len(), tasks.snippets, "snippets").map(|()| snippets)
}

/// Problems whose answer is known, from programs that no snippet is among.
pub(super) fn held_out(
    tasks: &TaskConfig,
    eval: &EvalConfig,
    limits: Limits,
    execute: &dyn Execute,
) -> Result<Vec<HeldProblem>, Failure> {
    let grammar = Grammar::embedded_tiny();
    let split = match eval.set {
        EvalSet::HeldOut => Split::HeldOut,
        EvalSet::Validation => Split::Validation,
    };
    let mut programs = Programs::new(&grammar, split, &tasks.eval_mix, tasks.eval_seed).or_fail(ExitCode::Input)?;
    let mut words = generator(tasks.eval_seed, 0, "words of held-out problems");
    let (mut problems, mut seen) = (Vec::new(), HashSet::new());
    for _ in 0..=eval.problems {
        let block: Vec<Generated> = programs.by_ref().take(BLOCK).collect();
        let mut asked = generator(tasks.eval_seed, problems.len() as u64, "inputs of held-out problems");
        let inputs = block.iter().map(|program| grammar.inputs(&mut asked, program.input_kind, tasks.hidden));
        let inputs: Vec<_> = inputs.collect();
        let executed: Result<Vec<Option<Executed>>, _> = block
            .par_iter()
            .zip(inputs)
            .map(|(program, inputs)| execute_on(&tasks.worth, limits, program, inputs, execute))
            .collect();
        for executed in executed.or_fail(ExitCode::Host)?.into_iter().flatten() {
            let text = grammar.describe(&executed.program, executed.kind, &mut words);
            problems.extend(text.filter(|text| seen.insert(text.clone())).map(|text| problem(text, executed)));
        }
        if problems.len() >= eval.problems || block.is_empty() {
            break;
        }
    }
    problems.truncate(eval.problems);
    enough(problems.len(), eval.problems, "held-out problems").map(|()| problems)
}

fn problem(text: String, executed: Executed) -> HeldProblem {
    let case = |pair: veriplay_core::IoPair| CallCase { input: pair.input, expected: pair.output };
    HeldProblem { text, hidden: executed.pairs.into_iter().map(case).collect(), reference: executed.program }
}

fn enough(found: usize, wanted: usize, what: &str) -> Result<(), Failure> {
    if found == wanted {
        return Ok(());
    }
    let what = format!("the generator gave only {found} of {wanted} {what}");
    Err(Failure::message(ExitCode::Input, what).hint("ask for fewer in `[tasks]` and `[eval]`, or name a larger mix"))
}
