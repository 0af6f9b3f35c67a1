//! What each format's rows become. The rows are ours, in the shape of the published ones.

use serde_json::json;
use veriplay_core::{
    CallChecks, Checks, ExpectedResult, LimitOverrides, Predicted, Prediction, Problem, ProblemRow, StdioCase,
    TestCode, TestStyle, Tolerance, Trust, UnexecutedProblem, Value,
};
use veriplay_corpus::{PROBLEM_FORMATS, ReadOptions, problem_format, read_problems};

use super::file;
use super::problem_faults::fault;

/// The one row of a file.
pub(super) fn only(format: &str, row: &str) -> ProblemRow {
    only_with(format, row, &ReadOptions::default())
}

fn only_with(format: &str, row: &str, options: &ReadOptions) -> ProblemRow {
    let (_dir, path) = file(row);
    let format = problem_format(format).expect("the format is known");
    let mut read = read_problems(&path, format, options).expect("the file can be read");
    assert!(read.bad.is_empty(), "{}", read.bad[0]);
    assert_eq!(read.rows.len(), 1);
    read.rows.remove(0).1
}

pub(super) fn ready(format: &str, row: &serde_json::Value) -> Problem {
    match only(format, &row.to_string()) {
        ProblemRow::Ready(problem) => problem,
        ProblemRow::Unexecuted(unexecuted) => panic!("{unexecuted:?} has no expected values"),
    }
}

pub(super) fn tests(problem: &Problem) -> &TestCode {
    let Checks::Tests(code) = &problem.checks else { panic!("{:?} is no test code", problem.checks) };
    code
}

pub(super) fn calls(problem: &Problem) -> &CallChecks {
    let Checks::Calls(calls) = &problem.checks else { panic!("{:?} are no calls", problem.checks) };
    calls
}

fn unexecuted(row: &serde_json::Value) -> UnexecutedProblem {
    match only("evalplus", &row.to_string()) {
        ProblemRow::Unexecuted(unexecuted) => unexecuted,
        ProblemRow::Ready(problem) => panic!("{problem:?} needs no execution"),
    }
}

fn literal(text: &str) -> Value {
    Value::parse_repr(text).expect("a literal")
}

/// Cases as `repr` writes them: arguments and expected value.
pub(super) fn cases(checks: &CallChecks) -> Vec<(String, String)> {
    let text = |case: &veriplay_core::CallCase| (Value::arguments_text(&case.input), case.expected.to_string());
    checks.cases.iter().map(text).collect()
}

#[test]
fn every_format_has_its_own_name() {
    let names: Vec<&str> = PROBLEM_FORMATS.iter().map(|format| format.name).collect();
    let sets = [
        "humaneval", "mbpp", "evalplus", "livecodebench", "cruxeval", "apps", "code_contests", "codeforces", "kodcode",
    ];
    assert_eq!(names, [["veriplay"].as_slice(), &sets, &["cat", "auto"]].concat());
    let error = problem_format("human-eval").expect_err("there is no such format").to_string();
    assert!(error.contains("`human-eval`") && error.contains("`cruxeval`"), "{error}");
}

#[test]
fn a_row_of_our_own_is_a_problem_as_it_is_written() {
    let problem = Problem {
        task_id: "mine/1".into(),
        prelude: "import math\n".into(),
        prompt: "def f(x):\n".into(),
        checks: Checks::Prediction(Prediction {
            program: "def f(x): return x".into(),
            input: "1".into(),
            output: literal("{1: (2.5, None)}"),
            wanted: Predicted::Input,
        }),
        limits: LimitOverrides::default(),
    };
    let row = json!({"schema_version": 1, "problem": serde_json::to_value(&problem).expect("a problem is JSON")});
    assert_eq!(ready("veriplay", &row), problem);
}

#[test]
fn humaneval_keeps_its_prompt_for_the_completion_and_for_the_tests() {
    let row = json!({"task_id": "HumanEval/999", "prompt": "def poly(x):\n    return x\n\n\ndef f(x):\n",
        "canonical_solution": "    return x\n", "test": "def check(candidate):\n    assert poly(candidate(1)) == 1\n",
        "entry_point": "f"});
    let problem = ready("humaneval", &row);
    assert_eq!(problem.task_id, "HumanEval/999");
    assert_eq!(problem.prompt, row["prompt"]);
    let code = tests(&problem);
    assert_eq!((code.setup.as_str(), code.trust), (problem.prompt.as_str(), Trust::Split));
    let TestStyle::Check { source, function } = &code.style else { panic!("{:?}", code.style) };
    assert_eq!((source.as_str(), function.as_str()), (row["test"].as_str().expect("a text"), "f"));
}

#[test]
fn both_files_of_mbpp_are_read() {
    let original = json!({"text": "Write f.", "code": "def f(x): return x", "task_id": 602, "test_setup_code": "x = 1",
        "test_list": ["assert f(x) == 1", "assert f(2) == 2"], "challenge_test_list": ["assert f(3) == 3"]});
    let problem = ready("mbpp", &original);
    assert_eq!((problem.task_id.as_str(), problem.prompt.as_str()), ("602", ""));
    let asserts: Vec<String> = ["assert f(x) == 1", "assert f(2) == 2", "assert f(3) == 3"].map(String::from).into();
    assert_eq!((tests(&problem).setup.as_str(), &tests(&problem).style), ("x = 1\n", &TestStyle::Asserts(asserts)));

    let sanitized = json!({"source_file": "a.ipynb", "task_id": 2, "prompt": "Write f.", "code": "def f(x): return x",
        "test_imports": ["import math", "import re"], "test_list": ["assert f(1) == 1"]});
    let problem = ready("mbpp", &sanitized);
    assert_eq!((problem.task_id.as_str(), problem.prompt.as_str()), ("2", ""));
    assert_eq!(tests(&problem).setup, "import math\nimport re\n");
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
    assert_eq!(cases(calls(&problem))[2], ("{'a': None, 'b': 1}".to_owned(), "3".to_owned()));
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
fn livecodebench_texts_are_runs_and_functions_are_calls() {
    let public = json!([{"input": "1\n2\n", "output": "3\n", "testtype": "stdin"}]).to_string();
    let private = json!([{"input": "4\n5\n", "output": "9\n", "testtype": "stdin"}]).to_string();
    let row = json!({"question_id": "abc_1", "starter_code": "", "public_test_cases": public,
        "private_test_cases": private, "metadata": "{}"});
    let problem = ready("livecodebench", &row);
    let Checks::Stdio(stdio) = &problem.checks else { panic!("{:?}", problem.checks) };
    assert_eq!(stdio.cases[1], StdioCase::new("4\n5\n", "9\n"));
    assert_eq!((stdio.cases.len(), stdio.comparison.judge.as_str()), (2, "livecodebench"));
    assert_eq!((problem.task_id.as_str(), problem.prompt.as_str()), ("abc_1", ""));
    let renamed = row.to_string().replace("question_id", "task_id");
    assert_eq!(ready("livecodebench", &serde_json::from_str(&renamed).unwrap()).task_id, "abc_1");

    let public = json!([{"input": "[1, 2]\n\"x\"", "output": "{\"a\": [1.0]}", "testtype": "functional"}]).to_string();
    let row = json!({"question_id": "3162", "starter_code": "class Solution:\n    def go(self, a, b):\n",
        "public_test_cases": public, "private_test_cases": "[]", "metadata": "{\"func_name\": \"go\"}"});
    let problem = ready("livecodebench", &row);
    let checks = calls(&problem);
    assert_eq!((checks.function.as_str(), checks.fresh), ("Solution.go", true));
    assert_eq!(cases(checks), [("[1, 2], 'x'".to_owned(), "{'a': [1.0]}".to_owned())]);
}

#[test]
fn the_livecodebench_prelude_gives_the_built_in_names_back() {
    let row = json!({"question_id": "1", "public_test_cases": [{"input": "", "output": "", "testtype": "stdin"}],
        "private_test_cases": "", "metadata": "{}"});
    let prelude = ready("livecodebench", &row).prelude;
    let at = |line: &str| prelude.find(line).unwrap_or_else(|| panic!("no `{line}` in {prelude}"));
    assert!(at("from math import *\n") < at("from builtins import *\n"));
    assert!(at("from io import *\n") < at("from builtins import *\n"));
    assert!(at("from datetime import *\n") < at("\nimport datetime\n"));
    assert!(prelude.ends_with("sys.setrecursionlimit(50000)\n"));
}

#[test]
fn cruxeval_asks_for_the_side_that_was_chosen() {
    let row = json!({"id": "sample_1", "code": "def f(a, b):\n    return a", "input": "[1], 'x'", "output": "[1]"});
    for predict in [Predicted::Output, Predicted::Input] {
        let options = ReadOptions { predict, ..ReadOptions::default() };
        let found = only_with("cruxeval", &row.to_string(), &options);
        assert!(found.is_prediction());
        let ProblemRow::Ready(Problem { task_id, checks: Checks::Prediction(prediction), .. }) = found else {
            panic!("{found:?} is no prediction")
        };
        assert_eq!((task_id.as_str(), prediction.wanted), ("sample_1", predict));
        assert_eq!((prediction.input.as_str(), prediction.output), ("[1], 'x'", literal("[1]")));
    }
}

fn apps(tests: serde_json::Value, starter: &str) -> Problem {
    ready(
        "apps",
        &json!({"problem_id": 7, "question": "q", "input_output": tests.to_string(), "starter_code": starter}),
    )
}

#[test]
fn apps_texts_may_be_lists_of_lines() {
    let problem = apps(json!({"inputs": ["1\n", ["2", "3"]], "outputs": ["1\n", ["5", ""]]}), "");
    let Checks::Stdio(stdio) = &problem.checks else { panic!("{:?}", problem.checks) };
    assert_eq!(stdio.cases[1], StdioCase::new("2\n3", "5\n"));
    assert_eq!((problem.task_id.as_str(), stdio.comparison.judge.as_str()), ("7", "lines"));
    assert!(problem.prelude.contains("from typing import List"));
}

#[test]
fn apps_calls_keep_their_results_and_have_the_judge_that_unwraps_them() {
    let problem = apps(json!({"fn_name": "f", "inputs": [[1], [2]], "outputs": [[3], [{"4": 0}]]}), "def f(x):");
    assert_eq!((calls(&problem).function.as_str(), calls(&problem).comparison.judge.as_str()), ("f", "apps"));
    assert_eq!(cases(calls(&problem)), [("1", "[3]"), ("2", "[{4: 0}]")].map(|(a, b)| (a.to_owned(), b.to_owned())));
    let problem = apps(json!({"fn_name": "f", "inputs": [[1], [2]], "outputs": [[3], [4, 5]]}), "class Solution:");
    assert_eq!(calls(&problem).function, "Solution.f");
    assert_eq!(cases(calls(&problem)), [("1", "[3]"), ("2", "[4, 5]")].map(|(a, b)| (a.to_owned(), b.to_owned())));
}

#[test]
fn apps_dicts_get_their_int_keys_back() {
    let tests = json!({"fn_name": "f", "inputs": [[{"2": "x", "-1": "y"}], [{"2": 0, "a": 1}], [{"1": 1}, 5]],
        "outputs": [{"3": 1}, 2, 3]});
    let wanted = [("{-1: 'y', 2: 'x'}", "{3: 1}"), ("{'2': 0, 'a': 1}", "2"), ("{'1': 1}, 5", "3")];
    assert_eq!(cases(calls(&apps(tests, ""))), wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
}

#[test]
fn apps_ints_may_have_more_digits_than_python_takes() {
    let digits = "7".repeat(5_000);
    let tests = format!("{{\"fn_name\": \"f\", \"inputs\": [[{digits}]], \"outputs\": [-{digits}]}}");
    let row = json!({"problem_id": 7, "question": "q", "input_output": tests, "starter_code": ""});
    let problem = ready("apps", &row);
    let case = &calls(&problem).cases[0];
    let int = |text: &str| Value::parse_int(text).expect("an int");
    assert_eq!((&case.input, &case.expected), (&vec![int(&digits)], &int(&format!("-{digits}"))));
    let most = fault("apps", &row.to_string().replace(&digits, &"7".repeat(100_001)));
    assert!(most.reason.contains("100001 digits; the most is 100000"), "{most}");
}

#[test]
fn taco_rows_without_a_name_are_named_by_their_place() {
    let row = |n: u32| json!({"question": "q", "input_output": {"inputs": [n.to_string()], "outputs": ["1"]}});
    let (_dir, path) = file(format!("{}\n\n{}\n", row(1), row(2)));
    let format = problem_format("apps").expect("the format is known");
    let read = read_problems(&path, format, &ReadOptions::default()).expect("the file can be read");
    let ids: Vec<&str> = read.rows.iter().map(|(_, row)| row.task_id()).collect();
    assert_eq!(ids, ["0", "1"]);
}
