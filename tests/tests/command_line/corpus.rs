//! `veriplay corpus add-repo` on a package that this test makes, under the real pytest.
//!
//! pytest comes by pip, or from the cache of an earlier run. Where neither is to be had the test steps aside, unless
//! `VERIPLAY_REQUIRE_PIP` is set, as it is in `.ci/run`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use veriplay_tests::external::report_without_pip;

use super::verify::rows;
use super::{column, ended, finished, last_json, says, stderr, stdout, succeeded, veriplay};

const PACKAGE: &str = "def double(x):\n    return 2 * x\n";

const ENDS: &str =
    "import os\n\ndef test_before():\n    pass\n\ndef test_ends():\n    os._exit(0)\n\ndef test_after():\n    pass\n";

fn tiny(dir: &Path) {
    let root = dir.join("tiny-1.0");
    let files = [
        ("src/tiny.py", PACKAGE),
        // Tests of every kind of end. `importorskip`, `xfail` and `monkeypatch` are not in the image's own small pytest.
        ("tests/test_tiny.py", include_str!("tiny_tests.py.txt")),
        ("tests/test_ends.py", ENDS),
        ("tests/test_missing.py", "import a_package_that_is_not_here\n\ndef test_x():\n    pass\n"),
        ("tests/data.txt", "data\n"),
        // Read, this would stop pytest: the plugin is not here.
        ("pytest.ini", "[pytest]\naddopts = -p no_such_plugin --no-such-option\n"),
    ];
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder is made");
        std::fs::write(path, text).expect("a file is written");
    }
    succeeded(Command::new("tar").args(["-czf", "tiny-1.0.tar.gz", "tiny-1.0"]).current_dir(dir));
}

/// Runs a command in a folder.
fn run_in(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = veriplay();
    command.args(arguments).current_dir(dir);
    command
}

/// Adds the package; `None` where pytest cannot be had and need not be.
fn added(dir: &Path, options: &[&str]) -> Option<Output> {
    let mut command = run_in(dir, &["corpus", "add-repo", "tiny==1.0", "--json", "--sdist", "tiny-1.0.tar.gz"]);
    let output = finished(command.args(options));
    let no_pip = stderr(&output).contains("pip download");
    assert!(output.status.success() || no_pip, "{}", stderr(&output));
    if !output.status.success() {
        report_without_pip(&stderr(&output));
    }
    output.status.success().then_some(output)
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).expect("the file is there")
}

#[test]
fn a_package_gets_a_baseline_of_its_tests() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    tiny(dir.path());
    let Some(output) = added(dir.path(), &["--out", "out"]) else { return };
    let report = last_json(&output);
    let counts = ["passed", "unsupported", "broken_files"].map(|key| &report[key]);
    assert_eq!(counts, [&json!(9), &json!(6), &json!(1)], "{report}");

    let baseline: Value = serde_json::from_str(&read(dir.path(), "out/baseline.json")).expect("the baseline is JSON");
    let [ends, missing, tests] = baseline["files"].as_array().expect("files").as_slice() else { panic!("three files") };
    assert_eq!(ends["passed"], json!(["tests/test_ends.py::test_before", "tests/test_ends.py::test_after"]));
    assert_eq!(column(&ends["unsupported"], "id"), ["tests/test_ends.py::test_ends"]);
    assert_eq!(column(&ends["unsupported"], "result"), ["stopped"]);
    says(&missing["broken"].to_string(), &["a_package_that_is_not_here"]);

    let passed = tests["passed"].as_array().expect("a list");
    assert!(passed.len() == 7 && passed.contains(&json!("tests/test_tiny.py::TestClass::test_method")), "{passed:?}");
    let unsupported = &tests["unsupported"];
    assert_eq!(column(unsupported, "result"), ["failed", "error", "skipped", "xfailed", "failed"]);
    says(&unsupported[4]["reason"].to_string(), &["thread"]);

    added(dir.path(), &["--out", "again", "--workers", "process"]).expect("pytest is in the cache now");
    for name in ["baseline.json", "layer.json"] {
        let [out, again] = ["out", "again"].map(|folder| read(&dir.path().join(folder), name));
        assert_eq!(out, again, "in processes, `{name}` is the same");
    }
}

#[test]
fn bugs_are_made_once_continued_and_validated() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    tiny(dir.path());
    if added(dir.path(), &["--out", "out"]).is_none() {
        return;
    }
    let inject = ["corpus", "inject-bugs", "--json", "--repo", "out", "--out"];
    // It has no `await`.
    let mut none = run_in(dir.path(), &inject);
    let said = ["find nothing to change in its code\nhint: "];
    ended(none.args(["bugs.jsonl", "--injectors", "drop_await"]), 3, &said);
    assert!(!dir.path().join("bugs.jsonl").exists(), "no file of no bugs is made");
    let make = |count: &str, file: &str| {
        let options = [file, "--count", count, "--injectors", "constant_body,insert_unary"];
        last_json(&succeeded(run_in(dir.path(), &inject).args(options)))
    };
    let made = make("2", "bugs.jsonl");
    assert_eq!((&made["valid"], &made["operators"]["insert_unary"]["sites"]), (&json!(2), &json!(1)), "{made}");
    let text = read(dir.path(), "bugs.jsonl");
    assert_eq!(["1", "2"].map(|count| make(count, "few.jsonl")["valid"].clone()), [1, 2]);
    assert_eq!(read(dir.path(), "few.jsonl"), text, "a run that was continued makes the same file");

    let verify = ["verify", "--format", "bug", "--json", "--tasks", "bugs.jsonl", "--repo", "out"];
    let verdicts = rows(&stdout(&succeeded(&mut run_in(dir.path(), &verify))));
    let statuses = ["valid", "accepted", "wrong_answer", "valid", "accepted", "wrong_answer"];
    assert_eq!(column(&json!(verdicts), "status"), statuses);

    let row = json!({"task_id": rows(&text)[0]["task_id"], "completion": "I fixed it."});
    std::fs::write(dir.path().join("attempts.jsonl"), format!("{row}\n")).expect("a file is written");
    let malformed = finished(run_in(dir.path(), &verify).args(["--attempts", "attempts.jsonl"]));
    says(&stdout(&malformed), &["\"malformed\""]);

    let declared = text.replacen("\"fail_to_pass\":[\"", "\"fail_to_pass\":[\"tests/test_tiny.py::test_gone\",\"", 1);
    std::fs::write(dir.path().join("bugs.jsonl"), declared).expect("a file is written");
    let output = finished(&mut run_in(dir.path(), &verify));
    assert!(!output.status.success(), "{}", stderr(&output));
    says(&stdout(&output), &["\"declared\""]);
}
