//! Named judges: how what a program gave is compared with what it should have given. All of it on the host.
//!
//! Called by [`crate::problems`]. A judge is one file and one line in [`JUDGES`], and a problem names its judge: the same
//! program can pass one and fail another, so none is taken silently. Invariants: a judge sees plain values and bytes, never
//! an object of the program; it is a pure function of its case (and, for `checker`, of the checker's own job); what is no
//! text in UTF-8, or no plain value, equals nothing that was expected.

mod checker;
mod common_oj;
mod cruxeval;
mod evalplus;
mod exact;
mod float;
mod livecodebench;
mod stdio;

use veriplay_core::{Comparison, Dropped, Execute, Limits, PythonClass, Tolerance, Value};

use crate::run::Runner;

/// All judges, in the order reports use.
pub const JUDGES: &[&dyn Judge] = &[
    &exact::Exact,
    &evalplus::EvalPlus,
    &livecodebench::LiveCodeBench,
    &cruxeval::CruxEval,
    &stdio::Stdio,
    &float::Float,
    &common_oj::CommonOj,
    &checker::Checker,
];

/// The judge of that name.
#[must_use]
pub fn judge_by_name(name: &str) -> Option<&'static dyn Judge> {
    JUDGES.iter().copied().find(|judge| judge.name() == name)
}

/// The names of all judges, for messages.
#[must_use]
pub fn judge_names() -> String {
    JUDGES.iter().map(|judge| judge.name()).collect::<Vec<_>>().join(", ")
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The value a call returned.
    Values,
    /// What a script wrote to standard output.
    Texts,
}

impl Kind {
    /// The word messages use.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Values => "values of calls",
            Kind::Texts => "standard output",
        }
    }
}

/// Decides whether one result is right.
pub trait Judge: Sync {
    /// The name problems call it by.
    fn name(&self) -> &'static str;

    /// Whether it can judge this kind.
    fn supports(&self, kind: Kind) -> bool;

    /// Whether the comparison has what it needs, before anything is run.
    ///
    /// # Errors
    /// What is missing or wrong, as a lower-case fragment.
    fn check_options(&self, comparison: &Comparison) -> Result<(), &'static str> {
        check_tolerance(comparison.tolerance)
    }

    /// Judges what a call returned.
    ///
    /// # Errors
    /// A host fault, a checker that does not decide, or a judge that does not take values.
    fn compare_call(&self, _bench: &mut Bench<'_>, call: &Call<'_>) -> Result<Finding, Dropped> {
        Err(misused(self.name(), call.task_id, Kind::Values))
    }

    /// Judges what a script wrote.
    ///
    /// # Errors
    /// A host fault, a checker that does not decide, or a judge that does not take texts.
    fn compare_run(&self, _bench: &mut Bench<'_>, run: &Run<'_>) -> Result<Finding, Dropped> {
        Err(misused(self.name(), run.task_id, Kind::Texts))
    }
}

fn misused(judge: &str, task_id: &str, kind: Kind) -> Dropped {
    Dropped { why: format!("judge `{judge}` of `{task_id}` does not judge {}", kind.word()) }
}

/// A tolerance is two finite numbers from 0 up: with any other one `≤` means nothing.
fn check_tolerance(tolerance: Option<Tolerance>) -> Result<(), &'static str> {
    let sound = |part: f64| part.is_finite() && part >= 0.0;
    match tolerance {
        Some(Tolerance { absolute, relative }) if !(sound(absolute) && sound(relative)) => {
            Err("its tolerance must be two finite numbers from 0 up")
        }
        _ => Ok(()),
    }
}

/// What one call returned, and what it should have.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The problem's, such as `HumanEval/32`.
    pub task_id: &'a str,
    /// The function that was called.
    pub function: &'a str,
    /// Its arguments.
    pub input: &'a [Value],
    /// What it must return.
    pub expected: &'a Value,
    /// What it returned; `None` when that was no plain value (so never Python's `None`).
    pub actual: Option<&'a Value>,
    /// The judge's options.
    pub comparison: &'a Comparison,
}

impl Call<'_> {
    /// Right when `same(expected, actual)`.
    pub(crate) fn compare_by(&self, same: impl FnOnce(&Value, &Value) -> bool) -> Finding {
        match self.actual {
            Some(actual) if same(self.expected, actual) => Finding::Right,
            Some(actual) => Finding::Wrong(instead(&actual.excerpt(SHOWN), &self.expected.excerpt(SHOWN))),
            None => Finding::Wrong("it returned no plain value".to_owned()),
        }
    }
}

/// What one run wrote, and what it should have.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The problem's.
    pub task_id: &'a str,
    /// What the script could read.
    pub stdin: &'a str,
    /// What standard output must be.
    pub expected: &'a str,
    /// What it was.
    pub actual: &'a [u8],
    /// The judge's options.
    pub comparison: &'a Comparison,
}

impl Run<'_> {
    /// Right when the output is text and `same(expected, actual)`.
    pub(crate) fn compare_by(&self, same: impl FnOnce(&str, &str) -> bool) -> Finding {
        match std::str::from_utf8(self.actual) {
            Ok(actual) if same(self.expected, actual) => Finding::Right,
            Ok(actual) => Finding::Wrong(instead(&quoted(actual), &quoted(self.expected))),
            Err(error) => Finding::Wrong(format!("the output is not utf-8 at byte {}", error.valid_up_to())),
        }
    }
}

/// What a judge found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// It is right.
    Right,
    /// It is not; the difference, for people.
    Wrong(String),
}

/// Characters of each side, so that the other one still fits into a log line.
const SHOWN: usize = 100;

/// Both sides, for people. Each is cut before it is written out: it is a program's, and may be long.
fn instead(actual: &str, expected: &str) -> String {
    format!("`{actual}` instead of `{expected}`")
}

/// The start of a text in quotes.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{:?}…", &text[..at]),
        None => format!("{text:?}"),
    }
}

/// Where a judge runs what it must run, and what the verdict rests on.
pub struct Bench<'a> {
    pub(crate) runner: Runner<'a>,
    pub(crate) image: &'a str,
    pub(crate) limits: Limits,
    pub(crate) seed: u64,
}

impl<'a> Bench<'a> {
    /// For jobs on `image` under `limits`.
    #[must_use]
    pub fn new(execute: &'a dyn Execute, image: &'a str, limits: Limits, seed: u64) -> Self {
        Self { runner: Runner::new(execute), image, limits, seed }
    }
}

/// What Python's `str.strip` and `str.split` take for white space: Unicode's, and four separators of ASCII.
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

/// A bool, int or float as Python's `float()` makes it: rounded to nearest even. None for the rest, and for ints beyond
/// the range, where Python raises.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Int(value) if value.bits() <= 1024 => {
            value.to_string().parse().ok().filter(|read: &f64| read.is_finite())
        }
        Value::Float(value) => Some(*value),
        Value::Object(_) => numpy_number(value).and_then(number),
        _ => None,
    }
}

/// The bool, int or float that a numpy scalar is.
pub(crate) fn numpy_number(value: &Value) -> Option<&Value> {
    match value {
        Value::Object(object) if matches!(object.class(), PythonClass::Numpy(_)) => {
            Some(object.state()).filter(|state| !matches!(state, Value::Tuple(_)))
        }
        _ => None,
    }
}

/// The parts of a complex number, Python's or numpy's.
pub(crate) fn complex_parts(value: &Value) -> Option<(f64, f64)> {
    match value {
        Value::Object(object) => match (object.class(), object.parts()) {
            (PythonClass::Complex | PythonClass::Numpy(_), [Value::Float(real), Value::Float(imag)]) => {
                Some((*real, *imag))
            }
            _ => None,
        },
        _ => None,
    }
}
