//! An executor that remembers what it ran, to show it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use veriplay_core::{Digest, Execute, ExecuteError, Job, Outcome};

/// Jobs that are remembered: as many as a page shows.
const MOST: usize = 50;

/// Runs jobs, and remembers the first different ones with their outcomes.
pub(crate) struct Recorder<'a> {
    inner: &'a dyn Execute,
    record: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    seen: HashSet<Digest>,
    ran: Vec<(Job, Outcome)>,
}

/// What a recorder ran.
pub(crate) struct Recorded {
    /// The first jobs.
    pub jobs: Vec<(Job, Outcome)>,
    /// How many more there were.
    pub left_out: usize,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(inner: &'a dyn Execute) -> Self {
        Self { inner, record: Mutex::default() }
    }

    pub(crate) fn finish(self) -> Recorded {
        // A list is whole between any two pushes.
        let Record { seen, ran } = self.record.into_inner().unwrap_or_else(PoisonError::into_inner);
        Recorded { left_out: seen.len() - ran.len(), jobs: ran }
    }
}

impl Execute for Recorder<'_> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        let outcome = self.inner.execute(job)?;
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        if record.seen.insert(job.digest()) && record.ran.len() < MOST {
            record.ran.push((job.clone(), outcome.clone()));
        }
        Ok(outcome)
    }
}
