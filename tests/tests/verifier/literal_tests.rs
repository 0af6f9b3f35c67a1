//! Test code that is a list of cases is read and not run, and its verdicts are those of the test runner.

use rayon::prelude::*;
use veriplay_core::{Checks, Job, Problem, Status, TestCode, TestStyle, Trust, Value, Verdict};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::public_sets::problems;
use super::{LONG, for_the_test_runner, judge_by_tests, python};

fn asserts(lines: &[&str]) -> TestCode {
    TestCode::new(Trust::Split, TestStyle::Asserts(lines.iter().map(|line| (*line).to_owned()).collect()))
}

fn check(body: &[&str]) -> TestCode {
    let body: String = body.iter().map(|line| format!("    {line}\n")).collect();
    let source = format!("META = {{}}\n\ndef check(candidate):\n{body}");
    TestCode::new(Trust::Split, TestStyle::Check { source, function: "f".to_owned() })
}

/// What a verdict says, without what it cost.
fn says(verdict: &Verdict) -> (Status, u32, u32, &str, &str) {
    let Verdict { status, passed, total, evidence } = verdict;
    (*status, *passed, *total, &evidence.rule, &evidence.detail)
}

/// The verdict on cases, which must be the test runner's.
fn alike(code: &TestCode, program: &str) -> Verdict {
    let read = judge_by_tests(code.clone(), program, LONG);
    let run = judge_by_tests(for_the_test_runner(code.clone()), program, LONG);
    assert_eq!(says(&read), says(&run), "{program}");
    read
}

/// As [`alike`], for a program that is judged in one job.
fn judged(code: &TestCode, program: &str) -> Verdict {
    let read = alike(code, program);
    assert_eq!(read.evidence.jobs.len(), 1, "{program}");
    read
}

#[test]
fn cases_are_judged_in_one_job_as_the_test_runner_judges_them() {
    let lines = asserts(&[
        "assert f(3) == 9, 'three'", "assert f(2) != 5", "assert f(1)", "assert not f(0)", "assert f(5) is not None",
    ]);
    let whole = check(&["assert candidate(3) == 9, 'three'", "assert True", "assert candidate(0) == 0"]);
    for (program, by_lines, passed, by_check) in [
        ("def f(x): return x * x", Status::Accepted, 5, Status::Accepted),
        ("def f(x): return float(x * x)", Status::Accepted, 5, Status::Accepted),
        ("f = lambda x, y=2: x ** y", Status::Accepted, 5, Status::Accepted),
        ("def f(x): return x", Status::WrongAnswer, 4, Status::WrongAnswer),
        ("def f(x): return x + x", Status::WrongAnswer, 4, Status::WrongAnswer),
        ("def f(x): return x * x if x else 7", Status::WrongAnswer, 4, Status::WrongAnswer),
        ("def f(x): return 9 // x", Status::WrongAnswer, 3, Status::WrongAnswer),
        ("def f(x): return {9: 9}[x * x]", Status::RuntimeError, 1, Status::RuntimeError),
        ("def f(x): raise ValueError('é' * 190)", Status::RuntimeError, 0, Status::RuntimeError),
        ("def f(): return 9", Status::RuntimeError, 0, Status::RuntimeError),
        ("def f(x): return x * x\nraise ValueError('early')", Status::RuntimeError, 0, Status::RuntimeError),
        ("def f(x: return 9", Status::CompileError, 0, Status::CompileError),
        ("def f(x): return [x]", Status::WrongAnswer, 3, Status::WrongAnswer),
        ("def f(x): return [float('nan')]", Status::WrongAnswer, 3, Status::WrongAnswer),
    ] {
        let verdict = judged(&lines, program);
        assert_eq!((verdict.status, verdict.passed, verdict.total), (by_lines, passed, 5), "{program}");
        assert_eq!(judged(&whole, program).status, by_check, "{program}");
    }
}

#[test]
fn results_near_a_number_are_judged_as_the_test_runner_judges_them() {
    let lines = asserts(&["assert abs(f(3) - 9.5) < 1, 'far'", "assert abs(4 - f(2)) <= 1e-6"]);
    let whole = check(&["assert abs(candidate(3) - 27.0 / 3.0) < 1e-6", "assert abs(candidate(2) - 4) < 1e-6"]);
    for (program, passed, by_check) in [
        ("def f(x): return x * x", 2, Status::Accepted),
        ("def f(x): return x * x + 1e-7", 2, Status::Accepted),
        ("def f(x): return abs(float(x)) ** 2", 2, Status::Accepted),
        ("def f(x): return x * x + 1e-5", 1, Status::WrongAnswer),
        ("def f(x): return 10.5 if x > 2 else 4 + 1e-6", 0, Status::WrongAnswer),
        ("def f(x): return float('nan')", 0, Status::WrongAnswer),
        ("def f(x): return -float('inf')", 0, Status::WrongAnswer),
        ("def f(x): return x < 3", 0, Status::WrongAnswer),
        ("def f(x): return x / 0", 0, Status::RuntimeError),
    ] {
        let status = if passed == 2 { Status::Accepted } else { by_check };
        let verdict = judged(&lines, program);
        assert_eq!((verdict.status, verdict.passed), (status, passed), "{program}");
        assert_eq!(judged(&whole, program).status, by_check, "{program}");
    }
    for program in [
        "def f(x): return None",
        "def f(x): return [x * x]",
        "def f(x): return 10 ** 400",
        "def f(x): return x * x + 0j",
        "from fractions import Fraction\ndef f(x): return Fraction(x * x)",
        "def abs(x): return 0\ndef f(x): return 1",
        "from operator import *\ndef f(x): return x * x",
        "def f(x): return max([x * x], key=abs)",
    ] {
        alike(&lines, program);
        alike(&whole, program);
    }
}

#[test]
fn results_behind_a_builtin_are_judged_as_the_test_runner_judges_them() {
    for claim in [
        "set({f}([1, 2, 2])) == set((1, 2))",
        "sorted({f}([2, 1])) == [1, 2]",
        "tuple({f}([3])) == tuple([3])",
        "[4, 5] == list({f}([4, 5]))",
        "len({f}([1, 2])) != 3",
    ] {
        let code = asserts(&[&format!("assert {}, 'no'", claim.replace("{f}", "f"))]);
        let whole = check(&["print", &format!("assert {}, 'no'", claim.replace("{f}", "candidate"))]);
        for program in [
            "def f(x): return x", "def f(x): return tuple(x)", "def f(x): return x[::-1] + x", "def f(x): return []",
            "def f(x): return x[7]",
        ] {
            judged(&code, program);
            judged(&whole, program);
        }
        for program in [
            "def f(x): return set(x)",
            "def f(x): return [True] + x[1:]",
            "def f(x): return {i: 0 for i in x}",
            "def f(x): return (i for i in x)",
            "def f(x): return [float(i) for i in x]",
            "def f(x): return [float('nan')]",
            "def f(x): return [[i] for i in x]",
            "def f(x): return 'ab'",
            "def f(x): return None",
            "class List(list): pass\ndef f(x): return List(x)",
            "def f(x):\n    list = x\n    return list",
            "def f(x): return x\ndef set(x): return 0\ntuple = len = list = sorted = set",
        ] {
            alike(&code, program);
            alike(&whole, program);
        }
    }
}

/// A class is no plain value, but what it returns is: here tests say more by their cases than across two instances.
#[test]
fn a_class_is_called_like_a_function() {
    let code = asserts(&["assert f(3) == 9"]);
    let verdict = judge_by_tests(code, "class f(int):\n    def __new__(cls, x): return x * x", LONG);
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
        let line = format!("assert {name}(7) == 7");
        let verdict = judge_by_tests(asserts(&[&line]), &format!("def {name}(x): return x"), LONG);
        assert!(verdict.evidence.jobs.len() > 1 || verdict.status == Status::Unjudgeable, "{name}: {verdict:?}");
    }
}

/// Of two ways to end, a function of assertions meets the first.
#[test]
fn a_program_that_uses_all_its_fuel_behind_a_wrong_answer_is_wrong() {
    let program = |first: u32| format!("def f(x):\n    if x == 1: return {first}\n    while True: pass");
    let whole = check(&["assert candidate(1) == 1", "assert candidate(2) == 2"]);
    assert_eq!(judged(&whole, &program(3)).status, Status::WrongAnswer);
    assert_eq!(judged(&whole, &program(1)).status, Status::FuelExceeded);
    let lines = asserts(&["assert f(1) == 1", "assert f(2) == 2"]);
    assert_eq!(judged(&lines, &program(3)).status, Status::FuelExceeded);
}

/// What a program is made of, returns or raises may take more than a comparison of values to judge.
#[test]
fn what_is_not_plain_is_left_to_the_test_runner() {
    let code = asserts(&["assert f(1) == {1: 1}", "assert f(2)"]);
    for (program, status) in [
        ("from collections import Counter\ndef f(x): return Counter([1])", Status::Accepted),
        ("class Any:\n    def __eq__(self, other): return True\ndef f(x): return Any()", Status::Unjudgeable),
        ("class D(dict): pass\ndef f(x): return D({1: 1})", Status::Unjudgeable),
        ("class Own(Exception): pass\ndef f(x): raise Own('x')", Status::RuntimeError),
        ("def f(x): raise ValueError('é' * 200)", Status::RuntimeError),
        ("def f(x): assert False", Status::WrongAnswer),
        ("import unittest\ndef f(x): raise unittest.SkipTest", Status::RuntimeError),
        ("import os\ndef f(x): os._exit(0)", Status::RuntimeError),
        ("def g(x): return 1", Status::RuntimeError),
        ("def f(x): return 'x' * (1 << 21)", Status::OutputExceeded),
        (
            "import sys\ndef f(x): return {1: 1} if sys._getframe(1).f_code.co_name == 'call_frame' else 0",
            Status::Unjudgeable,
        ),
    ] {
        assert_eq!(alike(&code, program).status, status, "{program}");
    }
}

/// Of what is sent as a value, an object is equal to that of the literal and not the same, and a set is in the order in which it is sent.
#[test]
fn identity_and_order_are_those_of_one_process() {
    let near = "def f(numbers, by):\n    for i in numbers:\n        for j in numbers:\n            if i is not j and abs(i - j) < by: return True\n    return False";
    let twice = check(&["assert candidate([1.0, 2.0, 2.0], 0.3) == False"]);
    let order = "def f(numbers): return list(numbers)";
    for (code, program) in [(&twice, near), (&asserts(&["assert f({8, 0, 16}) == [8, 0, 16]"]), order)] {
        let verdict = judge_by_tests(code.clone(), program, LONG);
        assert_eq!(verdict.status, Status::Accepted, "{:?}", verdict.evidence);
    }
    let lucky = "import random\ndef f(x): return random.randrange(2)";
    assert_ne!(judge_by_tests(asserts(&["assert f(1) == 0"; 3]), lucky, LONG).status, Status::Accepted);
    assert_ne!(judge_by_tests(asserts(&["assert f(1) == 1"; 3]), lucky, LONG).status, Status::Accepted);
}

/// Both are one process to those who wrote the tests.
#[test]
fn a_program_sees_the_calls_before_its_own() {
    let counts = "calls = []\ndef f(x):\n    calls.append(x)\n    return len(calls)";
    assert_eq!(judged(&asserts(&["assert f(7) == 1", "assert f(7) == 2"]), counts).status, Status::Accepted);
}

/// Programs right and wrong in many ways, against each of HumanEval's tests that are cases.
#[test]
fn humaneval_is_judged_alike_by_its_cases_and_by_its_code() {
    let wrong = [
        "return None", "return args[0]", "return list(args)", "return len(str(args))", "return args[0][0]",
        "return True", "args[0].clear()",
    ];
    let pairs: Vec<(Problem, String)> = problems("HumanEval.jsonl.gz", "humaneval", 164)
        .into_iter()
        .enumerate()
        .map(|(index, problem)| {
            let Checks::Tests(TestCode { style: TestStyle::Check { function, .. }, .. }) = &problem.checks else {
                panic!("{} has no check function", problem.task_id)
            };
            let program = format!("def {function}(*args): {}", wrong[index % wrong.len()]);
            (problem, program)
        })
        .collect();
    let differ: Vec<String> = pairs
        .par_iter()
        .filter_map(|(problem, program)| {
            let Checks::Tests(code) = &problem.checks else { return None };
            let run = Problem { checks: Checks::Tests(for_the_test_runner(code.clone())), ..problem.clone() };
            let [read, run] = [problem, &run].map(|problem| {
                judge_program(python(), &ProblemRequest { limits: LONG, ..ProblemRequest::new(problem, program) })
                    .unwrap()
            });
            (says(&read) != says(&run)).then(|| format!("{}: {read:?} and {run:?}", problem.task_id))
        })
        .collect();
    assert_eq!(differ, Vec::<String>::new());
}
