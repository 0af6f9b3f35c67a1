//! Interactive problems beyond the programs of `interactors.py`: several cases, and interactors that do not decide.

use serde_json::{Value as Json, json};
use veriplay_core::{Limits, Problem, REFERENCE_RULE, Status, Verdict};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::cases::subjects;
use super::{LIMITS, LONG, python};

/// The verdict on a program, of an interactor with these inputs.
fn judged(limits: Limits, interactor: &str, inputs: &[&str], program: &str) -> Verdict {
    let cases: Vec<Json> = inputs.iter().map(|stdin| json!({"stdin": stdin, "stdout": "secret answer"})).collect();
    let checks = json!({"stdio": {"cases": cases, "interactor": interactor}});
    let problem = Problem::new("guess", serde_json::from_value(checks).unwrap());
    judge_program(python(), &ProblemRequest { limits, ..ProblemRequest::new(&problem, program) }).unwrap()
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
