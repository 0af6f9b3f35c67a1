//! Rows as sets and trainers carry them, and the checks that they become. The rows are ours, in the published layouts.

use serde_json::{Value as Json, json};
use veriplay_core::{Checks, Comparison, Problem, TestStyle, Tolerance};

use super::problem_faults::fault;
use super::problem_formats::{calls, cases, ready, tests};

/// The row of an array, because a list alone is a file of rows.
fn auto(row: &Json) -> Problem {
    ready("auto", &json!([row]))
}

/// What scripts read and write.
fn texts(problem: &Problem) -> Vec<(&str, &str)> {
    let Checks::Stdio(stdio) = &problem.checks else { panic!("{:?} are no scripts", problem.checks) };
    stdio.cases.iter().map(|case| (case.stdin.as_str(), case.stdout.as_str())).collect()
}

/// The function, and arguments and values as `repr` writes them.
fn called(problem: &Problem) -> (String, Vec<(String, String)>) {
    (calls(problem).function.clone(), cases(calls(problem)))
}

fn call(arguments: &str, value: &str) -> (String, String) {
    (arguments.to_owned(), value.to_owned())
}

#[test]
fn a_text_beside_a_function_is_one_json_value_a_line() {
    let row = json!({"fn_name": "pick", "inputs": ["[4, 2, 4]\n[2, 1]\n4", "\"a b\"\n", "", null, 7, true],
        "outputs": ["[2, 0, -1]", "\"c\"", "null", "plain text", "8", ""]});
    let wanted = [
        call("[4, 2, 4], [2, 1], 4", "[2, 0, -1]"),
        call("'a b'", "'c'"),
        call("", "None"),
        call("", "'plain text'"),
        call("7", "8"),
        call("True", "''"),
    ];
    assert_eq!(called(&auto(&row)), ("pick".to_owned(), wanted.to_vec()));
}

#[test]
fn a_list_beside_a_function_is_its_arguments_and_its_output_a_value() {
    let row = json!({"fn_name": "f", "inputs": [["1"], [[1, 2], 3]], "outputs": ["2", [6]]});
    assert_eq!(called(&auto(&row)), ("f".to_owned(), vec![call("'1'", "'2'"), call("[1, 2], 3", "[6]")]));
}

#[test]
fn python_literals_are_read_where_a_line_holds_no_json() {
    let row = json!({"fn_name": "f", "inputs": ["(1, 2)\n{'a': None}", "'x'"], "outputs": ["(3, 4)", "True"]});
    // A returned tuple is compared as a list.
    assert_eq!(called(&auto(&row)).1, [call("(1, 2), {'a': None}", "[3, 4]"), call("'x'", "True")]);
}

#[test]
fn a_script_reads_texts_numbers_lines_and_nothing() {
    let row = json!({"inputs": [null, "", "x\n", 5, ["1 2", 3], 0.5], "outputs": ["a", 1, ["b", "c"], 2.0, [1, 2.5], "True"]});
    let wanted = [("", "a"), ("", "1"), ("x\n", "b\nc"), ("5", "2.0"), ("1 2\n3", "1\n2.5"), ("0.5", "True")];
    assert_eq!(texts(&auto(&row)), wanted);
}

#[test]
fn assert_cases_are_test_code_and_modules_of_tests_are_collected() {
    let row = json!({"fn_name": "sum", "assert_case": ["assert sum([1]) == 1", "assert sum([]) == 0"], "inputs": ["", ""], "outputs": [null, null]});
    let problem = auto(&row);
    assert_eq!(tests(&problem).functions, ["sum"]);
    assert!(matches!(&tests(&problem).style, TestStyle::Asserts(lines) if lines.len() == 2));
    assert!(problem.prelude.contains("from typing import *"));
    // As lines these would define tests and run none.
    let module = "from solution import f\n\ndef test_f():\n    assert f(1) == 2\n";
    for row in [json!({"assert_case": [module]}), json!([module]), json!({"tests": module}), json!(module)] {
        assert!(matches!(&tests(&auto(&row)).style, TestStyle::Functions(source) if source == module), "{row}");
    }
}

#[test]
fn lists_of_tests_say_by_each_test_what_it_is() {
    let synthetic = json!({"language": "python", "test_cases": [
        {"type": "function_call", "fn_name": "add", "input": "[1, 2]\n3", "output": "6"},
        {"type": "function_call", "fn_name": "add", "input": [[1], 2], "output": 3}]});
    let wanted = ("add".to_owned(), vec![call("[1, 2], 3", "6"), call("[1], 2", "3")]);
    let text = json!([{"type": "function_call", "fn_name": "f", "input": [1], "output": "6"},
        {"type": "function_call", "fn_name": "f", "input": [1], "output": "six"}]);
    assert_eq!(called(&auto(&text)).1, [call("1", "6"), call("1", "'six'")]);
    for row in [
        synthetic.clone(),
        json!({"verification_info": synthetic}),
        json!({"verification_info": synthetic.to_string()}),
        json!(synthetic["test_cases"].to_string()),
    ] {
        assert_eq!(called(&auto(&row)), wanted, "{row}");
    }
    let mut other = synthetic.clone();
    other["language"] = json!("javascript");
    let bad = fault("auto", &json!([{"verification_info": other}]).to_string());
    assert_eq!(bad.field, "verification_info.language");
    assert_eq!(bad.reason, "is `javascript`; programs in Python are judged");
    for language in ["", "Python 3", "en", "English"] {
        other["language"] = json!(language);
        assert_eq!(called(&auto(&json!({"verification_info": other}))), wanted, "{language}");
    }
    let script = json!([{"type": "stdin_stdout", "fn_name": null, "input": "1\n", "output": "2\n"}]);
    assert_eq!(texts(&auto(&script)), [("1\n", "2\n")]);
    let codeforces = json!({"tests": [{"input": "1\n", "output": "2\n"}]});
    assert_eq!(texts(&auto(&codeforces)), [("1\n", "2\n")]);
    // A script's tests may carry a name that says nothing.
    let named = json!([{"type": "stdin_stdout", "fn_name": "f", "input": "1\n", "output": "2\n"}]);
    assert_eq!(texts(&auto(&named)), [("1\n", "2\n")]);
}

#[test]
fn tests_of_livecodebench_and_of_nemo_gym_keep_their_judges() {
    let metadata = json!({"func_name": "go"});
    for metadata in [metadata.clone(), json!(metadata.to_string())] {
        let row =
            json!({"tests": [{"input": "1\n\"x\"", "output": "[2]", "testtype": "functional", "metadata": metadata}]});
        let problem = auto(&row);
        assert_eq!(called(&problem), ("go".to_owned(), vec![call("1, 'x'", "[2]")]));
        assert_eq!(calls(&problem).comparison.judge, "livecodebench");
    }
    for metadata in [json!(""), json!(null), json!({"func_name": null})] {
        let row = json!([{"input": "1", "output": "2", "testtype": "stdin", "metadata": metadata}]);
        assert_eq!(texts(&auto(&row)), [("1", "2")], "{row}");
    }
    let gym = json!({"unit_tests": {"inputs": ["[1]\n2"], "outputs": ["3"], "fn_name": "add"}});
    for row in [gym.clone(), json!({"verifier_metadata": gym}), json!({"unit_tests": gym["unit_tests"].to_string()})] {
        assert_eq!(calls(&auto(&row)).comparison.judge, "nemo_gym", "{row}");
    }
}

#[test]
fn a_row_of_a_trainer_carries_its_tests_inside() {
    let tests = json!({"inputs": ["1\n"], "outputs": ["2\n"]});
    for row in [
        json!({"data_source": "taco", "prompt": [{"role": "user", "content": "q"}], "ability": "code", "extra_info": {"index": 3},
            "reward_model": {"style": "rule", "ground_truth": tests.to_string()}}),
        json!({"reward_spec": {"method": "rule", "ground_truth": tests}}),
        json!({"problem": "q", "solutions": ["s"], "tests": tests.to_string()}),
        json!({"question": "q", "info": json!({"tests": tests.to_string(), "source": "taco"}).to_string()}),
        json!({"label": tests.to_string()}),
        json!(tests.to_string()),
        json!({"ground_truth": "{'inputs': ['1\\n'], 'outputs': ['2\\n']}"}),
        json!({"ground_truth": {"input_output": tests.to_string()}}),
        json!({"format": "apps", "row": {"input_output": tests}}),
        json!({"format": "apps", "row": json!({"input_output": tests}).to_string()}),
    ] {
        assert_eq!(texts(&auto(&row)), [("1\n", "2\n")], "{row}");
    }
    let named = json!({"task_id": "outer", "format": "apps", "row": {"task_id": "inner", "input_output": tests}});
    assert_eq!(auto(&named).task_id, "outer");
}

#[test]
fn rows_of_known_sets_are_told_by_their_fields() {
    for row in [
        json!({"task_id": "HumanEval/0", "prompt": "def f():\n", "test": "def check(c): pass", "entry_point": "f"}),
        json!({"task_id": 1, "test_list": ["assert f(1)"]}),
        json!({"question_id": "q", "public_test_cases": "[]",
            "private_test_cases": [{"input": "", "output": "", "testtype": "stdin"}]}),
        json!({"problem_id": 7, "input_output": {"inputs": [""], "outputs": ["1"]}}),
        json!({"schema_version": 1, "problem": {"task_id": "a", "checks": {"tests": {"style": {"asserts": ["assert f()"]}}}}}),
    ] {
        let name = auto(&row).task_id;
        for nested in [json!({"ground_truth": row}), json!({"ground_truth": row.to_string()})] {
            let found = auto(&nested);
            assert_eq!((found.task_id, found.checks), (name.clone(), auto(&row).checks), "{nested}");
        }
    }
}

#[test]
fn a_row_has_its_own_name_or_its_place() {
    let tests = json!({"inputs": ["1\n"], "outputs": ["2\n"]});
    let name = |row: Json| auto(&row).task_id;
    assert_eq!(name(json!({"question_id": 5, "ground_truth": tests.to_string()})), "5");
    assert_eq!(name(json!({"task_id": "a", "inputs": ["1"], "outputs": ["2"]})), "a");
    assert_eq!(name(tests.clone()), "0");
    assert_eq!(name(json!({"id": [], "ground_truth": tests})), "0");
    // A trainer's row may have lost the name that its set gave it.
    assert_eq!(name(json!({"prompt": "def f():\n", "test": "def check(c): pass", "entry_point": "f"})), "0");
    assert_eq!(name(json!({"ground_truth": {"test_list": ["assert f(1)"]}})), "0");
}

#[test]
fn code_contests_runs_all_kinds_of_tests() {
    let two = |input: &str, output: &str| json!({"input": [input], "output": [output]});
    let row = json!({"name": "1_A. Sum", "description": "Add.", "public_tests": two("1 2\n", "3\n"), "private_tests": two("5 5\n", "10\n"),
        "generated_tests": {"input": [], "output": []}, "input_file": "", "output_file": ""});
    for (format, row) in [("code_contests", &row), ("auto", &row), ("auto", &json!({"ground_truth": row.to_string()}))]
    {
        let problem = ready(format, row);
        assert_eq!(texts(&problem), [("1 2\n", "3\n"), ("5 5\n", "10\n")]);
    }
    assert_eq!(ready("code_contests", &row).task_id, "1_A. Sum");
    let list = json!({"public_tests": [{"input": "1\n", "output": "2\n"}]});
    assert_eq!(texts(&auto(&list)), [("1\n", "2\n")]);
}

#[test]
fn codeforces_runs_its_official_tests() {
    let row = json!({"id": "1/A", "description": "Add.", "input_format": "two ints", "output_format": "one", "interaction_format": null,
        "official_tests": [{"input": "1 2\n", "output": "3\n"}], "input_mode": "stdio", "generated_checker": null});
    let problem = ready("codeforces", &row);
    assert_eq!((problem.task_id.as_str(), texts(&problem)), ("1/A", vec![("1 2\n", "3\n")]));
    assert_eq!(auto(&row), problem);
}

#[test]
fn kodcode_runs_a_module_of_tests() {
    let module = "from solution import total\n\ndef test_total():\n    assert total([1]) == 1\n";
    let row = json!({"question_id": "Filter_1_I", "question": "Add.", "solution": "def total(xs): return sum(xs)", "test": module,
        "test_info": [{"function_name": "total", "function_declaration": "def total(xs):", "parameter_list": "(xs)", "docstring": ""}]});
    let problem = ready("kodcode", &row);
    assert_eq!(problem.task_id, "Filter_1_I");
    assert_eq!(tests(&problem).style, TestStyle::Functions(module.to_owned()));
    assert_eq!(tests(&problem).functions, ["total"]);
    assert_eq!(auto(&row), problem);
    let early = json!({"conversation_id": "c", "test_code": module});
    assert_eq!(ready("kodcode", &early).task_id, "c");
}

/// The comparison of a task's outputs.
fn comparison(problem: &Problem) -> &Comparison {
    match &problem.checks {
        Checks::Stdio(checks) => &checks.comparison,
        Checks::Calls(checks) => &checks.comparison,
        other => panic!("{other:?} have no judge"),
    }
}

#[test]
fn a_row_may_name_its_judge_and_the_outermost_name_counts() {
    let tests = |judge: Json| json!({"inputs": ["1"], "outputs": ["2"], "judge": judge});
    for (row, judge) in [
        (json!({"inputs": ["1"], "outputs": ["2"]}), "lines"),
        (tests(json!("tokens")), "tokens"),
        (tests(json!({"judge": "yes_no", "tolerance": null, "checker": null})), "yes_no"),
        (json!({"ground_truth": tests(json!("tokens")).to_string()}), "tokens"),
        (json!({"judge": "exact", "ground_truth": tests(json!("tokens"))}), "exact"),
        (json!({"fn_name": "f", "inputs": [[1]], "outputs": [2], "judge": "exact"}), "exact"),
    ] {
        let problem = auto(&row);
        assert_eq!(comparison(&problem).judge, judge, "{row}");
        assert_eq!(comparison(&problem).is_default, row.to_string().find("judge").is_none(), "{row}");
    }
    let float = auto(&tests(json!({"judge": "float", "rtol": 1e-3})));
    assert_eq!(comparison(&float).tolerance, Some(Tolerance { absolute: 0.0, relative: 1e-3 }));
    let codeforces = json!({"id": "1/A", "official_tests": [{"input": "1", "output": "2"}], "judge": "tokens"});
    assert_eq!(comparison(&ready("codeforces", &codeforces)).judge, "tokens");
}

#[test]
fn problems_with_files_read_and_write_them() {
    let forces = json!({"id": "1/A", "official_tests": [{"input": "1 2\n", "output": "3\n"}], "input_mode": "file"});
    let contests = |input: &str, output: &str| {
        let tests = json!({"input": ["1 2\n"], "output": ["3\n"]});
        json!({"name": "n", "public_tests": tests, "input_file": input, "output_file": output})
    };
    for (row, files, expected, streams) in [
        (forces, Some("input.txt"), Some("output.txt"), ("", "")),
        (contests("in", "out"), Some("in"), Some("out"), ("", "")),
        (contests("in", ""), Some("in"), None, ("", "3\n")),
        (contests("", "out"), None, Some("out"), ("1 2\n", "")),
    ] {
        let problem = auto(&row);
        let Checks::Stdio(checks) = &problem.checks else { panic!("{row}") };
        let file =
            |path: Option<&str>, text: &str| path.map(|path| (path.to_owned(), text.to_owned())).into_iter().collect();
        let case = &checks.cases[0];
        assert_eq!((&case.files, &case.expected_files), (&file(files, "1 2\n"), &file(expected, "3\n")), "{row}");
        assert_eq!((case.stdin.as_str(), case.stdout.as_str()), streams, "{row}");
    }
}

#[test]
fn a_checker_of_codeforces_judges_its_row() {
    let row = |checker: Json| json!({"id": "1/A", "official_tests": [{"input": "1", "output": "2"}], "generated_checker": checker});
    let problem = auto(&row(json!("print(1)")));
    let found = comparison(&problem);
    assert_eq!((found.judge.as_str(), found.checker_script.as_deref()), ("checker", Some("print(1)")));
    assert!(!found.is_default, "a request for another judge leaves it alone");
    for none in [json!(null), json!(" ")] {
        assert_eq!(comparison(&auto(&row(none))).judge, "lines");
    }
}
