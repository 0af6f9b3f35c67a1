//! Commands that tests give, what these must say, and the files of runs.

use std::path::Path;
use std::process::{Child, Command, Output};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::verify::rows;
use super::{root, says, small_config, stderr, veriplay, with, write_config};

/// Fails unless a command that has ended did so with this code, and says all of these on stderr, which it gives.
#[track_caller]
pub(super) fn ended(output: &Output, code: i32, wanted: &[&str]) -> String {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{wanted:?} is wanted in\n{said}");
    says(&said, wanted);
    said
}

/// Runs a command, which must end with this code and say all of these on stderr, which it gives.
#[track_caller]
pub(super) fn fails(command: &mut Command, code: i32, wanted: &[&str]) -> String {
    stderr(&super::ended(command, code, wanted))
}

/// Plays a configuration, which is written into `dir`, into `dir/run`.
pub(super) fn play(config: &toml::Table, dir: &Path) -> Command {
    play_file(&write_config(dir, config), &dir.join("run"))
}

pub(super) fn play_file(config: &Path, run: &Path) -> Command {
    let mut command = veriplay();
    command.current_dir(root()).arg("play").arg("--config").arg(config).arg("--out").arg(run);
    command
}

pub(super) fn resume(run: &Path) -> Command {
    let mut command = veriplay();
    command.current_dir(root()).args(["play", "--resume"]).arg(run);
    command
}

/// The small quickstart with these keys.
pub(super) fn small_with(keys: &str) -> toml::Table {
    with(small_config(), keys)
}

pub(super) fn section<'a>(config: &'a mut toml::Table, name: &str) -> &'a mut toml::Table {
    config[name].as_table_mut().expect("a table")
}

#[track_caller]
pub(super) fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
pub(super) fn read_json(path: impl AsRef<Path>) -> Value {
    parse(&read(path))
}

#[track_caller]
pub(super) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("`{text}` is no JSON: {error}"))
}

/// Fails unless a value has these values at these JSON pointers, where null stands for nothing too.
#[track_caller]
pub(super) fn holds(value: &Value, wanted: &Value) {
    for (pointer, wanted) in wanted.as_object().expect("values at pointers") {
        assert_eq!(value.pointer(pointer).unwrap_or(&Value::Null), wanted, "{pointer} of {value}");
    }
}

/// The steps of a run.
pub(super) fn events(run: &Path) -> Vec<Value> {
    rows(&read(run.join("events.jsonl")))
}

/// The log of a run's rollouts.
pub(super) fn read_log(run: &Path) -> String {
    let log = std::fs::read(run.join("rollouts.jsonl.zst")).expect("the log can be read");
    String::from_utf8(zstd::decode_all(log.as_slice()).expect("the log is zstd")).expect("the log is text")
}

pub(super) fn write_log(run: &Path, text: &str) {
    let log = zstd::encode_all(text.as_bytes(), 1).expect("it is compressed");
    std::fs::write(run.join("rollouts.jsonl.zst"), log).expect("the log is written");
}

pub(super) fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid")
}

pub(super) fn send_signal(child: &Child, signal: Signal) {
    kill_process(pid(child), signal).expect("it runs");
}
