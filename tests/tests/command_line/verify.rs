//! `veriplay verify`: verdicts in order, whatever the rows are, and files that are continued.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use veriplay_tests::external::{published_file, report_skipped};

use super::commands::{ended, fails, parse, read, send_signal};
use super::{finished, last_json, says, stderr, stdout, succeeded, veriplay};

/// A folder with a tasks file and an attempts file, and how they are judged.
pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    options: Vec<String>,
}

impl Bench {
    pub(crate) fn new(tasks: &[Value], attempts: &[Value], options: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let bench = Self { dir, options: options.iter().map(|option| (*option).to_owned()).collect() };
        bench.write("tasks.jsonl", &lines(tasks));
        bench.write("attempts.jsonl", &lines(attempts));
        bench
    }

    /// The first of the mixed attempts, which are judged.
    fn mixed(count: usize) -> Self {
        let (tasks, attempts) = mixed();
        let bench = Self::new(&tasks, &attempts[..count], &FUEL);
        bench.summary(0);
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("the temporary directory can be written");
    }

    pub(crate) fn out(&self) -> String {
        read(self.path("out.jsonl"))
    }

    /// Runs `verify` with more options; without a cache unless they name one.
    pub(crate) fn run(&self, more: &[&str]) -> Output {
        let cached = self.options.iter().map(String::as_str).chain(more.iter().copied()).any(|word| word == "--cache");
        let without: &[&str] = if cached { &[] } else { &["--no-cache"] };
        finished(self.command(veriplay(), more).args(without))
    }

    /// The command itself, of this binary.
    pub(crate) fn command(&self, mut binary: Command, more: &[&str]) -> Command {
        binary.current_dir(self.dir.path());
        binary.args(["verify", "--tasks", "tasks.jsonl", "--attempts", "attempts.jsonl"]);
        binary.args(&self.options).args(more);
        binary
    }

    /// Runs it into a file and returns the summary.
    pub(crate) fn summary(&self, code: i32) -> Value {
        let output = self.run(&["--out", "out.jsonl", "--json"]);
        ended(&output, code, &[]);
        last_json(&output)
    }

    /// The verdicts in the file.
    pub(crate) fn rows(&self) -> Vec<Value> {
        rows(&self.out())
    }

    /// Judges it into a file, which ends well, and returns the statuses.
    pub(crate) fn statuses(&self) -> Vec<String> {
        self.summary(0);
        column(&self.rows(), "status")
    }
}

pub(crate) fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

pub(crate) fn rows(text: &str) -> Vec<Value> {
    text.lines().map(parse).collect()
}

pub(crate) fn column(rows: &[Value], name: &str) -> Vec<String> {
    rows.iter().map(|row| row[name].as_str().expect("a text").to_owned()).collect()
}

/// A task that asks for `f` with `f(x) == x + add` for two `x`.
pub(crate) fn task(task_id: &str, add: i32) -> Value {
    let cases = [1, 5].map(|x| json!({"input": [x.to_string()], "expected": (x + add).to_string()}));
    let calls = json!({"function": "f", "cases": cases, "comparison": {"judge": "exact"}});
    json!({"schema_version": 1, "problem": {"task_id": task_id, "prompt": "def f(x):\n", "checks": {"calls": calls}}})
}

pub(crate) fn completion(task_id: &str, text: &str) -> Value {
    json!({"task_id": task_id, "completion": text})
}

/// Two tasks and attempts at them, one of each sort.
pub(crate) fn mixed() -> (Vec<Value>, Vec<Value>) {
    let attempts = vec![
        completion("one", "    return x + 1\n"),
        completion("two", "    return x + 1\n"),
        completion("one", "    return 2\n"),
        json!({"task_id": "two", "attempt_id": "mine", "program": "def f(x): return x + 2"}),
        completion("one", "    raise ValueError(x)\n"),
        completion("two", "So:\n```python\nf = lambda x: x + 2\n```\n"),
        completion("one", "    return (\n"),
        completion("two", "    while True: pass\n"),
    ];
    (vec![task("one", 1), task("two", 2)], attempts)
}

const STATUSES: [&str; 8] = [
    "accepted", "wrong_answer", "wrong_answer", "accepted", "runtime_error", "accepted", "compile_error",
    "fuel_exceeded",
];

/// Few enough that an endless loop ends soon.
pub(crate) const FUEL: [&str; 2] = ["--fuel", "3e8"];

#[test]
fn verdicts_come_in_the_order_of_the_attempts() {
    let (tasks, attempts) = mixed();
    let bench = Bench::new(&tasks, &attempts, &FUEL);
    let summary = bench.summary(0);
    let rows = bench.rows();
    assert_eq!(column(&rows, "task_id"), ["one", "two", "one", "two", "one", "two", "one", "two"]);
    assert_eq!(column(&rows, "attempt_id"), ["0", "0", "1", "mine", "2", "2", "3", "3"]);
    assert_eq!(column(&rows, "status"), STATUSES);
    assert_eq!((&rows[2]["passed"], &rows[2]["total"]), (&json!(1), &json!(2)));
    assert!(rows.iter().all(|row| row["schema_version"] == 1 && row["fuel"] == row["evidence"]["fuel"]));
    assert_eq!(summary["statuses"]["accepted"], 3);
    assert_eq!((&summary["attempts"], &summary["tasks"], &summary["dropped"]), (&json!(8), &json!(2), &json!(0)));
    // One of four and two of four; no task has five.
    assert_eq!(summary["pass_at_k"], json!({"1": 0.375}));
}

#[test]
fn the_bytes_are_the_same_on_any_number_of_threads_and_on_stdout() {
    let bench = Bench::mixed(8);
    // More than there are processors gain nothing. Data is not a message, wherever it goes.
    for options in [&["--jobs", "1"][..], &["--jobs", "3"], &["--jobs", "10000"], &["--quiet"]] {
        let output = bench.run(&[options, &["--json"]].concat());
        let said = ended(&output, 0, &[]);
        assert_eq!(stdout(&output), bench.out());
        // With verdicts on stdout the summary is on stderr.
        let (messages, summary) = said.trim_end().rsplit_once('\n').unwrap_or(("", &said));
        assert_eq!(parse(summary)["attempts"], 8);
        match options[..] {
            [_, "10000"] => assert!(messages.starts_with("`--jobs 10000`: "), "{said}"),
            ["--quiet"] => assert_eq!(messages, "", "the summary and nothing else"),
            _ => {}
        }
    }
}

#[test]
fn a_program_may_print_as_much_as_its_task_allows() {
    // Its output makes the worker's allocator ask the kernel for new mappings.
    let stdio = json!({"cases": [{"stdin": "", "stdout": "3\n"}], "comparison": {"judge": "lines"}});
    let limits = json!({"fuel": 20_000_000_000_u64, "memory_bytes": 256 << 20, "output_bytes": 256 << 20,
        "file_bytes": 16 << 20, "deadline_ns": 180_000_000_000_u64});
    let problem = json!({"task_id": "long", "limits": limits, "checks": {"stdio": stdio}});
    let program = "import sys\nprint(3)\nfor _ in range(80): sys.stdout.write('\\n' * (1 << 20))";
    let attempt = json!({"task_id": "long", "program": program});
    let bench = Bench::new(&[json!({"schema_version": 1, "problem": problem})], &[attempt], &[]);
    assert_eq!(bench.statuses(), ["accepted"]);
}

#[test]
fn an_attempt_at_a_row_that_cannot_be_read_is_told_why() {
    let bad = json!({"schema_version": 9, "task_id": "half", "problem": {}});
    let bench = Bench::new(&[task("one", 1), bad], &[completion("half", "x")], &[]);
    bench.summary(3);
    let why =
        "line 1 of the attempts: the row of task `half` is refused: field `schema_version`: is `9`; this build reads 1";
    assert_eq!(bench.rows()[0]["evidence"]["detail"], why);
}

#[test]
fn bad_rows_and_unknown_tasks_have_rows_in_their_places_and_do_not_count() {
    let good = completion("one", "    return x + 1\n");
    let attempts = [good.clone(), json!(null), completion("gone", "x"), json!({"task_id": "one"}), good];
    let bench = Bench::new(&[], &attempts, &[]);
    bench.write("tasks.jsonl", &format!("{{\n{}\n", task("one", 1)));
    let output = bench.run(&["--out", "out.jsonl", "--json"]);
    ended(&output, 3, &["tasks.jsonl:1: ", "attempts.jsonl:2: ", "attempts.jsonl:3: ", "`gone`"]);
    ended(&output, 3, &["attempts.jsonl:4: field `completion`"]);
    let summary = last_json(&output);
    assert_eq!((&summary["bad_rows"], &summary["unknown_tasks"]), (&json!(3), &json!(1)));
    assert_eq!((&summary["attempts"], &summary["unjudgeable"]), (&json!(5), &json!(0)));
    assert_eq!(summary["pass_at_k"], json!({"1": 1.0}));
    let rows = bench.rows();
    assert_eq!(column(&rows, "task_id"), ["one", "", "gone", "one", "one"]);
    assert_eq!(column(&rows, "attempt_id"), ["0", "line 2", "line 3", "line 4", "1"]);
    assert_eq!(column(&rows, "status"), ["accepted", "unjudgeable", "unjudgeable", "unjudgeable", "accepted"]);
    let evidence: Vec<Value> = rows.iter().map(|row| row["evidence"].clone()).collect();
    assert_eq!(column(&evidence, "rule"), ["", "invalid_row", "unknown_task", "invalid_row", ""]);
    assert_eq!(evidence[2]["detail"], "line 3 of the attempts: there is no task `gone`");
    assert_eq!(bench.summary(3)["resumed"], 5);
}

#[test]
fn the_summary_as_json_is_the_last_line_and_errors_come_before_it() {
    let bench = Bench::new(&[task("one", 1)], &[completion("one", "    return x + 1\n"), json!(null)], &[]);
    let check_last_line = |text: &str| {
        let (before, last) = text.trim_end().rsplit_once('\n').expect("there are several lines");
        let summary = parse(last);
        assert_eq!((&summary["attempts"], &summary["bad_rows"]), (&json!(2), &json!(1)), "{text}");
        says(before, &["error: rows that are invalid", "\nhint: "]);
    };
    check_last_line(&ended(&bench.run(&["--json"]), 3, &[]));
    // Both streams in one file, so that their order shows.
    let both = std::fs::File::create(bench.path("both")).expect("it can be written");
    let mut command = bench.command(veriplay(), &["--json", "--out", "out.jsonl", "--no-cache"]);
    command.stdout(both.try_clone().expect("a second descriptor")).stderr(both);
    assert_eq!(command.status().expect("it starts").code(), Some(3));
    check_last_line(&read(bench.path("both")));
}

#[test]
fn attempts_at_other_tasks_are_one_line_and_a_hint() {
    let attempts: Vec<Value> = std::iter::repeat_n(completion("other", "    return x\n"), 70).collect();
    let bench = Bench::new(&[task("one", 1)], &attempts, &[]);
    let output = bench.run(&["--out", "out.jsonl", "--json"]);
    let wanted = [
        "attempts.jsonl: 69 more rows with the same fault: there is no task of that name",
        "warning: none of the first 64 attempts is at a task of `tasks.jsonl`: they name `other`, and its first task is `one`",
        "hint: give the file of their tasks as `--tasks`",
    ];
    let said = ended(&output, 3, &wanted);
    assert_eq!(said.matches("attempts.jsonl:1: ").count(), 1, "{said}");
    assert!(said.lines().count() < 10, "{said}");
    assert_eq!(last_json(&output)["statuses"], json!({"unjudgeable": 70}));
    assert_eq!(bench.rows().len(), 70);
}

#[test]
fn tasks_of_another_format_are_one_line_and_the_format_that_reads_them() {
    let row = |n: usize| {
        json!({"task_id": format!("T/{n}"), "prompt": "def f(n):\n", "entry_point": "f",
        "canonical_solution": "    return n\n", "test": "def check(candidate):\n    assert candidate(3) == 3\n"})
    };
    let tasks: Vec<Value> = (0..9).map(row).collect();
    let (first, more) = ("tasks.jsonl:1: ", "tasks.jsonl: 8 more rows with the same fault: ");
    senseless(&tasks, &[], 3, &[first, more, "it was read as `veriplay`; `--format humaneval`"]);
}

#[test]
fn a_half_done_file_is_continued_to_the_same_bytes() {
    let (tasks, attempts) = mixed();
    let bench = Bench::new(&tasks, &attempts, &FUEL);
    let whole_summary = bench.summary(0);
    let whole = bench.out();
    let ends: Vec<usize> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    // Nothing, a torn first line, whole lines, a torn line, a last line without its end, and everything.
    for (length, kept) in [(0, 0), (9, 0), (ends[2], 3), (ends[4] + 30, 5), (whole.len() - 1, 7), (whole.len(), 8)] {
        bench.write("out.jsonl", &whole[..length]);
        let mut summary = bench.summary(0);
        assert_eq!(bench.out(), whole, "cut to {length}");
        assert_eq!(summary["resumed"], json!(kept), "cut to {length}");
        summary["resumed"] = json!(0);
        assert_eq!(summary, whole_summary, "cut to {length}");
    }
}

#[test]
fn what_stands_before_the_damage_of_a_file_is_judged() {
    let bench = Bench::mixed(4);
    let whole = bench.out();
    succeeded(Command::new("gzip").arg(bench.path("attempts.jsonl")));
    // Its last eight bytes are a checksum, so that all rows can be read.
    let bytes = std::fs::read(bench.path("attempts.jsonl.gz")).expect("it is there");
    std::fs::write(bench.path("attempts.jsonl"), &bytes[..bytes.len() - 8]).expect("it can be written");
    std::fs::remove_file(bench.path("out.jsonl")).expect("it is there");
    let wanted = ["`attempts.jsonl`", "its first 4 rows", "hint: the file is damaged"];
    ended(&bench.run(&["--out", "out.jsonl"]), 3, &wanted);
    assert_eq!(bench.out(), whole);
}

#[test]
fn a_signal_ends_it_with_what_is_judged_written_and_the_same_command_continues() {
    let mut attempts = vec![completion("one", "    return x + 1\n")];
    attempts.extend(vec![completion("one", "    while True: pass\n"); 300]);
    let bench = Bench::new(&[task("one", 1)], &attempts, &FUEL);
    let mut command = bench.command(veriplay(), &["--no-cache", "--jobs", "1"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut verdicts = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut written = String::new();
    verdicts.read_line(&mut written).expect("it is text");
    send_signal(&child, Signal::TERM);
    verdicts.read_to_string(&mut written).expect("it is text");
    ended(&child.wait_with_output().expect("it ended"), 130, &["hint: the same command", "pass@1"]);
    let count = rows(&written).len();
    assert!((1..attempts.len()).contains(&count), "{count} rows");

    bench.write("out.jsonl", &written);
    bench.write("attempts.jsonl", &lines(&attempts[..=count]));
    let summary = bench.summary(0);
    assert_eq!((&summary["resumed"], &summary["attempts"]), (&json!(count), &json!(count + 1)));
    assert!(bench.out().starts_with(&written));
}

#[test]
fn an_image_with_numpy_judges_as_the_plain_one() {
    let test = "import numpy as np\n\ndef check(candidate):\n    assert np.allclose(candidate(3), [0, 1, 4])\n    assert np.sum(candidate(2)) == 1\n";
    let task = json!({"task_id": "T/0", "prompt": "def f(n):\n    \"\"\"Squares.\"\"\"\n", "entry_point": "f", "canonical_solution": "    import numpy as np\n    return (np.arange(n) ** 2).tolist()\n", "test": test});
    let program = |body: &str| json!({"task_id": "T/0", "program": format!("import numpy as np\ndef f(n):\n    return ({body}).tolist()\n")});
    let attempts =
        [program("np.arange(n) ** 2"), program("np.arange(n)"), program("np.float64(n)"), program("np.random.rand(n)")];
    let statuses = |image: &str| {
        Bench::new(std::slice::from_ref(&task), &attempts, &["--format", "humaneval", "--image", image]).statuses()
    };
    let plain = statuses("python");
    assert_eq!(plain, ["accepted", "wrong_answer", "wrong_answer", "wrong_answer"]);
    assert_eq!(statuses("python-numpy"), plain);
}

const DOUBLE_IN_CPP: &str = "int main() { int n; std::cin >> n; std::cout << 2 * n << '\\n'; }";
const DOUBLE_IN_C: &str = "#include <stdio.h>\nint main(void) { int n; scanf(\"%d\", &n); printf(\"%d\", 2 * n); }";

#[test]
fn each_answer_of_a_file_is_judged_in_its_language() {
    if std::env::var_os("VERIPLAY_TEST_CPP").is_none() {
        return report_skipped("VERIPLAY_TEST_CPP is not set");
    }
    let task = |id: &str, language: Value| json!({"name": id, "language": language, "public_tests": {"input": ["2"], "output": ["4"]}});
    let attempt = |id: &str, program: &str| json!({"task_id": id, "program": program});
    let tests = "}\nint main() { return twice(2) == 4 ? 0 : 1; }";
    let behind = json!({"name": "tests", "language": "cpp", "prompt": "int twice(int n) {\n", "tests": tests, "stop_tokens": []});
    let tasks = [task("cpp", json!("C++")), task("c", json!("c")), task("python", Value::Null), behind];
    let attempts = [
        attempt("cpp", DOUBLE_IN_CPP),
        attempt("cpp", DOUBLE_IN_C),
        attempt("c", DOUBLE_IN_C),
        attempt("c", DOUBLE_IN_CPP),
        attempt("python", "print(2 * int(input()))"),
        attempt("tests", "int twice(int n) { return 2 * n; }"),
        attempt("tests", "int twice(int n) { return n; }"),
    ];
    let bench = Bench::new(&tasks, &attempts, &["--format", "auto", "--image", "python,cpp,c"]);
    let wanted = ["accepted", "accepted", "accepted", "compile_error", "accepted", "accepted", "runtime_error"];
    assert_eq!(bench.statuses(), wanted);
    let scripts =
        Bench::new(&tasks[2..3], &[attempt("python", DOUBLE_IN_CPP)], &["--format", "auto", "--image", "cpp"]);
    assert_eq!(scripts.statuses(), ["accepted"]);
}

/// Runs `bench` on the file it has, which must be refused as it is.
fn refused(bench: &Bench, more: &[&str], wanted: &[&str]) {
    let before = bench.out();
    let output = bench.run(&[&["--out", "out.jsonl"], more].concat());
    ended(&output, 3, &[wanted, &["out.jsonl:", "hint:"]].concat());
    assert_eq!(bench.out(), before, "a refused file is left as it is");
}

#[test]
fn a_file_of_something_else_is_refused_and_left_alone() {
    let (tasks, attempts) = mixed();
    let bench = Bench::new(&tasks, &attempts[..4], &FUEL);
    bench.summary(0);

    let mut other = attempts[..4].to_vec();
    other[2] = completion("one", "    return 3\n");
    bench.write("attempts.jsonl", &lines(&other));
    refused(&bench, &[], &["out.jsonl:3:", "another program"]);
    other.swap(1, 2);
    bench.write("attempts.jsonl", &lines(&other));
    refused(&bench, &[], &["out.jsonl:2:", "`two`", "`one`"]);
    bench.write("attempts.jsonl", &lines(&attempts[..2]));
    refused(&bench, &[], &["out.jsonl:3:", "the attempts end before it"]);

    bench.write("attempts.jsonl", &lines(&attempts[..4]));
    refused(&bench, &["--early-stop"], &["out.jsonl:1:"]);
    refused(&bench, &["--memory-mib", "300"], &["out.jsonl:1:"]);
    refused(&bench, &["--judge", "evalplus"], &["out.jsonl:1:"]);
    bench.write("tasks.jsonl", &lines(&[task("one", 1), task("two", 3)]));
    refused(&bench, &[], &["out.jsonl:2:"]);
    bench.write("tasks.jsonl", &lines(&tasks));

    let text = bench.out();
    bench.write("out.jsonl", &format!("{{}}\n{text}"));
    refused(&bench, &[], &["out.jsonl:1:", "not a verdict"]);
    bench.write("out.jsonl", &text.replacen("\"schema_version\":1", "\"schema_version\":9", 1));
    refused(&bench, &[], &["out.jsonl:1:", "`9`"]);
    bench.write("out.jsonl", &text);
    bench.summary(0);
    // What is no file of verdicts is not cut off at its last line.
    let first = text.split_inclusive('\n').next().expect("a row");
    for tail in ["notes", "{\"task_id\":\"one\"}", "{\"schema_version\":1,\"task_id\":\"one\"}", " "] {
        for (before, line) in [("", "out.jsonl:1:"), (first, "out.jsonl:2:")] {
            bench.write("out.jsonl", &format!("{before}{tail}"));
            refused(&bench, &[], &[line, "not a verdict"]);
        }
    }
}

#[test]
fn verdicts_go_to_no_file_that_is_read_and_to_nothing_but_a_file() {
    let (tasks, attempts) = mixed();
    let bench = Bench::new(&tasks, &attempts[..1], &FUEL);
    std::fs::create_dir(bench.path("folder")).expect("the temporary directory can be written");
    std::os::unix::fs::symlink("attempts.jsonl", bench.path("link")).expect("the temporary directory can be written");
    succeeded(Command::new("mkfifo").arg(bench.path("pipe")));
    for (out, wanted) in [
        ("tasks.jsonl", "the same file as `tasks.jsonl`"),
        ("./attempts.jsonl", "the same file as `attempts.jsonl`"),
        ("link", "the same file as `attempts.jsonl`"),
        ("folder", "takes a regular file"),
        ("pipe", "takes a regular file"),
        ("/dev/full", "takes a regular file"),
        ("/dev/zero", "takes a regular file"),
        ("/dev/stdout", "leave out `--out`"),
    ] {
        ended(&bench.run(&["--out", out]), 3, &[wanted, out, "hint:"]);
    }
    assert_eq!(read(bench.path("tasks.jsonl")), lines(&tasks));
    assert_eq!(read(bench.path("attempts.jsonl")), lines(&attempts[..1]));
}

/// Tasks that have a reference in place of expected values, `x / 3` and one that raises.
pub(crate) fn with_references() -> [Value; 2] {
    [("HumanEval/1", "    return x / 3\n"), ("HumanEval/2", "    return 1 // (x - 3)\n")].map(|(id, solution)| {
        json!({"task_id": id, "prompt": "def f(x):\n", "canonical_solution": solution, "entry_point": "f",
            "base_input": [[1]], "plus_input": [[3]], "atol": 0})
    })
}

#[test]
fn expected_values_come_from_the_reference_where_the_file_has_none() {
    let attempts = [
        completion("HumanEval/1", "    return x * (1 / 3)\n"),
        completion("HumanEval/2", "    return x\n"),
        completion("HumanEval/1", "    return x // 3\n"),
    ];
    let bench = Bench::new(&with_references(), &attempts, &["--format", "evalplus"]);
    // The second reference raises: that is a fault of the task, and none of the attempt or the host.
    let summary = bench.summary(9);
    let rows = bench.rows();
    assert_eq!(column(&rows, "status"), ["accepted", "unjudgeable", "wrong_answer"]);
    says(&rows[1]["evidence"]["detail"].to_string(), &["`HumanEval/2`", "input 1: ZeroDivisionError"]);
    assert_eq!((&summary["unjudgeable"], &summary["pass_at_k"]), (&json!(1), &json!({"1": 0.5})));
    // What could not be judged stays so, and keeps the exit code, when the file is continued.
    assert_eq!(bench.summary(9)["resumed"], 3);
}

#[test]
fn every_task_needs_as_many_attempts_as_k() {
    let attempts = |count: usize| vec![completion("one", "    return x + 1\n"); count];
    let mut both = attempts(5);
    both.extend((0..5).map(|n| completion("two", if n == 0 { "    return x + 2\n" } else { "    return x\n" })));
    let bench = Bench::new(&[task("one", 1), task("two", 2), task("three", 3)], &both, &[]);
    let summary = bench.summary(0);
    assert_eq!(summary["pass_at_k"], json!({"1": 0.6, "5": 1.0}));
    assert_eq!((&summary["tasks"], &summary["tasks_attempted"]), (&json!(3), &json!(2)));
    both.pop();
    bench.write("attempts.jsonl", &lines(&both));
    std::fs::remove_file(bench.path("out.jsonl")).expect("it is there");
    assert_eq!(bench.summary(0)["pass_at_k"], json!({"1": 0.625}));
}

#[test]
fn outputs_or_inputs_of_a_program_are_predicted() {
    let tasks = [json!({"id": "s", "code": "def f(x):\n    return x % 3", "input": "4", "output": "1"})];
    let bench = Bench::new(&tasks, &[completion("s", "1"), completion("s", "7")], &["--format", "cruxeval"]);
    assert_eq!(bench.statuses(), ["accepted", "wrong_answer"]);
    let inputs = bench.run(&["--predict", "input"]);
    assert_eq!(column(&rows(&stdout(&inputs)), "status"), ["accepted", "accepted"]);
}

#[test]
fn queries_are_judged_on_the_databases_of_a_folder() {
    let task = json!({"db_id": "shop", "question": "What is sold?", "query": "SELECT name FROM item"});
    let attempts = [
        completion("0", "```sql\nSELECT name FROM item ORDER BY id\n```"),
        completion("0", "SELECT id FROM item"),
        completion("0", "```python\nprint(1)\n```"),
    ];
    let bench = Bench::new(&[task], &attempts, &["--format", "spider", "--databases", "databases"]);
    std::fs::create_dir_all(bench.path("databases/shop")).expect("the temporary directory can be written");
    let script = "CREATE TABLE item(id, name); INSERT INTO item VALUES (1, 'pen'), (2, 'ink');";
    bench.write("databases/shop/schema.sql", script);
    assert_eq!(bench.statuses(), ["accepted", "wrong_answer", "malformed"]);
}

#[test]
fn a_method_of_solution_and_a_function_are_judged_the_same() {
    let method = |body: &str| format!("class Solution:\n    def go(self, a, b):\n        return {body}\n");
    let function = |body: &str| format!("def go(a, b):\n    return {body}\n");
    let functional = json!([{"input": "[1, 2]\n3", "output": "[1, 2, 3]", "testtype": "functional"}]).to_string();
    let metadata = "{\"func_name\": \"go\"}";
    let livecodebench =
        json!({"question_id": "t", "public_test_cases": functional, "private_test_cases": "[]", "metadata": metadata});
    let tests = json!({"inputs": [[[1, 2], 3]], "outputs": [[1, 2, 3]], "fn_name": "go"}).to_string();
    let apps = |starter: &str| json!({"task_id": "t", "input_output": tests, "starter_code": starter});
    let attempts = [
        completion("t", &method("a + [b]")),
        completion("t", &function("a + [b]")),
        completion("t", &method("a")),
        completion("t", &function("a")),
        completion("t", "def other(a, b):\n    return a + [b]\n"),
        completion("t", "class Solution:\n    def other(self, a, b):\n        return a + [b]\n"),
    ];
    let expected = ["accepted", "accepted", "wrong_answer", "wrong_answer", "runtime_error", "runtime_error"];
    for (task, format) in
        [(livecodebench, "livecodebench"), (apps(""), "apps"), (apps("class Solution:\n    def go("), "apps")]
    {
        let bench = Bench::new(&[task], &attempts, &["--format", format]);
        assert_eq!(bench.statuses(), expected, "{format}");
    }
}

/// Runs with invalid options, which judges nothing and is told.
fn senseless(tasks: &[Value], options: &[&str], code: i32, wanted: &[&str]) {
    let output = Bench::new(tasks, &[completion("one", "    return x + 1\n")], options).run(&[]);
    ended(&output, code, wanted);
    assert_eq!(stdout(&output), "", "nothing is judged");
}

#[test]
fn options_that_make_no_sense_are_refused_with_a_hint() {
    let (good, bad) = ([task("one", 1)], [json!({"x": 1})]);
    let crux = [json!({"id": "one", "code": "def f(x): return x", "input": "1", "output": "1"})];
    for (tasks, options, code, said) in [
        (good.as_slice(), &["--predict", "input"][..], 2, "`--predict`"),
        (&good, &["--repo", "."], 2, "`--repo`"),
        (&good, &["--format", "mbpp", "--databases", "."], 2, "`--databases`"),
        (&good, &["--format", "bug", "--judge", "exact"], 2, "`--judge`"),
        (&good, &["--trust", "shared"], 3, "`--trust`"),
        (&crux, &["--format", "cruxeval", "--judge", "exact"], 3, "`--judge`"),
        (&good, &["--judge", "tokens"], 3, "judge `tokens`"),
        (&good, &["--judge", "eqxact"], 2, "there is no judge `eqxact`; known are exact, lines,"),
        (&good, &["--judge", "float:eps=1"], 2, "no option `eps`"),
        (&good, &["--format", "humanevil"], 2, "humanevil"),
        (&good, &["--jobs", "0"], 2, "--jobs"),
        (&good, &["--memory-mib", "1"], 2, "`--memory-mib 1` is out of range"),
        (&good, &["--memory-mib", "4097"], 2, "`--memory-mib 4097` is out of range"),
        (&good, &["--fuel", "0"], 2, "'0' for '--fuel <N>': give a whole number from 1 to 9007199254740992"),
        (&good, &["--fuel", "1.5"], 2, "1.5"),
        (&bad, &[], 3, "no task that can be judged"),
    ] {
        senseless(tasks, options, code, &[said, if code == 3 { "hint:" } else { "" }]);
    }
}

#[test]
fn files_that_are_not_there_are_named() {
    let bench = Bench::new(&[task("one", 1)], &[], &[]);
    ended(&bench.run(&["--out", "no/such/dir/out.jsonl"]), 3, &["no/such/dir/out.jsonl"]);
    ended(&bench.run(&[]), 3, &["there are no attempts"]);
    fails(veriplay().args(["verify", "--tasks", "tasks.jsonl"]).current_dir(bench.dir.path()), 2, &[]);
    for file in ["attempts.jsonl", "tasks.jsonl"] {
        std::fs::remove_file(bench.path(file)).expect("it is there");
        says(&stderr(&bench.run(&[])), &[file]);
    }
}

#[test]
fn a_file_of_bugs_that_is_too_large_is_refused_before_it_is_read() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let bugs = dir.path().join("bugs.jsonl");
    let file = std::fs::File::create(&bugs).expect("it can be made");
    file.set_len((1 << 30) + 1).expect("it has no blocks");
    let told = format!("error: `{}` has 1025 MiB, and at most 1024 MiB are read\nhint: split the file", bugs.display());
    fails(veriplay().args(["verify", "--format", "bug", "--tasks"]).arg(&bugs), 3, &[&told]);
}

#[test]
fn the_outputs_of_cruxeval_are_accepted_and_changed_ones_are_not() {
    let Some(path) = published_file("cruxeval.jsonl") else { return };
    let tasks = rows(&read(path));
    let answer = |change: fn(&str) -> String| {
        let attempt = move |task: &Value| json!({"task_id": task["id"], "completion": change(task["output"].as_str().expect("a text"))});
        tasks.iter().map(attempt).collect::<Vec<_>>()
    };
    let bench = Bench::new(&tasks, &answer(str::to_owned), &["--format", "cruxeval"]);
    let summary = bench.summary(0);
    assert_eq!((&summary["attempts"], &summary["pass_at_k"]), (&json!(800), &json!({"1": 1.0})));
    let bench = Bench::new(&tasks, &answer(|output| format!("({output}, 0)")), &["--format", "cruxeval"]);
    assert_eq!(bench.summary(0)["statuses"], json!({"wrong_answer": 800}));
}

#[test]
fn the_tasks_of_the_documentation_are_judged_as_it_says() {
    let page = include_str!("../../../docs/verifying.md");
    let mut blocks = page.split("```jsonl\n").skip(1).map(|rest| rest.split("```").next().expect("a block ends"));
    let bench = Bench::new(&[], &[], &["--format", "veriplay"]);
    bench.write("tasks.jsonl", blocks.next().expect("a block of tasks"));
    bench.write("attempts.jsonl", blocks.next().expect("a block of attempts"));
    assert_eq!(bench.statuses(), ["accepted", "accepted", "accepted", "wrong_answer"]);
}
