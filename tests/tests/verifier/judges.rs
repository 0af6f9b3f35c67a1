//! Judges on the real sandbox: cases with several right outputs, with files, and with a checker that is a script.

use veriplay_core::{Checks, Comparison, Problem, REFERENCE_RULE, Status, Verdict};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::{LONG, python};

/// The problem with these checks, as a row has them.
fn problem(checks: &str) -> Problem {
    let checks: Checks = serde_json::from_str(checks).unwrap_or_else(|error| panic!("{error}: {checks}"));
    Problem::new("t", checks)
}

fn judged(problem: &Problem, program: &str) -> Verdict {
    judge_program(python(), &ProblemRequest { limits: LONG, ..ProblemRequest::new(problem, program) }).unwrap()
}

fn status(problem: &Problem, program: &str) -> Status {
    judged(problem, program).status
}

#[test]
fn any_of_the_alternatives_is_right() {
    let script = problem(
        r#"{"stdio": {"cases": [{"stdin": "", "stdout": "1 2\n", "alternatives": ["2 1\n"]}], "comparison": {"judge": "lines"}}}"#,
    );
    assert_eq!(status(&script, "print(1, 2)"), Status::Accepted);
    assert_eq!(status(&script, "print(2, 1)"), Status::Accepted);
    let wrong = judged(&script, "print(2, 2)");
    assert!(wrong.status == Status::WrongAnswer && wrong.evidence.detail.contains("1 2"), "{wrong:?}");
    let call = problem(
        r#"{"calls": {"function": "f", "cases": [{"input": ["4"], "expected": "2", "alternatives": ["-2"]}], "comparison": {"judge": "exact"}}}"#,
    );
    assert_eq!(status(&call, "def f(x): return 2"), Status::Accepted);
    assert_eq!(status(&call, "def f(x): return -2"), Status::Accepted);
    assert_eq!(status(&call, "def f(x): return 4"), Status::WrongAnswer);
}

#[test]
fn a_case_may_be_read_from_files_and_written_to_files() {
    let sum = problem(
        r#"{"stdio": {"cases": [{"files": {"input.txt": "2 3\n"}, "expected_files": {"output.txt": "5\n"}}], "comparison": {"judge": "lines"}}}"#,
    );
    let program = "with open('input.txt') as f:\n    a, b = map(int, f.read().split())\nwith open('output.txt', 'w') as f:\n    print(a + b, file=f)\n";
    assert_eq!(status(&sum, program), Status::Accepted);
    // A file that is still open when the script ends is written, as CPython does it.
    for open_file in [
        "f = open('output.txt', 'w')\nprint(5, file=f)",
        "import sys\nsys.stdout = open('output.txt', 'w')\nprint(5)",
        "import os\nf = os.fdopen(os.open('output.txt', os.O_WRONLY | os.O_CREAT), 'wb')\nf.write(b'5')\nexit()",
        "import sys\nsys.stdin = open('input.txt')\nout = open('output.txt', 'w')\nout.write(str(sum(map(int, input().split()))))",
    ] {
        assert_eq!(status(&sum, open_file), Status::Accepted, "{open_file}");
        assert_eq!(
            status(&sum, &open_file.replace('5', "6").replace("sum(", "max(")),
            Status::WrongAnswer,
            "{open_file}"
        );
    }
    // What it prints beside the file is nobody's business, unless the case says what it must be.
    assert_eq!(status(&sum, &format!("{program}print('debug')")), Status::Accepted);
    let wrong = judged(&sum, &program.replace("a + b", "a * b"));
    assert!(wrong.status == Status::WrongAnswer && wrong.evidence.detail.contains("`output.txt`"), "{wrong:?}");
    let missing = judged(&sum, "print(5)");
    assert!(
        missing.status == Status::WrongAnswer && missing.evidence.detail.contains("no file `output.txt`"),
        "{missing:?}"
    );
    let both = problem(
        r#"{"stdio": {"cases": [{"stdin": "2\n", "stdout": "done\n", "expected_files": {"a/b.txt": "2"}}], "comparison": {"judge": "tokens"}}}"#,
    );
    let program = "import os\nos.mkdir('a')\nopen('a/b.txt', 'w').write(input())\nprint('done')";
    assert_eq!(status(&both, program), Status::Accepted);
    assert_eq!(status(&both, &program.replace("'done'", "'no'")), Status::WrongAnswer);
}

#[test]
fn a_case_without_input_or_output_or_with_a_path_that_leads_out_is_no_case() {
    for (case, named) in [
        (r#"{"stdout": "1"}"#, "`stdin`"),
        (r#"{"stdin": "1"}"#, "`stdout`"),
        (r#"{"stdin": "1", "stdout": "1", "file": {}}"#, "`file`"),
    ] {
        let checks = format!(r#"{{"stdio": {{"cases": [{case}], "comparison": {{"judge": "lines"}}}}}}"#);
        let error = serde_json::from_str::<Checks>(&checks).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    let out = problem(
        r#"{"stdio": {"cases": [{"stdin": "", "expected_files": {"../x": ""}}], "comparison": {"judge": "lines"}}}"#,
    );
    let dropped = judge_program(python(), &ProblemRequest::new(&out, "print(1)")).unwrap_err();
    assert!(dropped.why.contains("`../x`"), "{}", dropped.why);
}

/// Takes any two numbers whose sum is the input.
const SCRIPT: &str = "import sys
def main(input_path, expected_path, actual_path):
    total = int(open(input_path).read())
    try:
        a, b = map(int, open(actual_path).read().split())
    except ValueError:
        print(0)
        return
    open(expected_path).read()
    print(1 if a + b == total else 0)
if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3])
";

fn by_script(script: &str) -> Problem {
    let mut problem = problem(
        r#"{"stdio": {"cases": [{"stdin": "10\n", "stdout": "3 7\n"}], "comparison": {"judge": "checker", "checker_script": "x"}}}"#,
    );
    let Checks::Stdio(checks) = &mut problem.checks else { panic!("it is a script") };
    checks.comparison = Comparison { checker_script: Some(script.to_owned()), ..Comparison::by("checker") };
    problem
}

#[test]
fn a_script_checks_by_three_files() {
    for (program, wanted) in [
        ("print(3, 7)", Status::Accepted),
        ("print(6, 4)", Status::Accepted),
        ("print(6, 5)", Status::WrongAnswer),
        ("print('ten')", Status::WrongAnswer),
        ("print(1)", Status::WrongAnswer),
        ("1 / 0", Status::RuntimeError),
    ] {
        assert_eq!(status(&by_script(SCRIPT), program), wanted, "{program}");
    }
    let future = format!("from __future__ import annotations\n{SCRIPT}\nsys.exit(0)");
    assert_eq!(status(&by_script(&future), "print(5, 5)"), Status::Accepted);
    let exits = format!("{SCRIPT}\n    sys.exit(3)");
    assert_eq!(status(&by_script(&exits), "print(5, 5)"), Status::Accepted);
    assert_eq!(status(&by_script(&exits), "print(5, 6)"), Status::WrongAnswer);
    // The status says it behind a score that was printed too soon.
    let refuses =
        "import sys\na = open(sys.argv[3]).read().split()\nprint('OK')\nif a != ['3', '7']: sys.exit('wrong')";
    assert_eq!(status(&by_script(refuses), "print(3, 7)"), Status::Accepted);
    assert_eq!(status(&by_script(refuses), "print(7, 7)"), Status::WrongAnswer);
}

#[test]
fn what_a_script_repeats_of_an_output_is_no_score() {
    // It prints what it was given before its verdict, or in it.
    let repeats = SCRIPT.replace("total = int", "print(open(actual_path).read())\n    total = int");
    for program in ["print(1)", "print('1\\n1')", "print('ok')", "print(6, 5)"] {
        assert_ne!(status(&by_script(&repeats), program), Status::Accepted, "{program}");
    }
    let says = SCRIPT
        .replace("print(0)\n        return", "print(open(actual_path).read().strip() + ' is wrong')\n        return");
    for program in ["print(1)", "print('1 ok')", "print('ok')"] {
        assert_eq!(status(&by_script(&says), program), Status::WrongAnswer, "{program}");
    }
}

#[test]
fn a_part_of_the_score_is_wrong_and_a_script_that_refuses_the_expected_output_is_broken() {
    let parts =
        "import sys\na = open(sys.argv[3]).read().split()\nprint(100 if a == ['3', '7'] else 50 if '3' in a else 0)";
    for (program, wanted) in
        [("print(3, 7)", Status::Accepted), ("print(3)", Status::WrongAnswer), ("print(2)", Status::WrongAnswer)]
    {
        assert_eq!(status(&by_script(parts), program), wanted, "{program}");
    }
    let fails = "import sys\nraise ValueError('it cannot tell')";
    let verdict = judged(&by_script(fails), "print(3, 7)");
    assert_eq!((verdict.status, verdict.evidence.rule.as_str()), (Status::Unjudgeable, REFERENCE_RULE), "{verdict:?}");
    let fooled = "import sys\nprint(1 if open(sys.argv[3]).read() == 'magic\\n' else 0)";
    assert_eq!(status(&by_script(fooled), "print('magic')"), Status::Unjudgeable);
    let breaks = "import sys\nprint(1 if int(open(sys.argv[3]).read().split()[1]) else 0)";
    assert_eq!(status(&by_script(breaks), "print('x')"), Status::WrongAnswer);
}

#[test]
fn values_of_nemo_gym_are_numbers_up_to_rounding() {
    for (expected, returned, wanted) in [
        ("[1, 2]", "(1, 2)", Status::Accepted),
        ("0.1", "0.1000001", Status::Accepted),
        ("[0.1, 2]", "[0.1000001, 2]", Status::Accepted),
        ("{'1': [2]}", "{1: (2,)}", Status::Accepted),
        ("0.1", "0.2", Status::WrongAnswer),
        ("[0.1, 2]", "[0.1000001, 3]", Status::WrongAnswer),
        ("50000000000000000", "50000000000000001", Status::WrongAnswer),
        ("inf", "float('inf')", Status::Accepted),
        ("inf", "0.5", Status::WrongAnswer),
        ("[inf, 0]", "[-float('inf'), 0]", Status::WrongAnswer),
        ("{'1': 'a', 1: 'a', 2: 'b'}", "{'1': 'a', '2': 'b', '3': 'c'}", Status::WrongAnswer),
        ("'1.0'", "'1.00'", Status::WrongAnswer),
    ] {
        let checks = format!(
            r#"{{"calls": {{"function": "f", "cases": [{{"input": [], "expected": "{expected}"}}], "comparison": {{"judge": "nemo_gym"}}}}}}"#
        );
        assert_eq!(
            status(&problem(&checks), &format!("def f(): return {returned}")),
            wanted,
            "{returned} for {expected}"
        );
    }
}
