//! How far the recording of a repository is: a bar on a terminal, else a line every so often.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use veriplay_verifier::repository::FileBaseline;

use crate::progress;

/// Between two lines where there is no terminal.
const EVERY: Duration = Duration::from_secs(15);

pub(super) struct Steps<'a> {
    what: &'a str,
    files: usize,
    bar: ProgressBar,
    is_terminal: bool,
    started: Instant,
    so_far: Mutex<SoFar>,
}

struct SoFar {
    files: usize,
    passed: usize,
    others: usize,
    said: Instant,
}

impl<'a> Steps<'a> {
    pub(super) fn new(what: &'a str, files: usize) -> Self {
        let (bar, started) = (progress::bar(files as u64, "test files"), Instant::now());
        let so_far = Mutex::new(SoFar { files: 0, passed: 0, others: 0, said: started });
        Self { what, files, bar, is_terminal: std::io::stderr().is_terminal(), started, so_far }
    }

    pub(super) fn done(&self, file: &FileBaseline) {
        // Counts are whole after every step: a panic elsewhere leaves nothing half-made.
        let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        so_far.files += 1;
        so_far.passed += file.passed.len();
        so_far.others += file.unsupported.len();
        let counts = format!("{}: {} tests pass, {} do not", self.what, so_far.passed, so_far.others);
        if !self.is_terminal && so_far.said.elapsed() >= EVERY {
            so_far.said = Instant::now();
            let seconds = self.started.elapsed().as_secs();
            progress::say(format!("{counts}; {} of {} test files, {seconds} s", so_far.files, self.files));
        }
        self.bar.set_position(so_far.files as u64);
        self.bar.set_message(counts);
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
