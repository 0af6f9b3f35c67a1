//! trackio's inbox: the numbers of each step as a file that trackio imports, with the names that they have in `events.jsonl`.
//!
//! trackio reads and removes every `.jsonl` file in the folders of its inbox. It ignores a record whose `log_id` it has, so the steps that a
//! resumed run plays again count once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use chrono::Utc;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::exit::{ExitCode, Failure, ResultExt};
use crate::json_file::{read_text, write_atomically, write_new_file};

/// The file of a run that holds its id in trackio.
const RUN_ID: &str = "trackio-run-id";
/// Version of the records.
const VERSION: u32 = 1;
/// trackio removes a folder that it has emptied, at any time: how often a record is tried.
const TRIES: usize = 3;

/// One line of a file in the inbox.
#[derive(Serialize)]
struct Record<'a> {
    v: u32,
    kind: &'static str,
    project: &'a str,
    run: &'a str,
    run_id: &'a str,
    metrics: BTreeMap<&'a str, f64>,
    step: u64,
    timestamp: String,
    config: Option<Map<String, Value>>,
    log_id: String,
}

/// The folder of one run in the inbox.
pub(crate) struct TrackioInbox {
    folder: PathBuf,
    project: String,
    run: String,
    run_id: String,
    /// The configuration, which goes with the first record of this process.
    config: Option<Map<String, Value>>,
}

impl TrackioInbox {
    /// Opens the inbox for the run in `dir`, which trackio shows in `project`.
    pub(crate) fn open(project: &str, dir: &Path, config: Map<String, Value>) -> Result<Self, Failure> {
        let home = trackio_home(|name| std::env::var_os(name)).ok_or_else(|| {
            let what = "`trackio` is set, and none of TRACKIO_DIR, HF_HOME, XDG_CACHE_HOME and HOME is";
            Failure::message(ExitCode::Input, what).hint("set TRACKIO_DIR to the folder of trackio")
        })?;
        let whole = dir.canonicalize().with_context(|| format!("cannot open `{}`", dir.display()));
        let whole = whole.or_fail(ExitCode::Input)?;
        let run = whole.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned());
        let run_id = run_id(&whole.join(RUN_ID))?;
        let folder = home.join("inbox").join(&run_id);
        // Fails before the first step where the inbox cannot be written.
        make_folder(&folder).or_fail(ExitCode::Input)?;
        Ok(Self { folder, project: project.to_owned(), run, run_id, config: Some(config) })
    }

    /// Adds the numbers of a step.
    pub(crate) fn append(&mut self, step: u64, numbers: &[(String, f64)]) -> anyhow::Result<()> {
        let record = Record {
            v: VERSION,
            kind: "metric",
            project: &self.project,
            run: &self.run,
            run_id: &self.run_id,
            metrics: numbers.iter().map(|(name, number)| (name.as_str(), *number)).collect(),
            step,
            timestamp: Utc::now().to_rfc3339(),
            config: self.config.take(),
            log_id: format!("{}-{step}", self.run_id),
        };
        let mut line = serde_json::to_vec(&record)?;
        line.push(b'\n');
        self.write(&self.folder.join(format!("{step:08}.jsonl")), &line)
    }

    fn write(&self, path: &Path, line: &[u8]) -> anyhow::Result<()> {
        let try_once = || {
            make_folder(&self.folder)?;
            write_atomically(path, line)
        };
        let mut written = try_once();
        for _ in 1..TRIES {
            if written.is_ok() {
                break;
            }
            written = try_once();
        }
        written
    }
}

fn make_folder(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{}`", folder.display()))
}

/// The folder that trackio uses itself, by the variables of the environment.
fn trackio_home(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let hub = || {
        let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        set("HF_HOME").or_else(|| Some(cache?.join("huggingface")))
    };
    set("TRACKIO_DIR").or_else(|| Some(hub()?.join("trackio")))
}

/// The id of the run, drawn when it first writes for trackio: a run that takes the place of a deleted one is another run.
fn run_id(path: &Path) -> Result<String, Failure> {
    if path.exists() {
        return Ok(read_text(path)?.trim().to_owned());
    }
    let bytes: [u8; 16] = rand::random();
    let id = bytes.iter().fold(String::new(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    });
    write_new_file(path, &format!("{id}\n"))?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use super::trackio_home;

    #[test]
    fn the_inbox_is_where_trackio_looks() {
        let home = |set: &[(&str, &str)]| {
            let found = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
            trackio_home(found)
        };
        let all = [("TRACKIO_DIR", "/t"), ("HF_HOME", "/hf"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h")];
        let places = ["/t", "/hf/trackio", "/x/huggingface/trackio", "/h/.cache/huggingface/trackio"];
        for (first, place) in places.iter().enumerate() {
            assert_eq!(home(&all[first..]), Some(PathBuf::from(place)));
        }
        assert_eq!(home(&[("TRACKIO_DIR", ""), ("HF_HOME", "/hf")]), Some(PathBuf::from("/hf/trackio")));
        assert_eq!(home(&[]), None);
    }
}
