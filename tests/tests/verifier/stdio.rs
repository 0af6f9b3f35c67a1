//! Problems of standard input and output: checks as rows write them, where what says nothing, or leads out of a program's files, is refused; scripts
//! as people write them for contests; and interactive problems beyond the programs of `interactors.py`.

use serde_json::{Value as Json, json};
use veriplay_core::{Checks, Limits, Problem, REFERENCE_RULE, Status, Verdict};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::cases::{programs, subjects};
use super::{LIMITS, LONG, judge, python};

fn read(stdio: Json) -> Result<Checks, serde_json::Error> {
    serde_json::from_value(json!({"stdio": stdio}))
}

fn of_case(case: Json) -> Json {
    json!({"cases": [case], "comparison": {"judge": "lines"}})
}

#[test]
fn checks_are_read_as_they_are_written_and_a_fault_is_named() {
    let checks = read(json!({"cases": [{"stdin": "42", "stdout": "secret"}], "interactor": "pass"})).unwrap();
    let written = serde_json::to_string(&checks).unwrap();
    assert_eq!(serde_json::from_str::<Checks>(&written).unwrap(), checks);
    for (stdio, why) in [
        (json!({"cases": []}), "`comparison`"),
        (json!({"cases": [], "interactor": 1}), "string"),
        (json!({"cases": [], "interacter": "pass"}), "`interacter`"),
        (json!({"cases": [], "comparison": {"judge": "lines"}, "interactor": ["pass"]}), "string"),
        (of_case(json!({"stdout": "1"})), "`stdin`"),
        (of_case(json!({"stdin": "1"})), "`stdout`"),
        (of_case(json!({"stdin": "1", "stdout": "1", "file": {}})), "`file`"),
    ] {
        let error = read(stdio).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn checks_that_cannot_judge_are_no_verdict() {
    let alternatives = json!({"stdin": "", "stdout": "", "alternatives": ["x"]});
    for (stdio, why) in [
        (json!({"cases": [{"stdin": "", "stdout": ""}], "interactor": " \n"}), "which interactor decides"),
        (json!({"cases": [], "interactor": "pass"}), "no checks"),
        (json!({"cases": [alternatives], "interactor": "pass"}), "`alternatives`"),
        (of_case(json!({"stdin": "", "expected_files": {"../x": ""}})), "`../x`"),
    ] {
        let problem = Problem::new("t", read(stdio).unwrap());
        let dropped = judge_program(python(), &ProblemRequest::new(&problem, "print(1)")).unwrap_err();
        assert!(dropped.why.contains(why), "{}", dropped.why);
    }
}

/// Threads for a deep stack, memoised recursion, long integers, `os._exit`: none of it is an attack, and each was refused once.
#[test]
fn the_idioms_of_contests_are_accepted_and_judged_by_what_they_print() {
    let nines = "9".repeat(5000);
    let mut cases = vec![([nines.clone(), nines], "print(int(input()) * 1)".to_owned())];
    for (streams, program) in programs(include_str!("ordinary.py")) {
        cases.push((serde_json::from_str(streams).expect("two texts"), program));
    }
    for ([stdin, stdout], program) in &cases {
        for (stdout, status) in [(stdout.as_str(), Status::Accepted), ("other\n", Status::WrongAnswer)] {
            let problem = Problem::stdio("t", [(stdin.as_str(), stdout)]);
            let verdict = judge(&problem, program, Limits { fuel: 20_000_000_000, ..LIMITS });
            assert_eq!(verdict.status, status, "{program}: {}", verdict.evidence.detail);
        }
    }
}

/// The verdict on a program, of an interactor with these inputs.
fn judged(limits: Limits, interactor: &str, inputs: &[&str], program: &str) -> Verdict {
    let cases: Vec<Json> = inputs.iter().map(|stdin| json!({"stdin": stdin, "stdout": "secret answer"})).collect();
    let checks = json!({"stdio": {"cases": cases, "interactor": interactor}});
    judge(&Problem::new("guess", serde_json::from_value(checks).unwrap()), program, limits)
}

#[test]
fn each_case_has_an_interactor_of_its_own() {
    let guess = &subjects(include_str!("interactors.py"))[0];
    let judged = |program: &str| judged(LONG, &guess.source, &["1", "42", "100\n"], program);
    let right = judged(&guess.programs[0].1);
    assert_eq!((right.status, right.passed, right.total), (Status::Accepted, 3, 3), "{right:?}");
    assert!(right.evidence.jobs.len() == 3 && right.evidence.fuel > 0);
    let wrong = judged("print('! 42')");
    assert_eq!((wrong.status, wrong.passed), (Status::WrongAnswer, 1));
    assert_eq!(wrong.evidence.detail, "case 0: the interactor refuses it: a wrong guess: 42");
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
        let Verdict { status, evidence, .. } = judged(LIMITS, interactor, &["42"], "print('! 42')");
        assert_eq!((status, evidence.rule.as_str()), (Status::Unjudgeable, REFERENCE_RULE), "{evidence:?}");
        assert!(evidence.detail.contains("does not decide") && evidence.detail.contains(why), "{evidence:?}");
        // A program that fails first is not let off.
        assert_eq!(judged(LIMITS, interactor, &["42"], "def f(:").status, Status::CompileError, "{interactor}");
    }
}

#[test]
fn an_interactor_that_a_program_drives_into_its_limit_is_the_programs_fault() {
    let judged = |program| {
        let patient = "import sys\nfor line in sys.stdin: sum(range(3000))\nsys.exit(0)";
        judged(LIMITS, patient, &["42"], program)
    };
    let verdict = judged("for _ in range(3000): print(1)");
    assert_eq!(verdict.status, Status::WrongAnswer, "{verdict:?}");
    assert!(verdict.evidence.detail.contains("the interactor does not decide because of it"), "{verdict:?}");
    assert_eq!(verdict.evidence.jobs.len(), 2);
    assert_eq!(judged("print(1)").status, Status::Accepted);
}
