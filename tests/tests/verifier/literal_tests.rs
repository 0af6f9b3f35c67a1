//! Test code that is a list of cases is read and not run, and its verdicts are those of the test runner: `literal_tests.py` has test code and programs.

use rayon::prelude::*;
use veriplay_core::{Checks, Job, Problem, Status, TestCode, TestStyle, Trust, Value, Verdict};
use veriplay_tests::assert_none;

use super::cases::{holds, subjects};
use super::public_sets::{checked_function, problems};
use super::{LONG, for_the_test_runner, judge, judge_by_tests, python};

fn asserts(lines: &[String]) -> TestCode {
    TestCode::new(Trust::Split, TestStyle::Asserts(lines.to_vec()))
}

/// A function `check` of this body. Behind a table of what its author says of it, as HumanEval has it.
fn check(body: &str) -> TestCode {
    let source = format!("META = {{}}\n\ndef check(candidate):\n{body}\n");
    TestCode::new(Trust::Split, TestStyle::Check { source, function: "f".to_owned() })
}

/// The test codes of a subject of `literal_tests.py`, whose kind says what its lines are.
fn codes(kind: &str, source: &str) -> Vec<TestCode> {
    if kind == "claims" {
        let asserted = |claim: &str, name: &str| format!("assert {}, 'no'", claim.replace("{f}", name));
        let both = |claim| {
            [asserts(&[asserted(claim, "f")]), check(&format!("    print\n    {}", asserted(claim, "candidate")))]
        };
        return source.lines().flat_map(both).collect();
    }
    let (lines, body) = source.split_once("def check(candidate):\n").unwrap_or((source, ""));
    let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    let both = [(!lines.is_empty()).then(|| asserts(&lines)), (!body.is_empty()).then(|| check(body))];
    both.into_iter().flatten().collect()
}

/// What a verdict says, without what it cost.
fn says(verdict: &Verdict) -> (Status, u32, u32, &str, &str) {
    let Verdict { status, passed, total, evidence } = verdict;
    (*status, *passed, *total, &evidence.rule, &evidence.detail)
}

/// What is wrong with the verdicts on a program by cases and by the test runner.
fn fault(code: &TestCode, program: &str, is_one_job: bool, claim: &str) -> Option<String> {
    let read = judge_by_tests(code.clone(), program, LONG);
    let run = judge_by_tests(for_the_test_runner(code.clone()), program, LONG);
    let is_right = says(&read) == says(&run)
        && (!is_one_job || read.evidence.jobs.len() == 1)
        && (claim.is_empty() || holds(claim, &read));
    (!is_right)
        .then(|| format!("not `{claim}`, or not in one job: {read:?}; by the test runner {run:?}\n{code:?}\n{program}"))
}

#[test]
fn cases_are_judged_as_the_test_runner_judges_them() {
    let subjects = subjects(include_str!("literal_tests.py"));
    let mut runs = Vec::new();
    for subject in &subjects {
        for (claim, program) in &subject.programs {
            let (jobs, claims) = claim.split_once(": ").unwrap_or((claim, ""));
            let mut claims = claims.split("; ");
            for code in codes(subject.kind, &subject.source) {
                runs.push((code, program, jobs == "one job", claims.next().unwrap_or_default()));
            }
            assert!(["one job", "alike"].contains(&jobs) && claims.next().is_none(), "{claim}");
        }
    }
    assert_none(runs.par_iter().filter_map(|(code, program, one, claim)| fault(code, program, *one, claim)).collect());
}

fn assertion(line: &str) -> TestCode {
    asserts(&[line.to_owned()])
}

/// A class is no plain value, but what it returns is: here tests say more by their cases than across two instances.
#[test]
fn a_class_is_called_like_a_function() {
    let program = "class f(int):\n    def __new__(cls, x): return x * x";
    let verdict = judge_by_tests(assertion("assert f(3) == 9"), program, LONG);
    assert_eq!((verdict.status, verdict.evidence.jobs.len()), (Status::Accepted, 1));
}

/// Whose function a line means by the name of a builtin, the test runner finds out.
#[test]
fn builtins_are_no_names_of_the_program() {
    let names =
        "import builtins\ndef f(): return [name for name in dir(builtins) if name == name.lower() and name[0] != '_']";
    let outcome = python().run(&Job { limits: LONG, ..Job::call(names, "f", []) }).unwrap();
    let Value::List(names) = outcome.value().unwrap() else { panic!("{outcome:?}") };
    assert!(names.len() > 60);
    for name in names {
        let Value::Str(name) = name else { panic!("{name:?}") };
        let code = assertion(&format!("assert {name}(7) == 7"));
        let verdict = judge_by_tests(code, &format!("def {name}(x): return x"), LONG);
        assert!(verdict.evidence.jobs.len() > 1 || verdict.status == Status::Unjudgeable, "{name}: {verdict:?}");
    }
}

#[test]
fn a_program_that_draws_its_answers_is_not_accepted() {
    let lucky = "import random\ndef f(x): return random.randrange(2)";
    for line in ["assert f(1) == 0", "assert f(1) == 1"] {
        let code = asserts(&[line; 3].map(str::to_owned));
        assert_ne!(judge_by_tests(code, lucky, LONG).status, Status::Accepted);
    }
}

/// Programs right and wrong in many ways, against each of HumanEval's tests that are cases.
#[test]
fn humaneval_is_judged_alike_by_its_cases_and_by_its_code() {
    let wrong = [
        "return None", "return args[0]", "return list(args)", "return len(str(args))", "return args[0][0]",
        "return True", "args[0].clear()",
    ];
    let problems = problems("HumanEval.jsonl.gz", "humaneval", 164);
    let faults = problems.par_iter().enumerate().filter_map(|(index, problem)| {
        let (code, function) = checked_function(problem);
        let program = format!("def {function}(*args): {}", wrong[index % wrong.len()]);
        let run = Problem { checks: Checks::Tests(for_the_test_runner(code.clone())), ..problem.clone() };
        let [read, run] = [problem, &run].map(|problem| judge(problem, &program, LONG));
        (says(&read) != says(&run)).then(|| format!("{}: {read:?} and {run:?}", problem.task_id))
    });
    assert_none(faults.collect());
}
