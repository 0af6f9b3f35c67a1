//! The JSON files of a repository on disk: `layer.json` (the layer of its files), `dependencies.json` (that of its dependencies),
//! `baseline.json`, `history.json` (past changes, where they were asked for), `map.json`, and `timing.json`, the one file that differs
//! from run to run.

use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde::de::DeserializeOwned;
use veriplay_core::Layer;
use veriplay_verifier::bugs::{History, PastChange};

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::{read_json, write_pretty_json};

const HISTORY: &str = "history.json";

pub(super) fn read_record<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    read_json(path).map_err(|failure| failure.hint("`veriplay corpus add-repo` writes it"))
}

pub(super) fn write_record(path: &Path, record: &impl Serialize) -> Result<(), Failure> {
    write_pretty_json(path, record).or_fail(ExitCode::Input)
}

/// Writes the record of past changes. `None` removes that of an earlier run, which may be of other files.
pub fn write_history(directory: &Path, history: Option<&History>) -> Result<(), Failure> {
    let path = directory.join(HISTORY);
    match history {
        Some(history) => {
            std::fs::create_dir_all(directory)
                .with_context(|| format!("cannot make `{}`", directory.display()))
                .or_fail(ExitCode::Input)?;
            write_record(&path, history)
        }
        None if path.is_file() => std::fs::remove_file(path)
            .with_context(|| format!("cannot remove `{HISTORY}` in `{}`", directory.display()))
            .or_fail(ExitCode::Input),
        None => Ok(()),
    }
}

/// Reads the past changes of a repository of these files; none where there is no record.
pub(super) fn read_history(directory: &Path, package: &Layer) -> Result<Vec<PastChange>, Failure> {
    let path = directory.join(HISTORY);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let history: History = read_record(&path)?;
    if history.package != *package.digest() {
        let text = format!("`{}` contains a history of other files", directory.display());
        return Err(Failure::message(ExitCode::Input, text).hint("create it again with `veriplay corpus add-repo`"));
    }
    Ok(history.changes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use veriplay_verifier::repository::FileBaseline;

    use super::{read_record, write_record};

    #[test]
    fn a_baseline_with_more_fuel_than_a_job_may_have_is_refused_by_its_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("baseline.json");
        let read = |fuel: u64| {
            let record = json!({"path": "tests/test_a.py", "passed": [], "unsupported": [], "fuel": fuel});
            write_record(&path, &record).expect("it is written");
            read_record::<FileBaseline>(&path).map(|file| file.fuel)
        };
        assert_eq!(read(1 << 53).expect("it is in range"), 1 << 53);
        let failure = read((1 << 53) + 1).expect_err("it is out of range").to_string();
        let parts =
            ["baseline.json`", "fuel is `9007199254740993`", "at most 9007199254740992 (2^53)", "add-repo` writes it"];
        for part in parts {
            assert!(failure.contains(part), "{failure}");
        }
    }
}
