//! Test code on the real sandbox: split trust, shared trust, and each style.

use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_core::{
    Checks, Execute, ExecuteError, Job, Outcome, Problem, Status, TestCode, TestStyle, Trust, Verdict,
};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::{LONG, python};

fn problem(trust: Trust, setup: &str, style: TestStyle) -> Problem {
    Problem::new("t", Checks::Tests(TestCode { setup: setup.to_owned(), ..TestCode::new(trust, style) }))
}

fn judged(problem: &Problem, program: &str) -> Verdict {
    judge_program(python(), &ProblemRequest { limits: LONG, ..ProblemRequest::new(problem, program) }).unwrap()
}

fn status(style: &TestStyle, program: &str) -> Status {
    let verdict = judged(&problem(Trust::Split, "", style.clone()), program);
    assert_eq!(verdict.status == Status::Accepted, verdict.passed == verdict.total, "{verdict:?}");
    verdict.status
}

fn check() -> TestStyle {
    let source = "def check(candidate):\n    for n in range(5):\n        assert candidate(n) == n * n\n";
    TestStyle::Check { source: source.to_owned(), function: "square".to_owned() }
}

fn asserts(lines: &[&str]) -> TestStyle {
    TestStyle::Asserts(lines.iter().map(|line| (*line).to_owned()).collect())
}

fn functions(source: &str) -> TestStyle {
    TestStyle::Functions(source.to_owned())
}

#[test]
fn a_check_function_judges_the_program() {
    assert_eq!(status(&check(), "def square(n): return n * n"), Status::Accepted);
    assert_eq!(status(&check(), "def square(n): return n + n"), Status::WrongAnswer);
    assert_eq!(status(&check(), "def square(n): return 1 / 0"), Status::RuntimeError);
    assert_eq!(status(&check(), "def cube(n): return n"), Status::RuntimeError);
    assert_eq!(status(&check(), "def square(n:"), Status::CompileError);
    assert_eq!(status(&check(), "def square(n):\n    while True: pass"), Status::FuelExceeded);
    assert_eq!(status(&check(), "import os\nos._exit(0)"), Status::RuntimeError);
    assert_eq!(status(&check(), "raise SystemExit(0)"), Status::RuntimeError);
}

#[test]
fn assert_lines_find_their_names_and_are_counted_one_by_one() {
    let tests = asserts(&["assert add(1, 2) == 3", "assert add([1], by=[2]) == [1, 2]", "assert twice(4) == 8"]);
    let program = "def add(a, by): return a + by\ndef twice(x): return x + x";
    assert_eq!(status(&tests, program), Status::Accepted);
    let wrong = judged(&problem(Trust::Split, "", tests.clone()), &program.replace("x + x", "x"));
    assert_eq!((wrong.status, wrong.passed, wrong.total), (Status::WrongAnswer, 2, 3));
    let missing = judged(&problem(Trust::Split, "", tests), "def add(a, by): return a + by");
    assert_eq!((missing.status, missing.passed), (Status::RuntimeError, 2));
}

#[test]
fn setup_code_belongs_to_the_tests_and_not_to_the_program() {
    let tests = asserts(&["assert close(third(), 1 / 3)"]);
    let setup = "import math\ndef close(a, b): return math.isclose(a, b)";
    let verdict = |program: &str| judged(&problem(Trust::Split, setup, tests.clone()), program).status;
    assert_eq!(verdict("def third(): return 1 / 3"), Status::Accepted);
    assert_eq!(verdict("def third(): return 9\ndef close(a, b): return True"), Status::WrongAnswer);
}

/// Of one that asks the program for something, and of shared trust, nobody knows whose fault it is.
#[test]
fn a_set_up_that_fails_by_itself_is_no_fault_of_the_program() {
    let program = "def f(): return 1\nZERO = 0";
    for (setup, wanted) in [
        ("import math\nassert math.pi > 4", Status::Unjudgeable),
        ("one = 1 / 0", Status::Unjudgeable),
        ("one = 1 / ZERO", Status::RuntimeError),
        ("assert f() == 2", Status::RuntimeError),
        ("one = missing", Status::RuntimeError),
    ] {
        let verdict = judged(&problem(Trust::Split, setup, asserts(&["assert f() == 1"])), program);
        assert_eq!(verdict.status, wanted, "{setup}: {:?}", verdict.evidence);
    }
}

#[test]
fn arguments_changed_in_place_are_changed_for_the_tests() {
    let tests = asserts(&["x = [3, 1, 2]\nsort(x)\nassert x == [1, 2, 3]", "d = {}\nput(d)\nassert d == {'k': {1}}"]);
    let program = "def sort(x): x.sort()\ndef put(d): d['k'] = {1}";
    assert_eq!(status(&tests, program), Status::Accepted);
    assert_eq!(status(&tests, "def sort(x): sorted(x)\ndef put(d): pass"), Status::WrongAnswer);
}

#[test]
fn what_is_in_a_tuple_is_given_to_a_call_too() {
    let sorts = asserts(&["t = ([3, 1, 2], [1])\nf(t)\nassert t[0] == [1, 2, 3]"]);
    assert_eq!(status(&sorts, "def f(t): t[0].sort()"), Status::Accepted);
    assert_eq!(status(&sorts, "def f(t): t[1].sort()"), Status::WrongAnswer);
    let moves = asserts(&["xs = make()\nassert f((xs,)) == sorted(xs)"]);
    let make = "def make(): return [3, 1, 2]\n";
    assert_eq!(status(&moves, &format!("{make}def f(t): return sorted(t[0])")), Status::Accepted);
    assert_eq!(status(&moves, &format!("{make}def f(t):\n    t[0].clear()\n    return []")), Status::Unjudgeable);
}

/// Messages are written by a module of the library's that tells hooks of audits. A program with a hook is sent others.
#[test]
fn a_hook_of_audits_hears_nothing_of_the_messages() {
    let tests = asserts(&["assert f([1]) == [1]", "assert not [event for event in heard() if 'marshal' in event]"]);
    let hook = "import sys\nevents = []\ndef hook(event, _):\n    events.append(event)\n    if 'marshal' in event: raise ValueError\n\
                sys.addaudithook(hook)\ndef heard(): return list(events)\n";
    assert_eq!(status(&tests, &format!("{hook}def f(x): return x")), Status::Accepted);
    assert_eq!(status(&tests, &format!("{hook}def f(x): return x * 2")), Status::WrongAnswer);
}

#[test]
fn tests_that_call_from_deep_functions_of_no_module_are_no_judges_of_recursion() {
    let tests = asserts(&[
        "ns = {'f': f}\nexec('def r(n): return f() if n == 0 else r(n - 1)', ns)\nassert ns['r'](150) == 'no'",
    ]);
    let program = "def f():\n    def g(n): return 'ok' if n == 0 else g(n - 1)\n    try: return g(900)\n    except RecursionError: return 'no'";
    assert_eq!(status(&tests, program), Status::Unjudgeable);
}

#[test]
fn unittest_cases_and_test_functions_are_found_and_run() {
    let unittests = functions(
        "import unittest\nfrom solution import f, LIMIT\nclass T(unittest.TestCase):\n    def setUp(self): self.n = 3\n    \
         def test_value(self): self.assertEqual(f(self.n), 9)\n    def test_error(self):\n        with self.assertRaises(ValueError): f(-1)\n    \
         def test_limit(self): self.assertEqual(LIMIT, 7)\n",
    );
    let right = "LIMIT = 7\ndef f(n):\n    if n < 0: raise ValueError('negative')\n    return n * n";
    let verdict = judged(&problem(Trust::Split, "", unittests.clone()), right);
    assert_eq!((verdict.status, verdict.passed, verdict.total), (Status::Accepted, 3, 3), "{verdict:?}");
    assert_eq!(status(&unittests, &right.replace("ValueError", "TypeError")), Status::RuntimeError);
    assert_eq!(status(&unittests, &right.replace("n * n", "n")), Status::WrongAnswer);

    let pytests = functions(
        "import pytest\nimport solution\n@pytest.fixture\ndef three():\n    yield 3\n\
         @pytest.mark.parametrize('x, y', [(1, 1), (2, 4)])\ndef test_pairs(x, y): assert solution.f(x) == y\n\
         def test_fixture(three): assert solution.f(three) == pytest.approx(9.0000001)\n\
         class TestErrors:\n    def test_negative(self):\n        with pytest.raises(ValueError, match='neg'): solution.f(-1)\n",
    );
    let verdict = judged(&problem(Trust::Split, "", pytests.clone()), right);
    assert_eq!((verdict.status, verdict.passed, verdict.total), (Status::Accepted, 4, 4), "{verdict:?}");
    assert_eq!(status(&pytests, &right.replace("n * n", "n")), Status::WrongAnswer);
}

#[test]
fn tests_that_are_skipped_or_not_there_pass_nothing() {
    assert_eq!(status(&functions("def helper(): pass"), "x = 1"), Status::RuntimeError);
    assert_eq!(status(&functions("import pytest\ndef test_a(): pytest.skip('no')"), "x = 1"), Status::WrongAnswer);
    assert_eq!(
        status(&functions("import unittest\ndef test_a(): raise unittest.SkipTest"), "x = 1"),
        Status::WrongAnswer
    );
}

#[test]
fn an_object_that_lies_passes_only_where_both_share_an_instance() {
    let lying = "class Yes:\n    def __eq__(self, other): return True\ndef square(n): return Yes()";
    assert_eq!(status(&check(), lying), Status::Unjudgeable);
    let shared = judged(&problem(Trust::Shared, "", check()), lying);
    assert_eq!((shared.status, shared.evidence.rule.as_str()), (Status::Accepted, "shared"));
    let honest = judged(&problem(Trust::Shared, "", check()), "def square(n): return n + n");
    assert_eq!((honest.status, honest.evidence.rule.as_str()), (Status::WrongAnswer, "shared"));
}

#[test]
fn a_program_cannot_predict_what_the_tests_draw() {
    let tests = asserts(&["import random\nassert draw() != random.random()"]);
    assert_eq!(status(&tests, "import random\ndef draw(): return random.random()"), Status::Accepted);
    let fixed = asserts(&["import random\nrandom.seed(3)\nassert draw() == random.random()"]);
    assert_eq!(status(&fixed, "import random\ndef draw(): return random.Random(3).random()"), Status::Accepted);
}

#[test]
fn classes_can_be_tested_where_both_share_an_instance() {
    let tests = asserts(&["s = Stack()\ns.push(2)\nassert s.pop() == 2 and isinstance(s, Stack)"]);
    let program = "class Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.append(x)\n    \
                   def pop(self): return self.items.pop()";
    assert_eq!(judged(&problem(Trust::Shared, "", tests.clone()), program).status, Status::Accepted);
    let split = judged(&problem(Trust::Split, "", tests), program);
    assert_eq!(split.status, Status::Unjudgeable, "an object of the program's own class cannot cross");
}

#[test]
fn a_verdict_is_the_same_again_fuel_included() {
    let program = "def square(n): return n * n";
    let first = judged(&problem(Trust::Split, "", check()), program);
    for _ in 0..5 {
        assert_eq!(judged(&problem(Trust::Split, "", check()), program), first);
    }
    assert!(first.evidence.fuel > 0);
}

/// What a program changes of a list in the library, the tests' own instance does not have.
const SHARES_A_LIST: &str = "import keyword\nfrom solution import known\ndef test_known():\n    assert known('if')\n    \
                             keyword.kwlist.append('fi')\n    assert not known('fi')\n";

#[test]
fn an_accepted_program_has_passed_beside_the_tests_too() {
    let tests = problem(Trust::Split, "", functions(SHARES_A_LIST));
    let right = judged(&tests, "import keyword\nKNOWN = set(keyword.kwlist)\ndef known(word): return word in KNOWN");
    assert_eq!((right.status, right.evidence.jobs.len()), (Status::Accepted, 2), "{right:?}");
    let wrong = judged(&tests, "def known(word): return True");
    assert_eq!((wrong.status, wrong.evidence.jobs.len()), (Status::WrongAnswer, 1), "{wrong:?}");
    let differs = judged(&tests, "import keyword\ndef known(word): return word in keyword.kwlist");
    assert_eq!((differs.status, differs.passed, differs.evidence.jobs.len()), (Status::Unjudgeable, 0, 2));
    for said in ["in an instance of its own", "beside them", "`test_known`", "Failed"] {
        assert!(differs.evidence.detail.contains(said), "{differs:?}");
    }
    let shared = problem(Trust::Shared, "", functions(SHARES_A_LIST));
    let shared = judged(&shared, "import keyword\ndef known(word): return word in keyword.kwlist");
    assert_eq!((shared.status, shared.evidence.jobs.len()), (Status::WrongAnswer, 1));
}

/// The sandbox, with a host that fails the second job.
struct FailsOnce(AtomicUsize);

impl Execute for FailsOnce {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            1 => Err(ExecuteError::Host("no more memory".to_owned())),
            _ => python().execute(job),
        }
    }
}

#[test]
fn a_host_fault_in_the_run_beside_the_tests_is_no_verdict() {
    let problem = problem(Trust::Split, "", check());
    let judge = |program| {
        let request = ProblemRequest { limits: LONG, ..ProblemRequest::new(&problem, program) };
        judge_program(&FailsOnce(AtomicUsize::new(0)), &request)
    };
    assert!(judge("def square(n): return n * n").unwrap_err().why.contains("no more memory"));
    assert_eq!(judge("def square(n): return n").unwrap().status, Status::WrongAnswer);
}

#[test]
fn tests_that_say_by_a_function_which_they_are_cannot_be_judged() {
    let source = "import unittest\nfrom solution import f\ndef load_tests(loader, tests, pattern):\n    \
                  tests.addTest(unittest.FunctionTestCase(extra))\n    return tests\ndef extra():\n    assert f(2) == 5\n\
                  class T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n";
    for trust in [Trust::Split, Trust::Shared] {
        for program in ["def f(x): return x + 1", "def f(x): return 2 * x + 1 if x > 1 else 2"] {
            let verdict = judged(&problem(trust, "", functions(source)), program);
            assert_eq!(verdict.status, Status::Unjudgeable, "{verdict:?}");
            assert!(verdict.evidence.detail.contains("load_tests"), "{verdict:?}");
        }
    }
}
