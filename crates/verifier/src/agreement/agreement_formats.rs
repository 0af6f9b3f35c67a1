//! How problems, codes and suites are read from what a policy wrote. The prompts of the same names are selfplay's.
//!
//! A dialect is strict, as [`crate::formats`] are: it takes what its doc says, or says why it took nothing. One file each, and a
//! line of [`AGREEMENT_FORMATS`].

pub mod compact;
mod fenced;

use veriplay_core::{Attempt, CallCase, TaskType, Value};

use super::{SuiteTest, TestSuite};
use crate::formats::format_by_name;

/// One way of writing a round's responses, without their end token.
pub trait AgreementFormat: Sync {
    /// Its name in configurations; the verifier's format of this name reads programs.
    fn name(&self) -> &'static str;

    /// Reads the text of a problem.
    ///
    /// # Errors
    /// What is wrong, for people.
    fn read_problem(&self, text: &str) -> Result<String, String>;

    /// Reads a program that defines `f`.
    ///
    /// # Errors
    /// What is wrong, for people.
    fn read_program(&self, text: &str) -> Result<String, String> {
        let format = format_by_name(self.name()).ok_or_else(|| format!("no format is called `{}`", self.name()))?;
        match format.extract_answer(TaskType::Induction, text) {
            Attempt::Program(program) => Ok(program),
            Attempt::Malformed { reason } => Err(reason),
            _ => Err("no program".to_owned()),
        }
    }

    /// Reads a suite of at least one test.
    ///
    /// # Errors
    /// What is wrong, for people.
    fn read_suite(&self, text: &str) -> Result<TestSuite, String>;
}

/// All agreement_formats.
pub const AGREEMENT_FORMATS: &[&dyn AgreementFormat] = &[&compact::Compact, &fenced::Fenced];

/// The dialect of that name.
#[must_use]
pub fn agreement_format_by_name(name: &str) -> Option<&'static dyn AgreementFormat> {
    AGREEMENT_FORMATS.iter().copied().find(|dialect| dialect.name() == name)
}

/// A case of literals; a call of `f` without arguments tests no task.
fn parse_case(input: &str, expected: &str) -> Result<SuiteTest, String> {
    if input.trim().is_empty() {
        return Err("an input is empty".to_owned());
    }
    let input = Value::parse_arguments(input).map_err(|error| format!("an input is no list of literals: {error}"))?;
    let expected = Value::parse_repr(expected).map_err(|error| format!("an output is no literal: {error}"))?;
    Ok(SuiteTest::Case(CallCase { input, expected }))
}

fn non_empty_suite(tests: Vec<SuiteTest>) -> Result<TestSuite, String> {
    if tests.is_empty() { Err("there is no test".to_owned()) } else { Ok(TestSuite { tests }) }
}
