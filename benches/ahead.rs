//! Steps an hour of a small run whose server waits before each answer, in turns and with the next step sampled ahead.
//!
//! ```text
//! cargo build --release && cargo bench --workspace --bench ahead -- [MILLISECONDS [STEPS]]
//! ```

#![expect(clippy::print_stdout, reason = "it prints a table and is not a library")]

#[path = "../crates/learner/tests/main/completions_server.rs"]
#[expect(dead_code, reason = "the learner's tests use the rest of it")]
mod completions_server;

use std::process::{Command, Stdio};
use std::time::Duration;

use completions_server::{Act, Server, ServerKind};
use serde_json::Value;
use veriplay_tests::veriplay_program;

/// The folder of the tiny model, for the server of completions.
const TINY_MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/tiny");

/// The quickstart with adapters, which are handed over, with few evaluations, and with passes over a step's samples for about as long as the server
/// waits: what is gained depends on how long updates and answers take.
const SETTINGS: [&str; 11] = [
    "checkpoint_every=1000",
    "game.seed_proposals=0",
    "~eval.tasks_every",
    "eval.tasks=4",
    "eval.ladder_tasks=0",
    "learn.epochs=4",
    "learn.loss.kind=cispo",
    "learn.lora.rank=4",
    "learn.lora.alpha=8.0",
    "learn.lora.target_modules=[\"q_proj\", \"down_proj\"]",
    "rollout_server.protocol=vllm",
];

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let (delay, steps) = (Duration::from_millis(numbers.next().unwrap_or(200)), numbers.next().unwrap_or(12));
    println!("{steps} steps, {} ms before each answer", delay.as_millis());
    let [in_turns, ahead] = [0, 1].map(|steps_ahead| steps_an_hour(steps_ahead, steps, delay));
    println!("ahead / in turns: {:.2}", ahead / in_turns);
}

/// Plays the run, and prints what its steps took. The evaluations before and after it do not count.
fn steps_an_hour(steps_ahead: u64, steps: u64, delay: Duration) -> f64 {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let wait = move |body: &Value, _| {
        if body["prompt"].is_array() {
            std::thread::sleep(delay);
        }
        Act::Answer
    };
    let server = Server::start(ServerKind::Vllm, wait);
    let mut play = Command::new(veriplay_program());
    play.args(["play", "--json", "--config", "quickstart", "--out"]).arg(dir.path().join("run"));
    play.args(SETTINGS.iter().flat_map(|setting| ["--set", setting]));
    let folder = dir.path().join("handed-over");
    for (key, value) in [
        ("steps_ahead", steps_ahead.to_string()),
        ("steps", steps.to_string()),
        ("rollout_server.url", server.url.clone()),
        ("rollout_server.folder", folder.display().to_string()),
    ] {
        play.args(["--set", &format!("{key}={value}")]);
    }
    let output = play.stderr(Stdio::inherit()).output().expect("the program starts");
    assert!(output.status.success(), "the run failed: {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let summary: Value = serde_json::from_str(text.lines().last().expect("a summary")).expect("it is JSON");
    let seconds = summary["seconds"].as_f64().expect("seconds");
    let per_hour = 3600.0 * steps as f64 / seconds;
    println!("steps_ahead = {steps_ahead}: {seconds:.1} s, {per_hour:.0} steps an hour");
    per_hour
}
