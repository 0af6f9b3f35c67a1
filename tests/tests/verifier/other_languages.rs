//! Forgeries in JavaScript and C++ on the real sandbox: programs that try to be accepted without doing the task, by every judge of what they print,
//! and functions that are called. Beside them stand right programs, which the same judges accept, before the forgeries and after.

use veriplay_core::{CallResult, Checks, Comparison, EncodeCaps, Execute, Exit, Job, Limits, Problem, Status, Value};
use veriplay_tests::{assert_none, cpp_sandbox, javascript_sandbox};
use veriplay_verifier::judges::{JudgeContext, JudgeFinding, OutputKind, ReturnedCall};
use veriplay_verifier::{JUDGES, ProblemRequest, judge_by_name, judge_programs};

use super::LIMITS;

/// Two cases, so that no constant is right, and fuel for a right program many times over.
const SUMS: [(&str, &str); 2] = [("3 4\n", "7\n"), ("10 -2\n", "8\n")];
const CALLS: [([i64; 2], i64); 2] = [([3, 4], 7), ([10, -2], 8)];
const SHORT: Limits = Limits { fuel: 300_000_000, ..LIMITS };

/// A program of a file, behind a line that says whether it is right, and what it does.
struct Attempt<'a> {
    is_right: bool,
    title: &'a str,
    program: &'a str,
}

fn attempts(text: &str) -> Vec<Attempt<'_>> {
    let mut attempts = Vec::new();
    for part in text.split("//! ").skip(1) {
        let (header, program) = part.split_once('\n').expect("a line and a program");
        let (word, title) = header.split_once(' ').expect("a word and a title");
        assert!(word == "right" || word == "wrong", "{header}");
        attempts.push(Attempt { is_right: word == "right", title, program });
    }
    assert!(attempts.iter().any(|attempt| attempt.is_right) && attempts.iter().any(|attempt| !attempt.is_right));
    attempts
}

/// The task of printing a sum, by each judge of texts that needs no program of the task's own.
fn problems(language: &str) -> Vec<Problem> {
    let judges = JUDGES.iter().filter(|judge| judge.supports(OutputKind::Texts) && judge.name() != "checker");
    let mut problems = Vec::new();
    for judge in judges {
        let mut problem = Problem::stdio(judge.name(), SUMS);
        problem.language = Some(language.to_owned());
        if let Checks::Stdio(checks) = &mut problem.checks {
            checks.comparison = Comparison::by(judge.name());
        }
        problems.push(problem);
    }
    assert!(problems.len() > 5);
    problems
}

/// The attempts of these that end otherwise than their titles say.
fn faults_of_printed(execute: &dyn Execute, problem: &Problem, attempts: &[&Attempt<'_>]) -> Vec<String> {
    let image = problem.language.as_deref().expect("it names its language");
    let requests: Vec<_> = attempts
        .iter()
        .map(|attempt| ProblemRequest {
            image,
            limits: SHORT,
            seed: 11,
            ..ProblemRequest::new(problem, attempt.program)
        })
        .collect();
    let mut faults = Vec::new();
    for (attempt, judged) in attempts.iter().zip(judge_programs(execute, &requests)) {
        let is_as_told = match &judged {
            Ok(verdict) if attempt.is_right => verdict.status == Status::Accepted,
            Ok(verdict) => {
                let is_refused = !matches!(verdict.status, Status::Accepted | Status::Unjudgeable);
                is_refused && verdict.passed < verdict.total
            }
            Err(_) => false,
        };
        if !is_as_told {
            faults.push(format!("{} by {}: {judged:?}", attempt.title, problem.task_id));
        }
    }
    faults
}

fn assert_printed(execute: &dyn Execute, language: &str, text: &str) {
    let attempts = attempts(text);
    let (right, wrong): (Vec<_>, Vec<_>) = attempts.iter().partition(|attempt| attempt.is_right);
    let mut faults = Vec::new();
    for problem in problems(language) {
        for attempts in [&right, &wrong, &right] {
            faults.extend(faults_of_printed(execute, &problem, attempts));
        }
    }
    assert_none(faults);
}

#[test]
fn programs_in_javascript_are_judged_by_what_they_print_alone() {
    let Some(sandbox) = javascript_sandbox() else { return };
    assert_printed(&sandbox, "javascript", include_str!("forgeries_printed.js"));
}

#[test]
fn programs_in_cpp_are_judged_by_what_they_print_alone() {
    let Some(sandbox) = cpp_sandbox() else { return };
    assert_printed(&sandbox, "cpp", include_str!("forgeries.cpp"));
}

/// Whether each call of `f` in one job returns the record that is right.
fn returns_sums(execute: &dyn Execute, program: &str) -> bool {
    let arguments = CALLS.map(|(arguments, _)| arguments.map(Value::int).to_vec());
    let called = Job::calls(program, "f", arguments.clone());
    let job = Job { image: "javascript".to_owned(), limits: SHORT, seed: 11, ..called };
    let outcome = execute.execute(&job).expect("the host does not fail");
    let exact = judge_by_name("exact").expect("there is such a judge");
    let comparison = Comparison::by("exact");
    let mut right = 0;
    for ((input, (_, sum)), call) in arguments.iter().zip(CALLS).zip(&outcome.calls) {
        let actual = match call {
            CallResult::Returned(bytes) => Value::decode(bytes, EncodeCaps::with_bytes(bytes.len())).ok(),
            CallResult::Raised(_) | CallResult::Unencodable(_) => None,
        };
        let expected = Value::Dict(vec![(Value::str("sum"), Value::int(sum))]);
        let call = ReturnedCall {
            task_id: "sum",
            function: "f",
            input,
            expected: &expected,
            actual: actual.as_ref(),
            comparison: &comparison,
        };
        let mut context = JudgeContext::new(execute, "javascript", SHORT, 11);
        right += usize::from(exact.compare_call(&mut context, &call).expect("no job runs") == JudgeFinding::Right);
    }
    outcome.exit == Exit::Returned && outcome.calls.len() == CALLS.len() && right == CALLS.len()
}

#[test]
fn functions_in_javascript_are_judged_by_the_plain_values_that_they_return_alone() {
    let Some(sandbox) = javascript_sandbox() else { return };
    let mut faults = Vec::new();
    for attempt in attempts(include_str!("forgeries_called.js")) {
        let is_taken = returns_sums(&sandbox, attempt.program);
        if is_taken != attempt.is_right {
            faults.push(format!("{}: taken as right is {is_taken}", attempt.title));
        }
    }
    assert_none(faults);
}
