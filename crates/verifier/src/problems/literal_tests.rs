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
    CallResult, Digest, Dropped, Exit, GuestError, Job, LimitKind, Status, TestCode, Value, content_hash, record_weight,
};
use veriplay_python::large::LargePermit;

use super::ProblemRequest;
use super::plain_program::{self, is_listed};
use super::test_results::{TestCodeRecord, TestCodeResult};
use crate::runner::{Runner, configure_job, decode_call, encoded_bytes, job_failure};

/// Exceptions that say no more of themselves than their name and message. A test that meets one has an error.
const ERRORS: &str = "ArithmeticError AttributeError BufferError EOFError FloatingPointError ImportError IndexError KeyError \
    LookupError ModuleNotFoundError NameError NotImplementedError OverflowError RecursionError RuntimeError \
    TypeError UnboundLocalError ValueError ZeroDivisionError";

/// The most bytes of an exception's message that is told as it is.
const MAX_MESSAGE: usize = 390;

/// Tests that are cases.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LiteralTests {
    /// The function that they call, by the name that it has in the program.
    function: String,
    /// Their names, and what each asserts in order, at the first failure of which it ends.
    tests: Vec<(String, Vec<Assertion>)>,
    /// Whether each is a line for itself, which runs whatever became of those before it.
    is_lines: bool,
    /// Builtins that they use, and that must mean nothing else in the program.
    builtins: Vec<&'static str>,
    /// Other names that the set-up gives a meaning, in one process to the program, too; and what they are imported from, if so.
    of_set_up: Vec<(String, Option<String>)>,
}

/// About how many test codes of usual size are as many bytes.
const CACHED_CODES: usize = 1 << 12;

/// The most memory, about, of the test code whose reading is cached, in bytes.
const CACHED_BYTES: u64 = 8 << 20;

/// What was read lately: attempts at one task come together.
static READ: LazyLock<Cache<Digest, ReadCode, CodeWeight>> =
    LazyLock::new(|| Cache::with_weighter(CACHED_CODES, CACHED_BYTES, CodeWeight));

/// Test code as it was read, and about the bytes of memory that it takes.
#[derive(Debug, Clone)]
struct ReadCode {
    tests: Arc<Option<LiteralTests>>,
    weight: u64,
}

/// Weighs the entries of the cache by their memory.
#[derive(Debug, Clone)]
struct CodeWeight;

impl Weighter<Digest, ReadCode> for CodeWeight {
    fn weight(&self, _: &Digest, code: &ReadCode) -> u64 {
        code.weight
    }
}

/// An assertion about what one call returns.
#[derive(Debug, Clone, PartialEq)]
struct Assertion {
    arguments: Vec<Value>,
    /// What is made of the value before it is compared.
    through: Option<Conversion>,
    claim: Claim,
    /// What it says where it fails; `None` where that would have to be computed.
    message: Option<String>,
}

/// What is claimed of a value.
#[derive(Debug, Clone, PartialEq)]
enum Claim {
    /// `== literal`
    Equal(Value),
    /// `!= literal`
    Different(Value),
    /// `is None`, `is True`, `is False`
    Same(Value),
    /// `is not None` and so on
    NotSame(Value),
    /// `assert f()`, or with `not` before it.
    Truth(bool),
    /// `abs(f() - literal) < literal`, or with `<=`: of numbers that a float has.
    Near { target: f64, bound: f64, or_equal: bool },
}

impl Claim {
    /// Whether it holds of a basic value, as [`is_basic`] has it; `None` where it takes the test runner to tell.
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

/// `sorted(f())`, `len(f())` and so on: a builtin that makes another value of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conversion {
    Len,
    List,
    Set,
    Sorted,
    Tuple,
}

impl Conversion {
    const ALL: [Conversion; 5] =
        [Conversion::Len, Conversion::List, Conversion::Set, Conversion::Sorted, Conversion::Tuple];

    /// The builtin.
    const fn name(self) -> &'static str {
        match self {
            Conversion::Len => "len",
            Conversion::List => "list",
            Conversion::Set => "set",
            Conversion::Sorted => "sorted",
            Conversion::Tuple => "tuple",
        }
    }

    /// What it makes of a basic value; `None` where it raises, or where that is not told by the value as it is sent.
    fn convert(self, value: &Value) -> Option<Value> {
        match self {
            Conversion::Len => length(value).map(Value::int),
            Conversion::List => sequence(value).map(|items| Value::List(items.to_vec())),
            Conversion::Tuple => sequence(value).map(|items| Value::Tuple(items.to_vec())),
            // Comparing sets takes no notice of order and repeats.
            Conversion::Set => {
                members(value).filter(|items| items.iter().all(is_exact_key)).map(|items| Value::Set(items.to_vec()))
            }
            Conversion::Sorted => members(value).and_then(sorted).map(Value::List),
        }
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
        if let Some(known) = READ.get(&digest) {
            return known.tests;
        }
        let tests = Arc::new(Self::read(code));
        READ.insert(digest, ReadCode { tests: Arc::clone(&tests), weight: record_weight(code).max(1) });
        tests
    }

    /// Has `program` make the calls; `None` where it takes the test runner to tell what they say: where program and tests could be told
    /// apart from one process, too.
    pub(super) fn run(
        &self,
        runner: &mut Runner<'_>,
        program: &str,
        request: &ProblemRequest<'_>,
    ) -> Result<Option<TestsRun>, Dropped> {
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
                let Some(call) = results.next() else { return Ok(failure.map(TestsRun::Failed)) };
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
            Some(failure) if self.is_lines => Some(TestsRun::Failed(failure)),
            // An end behind the last call.
            Some(_) if records.iter().all(|record| record.result == TestCodeResult::Passed) => None,
            _ => Some(TestsRun::Ended(records)),
        })
    }
}

/// What became of tests.
pub(super) enum TestsRun {
    /// All tests have a record.
    Ended(Vec<TestCodeRecord>),
    /// The program failed by itself before that.
    Failed((Status, String)),
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
        let found = decode_call(call, &request.job_limits()).ok().filter(is_basic)?;
        let found = match self.through {
            None => found,
            Some(conversion) => conversion.convert(&found)?,
        };
        if self.claim.holds(&found)? {
            return Some((TestCodeResult::Passed, String::new()));
        }
        self.message.as_ref().map(|message| (TestCodeResult::Failed, error_text("AssertionError", message)))
    }
}

/// The text of an exception, as the test runner cuts it.
fn error_text(kind: &str, message: &str) -> String {
    format!("{kind}: {message}").chars().take(300).collect()
}

/// Whether a value has nothing of the library's, whose `==` is its own.
fn is_basic(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => {
            items.iter().all(is_basic)
        }
        Value::Dict(pairs) => pairs.iter().all(|(key, value)| is_basic(key) && is_basic(value)),
        _ => true,
    }
}

/// Python's `bool(value)`.
fn is_true(value: &Value) -> bool {
    match value {
        Value::None => false,
        Value::Bool(value) => *value,
        Value::Int(value) => !value.is_zero(),
        Value::Float(value) => *value != 0.0,
        Value::Str(text) => !text.is_empty(),
        Value::Bytes(bytes) => !bytes.is_empty(),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => !items.is_empty(),
        Value::Dict(pairs) => !pairs.is_empty(),
        Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use dashu_int::IBig;
    use veriplay_core::TestStyle;

    use super::*;

    fn value(text: &str) -> Value {
        Value::parse_repr(text).unwrap()
    }

    #[test]
    fn a_claim_holds_as_in_python() {
        for (claim, found, holds) in [
            (Claim::Equal(value("1")), "True", true),
            (Claim::Equal(value("1")), "1.0", true),
            (Claim::Equal(value("[1]")), "(1,)", false),
            (Claim::Equal(value("{1, 2}")), "frozenset({2, 1})", true),
            (Claim::Equal(value("9007199254740993")), "9007199254740992.0", false),
            (Claim::Equal(value("0.0")), "-0.0", true),
            (Claim::Different(value("1")), "nan", true),
            (Claim::Different(value("[1.0]")), "[True]", false),
            (Claim::Same(value("True")), "1", false),
            (Claim::Same(value("None")), "None", true),
            (Claim::NotSame(value("None")), "0", true),
            (Claim::Truth(true), "nan", true),
            (Claim::Truth(true), "[0]", true),
            (Claim::Truth(true), "''", false),
            (Claim::Truth(false), "-0.0", true),
            (Claim::Truth(false), "{}", true),
            (Claim::Truth(false), "set()", true),
            (Claim::Near { target: 0.5, bound: 0.25, or_equal: false }, "0.7", true),
            (Claim::Near { target: 0.5, bound: 0.25, or_equal: false }, "0.75", false),
            (Claim::Near { target: 0.5, bound: 0.25, or_equal: true }, "0.25", true),
            (Claim::Near { target: 0.5, bound: 0.25, or_equal: true }, "nan", false),
            (Claim::Near { target: 0.5, bound: 0.75, or_equal: true }, "True", true),
            (Claim::Near { target: 0.5, bound: f64::INFINITY, or_equal: false }, "inf", false),
            (Claim::Near { target: -2147483648.0, bound: 4294967295.0, or_equal: false }, "2147483647", false),
        ] {
            assert_eq!(claim.holds(&value(found)), Some(holds), "{claim:?} of {found}");
        }
        let near = Claim::Near { target: 0.5, bound: 1e300, or_equal: false };
        for found in ["None", "'1'", "[1]", "10 ** 20", "2147483648"] {
            let found = if found.contains('*') { Value::Int(IBig::from(10).pow(20)) } else { value(found) };
            assert_eq!(near.holds(&found), None, "the test runner tells: {found:?}");
        }
    }
    #[test]
    fn a_conversion_is_what_the_builtin_makes_of_plain_values() {
        use Conversion::{Len, List, Set, Sorted, Tuple};
        for (conversion, found, made) in [
            (Len, "'a\u{e9}\u{1f600}'", "3"),
            (Len, "{'a': 1}", "1"),
            (Len, "{1, 2}", "2"),
            (List, "(1, [2])", "[1, [2]]"),
            (List, "[1.5]", "[1.5]"),
            (Tuple, "[]", "()"),
            (Set, "[2, 1, 2]", "{1, 2}"),
            (Set, "(None, (1, 'a'))", "{None, (1, 'a')}"),
            (Sorted, "[10, -3, 2]", "[-3, 2, 10]"),
            (Sorted, "('b', 'a', '\u{1f600}', '\u{ffff}')", "['a', 'b', '\u{ffff}', '\u{1f600}']"),
            (Sorted, "{3, 1}", "[1, 3]"),
            (Sorted, "[]", "[]"),
        ] {
            let converted = conversion.convert(&value(found)).unwrap();
            assert!(converted.python_eq(&value(made)), "{conversion:?} of {found}: {converted:?}");
        }
        for (conversion, found) in [
            (Len, "1"),
            (List, "{1}"),
            (Tuple, "{1}"),
            (List, "'ab'"),
            (List, "{1: 2}"),
            (Set, "[[1]]"),
            (Set, "[1.0]"),
            (Set, "'ab'"),
            (Sorted, "[1, 'a']"),
            (Sorted, "[1, True]"),
            (Sorted, "[1.0, 2.0]"),
            (Sorted, "None"),
        ] {
            assert_eq!(conversion.convert(&value(found)), None, "the test runner tells: {conversion:?} of {found}");
        }
    }

    #[test]
    fn tests_are_read_once() {
        let style = TestStyle::Asserts(vec!["assert f(1234567) == 1".to_owned()]);
        let code = TestCode::new(veriplay_core::Trust::Split, style);
        let (once, again) = (LiteralTests::read_once(&code), LiteralTests::read_once(&code));
        assert!(Arc::ptr_eq(&once, &again));
        assert_eq!(*once, LiteralTests::read(&code));
    }
}
