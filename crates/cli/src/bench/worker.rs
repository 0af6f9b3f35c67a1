//! The interface of a baseline: rounds of a job, with every result checked.

use std::time::{Duration, Instant};

use super::jobs::BenchJob;

/// Runs rounds of jobs, one job at a time.
pub(crate) trait Worker: Send {
    /// Runs `work` again and again until `span` is over, at least once, and checks each result.
    fn round(&mut self, work: &BenchJob, span: Duration) -> Result<Round, RoundError>;
}

/// One round of one worker.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Round {
    /// Nanoseconds of each job.
    pub(crate) ns: Vec<u64>,
    /// Time of the whole round.
    pub(crate) elapsed: Duration,
    /// Wasm fuel of the last job, where the baseline counts fuel.
    pub(crate) fuel: Option<u64>,
}

/// Why a round has no result.
#[derive(Debug)]
pub(crate) enum RoundError {
    /// The baseline ran the job and gave a wrong result.
    Wrong(String),
    /// The baseline itself failed.
    Failed(String),
}

/// Runs `one` until `span` is over and times each run. `one` returns the job's fuel, if it has any.
pub(crate) fn time_round(
    span: Duration,
    mut one: impl FnMut() -> Result<Option<u64>, RoundError>,
) -> Result<Round, RoundError> {
    let started = Instant::now();
    let mut ns = Vec::new();
    let mut before = Duration::ZERO;
    loop {
        let fuel = one()?;
        let elapsed = started.elapsed();
        ns.push(u64::try_from((elapsed - before).as_nanos()).unwrap_or(u64::MAX));
        before = elapsed;
        if elapsed >= span {
            return Ok(Round { ns, elapsed, fuel });
        }
    }
}
