//! The command line as its users meet it: the real binary, the real Python image, the built-in model.

mod alarms;
mod bench;
mod browser;
mod commands;
mod compare;
#[path = "../../../crates/learner/tests/main/completions_server.rs"]
#[expect(dead_code, reason = "the learner's tests use the rest of it")]
mod completions_server;
mod config;
mod corpus;
mod devices;
mod documents;
mod extraction;
mod field_cases;
mod games;
mod generate;
mod images;
mod inputs;
mod int8_rollouts;
mod isolate;
mod isolate_service;
mod isolate_targets;
mod judges;
mod log_format;
mod losses;
mod models;
mod plugins;
mod policies;
mod public_sets;
mod refusals;
mod reports;
mod repositories;
mod resume;
mod rollout_server;
mod row_formats;
mod run;
mod serve;
mod shells;
mod signals;
mod suites;
mod tensorboard;
mod trackio;
mod trainers;
mod verify;
mod verify_cache;
mod verify_cat;
mod vllm;
mod watch;
mod workers;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use veriplay_tests::{python_image, veriplay_program};

/// The root of the project, which paths in configurations are relative to.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder of the tiny model, for the server of completions.
const TINY_MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/tiny");

/// Nobody listens there.
const NO_SERVER: &str = "http://127.0.0.1:1";

/// The binary under test. Its image is built before, where that is reported. It fetches no public set.
fn veriplay() -> Command {
    drop(python_image());
    let mut command = Command::new(veriplay_program());
    command.env_remove("VERIPLAY_LOG").env_remove("VERIPLAY_IMAGES").env("VERIPLAY_DATA_MIRROR", NO_SERVER);
    command
}

/// The same as the `$0` of a shell's script.
fn in_shell(script: &str) -> Command {
    let own = veriplay();
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(own.get_program());
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Runs a command to its end.
fn finished(command: &mut Command) -> Output {
    command.output().expect("the binary starts")
}

/// Runs a command, which must end with this exit code and say these words on stderr.
#[track_caller]
fn ended(command: &mut Command, code: i32, words: &[&str]) -> Output {
    let output = finished(command);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{command:?}: `{word}` is not in\n{said}");
    }
    output
}

/// Runs a command, which must succeed.
#[track_caller]
fn succeeded(command: &mut Command) -> Output {
    ended(command, 0, &[])
}

#[track_caller]
fn says(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "`{word}` is not in\n{said}");
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The object on the last line of stdout.
#[track_caller]
fn last_json(output: &Output) -> Value {
    let text = stdout(output);
    let line = text.lines().last().unwrap_or_else(|| panic!("no stdout; stderr: {}", stderr(output)));
    serde_json::from_str(line).unwrap_or_else(|error| panic!("`{line}` is no JSON: {error}"))
}

/// A key of each row of a list.
fn column<'a>(rows: &'a Value, key: &str) -> Vec<&'a Value> {
    rows.as_array().expect("a list").iter().map(|row| &row[key]).collect()
}

/// A program of a test that runs beside it, and ends with it.
struct Helper(Child);

impl Helper {
    /// Starts it, and waits for its first line.
    fn start(command: &mut Command) -> (Self, String) {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("stdout can be read");
        (Self(child), line.trim().to_owned())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A script beside the tests.
fn script(name: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command_line").join(name));
    command
}

/// A configuration of the folder `configs`.
fn configuration(name: &str) -> toml::Table {
    let path = root().join("configs").join(name);
    std::fs::read_to_string(path).expect("the configuration is there").parse().expect("it is TOML")
}

/// A configuration with other keys, which are TOML.
fn with(mut config: toml::Table, keys: &str) -> toml::Table {
    losses::merge(&mut config, keys.parse().unwrap_or_else(|error| panic!("`{keys}` is no TOML: {error}")));
    config
}

/// The quickstart's configuration, made small: it plays in seconds and goes through every stage, on tasks of ours too.
fn small_config() -> toml::Table {
    let small = "
        steps = 5
        checkpoint_every = 2
        game = {proposals_per_type = 4, tasks_per_type = 3, fresh_fraction = 0.25, seed_share = 0.75, sft_samples = 4, sft_weight = 0.1, seed_proposals = 0, answer_weight = 0.0}
        tasks = {seeds_per_type = 12, sft_per_type = 8}
        eval = {tasks = 4, ladder_tasks = 0}
    ";
    let mut config = with(configuration("quickstart.toml"), small);
    commands::section(&mut config, "eval").remove("tasks_every");
    config
}

fn write_config(dir: &Path, config: &toml::Table) -> PathBuf {
    let path = dir.join("config.toml");
    std::fs::write(&path, config.to_string()).expect("the temporary directory can be written");
    path
}

/// Plays a configuration into a folder of its own, as [`ended`].
#[track_caller]
fn played(config: &toml::Table, options: &[&str], code: i32, words: &[&str]) -> Output {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut command = veriplay();
    command.current_dir(root()).arg("play").args(options).arg("--config").arg(write_config(dir.path(), config));
    ended(command.arg("--out").arg(dir.path().join("run")), code, words)
}

/// A copy of a built-in model, in a folder.
fn copy_model(name: &str, dir: &Path) {
    for file in std::fs::read_dir(root().join("models").join(name)).expect("the model is there") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), dir.join(file.file_name())).expect("it is copied");
    }
}
