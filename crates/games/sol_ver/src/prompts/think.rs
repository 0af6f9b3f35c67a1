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
use veriplay_selfplay::prompt_frames::{ANSWER_END, answered, block, framed};
use veriplay_verifier::agreement::{SuiteTest, TestSuite};

use super::{AnsweredProblem, SolVerFormat, case_texts, cases};

pub(super) struct Think;

impl SolVerFormat for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn proposer_content(&self, snippet: &str, _examples: &[&AnsweredProblem]) -> PromptContent {
        framed(&format!(include_str!("think/propose.txt"), snippet = block("python", snippet)))
    }

    fn solver_content(&self, statement: &str, _examples: &[&AnsweredProblem]) -> PromptContent {
        framed(&format!(include_str!("think/solve.txt"), statement = format_args!("{statement}\n")))
    }

    fn verifier_content(
        &self,
        statement: &str,
        candidate: &str,
        tests: usize,
        _examples: &[&AnsweredProblem],
    ) -> PromptContent {
        let program = block("python", candidate);
        framed(&format!(include_str!("think/verify.txt"), tests = tests, statement = statement, program = program))
    }

    fn stop(&self, _role: Role) -> &'static [&'static str] {
        ANSWER_END
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
