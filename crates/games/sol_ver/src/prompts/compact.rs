//! `compact`: control tokens instead of words, for models that are trained from nothing.
//!
//! # Layout
//! Proposer `<SNIPPET>program<PROBLEM>`, solver `<PROBLEM>text<P>`, verifier `<PROBLEM>text<P>program<TESTS>`. Responses are the
//! bare text of a problem, a bare program, and `<I>arguments<O>output` for each test.
//!
//! # Why
//! A prompt is some 30 tokens instead of hundreds.
//!
//! # Example
//! `<PROBLEM>reverse x, then add 3 to each<P>` is answered by a program.

use veriplay_verifier::agreement::TestSuite;
use veriplay_verifier::agreement::compact::{INPUT, OUTPUT, PROBLEM, PROGRAM, SNIPPET, TESTS};

use veriplay_core::PromptContent;

use super::{AnsweredProblem, SolVerFormat, case_texts, cases};

pub(super) struct Compact;

impl SolVerFormat for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn proposer_content(&self, snippet: &str, _examples: &[&AnsweredProblem]) -> PromptContent {
        format!("{SNIPPET}{snippet}{PROBLEM}").into()
    }

    fn solver_content(&self, statement: &str, _examples: &[&AnsweredProblem]) -> PromptContent {
        format!("{PROBLEM}{statement}{PROGRAM}").into()
    }

    fn verifier_content(
        &self,
        statement: &str,
        candidate: &str,
        _tests: usize,
        _examples: &[&AnsweredProblem],
    ) -> PromptContent {
        format!("{PROBLEM}{statement}{PROGRAM}{candidate}{TESTS}").into()
    }

    fn problem_response(&self, statement: &str) -> String {
        statement.to_owned()
    }

    fn program_response(&self, program: &str) -> String {
        program.to_owned()
    }

    fn suite_response(&self, suite: &TestSuite) -> String {
        let text = |case| {
            let (input, output) = case_texts(case);
            format!("{INPUT}{input}{OUTPUT}{output}")
        };
        cases(suite).map(text).collect()
    }
}
