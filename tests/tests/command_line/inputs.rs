//! Bad input: each mistake gets a message with the file, line or key, a hint, and the exit code of its cause.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::verify::{Bench, completion, task};
use super::{copy_model, ended, played, says, small_config, stderr, stdout, succeeded, veriplay, with, write_config};

#[test]
fn a_dry_run_says_what_would_be_asked_and_makes_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (path, out) = (write_config(dir.path(), &small_config()), dir.path().join("run"));
    let mut command = veriplay();
    command.arg("play").arg("--dry-run").arg("--config").arg(path).arg("--out").arg(&out);
    let phases = ["loading the model", "making the held-out tasks of `absolute_zero`", "making a prompt of each role"];
    let said = stdout(&ended(&mut command, 0, &phases));
    says(&said, &["game `absolute_zero`, 5 steps", "reward `band`", "memory: about", "--- solver, induction\n<"]);
    assert!(!out.exists());
}

#[test]
fn a_dry_run_says_what_it_does_and_names_every_missing_file_and_a_missing_model_too() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let dry_run = |model: &str, code: i32, words: &[&str]| {
        let mut command = veriplay();
        command.args(["play", "--dry-run", "--config", "bug-repair-qwen", "--model", model]).current_dir(&dir);
        stderr(&ended(command.env("VERIPLAY_CACHE", dir.path().join("cache")), code, words))
    };
    let missing = "error: 5 paths of the configuration cannot be found:\n  `toolz==1.0.0` of `repositories.training`: ";
    let other = "\n  `bugs/inflection.jsonl` of `bugs.held_out`: ";
    dry_run("builtin:bug-repair", 3, &["loading the model `builtin:bug-repair`\n", missing, other]);
    let said = dry_run("runs/none/checkpoints/step_5", 5, &[]);
    assert_eq!(said.matches("error: ").count(), 2, "{said}");
    assert!(said.find("step_5") < said.find("5 paths of the configuration"), "{said}");
}

#[test]
fn a_tensor_of_the_wrong_shape_is_named() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    copy_model("tiny", dir.path());
    let path = dir.path().join("config.json");
    let text = std::fs::read_to_string(&path).expect("the config is read");
    let mut model: Value = serde_json::from_str(&text).expect("it is JSON");
    let width = model["intermediate_size"].as_u64().expect("a width") + 32;
    model["intermediate_size"] = width.into();
    std::fs::write(&path, model.to_string()).expect("the config is written");
    let config = with(small_config(), &format!("model = '{}'", dir.path().display()));
    played(&config, &[], 5, &["mlp.", &width.to_string()]);
}

#[test]
fn keys_of_a_configuration_can_be_set_on_the_command_line() {
    let mut command = veriplay();
    command.args(["play", "--dry-run", "--set", "game.group_size=2", "--set", "game.reward=random"]);
    says(&stdout(&succeeded(command.args(["--set", "game.stop=[\"x\"]"]))), &["reward `random`"]);
}

#[test]
fn attempts_are_read_from_standard_input() {
    let bench = Bench::new(&[task("one", 1)], &[completion("one", "    return x + 1\n")], &[]);
    let mut verify = veriplay();
    verify.args(["verify", "--tasks", "tasks.jsonl", "--attempts", "-"]).current_dir(&bench.dir);
    let attempts = std::fs::File::open(bench.path("attempts.jsonl")).expect("it is there");
    let output = succeeded(verify.stdin(attempts));
    let row: Value = serde_json::from_slice(&output.stdout).expect("one row");
    assert_eq!((&row["task_id"], &row["status"]), (&"one".into(), &"accepted".into()), "{row}");
}

#[test]
fn a_signal_leaves_no_copy_of_standard_input() {
    for signal in [Signal::INT, Signal::TERM] {
        let temporary = tempfile::tempdir().expect("a temporary directory");
        let mut verify = veriplay();
        verify.args(["verify", "--tasks", "tasks.jsonl", "--attempts", "-"]).env("TMPDIR", temporary.path());
        // Its standard input does not end.
        let verify = verify.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut verify = verify.spawn().expect("the binary starts");
        let list = || std::fs::read_dir(temporary.path()).expect("it can be listed");
        while list().next().is_none() {
            assert!(verify.try_wait().expect("it is a child").is_none(), "it ended before its input");
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&verify), signal).expect("it runs");
        let input = verify.stdin.take();
        assert_eq!(verify.wait().expect("it ends").code(), Some(130));
        drop(input);
        assert_eq!(list().count(), 0, "{signal:?}");
    }
}
