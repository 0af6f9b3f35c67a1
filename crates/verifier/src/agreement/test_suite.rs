//! Test suites as verifiers write them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{CallCase, Value, content_hash};

/// One test of a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteTest {
    /// An argument list and the value that `f` must return for it, by the judge `exact`.
    Case(CallCase),
    /// A line of Python that begins with `assert`. It runs as test code, in another instance than the program.
    Assert(String),
}

/// The tests of one response, in its order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TestSuite {
    /// The tests, repeats included.
    pub tests: Vec<SuiteTest>,
}

impl SuiteTest {
    /// The arguments of its call of `f`, where they are literals: those of a case, or of an assertion that begins with `assert f(…)`.
    pub(super) fn input(&self) -> Option<Vec<Value>> {
        match self {
            SuiteTest::Case(case) => Some(case.input.clone()),
            SuiteTest::Assert(text) => parse_asserted_input(text),
        }
    }

    /// The line of an assertion.
    #[must_use]
    pub fn assertion(&self) -> Option<&str> {
        if let SuiteTest::Assert(text) = self { Some(text) } else { None }
    }

    /// Its identity: tests with equal keys are one test.
    fn key(&self) -> String {
        match self {
            SuiteTest::Case(case) => content_hash(case).to_string(),
            SuiteTest::Assert(text) => text.clone(),
        }
    }
}

impl TestSuite {
    /// Its distinct tests, in the order of their first occurrence.
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
