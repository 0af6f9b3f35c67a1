//! Every field that can be wrong, and its error.

use veriplay_corpus::{InvalidRow, ReadOptions, problem_format, read_problems};

use super::file;

/// The error of the one row of a file.
pub(super) fn fault(format: &str, row: &str) -> InvalidRow {
    fault_with(format, row, &ReadOptions::default())
}

pub(super) fn fault_with(format: &str, row: &str, options: &ReadOptions) -> InvalidRow {
    let (_dir, path) = file(row);
    let format = problem_format(format).expect("the format is known");
    let mut read = read_problems(&path, format, options).expect("the file can be read");
    assert!(read.rows.is_empty(), "`{row}` was taken as {:?}", read.rows[0]);
    assert_eq!(read.bad.len(), 1, "{:?}", read.bad);
    read.bad.remove(0)
}

/// `good` with `from` replaced by `to`, and the field and reason that are then named.
type Case = (&'static str, &'static str, &'static str, &'static str);

fn check(format: &str, good: &str, cases: &[Case]) {
    super::problem_formats::only(format, good);
    for (from, to, field, reason) in cases {
        assert!(good.contains(from), "`{from}` is not in the row");
        let bad = fault(format, &good.replacen(from, to, 1));
        assert_eq!((bad.field.as_str(), bad.line), (*field, 1), "{from} -> {to}: {bad}");
        assert!(bad.reason.contains(reason), "{from} -> {to}: {bad}");
    }
}

#[test]
fn bad_rows_of_our_own_are_named() {
    let good = r#"{"schema_version":1,"problem":{"task_id":"a","checks":{"stdio":{"cases":[{"stdin":"","stdout":"1"}],"comparison":{"judge":"lines"}}}}}"#;
    check(
        "veriplay",
        good,
        &[
            ("\"schema_version\":1", "\"schema_version\":2", "schema_version", "`2`"),
            ("\"schema_version\":1,", "", "", "schema_version"),
            ("\"a\"", "\"\"", "problem.task_id", "empty"),
            ("\"task_id\"", "\"id\"", "", "`id`"),
            ("\"stdio\":{", "\"stdjo\":{", "", "stdjo"),
            ("\"stdin\":\"\"", "\"stdin\":1", "", "expected a string"),
            ("{\"judge\":\"lines\"}", "{}", "", "judge"),
        ],
    );
}

#[test]
fn bad_humaneval_rows_are_named() {
    let good = r#"{"task_id":"HumanEval/0","prompt":"def f():\n","test":"def check(candidate):\n    pass\n","entry_point":"f"}"#;
    check(
        "humaneval",
        good,
        &[
            ("\"HumanEval/0\"", "null", "task_id", "missing"),
            ("\"HumanEval/0\"", "\"\"", "task_id", "empty"),
            ("\"HumanEval/0\"", "1.5", "task_id", "float"),
            ("\"prompt\"", "\"promt\"", "prompt", "missing"),
            ("\"def f():\\n\"", "\" \"", "prompt", "empty"),
            ("\"def f():\\n\"", "[]", "prompt", "list"),
            ("def check(", "def chick(", "test", "check(candidate)"),
            ("\"f\"", "7", "entry_point", "int"),
            ("{\"task_id\"", "{task_id", "", "expected a key"),
            ("\"f\"}", "\"f\"", "", "expected `}`"),
        ],
    );
}

#[test]
fn bad_mbpp_rows_are_named() {
    let good =
        r#"{"task_id":1,"test_list":["assert f()"],"challenge_test_list":[],"test_imports":[],"test_setup_code":""}"#;
    check(
        "mbpp",
        good,
        &[
            ("\"task_id\":1,", "", "task_id", "missing"),
            ("[\"assert f()\"]", "[]", "test_list", "no tests"),
            ("[\"assert f()\"]", "\"assert f()\"", "test_list", "str"),
            ("[\"assert f()\"]", "[\"assert f()\", 1]", "test_list[1]", "int"),
            ("\"challenge_test_list\":[]", "\"challenge_test_list\":[[]]", "challenge_test_list[0]", "list"),
            ("\"test_imports\":[]", "\"test_imports\":{}", "test_imports", "dict"),
            ("\"test_setup_code\":\"\"", "\"test_setup_code\":[]", "test_setup_code", "list"),
        ],
    );
}

#[test]
fn bad_evalplus_rows_are_named() {
    let good = r#"{"task_id":"Mbpp/115","prompt":"p","canonical_solution":"s","entry_point":"f","base_input":[[[[1]]]],"plus_input":{},"atol":0}"#;
    check(
        "evalplus",
        good,
        &[
            ("\"prompt\":\"p\",", "", "prompt", "missing"),
            ("\"s\"", "\"\"", "canonical_solution", "empty"),
            ("\"entry_point\":\"f\"", "\"entry_point\":null", "entry_point", "missing"),
            ("\"base_input\":[[[[1]]]]", "\"base_input\":[]", "base_input", "no inputs"),
            ("\"base_input\":[[[[1]]]]", "\"base_input\":[3]", "base_input[0]", "int"),
            ("\"base_input\":[[[[1]]]]", "\"base_input\":[[]]", "base_input[0]", "no argument 0"),
            ("\"base_input\":[[[[1]]]]", "\"base_input\":[[3]]", "base_input[0]", "expected a list"),
            ("\"base_input\":[[[[1]]]]", "\"base_input\":[[[[[]]]]]", "base_input[0]", "cannot hold lists"),
            ("\"plus_input\":{}", "\"plus_input\":{\"a\":1}", "plus_input", "dict"),
            ("Mbpp/115", "Mbpp/124", "base_input[0]", "expected a float, found [[1]]"),
            ("Mbpp/115", "Mbpp/252", "base_input[0]", "expected a complex number, found [[1]]"),
            ("Mbpp/115", "Mbpp/722", "base_input[0]", "expected an object"),
            ("\"atol\":0", "\"atol\":\"0\"", "atol", "str"),
            ("\"atol\":0", "\"atol\":-1", "atol", "`-1`"),
            ("\"atol\":0", "\"atol\":NaN", "atol", "`NaN`"),
        ],
    );
    let tuples = good.replace("Mbpp/115", "Mbpp/2").replace("[[[[1]]]]", "[[1]]");
    assert!(fault("evalplus", &tuples).reason.contains("make a tuple"));
}

#[test]
fn bad_livecodebench_rows_are_named() {
    let good = r#"{"question_id":"q","public_test_cases":"[{\"input\":\"1\",\"output\":\"2\",\"testtype\":\"functional\"}]","private_test_cases":"[]","metadata":"{\"func_name\":\"go\"}"}"#;
    check(
        "livecodebench",
        good,
        &[
            ("\"q\"", "[]", "question_id", "list"),
            ("\"[{", "\"{", "public_test_cases", "no JSON"),
            ("\"[{", "\"3,[{", "public_test_cases", "no JSON"),
            (
                "\\\"testtype\\\":\\\"functional\\\"",
                "\\\"testtype\\\":\\\"odd\\\"",
                "public_test_cases[0].testtype",
                "`odd`",
            ),
            ("\\\"input\\\"", "\\\"in\\\"", "public_test_cases[0].input", "missing"),
            ("\\\"output\\\":\\\"2\\\"", "\\\"output\\\":2", "public_test_cases[0].output", "int"),
            ("\\\"input\\\":\\\"1\\\"", "\\\"input\\\":\\\"x\\\"", "public_test_cases[0].input", "no JSON"),
            ("\\\"output\\\":\\\"2\\\"", "\\\"output\\\":\\\"\\\"", "public_test_cases[0].output", "no JSON"),
            ("\"private_test_cases\":\"[]\"", "\"private_test_cases\":null", "private_test_cases", "missing"),
            (
                "\"private_test_cases\":\"[]\"",
                "\"private_test_cases\":\"?\"",
                "private_test_cases",
                "neither JSON nor base64",
            ),
            ("\"private_test_cases\":\"[]\"", "\"private_test_cases\":\"[\"", "private_test_cases", "no JSON"),
            ("\"private_test_cases\":\"[]\"", "\"private_test_cases\":{}", "private_test_cases", "list of tests"),
            ("\"{\\\"func_name\\\":\\\"go\\\"}\"", "\"[]\"", "metadata", "expected an object"),
            ("\"{\\\"func_name\\\":\\\"go\\\"}\"", "\"{\\\"func_name\\\":1}\"", "metadata.func_name", "int"),
        ],
    );
    let none =
        good.replace("[{\\\"input\\\":\\\"1\\\",\\\"output\\\":\\\"2\\\",\\\"testtype\\\":\\\"functional\\\"}]", "[]");
    assert!(fault("livecodebench", &none).reason.contains("no tests"));
}

#[test]
fn bad_cruxeval_rows_are_named() {
    let good = r#"{"id":"sample_0","code":"def f(x): return x","input":"1","output":"1"}"#;
    check(
        "cruxeval",
        good,
        &[
            ("\"id\"", "\"idx\"", "id", "missing"),
            ("\"def f(x): return x\"", "\"\"", "code", "empty"),
            ("\"input\":\"1\"", "\"input\":1", "input", "int"),
            ("\"output\":\"1\"", "\"output\":\"open(1)\"", "output", "no Python literal"),
        ],
    );
}

#[test]
fn bad_apps_rows_are_named() {
    let good = r#"{"problem_id":1,"input_output":{"fn_name":"f","inputs":[[1]],"outputs":[2]},"starter_code":""}"#;
    check(
        "apps",
        good,
        &[
            ("{\"problem_id\":1", "{\"task_id\":[]", "task_id", "list"),
            ("{\"fn_name\":\"f\",\"inputs\":[[1]],\"outputs\":[2]}", "\"\"", "input_output", "no JSON"),
            ("{\"fn_name\":\"f\",\"inputs\":[[1]],\"outputs\":[2]}", "null", "input_output", "missing"),
            ("{\"fn_name\":\"f\",\"inputs\":[[1]],\"outputs\":[2]}", "[]", "input_output", "expected an object"),
            ("\"inputs\":[[1]]", "\"inputs\":1", "input_output.inputs", "int"),
            (
                "\"inputs\":[[1]]",
                "\"inputs\":[{}]",
                "input_output.inputs[0]",
                "expected a list of arguments, or a text",
            ),
            ("\"inputs\":[[1]]", "\"inputs\":[\"f(1)\"]", "input_output.inputs[0]", "line 1 holds no JSON"),
            ("\"inputs\":[[1]],\"outputs\":[2]", "\"inputs\":[],\"outputs\":[]", "input_output.inputs", "no tests"),
            ("\"outputs\":[2]", "\"outputs\":[2,3]", "input_output.outputs", "2 items for 1"),
            ("\"fn_name\":\"f\"", "\"fn_name\":3", "input_output.fn_name", "int"),
            ("\"fn_name\":\"f\",\"inputs\":[[1]]", "\"inputs\":[[[1]]]", "input_output.inputs[0]", "list of lines"),
            (
                "\"fn_name\":\"f\",\"inputs\":[[1]],\"outputs\":[2]",
                "\"inputs\":[\"1\"],\"outputs\":[{}]",
                "input_output.outputs[0]",
                "list of lines, found dict `{}`",
            ),
            (
                "\"fn_name\":\"f\",\"inputs\":[[1]],\"outputs\":[2]",
                "\"inputs\":[\"1\"],\"outputs\":[null]",
                "input_output.outputs[0]",
                "nothing to compare",
            ),
            ("\"starter_code\":\"\"", "\"starter_code\":{}", "starter_code", "dict"),
        ],
    );
}
