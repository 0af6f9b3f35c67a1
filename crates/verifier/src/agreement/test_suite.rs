//! What a verifier writes: a suite of tests.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{CallCase, Value, content_hash};

/// One test of a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteTest {
    /// What `f` must return for an argument list, compared here by the judge `exact`.
    Case(CallCase),
    /// One line of Python that begins with `assert`: run as test code, apart from the program.
    Assert(String),
}

/// A verifier's tests, in its order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TestSuite {
    /// As they were written, repeats included.
    pub tests: Vec<SuiteTest>,
}

impl SuiteTest {
    /// The argument list it calls `f` with, where that can be told without running it: an assertion that begins with
    /// `assert f(` and literals has one.
    pub(super) fn input(&self) -> Option<Vec<Value>> {
        match self {
            SuiteTest::Case(case) => Some(case.input.clone()),
            SuiteTest::Assert(text) => parse_asserted_input(text),
        }
    }

    /// The line of an assertion.
    pub(super) fn assertion(&self) -> Option<&str> {
        if let SuiteTest::Assert(text) = self { Some(text) } else { None }
    }

    /// What names it: two tests with one name are one test.
    fn key(&self) -> String {
        match self {
            SuiteTest::Case(case) => content_hash(case).to_string(),
            SuiteTest::Assert(text) => text.clone(),
        }
    }
}

impl TestSuite {
    /// Its different tests, in the order in which they first stand.
    #[must_use]
    pub fn distinct(&self) -> Vec<&SuiteTest> {
        let mut seen = BTreeSet::new();
        self.tests.iter().filter(|test| seen.insert(test.key())).collect()
    }
}

fn parse_asserted_input(text: &str) -> Option<Vec<Value>> {
    let rest = text.strip_prefix("assert")?.trim_start().strip_prefix("f(")?;
    let ends = rest.char_indices().filter(|(_, c)| *c == ')').map(|(at, _)| at);
    ends.filter_map(|end| Value::parse_arguments(&rest[..end]).ok()).find(|arguments| !arguments.is_empty())
}
