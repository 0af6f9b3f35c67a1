//! Test code: it holds expected values, so it runs in an instance of its own and calls the program in another.
//!
//! The guest's test runner (`crates/sandbox/guests/python/testing.py`) reports one result a test, as plain values. Under split trust
//! the program cannot reach it, so its report is that of the tests. Under shared trust it can: the evidence says `shared`.
//! Either way a test without a result of its own is not passed.
//!
//! What cannot cross between the two instances makes a test unjudgeable, and so does a verdict that hangs on how the tests are
//! read: each [`Reading`] that could change it is tried in a job of its own, and all must agree.

use std::collections::HashSet;

use veriplay_core::{Callee, Dropped, Job, Outcome, Status, TestCode, TestStyle, Trust, Value, content_hash};

use super::ProblemRequest;
use crate::run::{self, Decision, Runner, failure, value};

/// The tests' own program: all it needs is in the image.
const RUNNER: &str = "from _veriplay_tests import run";
/// The rule of verdicts whose tests the program could have touched.
const SHARED: &str = "shared";
/// The rule of tests that pass, and name nothing of the program's.
pub(crate) const VACUOUS: &str = "vacuous";

/// How tests can be read otherwise than at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// What a call changes of the tests' own objects, beside returning a value, is not seen: it could move what is expected.
    Changes,
    /// A name of the tests that is a builtin, and that the program defines too, is the program's.
    Builtins,
}

impl Reading {
    const ALL: [Reading; 2] = [Reading::Changes, Reading::Builtins];

    /// Its word in the guest.
    const fn word(self) -> &'static str {
        match self {
            Reading::Changes => "changes",
            Reading::Builtins => "builtins",
        }
    }

    /// Why it cannot decide a verdict.
    const fn trouble(self) -> &'static str {
        match self {
            Reading::Changes => {
                "the tests hold or fail by what a call changes of its argument beside returning a value; they need `shared` trust"
            }
            Reading::Builtins => {
                "the program defines a builtin that the tests use, and it matters which of the two they mean; name the functions \
                 under test in `functions`"
            }
        }
    }
}

/// Judges `program`, prelude and all, by `code`.
pub(super) fn judge(
    runner: &mut Runner<'_>,
    code: &TestCode,
    program: &str,
    request: &ProblemRequest<'_>,
) -> Result<Decision, Dropped> {
    let (decision, others) = judge_reading(runner, code, program, request, None)?;
    if decision.status == Status::Unjudgeable {
        return Ok(decision);
    }
    for reading in others {
        // What is not accepted as it stands may be so by what the tests mean: only names can mean something else.
        if decision.status != Status::Accepted && reading == Reading::Changes {
            continue;
        }
        let (other, _) = judge_reading(runner, code, program, request, Some(reading))?;
        if (other.status == Status::Accepted) != (decision.status == Status::Accepted) {
            let detail = format!("{}; by the other reading: {:?} {}", reading.trouble(), other.status, other.detail);
            return Ok(Decision { status: Status::Unjudgeable, passed: 0, detail, ..decision });
        }
    }
    Ok(decision)
}

/// The decision by one reading, and the others that could change it.
fn judge_reading(
    runner: &mut Runner<'_>,
    code: &TestCode,
    program: &str,
    request: &ProblemRequest<'_>,
    reading: Option<Reading>,
) -> Result<(Decision, Vec<Reading>), Dropped> {
    let outcome = runner.run(&job(code, program, request, reading))?;
    let rule = if code.trust == Trust::Shared { SHARED } else { "" }.to_owned();
    let planned = planned(code);
    let Report { records, readings } = match report(&outcome, request) {
        Ok(report) => report,
        Err((status, detail)) => {
            return Ok((Decision { status, passed: 0, total: count(planned.unwrap_or(1)), rule, detail }, Vec::new()));
        }
    };
    let (status, detail) = ruled(&records, planned);
    let first = records.iter().find(|record| record.result != TestResult::Passed).map(|record| record.result);
    let rule = if first == Some(TestResult::Vacuous) { VACUOUS.to_owned() } else { rule };
    let passed = records.iter().filter(|record| record.result == TestResult::Passed).count();
    let total = planned.unwrap_or(0).max(records.len()).max(1);
    Ok((Decision { status, passed: count(passed), total: count(total), rule, detail }, readings))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// How many tests there must be, where the code says so before it runs.
fn planned(code: &TestCode) -> Option<usize> {
    match &code.style {
        TestStyle::Asserts(asserts) => Some(asserts.len()),
        TestStyle::Check { .. } => Some(1),
        TestStyle::Functions(_) => None,
    }
}

fn job(code: &TestCode, program: &str, request: &ProblemRequest<'_>, reading: Option<Reading>) -> Job {
    let text = |text: &str| Value::str(text);
    let (style, sources, function) = match &code.style {
        TestStyle::Asserts(asserts) => ("asserts", asserts.iter().map(|source| text(source)).collect(), ""),
        TestStyle::Check { source, function } => ("check", vec![text(source)], function.as_str()),
        TestStyle::Functions(source) => ("functions", vec![text(source)], ""),
    };
    let (callee, shared) = match code.trust {
        Trust::Split => {
            let callee =
                Callee { program: program.to_owned(), seed: request.seed, shares_objects: true, ..Callee::default() };
            (Some(callee), Value::None)
        }
        Trust::Shared => (None, text(program)),
    };
    let functions = code.functions.iter().map(String::as_str);
    let functions = [function].into_iter().filter(|name| !name.is_empty()).chain(functions).map(text).collect();
    let readings = Value::List(reading.iter().map(|reading| text(reading.word())).collect());
    let arguments =
        vec![text(style), text(&code.setup), Value::List(sources), Value::List(functions), shared, readings];
    let run = Job { callee, ..Job::call(RUNNER, "run", arguments) };
    run::job(request.image, request.job_limits(), seed(code, request.seed), run)
}

/// Seeds the tests: a function of their text, so that the program, which does not have it, cannot predict what they draw.
fn seed(code: &TestCode, seed: u64) -> u64 {
    let digest = content_hash(&(code, seed));
    u64::from_str_radix(&digest.as_str()[..16], 16).expect("a digest is hexadecimal")
}

/// What became of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestResult {
    Passed,
    Failed,
    Error,
    Skipped,
    /// The program does not define the tested name.
    Missing,
    /// Something could not cross between the tests and the program.
    Unjudgeable,
    /// It passed, and names nothing of the program's.
    Vacuous,
}

struct Record {
    id: String,
    result: TestResult,
    text: String,
}

/// What the tests report.
struct Report {
    records: Vec<Record>,
    /// Other readings that could change the records.
    readings: Vec<Reading>,
}

/// The report of the tests, or why there is none. An end of the program's own is told before that of the tests, which
/// follows from it.
fn report(outcome: &Outcome, request: &ProblemRequest<'_>) -> Result<Report, (Status, String)> {
    if let Some(ended) = outcome.callee.as_deref().and_then(failure) {
        return Err(ended);
    }
    if let Some((status, detail)) = failure(outcome) {
        return Err((status, format!("while the tests ran: {detail}")));
    }
    let unreadable = |why: String| (Status::RuntimeError, format!("no report of the tests: {why}"));
    let [call] = outcome.calls.as_slice() else { return Err(unreadable("it is missing".to_owned())) };
    let report = value(call, &request.job_limits()).map_err(|error| unreadable(error.text()))?;
    let Value::Tuple(parts) = &report else { return Err(unreadable("it is no tuple".to_owned())) };
    let [Value::List(rows), Value::List(words)] = parts.as_slice() else {
        return Err(unreadable("it is no pair of lists".to_owned()));
    };
    let records = rows.iter().map(record).collect::<Option<_>>();
    let records = records.ok_or_else(|| unreadable("a row that is no result".to_owned()))?;
    let named = |reading: &Reading| words.iter().any(|word| matches!(word, Value::Str(word) if word == reading.word()));
    Ok(Report { records, readings: Reading::ALL.into_iter().filter(named).collect() })
}

fn record(row: &Value) -> Option<Record> {
    let Value::Tuple(parts) = row else { return None };
    let [Value::Str(id), Value::Str(word), Value::Str(text)] = parts.as_slice() else { return None };
    let result = match word.as_str() {
        "passed" => TestResult::Passed,
        "failed" => TestResult::Failed,
        "error" => TestResult::Error,
        "skipped" => TestResult::Skipped,
        "missing" => TestResult::Missing,
        "unjudgeable" => TestResult::Unjudgeable,
        "vacuous" => TestResult::Vacuous,
        _ => return None,
    };
    Some(Record { id: id.clone(), result, text: text.clone() })
}

/// Accepted when every planned test has passed, each once; else the first one that has not decides.
fn ruled(records: &[Record], planned: Option<usize>) -> (Status, String) {
    let mut seen = HashSet::new();
    if let Some(twice) = records.iter().find(|record| !seen.insert(record.id.as_str())) {
        return (Status::RuntimeError, format!("test `{}` has two results", twice.id));
    }
    if let Some(record) = records.iter().find(|record| record.result != TestResult::Passed) {
        let status = match record.result {
            TestResult::Error => Status::RuntimeError,
            TestResult::Missing => Status::CompileError,
            TestResult::Unjudgeable | TestResult::Vacuous => Status::Unjudgeable,
            _ => Status::WrongAnswer,
        };
        return (status, format!("test `{}`: {:?}: {}", record.id, record.result, record.text));
    }
    if records.is_empty() || planned.is_some_and(|planned| planned != records.len()) {
        return (Status::RuntimeError, format!("{} tests reported, {planned:?} planned", records.len()));
    }
    (Status::Accepted, String::new())
}
