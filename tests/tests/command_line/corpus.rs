//! `veriplay corpus add-repo` on a package that this test makes, under the real pytest.
//!
//! pytest comes by pip, or from the cache of an earlier run. Where neither is to be had the test steps aside, unless
//! `VERIPLAY_REQUIRE_PIP` is set, as it is in `.ci/run`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use veriplay_tests::external::report_without_pip;

use super::{finished, last_json, stderr, veriplay};

const PACKAGE: &str = "def double(x):\n    return 2 * x\n";

/// Tests of every kind of end. `importorskip`, `xfail` and `monkeypatch` are not in the image's own small pytest.
const TESTS: &str = r#"
import random, threading
import pytest
from tiny import double

@pytest.fixture
def two():
    return 2

@pytest.fixture
def broken():
    raise ValueError("no fixture")

@pytest.mark.parametrize("x", [1, 2, "é"])
def test_double(x, two):
    assert double(x) == two * x

def test_files(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("A", "b")
    (tmp_path / "f").write_text("x")
    print("printed")
    assert capsys.readouterr().out == "printed\n"

def test_data():
    assert open("tests/data.txt").read() == "data\n"

class TestClass:
    def test_method(self):
        assert double([1]) == [1, 1]

def test_fails():
    assert double(1) == 3

def test_error(broken):
    pass

def test_skipped():
    pytest.importorskip("numpy_that_is_not_here")

@pytest.mark.xfail
def test_expected():
    assert False

def test_threads():
    threading.Event().wait()

def test_random_but_true():
    assert random.random() < 1
"#;

const ENDS: &str =
    "import os\n\ndef test_before():\n    pass\n\ndef test_ends():\n    os._exit(0)\n\ndef test_after():\n    pass\n";

fn tiny(dir: &Path) {
    let root = dir.join("tiny-1.0");
    let files = [
        ("src/tiny.py", PACKAGE),
        ("tests/test_tiny.py", TESTS),
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
    let tar = Command::new("tar").args(["-czf", "tiny-1.0.tar.gz", "tiny-1.0"]).current_dir(dir).status();
    assert!(tar.expect("tar runs").success());
}

/// Adds the package; `None` where pytest cannot be had and need not be.
fn added(dir: &Path, out: &Path, options: &[&str]) -> Option<Output> {
    let sdist = dir.join("tiny-1.0.tar.gz");
    let mut command = veriplay();
    command.args(["corpus", "add-repo", "tiny==1.0", "--json", "--sdist"]).arg(sdist).arg("--out").arg(out);
    let output = finished(command.args(options));
    let no_pip = stderr(&output).contains("pip download");
    assert!(output.status.success() || no_pip, "{}", stderr(&output));
    if !output.status.success() {
        report_without_pip(&stderr(&output));
    }
    output.status.success().then_some(output)
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).expect("the repository has this file")
}

fn ids<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    let rows = list.as_array().expect("a list");
    rows.iter().map(|row| if key.is_empty() { row } else { &row[key] }.as_str().expect("a text")).collect()
}

#[test]
fn a_package_gets_a_baseline_of_its_tests() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    tiny(dir.path());
    let out = dir.path().join("out");
    let Some(output) = added(dir.path(), &out, &[]) else { return };
    let report = last_json(&output);
    assert_eq!(report["passed"], 9, "{report}");
    assert_eq!((&report["unsupported"], &report["broken_files"]), (&6.into(), &1.into()));

    let baseline: Value = serde_json::from_str(&read(&out, "baseline.json")).expect("the baseline is JSON");
    let [ends, missing, tests] = baseline["files"].as_array().expect("files").as_slice() else { panic!("three files") };
    assert_eq!(ids(&ends["passed"], ""), ["tests/test_ends.py::test_before", "tests/test_ends.py::test_after"]);
    assert_eq!(ids(&ends["unsupported"], "id"), ["tests/test_ends.py::test_ends"]);
    assert_eq!(ends["unsupported"][0]["result"], "stopped");
    assert!(missing["broken"].as_str().expect("a reason").contains("a_package_that_is_not_here"), "{missing}");

    let passed = ids(&tests["passed"], "");
    assert_eq!(passed.len(), 7, "{passed:?}");
    assert!(passed.contains(&"tests/test_tiny.py::TestClass::test_method"), "{passed:?}");
    let words: Vec<_> = tests["unsupported"].as_array().expect("a list").iter().collect();
    let results: Vec<&str> = words.iter().map(|test| test["result"].as_str().expect("a word")).collect();
    assert_eq!(results, ["failed", "error", "skipped", "xfailed", "failed"]);
    assert!(words[4]["reason"].as_str().expect("a reason").contains("thread"), "{words:?}");

    let again = dir.path().join("again");
    added(dir.path(), &again, &["--workers", "process"]).expect("pytest is in the cache now");
    for name in ["baseline.json", "layer.json"] {
        assert_eq!(read(&out, name), read(&again, name), "in processes, `{name}` is the same");
    }
}

#[test]
fn what_is_no_repository_is_refused_in_words() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let refused = |name: &str, bytes: &[u8], requirement: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).expect("a file is written");
        let output = finished(veriplay().args(["corpus", "add-repo", requirement, "--sdist"]).arg(path));
        assert!(!output.status.success());
        stderr(&output)
    };
    assert!(refused("x.rpm", b"", "x==1").contains("is not a source distribution"));
    assert!(refused("x.tar.gz", b"no gzip", "x==1").contains("cannot unpack"));
    for requirement in ["x", "x>=1", "x==", "==1", "x==1; echo", "../x==1", "-x==1", "x==--y", "x==1 y"] {
        assert!(refused("x.tar.gz", b"", requirement).contains("error"), "{requirement}");
    }
}

/// Runs `veriplay` with these arguments; what it printed.
fn ran(arguments: &[&str], paths: &[(&str, &Path)]) -> Output {
    let mut command = veriplay();
    command.args(arguments);
    for (option, path) in paths {
        command.arg(option).arg(path);
    }
    finished(&mut command)
}

#[test]
fn bugs_are_made_once_continued_and_validated() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    tiny(dir.path());
    let (out, bugs, few) = (dir.path().join("out"), dir.path().join("bugs.jsonl"), dir.path().join("few.jsonl"));
    if added(dir.path(), &out, &[]).is_none() {
        return;
    }
    let make = |count: &str, file: &Path| {
        let asked = ["corpus", "inject-bugs", "--json", "--count", count, "--injectors", "constant_body,insert_unary"];
        let output = ran(&asked, &[("--repo", &out), ("--out", file)]);
        assert!(output.status.success(), "{}", stderr(&output));
        last_json(&output)
    };
    // It has no `await`.
    let asked = ["corpus", "inject-bugs", "--injectors", "drop_await"];
    let output = ran(&asked, &[("--repo", &out), ("--out", &bugs)]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("find nothing to change in its code\nhint: "), "{}", stderr(&output));
    assert!(!bugs.exists(), "no file of no bugs is made");
    let made = make("2", &bugs);
    assert_eq!(made["valid"], 2, "{made}");
    assert_eq!(made["operators"]["insert_unary"]["sites"], 1, "{made}");
    let text = read(dir.path(), "bugs.jsonl");
    assert_eq!((make("1", &few)["valid"].clone(), make("2", &few)["valid"].clone()), (1.into(), 2.into()));
    assert_eq!(read(dir.path(), "few.jsonl"), text, "a run that was continued makes the same file");

    let verify = ["verify", "--format", "bug", "--json"];
    let output = ran(&verify, &[("--tasks", &bugs), ("--repo", &out)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let rows: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect();
    let words: Vec<&str> = rows.iter().map(|row| row["status"].as_str().expect("a status")).collect();
    assert_eq!(words, ["valid", "accepted", "wrong_answer", "valid", "accepted", "wrong_answer"]);

    let bug: Value = serde_json::from_str(text.lines().next().expect("a bug")).expect("a bug");
    let attempts = dir.path().join("attempts.jsonl");
    let row = serde_json::json!({"task_id": bug["task_id"], "completion": "I fixed it."});
    std::fs::write(&attempts, format!("{row}\n")).expect("a file is written");
    let output = ran(&verify, &[("--tasks", &bugs), ("--repo", &out), ("--attempts", &attempts)]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"malformed\""), "{}", stderr(&output));

    let declared = text.replacen("\"fail_to_pass\":[\"", "\"fail_to_pass\":[\"tests/test_tiny.py::test_gone\",\"", 1);
    std::fs::write(&bugs, declared).expect("a file is written");
    let output = ran(&verify, &[("--tasks", &bugs), ("--repo", &out)]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"declared\""), "{}", stderr(&output));
}
