//! `think`: words, think and answer tags, and fenced blocks, for models that can read.
//!
//! # Layout
//! A frame that asks for `<think>` and `<answer>`, the request, and the opened `<think>` tag. Blocks are fenced as `problem`,
//! `python`, `input`, `output` and `assert`.
//!
//! # Why
//! A pretrained model knows fenced blocks, so it needs no warm-up to be understood.
//!
//! # Example
//! A problem: `…</think>⏎<answer>⏎` then a block fenced as `problem`, then `</answer>`.

use veriplay_core::{PromptContent, Role};
use veriplay_selfplay::think_answer::{STOP, answered, block, framed};
use veriplay_verifier::agreement::{SuiteTest, TestSuite};

use super::{AnsweredProblem, SolVerFormat, case_texts, cases};

pub(super) struct Think;

const PROPOSE: &str = "Below is a piece of code. Let it inspire a programming problem: self-contained, in words, with one right \
result for every input. Whoever solves it writes a Python function `f` and sees nothing but your text, so say what the arguments \
are, of which types, and what `f` returns, for odd cases too. Do not quote code. Arguments and results are plain values: None, \
bool, int, float, str, bytes, list, tuple, set, dict. Answer with one block fenced as `problem`.";

const SOLVE: &str = "Write a Python program that solves the problem. Its entry is a function named `f`. It is deterministic and \
ends quickly: no randomness, no clock, no files, no network, no input, no printing. Answer with one block fenced as `python`.";

impl SolVerFormat for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn proposer_content(&self, snippet: &str, _examples: &[&AnsweredProblem]) -> PromptContent {
        framed(&format!("{PROPOSE}\n\nCode:\n{}", block("python", snippet)))
    }

    fn solver_content(&self, statement: &str, _examples: &[&AnsweredProblem]) -> PromptContent {
        framed(&format!("{SOLVE}\n\nProblem:\n{statement}\n"))
    }

    fn verifier_content(
        &self,
        statement: &str,
        candidate: &str,
        tests: usize,
        _examples: &[&AnsweredProblem],
    ) -> PromptContent {
        framed(&format!(
            "Below are a problem and a program that may or may not solve it. Write {tests} tests that every right program passes \
and wrong ones fail: work each result out from the problem, not from the program. A test is a block fenced as `input` with the \
arguments of `f` as Python literals, separated by commas, strings in quotes, and behind it a block fenced as `output` with what `f` \
returns. Where a result cannot be written down, a block fenced as `assert` may hold lines such as `assert f(2) > 0`. Choose inputs \
that differ, and odd ones among them.\n\nProblem:\n{statement}\n\nProgram:\n{}",
            block("python", candidate)
        ))
    }

    fn stop(&self, _role: Role) -> &'static [&'static str] {
        STOP
    }

    fn problem_response(&self, statement: &str) -> String {
        answered("I look for a problem of this kind.", &block("problem", statement))
    }

    fn program_response(&self, program: &str) -> String {
        answered("I write the program step by step.", &block("python", program))
    }

    fn suite_response(&self, suite: &TestSuite) -> String {
        let text = |case| {
            let (input, output) = case_texts(case);
            block("input", &input) + &block("output", &output)
        };
        let asserts: Vec<&str> = suite.tests.iter().filter_map(SuiteTest::assertion).collect();
        let asserts = if asserts.is_empty() { String::new() } else { block("assert", asserts.join("\n")) };
        answered("I work the results out from the problem.", &(cases(suite).map(text).collect::<String>() + &asserts))
    }
}
