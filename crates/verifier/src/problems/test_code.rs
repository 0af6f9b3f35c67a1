//! Judges by test code. It holds expected values, so it runs in an instance of its own and calls the program in another.
//!
//! The guest's test runner (`sandboxes/python/testing.py`) reports one result per test, as plain values. Under split trust the
//! program cannot reach the runner or forge its report. Under shared trust it can, and the evidence says `shared`. In both cases a test
//! without a result of its own is not passed.
//!
//! Two instances are never quite one process, so under split trust a program is accepted only if it passes in two runs: in an instance
//! of its own, where it cannot forge, and beside the tests, where nothing has to cross. Where the second run disagrees, the program is
//! unjudgeable. One that the first run refuses gets no second. The second starts from what the first has compiled.
//!
//! Most test code says no more than which calls return what. It is read as such ([`LiteralTests`]), and needs neither run.
//!
//! What cannot cross between the two instances makes a test unjudgeable, and so does a verdict that hangs on how the tests are
//! read: each [`TestReading`] that could change it is tried in a job of its own, and all must agree.

use veriplay_core::{Callee, Dropped, Job, Outcome, Preload, Status, TestCode, TestStyle, Trust, Value, content_hash};

use super::ProblemRequest;
use super::literal_tests::LiteralTests;
use super::test_results::{Failure, TestCodeRecord, TestCodeResult, decision};
use crate::extraction::complete_body;
use crate::prelude::function_under_test;
use crate::runner::{Decision, Runner, configure_job, decode_call, job_failure, seed_from, string_list};

/// The program of the test job. All it imports is in the image.
const RUNNER: &str = "from _veriplay_tests import run";
/// The program that reads the tests.
const READER: &str = "from _veriplay_tests import prepare";
/// The rule of what a run next to the tests says, which the program could have touched.
const SHARED: &str = "shared";

/// An alternative interpretation of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestReading {
    /// Changes that a call makes to the tests' objects are not seen; they could affect expected values.
    Changes,
    /// A builtin that the tests use, and that the program redefines, is the program's.
    Builtins,
}

impl TestReading {
    const ALL: [TestReading; 2] = [TestReading::Changes, TestReading::Builtins];

    /// Its name in the guest.
    const fn word(self) -> &'static str {
        match self {
            TestReading::Changes => "changes",
            TestReading::Builtins => "builtins",
        }
    }

    /// Why a verdict that depends on it is unjudgeable.
    const fn disagreement(self) -> &'static str {
        match self {
            TestReading::Changes => {
                "the tests hold or fail by what a call changes of its argument beside returning a value; they need `shared` trust"
            }
            TestReading::Builtins => {
                "the program defines a builtin that the tests use, and it matters which of the two they mean; name the functions \
                 under test in `functions`"
            }
        }
    }
}

/// One run of the tests.
#[derive(Debug, Clone, Copy)]
struct TestRun<'a> {
    code: &'a TestCode,
    program: &'a str,
    request: &'a ProblemRequest<'a>,
    /// Where the program is: in the instance of the tests, or in an instance of its own.
    trust: Trust,
    /// How the tests are read otherwise than at first.
    reading: Option<TestReading>,
    /// What the program was compiled to in an earlier run, in an instance of its own.
    code_of_program: Option<&'a [u8]>,
}

/// Judges `program`, prelude and all, by `code`.
pub(super) fn judge(
    runner: &mut Runner<'_>,
    code: &TestCode,
    program: &str,
    request: &ProblemRequest<'_>,
) -> Result<Decision, Dropped> {
    // A prompt may end behind its signature, and is the set-up of its tests.
    if code.setup.trim_end().ends_with(':') {
        let setup = complete_body(&code.setup);
        if setup != code.setup {
            return judge(runner, &TestCode { setup, ..code.clone() }, program, request);
        }
    }
    if code.trust == Trust::Split
        && let Some(tests) = LiteralTests::read_once(code).as_ref()
        && let Some(report) = tests.run(runner, program, request)?
    {
        return Ok(decision(report, planned_tests(code), ""));
    }
    let first = TestRun { code, program, request, trust: code.trust, reading: None, code_of_program: None };
    let (decision, readings, code_of_program) = first.judge(runner)?;
    if decision.status == Status::Unjudgeable {
        return Ok(decision);
    }
    for reading in readings {
        // Ignored changes can only turn Accepted into a failure; names can do both.
        if decision.status != Status::Accepted && reading == TestReading::Changes {
            continue;
        }
        let (other, ..) = TestRun { reading: Some(reading), ..first }.judge(runner)?;
        if (other.status == Status::Accepted) != (decision.status == Status::Accepted) {
            let detail =
                format!("{}; by the other reading: {:?} {}", reading.disagreement(), other.status, other.detail);
            return Ok(Decision { status: Status::Unjudgeable, passed: 0, detail, ..decision });
        }
    }
    if decision.status != Status::Accepted || code.trust == Trust::Shared {
        return Ok(decision);
    }
    let beside = TestRun { trust: Trust::Shared, code_of_program: code_of_program.as_deref(), ..first };
    let (beside, ..) = beside.judge(runner)?;
    if beside.status == Status::Accepted {
        return Ok(decision);
    }
    let detail = format!(
        "the tests pass with the program in an instance of its own, and not with it beside them: {:?}: {}",
        beside.status, beside.detail
    );
    Ok(Decision { status: Status::Unjudgeable, passed: 0, rule: SHARED.to_owned(), detail, ..decision })
}

/// The decision of a run, the readings of the tests that could change it, and what the program was compiled to, where it was in an instance of its own.
type JudgedRun = (Decision, Vec<TestReading>, Option<Vec<u8>>);

impl TestRun<'_> {
    fn judge(&self, runner: &mut Runner<'_>) -> Result<JudgedRun, Dropped> {
        let outcome = runner.run(&self.job())?;
        let rule = if self.trust == Trust::Shared { SHARED } else { "" };
        let planned = planned_tests(self.code);
        Ok(match parse_report(&outcome, self.request) {
            Err(failure) => (decision(Err(failure), planned, rule), Vec::new(), None),
            Ok((records, readings)) => {
                (decision(Ok(records), planned, rule), readings, code_of_callee(&outcome, self.request))
            }
        })
    }

    fn job(&self) -> Job {
        let Self { code, program, request, trust, reading, code_of_program } = *self;
        let (callee, shared) = match trust {
            Trust::Split => {
                let (program, seed) = (program.to_owned(), request.seed);
                (Some(Callee { program, seed, shares_objects: true, ..Callee::default() }), Value::None)
            }
            Trust::Shared => {
                (None, code_of_program.map_or_else(|| Value::str(program), |code| Value::Bytes(code.to_vec())))
            }
        };
        let under_test = function_under_test(code).filter(|name| !name.is_empty()).into_iter();
        let functions = string_list(under_test.chain(code.functions.iter().map(String::as_str)));
        let arguments = vec![functions, shared, string_list(reading.map(TestReading::word))];
        let preload = Some(prepare(code, trust));
        let run = Job { preload, callee, ..Job::call(RUNNER, "run", arguments) };
        // Both runs draw alike, so that they test the same inputs.
        configure_job(request.image, request.job_limits(), tests_seed(code, request.seed), run)
    }
}

/// What the callee's program was compiled to.
fn code_of_callee(outcome: &Outcome, request: &ProblemRequest<'_>) -> Option<Vec<u8>> {
    let [code] = outcome.callee.as_ref()?.calls.as_slice() else { return None };
    match decode_call(code, &request.job_limits()) {
        Ok(Value::Bytes(code)) => Some(code),
        _ => None,
    }
}

/// The call that reads the tests, which is the same for all attempts at a task.
fn prepare(code: &TestCode, trust: Trust) -> Preload {
    let (style, sources) = match &code.style {
        TestStyle::Asserts(asserts) => ("asserts", asserts.as_slice()),
        TestStyle::Check { source, .. } => ("check", std::slice::from_ref(source)),
        TestStyle::Functions(source) => ("functions", std::slice::from_ref(source)),
    };
    let is_split = Value::Bool(trust == Trust::Split);
    Preload {
        program: READER.to_owned(),
        function: "prepare".to_owned(),
        arguments: vec![Value::str(style), Value::str(code.setup.as_str()), string_list(sources), is_split],
    }
}

/// The number of tests, where it is known before the code runs.
fn planned_tests(code: &TestCode) -> Option<usize> {
    match &code.style {
        TestStyle::Asserts(asserts) => Some(asserts.len()),
        TestStyle::Check { .. } => Some(1),
        TestStyle::Functions(_) => None,
    }
}

/// Seeds the tests: a function of their text, so that the program, which does not have it, cannot predict what they draw.
fn tests_seed(code: &TestCode, seed: u64) -> u64 {
    seed_from(&content_hash(&(code, seed)))
}

/// Parses the records of the tests, and the readings that could change them. A failure of the program comes first, because it causes that of the tests.
fn parse_report(
    outcome: &Outcome,
    request: &ProblemRequest<'_>,
) -> Result<(Vec<TestCodeRecord>, Vec<TestReading>), Failure> {
    if let Some(ended) = outcome.callee.as_deref().and_then(job_failure) {
        return Err(ended);
    }
    if let Some((status, detail)) = job_failure(outcome) {
        return Err((status, format!("while the tests ran: {detail}")));
    }
    let unreadable = |why: String| (Status::RuntimeError, format!("no report of the tests: {why}"));
    let [call] = outcome.calls.as_slice() else { return Err(unreadable("it is missing".to_owned())) };
    let report = decode_call(call, &request.job_limits()).map_err(|error| unreadable(error.text()))?;
    let Value::Tuple(parts) = &report else { return Err(unreadable("it is no tuple".to_owned())) };
    let [Value::List(rows), Value::List(words)] = parts.as_slice() else {
        return Err(unreadable("it is no pair of lists".to_owned()));
    };
    let records = rows.iter().map(parse_record).collect::<Option<_>>();
    let records = records.ok_or_else(|| unreadable("a row that is no result".to_owned()))?;
    let named =
        |reading: &TestReading| words.iter().any(|word| matches!(word, Value::Str(word) if word == reading.word()));
    Ok((records, TestReading::ALL.into_iter().filter(named).collect()))
}

fn parse_record(row: &Value) -> Option<TestCodeRecord> {
    let Value::Tuple(parts) = row else { return None };
    let [Value::Str(id), Value::Str(word), Value::Str(text)] = parts.as_slice() else { return None };
    let result = match word.as_str() {
        "passed" => TestCodeResult::Passed,
        "failed" => TestCodeResult::Failed,
        "error" => TestCodeResult::Error,
        "skipped" => TestCodeResult::Skipped,
        "missing" => TestCodeResult::Missing,
        "unjudgeable" => TestCodeResult::Unjudgeable,
        "vacuous" => TestCodeResult::Vacuous,
        _ => return None,
    };
    Some(TestCodeRecord { id: id.clone(), result, text: text.clone() })
}
