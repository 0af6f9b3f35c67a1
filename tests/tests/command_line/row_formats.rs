//! Rows as sets and trainers publish them, each with a right program and a wrong one, in the real sandbox. The rows are ours, in the published layouts.

use serde_json::{Value, json};

use super::verify::{Bench, column, rows};

/// A row, the name of its task, a right program and a wrong one.
struct Case {
    name: &'static str,
    row: Value,
    right: &'static str,
    wrong: &'static str,
}

const SUM: Pair = Pair { right: "print(sum(map(int, input().split())))\n", wrong: "print(3)\n" };
const ADD: Pair = Pair { right: "def add(xs, y):\n    return sum(xs) + y\n", wrong: "def add(xs, y):\n    return y\n" };

/// Programs for a task.
#[derive(Clone, Copy)]
struct Pair {
    right: &'static str,
    wrong: &'static str,
}

impl Pair {
    fn at(self, name: &'static str, row: Value) -> Case {
        Case { name, row, right: self.right, wrong: self.wrong }
    }
}

fn in_outs() -> Value {
    json!({"inputs": ["1 2\n", "5 5\n"], "outputs": ["3\n", "10\n"]})
}

fn code_contests() -> Value {
    let two = |input: &str, output: &str| json!({"input": [input], "output": [output]});
    json!({"name": "1_A. Sum", "description": "Add.", "public_tests": two("1 2\n", "3\n"), "private_tests": two("5 5\n", "10\n"),
        "generated_tests": {"input": [], "output": []}, "input_file": "", "output_file": ""})
}

fn codeforces() -> Value {
    let tests = json!([{"input": "1 2\n", "output": "3\n"}, {"input": "5 5\n", "output": "10\n"}]);
    json!({"id": "1/A", "description": "Add.", "official_tests": tests, "input_mode": "stdio", "interaction_format": "", "generated_checker": null})
}

fn kodcode() -> Value {
    let module = "from solution import add\n\ndef test_some():\n    assert add([1, 2], 3) == 6\n\ndef test_none():\n    assert add([], 1) == 1\n";
    json!({"question_id": "Prefill_1_I", "question": "Add.", "solution": ADD.right, "test": module,
        "test_info": [{"function_name": "add", "function_declaration": "def add(xs, y):", "parameter_list": "(xs, y)", "docstring": ""}]})
}

/// The rows that `--format auto` takes.
fn cases() -> Vec<Case> {
    let function = json!({"fn_name": "add", "inputs": ["[1, 2]\n3", "[]\n1"], "outputs": ["6", "1"]});
    let synthetic = |input: Value| json!({"language": "python", "test_cases": [{"type": "function_call", "fn_name": "add", "input": input, "output": "6"}]});
    let functional =
        json!([{"input": "[1, 2]\n3", "output": "6", "testtype": "functional", "metadata": {"func_name": "add"}}]);
    let stdin = json!([{"input": "1 2\n", "output": "3\n", "type": "stdin_stdout"}, {"input": "5 5\n", "output": "10", "type": "stdin_stdout"}]);
    let verl = |truth: Value| json!({"style": "rule", "ground_truth": truth.to_string()});
    let silent = Pair {
        right: "import sys\nprint('got', repr(sys.stdin.readline().strip()))\n",
        wrong: "print('got', repr(input()))\n",
    };
    vec![
        SUM.at(
            "prime",
            json!({"id": "prime", "data_source": "taco", "ability": "code", "reward_model": verl(in_outs())}),
        ),
        ADD.at("verl", json!({"id": "verl", "data_source": "apps", "reward_model": verl(function)})),
        Case {
            name: "solution",
            row: json!({"id": "solution", "fn_name": "pick", "inputs": ["[4, 2, 4]\n[2, 1, 3]\n4"], "outputs": ["[2, 0, -1]"]}),
            right: "class Solution:\n    def pick(self, xs: List[int], q: List[int], x: int) -> List[int]:\n        at = [i for i, v in enumerate(xs) if v == x]\n        return [at[k-1] if k <= len(at) else -1 for k in q]\n",
            wrong: "class Solution:\n    def pick(self, xs, q, x):\n        return q\n",
        },
        silent.at("null", json!({"id": "null", "inputs": [null, "", "x"], "outputs": ["got ''", "got ''", "got 'x'"]})),
        SUM.at("numbers", json!({"id": "numbers", "inputs": [7, ["1 2"], "5 5"], "outputs": [7, [3], ["10"]]})),
        ADD.at(
            "asserts",
            json!({"id": "asserts", "assert_case": ["assert add([1, 2], 3) == 6", "assert add([], 1) == 1"]}),
        ),
        ADD.at("module", json!({"id": "module", "assert_case": [kodcode()["test"]]})),
        ADD.at("lines", json!({"id": "lines", "verification_info": synthetic(json!("[1, 2]\n3")).to_string()})),
        ADD.at("list", json!({"id": "list", "verification_info": synthetic(json!([[1, 2], 3]))})),
        SUM.at("intellect", json!({"id": "intellect", "info": json!({"tests": in_outs().to_string()}).to_string()})),
        SUM.at(
            "primeintellect",
            json!({"id": "primeintellect", "problem": "q", "solutions": [], "tests": stdin.to_string()}),
        ),
        SUM.at(
            "taco",
            json!({"id": "taco", "question": "q", "input_output": in_outs().to_string(), "starter_code": ""}),
        ),
        ADD.at("lcb", json!({"id": "lcb", "problem": "q", "starter_code": "", "tests": functional.to_string()})),
        SUM.at(
            "literal",
            json!({"id": "literal", "ground_truth": "{'inputs': ['1 2\\n', '5 5\\n'], 'outputs': ['3\\n', '10\\n']}"}),
        ),
        SUM.at("1_A. Sum", code_contests()),
        SUM.at("1/A", codeforces()),
        ADD.at("Prefill_1_I", kodcode()),
    ]
}

/// The statuses of the right programs and of the wrong ones.
fn judged(format: &str, cases: &[Case]) -> Vec<(String, String)> {
    let tasks: Vec<Value> = cases.iter().map(|case| case.row.clone()).collect();
    let attempt = |case: &Case, program: &str| json!({"task_id": case.name, "program": program});
    let attempts: Vec<Value> =
        cases.iter().flat_map(|case| [attempt(case, case.right), attempt(case, case.wrong)]).collect();
    let bench = Bench::new(&tasks, &attempts, &["--format", format]);
    let summary = bench.summary(0);
    assert_eq!(summary["tasks"], cases.len());
    let statuses = column(&rows(&bench.out()), "status");
    statuses.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

#[test]
fn rows_of_every_shape_accept_the_right_program_and_refuse_the_wrong_one() {
    let cases = cases();
    for (case, statuses) in cases.iter().zip(judged("auto", &cases)) {
        let wrong = if case.name == "null" { "runtime_error" } else { "wrong_answer" };
        assert_eq!(statuses, ("accepted".to_owned(), wrong.to_owned()), "{}", case.name);
    }
}

#[test]
fn sets_are_read_by_their_own_formats_too() {
    for (format, case) in [
        ("code_contests", SUM.at("1_A. Sum", code_contests())),
        ("codeforces", SUM.at("1/A", codeforces())),
        ("kodcode", ADD.at("Prefill_1_I", kodcode())),
    ] {
        let wanted = ("accepted".to_owned(), "wrong_answer".to_owned());
        assert_eq!(judged(format, &[case]), [wanted], "{format}");
    }
}

#[test]
fn a_row_that_cannot_be_read_is_named_by_its_own_field() {
    let rows = [
        json!({"id": "good", "ground_truth": in_outs().to_string()}),
        json!({"id": "bad", "ground_truth": "{\"inputs\": [\"1\"], \"outputs\": [null]}"}),
        json!({"id": "math", "answer": "42"}),
    ];
    let bench = Bench::new(&rows, &[json!({"task_id": "good", "program": SUM.right})], &["--format", "auto"]);
    let output = bench.run(&[]);
    let said = super::stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("tasks.jsonl:2: field `ground_truth.outputs[0]`: is null"), "{said}");
    assert!(said.contains("tasks.jsonl:3: field `answer`: holds no tests: looked for"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("accepted"));
}
