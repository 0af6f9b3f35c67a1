//! trackio's inbox, as trackio reads it. `python/tests/test_trackio.py` has the real package read it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::commands::{events, fails, play, play_file, read, resume, small_with};
use super::verify::rows;
use super::{small_config, succeeded, write_config};

/// The files of the inbox below `home`, in the order in which trackio reads them.
fn fragments(home: &Path) -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
    };
    let mut files: Vec<PathBuf> = list(&home.join("inbox")).iter().flat_map(|writer| list(writer)).collect();
    files.sort();
    files
}

/// The records of the inbox. As trackio does, this removes what it has read, and the folders.
fn import(home: &Path) -> Vec<Value> {
    let records = fragments(home).iter().flat_map(|file| rows(&read(file))).collect();
    std::fs::remove_dir_all(home.join("inbox")).expect("the inbox is emptied");
    records
}

#[test]
fn a_run_writes_its_numbers_for_trackio() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (run, home) = (dir.path().join("a run"), dir.path().join("trackio"));
    let config = small_with("steps = 2\ncheckpoint_every = 1\ntrackio = \"my project\"");
    succeeded(play_file(&write_config(dir.path(), &config), &run).env("TRACKIO_DIR", &home));
    let files = fragments(&home);
    assert!(files.iter().all(|file| file.extension().is_some_and(|extension| extension == "jsonl")), "{files:?}");
    let records = import(&home);
    let events = events(&run);
    assert_eq!((records.len(), events.len()), (2, 2));
    let id = read(run.join("trackio-run-id"));
    for (step, (record, logged)) in records.iter().zip(events).enumerate() {
        for (key, value) in [("kind", "metric"), ("project", "my project"), ("run", "a run"), ("run_id", id.trim())] {
            assert_eq!(record[key], value, "{record}");
        }
        assert_eq!((record["step"].as_u64(), logged["step"].as_u64()), (Some(step as u64), Some(step as u64)));
        assert_eq!(record["log_id"], format!("{}-{step}", id.trim()));
        assert!(record["timestamp"].as_str().is_some_and(|time| time.ends_with("+00:00")), "{record}");
        let (metrics, solver) = (&record["metrics"], &logged["play"]["roles"][3]);
        let name = format!("play/roles/solver {}/solve_rate", solver["task_type"].as_str().expect("a type"));
        assert_eq!(metrics["actor/entropy"].as_f64(), logged["actor/entropy"].as_f64());
        assert_eq!(metrics[&name].as_f64(), solver["solve_rate"].as_f64());
        assert!(metrics["timing/play_s"].as_f64().is_some_and(|seconds| seconds > 0.0) && metrics["step"].is_null());
        assert!(metrics.as_object().expect("an object").values().all(Value::is_number), "{metrics}");
    }
    assert_eq!((&records[0]["config"]["steps"], &records[1]["config"]), (&Value::from(2), &Value::Null));

    // A resumed run is the same one to trackio, though its inbox is gone.
    succeeded(resume(&run).args(["--steps", "3"]).env("TRACKIO_DIR", &home));
    let resumed = import(&home);
    let ids: BTreeSet<String> =
        [&records[..], &resumed[..]].concat().iter().map(|one| one["log_id"].to_string()).collect();
    assert_eq!((resumed.len(), ids.len(), &resumed[0]["run_id"]), (1, 3, &records[0]["run_id"]));
    assert_eq!(resumed[0]["config"]["steps"], 3);
}

#[test]
fn a_project_has_a_name_and_its_inbox_a_place() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("file");
    std::fs::write(&file, "").expect("the file is written");
    for (project, said) in [("\"\"", "configuration key `trackio`"), ("project", "cannot make the folder `")] {
        let mut command = play(&small_config(), dir.path());
        let options = ["--steps", "1", "--set", &format!("trackio={project}")];
        fails(command.args(options).env("TRACKIO_DIR", &file), 3, &[said]);
    }
}
