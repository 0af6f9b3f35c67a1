//! Rows of each format: what they become, by `rows.toml`, or what is wrong with them, by `faults.toml`. The rows are ours, in the published layouts.

use serde::Deserialize;
use serde_json::json;
use veriplay_core::{
    AppendedTests, CallChecks, Checks, ExpectedResult, LimitOverrides, Limits, Predicted, Prediction, Problem,
    ProblemRow, ScannedLanguage, Tolerance, UnexecutedProblem, Value,
};
use veriplay_corpus::{InvalidRow, PROBLEM_FORMATS, ProblemFile, ReadOptions, problem_format, read_problems};

use super::file;

fn read(format: &str, text: &str, options: &ReadOptions) -> ProblemFile {
    let (_dir, path) = file(text);
    let format = problem_format(format).expect("the format is known");
    read_problems(&path, format, options).expect("the file can be read")
}

/// The one row of a file.
pub(super) fn only(format: &str, row: &str) -> ProblemRow {
    only_with(format, row, &ReadOptions::default())
}

fn only_with(format: &str, row: &str, options: &ReadOptions) -> ProblemRow {
    let mut read = read(format, row, options);
    assert!(read.bad.is_empty(), "{}", read.bad[0]);
    assert_eq!(read.rows.len(), 1);
    read.rows.remove(0).1
}

/// The error of the one row of a file.
pub(super) fn fault(format: &str, row: &str) -> InvalidRow {
    fault_with(format, row, &ReadOptions::default())
}

pub(super) fn fault_with(format: &str, row: &str, options: &ReadOptions) -> InvalidRow {
    let mut read = read(format, row, options);
    assert!(read.rows.is_empty(), "`{row}` was taken as {:?}", read.rows[0]);
    assert_eq!(read.bad.len(), 1, "{:?}", read.bad);
    read.bad.remove(0)
}

fn ready(format: &str, row: &str) -> Problem {
    match only(format, row) {
        ProblemRow::Ready(problem) => problem,
        ProblemRow::Unexecuted(unexecuted) => panic!("{unexecuted:?} has no expected values"),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowsFile {
    limits: Vec<(String, f64, u64)>,
    same: Vec<SameRows>,
}

/// Rows that become one problem.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SameRows {
    #[serde(default = "auto")]
    format: String,
    task_id: Option<String>,
    checks: String,
    rows: Vec<String>,
}

fn auto() -> String {
    "auto".to_owned()
}

#[test]
fn rows_become_the_checks_of_their_file() {
    let file: RowsFile = toml::from_str(include_str!("rows.toml")).unwrap();
    for (fields, seconds, mebibytes) in file.limits {
        let row =
            fields.replacen('{', r#"{"inputs": ["1"], "outputs": ["1"], "nothing": null, "#, 1).replace(", }", "}");
        let limits = ready("auto", &row).limits;
        let fuel = (seconds > 0.0).then_some((seconds * Limits::FUEL_PER_SECOND as f64) as u64);
        let memory_bytes = (mebibytes > 0).then_some(mebibytes << 20);
        assert_eq!(limits, LimitOverrides { fuel, memory_bytes, ..LimitOverrides::default() }, "{row}");
    }
    for SameRows { format, task_id, checks, rows } in file.same {
        let wanted: Checks = serde_json::from_str(&checks).unwrap_or_else(|error| panic!("{error}: {checks}"));
        for row in rows {
            // A list alone would be a file of rows.
            let problem = ready(&format, &format!("[{row}]"));
            assert_eq!(json!(problem.checks), json!(wanted), "{row}");
            assert!(task_id.as_ref().is_none_or(|task_id| *task_id == problem.task_id), "{}: {row}", problem.task_id);
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultsFile {
    no_json: Vec<[String; 2]>,
    changed: Vec<ChangedRow>,
    whole: Vec<FaultyRow>,
}

/// A good row, and what to replace in it by what, with the field and the reason that are then named.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangedRow {
    format: String,
    row: String,
    faults: Vec<[String; 4]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultyRow {
    format: String,
    row: String,
    field: String,
    reasons: Vec<String>,
}

#[test]
fn every_field_that_can_be_wrong_is_named() {
    let file: FaultsFile = toml::from_str(include_str!("faults.toml")).unwrap();
    for [text, reason] in file.no_json {
        let bad = fault("cruxeval", &text);
        assert!(bad.reason.contains(&reason), "{text}: {bad}");
    }
    for ChangedRow { format, row, faults } in file.changed {
        only(&format, &row);
        for [from, to, field, reason] in faults {
            assert!(row.contains(&from), "`{from}` is not in the row");
            let bad = fault(&format, &row.replacen(&from, &to, 1));
            assert_eq!((&bad.field, bad.line), (&field, 1), "{from} -> {to}: {bad}");
            assert!(bad.reason.contains(&reason), "{from} -> {to}: {bad}");
        }
    }
    for FaultyRow { format, row, field, reasons } in file.whole {
        let bad = fault(&format, &format!("[{row}]"));
        assert_eq!(bad.field, field, "{row}: {bad}");
        assert!(reasons.iter().all(|reason| bad.reason.contains(reason)), "{row}: {bad}");
    }
}

#[test]
fn a_judge_that_a_row_or_its_checker_names_is_no_default() {
    let tests = json!({"inputs": ["1"], "outputs": ["2"]});
    for (row, is_default) in [
        (tests.clone(), true),
        (json!({"ground_truth": tests, "judge": "exact"}), false),
        (
            json!({"id": "1/A", "official_tests": [{"input": "1", "output": "2"}], "generated_checker": "print(1)"}),
            false,
        ),
    ] {
        let mut found = only("auto", &row.to_string());
        assert_eq!(found.comparison_mut().map(|comparison| comparison.is_default), Some(is_default), "{row}");
    }
}

fn calls(problem: &Problem) -> &CallChecks {
    let Checks::Calls(calls) = &problem.checks else { panic!("{:?} are no calls", problem.checks) };
    calls
}

fn unexecuted(row: &serde_json::Value) -> UnexecutedProblem {
    match only("evalplus", &row.to_string()) {
        ProblemRow::Unexecuted(unexecuted) => unexecuted,
        ProblemRow::Ready(problem) => panic!("{problem:?} needs no execution"),
    }
}

#[test]
fn every_format_has_its_own_name() {
    let names: Vec<&str> = PROBLEM_FORMATS.iter().map(|format| format.name).collect();
    let sets = [
        "humaneval", "mbpp", "evalplus", "livecodebench", "cruxeval", "apps", "code_contests", "codeforces", "kodcode",
        "multipl_e", "humaneval_x", "spider", "bird",
    ];
    assert_eq!(names, [["veriplay"].as_slice(), &sets, &["cat", "auto"]].concat());
    let error = problem_format("human-eval").expect_err("there is no such format").to_string();
    assert!(error.contains("`human-eval`") && error.contains("`cruxeval`"), "{error}");
}

#[test]
fn a_row_names_the_language_of_its_programs() {
    let scripts = r#""public_tests": {"input": ["1"], "output": ["2"]}"#;
    for (row, language) in [
        (format!(r#"{{"name": "n", {scripts}}}"#), None),
        (format!(r#"{{"name": "n", "language": "en", {scripts}}}"#), None),
        (format!(r#"{{"name": "n", "language": "C++", {scripts}}}"#), Some("cpp")),
        (format!(r#"{{"name": "n", "language": "TypeScript", {scripts}}}"#), Some("typescript")),
        (
            r#"{"language": "js", "reward_model": {"ground_truth": {"inputs": ["1"], "outputs": ["2"]}}}"#.to_owned(),
            Some("javascript"),
        ),
    ] {
        let problem = ready("auto", &row);
        assert_eq!(problem.language.as_deref(), language, "{row}");
        assert_eq!(problem.prelude.is_empty(), language.is_some(), "{row}");
    }
}

#[test]
fn scripts_are_in_the_language_of_the_options_where_their_row_names_none() {
    let options = ReadOptions { language: ScannedLanguage::find("cpp"), ..ReadOptions::default() };
    let scripts = r#""public_tests": {"input": ["1"], "output": ["2"]}"#;
    for (row, language) in [
        (format!(r#"{{"name": "n", {scripts}}}"#), "cpp"),
        (format!(r#"{{"name": "n", "language": "js", {scripts}}}"#), "javascript"),
    ] {
        let ProblemRow::Ready(problem) = only_with("auto", &row, &options) else { panic!("it is ready") };
        assert_eq!((problem.language.as_deref(), problem.prelude.as_str()), (Some(language), ""), "{row}");
    }
    let python = format!(r#"{{"name": "n", "language": "python3", {scripts}}}"#);
    let ProblemRow::Ready(problem) = only_with("auto", &python, &options) else { panic!("it is ready") };
    assert_eq!(problem.language, None);
    let calls = r#"{"task_id": "t", "inputs": [[1]], "outputs": [1], "fn_name": "f"}"#;
    let error = fault_with("auto", calls, &options);
    assert!(error.reason.contains("names no language") && error.reason.contains("`cpp`"), "{error}");
    assert_eq!(error.task_id.as_deref(), Some("t"));
}

#[test]
fn tests_in_other_languages_stand_behind_the_program() {
    let (prompt, tests) = ("function add(a, b){\n", "test();");
    let row = json!({"name": "HumanEval_0_add", "language": "js", "prompt": prompt, "tests": tests, "stop_tokens": ["\nfunction "]});
    let problem = ready("auto", &row.to_string());
    let appended = AppendedTests { source: tests.to_owned(), stop: vec!["\nfunction ".to_owned()], silent: false };
    assert_eq!((problem.task_id.as_str(), problem.language.as_deref()), ("HumanEval_0_add", Some("javascript")));
    assert_eq!((problem.prompt.as_str(), problem.checks), (prompt, Checks::Appended(appended)));
    for (task_id, test, silent, prompt) in [
        ("CPP/0", "int main(){}", false, "#include <bits/stdc++.h>\nint add(){"),
        ("JavaScript/0", "console.assert(add() === 1)", true, "int add(){"),
    ] {
        let row = json!({"task_id": task_id, "prompt": "int add(){", "declaration": "", "canonical_solution": "", "test": test});
        let problem = ready("auto", &row.to_string());
        let appended = AppendedTests { source: test.to_owned(), stop: Vec::new(), silent };
        assert_eq!((problem.prompt.as_str(), problem.checks), (prompt, Checks::Appended(appended)));
    }
}

#[test]
fn a_row_of_our_own_is_a_problem_as_it_is_written() {
    let problem = Problem {
        task_id: "mine/1".into(),
        language: None,
        prelude: "import math\n".into(),
        prompt: "def f(x):\n".into(),
        checks: Checks::Prediction(Prediction {
            program: "def f(x): return x".into(),
            input: "1".into(),
            output: Value::parse_repr("{1: (2.5, None)}").expect("a literal"),
            wanted: Predicted::Input,
        }),
        limits: LimitOverrides::default(),
    };
    let row = json!({"schema_version": 1, "problem": serde_json::to_value(&problem).expect("a problem is JSON")});
    assert_eq!(ready("veriplay", &row.to_string()), problem);
}

fn plus(task_id: &str, entry_point: &str, base: serde_json::Value) -> serde_json::Value {
    json!({"task_id": task_id, "prompt": "def f(x):\n", "entry_point": entry_point, "contract": "",
        "canonical_solution": "    return x\n", "base_input": base, "plus_input": [], "atol": 0})
}

#[test]
fn evalplus_rows_wait_for_their_reference() {
    let mut row = plus("HumanEval/1", "f", json!([[1], [[1.0, "a"]]]));
    row["plus_input"] = json!([[{"b": 1, "a": null}]]);
    row["atol"] = json!(1e-6);
    let found = unexecuted(&row);
    assert_eq!(found.reference, "def f(x):\n    return x\n");
    assert_eq!((found.prompt.as_str(), found.checks.function.as_str()), ("def f(x):\n", "f"));
    let inputs: Vec<String> = found.inputs.iter().map(|input| Value::arguments_text(input)).collect();
    assert_eq!(inputs, ["1", "[1.0, 'a']", "{'a': None, 'b': 1}"]);
    let tolerance = found.checks.comparison.tolerance;
    assert_eq!(tolerance, Some(Tolerance { absolute: 1e-6, relative: 1e-7 }));
    assert!(!found.checks.fresh && found.expects == ExpectedResult::Value);
    assert_eq!(found.checks.comparison.judge, "evalplus");

    let problem = found.with_expected(vec![Value::int(1), Value::None, Value::int(3)]).expect("three values");
    assert_eq!(calls(&problem).cases[2].expected, Value::int(3));
    let error = found.with_expected(vec![Value::None]).expect_err("two are missing").to_string();
    assert!(error.contains("`HumanEval/1`") && error.contains("1 values for 3"), "{error}");
}

#[test]
fn without_a_tolerance_the_judge_decides_on_floats() {
    assert_eq!(unexecuted(&plus("HumanEval/1", "f", json!([[1]]))).checks.comparison.tolerance, None);
}

#[test]
fn mbpp_plus_arguments_become_what_they_are_in_python() {
    let cases = [
        (2, json!([[3, 4], [5]]), "(3, 4), (5,)"),
        (63, json!([[[3, 4], [5, 6]]]), "[(3, 4), (5, 6)]"),
        (75, json!([[[3, 4]], 2]), "[(3, 4)], 2"),
        (106, json!([[1], [2, 3]]), "[1], (2, 3)"),
        (115, json!([[[1, 2], [], {}]]), "[{1, 2}, {}, {}]"),
        (250, json!([[1, 2], 1]), "(1, 2), 1"),
        (259, json!([[[1], [2]], [[3]]]), "((1,), (2,)), ((3,),)"),
        (278, json!([[1, [2, 3], "x"]]), "(1, (2, 3), 'x')"),
        (307, json!([["a", []], 1, 50]), "('a', []), 1, 50"),
        (580, json!([[1, [2, [3]]]]), "(1, (2, (3,)))"),
        (722, json!([{"b": [1.5, 2], "a": [3, 4]}, 6.0, 70]), "{'a': (3, 4), 'b': (1.5, 2)}, 6.0, 70"),
        (732, json!([[1, [2]]]), "[1, [2]]"),
        (124, json!(["2", "1j"]), "2.0, 1j"),
        (124, json!(["-1e-3", "(-0-1j)"]), "-0.001, (-0-1j)"),
        (252, json!([1]), "(1+0j)"),
        (252, json!(["69.5"]), "(69.5+0j)"),
        (252, json!(["(-3+4j)"]), "(-3+4j)"),
    ];
    for (task, input, wanted) in cases {
        let found = unexecuted(&plus(&format!("Mbpp/{task}"), "f", json!([input])));
        assert_eq!(Value::arguments_text(&found.inputs[0]), wanted, "Mbpp/{task}");
    }
    // Only MBPP+ has lists that are tuples.
    let other = unexecuted(&plus("HumanEval/2", "f", json!([[[3, 4]]])));
    assert_eq!(Value::arguments_text(&other.inputs[0]), "[3, 4]");
}

#[test]
fn functions_that_are_asked_whether_they_find_anything_expect_that() {
    assert_eq!(unexecuted(&plus("Mbpp/737", "check_str", json!([["a"]]))).expects, ExpectedResult::NotNone);
    assert_eq!(unexecuted(&plus("HumanEval/1", "check_str", json!([["a"]]))).expects, ExpectedResult::Value);
}

#[test]
fn preludes_have_what_the_graders_of_the_sets_import() {
    let prelude = |tests: serde_json::Value| ready("auto", &tests.to_string()).prelude;
    assert!(prelude(json!({"fn_name": "f", "assert_case": ["assert f()"]})).contains("from typing import *"));
    assert!(prelude(json!({"inputs": ["1"], "outputs": ["1"]})).contains("from typing import List"));
    let stdin = json!([{"input": "", "output": "", "testtype": "stdin"}]);
    let prelude = prelude(json!({"question_id": "1", "public_test_cases": stdin, "private_test_cases": ""}));
    // LiveCodeBench's gives the built-in names back.
    let at = |line: &str| prelude.find(line).unwrap_or_else(|| panic!("no `{line}` in {prelude}"));
    assert!(at("from math import *\n") < at("from builtins import *\n"));
    assert!(at("from io import *\n") < at("from builtins import *\n"));
    assert!(at("from datetime import *\n") < at("\nimport datetime\n"));
    assert!(prelude.ends_with("sys.setrecursionlimit(50000)\n"));
}

#[test]
fn completions_of_humaneval_stand_behind_its_prompt_and_those_of_mbpp_alone() {
    let check = "def check(candidate): pass";
    let row = json!({"task_id": "a", "prompt": "def f(x):\n", "test": check, "entry_point": "f"});
    assert_eq!(ready("humaneval", &row.to_string()).prompt, "def f(x):\n");
    let row = json!({"task_id": 2, "prompt": "Write f.", "test_list": ["assert f()"]});
    assert_eq!(ready("mbpp", &row.to_string()).prompt, "");
}

#[test]
fn cruxeval_asks_for_the_side_that_was_chosen() {
    let row = json!({"id": "sample_1", "code": "def f(a, b):\n    return a", "input": "[1], 'x'", "output": "[1]"});
    for predict in [Predicted::Output, Predicted::Input] {
        let found = only_with("cruxeval", &row.to_string(), &ReadOptions { predict, ..ReadOptions::default() });
        assert!(found.is_prediction());
        let ProblemRow::Ready(Problem { checks: Checks::Prediction(prediction), .. }) = found else {
            panic!("{found:?}")
        };
        assert_eq!(prediction.wanted, predict);
    }
}

#[test]
fn apps_ints_may_have_more_digits_than_python_takes() {
    let digits = "7".repeat(5_000);
    let tests = format!("{{\"fn_name\": \"f\", \"inputs\": [[{digits}]], \"outputs\": [-{digits}]}}");
    let row = json!({"problem_id": 7, "question": "q", "input_output": tests, "starter_code": ""});
    let problem = ready("apps", &row.to_string());
    let case = &calls(&problem).cases[0];
    let int = |text: &str| Value::parse_int(text).expect("an int");
    assert_eq!((&case.input, &case.expected), (&vec![int(&digits)], &int(&format!("-{digits}"))));
    let most = fault("apps", &row.to_string().replace(&digits, &"7".repeat(100_001)));
    assert!(most.reason.contains("100001 digits; the most is 100000"), "{most}");
}

#[test]
fn taco_rows_without_a_name_are_named_by_their_place() {
    let row = |n: u32| json!({"question": "q", "input_output": {"inputs": [n.to_string()], "outputs": ["1"]}});
    let read = read("apps", &format!("{}\n\n{}\n", row(1), row(2)), &ReadOptions::default());
    let ids: Vec<&str> = read.rows.iter().map(|(_, row)| row.task_id()).collect();
    assert_eq!(ids, ["0", "1"]);
}
