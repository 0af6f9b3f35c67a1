//! Tasks with a reference program, in EvalPlus' format: rows of our own, and MBPP+ as published where it is there.

use serde_json::{Value, json};
use veriplay_tests::external::published_file;

use super::commands::{ended, read};
use super::verify::{Bench, FUEL, column, rows};
use super::{succeeded, veriplay};

/// A task whose function is `f`, in the published columns.
fn task(task_id: &str, reference: &str, inputs: Value) -> Value {
    json!({
        "task_id": task_id, "prompt": "'''Do it.'''\n", "entry_point": "f", "canonical_solution": reference,
        "base_input": inputs, "plus_input": {}, "atol": 0, "contract": "", "assertion": "",
    })
}

fn program(task_id: &str, text: &str) -> Value {
    json!({"task_id": task_id, "program": text})
}

/// Counts to its argument: some 1,600 units of fuel a turn.
const COUNTS: &str = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n";

#[test]
fn values_of_known_classes_go_in_and_are_judged() {
    let counter = "from collections import Counter\ndef f(s): return Counter(s)\n";
    let tasks = [
        task("Mbpp/252", "import cmath\ndef f(z): return cmath.polar(z)\n", json!([["(1+2j)"], [3], ["0.5"]])),
        task("Mbpp/124", "import cmath\ndef f(a, b): return cmath.phase(a + b)\n", json!([["1", "(-0-2j)"]])),
        task("Mbpp/1", "def f(a): return complex(a, -a)\n", json!([[1], [0]])),
        task("Mbpp/3", counter, json!([["aab"], [""]])),
    ];
    let attempts = [
        program("Mbpp/252", "import cmath\ndef f(z): return (abs(z), cmath.phase(z))"),
        program("Mbpp/252", "def f(z): return None"),
        program("Mbpp/124", "import math\ndef f(a, b): return math.atan2(b.imag, a + b.real)"),
        program("Mbpp/1", "def f(a): return a - a * 1j"),
        program("Mbpp/1", "def f(a): return (a, -a)"),
        program("Mbpp/3", "def f(s): return {c: s.count(c) for c in s}"),
        program("Mbpp/3", "from collections import Counter\ndef f(s): return Counter(s, z=0)"),
        program("Mbpp/3", "class Counter(dict):\n    def __eq__(self, other): return True\ndef f(s): return Counter()"),
        program("Mbpp/3", "def f(s): return None"),
    ];
    let bench = Bench::new(&tasks, &attempts, &["--format", "evalplus"]);
    let summary = bench.summary(0);
    let (right, wrong) = ("accepted", "wrong_answer");
    let wanted = [right, wrong, right, right, wrong, right, right, wrong, wrong];
    assert_eq!(column(&bench.rows(), "status"), wanted, "{}", bench.out());
    assert_eq!((&summary["dropped"], &summary["unjudgeable"]), (&json!(0), &json!(0)));
}

#[test]
fn an_attempt_gets_four_times_the_fuel_and_twice_the_output_of_its_reference() {
    let tasks = [
        task("Mbpp/1", COUNTS, json!([[4_000_000]])),
        task("Mbpp/3", "def f(n): return 'x' * n\n", json!([[3_000_000]])),
    ];
    // More than the default, and within twice the reference's output.
    let attempts = [
        program("Mbpp/3", "def f(n): return ''.join('x' for _ in range(n))"),
        program("Mbpp/3", "def f(n): return 'x' * 2 * n"),
        program("Mbpp/3", "def f(n): return 'x' * 5 * n"),
    ];
    let bench = Bench::new(&tasks, &attempts, &["--format", "evalplus"]);
    assert_eq!(bench.statuses(), ["accepted", "wrong_answer", "output_exceeded"], "{}", bench.out());
    // Fuel of the command line is fuel of every attempt.
    let short = [program("Mbpp/1", COUNTS), program("Mbpp/1", "def f(n):\n    return n * (n - 1) // 2")];
    let fixed = Bench::new(&tasks[..1], &short, &["--format", "evalplus", "--fuel", "4000000000"]);
    assert_eq!(fixed.statuses(), ["fuel_exceeded", "accepted"]);
}

#[test]
fn a_task_whose_reference_fails_judges_nothing_and_says_why() {
    let references = [
        ("raises", "def f(x): raise ValueError(x)\n", "input 0: ValueError: 1"),
        ("breaks", "def f(x) return x\n", "CompileError"),
        ("differs", "import random\ndef f(x): return random.random()\n", "another value under another seed"),
        ("endless", "def f(x):\n    while True: pass\n", "fuel"),
        ("opaque", "def f(x): return lambda: x\n", "value of type function"),
        ("other", "def g(x): return x\n", "MissingEntry"),
    ];
    let tasks: Vec<Value> =
        references.iter().map(|(name, reference, _)| task(name, reference, json!([[1], [2]]))).collect();
    let good = task("good", "def f(x): return x\n", json!([[1]]));
    let mut attempts: Vec<Value> = references.iter().map(|(name, ..)| program(name, "def f(x): return x")).collect();
    attempts.push(program("good", "def f(x): return x"));
    // A reference is given two and a half times the fuel of the command line.
    let options = [&["--format", "evalplus"], &FUEL[..]].concat();
    let bench = Bench::new(&[tasks, vec![good]].concat(), &attempts, &options);
    let summary = bench.summary(9);
    let out = bench.rows();
    assert_eq!(column(&out, "status"), [vec!["unjudgeable"; references.len()], vec!["accepted"]].concat());
    for (row, (name, _, why)) in out.iter().zip(references) {
        let evidence = &row["evidence"];
        assert_eq!((&evidence["rule"], &row["passed"], &row["total"]), (&json!("reference"), &json!(0), &json!(2)));
        let detail = evidence["detail"].as_str().expect("a text");
        assert!(detail.contains(&format!("`{name}`")) && detail.contains(why), "{name}: {detail}");
    }
    assert_eq!((&summary["unjudgeable"], &summary["dropped"]), (&json!(6), &json!(0)));
    // An unjudgeable attempt is no evidence about a model.
    assert_eq!(summary["pass_at_k"], json!({"1": 1.0}));
    // A continued file keeps the code.
    ended(&bench.run(&["--out", "out.jsonl"]), 9, &["attempts that their tasks cannot judge: 6"]);
}

/// Two attempts at a task: its own solution, and a program that returns None.
fn solution_and_none(row: &Value) -> [Value; 2] {
    let text = |name: &str| row[name].as_str().expect("a text").to_owned();
    let solution = text("prompt") + &text("canonical_solution");
    let none = format!("def {}(*a): return None", text("entry_point"));
    [program(&text("task_id"), &solution), program(&text("task_id"), &none)]
}

#[test]
fn every_task_of_mbpp_plus_accepts_its_solution_and_judges_a_program_that_returns_none() {
    let Some(path) = published_file("MbppPlus.jsonl") else { return };
    let tasks = rows(&read(&path));
    let attempts: Vec<Value> = tasks.iter().flat_map(solution_and_none).collect();
    let bench = Bench::new(&[], &attempts, &[]);
    let mut command = veriplay();
    command.current_dir(bench.dir.path()).args(["verify", "--format", "evalplus", "--no-cache", "--tasks"]).arg(path);
    succeeded(command.args(["--attempts", "attempts.jsonl", "--out", "out.jsonl"]));
    let statuses = column(&bench.rows(), "status");
    assert_eq!((tasks.len(), statuses.len()), (399, 798));
    let with = |attempt: usize, wanted: fn(&str) -> bool| -> Vec<&str> {
        let found = tasks.iter().zip(statuses.chunks(2)).filter(|(_, pair)| wanted(&pair[attempt]));
        found.map(|(task, _)| task["task_id"].as_str().expect("a text")).collect()
    };
    assert_eq!(with(0, |status| status != "accepted"), Vec::<&str>::new());
    // The oracle of this one takes anything, as EvalPlus' does.
    assert_eq!(with(1, |status| status == "accepted"), ["Mbpp/164"]);
    assert_eq!(with(1, |status| !["accepted", "wrong_answer"].contains(&status)), Vec::<&str>::new());
}
