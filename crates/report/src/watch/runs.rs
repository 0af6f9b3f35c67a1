//! The runs that are watched: one, or all in a folder; their addresses, and what a list says of each.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use minijinja::{Value, context};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::json_file::{read_json, read_text};
use veriplay_run::config::default_game;
use veriplay_selfplay::eval_table::EvalTable;

/// A file without which a directory is no run.
const CONFIG: &str = "config.toml";
/// What pages about a run are made of.
const FILES: [&str; 7] =
    [CONFIG, "before.json", "after.json", "events.jsonl", "timing.jsonl", "rollouts.jsonl.zst", "suites"];

/// The end of `events.jsonl` that is read: longer than any line.
const END_BYTES: u64 = 1 << 20;
/// All but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub(crate) enum RunFolder {
    One(Run),
    Many(PathBuf),
}

/// A run by its name in addresses. It may be deleted at any moment.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    name: String,
    folder: PathBuf,
}

impl RunFolder {
    /// `path` is a run, or a folder in which runs are or will be.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if path.join(CONFIG).is_file() {
            // A path such as `.` has no name of its own.
            let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let name = whole.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned());
            return Ok(Self::One(Run { name, folder: path.to_owned() }));
        }
        if path.is_dir() {
            return Ok(Self::Many(path.to_owned()));
        }
        let what = format!("`{}` is neither a run nor a folder of runs", path.display());
        Err(Failure::message(ExitCode::Input, what).hint("start a run with `veriplay play --out DIR`"))
    }

    pub(crate) fn only_run(&self) -> Option<&Run> {
        match self {
            Self::One(run) => Some(run),
            Self::Many(_) => None,
        }
    }

    /// The runs that are there now, by name.
    pub(crate) fn runs(&self) -> Vec<Run> {
        match self {
            Self::One(run) => Some(run).filter(|run| run.exists()).cloned().into_iter().collect(),
            Self::Many(folder) => {
                let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
                // A name that is no text has no address.
                let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
                let all = names.map(|name| Run { folder: folder.join(&name), name });
                let mut runs: Vec<Run> = all.filter(Run::exists).collect();
                runs.sort_by(|one, other| one.name.cmp(&other.name));
                runs
            }
        }
    }

    /// The run of that name, if it is there. Only names that a listing gives are: no address leads out of the folder.
    pub(crate) fn find(&self, name: &str) -> Option<Run> {
        self.runs().into_iter().find(|run| run.name == name)
    }
}

impl Run {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("rollouts.jsonl.zst")
    }

    /// The files that its pages are made of, there or not.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        FILES.iter().map(|name| self.folder.join(name)).collect()
    }

    fn exists(&self) -> bool {
        self.folder.join(CONFIG).is_file()
    }

    pub(crate) fn address(&self) -> String {
        format!("/runs/{}", percent_encode(&self.name))
    }

    /// What the templates show of it, read from the ends of its files, so that a list of long runs is quick. What cannot be read is left out.
    pub(crate) fn summary(&self) -> Value {
        let config: toml::Table =
            read_text(&self.folder.join("config.toml")).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
        let event = last_line(&self.folder.join("events.jsonl"));
        let event = event.and_then(|line| serde_json::from_str::<serde_json::Value>(&line).ok()).unwrap_or_default();
        let pass1 = |name: &str| {
            let table = read_json::<EvalTable>(&self.folder.join(name)).ok()?;
            Some(format!("{:.1}", 100.0 * table.mean.pass1))
        };
        let after = pass1("after.json");
        context!(
            name => self.name(),
            path => self.address(),
            game => config.get("plays").and_then(toml::Value::as_str).map_or_else(default_game, str::to_owned),
            steps => config.get("steps").and_then(toml::Value::as_integer),
            done => event["step"].as_u64().map_or(0, |step| step + 1),
            finished => after.is_some(),
            before => pass1("before.json"),
            after,
        )
    }
}

/// A text as one segment of a path, or as a key or value of a query.
pub(crate) fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

fn last_line(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let bytes = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(END_BYTES))).ok()?;
    let mut end = Vec::new();
    file.take(END_BYTES).read_to_end(&mut end).ok()?;
    let end = String::from_utf8_lossy(&end);
    let (whole, _) = end.rsplit_once('\n')?;
    whole.rsplit('\n').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Run, RunFolder, last_line, percent_encode};

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for name in ["secret", "runs/b", "runs/a", "runs/no-run"] {
            fs::create_dir_all(dir.path().join(name)).expect("a folder");
        }
        for run in ["secret", "runs/b", "runs/a"] {
            fs::write(dir.path().join(run).join("config.toml"), "").expect("a file");
        }
        let folder = RunFolder::open(&dir.path().join("runs")).expect("a folder of runs");
        assert_eq!(folder.runs().iter().map(Run::name).collect::<Vec<_>>(), ["a", "b"]);
        for wrong in ["../secret", "..", ".", "", "no-run", "a/", "/a"] {
            assert!(folder.find(wrong).is_none(), "{wrong}");
        }
        assert!(folder.find("b").is_some());
        fs::remove_dir_all(dir.path().join("runs/b")).expect("it can be removed");
        assert!(folder.find("b").is_none());
        assert!(RunFolder::open(&dir.path().join("nowhere")).is_err());
    }

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(percent_encode("run-1_a.b~"), "run-1_a.b~");
        assert_eq!(percent_encode("a b/?&=\"<é"), "a%20b%2F%3F%26%3D%22%3C%C3%A9");
    }

    #[test]
    fn the_last_line_is_whole() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        let of = |text: &str| {
            fs::write(&path, text).expect("a file");
            last_line(&path)
        };
        assert_eq!(of("a\nb\nhalf"), Some("b".to_owned()));
        assert_eq!(of("a\n"), Some("a".to_owned()));
        assert_eq!(of("half"), None);
        assert_eq!(last_line(&dir.path().join("missing")), None);
    }
}
