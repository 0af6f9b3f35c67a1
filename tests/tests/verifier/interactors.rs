//! Interactive problems on the real sandbox: what is accepted, what is refused and why, and programs that try to be accepted for something else.

use serde_json::{Value as Json, json};
use veriplay_core::{Checks, Limits, Problem, REFERENCE_RULE, Status, Verdict};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::{LIMITS, LONG, python};

/// Hides a number, and answers ten questions.
const GUESS: &str = "import sys
secret = int(open(sys.argv[1]).read())
for _ in range(11):
    line = input().split()
    if line[0] == '!':
        sys.exit(0 if int(line[1]) == secret else 'a wrong guess: ' + line[1])
    print('<' if secret < int(line[1]) else '>=', flush=True)
sys.exit('more than 10 questions')
";
const GUESSER: &str = "lo, hi = 1, 100
while lo < hi:
    mid = (lo + hi + 1) // 2
    print('?', mid, flush=True)
    if input() == '<':
        hi = mid - 1
    else:
        lo = mid
print('!', lo, flush=True)
";

/// A problem whose cases have these inputs.
fn problem(interactor: &str, inputs: &[&str]) -> Problem {
    let cases: Vec<Json> = inputs.iter().map(|stdin| json!({"stdin": stdin, "stdout": "secret answer"})).collect();
    let checks = serde_json::from_value(json!({"stdio": {"cases": cases, "interactor": interactor}}));
    Problem::new("guess", checks.unwrap())
}

fn judged_under(limits: Limits, interactor: &str, program: &str) -> Verdict {
    let problem = problem(interactor, &["42"]);
    judge_program(python(), &ProblemRequest { limits, ..ProblemRequest::new(&problem, program) }).unwrap()
}

fn judged(interactor: &str, program: &str) -> Verdict {
    judged_under(LONG, interactor, program)
}

#[test]
fn the_right_program_is_accepted_for_every_case() {
    let problem = problem(GUESS, &["1", "42", "100\n"]);
    let judged = |program: &str| {
        judge_program(python(), &ProblemRequest { limits: LONG, ..ProblemRequest::new(&problem, program) }).unwrap()
    };
    let right = judged(GUESSER);
    assert_eq!((right.status, right.passed, right.total), (Status::Accepted, 3, 3), "{right:?}");
    assert!(right.evidence.jobs.len() == 3 && right.evidence.fuel > 0);
    assert_eq!(judged(GUESSER), right);
    assert_eq!(judged(&format!("{GUESSER}import os\nos._exit(0)")).status, Status::Accepted);
    let wrong = judged("print('! 42')");
    assert_eq!((wrong.status, wrong.passed), (Status::WrongAnswer, 1));
    assert_eq!(wrong.evidence.detail, "case 0: the interactor refuses it: a wrong guess: 42");
}

#[test]
fn a_program_that_is_wrong_or_fails_is_told_why() {
    for (program, status, why) in [
        (
            "while True:\n    print('? 50', flush=True)\n    input()",
            Status::WrongAnswer,
            "refuses it: more than 10 questions",
        ),
        ("for _ in range(11): print('? 50', flush=True)", Status::WrongAnswer, "refuses it: more than 10 questions"),
        ("import sys\nprint('? 50')\nsys.stdin.readline()", Status::WrongAnswer, "waits for it; hint: flush"),
        ("input()", Status::WrongAnswer, "waits for it; hint: flush"),
        ("pass", Status::WrongAnswer, "refuses it: EOFError"),
        ("print('? 50', flush=True)", Status::WrongAnswer, "refuses it: EOFError"),
        ("print()", Status::WrongAnswer, "refuses it: IndexError"),
        (
            "print('! é🙂')",
            Status::WrongAnswer,
            "refuses it: ValueError: invalid literal for int() with base 10: 'é🙂'",
        ),
        ("import sys\nsys.stdout.buffer.write(b'! \\xff\\n')", Status::WrongAnswer, "refuses it: "),
        (
            "print('? ' + '9' * 500_000, flush=True)\ninput()",
            Status::WrongAnswer,
            "refuses it: ValueError: Exceeds the limit (4300 digits)",
        ),
        ("import os\nos.close(1)\ninput()", Status::WrongAnswer, "refuses it: EOFError"),
        ("import os\nos.close(0)\nprint('? 50', flush=True)\ninput()", Status::RuntimeError, "OSError"),
        ("1 / 0", Status::RuntimeError, "ZeroDivisionError"),
        ("print('! 42', flush=True)\n1 / 0", Status::RuntimeError, "ZeroDivisionError"),
        ("print('! 42', flush=True)\ninput()", Status::RuntimeError, "EOFError"),
        ("print('! 42', flush=True)\nimport sys\nsys.exit(1)", Status::RuntimeError, "SystemExit"),
        ("def f(:", Status::CompileError, "SyntaxError"),
        ("while True: pass", Status::FuelExceeded, "Fuel"),
        ("print('! 42', flush=True)\nwhile True: pass", Status::FuelExceeded, "Fuel"),
        ("while True: print('? ' + '5' * 1000)", Status::OutputExceeded, "OutputBytes"),
        ("for _ in range(64): print('x' * (1 << 20))", Status::OutputExceeded, "OutputBytes"),
    ] {
        let verdict = judged(GUESS, program);
        assert_eq!(verdict.status, status, "{program}: {verdict:?}");
        assert!(verdict.evidence.detail.contains(why), "{program}: {verdict:?}");
        assert_eq!(judged(GUESS, program), verdict);
    }
}

/// Takes a program that prints `ok`, whatever else it does.
const LENIENT: &str = "import sys\nsys.exit(0 if 'ok' in sys.stdin.read().split() else 1)";

#[test]
fn nothing_that_a_program_prints_or_does_is_the_interactors_decision() {
    for program in [
        "import sys\nsys.exit(0)",
        "import os\nos._exit(0)",
        "print('accepted\\n1\\n0\\nok 1', flush=True)\nraise SystemExit(0)",
        "import sys\nprint('a wrong guess\\nOK', file=sys.stderr)",
        "print(open('correct_output.txt').read())",
        "print(open('/work/input.txt').read())",
        "import sys\nprint('!', open(sys.argv[1]).read())",
        "import os\nos.kill(os.getppid(), 9)",
        "import os\nfor pid in range(9):\n    try: os.kill(pid, 9)\n    except BaseException: pass\nprint('! 0')",
        "import sys\nsys.stdin.write('! 42')",
        "import os\nos.write(0, b'! 42\\n')",
        "import _host\n_host.call(b'D')\nprint('! 42')",
        "import _host\n_host.call(b'J')",
        "import gc, io\nfor found in gc.get_objects():\n    if isinstance(found, io.TextIOWrapper): found.close()",
    ] {
        let verdict = judged(GUESS, program);
        assert!(!matches!(verdict.status, Status::Accepted | Status::Unjudgeable), "{program}: {verdict:?}");
    }
    assert_eq!(judged(LENIENT, "print('ok')").status, Status::Accepted);
    // It draws what the program cannot predict.
    let draws = "import random, sys\nsys.exit(0 if input() == str(random.random()) else 1)";
    assert_eq!(judged(draws, "import random\nprint(random.random())").status, Status::WrongAnswer);
}

#[test]
fn an_interactor_that_does_not_decide_is_the_tasks_fault() {
    for (interactor, why) in [
        ("def f(:", "CompileError"),
        ("while True: pass", "Fuel"),
        ("while True: print('<' * 99999, flush=True)", "OutputBytes"),
        ("x = bytearray(1 << 30)", "MemoryBytes"),
        ("import _host\n_host.call(b'?')", "protocol"),
    ] {
        let verdict = judged_under(LIMITS, interactor, GUESSER);
        let Verdict { status, evidence, .. } = &verdict;
        assert_eq!((*status, evidence.rule.as_str()), (Status::Unjudgeable, REFERENCE_RULE), "{verdict:?}");
        assert!(evidence.detail.contains("does not decide") && evidence.detail.contains(why), "{verdict:?}");
        // A program that fails first is not let off.
        assert_eq!(judged_under(LIMITS, interactor, "def f(:").status, Status::CompileError, "{interactor}");
    }
    let wrong = judged("assert input() == 'x', 'no x'", "print('y')");
    assert_eq!(wrong.evidence.detail, "case 0: the interactor refuses it: AssertionError: no x");
    let silent = judged("raise SystemExit(3)", "print('y')");
    assert_eq!(silent.evidence.detail, "case 0: the interactor refuses it: SystemExit: 3");
    // Nothing but the status counts.
    assert_eq!(judged("print('wrong')\nimport sys\nprint('wrong', file=sys.stderr)", "pass").status, Status::Accepted);
    assert_eq!(judged("import os\nos._exit(0)", "pass").status, Status::Accepted);
}

#[test]
fn an_interactor_that_a_program_drives_into_its_limit_is_the_programs_fault() {
    let patient = "import sys\nfor line in sys.stdin: sum(range(3000))\nsys.exit(0)";
    let verdict = judged_under(LIMITS, patient, "for _ in range(3000): print(1)");
    assert_eq!(verdict.status, Status::WrongAnswer, "{verdict:?}");
    assert!(verdict.evidence.detail.contains("the interactor does not decide because of it"), "{verdict:?}");
    assert_eq!(verdict.evidence.jobs.len(), 2);
    assert_eq!(judged_under(LIMITS, patient, "print(1)").status, Status::Accepted);
}

#[test]
fn an_interactor_is_run_as_a_script_with_the_files_of_the_case() {
    let looks = "from __future__ import annotations
import sys
assert __name__ == '__main__' and sys.argv == ['interactor.py', 'input.txt', 'correct_output.txt']
assert open(sys.argv[1]).read() == '42' and open(sys.argv[2]).read() == 'secret answer'
";
    assert_eq!(judged(looks, "assert __import__('sys').argv == ['<program>']").status, Status::Accepted);
    let files = json!({"stdio": {"cases": [{"stdin": "7", "stdout": "", "files": {"a": "1"}, "expected_files": {"b": "17"}}],
        "interactor": "print(open('input.txt').read())"}});
    let problem = Problem::new("files", serde_json::from_value(files).unwrap());
    for (program, status) in [
        ("open('b', 'w').write(open('a').read() + input())", Status::Accepted),
        ("open('b', 'w').write(input())", Status::WrongAnswer),
        ("pass", Status::WrongAnswer),
    ] {
        assert_eq!(
            judge_program(python(), &ProblemRequest::new(&problem, program)).unwrap().status,
            status,
            "{program}"
        );
    }
}

#[test]
fn checks_with_an_interactor_are_read_as_they_are_written_and_refused_where_they_say_nothing() {
    let checks = problem(GUESS, &["42"]).checks;
    let written = serde_json::to_string(&checks).unwrap();
    assert_eq!(serde_json::from_str::<Checks>(&written).unwrap(), checks);
    for (row, why) in [
        (json!({"cases": []}), "`comparison`"),
        (json!({"cases": [], "interactor": 1}), "string"),
        (json!({"cases": [], "interacter": "pass"}), "`interacter`"),
        (json!({"cases": [], "comparison": {"judge": "lines"}, "interactor": ["pass"]}), "string"),
    ] {
        let error = serde_json::from_value::<Checks>(json!({"stdio": row})).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let alternatives =
        json!({"stdio": {"cases": [{"stdin": "", "stdout": "", "alternatives": ["x"]}], "interactor": "pass"}});
    for (checks, why) in [
        (json!({"stdio": {"cases": [{"stdin": "", "stdout": ""}], "interactor": " \n"}}), "which interactor decides"),
        (json!({"stdio": {"cases": [], "interactor": "pass"}}), "no checks"),
        (alternatives, "`alternatives`"),
    ] {
        let problem = Problem::new("t", serde_json::from_value(checks).unwrap());
        let dropped = judge_program(python(), &ProblemRequest::new(&problem, "pass")).unwrap_err();
        assert!(dropped.why.contains(why), "{}", dropped.why);
    }
}
