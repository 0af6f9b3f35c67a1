//! `direct`: answers without reasoning, and answered examples before the question, for pretrained models that are too small to reason.
//!
//! # Layout
//! A conversation: an instruction, then for each example a message of the user and the assistant's answer, then the question. A proposer is
//! shown a program and answers with one line of words; a solver is shown a problem and answers with a block fenced as `python`; a verifier
//! is shown both, and answers with one assertion a line, and the prompt holds the beginning of the first.
//!
//! # Why
//! A small model follows examples better than instructions.
//!
//! # Example
//! `Add 3 to x.` is answered by a block that holds `def f(x):⏎    return x + 3`, and with that program by `assert f(1) == 4`.

use veriplay_core::{PromptContent, Role};
use veriplay_selfplay::prompt_frames::{FENCE_END, code_block, continued, conversation};
use veriplay_verifier::agreement::direct::OPENED;
use veriplay_verifier::agreement::{SuiteTest, TestSuite};

use super::{AnsweredProblem, SolVerFormat, case_texts};

pub(super) struct Direct;

impl SolVerFormat for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn proposer_content(&self, snippet: &str, examples: &[&AnsweredProblem]) -> PromptContent {
        let shown = examples.iter().map(|one| (code_block(&one.program), self.problem_response(&one.statement)));
        conversation("Say in one sentence what the Python function `f` does.", shown, code_block(snippet))
    }

    fn solver_content(&self, statement: &str, examples: &[&AnsweredProblem]) -> PromptContent {
        let shown = examples.iter().map(|one| (one.statement.clone(), self.program_response(&one.program)));
        conversation(
            "Write the Python function `f` that does what is asked. It must not print.",
            shown,
            statement.to_owned(),
        )
    }

    fn verifier_content(
        &self,
        statement: &str,
        candidate: &str,
        tests: usize,
        examples: &[&AnsweredProblem],
    ) -> PromptContent {
        let question = |statement: &str, program: &str| format!("{statement}\n{}", code_block(program));
        let instruction = format!(
            "The function may be wrong. Write {tests} assertions on what `f` must return for different arguments, one a line."
        );
        let shown = examples.iter().map(|one| {
            let suite = TestSuite { tests: one.suite.tests.iter().take(tests).cloned().collect() };
            (question(&one.statement, &one.program), format!("{OPENED}{}", self.suite_response(&suite)))
        });
        continued(conversation(&instruction, shown, question(statement, candidate)), OPENED)
    }

    fn stop(&self, role: Role) -> &'static [&'static str] {
        match role {
            Role::PROPOSER => &["\n"],
            Role::VERIFIER => &["\n\n"],
            _ => FENCE_END,
        }
    }

    fn problem_response(&self, statement: &str) -> String {
        statement.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn program_response(&self, program: &str) -> String {
        code_block(program)
    }

    fn suite_response(&self, suite: &TestSuite) -> String {
        let line = |test: &SuiteTest| match test {
            SuiteTest::Assert(text) => text.clone(),
            SuiteTest::Case(case) => {
                let (input, output) = case_texts(case);
                format!("assert f({input}) == {output}")
            }
        };
        let text = suite.tests.iter().map(line).collect::<Vec<_>>().join("\n");
        text.strip_prefix(OPENED).map_or_else(String::new, str::to_owned)
    }
}
