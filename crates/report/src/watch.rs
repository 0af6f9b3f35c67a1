//! `veriplay watch`: a run, or a folder of runs, as live pages in a browser on this machine.
//!
//! The pages are made here, of the parts that `veriplay report` has too, and `veriplay_server` serves them. A page asks every two seconds for
//! itself and replaces what changed; nothing is kept here that the files of the run do not say, so a run may grow, be resumed or be deleted.

mod filter;
mod rerun;
mod rollout_log;
mod runs;
mod views;

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};
use veriplay_console::exit::Failure;
use veriplay_console::isolation::Isolation;
use veriplay_server::{PageAnswer, PageRequest, Pages};

use crate::records::ResponseId;
use crate::templates::{CHARTS_SCRIPT, STYLE};
use filter::RolloutFilter;
use rerun::{Rerun, Reruns};
use rollout_log::RolloutLog;
use runs::{Run, RunFolder};
use views::Views;

const SCRIPT: &str = include_str!("watch/watch.js");

const HTML: &str = "text/html; charset=utf-8";

/// Everything that the pages are made of.
pub struct Watch {
    folder: RunFolder,
    views: Views,
    /// The logs of runs whose rollouts were looked at, by the run's name.
    logs: Mutex<HashMap<String, Arc<Mutex<RolloutLog>>>>,
    reruns: Reruns,
    /// Differs between two starts of the program: pages of an earlier one carry another token.
    token: String,
}

/// A page, or why there is none.
type Page = Result<String, Failure>;

impl Watch {
    /// Watches the run in `path`, or the runs in the folder `path`. Pages carry `token`.
    pub fn open(path: &Path, token: String, isolation: Isolation) -> Result<Self, Failure> {
        let folder = RunFolder::open(path)?;
        let views = Views::new(&folder, token.clone());
        Ok(Self { folder, views, logs: Mutex::default(), reruns: Reruns::new(isolation), token })
    }

    fn home(&self, request: &PageRequest) -> PageAnswer {
        if let Some(run) = self.folder.only_run() {
            return PageAnswer::At(run.address());
        }
        let runs = self.folder.runs();
        let files = runs.iter().flat_map(|run| run.files().into_iter().chain([run.folder().to_owned()]));
        self.page(request, &files.collect::<Vec<_>>(), |tag| self.views.list(tag, &runs))
    }

    fn compare(&self, request: &PageRequest) -> PageAnswer {
        let named = request.query.iter().filter(|(key, _)| key == "run");
        let Some(runs) = named.map(|(_, name)| self.folder.find(name)).collect::<Option<Vec<Run>>>() else {
            return self.missing("A run of this comparison is not there, or not any more.");
        };
        if runs.is_empty() {
            return PageAnswer::At("/".to_owned());
        }
        let files: Vec<_> = runs.iter().flat_map(Run::files).collect();
        self.page(request, &files, |tag| self.views.runs(tag, &runs))
    }

    fn rollouts(&self, request: &PageRequest, run: &Run) -> PageAnswer {
        let filter = RolloutFilter::from_query(&request.query);
        self.page(request, &run.files(), |tag| {
            let log = self.log(run);
            let mut log = lock(&log);
            log.refresh()?;
            self.views.rollouts(tag, run, &log, &filter)
        })
    }

    fn rollout(&self, request: &PageRequest, run: &Run, id: &str) -> PageAnswer {
        let Ok(id) = id.parse::<ResponseId>() else { return self.missing("There is no such rollout.") };
        let Some(tag) = self.tag(request, &run.files()) else { return PageAnswer::Unchanged };
        match self.read(run, id) {
            Ok(Some(line)) => self.document(self.views.rollout(&tag, run, id, &line), Some(tag)),
            Ok(None) => self.missing("This rollout is not in the log, or not any more."),
            Err(failure) => self.document(Err(failure), None),
        }
    }

    /// Judges the rollout again, in the sandbox. The answer is a part of a page.
    fn rerun(&self, run: &Run, id: &str) -> PageAnswer {
        let Ok(id) = id.parse::<ResponseId>() else { return self.missing("There is no such rollout.") };
        match self.read(run, id) {
            Ok(Some(line)) => match self.reruns.run(run.folder(), id, line) {
                Rerun::Busy => self.refused(409, "Another rollout is being judged; try again when it is done."),
                Rerun::Failed(failure) => self.document(Err(failure), None),
                Rerun::Judged(judged) => self.document(self.views.judged(&judged), None),
            },
            Ok(None) => self.missing("This rollout is not in the log any more."),
            Err(failure) => self.document(Err(failure), None),
        }
    }

    /// The line of the log that has this rollout, as the log is now.
    fn read(&self, run: &Run, id: ResponseId) -> Result<Option<String>, Failure> {
        let log = self.log(run);
        let mut log = lock(&log);
        log.refresh()?;
        log.read(id)
    }

    fn log(&self, run: &Run) -> Arc<Mutex<RolloutLog>> {
        let mut logs = lock(&self.logs);
        let new = || Arc::new(Mutex::new(RolloutLog::new(run.log())));
        Arc::clone(logs.entry(run.name().to_owned()).or_insert_with(new))
    }

    /// A page about `files`, which is made only where the browser has another state of it.
    fn page(&self, request: &PageRequest, files: &[PathBuf], make: impl FnOnce(&str) -> Page) -> PageAnswer {
        match self.tag(request, files) {
            None => PageAnswer::Unchanged,
            Some(tag) => self.document(make(&tag), Some(tag)),
        }
    }

    /// Names the state of the files as this page shows it; `None` where the browser has that page.
    fn tag(&self, request: &PageRequest, files: &[PathBuf]) -> Option<String> {
        let tag = stamp(&self.token, request, files);
        (request.known.as_ref() != Some(&tag)).then_some(tag)
    }

    fn document(&self, page: Page, tag: Option<String>) -> PageAnswer {
        match page {
            Ok(body) => PageAnswer::Document { status: 200, content_type: HTML, tag, body },
            Err(failure) => self.refused(500, &failure.to_string()),
        }
    }

    fn missing(&self, what: &str) -> PageAnswer {
        self.refused(404, what)
    }

    fn refused(&self, status: u16, what: &str) -> PageAnswer {
        let body = self.views.message(what).unwrap_or_else(|_| "This page cannot be made.".to_owned());
        PageAnswer::Document { status, content_type: HTML, tag: None, body }
    }
}

impl Pages for Watch {
    fn get(&self, request: &PageRequest) -> PageAnswer {
        let asset = |content_type, body: &str| PageAnswer::Document {
            status: 200,
            content_type,
            tag: None,
            body: body.to_owned(),
        };
        match request.path.split('/').collect::<Vec<_>>()[..] {
            [""] => self.home(request),
            ["style.css"] => asset("text/css; charset=utf-8", STYLE),
            ["watch.js"] => asset("text/javascript; charset=utf-8", SCRIPT),
            ["charts.js"] => asset("text/javascript; charset=utf-8", CHARTS_SCRIPT),
            ["compare"] => self.compare(request),
            ["runs", name, ref rest @ ..] => match (self.folder.find(name), rest) {
                (None, _) => self.missing(&format!("The run `{name}` is not there, or not any more.")),
                (Some(run), []) => {
                    self.page(request, &run.files(), |tag| self.views.runs(tag, std::slice::from_ref(&run)))
                }
                (Some(run), ["rollouts"]) => self.rollouts(request, &run),
                (Some(run), ["rollouts", id]) => self.rollout(request, &run, id),
                (Some(_), _) => self.missing("There is no such page."),
            },
            _ => self.missing("There is no such page."),
        }
    }

    fn post(&self, request: &PageRequest) -> PageAnswer {
        match request.path.split('/').collect::<Vec<_>>()[..] {
            ["runs", name, "rollouts", id, "rerun"] => match self.folder.find(name) {
                Some(run) => self.rerun(&run, id),
                None => self.missing(&format!("The run `{name}` is not there, or not any more.")),
            },
            _ => self.missing("There is no such page."),
        }
    }
}

/// A log is refreshed before it is used, so one that a panic left half read is read again.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names the page that `request` asks for, in the state that `files` are in: it changes when one of them does.
fn stamp(token: &str, request: &PageRequest, files: &[PathBuf]) -> String {
    let state = |file: &Metadata| (file.ino(), file.len(), file.mtime(), file.mtime_nsec());
    let states: Vec<_> = files.iter().map(|file| (file, std::fs::metadata(file).ok().as_ref().map(state))).collect();
    let digest = Sha256::digest(format!("{token} {:?} {:?} {states:?}", request.path, request.query));
    digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::stamp;
    use veriplay_server::PageRequest;

    #[test]
    fn it_changes_with_the_page_and_with_a_file() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let files = [dir.path().join("file")];
        let page = |path: &str| PageRequest { path: path.to_owned(), ..PageRequest::default() };
        let of = |path: &str| stamp("token", &page(path), &files);
        let missing = of("a");
        assert!(missing != of("b") && missing != stamp("other", &page("a"), &files) && missing == of("a"));
        std::fs::write(&files[0], "x").expect("a file");
        let written = of("a");
        assert_ne!(missing, written);
        std::fs::write(&files[0], "xy").expect("a file");
        assert_ne!(written, of("a"));
    }
}
