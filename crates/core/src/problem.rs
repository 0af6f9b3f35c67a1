//! Problems that `veriplay verify` judges attempts at: rows of a public set or of one's own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Comparison, EnvironmentChecks, LimitOverrides, Value};

/// One problem, including what only the judge may see. Immutable once read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Its name in the set, such as `HumanEval/0`.
    pub task_id: String,
    /// Source that precedes every program, such as LiveCodeBench's imports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prelude: String,
    /// Source that precedes a completion to make the program. A whole program does not get it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// The checks an attempt must pass.
    pub checks: Checks,
    /// Limits of every job; those that are left out are the command's.
    #[serde(default, skip_serializing_if = "LimitOverrides::is_empty")]
    pub limits: LimitOverrides,
}

impl Problem {
    /// A problem whose calls of `function` with these arguments must return these values: judge `exact`, one state for all calls, named
    /// after the function.
    #[must_use]
    pub fn calls(function: impl Into<String>, cases: impl IntoIterator<Item = (Vec<Value>, Value)>) -> Self {
        let function = function.into();
        let cases = cases.into_iter().map(|(input, expected)| CallCase::new(input, expected)).collect();
        let checks =
            CallChecks { function: function.clone(), cases, fresh: false, comparison: Comparison::by("exact") };
        Self::new(function, Checks::Calls(checks))
    }

    /// A problem whose scripts read the first text of a case and must write the second: judge `lines`, each run in a fresh state.
    #[must_use]
    pub fn stdio<T: Into<String>>(task_id: impl Into<String>, cases: impl IntoIterator<Item = (T, T)>) -> Self {
        let cases = cases.into_iter().map(|(stdin, stdout)| StdioCase::new(stdin, stdout)).collect();
        Self::new(task_id, Checks::Stdio(StdioChecks::new(cases, Comparison::by("lines"))))
    }

    /// A problem without a prelude or prompt: attempts are whole programs.
    #[must_use]
    pub fn new(task_id: impl Into<String>, checks: Checks) -> Self {
        let limits = LimitOverrides::default();
        Self { task_id: task_id.into(), prelude: String::new(), prompt: String::new(), checks, limits }
    }
}

/// The checks of a problem. In all but [`Checks::Tests`] the expected values stay on the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checks {
    /// Calls a function and compares the returned values.
    Calls(CallChecks),
    /// Runs the program as a script and compares its standard output.
    Stdio(StdioChecks),
    /// Runs test code against the program.
    Tests(TestCode),
    /// The attempt predicts an output or an input of a given program (CRUXEval, arXiv 2401.03065).
    Prediction(Prediction),
    /// Runs the attempt, which is code that uses an environment's tools, and verifies the state it leaves.
    Environment(EnvironmentChecks),
}

/// Calls of one function and what they must return.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallChecks {
    /// A function the program defines, or `Class.method`: a method of an instance made without arguments.
    pub function: String,
    /// The calls.
    pub cases: Vec<CallCase>,
    /// Whether each call gets a fresh state with limits of its own. Otherwise all calls of an attempt run in one state.
    #[serde(default)]
    pub fresh: bool,
    /// How values are compared.
    pub comparison: Comparison,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallCase {
    /// Positional arguments.
    pub input: Vec<Value>,
    /// What it must return.
    pub expected: Value,
    /// Other values that are as right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Value>,
}

impl CallCase {
    /// A call with one right result.
    #[must_use]
    pub const fn new(input: Vec<Value>, expected: Value) -> Self {
        Self { input, expected, alternatives: Vec::new() }
    }
}

/// Runs of the whole program, each in a fresh state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StdioChecksRow")]
pub struct StdioChecks {
    /// The runs.
    pub cases: Vec<StdioCase>,
    /// How texts are compared. Beside an interactor these are the expected files alone.
    pub comparison: Comparison,
    /// Source of a script that talks with the program, over the standard input and output of both, and decides by its status: 0 is right. It is
    /// given the input and the expected output of the case as files, which the program does not see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactor: Option<String>,
}

impl StdioChecks {
    /// Runs that no interactor takes part in.
    #[must_use]
    pub const fn new(cases: Vec<StdioCase>, comparison: Comparison) -> Self {
        Self { cases, comparison, interactor: None }
    }
}

/// The checks as rows have them. Beside an interactor the comparison may be left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StdioChecksRow {
    cases: Vec<StdioCase>,
    comparison: Option<Comparison>,
    interactor: Option<String>,
}

impl TryFrom<StdioChecksRow> for StdioChecks {
    type Error = &'static str;

    fn try_from(row: StdioChecksRow) -> Result<Self, Self::Error> {
        let StdioChecksRow { cases, comparison, interactor } = row;
        let comparison = match (comparison, &interactor) {
            (Some(comparison), _) => comparison,
            (None, Some(_)) => Comparison::by("lines"),
            (None, None) => {
                return Err("missing field `comparison`; checks may leave it out that have an `interactor`");
            }
        };
        Ok(Self { cases, comparison, interactor })
    }
}

/// One run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StdioCaseRow")]
pub struct StdioCase {
    /// Standard input.
    pub stdin: String,
    /// What standard output must be. Beside expected files an empty text is no claim: programs that write files may print what they like.
    pub stdout: String,
    /// Other standard outputs that are as right.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<String>,
    /// Files in the program's working directory, by their relative paths.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Files that must be there afterwards, and what must be in them, compared as standard output is.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub expected_files: BTreeMap<String, String>,
}

impl StdioCase {
    /// A run that reads and writes no files, with one right output.
    #[must_use]
    pub fn new(stdin: impl Into<String>, stdout: impl Into<String>) -> Self {
        Self { stdin: stdin.into(), stdout: stdout.into(), ..Self::default() }
    }
}

/// A run as rows have it. With files, standard input and output may be left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StdioCaseRow {
    stdin: Option<String>,
    stdout: Option<String>,
    #[serde(default)]
    alternatives: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    expected_files: BTreeMap<String, String>,
}

impl TryFrom<StdioCaseRow> for StdioCase {
    type Error = &'static str;

    fn try_from(row: StdioCaseRow) -> Result<Self, Self::Error> {
        let StdioCaseRow { stdin, stdout, alternatives, files, expected_files } = row;
        match (&stdin, &stdout) {
            (None, _) if files.is_empty() => Err("missing field `stdin`; a case may leave it out that has `files`"),
            (_, None) if expected_files.is_empty() => {
                Err("missing field `stdout`; a case may leave it out that has `expected_files`")
            }
            _ => Ok(Self {
                stdin: stdin.unwrap_or_default(),
                stdout: stdout.unwrap_or_default(),
                alternatives,
                files,
                expected_files,
            }),
        }
    }
}

/// Test code. It holds the expected values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCode {
    /// Where it runs.
    #[serde(default)]
    pub trust: Trust,
    /// Source that runs first in the tests' namespace: imports, and helpers that a prompt defines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub setup: String,
    /// Functions under test that share a name with a builtin, such as `sum`: in the tests the name means the program's function. Names
    /// of no builtin always do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// The form of the tests.
    pub style: TestStyle,
}

impl TestCode {
    /// Tests without a setup, none of whose functions shares a name with a builtin.
    #[must_use]
    pub const fn new(trust: Trust, style: TestStyle) -> Self {
        Self { trust, setup: String::new(), functions: Vec::new(), style }
    }
}

/// Where test code runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// In an instance of its own. Calls cross to the program's instance, and plain objects are shared. Tests that need more of the
    /// program's objects are [`crate::Status::Unjudgeable`] here.
    #[default]
    Split,
    /// In the program's own instance, for tests that need its classes or the identity of its objects. This is weaker: a program can
    /// read the tests and change them.
    Shared,
}

/// The form of test code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestStyle {
    /// Each text is one test. They run in order in one namespace, as MBPP's lists of `assert` lines do.
    Asserts(Vec<String>),
    /// HumanEval's form: `source` defines `check(candidate)`, which is called with the program's `function`.
    Check {
        /// Test source.
        source: String,
        /// The function under test.
        function: String,
    },
    /// `unittest.TestCase` classes and `test…` functions, as pytest collects them.
    Functions(String),
}

/// A program whose output or input the attempt predicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// Source text with entry `f`.
    pub program: String,
    /// Source text of the arguments as in the set, such as `1, [2]`.
    pub input: String,
    /// What `f` returns for it.
    pub output: Value,
    /// Which of the two the attempt predicts.
    pub wanted: Predicted,
}

/// What an attempt predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicted {
    /// The value `f` returns.
    Output,
    /// Arguments for which `f` returns the output.
    Input,
}
