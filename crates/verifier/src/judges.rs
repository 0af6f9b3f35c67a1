//! Named judges, which compare the output of a program with the expected one, on the host.
//!
//! A judge is one file and one line in [`JUDGES`]. Each problem names its judge, because a program can pass one judge and fail another.
//! Invariants: a judge sees plain values and bytes, never an object of the program; it is a pure function of its case and, for `checker`,
//! of the job of the checker; an output that is not UTF-8 text, or not a plain value, equals nothing.

mod apps;
mod checker;
mod cruxeval;
mod evalplus;
mod exact;
mod float;
mod lines;
mod livecodebench;
mod nemo_gym;
mod sandbox_fusion;
mod tokens;
mod yes_no;

use std::borrow::Cow;

use veriplay_core::{Comparison, Dropped, Execute, Job, Limits, Outcome, PythonClass, Tolerance, Value};

use crate::plain::plain_pair;
use crate::runner::{Runner, configure_job, describe_mismatch};

pub(crate) use checker::image_beside;
pub(crate) use lines::lines as compared_lines;

/// All judges, in the order of reports.
pub const JUDGES: &[Judge] = &[
    exact::EXACT,
    lines::LINES,
    tokens::TOKENS,
    float::FLOAT,
    yes_no::YES_NO,
    checker::CHECKER,
    nemo_gym::NEMO_GYM,
    livecodebench::LIVECODEBENCH,
    apps::APPS,
    evalplus::EVALPLUS,
    cruxeval::CRUXEVAL,
    sandbox_fusion::SANDBOX_FUSION,
];

/// Names of judges in earlier rows, and what they are called now.
const FORMER_NAMES: [(&str, &str); 2] = [("stdio", "lines"), ("common_oj", "nemo_gym")];

/// The judge of that name.
#[must_use]
pub fn judge_by_name(name: &str) -> Option<&'static Judge> {
    let name = FORMER_NAMES.iter().find(|(former, _)| *former == name).map_or(name, |(_, now)| now);
    JUDGES.iter().find(|judge| judge.name() == name)
}

/// Reads a judge as a command line, a request or a function chooses it ([`Comparison::parse`]), and checks that there is one of that name.
///
/// # Errors
/// What is wrong with the choice; an unknown name is answered by all names.
pub fn parse_judge(text: &str) -> Result<Comparison, String> {
    let chosen = Comparison::parse(text)?;
    match judge_by_name(&chosen.judge) {
        Some(_) => Ok(chosen),
        None => Err(format!("there is no judge `{}`; known are {}", chosen.judge, judge_names())),
    }
}

/// Chooses `chosen` for the comparison of outputs of `kind`, where its row leaves the choice to others and the judge takes such outputs.
pub fn choose_judge(own: &mut Comparison, chosen: &Comparison, kind: OutputKind) {
    if own.is_default && judge_by_name(&chosen.judge).is_some_and(|judge| judge.supports(kind)) {
        own.choose(chosen);
    }
}

/// The names of all judges, for messages.
#[must_use]
pub fn judge_names() -> String {
    JUDGES.iter().map(|judge| judge.name()).collect::<Vec<_>>().join(", ")
}

/// The kind of output that a judge compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// The return value of a call.
    Values,
    /// The standard output of a script.
    Texts,
}

impl OutputKind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            OutputKind::Values => "values of calls",
            OutputKind::Texts => "standard output",
        }
    }
}

type CompareCall = fn(&mut JudgeContext<'_>, &ReturnedCall<'_>) -> Result<JudgeFinding, Dropped>;
type CompareScript = fn(&mut JudgeContext<'_>, &ScriptRun<'_>) -> Result<JudgeFinding, Dropped>;

/// Decides whether an output is right.
pub struct Judge {
    name: &'static str,
    /// Whether a program that has `class Solution` is asked for a method of it.
    finds_methods: bool,
    check_options: fn(&Comparison, OutputKind) -> Result<(), &'static str>,
    values: Option<CompareCall>,
    texts: Option<CompareScript>,
}

impl Judge {
    /// One that takes no outputs yet.
    const fn named(name: &'static str) -> Self {
        Self { name, finds_methods: false, check_options: check_tolerance, values: None, texts: None }
    }

    /// Its name in problems.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it supports this kind of output.
    #[must_use]
    pub const fn supports(&self, kind: OutputKind) -> bool {
        match kind {
            OutputKind::Values => self.values.is_some(),
            OutputKind::Texts => self.texts.is_some(),
        }
    }

    /// Checks the options of a comparison, before anything runs.
    ///
    /// # Errors
    /// The invalid option, as a lower-case fragment.
    pub fn check_options(&self, comparison: &Comparison, kind: OutputKind) -> Result<(), &'static str> {
        (self.check_options)(comparison, kind)
    }

    /// The function that is called of `program`, where the problem names `function`: as the scorers of APPS and LiveCodeBench find it, a method of
    /// `Solution` where the program's text has that class, else a function of the module, whatever the starter code had. By other judges `function`.
    pub(crate) fn called_function(&self, program: &str, function: &str) -> String {
        if !self.finds_methods {
            return function.to_owned();
        }
        let name = function.strip_prefix(SOLUTION).and_then(|rest| rest.strip_prefix('.')).unwrap_or(function);
        if program.contains("class Solution") { format!("{SOLUTION}.{name}") } else { name.to_owned() }
    }

    /// Judges the return value of a call.
    ///
    /// # Errors
    /// A host fault, or a judge that does not take values.
    pub fn compare_call(
        &self,
        context: &mut JudgeContext<'_>,
        call: &ReturnedCall<'_>,
    ) -> Result<JudgeFinding, Dropped> {
        self.values
            .map_or_else(|| Err(self.misused(call.task_id, OutputKind::Values)), |compare| compare(context, call))
    }

    /// Judges the standard output of a script.
    ///
    /// # Errors
    /// A host fault, or a judge that does not take texts.
    pub fn compare_script(&self, context: &mut JudgeContext<'_>, run: &ScriptRun<'_>) -> Result<JudgeFinding, Dropped> {
        self.texts.map_or_else(|| Err(self.misused(run.task_id, OutputKind::Texts)), |compare| compare(context, run))
    }

    fn misused(&self, task_id: &str, kind: OutputKind) -> Dropped {
        Dropped { why: format!("judge `{}` of `{task_id}` does not judge {}", self.name, kind.word()) }
    }
}

/// The class of LeetCode's answers, of which functions are methods.
pub(crate) const SOLUTION: &str = "Solution";

/// Whether the judge looks for a method of `class Solution`, too.
pub(crate) fn finds_methods(comparison: &Comparison) -> bool {
    judge_by_name(&comparison.judge).is_some_and(|judge| judge.finds_methods)
}

/// A tolerance must be two finite numbers of at least 0.
fn check_tolerance(comparison: &Comparison, _: OutputKind) -> Result<(), &'static str> {
    let sound = |part: f64| part.is_finite() && part >= 0.0;
    match comparison.tolerance {
        Some(Tolerance { absolute, relative }) if !(sound(absolute) && sound(relative)) => {
            Err("its tolerance must be two finite numbers from 0 up")
        }
        _ => Ok(()),
    }
}

/// The return value of a call, and the expected one.
#[derive(Debug, Clone, Copy)]
pub struct ReturnedCall<'a> {
    /// The id of the problem, such as `HumanEval/32`.
    pub task_id: &'a str,
    /// The called function.
    pub function: &'a str,
    /// Its arguments.
    pub input: &'a [Value],
    /// The expected value.
    pub expected: &'a Value,
    /// The returned value; `None` (which is not Python's `None`) where it is not a plain value.
    pub actual: Option<&'a Value>,
    /// The judge's options.
    pub comparison: &'a Comparison,
}

impl ReturnedCall<'_> {
    /// Right when `same(expected, actual)`, of which both are plain.
    pub(crate) fn compare_plain(&self, same: impl FnOnce(&Value, &Value) -> bool) -> JudgeFinding {
        match self.plain_values() {
            Ok((expected, actual)) => self.compare_by(|_, _| same(&expected, &actual)),
            Err(refused) => refused,
        }
    }

    /// The expected and the returned value as [`crate::plain`] lets them be seen, or why the returned one is refused.
    pub(crate) fn plain_values(&self) -> Result<(Cow<'_, Value>, Cow<'_, Value>), JudgeFinding> {
        let Some(actual) = self.actual else { return Err(self.compare_by(|_, _| false)) };
        plain_pair(self.expected, actual).map_err(|object| {
            JudgeFinding::Wrong(format!(
                "it returned {object}, where the expected value has none; plain values are taken"
            ))
        })
    }

    pub(crate) fn compare_by(&self, same: impl FnOnce(&Value, &Value) -> bool) -> JudgeFinding {
        match self.actual {
            Some(actual) if same(self.expected, actual) => JudgeFinding::Right,
            Some(actual) => JudgeFinding::Wrong(describe_values(actual, self.expected)),
            None => JudgeFinding::Wrong("it returned no plain value".to_owned()),
        }
    }
}

/// The standard output of a run, and the expected one.
#[derive(Debug, Clone, Copy)]
pub struct ScriptRun<'a> {
    /// The id of the problem.
    pub task_id: &'a str,
    /// The standard input.
    pub stdin: &'a str,
    /// The expected output.
    pub expected: &'a str,
    /// The actual output.
    pub actual: &'a [u8],
    /// The judge's options.
    pub comparison: &'a Comparison,
}

impl ScriptRun<'_> {
    /// Right when the output is text and `same(expected, actual)`.
    pub(crate) fn compare_by(&self, same: impl FnOnce(&str, &str) -> bool) -> JudgeFinding {
        match std::str::from_utf8(self.actual) {
            Ok(actual) if same(self.expected, actual) => JudgeFinding::Right,
            Ok(actual) => JudgeFinding::Wrong(describe_mismatch(&quoted(actual), &quoted(self.expected))),
            Err(error) => JudgeFinding::Wrong(format!("the output is not utf-8 at byte {}", error.valid_up_to())),
        }
    }
}

/// The finding of a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeFinding {
    /// The output is right.
    Right,
    /// The output is wrong; the difference, for people.
    Wrong(String),
    /// The task's own checker does not decide, whatever the output is; the reason.
    Undecided(String),
}

/// The number of characters shown of each side, so that both fit into a log line.
const SHOWN: usize = 100;

pub(crate) fn describe_values(actual: &Value, expected: &Value) -> String {
    describe_mismatch(&actual.excerpt(SHOWN), &expected.excerpt(SHOWN))
}

/// The start of a text in quotes.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{:?}…", &text[..at]),
        None => format!("{text:?}"),
    }
}

/// What a judge needs to run jobs, and the evidence so far.
pub struct JudgeContext<'a> {
    pub(crate) runner: Runner<'a>,
    pub(crate) image: &'a str,
    pub(crate) limits: Limits,
    pub(crate) seed: u64,
}

impl<'a> JudgeContext<'a> {
    /// A context for jobs on `image` under `limits`.
    #[must_use]
    pub fn new(execute: &'a dyn Execute, image: &'a str, limits: Limits, seed: u64) -> Self {
        Self { runner: Runner::new(execute), image, limits, seed }
    }

    pub(crate) fn run(&mut self, job: Job) -> Result<Outcome, Dropped> {
        self.run_in(self.image, job)
    }

    /// Runs a job in the image of this name.
    pub(crate) fn run_in(&mut self, image: &str, job: Job) -> Result<Outcome, Dropped> {
        self.runner.run(&configure_job(image, self.limits, self.seed, job))
    }
}

/// The white space of Python's `str.strip` and `str.split`: Unicode's, and four ASCII separators.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// `text` as `text.strip()`.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The words of a line, as `line.split()`.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(is_space).filter(|word| !word.is_empty())
}

/// Whether the two are equally long, and `same` holds of each pair. It ends at the first difference.
pub(crate) fn all_pairs<E: Copy, A: Copy>(
    expected: impl IntoIterator<Item = E>,
    actual: impl IntoIterator<Item = A>,
    mut same: impl FnMut(E, A) -> bool,
) -> bool {
    let (mut expected, mut actual) = (expected.into_iter(), actual.into_iter());
    loop {
        match (expected.next(), actual.next()) {
            (None, None) => return true,
            (Some(expected), Some(actual)) if same(expected, actual) => {}
            _ => return false,
        }
    }
}

/// Python's `==`, where a returned tuple counts as the list of its items.
pub(crate) fn equals_as_list(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::List(own), Value::Tuple(items)) => {
            own.len() == items.len() && own.iter().zip(items).all(|(own, item)| own.python_eq(item))
        }
        (_, Value::Tuple(_)) => false,
        _ => expected.python_eq(actual),
    }
}

/// A bool, int or float as Python's `float()` makes it: rounded to nearest even. None for the rest, and for ints beyond
/// the range, where Python raises.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Int(value) => Some(value.to_f64().value()).filter(|read| read.is_finite()),
        Value::Float(value) => Some(*value),
        Value::Object(object) if matches!(object.class(), PythonClass::Numpy(_)) => number(object.state()),
        _ => None,
    }
}

/// The parts of a complex number, Python's or numpy's.
pub(crate) fn complex_parts(value: &Value) -> Option<(f64, f64)> {
    let Value::Object(object) = value else { return None };
    match (object.class(), object.parts()) {
        (PythonClass::Complex | PythonClass::Numpy(_), [Value::Float(real), Value::Float(imag)]) => {
            Some((*real, *imag))
        }
        _ => None,
    }
}
