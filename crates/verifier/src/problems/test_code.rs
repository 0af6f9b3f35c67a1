//! Test code: it holds expected values, so it runs in an instance of its own and calls the program in another.
//!
//! The guest's test runner (`sandboxes/python/testing.py`) reports one result a test, as plain values. Under split trust
//! the program cannot reach it, so its report is that of the tests. Under shared trust it can: the evidence says `shared`.
//! Either way a test without a result of its own is not passed.

use std::collections::HashSet;

use veriplay_core::{Dropped, Entry, Job, Outcome, Peer, Status, TestCode, TestStyle, Trust, Value, content_hash};

use super::{ProblemRequest, Ruling};
use crate::run::{Runner, calls, failure, value};

/// The tests' own program: all it needs is in the image.
const RUNNER: &str = "from _veriplay_tests import run";
/// The rule of verdicts whose tests the program could have touched.
const SHARED: &str = "shared";

/// Judges `program`, prelude and all, by `code`.
pub(super) fn judge(
    runner: &mut Runner<'_>,
    code: &TestCode,
    program: &str,
    request: &ProblemRequest<'_>,
) -> Result<Ruling, Dropped> {
    let outcome = runner.run(&job(code, program, request))?;
    let rule = if code.trust == Trust::Shared { SHARED } else { "" }.to_owned();
    let planned = planned(code);
    let records = match records(&outcome, request) {
        Ok(records) => records,
        Err((status, detail)) => {
            return Ok(Ruling { status, passed: 0, total: count(planned.unwrap_or(1)), rule, detail });
        }
    };
    let (status, detail) = ruled(&records, planned);
    let passed = records.iter().filter(|record| record.result == TestResult::Passed).count();
    let total = planned.unwrap_or(0).max(records.len()).max(1);
    Ok(Ruling { status, passed: count(passed), total: count(total), rule, detail })
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

fn job(code: &TestCode, program: &str, request: &ProblemRequest<'_>) -> Job {
    let text = |text: &str| Value::str(text);
    let (style, sources, function) = match &code.style {
        TestStyle::Asserts(asserts) => ("asserts", asserts.iter().map(|source| text(source)).collect(), ""),
        TestStyle::Check { source, function } => ("check", vec![text(source)], function.as_str()),
        TestStyle::Functions(source) => ("functions", vec![text(source)], ""),
    };
    let (peer, shared) = match code.trust {
        Trust::Split => (Some(Peer { program: program.to_owned(), seed: request.seed }), Value::None),
        Trust::Shared => (None, text(program)),
    };
    let arguments = vec![text(style), text(&code.setup), Value::List(sources), text(function), shared];
    let entry = Entry::Calls { function: "run".to_owned(), arguments: vec![arguments] };
    Job { entry, peer, ..calls(request.image, RUNNER, Vec::new(), request.job_limits(), seed(code, request.seed)) }
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
    /// The program does not define what is tested.
    Missing,
}

struct Record {
    id: String,
    result: TestResult,
    text: String,
}

/// The report of the tests, or why there is none. An end of the program's own is told before that of the tests, which
/// follows from it.
fn records(outcome: &Outcome, request: &ProblemRequest<'_>) -> Result<Vec<Record>, (Status, String)> {
    if let Some(ended) = outcome.peer.as_deref().and_then(failure) {
        return Err(ended);
    }
    if let Some((status, detail)) = failure(outcome) {
        return Err((status, format!("while the tests ran: {detail}")));
    }
    let unreadable = |why: String| (Status::RuntimeError, format!("no report of the tests: {why}"));
    let [call] = outcome.calls.as_slice() else { return Err(unreadable("it is missing".to_owned())) };
    let report = value(call, &request.job_limits()).map_err(|error| unreadable(error.text()))?;
    let Value::List(rows) = &report else { return Err(unreadable("it is no list".to_owned())) };
    rows.iter().map(|row| record(row).ok_or_else(|| unreadable(format!("`{row}` is no result")))).collect()
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
            _ => Status::WrongAnswer,
        };
        return (status, format!("test `{}`: {:?}: {}", record.id, record.result, record.text));
    }
    if records.is_empty() || planned.is_some_and(|planned| planned != records.len()) {
        return (Status::RuntimeError, format!("{} tests reported, {planned:?} planned", records.len()));
    }
    (Status::Accepted, String::new())
}
