//! Problems that `veriplay verify` judges attempts at: rows of a public set or of one's own. Some rows hold the values that they expect, and
//! others the reference program that returns them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Comparison, LimitOverrides, SqlChecks, Value};

/// One problem, including what only the judge may see. Immutable once read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Its name in the set, such as `HumanEval/0`.
    pub task_id: String,
    /// The language of attempts, by its own name, where it is not Python: see [`crate::ScannedLanguage`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
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
    pub fn calls(function: impl Into<String>, cases: impl IntoIterator<Item = (Vec<Value>, Value)>) -> Self {
        let function = function.into();
        let cases = cases.into_iter().map(|(input, expected)| CallCase::new(input, expected)).collect();
        let checks =
            CallChecks { function: function.clone(), cases, fresh: false, comparison: Comparison::by("exact") };
        Self::new(function, Checks::Calls(checks))
    }

    /// A problem whose scripts read the first text of a case and must write the second: judge `lines`, each run in a fresh state.
    pub fn stdio<T: Into<String>>(task_id: impl Into<String>, cases: impl IntoIterator<Item = (T, T)>) -> Self {
        let cases = cases.into_iter().map(|(stdin, stdout)| StdioCase::new(stdin, stdout)).collect();
        Self::new(task_id, Checks::Stdio(StdioChecks::new(cases, Comparison::by("lines"))))
    }

    /// A problem without a prelude or prompt: attempts are whole programs.
    pub fn new(task_id: impl Into<String>, checks: Checks) -> Self {
        let limits = LimitOverrides::default();
        let (prelude, prompt) = (String::new(), String::new());
        Self { task_id: task_id.into(), language: None, prelude, prompt, checks, limits }
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
    /// Runs the attempt, which is a query, on databases, and compares the rows that it gives.
    Sql(SqlChecks),
    /// Runs the program with test code behind it, in a language whose tests cannot run apart from the program.
    Appended(AppendedTests),
}

/// Test code that stands behind the program in one script, which passes if it ends with status 0. As with [`Trust::Shared`] the program can forge it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppendedTests {
    /// Source text. It may begin with the brace that closes the program's last function.
    pub source: String,
    /// Texts that end what continues the prompt, such as MultiPL-E's `stop_tokens`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Whether a script that writes to standard error fails, as HumanEval-X has it: `console.assert` does not end one.
    #[serde(default)]
    pub silent: bool,
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
    /// The language of the interactor where it is not Python, by its own name. In C++ or C it is a program of testlib's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactor_language: Option<String>,
}

impl StdioChecks {
    /// Runs that no interactor takes part in.
    pub const fn new(cases: Vec<StdioCase>, comparison: Comparison) -> Self {
        Self { cases, comparison, interactor: None, interactor_language: None }
    }
}

/// The checks as rows have them. Beside an interactor the comparison may be left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StdioChecksRow {
    cases: Vec<StdioCase>,
    comparison: Option<Comparison>,
    interactor: Option<String>,
    interactor_language: Option<String>,
}

impl TryFrom<StdioChecksRow> for StdioChecks {
    type Error = &'static str;

    fn try_from(row: StdioChecksRow) -> Result<Self, Self::Error> {
        let StdioChecksRow { cases, comparison, interactor, interactor_language } = row;
        let comparison = match (comparison, &interactor) {
            (Some(comparison), _) => comparison,
            (None, Some(_)) => Comparison::by("lines"),
            (None, None) => {
                return Err("missing field `comparison`; checks may leave it out that have an `interactor`");
            }
        };
        Ok(Self { cases, comparison, interactor, interactor_language })
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

/// A tool environment, whose state only its tools change. Its source is ours and trusted; `task-corpus/environments/README.md`
/// describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Its name, such as `orders`.
    pub name: String,
    /// Python source: `TOOLS`, `dump()`, `check()`, and its initial state in module variables.
    pub source: String,
}

/// A task with its verification code: the artifact of a challenger. All of its code is untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeTask {
    /// Its name, unique in a file.
    pub task_id: String,
    /// Name of its environment.
    pub environment: String,
    /// The instruction for the executor, in words.
    pub instruction: String,
    /// Source that defines `verify(before, after, answer)`, which returns a `bool`. The states are plain values; the answer is `None`
    /// when there was none.
    pub verify: String,
    /// Code that solves the task.
    pub solution: String,
    /// Near misses of the solution, which `verify` must not accept; three in the paper.
    pub failures: Vec<String>,
}

/// One tool call, as the environment received it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Name of the tool.
    pub name: String,
    /// Positional arguments.
    pub arguments: Vec<Value>,
    /// Keyword arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<(String, Value)>,
}

/// The part of a [`CodeTask`] that judges an executor's code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentChecks {
    /// The environment in which the code runs.
    pub environment: Environment,
    /// As [`CodeTask::verify`]. Neither this code nor the executor's sees the other.
    pub verify: String,
    /// As [`CodeTask::solution`]: a task that does not accept it cannot refuse an attempt. Without one the attempt is to blame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<String>,
}

/// A row of a set of problems.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum ProblemRow {
    /// A problem that can be judged as it is.
    Ready(Problem),
    /// A problem whose expected values must be executed first.
    Unexecuted(UnexecutedProblem),
}

impl ProblemRow {
    /// Its name in the set.
    pub fn task_id(&self) -> &str {
        match self {
            ProblemRow::Ready(problem) => &problem.task_id,
            ProblemRow::Unexecuted(unexecuted) => &unexecuted.task_id,
        }
    }

    /// The row under another name, if there is one.
    #[must_use]
    pub fn named(mut self, name: Option<String>) -> Self {
        let task_id = match &mut self {
            ProblemRow::Ready(problem) => &mut problem.task_id,
            ProblemRow::Unexecuted(unexecuted) => &mut unexecuted.task_id,
        };
        name.into_iter().for_each(|name| *task_id = name);
        self
    }

    /// Gives it limits in place of those that it has.
    pub fn state_limits(&mut self, stated: LimitOverrides) {
        let limits = match self {
            ProblemRow::Ready(problem) => &mut problem.limits,
            ProblemRow::Unexecuted(unexecuted) => &mut unexecuted.limits,
        };
        *limits = stated.or(*limits);
    }

    /// The limits that it states.
    pub const fn limits(&self) -> LimitOverrides {
        match self {
            ProblemRow::Ready(problem) => problem.limits,
            ProblemRow::Unexecuted(unexecuted) => unexecuted.limits,
        }
    }

    /// The source that precedes a completion.
    pub fn prompt(&self) -> &str {
        match self {
            ProblemRow::Ready(problem) => &problem.prompt,
            ProblemRow::Unexecuted(unexecuted) => &unexecuted.prompt,
        }
    }

    /// How outputs are compared, where a judge compares them.
    pub fn comparison_mut(&mut self) -> Option<&mut Comparison> {
        match self {
            ProblemRow::Unexecuted(unexecuted) => Some(&mut unexecuted.checks.comparison),
            ProblemRow::Ready(problem) => match &mut problem.checks {
                Checks::Calls(checks) => Some(&mut checks.comparison),
                Checks::Stdio(checks) => Some(&mut checks.comparison),
                Checks::Tests(_)
                | Checks::Prediction(_)
                | Checks::Environment(_)
                | Checks::Sql(_)
                | Checks::Appended(_) => None,
            },
        }
    }

    /// Whether an attempt predicts a value instead of being a program.
    pub const fn is_prediction(&self) -> bool {
        matches!(self, ProblemRow::Ready(Problem { checks: Checks::Prediction(_), .. }))
    }
}

/// A problem whose expected values are what its reference program returns, as EvalPlus publishes them. The caller runs `checks.function` of
/// `reference` on `inputs`, in one state, and completes it with [`UnexecutedProblem::with_expected`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnexecutedProblem {
    /// As [`Problem::task_id`].
    pub task_id: String,
    /// As [`Problem::prompt`].
    pub prompt: String,
    /// The checks, without their cases.
    pub checks: CallChecks,
    /// Argument lists, in the order of the cases.
    pub inputs: Vec<Vec<Value>>,
    /// Source of the reference program.
    pub reference: String,
    /// How a call of the reference gives the expected value.
    pub expects: ExpectedResult,
    /// As [`Problem::limits`].
    pub limits: LimitOverrides,
}

/// How a call of the reference gives the expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ExpectedResult {
    /// The returned value is expected.
    Value,
    /// The expected value is whether it returned anything but `None`. The reference may return objects that are no plain values.
    NotNone,
}

/// The number of expected values differs from the number of inputs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the reference of `{task_id}` gave {found} values for {wanted} inputs")]
pub struct WrongValueCount {
    task_id: String,
    found: usize,
    wanted: usize,
}

impl UnexecutedProblem {
    /// Completes the problem with the expected value of each input.
    pub fn with_expected(&self, expected: Vec<Value>) -> Result<Problem, WrongValueCount> {
        let (found, wanted) = (expected.len(), self.inputs.len());
        if found != wanted {
            return Err(WrongValueCount { task_id: self.task_id.clone(), found, wanted });
        }
        let cases = self.inputs.iter().cloned().zip(expected).map(|(input, expected)| CallCase::new(input, expected));
        let checks = Checks::Calls(CallChecks { cases: cases.collect(), ..self.checks.clone() });
        Ok(Problem { prompt: self.prompt.clone(), limits: self.limits, ..Problem::new(&self.task_id, checks) })
    }
}
