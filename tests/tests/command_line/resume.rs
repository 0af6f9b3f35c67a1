//! Nothing is lost: a run that is killed resumes and ends with the same bytes, and its verdicts can be made again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{finished, last_json, root, small_config, stderr, succeeded, veriplay, write_config};

/// Every file of a run but `timing.jsonl`, which tells the clock.
pub(crate) fn bytes_of(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![run.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be listed") {
            let path = entry.expect("the entry can be read").path();
            let name = path.strip_prefix(run).expect("it lies in the run").to_string_lossy().into_owned();
            match path.is_dir() {
                true => folders.push(path),
                false if name == "timing.jsonl" => {}
                false => drop(files.insert(name, std::fs::read(&path).expect("the file can be read"))),
            }
        }
    }
    files
}

pub(crate) fn assert_same(one: &Path, two: &Path) {
    let (one, two) = (bytes_of(one), bytes_of(two));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(bytes == &two[name], "`{name}` differs");
    }
}

/// Objects of a run directory whose keys are data, such as names of tools.
const MAPS: [&str; 10] = [
    "ends", "injections", "mutants", "numbers", "pass_at_k", "pass_at_k_interval", "refused", "statuses", "tasks",
    "tools",
];
/// Fields with data of one game, which the page does not describe.
const OF_THE_GAME: [&str; 5] = ["derivation", "detail", "game", "request", "task"];

/// Fails unless `docs/run-directory.md` names every file of a run and every key of its logs, its evaluations and its summary.
fn assert_documented(run: &Path, mut summary: Value) {
    let page = include_str!("../../../docs/run-directory.md");
    let named: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let mut missing = BTreeSet::new();
    let mut reports = Vec::new();
    // The keys in it are names of sets.
    summary["suites"] = Value::Null;
    unnamed_keys(&summary, &named, &mut missing);
    for (name, bytes) in bytes_of(run) {
        let file = name.rsplit('/').next().unwrap_or(&name);
        // The names of files of public sets begin with the set's.
        let file = match file.split_once('.') {
            Some((_, end)) if name.starts_with("suites/") => format!("SET.{end}"),
            _ => file.to_owned(),
        };
        if file == "SET.report.json" {
            reports.push(bytes);
        }
        if !page.contains(&file) {
            missing.insert(file);
        }
    }
    let read = |name: &str| std::fs::read(run.join(name)).expect("the file can be read");
    let rollouts = zstd::decode_all(read("rollouts.jsonl.zst").as_slice()).expect("the log is zstd");
    let logs = [read("before.json"), read("after.json"), read("events.jsonl"), read("timing.jsonl"), rollouts];
    for text in logs.into_iter().chain(reports) {
        for record in serde_json::Deserializer::from_slice(&text).into_iter::<Value>() {
            // The kind of a rollout's record may be `task`, which is no field of a game.
            match record.expect("a record is JSON").as_object().expect("a record is an object") {
                kind if kind.len() == 1 => kind.values().for_each(|fields| unnamed_keys(fields, &named, &mut missing)),
                fields => unnamed_keys(&fields.clone().into(), &named, &mut missing),
            }
        }
    }
    assert!(missing.is_empty(), "docs/run-directory.md does not name {missing:?}");
}

/// Adds the keys of a record that are not `named`.
fn unnamed_keys(record: &Value, named: &BTreeSet<&str>, missing: &mut BTreeSet<String>) {
    match record {
        Value::Array(items) => items.iter().for_each(|item| unnamed_keys(item, named, missing)),
        Value::Object(fields) => {
            for (key, value) in fields {
                let key = if key.starts_with("eval/") { "eval/SET" } else { key };
                if !named.contains(key) && !matches!(key, "Ok" | "Err") {
                    missing.insert(key.to_owned());
                }
                match value {
                    _ if OF_THE_GAME.contains(&key) => {}
                    Value::Object(map) if MAPS.contains(&key) => {
                        map.values().for_each(|item| unnamed_keys(item, named, missing));
                    }
                    _ => unnamed_keys(value, named, missing),
                }
            }
        }
        _ => {}
    }
}

/// Runs a command and sends it a signal after a line of its log that holds `event`; returns its exit status.
fn interrupted(command: &mut Command, signal: &str, event: &str) -> Option<i32> {
    let mut child = command.env("VERIPLAY_LOG", "veriplay=info").stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains(event)), "it ended before `{event}`");
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    lines.for_each(drop);
    child.wait().expect("it ended").code()
}

/// Runs a command and kills it after `events` events in its log; true if it was killed.
fn killed_after(command: &mut Command, events: usize) -> bool {
    let mut child = command.env("VERIPLAY_LOG", "veriplay=info").stderr(Stdio::piped()).spawn().expect("it starts");
    let lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
    let events_seen = lines.map_while(Result::ok).filter(|line| line.contains("step done") || line.contains("written"));
    let reached = events_seen.take(events).count() == events;
    // A kill, not a request: nothing gets to clean up.
    let _ = child.kill();
    child.wait().expect("it ended");
    reached
}

/// Plays a run whole, and another that is killed after so many events, and again after it was resumed: both end with the same bytes, and
/// every verdict comes out the same again. Gives the folder of the first, in which it is `whole`, and its summary.
pub(crate) fn survives(config: &toml::Table, kills: &[usize]) -> (TempDir, Value) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = write_config(dir.path(), config);
    let (whole, broken) = (dir.path().join("whole"), dir.path().join("broken"));
    let play = |out: &Path| {
        let mut command = veriplay();
        command.current_dir(root()).arg("play").arg("--config").arg(&config).arg("--out").arg(out);
        command
    };
    let resume = || {
        let mut command = veriplay();
        command.current_dir(root()).arg("play").arg("--resume").arg(&broken);
        command
    };
    let summary = last_json(&succeeded(play(&whole).arg("--json")));
    assert_eq!(summary["dropped"], 0, "{summary}");
    assert!(summary["eval"]["after"].is_object(), "{summary}");
    assert!(killed_after(&mut play(&broken), kills[0]));
    kills[1..].iter().for_each(|events| assert!(killed_after(&mut resume(), *events)));
    succeeded(&mut resume());
    assert_same(&whole, &broken);
    assert_documented(&whole, summary.clone());
    let report = last_json(&succeeded(veriplay().current_dir(root()).arg("replay").arg(&whole).arg("--json")));
    assert!(report["verdicts"].as_u64().expect("a count") > 0, "{report}");
    assert_eq!((&report["verdicts"], &report["changed"]), (&report["same"], &0.into()));
    (dir, summary)
}

#[test]
fn a_signal_before_the_run_starts_leaves_no_directory() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = small_config();
    // The plug-in is awaited while the run starts: it sends the signal, and never answers.
    let reward = "exec:kill -TERM $PPID; cat > /dev/null";
    config["game"].as_table_mut().expect("a table").insert("reward".to_owned(), reward.into());
    let (path, out) = (write_config(dir.path(), &config), dir.path().join("runs/new"));
    let output = finished(veriplay().arg("play").arg("--config").arg(path).arg("--out").arg(&out));
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(!out.exists(), "{}", stderr(&output));
}

#[test]
fn a_run_that_cannot_start_leaves_no_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = veriplay();
    command.args(["play", "--model", "./nowhere", "--out", "runs/first"]).current_dir(dir.path());
    let output = finished(&mut command);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert!(!dir.path().join("runs/first").exists());
    // One that was there stays.
    std::fs::create_dir_all(dir.path().join("runs/first")).expect("it can be made");
    assert_eq!(finished(&mut command).status.code(), Some(5));
    assert!(dir.path().join("runs/first").exists());
}

#[test]
fn a_killed_run_resumes_to_the_same_bytes_and_replays() {
    // Before the first checkpoint, in the middle of a step after it, and right after a later one.
    let (dir, summary) = survives(&small_config(), &[1, 4, 3]);
    assert_eq!(summary["steps"], 5);
    assert!(
        summary["eval"]["before"]["mean"]["pass1"].is_number()
            && summary["eval"]["after"]["mean"]["greedy"].is_number()
            && summary["eval"]["after"]["intervals"]["mean"]["greedy"][1].is_number()
    );
    replay_notices_a_change(&dir.path().join("whole"));
}

#[test]
fn evaluations_in_a_run_are_on_the_validation_set_and_a_killed_run_ends_with_the_same_bytes() {
    let mut config = small_config();
    config.insert("steps".into(), 3.into());
    config["eval"].as_table_mut().expect("a table").insert("tasks_every".to_owned(), 2.into());
    // In the first step, and behind the checkpoint after the second, which was evaluated.
    let (dir, summary) = survives(&config, &[1, 3]);
    assert_eq!(summary["eval_set"], "held_out");
    let run = dir.path().join("whole");
    let events = std::fs::read_to_string(run.join("events.jsonl")).expect("the log can be read");
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let measured: Vec<bool> = events.iter().map(|event| event.get("validation").is_some()).collect();
    assert_eq!(measured, [false, true, false], "every second step");
    let mut eval = veriplay();
    eval.args(["eval", "--json", "--set", "validation", "--config"]).arg(dir.path().join("config.toml"));
    let table = last_json(&succeeded(eval.arg("--model").arg(run.join("checkpoints/step_2"))));
    let validation = &events[1]["validation"];
    assert_eq!((&validation["rows"], &validation["mean"]), (&table["rows"], &table["mean"]));
    assert_ne!(validation["rows"], summary["eval"]["before"]["rows"], "of other tasks");
}

#[test]
fn ctrl_c_and_sigterm_end_a_run_with_everything_saved() {
    ["-INT", "-TERM"].into_iter().for_each(assert_saves_at);
}

fn assert_saves_at(signal: &str) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = small_config();
    // So many that it cannot end by itself before the signal arrives.
    config.insert("steps".into(), 100_000.into());
    config.insert("checkpoint_every".into(), 100_000.into());
    let (config, run) = (write_config(dir.path(), &config), dir.path().join("run"));
    let mut play = veriplay();
    play.arg("play").arg("--config").arg(config).arg("--out").arg(&run);
    assert_eq!(interrupted(&mut play, signal, "step done"), Some(130));
    let saved: Vec<_> = std::fs::read_dir(run.join("checkpoints")).expect("it can be listed").collect();
    assert_eq!(saved.len(), 1, "{saved:?}");
}

#[test]
fn a_signal_during_the_first_evaluation_keeps_it_and_plays_no_step() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (config, run) = (write_config(dir.path(), &small_config()), dir.path().join("run"));
    let mut play = veriplay();
    play.arg("play").arg("--config").arg(config).arg("--out").arg(&run);
    assert_eq!(interrupted(&mut play, "-TERM", "evaluating the start model"), Some(130));
    let before = std::fs::read_to_string(run.join("before.json")).expect("the evaluation is kept");
    assert!(std::fs::metadata(run.join("events.jsonl")).is_ok_and(|events| events.len() == 0));
    let nothing = finished(veriplay().arg("replay").arg(&run));
    assert_eq!(nothing.status.code(), Some(3), "{}", stderr(&nothing));
    assert!(stderr(&nothing).contains("has no step: there is nothing to judge again"), "{}", stderr(&nothing));
    let summary = last_json(&succeeded(veriplay().args(["play", "--json", "--resume"]).arg(&run)));
    assert_eq!((&summary["steps"], &summary["resumed_at"]), (&5.into(), &0.into()));
    assert_eq!(std::fs::read_to_string(run.join("before.json")).expect("it is still there"), before);
}

#[test]
fn a_finished_run_can_be_made_longer_but_not_shorter() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (config, run) = (write_config(dir.path(), &small_config()), dir.path().join("run"));
    succeeded(veriplay().arg("play").arg("--config").arg(config).arg("--out").arg(&run).args(["--steps", "2"]));
    let resume =
        |steps: &str| finished(veriplay().arg("play").arg("--json").arg("--resume").arg(&run).args(["--steps", steps]));
    let shorter = resume("1");
    assert_eq!(shorter.status.code(), Some(3), "{}", stderr(&shorter));
    assert!(stderr(&shorter).contains("has a checkpoint of step 2"), "{}", stderr(&shorter));
    let longer = resume("3");
    assert!(longer.status.success(), "{}", stderr(&longer));
    let compared = succeeded(veriplay().arg("compare").args([&run, &run]));
    let note = "was a run of 2 steps up to step 2, and then one of 3";
    assert!(String::from_utf8_lossy(&compared.stdout).contains(note), "its schedules are those of two runs");
    let summary = last_json(&longer);
    assert_eq!((&summary["steps"], &summary["resumed_at"]), (&3.into(), &2.into()));
    let read = |name: &str| std::fs::read_to_string(run.join(name)).expect("the log can be read");
    assert_eq!(read("events.jsonl").lines().count(), 3);
    let timing = read("timing.jsonl");
    let of_line = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["jobs"].as_u64();
    let jobs: Option<u64> = timing.lines().map(of_line).sum();
    assert_eq!(summary["jobs"].as_u64(), jobs, "of the whole run: {timing}");
    assert!(summary["process"]["jobs"].is_u64(), "{summary}");
    let done = succeeded(veriplay().args(["play", "--resume"]).arg(&run));
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(said.contains("\n3 steps in ") && said.contains("\nthis process: no step, with evaluation in "), "{said}");
}

#[test]
fn a_run_whose_checkpoints_were_deleted_is_not_played_again_unnoticed() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (config, run) = (write_config(dir.path(), &small_config()), dir.path().join("run"));
    succeeded(veriplay().arg("play").arg("--config").arg(config).arg("--out").arg(&run));
    let (checkpoints, before) = (run.join("checkpoints"), bytes_of(&run));
    let resume = || finished(veriplay().arg("play").arg("--resume").arg(&run));
    for newest in ["step_5", "step_4"] {
        std::fs::remove_dir_all(checkpoints.join(newest)).expect("it was there");
    }
    let again = resume();
    assert!(again.status.success() && stderr(&again).contains("steps 3 to 5 are played again"), "{}", stderr(&again));
    assert!(bytes_of(&run) == before);
    std::fs::remove_dir_all(&checkpoints).expect("it was there");
    std::fs::create_dir(&checkpoints).expect("it can be made");
    let refused = resume();
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("has played 5 steps, and all its checkpoints are missing"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(std::fs::read(run.join("events.jsonl")).expect("the log can be read"), before["events.jsonl"]);
}

#[test]
fn older_checkpoints_go_when_a_newer_one_is_whole() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = small_config();
    for (key, value) in [("steps", 5), ("checkpoint_every", 2), ("checkpoints_kept", 2)] {
        config.insert(key.into(), value.into());
    }
    let (config, run) = (write_config(dir.path(), &config), dir.path().join("run"));
    let said = stderr(&succeeded(veriplay().arg("play").arg("--config").arg(&config).arg("--out").arg(&run)));
    let told = "removed the checkpoint of step 2: `checkpoints_kept` keeps the newest 2";
    assert_eq!((said.matches(told).count(), said.matches("`checkpoints_kept`").count()), (1, 1), "{said}");
    // What takes long before the first step is told at once.
    let started = "loading the model `builtin:tiny`\nmaking the held-out tasks of `absolute_zero`\n\
                   making the tasks that the run starts with\nrun directory: ";
    assert!(said.starts_with(started), "{said}");
    let saved = std::fs::read_dir(run.join("checkpoints")).expect("it can be listed");
    let names: BTreeSet<_> = saved.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names, ["step_4", "step_5"].map(Into::into).into());
    // A run stands for its newest checkpoint, and `-q` leaves stderr to errors.
    let table = |model: &Path| {
        let measured = succeeded(veriplay().args(["eval", "-q", "--json"]).arg(model).arg("--config").arg(&config));
        assert_eq!(stderr(&measured), "");
        let mut table = last_json(&measured);
        assert_eq!(table["eval_set"], "held_out");
        table.as_object_mut().expect("an object").remove("model");
        table
    };
    assert_eq!(table(&run), table(&run.join("checkpoints/step_5")));
    let none = finished(veriplay().args(["play", "--set", "checkpoints_kept=0", "--dry-run", "--config"]).arg(&config));
    assert_eq!(none.status.code(), Some(3));
    assert!(stderr(&none).contains("checkpoints_kept"), "{}", stderr(&none));
}

#[test]
fn two_processes_do_not_play_one_run() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (config, run) = (write_config(dir.path(), &small_config()), dir.path().join("run"));
    succeeded(veriplay().arg("play").arg("--config").arg(config).arg("--out").arg(&run).args(["--steps", "1"]));
    let held = std::fs::File::open(&run).expect("the run directory can be opened");
    held.try_lock().expect("nobody holds it");
    let output = finished(veriplay().arg("play").arg("--resume").arg(&run));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("another process is playing this run"), "{}", stderr(&output));
}

/// A log in which one verdict of many was changed.
fn replay_notices_a_change(run: &Path) {
    let log = run.join("rollouts.jsonl.zst");
    let text = zstd::decode_all(std::fs::File::open(&log).expect("the log opens")).expect("the log is zstd");
    let text = String::from_utf8(text).expect("the log is text");
    let forged = text.replacen("\"status\":\"wrong_answer\",\"passed\":0", "\"status\":\"accepted\",\"passed\":1", 1);
    assert_ne!(forged, text, "the log holds a wrong answer");
    std::fs::write(&log, zstd::encode_all(forged.as_bytes(), 3).expect("it compresses")).expect("the log is written");
    let output = finished(veriplay().arg("replay").arg(run).arg("--json"));
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    let report = last_json(&output);
    assert_eq!((&report["changed"], &report["other_status"]), (&1.into(), &1.into()), "{report}");
    assert!(report["verdicts"].as_u64().expect("a count") > 100, "{report}");
    // What the log says of a deadline excuses nothing.
    let replayed = |text: &str| {
        std::fs::write(&log, zstd::encode_all(text.as_bytes(), 3).expect("it compresses")).expect("the log is written");
        finished(veriplay().arg("replay").arg(run).arg("--json"))
    };
    let output = replayed(&text.replace("\"evidence\":{", "\"evidence\":{\"met_deadline\":true,"));
    let report = last_json(&output);
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    assert_eq!((&report["changed"], &report["deadline"]), (&report["verdicts"], &0.into()), "{report}");
    assert_eq!(report["other_status"], 0);
    // Lines taken out, doubled or of another version.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for altered in [
        lines[..2].iter().chain(&lines[3..]).copied().collect::<String>(),
        lines[..3].iter().chain(&lines[2..]).copied().collect(),
        text.replacen("\"schema_version\":1", "\"schema_version\":2", 1),
    ] {
        let output = replayed(&altered);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains("does not fit those before it"), "{}", stderr(&output));
    }
}
