//! What the policy is shown in this game, and what an ideal response looks like: for the game, and for a warm-up's examples.
//!
//! A prompt format is one file and one line of [`PROMPT_FORMATS`]. The verifier has an agreement format of the same name that reads the responses; a
//! test holds that it reads back what is written here.

mod compact;
mod direct;
mod think;

use veriplay_core::{CPP, CallCase, Language, PromptContent, Role, Value};
use veriplay_verifier::agreement::{SuiteTest, TestSuite};

use veriplay_selfplay::registry::registry;
use veriplay_verifier::languages::is_python;

use think::Think;

/// A problem with an answer to each role, which prompts show.
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredProblem {
    /// The problem, as a proposer states it.
    pub statement: String,
    /// A program that solves it: the snippet of the proposer, and the answer of the solver.
    pub program: String,
    /// Tests that the program passes.
    pub suite: TestSuite,
}

/// A named way to write prompts and ideal responses.
pub trait SolVerFormat: Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// Asks for a problem made from `snippet`. `examples` are shown with their answers by a format that shows any, here and below.
    fn proposer_content(&self, snippet: &str, examples: &[&AnsweredProblem]) -> PromptContent;

    /// Asks for a program that solves `statement`.
    fn solver_content(&self, statement: &str, examples: &[&AnsweredProblem]) -> PromptContent;

    /// Asks for `tests` tests of what `statement` asks, written for the program `candidate`.
    fn verifier_content(
        &self,
        statement: &str,
        candidate: &str,
        tests: usize,
        examples: &[&AnsweredProblem],
    ) -> PromptContent;

    /// Text that ends a response, where the model's end token alone does not.
    fn stop(&self, _role: Role) -> &'static [&'static str] {
        &[]
    }

    /// The response that states a problem.
    fn problem_response(&self, statement: &str) -> String;

    /// The response that is a program.
    fn program_response(&self, program: &str) -> String;

    /// The response that is a suite. The compact format has no assertions, and leaves them out.
    fn suite_response(&self, suite: &TestSuite) -> String;
}

registry! {
    /// Every format.
    PROMPT_FORMATS: [SolVerFormat] = [&compact::Compact, &direct::Direct, &Think::PYTHON]
}

/// The format of that name for programs in a language. C++ has `think` alone, and other languages but Python none.
pub fn by_name_in(language: &dyn Language, name: &str) -> Option<&'static dyn SolVerFormat> {
    if is_python(language) {
        return by_name(name);
    }
    let format: &'static dyn SolVerFormat = &Think::CPP;
    (language.names() == CPP.names() && format.name() == name).then_some(format)
}

fn case_texts(case: &CallCase) -> (String, String) {
    (Value::arguments_text(&case.input), case.expected.to_string())
}

fn cases(suite: &TestSuite) -> impl Iterator<Item = &CallCase> {
    suite.tests.iter().filter_map(|test| if let SuiteTest::Case(case) = test { Some(case) } else { None })
}
