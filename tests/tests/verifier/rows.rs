//! Checks as rows write them: what says nothing, or leads out of a program's files, is refused.

use serde_json::{Value as Json, json};
use veriplay_core::{Checks, Problem};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::python;

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
