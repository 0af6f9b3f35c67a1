//! The interface of a baseline: rounds of a job, with every result checked.

use std::time::{Duration, Instant};

use super::jobs::BenchJob;

/// Runs rounds of jobs, one job at a time.
pub(crate) trait Worker: Send {
    /// Runs `work` again and again until `span` is over, at least once, and checks each result.
    fn round(&mut self, work: &BenchJob, span: Duration) -> Result<Round, RoundError>;
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Round {
    pub(crate) ns: Vec<u64>,
    pub(crate) elapsed: Duration,
    /// Wasm fuel of the last job, where the baseline counts fuel.
    pub(crate) fuel: Option<u64>,
    /// Wrong results of a baseline whose wrong results are counted: for others they are a [`RoundError`].
    pub(crate) wrong: WrongResults,
}

/// Wrong results: how many, and what was wrong with the first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrongResults {
    /// How many results were wrong.
    pub count: u64,
    /// What was wrong with the first one.
    pub first: Option<String>,
}

impl WrongResults {
    pub(crate) fn note(&mut self, what: String) {
        self.count += 1;
        self.first.get_or_insert(what);
    }

    /// Adds those of `other`, which came later.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.first = self.first.take().or_else(|| other.first.clone());
    }
}

/// Why a round has no result.
#[derive(Debug)]
pub enum RoundError {
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
            return Ok(Round { ns, elapsed, fuel, wrong: WrongResults::default() });
        }
    }
}
