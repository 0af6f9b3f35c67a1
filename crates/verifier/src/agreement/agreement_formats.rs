//! Parses problems, codes and suites from a policy's responses. Prompt formats of the same names are in `veriplay-selfplay`.
//!
//! Like [`crate::formats`], these formats are strict: they accept what their documentation says, and give the reason for anything else.
//! Each format is one file and one line of [`AGREEMENT_FORMATS`].

pub mod compact;
pub mod direct;
mod think;

use veriplay_core::{Attempt, CPP, CallCase, Language, TaskType, Value};

use super::{SuiteTest, TestSuite};
use crate::formats::{Format, format_by_name};
use crate::languages::is_python;

/// A format of a round's responses, without their end token.
pub trait AgreementFormat: Sync {
    /// Its name in configurations. The [`crate::Format`] of this name parses programs.
    fn name(&self) -> &'static str;

    /// Reads the text of a problem.
    ///
    /// # Errors
    /// Why the text is malformed.
    fn read_problem(&self, text: &str) -> Result<String, String>;

    /// Reads a program, which in a language with calls defines `f`.
    ///
    /// # Errors
    /// Why the text is malformed.
    fn read_program(&self, text: &str) -> Result<String, String> {
        let format = format_by_name(self.name()).ok_or_else(|| format!("no format is called `{}`", self.name()))?;
        program_in(format, text)
    }

    /// Reads a suite of at least one test.
    ///
    /// # Errors
    /// Why the text is malformed.
    fn read_suite(&self, text: &str) -> Result<TestSuite, String>;
}

/// All formats.
pub const AGREEMENT_FORMATS: &[&dyn AgreementFormat] = &[&compact::Compact, &direct::Direct, &think::Think::PYTHON];

/// The format of that name.
#[must_use]
pub fn agreement_format_by_name(name: &str) -> Option<&'static dyn AgreementFormat> {
    AGREEMENT_FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The format of that name for codes in a language. C++ has `think` alone, and other languages but Python none.
#[must_use]
pub fn agreement_format_in(language: &dyn Language, name: &str) -> Option<&'static dyn AgreementFormat> {
    if is_python(language) {
        return agreement_format_by_name(name);
    }
    let format: &'static dyn AgreementFormat = &think::Think::CPP;
    (language.names() == CPP.names() && format.name() == name).then_some(format)
}

fn program_in(format: &dyn Format, text: &str) -> Result<String, String> {
    match format.extract_answer(TaskType::Induction, text) {
        Attempt::Program(program) => Ok(program),
        Attempt::Malformed { reason } => Err(reason),
        _ => Err("no program".to_owned()),
    }
}

/// Parses a case of literals. Cases without arguments are invalid.
fn parse_case(input: &str, expected: &str) -> Result<SuiteTest, String> {
    if input.trim().is_empty() {
        return Err("an input is empty".to_owned());
    }
    let input = Value::parse_arguments(input).map_err(|error| format!("an input is no list of literals: {error}"))?;
    let expected = Value::parse_repr(expected).map_err(|error| format!("an output is no literal: {error}"))?;
    Ok(SuiteTest::Case(CallCase::new(input, expected)))
}

/// Parses a line that begins with `assert`. Whether it is Python shows when it runs.
fn parse_assertion(line: &str) -> Result<SuiteTest, String> {
    match line.strip_prefix("assert") {
        Some(rest) if rest.starts_with([' ', '(']) => Ok(SuiteTest::Assert(line.to_owned())),
        _ => Err(format!("`{line}` is no assertion")),
    }
}

fn non_empty_suite(tests: Vec<SuiteTest>) -> Result<TestSuite, String> {
    if tests.is_empty() { Err("there is no test".to_owned()) } else { Ok(TestSuite { tests }) }
}
