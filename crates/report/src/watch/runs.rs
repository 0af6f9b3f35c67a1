//! The runs that are watched: one, or all in a folder.

use std::path::{Path, PathBuf};

use veriplay_console::exit::{ExitCode, Failure};

/// A file without which a directory is no run.
const CONFIG: &str = "config.toml";
/// What pages about a run are made of.
const FILES: [&str; 7] =
    [CONFIG, "before.json", "after.json", "events.jsonl", "timing.jsonl", "rollouts.jsonl.zst", "suites"];

/// Where runs are looked for.
pub(crate) enum RunFolder {
    /// One run.
    One(Run),
    /// Every run in a folder.
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

    /// The name of the run where it is the only one.
    pub(crate) fn only_run(&self) -> Option<&str> {
        match self {
            Self::One(run) => Some(&run.name),
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

    /// The log of its rollouts.
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
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Run, RunFolder};

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
}
