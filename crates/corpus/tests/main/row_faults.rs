//! Rows that cannot be read, and what is said of them: what was looked for, what was found, in the user's own field.

use serde_json::{Value as Json, json};

use super::problem_faults::fault;

/// The row's format, the row, and the field and the reason that are then named.
type Case = (&'static str, Json, &'static str, &'static [&'static str]);

fn check(cases: &[Case]) {
    for (format, row, field, reasons) in cases {
        let bad = fault(format, &json!([row]).to_string());
        assert_eq!(bad.field, *field, "{row}: {bad}");
        for reason in *reasons {
            assert!(bad.reason.contains(reason), "{row}: {bad}");
        }
    }
}

#[test]
fn a_row_without_known_tests_names_what_it_has() {
    check(&[
        (
            "auto",
            json!({"question": "why", "hint": 1}),
            "",
            &["an object with `hint`, `question`", "`inputs` and `outputs`", "hint:"],
        ),
        ("auto", json!({}), "", &["an object with no field"]),
        ("auto", json!({"ground_truth": "42"}), "ground_truth", &["int `42`"]),
        ("auto", json!({"answer": 42}), "answer", &["int `42`"]),
        (
            "auto",
            json!({"reward_model": {"style": "rule", "ground_truth": "x = 1"}}),
            "reward_model.ground_truth",
            &["str `'x = 1'`"],
        ),
        ("auto", json!({"label": "{\"inputs\": ["}), "label", &["no JSON: column"]),
        ("auto", json!([]), "", &["no tests"]),
        ("auto", json!({"tests": [1, "assert f()"]}), "tests[0]", &["expected an object, found int `1`"]),
        ("auto", json!(["assert f()", "f() is right"]), "[1]", &["no test code"]),
        ("auto", json!({"inputs": ["1"]}), "", &["an object with `inputs`"]),
    ]);
}

#[test]
fn tests_of_verl_and_prime_that_cannot_be_run_are_named() {
    let truth = |tests: Json| json!({"reward_model": {"ground_truth": tests.to_string()}});
    check(&[
        (
            "auto",
            truth(json!({"inputs": ["1", "2"], "outputs": ["1"]})),
            "reward_model.ground_truth.outputs",
            &["1 items for 2 inputs"],
        ),
        (
            "auto",
            truth(json!({"fn_name": "f", "inputs": ["[1]\nx"], "outputs": ["1"]})),
            "reward_model.ground_truth.inputs[0]",
            &["line 2 holds no JSON", "one JSON value a line"],
        ),
        ("auto", truth(json!({"inputs": ["1"], "outputs": [null]})), "reward_model.ground_truth.outputs[0]", &["null"]),
        ("auto", truth(json!({"assert_case": []})), "reward_model.ground_truth.assert_case", &["no tests"]),
        (
            "auto",
            truth(json!({"assert_case": ["assert f()", " "]})),
            "reward_model.ground_truth.assert_case[1]",
            &["blank"],
        ),
        (
            "auto",
            truth(json!({"assert_case": ["assert f()"], "inputs": ["1"], "outputs": [null]})),
            "reward_model.ground_truth.inputs[0]",
            &["stands beside `assert_case`"],
        ),
        (
            "auto",
            truth(json!({"inputs": {}, "outputs": []})),
            "reward_model.ground_truth.inputs",
            &["expected a list, found dict `{}`"],
        ),
    ]);
}

#[test]
fn lists_of_tests_that_do_not_agree_are_named() {
    let two = |first: Json, second: Json| json!({"test_cases": [first, second]});
    let test = |name: &str| json!({"fn_name": name, "input": [1], "output": 2});
    check(&[
        ("auto", two(test("f"), test("g")), "test_cases[1]", &["calls `g`", "calls `f`"]),
        ("auto", two(test("f"), json!({"input": "", "output": ""})), "test_cases[1]", &["a script's", "calls `f`"]),
        (
            "auto",
            two(test("f"), json!({"input": [1], "fn_name": "f"})),
            "test_cases[1].output",
            &["missing", "`fn_name`, `input`"],
        ),
        ("auto", json!([{"type": "function_call", "input": "1", "output": "2"}]), "[0].fn_name", &["missing"]),
        ("auto", json!([{"type": "odd", "input": "1", "output": "2"}]), "[0].type", &["`odd`", "`stdin_stdout`"]),
        ("auto", json!({"unit_tests": {"inputs": [1]}}), "unit_tests.outputs", &["missing"]),
    ]);
}

#[test]
fn rows_of_contests_that_no_comparison_can_judge_are_named() {
    let contest = |name: &str, value: Json| {
        let mut row = json!({"name": "n", "public_tests": {"input": ["1"], "output": ["2"]}});
        row[name] = value;
        row
    };
    let forces = |name: &str, value: Json| {
        let mut row = json!({"id": "1/A", "official_tests": [{"input": "1", "output": "2"}]});
        row[name] = value;
        row
    };
    check(&[
        (
            "code_contests",
            contest("public_tests", json!({"input": ["1"], "output": []})),
            "public_tests.output",
            &["0 items for 1"],
        ),
        ("code_contests", contest("public_tests", json!({"input": [], "output": []})), "public_tests", &["no tests"]),
        (
            "code_contests",
            contest("private_tests", json!({"input": [{}], "output": ["1"]})),
            "private_tests.input[0]",
            &["dict"],
        ),
        ("codeforces", forces("official_tests", json!([])), "official_tests", &["no tests"]),
        (
            "codeforces",
            forces("official_tests", json!(5)),
            "official_tests",
            &["expected a list of tests, found int `5`"],
        ),
        ("codeforces", forces("input_mode", json!("socket")), "input_mode", &["`socket`", "`file`"]),
        ("codeforces", forces("judge", json!(5)), "judge", &["name of a judge", "int `5`"]),
        ("codeforces", forces("judge", json!("float:eps=1")), "judge", &["`eps`", "`rtol`"]),
        ("auto", json!({"judge": "tokens", "tests": ["assert f() == 1"]}), "judge", &["no judge compares"]),
        ("codeforces", forces("interaction_format", json!("Print a query.")), "interaction_format", &["interactive"]),
        ("kodcode", json!({"question_id": "q", "test": "x = 1"}), "test", &["no test"]),
        ("kodcode", json!({"question_id": "q", "solution": ""}), "test", &["missing", "`question_id`"]),
        ("kodcode", json!({"test": "def test_f(): pass", "test_info": {}}), "test_info", &["expected a list"]),
    ]);
}

#[test]
fn carriers_inside_one_another_have_an_end() {
    let mut row = json!({"inputs": ["1"], "outputs": ["2"]});
    for _ in 0..12 {
        row = json!({"label": row});
    }
    let bad = fault("auto", &row.to_string());
    assert!(bad.reason.contains("inside one another") && bad.field.starts_with("label.label"), "{bad}");
}
