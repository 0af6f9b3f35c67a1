//! The command line as its users meet it: the real binary, the real Python image, the built-in model.

mod bench;
mod browser;
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
mod isolate;
mod isolate_service;
mod isolate_signals;
mod isolate_targets;
mod judges;
mod log_format;
mod losses;
mod models;
mod plugins;
mod policies;
mod public_sets;
mod reports;
mod repositories;
mod resume;
mod rollout_server;
mod row_formats;
mod run;
mod serve;
mod shells;
mod suites;
mod tensorboard;
mod trackio;
mod trainers;
mod verify;
mod verify_cache;
mod verify_cat;
mod watch;
mod workers;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

/// Runs a command to its end.
fn finished(command: &mut Command) -> Output {
    command.output().expect("the binary starts")
}

/// The same, which must succeed.
#[track_caller]
fn succeeded(command: &mut Command) -> Output {
    let output = finished(command);
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The object on the last line of stdout.
fn last_json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_else(|| panic!("no stdout; stderr: {}", stderr(output)));
    serde_json::from_str(line).unwrap_or_else(|error| panic!("`{line}` is no JSON: {error}"))
}

/// The quickstart's configuration, made small: it plays in seconds and goes through every stage.
fn small_config() -> toml::Table {
    let text = include_str!("../../../configs/quickstart.toml");
    let mut config: toml::Table = text.parse().expect("the quickstart's configuration is TOML");
    let mut set = |section: &str, key: &str, value: toml::Value| {
        let table = if section.is_empty() { &mut config } else { config[section].as_table_mut().expect("a section") };
        assert!(table.insert(key.to_owned(), value).is_some(), "`{section}.{key}` is no key of the quickstart");
    };
    set("", "steps", 5.into());
    set("", "checkpoint_every", 2.into());
    set("game", "proposals_per_type", 4.into());
    set("game", "tasks_per_type", 3.into());
    set("game", "sft_samples", 4.into());
    set("tasks", "seeds_per_type", 12.into());
    set("tasks", "sft_per_type", 8.into());
    set("eval", "tasks_per_type", 4.into());
    config
}

fn write_config(dir: &Path, config: &toml::Table) -> PathBuf {
    let path = dir.join("config.toml");
    std::fs::write(&path, config.to_string()).expect("the temporary directory can be written");
    path
}
