//! Judges by name, at every door: the command line, the endpoints of the service, and rows.

use serde_json::{Value, json};
use veriplay_tests::external::report_without_npm;

use super::serve::Service;
use super::stderr;
use super::verify::{Bench, column, rows};

/// A row that leaves the choice of its judge to others, and one that names its own.
fn row(judge: Option<&str>) -> Value {
    let mut row = json!({"id": "one", "inputs": ["1\n"], "outputs": ["Yes\n1 2\n"]});
    judge.into_iter().for_each(|judge| row["judge"] = json!(judge));
    row
}

/// What is right by each judge alone.
const TOKENS: &str = "print('Yes 1'); print(2)";
const YES_NO: &str = "print('YES'); print('1 2')";
const FLOAT: &str = "print('Yes'); print('1.0 2.0001')";

/// Judges, the program that each takes, and one that it does not.
const CHOICES: [(&str, &str, &str); 4] = [
    ("tokens", TOKENS, YES_NO),
    ("yes_no", YES_NO, TOKENS),
    ("float:rtol=1e-3", FLOAT, TOKENS),
    ("common_oj", YES_NO, TOKENS),
];

/// A checker that takes any number of words.
const CHECKER: &str = "def check(input, expected, actual): return len(actual.split()) == int(input)";

fn fenced(program: &str) -> String {
    format!("```python\n{program}\n```")
}

#[test]
fn the_command_line_judges_by_name_instead_of_each_task_s_own() {
    let attempts = [TOKENS, YES_NO].map(|program| json!({"task_id": "one", "program": program}));
    for (judge, statuses) in [
        ("tokens", ["accepted", "wrong_answer"]),
        ("yes_no", ["wrong_answer", "accepted"]),
        (r#"{"judge": "checker", "checker": "def check(i, e, a): return 'YES' in a"}"#, ["wrong_answer", "accepted"]),
    ] {
        for own in [None, Some("exact")] {
            let bench = Bench::new(&[row(own)], &attempts, &["--format", "auto", "--judge", judge]);
            bench.summary(0);
            assert_eq!(column(&rows(&bench.out()), "status"), statuses, "{judge}");
        }
    }
}

/// In a file of several kinds a judge is for the tasks that it takes.
#[test]
fn the_command_line_leaves_other_kinds_of_tasks_to_their_own_judges() {
    let of_values = json!({"task_id": "values", "fn_name": "f", "inputs": [[1]], "outputs": [2]});
    let of_tests = json!({"task_id": "tests", "test_list": ["assert f(1) == 2"]});
    let add = json!("def f(x):\n    return x + 1");
    let attempts = [("one", json!(TOKENS)), ("one", json!(YES_NO)), ("values", add.clone()), ("tests", add)];
    let attempts = attempts.map(|(task_id, program)| json!({"task_id": task_id, "program": program}));
    let bench = Bench::new(&[row(None), of_values, of_tests], &attempts, &["--format", "auto", "--judge", "tokens"]);
    bench.summary(0);
    assert_eq!(column(&rows(&bench.out()), "status"), ["accepted", "wrong_answer", "accepted", "accepted"]);
}

/// A row of our own whose interactor wants a text back to front.
fn interactive() -> Value {
    let interactor = "import sys\nprint('12', flush=True)\nsys.exit(input() != '21')";
    let checks = json!({"stdio": {"cases": [{"stdin": "", "stdout": ""}], "interactor": interactor}});
    json!({"schema_version": 1, "problem": {"task_id": "one", "checks": checks}})
}

#[test]
fn the_command_line_judges_by_an_interactor() {
    let attempts = ["print(input()[::-1])", "print(input())", "input(), input()"];
    let attempts = attempts.map(|program| json!({"task_id": "one", "program": program}));
    let bench = Bench::new(&[interactive()], &attempts, &["--format", "veriplay"]);
    bench.summary(0);
    assert_eq!(column(&rows(&bench.out()), "status"), ["accepted", "wrong_answer", "wrong_answer"]);
}

/// A row in Python whose interactor is in JavaScript, and one in JavaScript whose interactor is in Python.
#[test]
fn the_command_line_judges_by_an_interactor_in_another_language_than_the_programs() {
    let of_js = "#!/usr/bin/env node\nconst process = require('process');\nconst wanted = require('fs').readFileSync(process.argv[2], 'utf8');\nconsole.log('12');\n\
                 process.exit(require('fs').readFileSync(0, 'utf8').trim() === wanted.trim() ? 0 : 1);";
    let of_python = "import sys\nprint('12', flush=True)\nsys.exit(input() != open(sys.argv[1]).read())";
    let cases = json!([{"stdin": "21", "stdout": ""}]);
    let by_js = json!({"cases": cases, "interactor": of_js, "interactor_language": "javascript"});
    let by_python = json!({"cases": cases, "interactor": of_python});
    let tasks = [
        json!({"task_id": "python", "checks": {"stdio": by_js}}),
        json!({"task_id": "js", "language": "javascript", "checks": {"stdio": by_python}}),
    ]
    .map(|problem| json!({"schema_version": 1, "problem": problem}));
    let lines = "const lines = require('readline').createInterface({ input: process.stdin });\n";
    let on_line = |said: &str| format!("{lines}lines.on('line', line => {{ console.log({said}); lines.close(); }});");
    let attempts = [
        ("python", "print(input()[::-1])".to_owned()),
        ("python", "print(input())".to_owned()),
        ("js", on_line("[...line].reverse().join('')")),
        ("js", on_line("line")),
        // It reads to the end, and the interactor waits for a line.
        ("js", "require('fs').readFileSync(0);\nconsole.log('21');".to_owned()),
    ]
    .map(|(task_id, program)| json!({"task_id": task_id, "program": program}));
    let bench = Bench::new(&tasks, &attempts, &["--format", "veriplay", "--image", "python,javascript"]);
    let output = bench.run(&["--out", "out.jsonl"]);
    if output.status.code() == Some(4) && stderr(&output).contains("npm pack") {
        return report_without_npm(&stderr(&output));
    }
    let statuses = ["accepted", "wrong_answer", "accepted", "wrong_answer", "wrong_answer"];
    assert_eq!(column(&rows(&bench.out()), "status"), statuses, "{}", stderr(&output));
}

/// A request of NeMo Gym's endpoint.
pub(super) fn gym(response: &str, row: &Value) -> Value {
    let output = json!([{"type": "message", "content": [{"type": "output_text", "text": response}]}]);
    json!({"responses_create_params": {}, "response": {"output": output}, "verifier_metadata": row})
}

fn submission(response: &str, test: &Value) -> Value {
    let data = json!({"test": test});
    let config = json!({"dataset_type": "CommonOJDataset", "language": "python", "provided_data": data, "extra": {}});
    json!({"dataset": "d", "id": 1, "completion": response, "config": config})
}

/// Asks an endpoint for the reward of a program, by a row and a judge.
fn ask(service: &Service, door: &str, row: &Value, judge: &Value, program: &str) -> Value {
    let response = fenced(program);
    let test = json!([{"input": {"stdin": "1\n"}, "output": {"stdout": "Yes\n1 2\n"}}]);
    let tasks = json!([{"format": "auto", "row": row, "task_id": "one"}]);
    let attempts = json!([{"task_id": "one", "program": program}]);
    let (path, mut body, place) = match door {
        "native" => ("/v1/verify", json!({"tasks": tasks, "attempts": attempts}), "/verdicts/0/reward"),
        "openrlhf" => ("/get_reward", json!({"query": [response], "prompts": [""], "labels": [row]}), "/rewards"),
        "slime" => ("/get_reward", json!({"prompt": "", "response": response, "label": row}), ""),
        "gym" => ("/verify", gym(&response, row), "/reward"),
        _ => ("/submit", submission(&response, &test), "/accepted"),
    };
    let settings = if door == "submit" { &mut body["config"]["extra"] } else { &mut body };
    settings["judge"] = judge.clone();
    match service.ask(path, &body).pointer(place).expect("an answer") {
        Value::Bool(is_accepted) => json!(f64::from(u8::from(*is_accepted))),
        reward => reward.clone(),
    }
}

#[test]
fn a_request_chooses_the_judge_of_rows_that_name_none() {
    let service = Service::start(&[]).ready();
    for name in ["native", "openrlhf", "slime", "gym", "submit"] {
        let door = |row: Value, judge: Value, program: &str| ask(&service, name, &row, &judge, program);
        for (judge, right, wrong) in CHOICES {
            assert_eq!(door(row(None), json!(judge), right), json!(1.0), "{name}: {judge}");
            assert_eq!(door(row(None), json!(judge), wrong), json!(0.0), "{name}: {judge}");
        }
        if name == "submit" {
            continue;
        }
        let object = json!({"judge": "checker", "checker": CHECKER});
        assert_eq!(door(row(None), object.clone(), "print('one')"), json!(1.0), "{name}");
        assert_eq!(door(row(None), object, "print('one two')"), json!(0.0), "{name}");
        // The row's own judge goes before the request's, and that before the set's.
        assert_eq!(door(row(Some("tokens")), json!("yes_no"), TOKENS), json!(1.0), "{name}");
        assert_eq!(door(row(Some("tokens")), json!("yes_no"), YES_NO), json!(0.0), "{name}");
        // An interactor decides, whatever judge is chosen.
        assert_eq!(door(interactive(), json!("tokens"), "print(input()[::-1])"), json!(1.0), "{name}");
        assert_eq!(door(interactive(), json!("tokens"), "print(input())"), json!(0.0), "{name}");
        let call = json!({"id": "one", "fn_name": "f", "inputs": [[1]], "outputs": [2]});
        assert_eq!(door(call, json!("tokens"), "def f(x): return x + 1"), json!(1.0), "{name}");
        let tests = json!({"id": "one", "tests": ["assert f(1) == 2"]});
        assert_eq!(door(tests, json!("tokens"), "def f(x): return x + 1"), json!(1.0), "{name}");
    }
}

#[test]
fn an_unknown_judge_is_an_error_that_lists_the_names() {
    let service = Service::start(&[]).ready();
    let [mut gym, mut submission] = [gym("", &row(None)), submission("", &json!([]))];
    gym["judge"] = json!("diff");
    submission["config"]["extra"] = json!({"judge": "diff"});
    for (path, body, status) in [
        ("/v1/verify", json!({"tasks": [], "attempts": [], "judge": "diff"}), 422),
        ("/get_reward", json!({"query": [], "prompts": [], "labels": [], "judge": "diff"}), 422),
        ("/verify", gym, 422),
        ("/submit", submission, 400),
    ] {
        let (found, text) = service.post(path, &body);
        assert_eq!(found, status, "{path}: {text}");
        assert!(text.contains("`diff`") && text.contains("exact, lines, tokens"), "{path}: {text}");
    }
    let unknown = json!({"tasks": [{"format": "auto", "row": row(Some("diff"))}], "attempts": []});
    let fault = service.ask("/v1/verify", &unknown)["tasks"][0]["fault"]["message"].clone();
    assert!(fault.as_str().expect("a text").contains("known are exact, lines, tokens"), "{fault}");
}

/// Of the table of its pull request 3051, and an output that it takes since 2956.
#[test]
fn rows_of_nemo_gym_are_judged_by_its_rule() {
    let service = Service::start(&[]).ready();
    for (expected, actual, reward) in [
        ("Yes", "YES", 1.0),
        ("No", "no", 1.0),
        ("Yes", "NO", 0.0),
        ("Snuke", "SNUKE", 0.0),
        ("Alice", "alice", 0.0),
        ("Yes 1", "YES 1", 0.0),
        ("1.41421356237309504880", "1.414213562373", 1.0),
        ("1.41421356237309504880", "1.4142", 0.0),
    ] {
        let tests = json!({"inputs": ["1\n"], "outputs": [format!("{expected}\n")], "fn_name": null});
        let program = fenced(&format!("print('{actual}')"));
        let body = gym(&program, &json!({"unit_tests": tests}));
        assert_eq!(service.ask("/verify", &body)["reward"], json!(reward), "{actual} for {expected}");
    }
}
