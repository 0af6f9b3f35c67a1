//! Test code that is a list of cases: assertions about calls of one function whose arguments, and what they are compared with, are literals.
//!
//! `assert f([1, 2]) == 3` or `assert abs(f(2) - 1.41) < 0.01` says which calls to make and what they must return, and most tests of public
//! sets say nothing else. Such tests are read here and never run. The program makes the calls in one job, as for
//! [`Checks::Calls`](veriplay_core::Checks::Calls), and the host compares, so no expected value is in any guest. Arguments are new objects in each call and results are plain values, so nothing else of the
//! tests' process could be seen by the program, or the other way round.
//!
//! What is allowed is listed, and all else is left to the test runner: other test code, programs that are more than computations
//! ([`plain_program`]), and outcomes that are not plain to read (an object of the library, an exception of the program's own).
//! `tests/tests/verifier/literal_tests.rs` compares the two.

mod reading;

use std::sync::{Arc, LazyLock};

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use veriplay_core::{
    CallResult, Digest, Dropped, Exit, GuestError, Job, LimitKind, TestCode, Value, content_hash, record_weight,
};
use veriplay_python::large::LargePermit;

use super::ProblemRequest;
use super::plain_program::{self, is_listed};
use super::test_results::{TestCodeRecord, TestCodeResult, TestsReport};
use crate::runner::{Runner, configure_job, decode_call, encoded_bytes, job_failure};

/// Exceptions that say no more of themselves than their name and message. A test that meets one has an error.
const ERRORS: &str = "ArithmeticError AttributeError BufferError EOFError FloatingPointError ImportError IndexError KeyError \
    LookupError ModuleNotFoundError NameError NotImplementedError OverflowError RecursionError RuntimeError \
    TypeError UnboundLocalError ValueError ZeroDivisionError";

/// The most bytes of an exception's message that is told as it is.
const MAX_MESSAGE: usize = 390;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct LiteralTests {
    /// The function that they call, by the name that it has in the program.
    function: String,
    tests: NamedTests,
    /// Whether each is a line for itself, which runs whatever became of those before it.
    is_lines: bool,
    /// Builtins that they use, and that must mean nothing else in the program.
    builtins: Vec<&'static str>,
    /// Other names that the set-up gives a meaning, in one process to the program, too; and what they are imported from, if so.
    of_set_up: Vec<(String, Option<String>)>,
}

/// Tests by name, and what each asserts in order, at the first failure of which it ends.
type NamedTests = Vec<(String, Vec<Assertion>)>;

/// About how many test codes of usual size are as many bytes.
const CACHED_CODES: usize = 1 << 12;

/// The most memory, about, of the test code whose reading is cached, in bytes.
const CACHED_BYTES: u64 = 8 << 20;

/// What was read lately: attempts at one task come together.
static READ: LazyLock<Cache<Digest, ReadCode, CodeWeight>> =
    LazyLock::new(|| Cache::with_weighter(CACHED_CODES, CACHED_BYTES, CodeWeight));

/// Test code as it was read, and about the bytes of memory that it takes.
type ReadCode = (Arc<Option<LiteralTests>>, u64);

#[derive(Debug, Clone)]
struct CodeWeight;

impl Weighter<Digest, ReadCode> for CodeWeight {
    fn weight(&self, _: &Digest, code: &ReadCode) -> u64 {
        code.1
    }
}

/// An assertion about what one call returns.
#[derive(Debug, Clone, PartialEq)]
struct Assertion {
    arguments: Vec<Value>,
    /// Which of [`CONVERSIONS`] the value goes through before it is compared.
    through: Option<&'static str>,
    claim: Claim,
    /// What it says where it fails; `None` where that would have to be computed.
    message: Option<String>,
}

/// What is claimed of a value.
#[derive(Debug, Clone, PartialEq)]
enum Claim {
    Equal(Value),
    Different(Value),
    /// `is None`, `is True`, `is False`
    Same(Value),
    /// `is not None` and so on
    NotSame(Value),
    /// `assert f()`, or with `not` before it.
    Truth(bool),
    /// `abs(f() - literal) < literal`, or with `<=`: of numbers that a float has.
    Near {
        target: f64,
        bound: f64,
        or_equal: bool,
    },
}

impl Claim {
    fn holds(&self, found: &Value) -> Option<bool> {
        Some(match self {
            Claim::Equal(expected) => expected.python_eq(found),
            Claim::Different(other) => !other.python_eq(found),
            Claim::Same(constant) => constant == found,
            Claim::NotSame(constant) => constant != found,
            Claim::Truth(wanted) => is_true(found) == *wanted,
            Claim::Near { target, bound, or_equal } => {
                let apart = (number(found)? - target).abs();
                apart < *bound || (*or_equal && apart == *bound)
            }
        })
    }
}

/// A number as a float that is equal to it. Differences of two that are integers are exact.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Int(value) => i32::try_from(value).ok().map(f64::from),
        _ => None,
    }
}

/// Builtins that make another value of one, as in `sorted(f())` and `len(f())`.
const CONVERSIONS: [&str; 5] = ["len", "list", "set", "sorted", "tuple"];

/// What one of them makes of a value without objects; `None` where it raises, or where that is not told by the value as it is sent.
fn convert(builtin: &str, value: &Value) -> Option<Value> {
    match builtin {
        "len" => length(value).map(Value::int),
        "list" => sequence(value).map(|items| Value::List(items.to_vec())),
        "tuple" => sequence(value).map(|items| Value::Tuple(items.to_vec())),
        // Comparing sets takes no notice of order and repeats.
        "set" => members(value).filter(|items| items.iter().all(is_exact_key)).map(|items| Value::Set(items.to_vec())),
        "sorted" => members(value).and_then(sorted).map(Value::List),
        _ => None,
    }
}

/// The items of what has an order.
fn sequence(value: &Value) -> Option<&[Value]> {
    match value {
        Value::List(items) | Value::Tuple(items) => Some(items),
        _ => None,
    }
}

/// The items of a sequence, or the members of a set, whose order is not sent.
fn members(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Set(items) | Value::FrozenSet(items) => Some(items),
        _ => sequence(value),
    }
}

/// Python's `len(value)`.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Str(text) => Some(text.chars().count()),
        Value::Bytes(bytes) => Some(bytes.len()),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => Some(items.len()),
        Value::Dict(pairs) => Some(pairs.len()),
        _ => None,
    }
}

/// Whether a value is hashable, and equal to itself whichever object it is.
fn is_exact_key(value: &Value) -> bool {
    match value {
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Bytes(_) => true,
        Value::Tuple(items) => items.iter().all(is_exact_key),
        _ => false,
    }
}

/// Python's `sorted(items)` for integers alone or texts alone, where nothing hangs on the order that they had.
fn sorted(items: &[Value]) -> Option<Vec<Value>> {
    let are_integers = items.iter().all(|item| matches!(item, Value::Int(_)));
    if !are_integers && !items.iter().all(|item| matches!(item, Value::Str(_))) {
        return None;
    }
    let mut sorted = items.to_vec();
    sorted.sort_by(|a, b| match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        // UTF-8 sorts as its code points do.
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        _ => std::cmp::Ordering::Equal,
    });
    Some(sorted)
}

impl LiteralTests {
    /// [`Self::read`], once for all attempts at a task.
    pub(super) fn read_once(code: &TestCode) -> Arc<Option<Self>> {
        let digest = content_hash(code);
        if let Some((known, _)) = READ.get(&digest) {
            return known;
        }
        let tests = Arc::new(Self::read(code));
        READ.insert(digest, (Arc::clone(&tests), record_weight(code).max(1)));
        tests
    }

    /// Has `program` make the calls; `None` where it takes the test runner to tell what they say: where program and tests could be told
    /// apart from one process, too.
    pub(super) fn run(
        &self,
        runner: &mut Runner<'_>,
        program: &str,
        request: &ProblemRequest<'_>,
    ) -> Result<Option<TestsReport>, Dropped> {
        if !plain_program::is_plain(program, &self.builtins, &self.of_set_up) {
            return Ok(None);
        }
        let assertions = self.tests.iter().flat_map(|(_, assertions)| assertions);
        let arguments = assertions.map(|assertion| assertion.arguments.clone());
        let calls = Job::calls(program, self.function.as_str(), arguments);
        let outcome = runner.run(&configure_job(request.image, request.job_limits(), request.seed, calls))?;
        let failure = job_failure(&outcome);
        let is_left = match &outcome.exit {
            Exit::MissingEntry => true,
            // To the test runner, what does not fit across is a failure of the crossing.
            Exit::Exceeded { limit, .. } => *limit == LimitKind::OutputBytes,
            _ => false,
        };
        if is_left {
            return Ok(None);
        }
        let mut results = outcome.calls.iter();
        let mut records = Vec::with_capacity(self.tests.len());
        for (id, assertions) in &self.tests {
            let mut record = (TestCodeResult::Passed, String::new());
            for assertion in assertions {
                let Some(call) = results.next() else { return Ok(failure.map(Err)) };
                let Some(found) = assertion.result(call, request) else { return Ok(None) };
                record = found;
                if record.0 != TestCodeResult::Passed {
                    break;
                }
            }
            let (result, text) = record;
            records.push(TestCodeRecord { id: id.clone(), result, text });
        }
        Ok(match failure {
            // Lines see the end of the program that a later one of them causes; a function does not come to it.
            Some(failure) if self.is_lines => Some(Err(failure)),
            // An end behind the last call.
            Some(_) if records.iter().all(|record| record.result == TestCodeResult::Passed) => None,
            _ => Some(Ok(records)),
        })
    }
}

impl Assertion {
    /// What becomes of its test by this result of its call, and a text for people; `None` where it takes the test runner to tell.
    fn result(&self, call: &CallResult, request: &ProblemRequest<'_>) -> Option<(TestCodeResult, String)> {
        if let CallResult::Raised(GuestError { kind, message }) = call {
            // A longer message may have been cut.
            let is_plain = is_listed(ERRORS, kind.as_str()) && message.len() <= MAX_MESSAGE;
            return is_plain.then(|| (TestCodeResult::Error, error_text(kind, message)));
        }
        let _permit = LargePermit::wait(encoded_bytes(call));
        let found = decode_call(call, &request.job_limits()).ok().filter(|value| !value.has_object())?;
        if self.holds(&found)? {
            return Some((TestCodeResult::Passed, String::new()));
        }
        self.message.as_ref().map(|message| (TestCodeResult::Failed, error_text("AssertionError", message)))
    }

    /// Whether it holds of a value without objects of the library, whose `==` is their own; `None` where it takes the test runner to tell.
    fn holds(&self, found: &Value) -> Option<bool> {
        match self.through {
            None => self.claim.holds(found),
            Some(builtin) => self.claim.holds(&convert(builtin, found)?),
        }
    }
}

/// The text of an exception, as the test runner cuts it.
fn error_text(kind: &str, message: &str) -> String {
    format!("{kind}: {message}").chars().take(300).collect()
}

/// Python's `bool(value)`.
fn is_true(value: &Value) -> bool {
    match value {
        Value::None => false,
        Value::Bool(value) => *value,
        Value::Int(value) => !value.is_zero(),
        Value::Float(value) => *value != 0.0,
        other => length(other) != Some(0),
    }
}

#[cfg(test)]
mod tests {
    use veriplay_core::{TestStyle, Trust};

    use super::*;
    use crate::cases::{is_yes, texts};

    fn asserting(line: &str) -> TestCode {
        TestCode::new(Trust::Split, TestStyle::Asserts(vec![format!("assert {line}")]))
    }

    #[test]
    fn a_claim_holds_as_in_python() {
        for [claim, found, holds] in texts(include_str!("../../tests/main/cases/claims.txt")) {
            let read = LiteralTests::read(&asserting(&claim)).unwrap_or_else(|| panic!("{claim} is not read"));
            let holds = if holds == "?" { None } else { Some(is_yes(&holds)) };
            let value = Value::parse_repr(&found).unwrap();
            assert_eq!(read.tests[0].1[0].holds(&value), holds, "{claim}: {found}");
        }
    }

    #[test]
    fn tests_are_read_once() {
        let code = asserting("f(1234567) == 1");
        let (once, again) = (LiteralTests::read_once(&code), LiteralTests::read_once(&code));
        assert!(Arc::ptr_eq(&once, &again));
        assert_eq!(*once, LiteralTests::read(&code));
    }
}
