//! Nothing is lost: a run that is killed resumes and ends with the same bytes, and its verdicts can be made again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::commands::{ended, events, fails, pid, play, play_file, read, read_log, resume, small_with, write_log};
use super::verify::rows;
use super::{finished, last_json, root, says, small_config, stderr, stdout, succeeded, veriplay, write_config};

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
    assert_same_but(&[], one, two);
}

/// Fails unless two runs differ in these files and in no other one.
pub(crate) fn assert_same_but(other: &[&str], one: &Path, two: &Path) {
    let (one, two) = (bytes_of(one), bytes_of(two));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    let differing: Vec<&String> = one.keys().filter(|name| one[*name] != two[*name]).collect();
    assert_eq!(differing, other);
}

/// Objects of a run directory whose keys are data, such as names of tools.
const MAPS: [&str; 11] = [
    "ends", "gradient_norms", "injections", "mutants", "numbers", "pass_at_k", "pass_at_k_interval", "refused",
    "statuses", "tasks", "tools",
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
            reports.push(String::from_utf8(bytes).expect("a report is text"));
        }
        if !page.contains(&file) {
            missing.insert(file);
        }
    }
    let logs = ["before.json", "after.json", "events.jsonl", "timing.jsonl"].map(|name| read(run.join(name)));
    for text in logs.into_iter().chain([read_log(run)]).chain(reports) {
        for record in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
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

/// Keys of a run that cannot end by itself before a signal arrives.
pub(crate) const ENDLESS: &str = "steps = 100_000\ncheckpoint_every = 100_000";

/// Runs a command and ends it by `kill` after so many lines of its log that hold one of `events`; gives its exit code.
pub(crate) fn interrupted(
    command: &mut Command,
    events: &[&str],
    count: usize,
    kill: impl Fn(Pid) -> rustix::io::Result<()>,
) -> Option<i32> {
    let mut child = command.env("VERIPLAY_LOG", "veriplay=info").stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines().map_while(Result::ok);
    let is_event = |line: &String| events.iter().any(|event| line.contains(event));
    assert_eq!(lines.by_ref().filter(is_event).take(count).count(), count, "it ended before {events:?}");
    kill(pid(&child)).expect("it runs");
    lines.for_each(drop);
    child.wait().expect("it ended").code()
}

/// Plays a run whole, and another that is killed after so many events, and again after it was resumed: both end with the same bytes, and
/// every verdict comes out the same again. Gives the folder of the first, in which it is `whole`, and its summary.
pub(crate) fn survives(config: &toml::Table, kills: &[usize]) -> (TempDir, Value) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = write_config(dir.path(), config);
    let (whole, broken) = (dir.path().join("whole"), dir.path().join("broken"));
    let summary = last_json(&succeeded(play_file(&config, &whole).arg("--json")));
    assert_eq!(summary["dropped"], 0, "{summary}");
    assert!(summary["eval"]["after"].is_object(), "{summary}");
    for (place, events) in kills.iter().enumerate() {
        let mut command = if place == 0 { play_file(&config, &broken) } else { resume(&broken) };
        // A kill, not a request: nothing gets to clean up.
        interrupted(&mut command, &["step done", "written"], *events, |run| kill_process(run, Signal::KILL));
    }
    succeeded(&mut resume(&broken));
    assert_same(&whole, &broken);
    assert_documented(&whole, summary.clone());
    assert_replays(&whole);
    (dir, summary)
}

/// Fails unless every verdict of a run comes out the same again.
pub(crate) fn assert_replays(run: &Path) {
    let report = last_json(&succeeded(veriplay().current_dir(root()).arg("replay").arg(run).arg("--json")));
    assert!(report["verdicts"].as_u64().expect("a count") > 0, "{report}");
    assert_eq!((&report["verdicts"], &report["changed"]), (&report["same"], &0.into()));
}

#[test]
fn a_signal_before_the_run_starts_leaves_no_directory() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    // The plug-in is awaited while the run starts: it sends the signal, and never answers.
    let config = small_with("[game]\nreward = \"exec:kill -TERM $PPID; cat > /dev/null\"");
    let out = dir.path().join("runs/new");
    fails(&mut play_file(&write_config(dir.path(), &config), &out), 130, &[]);
    assert!(!out.exists());
}

#[test]
fn a_run_that_cannot_start_leaves_no_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = veriplay();
    command.args(["play", "--model", "./nowhere", "--out", "runs/first"]).current_dir(dir.path());
    fails(&mut command, 5, &[]);
    assert!(!dir.path().join("runs/first").exists());
    // One that was there stays.
    std::fs::create_dir_all(dir.path().join("runs/first")).expect("it can be made");
    fails(&mut command, 5, &[]);
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
            && summary["eval"]["difference"]["mean"]["pass1"]["interval"][1].is_number()
    );
    replay_notices_a_change(&dir.path().join("whole"));
}

#[test]
fn evaluations_in_a_run_are_on_the_validation_set_and_a_killed_run_ends_with_the_same_bytes() {
    let config = small_with("steps = 3\n[eval]\ntasks_every = 2");
    // In the first step, and behind the checkpoint after the second, which was evaluated.
    let (dir, summary) = survives(&config, &[1, 3]);
    assert_eq!(summary["eval_set"], "held_out");
    let run = dir.path().join("whole");
    let events = events(&run);
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
fn steps_are_sampled_ahead_and_a_killed_run_ends_with_the_same_bytes() {
    let config = small_with(
        "steps = 6\ncheckpoint_every = 5\nsteps_ahead = 1\n[eval]\ntasks_every = 3\n[learn.loss]\nkind = \"cispo\"",
    );
    // While the second step is sampled beside the first one's update, and while the fifth is beside the fourth's.
    let (dir, _) = survives(&config, &[1, 5]);
    let number = |event: &Value, key: &str| event[key].as_u64().unwrap_or_else(|| panic!("no `{key}` in {event}"));
    let events = events(&dir.path().join("whole"));
    let lags: Vec<u64> = events.iter().map(|event| number(event, "rollout/lag")).collect();
    // Checkpoints precede the steps that are evaluated behind, the third and the sixth.
    assert_eq!(lags, [0, 1, 0, 1, 1, 0]);
    let timing = rows(&read(dir.path().join("whole/timing.jsonl")));
    for (step, (event, timing)) in (0..).zip(events.iter().zip(timing)) {
        assert_eq!(number(event, "rollout/policy_version") + number(event, "rollout/lag"), step, "{event}");
        assert_eq!(timing["sampled_s"].is_number(), number(event, "rollout/lag") == 1, "{timing}");
        assert!(number(&timing, "jobs") > 0, "a step has its own jobs: {timing}");
    }
}

#[test]
fn ctrl_c_and_sigterm_end_a_run_with_everything_saved() {
    for signal in [Signal::INT, Signal::TERM] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut play = play(&small_with(ENDLESS), dir.path());
        assert_eq!(interrupted(&mut play, &["step done"], 1, |run| kill_process(run, signal)), Some(130));
        let saved: Vec<_> = std::fs::read_dir(dir.path().join("run/checkpoints")).expect("a list").collect();
        assert_eq!(saved.len(), 1, "{saved:?}");
    }
}

#[test]
fn a_signal_during_the_first_evaluation_keeps_it_and_plays_no_step() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = dir.path().join("run");
    let mut play = play(&small_config(), dir.path());
    let code = interrupted(&mut play, &["evaluating the start model"], 1, |run| kill_process(run, Signal::TERM));
    assert_eq!(code, Some(130));
    let before = read(run.join("before.json"));
    assert_eq!(read(run.join("events.jsonl")), "");
    fails(veriplay().arg("replay").arg(&run), 3, &["has no step: there is nothing to judge again"]);
    let summary = last_json(&succeeded(resume(&run).arg("--json")));
    assert_eq!((&summary["steps"], &summary["resumed_at"]), (&5.into(), &0.into()));
    assert_eq!(read(run.join("before.json")), before);
}

#[test]
fn a_finished_run_can_be_made_longer_but_not_shorter() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = dir.path().join("run");
    succeeded(play(&small_config(), dir.path()).args(["--steps", "2"]));
    fails(resume(&run).args(["--steps", "1"]), 3, &["has a checkpoint of step 2"]);
    let summary = last_json(&succeeded(resume(&run).args(["--json", "--steps", "3"])));
    let compared = succeeded(veriplay().arg("compare").args([&run, &run]));
    let note = "was a run of 2 steps up to step 2, and then one of 3";
    assert!(stdout(&compared).contains(note), "its schedules are those of two runs");
    assert_eq!((&summary["steps"], &summary["resumed_at"]), (&3.into(), &2.into()));
    assert_eq!(events(&run).len(), 3);
    let timing = rows(&read(run.join("timing.jsonl")));
    let jobs: Option<u64> = timing.iter().map(|step| step["jobs"].as_u64()).sum();
    assert_eq!(summary["jobs"].as_u64(), jobs, "of the whole run: {timing:?}");
    assert!(summary["process"]["jobs"].is_u64(), "{summary}");
    let said = stdout(&succeeded(&mut resume(&run)));
    says(&said, &["\n3 steps in ", "\nthis process: no step, with evaluation in "]);
}

#[test]
fn a_run_whose_checkpoints_were_deleted_is_not_played_again_unnoticed() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = dir.path().join("run");
    succeeded(&mut play(&small_config(), dir.path()));
    let (checkpoints, before) = (run.join("checkpoints"), bytes_of(&run));
    for newest in ["step_5", "step_4"] {
        std::fs::remove_dir_all(checkpoints.join(newest)).expect("it was there");
    }
    fails(&mut resume(&run), 0, &["steps 3 to 5 are played again"]);
    assert!(bytes_of(&run) == before);
    std::fs::remove_dir_all(&checkpoints).expect("it was there");
    std::fs::create_dir(&checkpoints).expect("it can be made");
    fails(&mut resume(&run), 3, &["has played 5 steps, and all its checkpoints are missing"]);
    assert_eq!(read(run.join("events.jsonl")).as_bytes(), before["events.jsonl"]);
}

#[test]
fn older_checkpoints_go_when_a_newer_one_is_whole() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = small_with("steps = 5\ncheckpoint_every = 2\ncheckpoints_kept = 2");
    let (config, run) = (write_config(dir.path(), &config), dir.path().join("run"));
    let said = stderr(&succeeded(&mut play_file(&config, &run)));
    let told = "removed the checkpoint of step 2: `checkpoints_kept` keeps the newest 2";
    assert_eq!((said.matches(told).count(), said.matches("`checkpoints_kept`").count()), (1, 1), "{said}");
    // What takes long before the first step is told at once.
    let started = "loading the model `builtin:tiny`\nmaking the held-out tasks of `absolute_zero`\n\
                   opening the image `python`\nmaking the tasks that the run starts with\n\
                   sampling the start model for supervised examples\nrun directory: ";
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
    let none = ["play", "--set", "checkpoints_kept=0", "--dry-run", "--config"];
    fails(veriplay().args(none).arg(&config), 3, &["checkpoints_kept"]);
}

#[test]
fn two_processes_do_not_play_one_run() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    succeeded(play(&small_config(), dir.path()).args(["--steps", "1"]));
    let run = dir.path().join("run");
    let held = std::fs::File::open(&run).expect("the run directory can be opened");
    held.try_lock().expect("nobody holds it");
    fails(&mut resume(&run), 3, &["another process is playing this run"]);
}

/// A log in which one verdict of many was changed.
fn replay_notices_a_change(run: &Path) {
    let text = read_log(run);
    let replayed = |text: &str, code: i32, wanted: &[&str]| {
        write_log(run, text);
        let output = finished(veriplay().arg("replay").arg(run).arg("--json"));
        ended(&output, code, wanted);
        output
    };
    let forged = text.replacen("\"status\":\"wrong_answer\",\"passed\":0", "\"status\":\"accepted\",\"passed\":1", 1);
    assert_ne!(forged, text, "the log holds a wrong answer");
    let report = last_json(&replayed(&forged, 6, &[]));
    assert_eq!((&report["changed"], &report["other_status"]), (&1.into(), &1.into()), "{report}");
    assert!(report["verdicts"].as_u64().expect("a count") > 100, "{report}");
    // What the log says of a deadline excuses nothing.
    let excused = text.replace("\"evidence\":{", "\"evidence\":{\"met_deadline\":true,");
    let report = last_json(&replayed(&excused, 6, &[]));
    assert_eq!((&report["changed"], &report["deadline"]), (&report["verdicts"], &0.into()), "{report}");
    assert_eq!(report["other_status"], 0);
    // Lines taken out, doubled or of another version.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for altered in [
        lines[..2].iter().chain(&lines[3..]).copied().collect::<String>(),
        lines[..3].iter().chain(&lines[2..]).copied().collect(),
        text.replacen("\"schema_version\":1", "\"schema_version\":2", 1),
    ] {
        replayed(&altered, 3, &["does not fit those before it"]);
    }
}
