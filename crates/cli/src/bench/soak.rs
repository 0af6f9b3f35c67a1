//! `veriplay bench --soak N`: whether a sandbox that runs for long grows, in memory or in open descriptors.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::Serialize;
use veriplay_core::Exit;
use veriplay_sandbox::Sandbox;

use super::jobs::numbered;
use super::memory::pss;
use super::veriplay::run_script;
use super::worker::ContenderError;

/// Jobs before the first look: allocators and caches have their size by then.
const WARM: u64 = 10_000;

/// What was seen.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Soak {
    schema_version: u32,
    /// Empty jobs that were run after the first look.
    jobs: u64,
    threads: usize,
    per_s: f64,
    /// After the first 10,000 jobs.
    first: Held,
    /// After the last.
    last: Held,
}

/// What this process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Held {
    /// Its share of resident memory; `null` where the kernel does not say.
    resident_bytes: Option<u64>,
    descriptors: Option<usize>,
}

impl Held {
    fn now() -> Self {
        let descriptors = std::fs::read_dir("/proc/self/fd").ok().map(Iterator::count);
        Self { resident_bytes: pss("self"), descriptors }
    }
}

impl Soak {
    /// Runs 10,000 empty jobs, looks, runs `jobs` more, and looks again.
    pub(crate) fn run(sandbox: &Sandbox, jobs: u64, threads: usize) -> Result<Self, ContenderError> {
        run(sandbox, 0..WARM, threads)?;
        let (first, started) = (Held::now(), Instant::now());
        run(sandbox, WARM..WARM + jobs, threads)?;
        let per_s = jobs as f64 / started.elapsed().as_secs_f64();
        Ok(Self { schema_version: veriplay_core::SCHEMA_VERSION, jobs, threads, per_s, first, last: Held::now() })
    }

    /// In words.
    pub(crate) fn text(&self) -> String {
        let mib = |held: Held| held.resident_bytes.map_or(f64::NAN, |bytes| bytes as f64 / f64::from(1 << 20));
        let fds = |held: Held| held.descriptors.map_or_else(|| "?".to_owned(), |count| count.to_string());
        format!(
            "{} empty jobs on {} threads, {:.0}/s\nafter the first {WARM}: {:.1} MiB resident, {} descriptors\n\
             after the last: {:.1} MiB resident, {} descriptors",
            self.jobs,
            self.threads,
            self.per_s,
            mib(self.first),
            fds(self.first),
            mib(self.last),
            fds(self.last),
        )
    }
}

fn run(sandbox: &Sandbox, serials: std::ops::Range<u64>, threads: usize) -> Result<(), ContenderError> {
    let (next, limits) = (AtomicU64::new(serials.start), sandbox.image().default_limits());
    let worker = || {
        loop {
            let serial = next.fetch_add(1, Ordering::Relaxed);
            if serial >= serials.end {
                return Ok(());
            }
            let outcome = run_script(sandbox, numbered("pass", serial), limits)?;
            if outcome.exit != Exit::Returned {
                return Err(ContenderError::Wrong(format!("an empty job ended as {:?}", outcome.exit)));
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })
}
