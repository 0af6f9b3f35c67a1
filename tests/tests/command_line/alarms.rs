//! What alarms have done to a run outlives a kill: a frozen role, a raised coefficient, restored weights and moments with a lower learning rate, and
//! a stop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use super::commands::{events, fails, holds, play_file, read, read_json, resume, small_with};
use super::resume::{assert_same, assert_same_but, interrupted};
use super::{column, succeeded, with, write_config};

/// Lines of the log behind which a run may be killed.
const EVENTS: [&str; 2] = ["step done", "written"];
/// Monitors of numbers that may not fall, in the order of their alarms.
const MONITORS: [&str; 3] = ["entropy_collapse", "distinct_trigrams", "solver_tokens"];

/// Two copies of a run of two steps with these keys, of which the second was evaluated. Their monitors remember ten steps with numbers of a million and
/// four with too small ones: the next step raises the alarm of each.
fn before_alarms(on_alarm: &str, more: &str) -> (TempDir, [PathBuf; 2]) {
    let keys = format!(
        "
        steps = 2
        checkpoint_every = 1
        on_alarm = {on_alarm}
        eval.tasks_every = 2
        learn = {{shape = 'constant', warmup_steps = 0, kl = {{coefficient = 0.1, estimator = 'k3', place = 'loss'}}}}
        "
    );
    let dir = tempfile::tempdir().expect("a temporary directory");
    let runs = ["one", "other"].map(|name| dir.path().join(name));
    succeeded(&mut play_file(&write_config(dir.path(), &with(small_with(&keys), more)), &runs[0]));
    let path = runs[0].join("checkpoints/step_2/play.json");
    let mut state = read_json(&path);
    let numbers = [("steps", 10.0), ("sum", 1e7), ("squares", 1e13), ("in_a_row", 4.0)];
    let memory: BTreeMap<&str, u64> = numbers.map(|(name, number)| (name, f64::to_bits(number))).into();
    for monitor in MONITORS {
        state["game"]["monitors"][monitor] = json!(memory);
    }
    std::fs::write(&path, state.to_string()).expect("it is written");
    succeeded(Command::new("cp").arg("-r").args(&runs));
    (dir, runs)
}

/// A file of the checkpoint after this step.
fn saved(run: &Path, step: u64, name: &str) -> Vec<u8> {
    std::fs::read(run.join(format!("checkpoints/step_{step}/{name}"))).expect("a file of a checkpoint")
}

#[test]
fn what_alarms_have_done_holds_in_a_run_that_was_killed() {
    let actions = ["raise_kl", "restore_best", "freeze_proposer"];
    let each: Vec<String> = MONITORS.iter().zip(actions).map(|(name, action)| format!("{name} = '{action}'")).collect();
    let (_dir, [whole, broken]) = before_alarms(&format!("{{{}}}", each.join(", ")), "");
    succeeded(resume(&whole).args(["--steps", "6"]));
    // Before the step with the alarms is saved or right behind that, and later.
    interrupted(resume(&broken).args(["--steps", "6"]), &EVENTS, 1, |run| kill_process(run, Signal::KILL));
    interrupted(&mut resume(&broken), &EVENTS, 3, |run| kill_process(run, Signal::KILL));
    succeeded(&mut resume(&broken));
    assert_same(&whole, &broken);

    let events = events(&whole);
    assert_eq!(column(&events[2]["alarms"], "monitor"), MONITORS);
    for name in ["model.safetensors", "optimizer/optimizer.safetensors"] {
        let [best, restored, later] = [2, 3, 4].map(|step| saved(&whole, step, name));
        assert!(restored == best, "{name} is not the best checkpoint's");
        assert!(later != restored, "{name} is not trained on");
    }
    let [with_alarms, behind] = [2, 3].map(|step| events[step]["actor/lr"].as_f64().expect("a rate"));
    assert_eq!(behind, 0.5 * with_alarms);
    let (before, after) = events.split_at(3);
    assert!(before.iter().any(|event| event["actor/grad_norm/proposer"].is_number()));
    assert!(after.iter().all(|event| event["actor/grad_norm/proposer"].is_null()));
    let state = read_json(whole.join("checkpoints/step_6/play.json"));
    holds(&state, &json!({"/alarms/raised": 1, "/alarms/restored": 1, "/game/frozen": ["proposal"]}));
}

#[test]
fn a_run_that_an_alarm_has_stopped_goes_on_to_the_bytes_of_one_that_logs_it() {
    let (_dir, [logged, stopped]) = before_alarms("{solver_tokens = 'stop'}", "");
    let config = logged.join("config.toml");
    std::fs::write(&config, read(&config).replace("\"stop\"", "\"log\"")).expect("it is written");
    succeeded(resume(&logged).args(["--steps", "4"]));
    let words = ["the monitor `solver_tokens` has stopped the run after step 3", "hint: continue with `veriplay play"];
    fails(resume(&stopped).args(["--steps", "4"]), 130, &words);
    succeeded(&mut resume(&stopped));
    assert_same_but(&["config.toml"], &logged, &stopped);
}

#[test]
fn a_step_that_was_sampled_ahead_of_an_alarm_is_sampled_again() {
    let keys = "learn = {loss = {kind = 'cispo'}, lora = {rank = 2, alpha = 4.0, target_modules = ['q_proj'], per_role = true}}";
    for action in ["freeze_proposer", "restore_best"] {
        let (_dir, [whole, broken]) = before_alarms(&format!("{{solver_tokens = '{action}'}}"), keys);
        for run in [&whole, &broken] {
            let path = run.join("config.toml");
            let config = read(&path).parse().expect("TOML");
            let ahead = with(config, "steps_ahead = 1\ncheckpoint_every = 100\neval.tasks_every = 100");
            std::fs::write(&path, ahead.to_string()).expect("it is written");
        }
        succeeded(resume(&whole).args(["--steps", "6"]));
        // Behind the step that is sampled again.
        interrupted(resume(&broken).args(["--steps", "6"]), &EVENTS, 2, |run| kill_process(run, Signal::KILL));
        succeeded(&mut resume(&broken));
        assert_same(&whole, &broken);
        let events = events(&whole);
        assert_eq!(column(&events[2]["alarms"], "monitor"), MONITORS);
        let lags: Vec<Option<u64>> = events[2..].iter().map(|event| event["rollout/lag"].as_u64()).collect();
        assert_eq!(lags, [Some(0), Some(0), Some(1), Some(1)], "{action}: the step behind the alarm has its weights");
    }
}
