//! What `veriplay verify` judges attempts on: one row of a public set or of one's own.

use serde::{Deserialize, Serialize};

use crate::{EnvironmentChecks, Limits, Value};

/// One problem with all that only the judge may see. Immutable once read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// The set's own name for it, such as `HumanEval/0`.
    pub task_id: String,
    /// Source put before every program, such as LiveCodeBench's imports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prelude: String,
    /// Source put before a completion to make the program; a whole program is taken as it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// What is checked.
    pub checks: Checks,
    /// Limits of every job; the command's own when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

impl Problem {
    /// Calls of `function` with these arguments must return these values; judge `exact`, one state for all calls. Named after the function.
    #[must_use]
    pub fn calls(function: impl Into<String>, cases: impl IntoIterator<Item = (Vec<Value>, Value)>) -> Self {
        let function = function.into();
        let cases = cases.into_iter().map(|(input, expected)| CallCase { input, expected }).collect();
        let checks =
            CallChecks { function: function.clone(), cases, fresh: false, comparison: Comparison::by("exact") };
        Self::new(function, Checks::Calls(checks))
    }

    /// Scripts must write these texts when they read these; judge `stdio`, each run in a fresh state.
    #[must_use]
    pub fn stdio<T: Into<String>>(task_id: impl Into<String>, cases: impl IntoIterator<Item = (T, T)>) -> Self {
        let case = |(stdin, stdout): (T, T)| StdioCase { stdin: stdin.into(), stdout: stdout.into() };
        let cases = cases.into_iter().map(case).collect();
        Self::new(task_id, Checks::Stdio(StdioChecks { cases, comparison: Comparison::by("stdio") }))
    }

    /// A problem that attempts answer with whole programs.
    #[must_use]
    pub fn new(task_id: impl Into<String>, checks: Checks) -> Self {
        Self { task_id: task_id.into(), prelude: String::new(), prompt: String::new(), checks, limits: None }
    }
}

/// What is checked. In all but [`Checks::Tests`] the expected values stay on the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checks {
    /// A function is called, its values are compared.
    Calls(CallChecks),
    /// The program is run as a script, its standard output is compared.
    Stdio(StdioChecks),
    /// Test code is run against the program.
    Tests(TestCode),
    /// The attempt predicts an output or an input of a given program (CRUXEval, arXiv 2401.03065).
    Prediction(Prediction),
    /// The attempt is code that uses an environment's tools; the state it leaves is verified.
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
    /// Whether each call gets a fresh state (and limits) of its own, or all calls of an attempt run in one.
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
}

/// Runs of the whole program, each in a fresh state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StdioChecks {
    /// The runs.
    pub cases: Vec<StdioCase>,
    /// How texts are compared.
    pub comparison: Comparison,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StdioCase {
    /// Standard input.
    pub stdin: String,
    /// What standard output must be.
    pub stdout: String,
}

/// Which judge compares, and its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Name of a judge, such as `exact`.
    pub judge: String,
    /// For judges that forgive rounding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// Source of the special-judge program, for judge `checker`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checker: Option<String>,
}

impl Comparison {
    /// The judge of that name without options.
    #[must_use]
    pub fn by(judge: &str) -> Self {
        Self { judge: judge.to_owned(), tolerance: None, checker: None }
    }
}

/// `|actual − expected| ≤ absolute + relative · |expected|`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// In the value's own unit.
    pub absolute: f64,
    /// A share of the expected value.
    pub relative: f64,
}

/// Test code, which holds expected values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCode {
    /// Where it runs.
    #[serde(default)]
    pub trust: Trust,
    /// Run first in the tests' namespace: imports, and the helpers a prompt defines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub setup: String,
    /// Functions under test whose names are builtins' too, such as `sum`: the tests then mean the program's. A name that is no
    /// builtin is always the program's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// What is run.
    pub style: TestStyle,
}

/// Where test code runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// In an instance of its own. The program is in another: calls cross between them, and plain objects are shared. Tests that
    /// need more of the program's objects are [`crate::Status::Unjudgeable`] here.
    #[default]
    Split,
    /// In the program's own instance: for tests that need its classes or the identity of its objects. Weaker: a program
    /// can read the tests and change them.
    Shared,
}

/// What of the test code is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestStyle {
    /// Each text is one test, run in order in one namespace: MBPP's lists of `assert` lines.
    Asserts(Vec<String>),
    /// `source` defines `check(candidate)`, called with the program's `function`: HumanEval's.
    Check {
        /// Test source.
        source: String,
        /// The function under test.
        function: String,
    },
    /// `unittest.TestCase` classes and `test…` functions, as pytest would find them.
    Functions(String),
}

/// A prediction about a run of `program`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// Source text with entry `f`.
    pub program: String,
    /// Source text of the arguments, as the set has it: `1, [2]`.
    pub input: String,
    /// What `f` returns for it.
    pub output: Value,
    /// Which of the two the attempt names.
    pub wanted: Predicted,
}

/// What an attempt names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicted {
    /// The value `f` returns.
    Output,
    /// Arguments for which `f` returns the output.
    Input,
}
