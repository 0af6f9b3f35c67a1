//! The verifier in a program of one's own: rows of public sets in, verdicts out, and nothing of a broken machine in them.

use std::sync::atomic::{AtomicU32, Ordering};

use veriplay_core::{AttemptText, Dropped, Execute, ExecuteError, Job, Limits, Outcome, Status, Verdict};
use veriplay_corpus::{ReadOptions, parse_problem, problem_format};
use veriplay_tests::python_sandbox;
use veriplay_verifier::{JudgeConditions, LoadedTask, ProblemError, Verifier};

/// A row with expected values, one with a reference program, and one whose test accepts every program.
const CALLS: &str = r#"{"reward_model": {"ground_truth": {"inputs": [[2], [7]], "outputs": [4, 14], "fn_name": "double"}}, "time_limit": 60}"#;
const REFERENCE: &str = r#"{"task_id": "HumanEval/own", "prompt": "def double(x):\n", "entry_point": "double", "canonical_solution": "    return 2 * x\n", "base_input": [[2]], "plus_input": [[-3], [0]], "atol": 0}"#;
const ACCEPTS_ALL: &str =
    r#"{"task_id": 1, "text": "Double.", "code": "", "test_list": ["print(double(2) == 4)"], "test_setup_code": ""}"#;

fn verifier(execute: &dyn Execute) -> Verifier<'_> {
    let image = python_sandbox().image();
    Verifier::new(execute, image.name(), JudgeConditions::new(image.digest().clone(), image.default_limits()))
}

fn task(verifier: &Verifier<'_>, row: &str) -> Result<LoadedTask, ProblemError> {
    let format = problem_format("auto").expect("there is such a format");
    verifier.task(parse_problem(row, format, &ReadOptions::default()).expect("the row can be read"))
}

fn judge(verifier: &Verifier<'_>, task: &LoadedTask, body: &str) -> Result<Verdict, Dropped> {
    let completion = format!("<think>Perhaps 3?</think>\nIt is:\n```python\ndef double(x):\n    {body}\n```\nDone.");
    verifier.judge(task, AttemptText::Completion(completion))
}

#[test]
fn completions_are_judged_in_order_and_by_limits_of_ones_own() {
    let limits = Limits::large().with_fuel(500_000_000);
    let verifier = verifier(python_sandbox()).with_limits(limits);
    for row in [CALLS, REFERENCE] {
        let task = task(&verifier, row).expect("it can be judged");
        let bodies = ["return 2 * x", "return x * x", "while True: pass"];
        let attempts = bodies.map(|body| (&task, AttemptText::Program(format!("def double(x):\n    {body}\n"))));
        let verdicts = verifier.judge_all(&attempts).into_iter().map(|verdict| verdict.expect("the host is well"));
        let verdicts: Vec<Verdict> = verdicts.collect();
        let statuses: Vec<Status> = verdicts.iter().map(|verdict| verdict.status).collect();
        assert_eq!(statuses, [Status::Accepted, Status::WrongAnswer, Status::FuelExceeded], "{row}");
        assert!(verdicts.iter().all(|verdict| verdict.counts() && verdict.evidence.fuel < 4 * limits.fuel), "{row}");
        let wrapped = judge(&verifier, &task, "return x + x").expect("the host is well");
        assert!(wrapped.status == Status::Accepted && wrapped.evidence.extraction.is_some(), "{wrapped:?}");
        let none = verifier.judge(&task, AttemptText::Completion("<think>It never ends".to_owned()));
        assert_eq!(none.expect("the host is well").status, Status::Malformed);
    }
}

#[test]
fn a_row_that_accepts_every_program_is_no_task() {
    let error = task(&verifier(python_sandbox()), ACCEPTS_ALL).expect_err("its test asserts nothing");
    assert!(error.to_string().contains("assert"), "{error}");
}

/// A machine on which so many jobs fail, and the rest do not.
struct Failing(AtomicU32);

impl Execute for Failing {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => Err(ExecuteError::Host("no memory".to_owned())),
            Err(_) => python_sandbox().execute(job),
        }
    }
}

#[test]
fn a_fault_of_the_host_is_no_verdict_and_is_over_when_it_is_over() {
    for row in [CALLS, REFERENCE] {
        let failing = Failing(AtomicU32::new(1));
        let verifier = verifier(&failing);
        let task = task(&verifier, row).expect("it can be judged");
        let dropped = judge(&verifier, &task, "return 2 * x").expect_err("the first job fails");
        assert!(dropped.why.contains("no memory"), "{dropped}");
        assert_eq!(
            judge(&verifier, &task, "return 2 * x").expect("the host is well").status,
            Status::Accepted,
            "{row}"
        );
    }
}

#[test]
fn a_task_without_a_usable_reference_says_nothing_about_its_attempts() {
    let verifier = verifier(python_sandbox());
    let task = task(&verifier, &REFERENCE.replace("return 2 * x", "return 1 / 0")).expect("its reference has not run");
    let verdict = judge(&verifier, &task, "return 2 * x").expect("the host is well");
    assert!(verdict.status == Status::Unjudgeable && !verdict.counts(), "{verdict:?}");
}
