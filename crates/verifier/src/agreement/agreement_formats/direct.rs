//! `direct`: bare answers, for pretrained models that are too small to reason.
//!
//! # Layout
//! A problem is one line of words. A code is a block fenced as `python`, as in [`crate::formats::direct`]. A suite is one assertion a line, up
//! to the first line that is not an assertion; the prompt holds the first `assert`, [`OPENED`]. `assert f(1, 'a') == 2` with literals is a case, and
//! every other assertion is a line of test code.
//!
//! # Why
//! A model of some hundred million parameters follows answered examples, and loses its way in tags and instructions.
//!
//! # How it can be gamed
//! There is nothing around an answer that could hold a second one. An assertion that is no case is code, as in `think`: it runs in another
//! instance than the program, and [`crate::agreement::GUARDS`] cover what it can do.
//!
//! # Example
//! ` f([1, 2]) == 3`, behind the `assert` of the prompt, is a suite of one test.

use super::{AgreementFormat, parse_assertion, parse_case};
use crate::agreement::{SuiteTest, TestSuite};
use crate::extraction::FENCE;
use crate::formats::direct::single_line;

/// The beginning of a suite, which the prompt holds: a small model that begins an answer by itself begins with prose.
pub const OPENED: &str = "assert";

#[derive(Debug, Clone, Copy)]
pub(super) struct Direct;

impl AgreementFormat for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn read_problem(&self, text: &str) -> Result<String, String> {
        match single_line(text)? {
            "" => Err("the problem is empty".to_owned()),
            line if line.starts_with(FENCE) => Err("a block of code where a problem in words belongs".to_owned()),
            line => Ok(line.to_owned()),
        }
    }

    fn read_suite(&self, text: &str) -> Result<TestSuite, String> {
        let text = format!("{OPENED}{text}");
        let mut lines = text.lines().map(str::trim);
        let first = parse_test(lines.next().unwrap_or_default())?;
        Ok(TestSuite { tests: std::iter::once(first).chain(lines.map_while(|line| parse_test(line).ok())).collect() })
    }
}

fn parse_test(line: &str) -> Result<SuiteTest, String> {
    const EQUALS: &str = ") == ";
    let assertion = parse_assertion(line)?;
    let Some(call) = line.strip_prefix("assert f(") else { return Ok(assertion) };
    // Arguments may hold the text between call and value.
    let case = |(at, _): (usize, &str)| parse_case(&call[..at], &call[at + EQUALS.len()..]).ok();
    Ok(call.match_indices(EQUALS).find_map(case).unwrap_or(assertion))
}
