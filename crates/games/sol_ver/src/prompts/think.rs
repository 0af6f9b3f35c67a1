//! `think`: words, think and answer tags, and fenced blocks, for models that can read.
//!
//! # Layout
//! A frame that asks for `<think>` and `<answer>`, the request, and the opened `<think>` tag. Blocks are fenced as `problem`,
//! `python`, `input`, `output` and `assert`. In C++ programs are fenced as `cpp`, and the blocks of a test hold standard input and standard output.
//!
//! # Why
//! A pretrained model knows fenced blocks, so it needs no warm-up to be understood.
//!
//! # Example
//! A problem: `…</think>⏎<answer>⏎` then a block fenced as `problem`, then `</answer>`.

use veriplay_core::{CallCase, PromptContent, Role};
use veriplay_selfplay::prompt_frames::{ANSWER_END, answered, block, framed};
use veriplay_verifier::agreement::{SuiteTest, TestSuite, streams_of};

use super::{AnsweredProblem, SolVerFormat, case_texts, cases};

/// The format, for programs in one language.
pub(super) struct Think {
    /// The language's own name, which fences programs.
    label: &'static str,
    /// What prompts call the language, where its programs read and write streams.
    streams: Option<&'static str>,
}

impl Think {
    pub(super) const PYTHON: Self = Self { label: "python", streams: None };
    pub(super) const CPP: Self = Self { label: "cpp", streams: Some("C++20") };

    fn case_blocks(&self, case: &CallCase) -> String {
        match streams_of(case).filter(|_| self.streams.is_some()) {
            Some((input, output)) => block("input", input) + &block("output", output),
            None => {
                let (input, output) = case_texts(case);
                block("input", &input) + &block("output", &output)
            }
        }
    }
}

impl SolVerFormat for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn proposer_content(&self, snippet: &str, _examples: &[&AnsweredProblem]) -> PromptContent {
        let snippet = block(self.label, snippet);
        framed(&match self.streams {
            Some(language) => {
                format!(include_str!("think/streams/propose.txt"), language = language, snippet = snippet)
            }
            None => format!(include_str!("think/propose.txt"), snippet = snippet),
        })
    }

    fn solver_content(&self, statement: &str, _examples: &[&AnsweredProblem]) -> PromptContent {
        let statement = format!("{statement}\n");
        framed(&match self.streams {
            Some(language) => format!(
                include_str!("think/streams/solve.txt"),
                language = language,
                label = self.label,
                statement = statement
            ),
            None => format!(include_str!("think/solve.txt"), statement = statement),
        })
    }

    fn verifier_content(
        &self,
        statement: &str,
        candidate: &str,
        tests: usize,
        _examples: &[&AnsweredProblem],
    ) -> PromptContent {
        let program = block(self.label, candidate);
        framed(&match self.streams {
            Some(language) => format!(
                include_str!("think/streams/verify.txt"),
                language = language,
                tests = tests,
                statement = statement,
                program = program
            ),
            None => format!(include_str!("think/verify.txt"), tests = tests, statement = statement, program = program),
        })
    }

    fn stop(&self, _role: Role) -> &'static [&'static str] {
        ANSWER_END
    }

    fn problem_response(&self, statement: &str) -> String {
        answered("I look for a problem of this kind.", &block("problem", statement))
    }

    fn program_response(&self, program: &str) -> String {
        answered("I write the program step by step.", &block(self.label, program))
    }

    fn suite_response(&self, suite: &TestSuite) -> String {
        let asserts: Vec<&str> = suite.tests.iter().filter_map(SuiteTest::assertion).collect();
        let asserts = if asserts.is_empty() { String::new() } else { block("assert", asserts.join("\n")) };
        answered(
            "I work the results out from the problem.",
            &(cases(suite).map(|case| self.case_blocks(case)).collect::<String>() + &asserts),
        )
    }
}
