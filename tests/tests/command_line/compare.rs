//! `veriplay compare`: runs side by side, and what is said of runs that cannot be compared.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{column, configuration, ended, last_json, says, small_config, stdout, succeeded, veriplay, with};

/// The numbers of an evaluation with one row of 100 tasks.
fn table(share: f64) -> Value {
    let numbers = json!({"pass1": share, "greedy": share, "pass8": share});
    let row = json!({"row": "deduction", "tasks": 100, "pass1": share, "greedy": share, "pass8": share});
    json!({"rows": [row], "mean": numbers})
}

fn write(run: &Path, file: &str, text: impl ToString) {
    std::fs::write(run.join(file), text.to_string()).expect("the file is written");
}

/// A run directory of this configuration with two steps, and an evaluation at its start and at its end.
fn run_with(run: &Path, config: &toml::Table, after: f64) {
    std::fs::create_dir_all(run).expect("a folder");
    write(run, "config.toml", config);
    let event = |step: u32| json!({"step": step, "actor/entropy": 0.5 + f64::from(step), "perf/total_num_tokens": 300});
    write(run, "events.jsonl", format!("{}\n{}\n", event(0), event(1)));
    write(run, "timing.jsonl", "{\"step\": 0, \"play_s\": 2.0, \"update_s\": 1.0, \"jobs\": 5}\n");
    write(run, "before.json", table(0.5));
    write(run, "after.json", table(after));
}

/// Two runs of 100 tasks in a folder, of which the second has another learning rate.
fn two_runs(dir: &Path) -> [PathBuf; 2] {
    let runs = ["one", "other"].map(|name| dir.join(name));
    run_with(&runs[0], &small_config(), 0.6);
    run_with(&runs[1], &with(small_config(), "learn.learning_rate = 0.25"), 0.8);
    runs
}

fn compared(runs: &[PathBuf]) -> Value {
    last_json(&succeeded(veriplay().args(["compare", "--json"]).args(runs)))
}

#[test]
fn runs_are_compared_with_intervals_keys_and_the_ends_of_curves() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let runs = two_runs(dir.path());
    let found = compared(&runs);
    let [version, game, notes] = ["schema_version", "game", "notes"].map(|key| &found[key]);
    assert_eq!((version, game, notes), (&json!(1), &json!("absolute_zero"), &json!([])));
    let run = &found["runs"][0];
    assert_eq!((&run["steps_done"], &run["finished"], &run["eval_set"]), (&json!(2), &json!(true), &json!("held_out")));
    assert_eq!(run["curves"]["actor/entropy"], json!({"last": 1.5, "last_step": 1, "mean_of_last_tenth": 1.5}));
    assert_eq!(run["curves"]["timing/tokens_per_second"]["last"], 100.0);
    let row = &run["eval"]["after"]["rows"][0];
    assert_eq!((&row["row"], &row["tasks"], &row["pass1"]["value"]), (&json!("deduction"), &json!(100), &json!(0.6)));
    let difference = &found["differences"][0];
    assert_eq!((&difference["eval"]["paired"], &difference["suites"]), (&json!(false), &json!({})));
    let pass1 = &difference["eval"]["mean"]["pass1"];
    let numbers = [&pass1["interval"][0], &pass1["value"], &pass1["interval"][1]];
    let [low, value, high] = numbers.map(|number| number.as_f64().expect("a number"));
    assert!(0.05 < low && low < value && value < high && high < 0.35 && (value - 0.2).abs() < 1e-12, "{pass1}");
    assert_eq!(column(&difference["config"], "key"), ["learn.learning_rate"]);
    let text = stdout(&succeeded(veriplay().arg("compare").args(&runs)));
    says(&text, &["pass@1 (T=1), deduction, after", "60.0 (50.2 to 69.1)", "+20.0 (+", "-> 0.25"]);
    says(&text, &["1.5000 (1.5000)", "plots: `veriplay report "]);
}

#[test]
fn an_unfinished_run_and_another_set_are_noted_with_what_to_do() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let runs = two_runs(dir.path());
    std::fs::remove_file(runs[1].join("after.json")).expect("it was there");
    let found = compared(&runs);
    says(&found["notes"][0].to_string(), &["is not finished, with 2 of 5 steps", "veriplay play --resume"]);
    assert_eq!((&found["differences"][0]["eval"], &found["runs"][1]["eval"]["after"]), (&Value::Null, &Value::Null));
    run_with(&runs[1], &with(small_config(), "eval.set = \"validation\""), 0.8);
    let found = compared(&runs);
    says(&found["notes"][0].to_string(), &["on the validation set", "veriplay eval --model"]);
    assert_eq!(found["differences"][0]["eval"], Value::Null);
}

#[test]
fn what_cannot_be_compared_is_refused_in_one_sentence_with_a_hint() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let runs = two_runs(dir.path());
    let compare = |wanted: &str| ended(veriplay().arg("compare").args(&runs), 3, &[wanted, "hint: "]);
    let refused = |wanted: &str| assert_eq!(compare(wanted).stdout, b"");
    write(&runs[1], "after.json", "{\"rows\": [");
    refused("after.json` is damaged or of another version");
    write(&runs[1], "after.json", table(0.8));
    write(&runs[1], "events.jsonl", "no event\n");
    refused("line 1 is not an event");
    write(&runs[1], "config.toml", configuration("sol-ver-quickstart.toml"));
    write(&runs[1], "events.jsonl", "");
    refused("plays `sol_ver`");
    std::fs::remove_file(runs[1].join("config.toml")).expect("it was there");
    refused("is not a run directory");
    // One run is wrong usage.
    ended(veriplay().arg("compare").arg(&runs[0]), 2, &[]);
}

/// Compares runs of real play that differ in their reward.
pub(crate) fn assert_real_runs_are_compared(runs: &[PathBuf; 2]) {
    let found = compared(runs);
    let [one, other] = [0, 1].map(|run| &found["runs"][run]);
    assert_eq!(one["eval"]["before"], other["eval"]["before"], "they have the same start");
    let difference = &found["differences"][0];
    assert_eq!((&difference["eval"]["paired"], &found["notes"]), (&json!(true), &json!([])), "the tasks are the same");
    assert_eq!(column(&difference["eval"]["rows"], "row"), ["deduction", "abduction", "induction"]);
    assert_eq!(column(&difference["config"], "key"), ["game.reward"]);
    for path in ["actor/entropy", "play/roles/solver deduction/solve_rate", "timing/tokens_per_second"] {
        assert!(one["curves"][path]["mean_of_last_tenth"].is_number(), "{path}: {one}");
    }
}
