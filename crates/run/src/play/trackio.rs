//! trackio's inbox: the numbers of each step as a file that trackio imports, with the names that they have in `events.jsonl`.
//!
//! trackio reads and removes every `.jsonl` file in the folders of its inbox. It ignores a record whose `log_id` it has, so the steps that a
//! resumed run plays again count once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use chrono::Utc;
use serde::Serialize;
use serde_json::{Map, Value};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::{read_text, write_atomically};
use veriplay_console::progress;

/// The file of a run that holds its id in trackio.
const RUN_ID: &str = "trackio-run-id";
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
    config: Option<&'a Map<String, Value>>,
    log_id: String,
}

/// The folder of one run in the inbox.
pub(crate) struct TrackioInbox {
    folder: PathBuf,
    project: String,
    run: String,
    run_id: String,
    /// The configuration, which goes with the first record that this process writes.
    config: Option<Map<String, Value>>,
    /// Whether it was said that a record could not be written.
    has_warned: bool,
}

impl TrackioInbox {
    /// Opens the inbox for the run in `dir`, which trackio shows in `project`.
    pub(crate) fn open(project: &str, dir: &Path, config: Map<String, Value>) -> Result<Self, Failure> {
        let home = trackio_home(|name| std::env::var_os(name)).ok_or_else(|| {
            let what = "`trackio` is set, and none of TRACKIO_DIR, HF_HOME, XDG_CACHE_HOME and HOME is";
            Failure::message(ExitCode::Input, what).hint("set TRACKIO_DIR to the folder of trackio")
        })?;
        Self::open_in(&home, project, dir, config)
    }

    fn open_in(home: &Path, project: &str, dir: &Path, config: Map<String, Value>) -> Result<Self, Failure> {
        let whole = dir.canonicalize().with_context(|| format!("cannot open `{}`", dir.display()));
        let whole = whole.or_fail(ExitCode::Input)?;
        let run = whole.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned());
        let run_id = run_id(&whole.join(RUN_ID))?;
        let folder = home.join("inbox").join(&run_id);
        // Fails before the first step where the inbox cannot be written.
        make_folder(&folder).or_fail(ExitCode::Input)?;
        Ok(Self { folder, project: project.to_owned(), run, run_id, config: Some(config), has_warned: false })
    }

    /// Adds the numbers of a step. The run directory has them too, so a failure does not end the run; the first one is said.
    pub(crate) fn append(&mut self, step: u64, numbers: &[(String, f64)]) {
        match self.try_append(step, numbers) {
            Ok(()) => self.config = None,
            Err(error) if !self.has_warned => {
                self.has_warned = true;
                progress::say(format!("warning: trackio does not get the numbers of all steps: {error:#}"));
            }
            Err(_) => {}
        }
    }

    fn try_append(&self, step: u64, numbers: &[(String, f64)]) -> anyhow::Result<()> {
        let record = Record {
            v: VERSION,
            kind: "metric",
            project: &self.project,
            run: &self.run,
            run_id: &self.run_id,
            metrics: numbers.iter().map(|(name, number)| (name.as_str(), *number)).collect(),
            step,
            timestamp: Utc::now().to_rfc3339(),
            config: self.config.as_ref(),
            log_id: format!("{}-{step}", self.run_id),
        };
        let mut line = serde_json::to_vec(&record)?;
        line.push(b'\n');
        let path = self.folder.join(format!("{step:08}.jsonl"));
        let try_once = || make_folder(&self.folder).and_then(|()| write_atomically(&path, &line));
        (1..TRIES).fold(try_once(), |written, _| written.or_else(|_| try_once()))
    }
}

fn make_folder(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{}`", folder.display()))
}

/// The folder that trackio uses itself, by the variables of the environment. It takes TRACKIO_DIR as it is; of the others, huggingface_hub
/// expands a `~`.
fn trackio_home(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let hub = || {
        let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        let hub = set("HF_HOME").or_else(|| Some(cache?.join("huggingface")))?;
        let expanded = hub.strip_prefix("~").ok().zip(set("HOME")).map(|(below, home)| home.join(below));
        Some(expanded.unwrap_or(hub))
    };
    set("TRACKIO_DIR").or_else(|| Some(hub()?.join("trackio")))
}

/// The id of the run, drawn when it first writes for trackio: a run that takes the place of a deleted one is another run.
fn run_id(path: &Path) -> Result<String, Failure> {
    let found = if path.exists() { read_text(path)?.trim().to_owned() } else { String::new() };
    if !found.is_empty() {
        return Ok(found);
    }
    let id = format!("{:032x}", rand::random::<u128>());
    write_atomically(path, format!("{id}\n").as_bytes()).or_fail(ExitCode::Input)?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use serde_json::{Map, Value};

    use super::{RUN_ID, TrackioInbox, trackio_home};

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
        for (name, place) in [("HF_HOME", "/h/x/trackio"), ("XDG_CACHE_HOME", "/h/x/huggingface/trackio")] {
            assert_eq!(home(&[(name, "~/x"), ("HOME", "/h")]), Some(PathBuf::from(place)));
        }
        assert_eq!(home(&[("TRACKIO_DIR", "~/x"), ("HOME", "/h")]), Some(PathBuf::from("~/x")));
    }

    #[test]
    fn a_record_that_cannot_be_written_ends_nothing_and_the_next_has_the_configuration() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        // An id that is empty is none.
        std::fs::write(dir.path().join(RUN_ID), " \n").expect("the file is written");
        let config = Map::from_iter([("steps".to_owned(), Value::from(3))]);
        let mut inbox = TrackioInbox::open_in(dir.path(), "project", dir.path(), config).expect("it opens");
        assert_eq!(inbox.run_id.len(), 32);
        let folders = dir.path().join("inbox");
        std::fs::remove_dir_all(&folders).expect("the folders are removed");
        std::fs::write(&folders, "in the way").expect("the file is written");
        inbox.append(0, &[("a".to_owned(), 1.0)]);
        assert!(inbox.has_warned);
        std::fs::remove_file(&folders).expect("the file is removed");
        inbox.append(1, &[("a".to_owned(), 2.0)]);
        let record = std::fs::read_to_string(inbox.folder.join("00000001.jsonl")).expect("it is written");
        assert!(record.contains("\"config\":{\"steps\":3}"), "{record}");
        assert!(inbox.config.is_none());
    }
}
