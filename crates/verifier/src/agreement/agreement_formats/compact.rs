//! `compact`: control tokens instead of words, for models that are trained from nothing.
//!
//! # Layout
//! A problem is plain text. A code is a bare program. A suite is `<I>arguments<O>output`, once for each test. The end token has
//! been taken off already.
//!
//! # Why
//! A response is a handful of tokens without boilerplate.
//!
//! # How it can be gamed
//! A response that continues after its end, in the hope that some part is right, has a misplaced control token and is refused as a whole.
//! There are no assertions, so no test code of the policy runs.
//!
//! # Example
//! `<I>[1, 2]<O>3<I>[]<O>0` is a suite of two tests.

use super::{AgreementFormat, non_empty_suite, parse_case};
use crate::agreement::TestSuite;
use crate::formats::compact::parse_part_without;
pub use crate::formats::compact::{CONTROL, END, INPUT, OUTPUT, PROGRAM};

/// Stands before the program that a proposer starts from.
pub const SNIPPET: &str = "<SNIPPET>";
/// Stands before the text of a problem, and asks for one.
pub const PROBLEM: &str = "<PROBLEM>";
/// Asks for a suite.
pub const TESTS: &str = "<TESTS>";

/// The control tokens that [`crate::formats::compact`] does not have.
const OWN_CONTROL: [&str; 3] = [SNIPPET, PROBLEM, TESTS];

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct Compact;

impl AgreementFormat for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn read_problem(&self, text: &str) -> Result<String, String> {
        parse_part(text).map(|text| text.trim().to_owned())
    }

    fn read_program(&self, text: &str) -> Result<String, String> {
        parse_part(text).map(str::to_owned)
    }

    fn read_suite(&self, text: &str) -> Result<TestSuite, String> {
        let list = text.strip_prefix(INPUT).ok_or_else(|| format!("the first test has no `{INPUT}` before it"))?;
        let test = |text: &str| {
            let (input, output) = text.split_once(OUTPUT).ok_or_else(|| format!("a test without `{OUTPUT}`"))?;
            parse_case(parse_part(input)?, parse_part(output)?)
        };
        non_empty_suite(list.split(INPUT).map(test).collect::<Result<_, _>>()?)
    }
}

fn parse_part(text: &str) -> Result<&str, String> {
    parse_part_without(text, &OWN_CONTROL)
}
