//! `veriplay bench --soak N`: looks for leaks of memory and of descriptors in a sandbox that runs for long.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::Serialize;
use veriplay_console::free_memory::mib;
use veriplay_console::progress::counted;
use veriplay_core::Exit;
use veriplay_sandbox::Sandbox;

use super::jobs::numbered;
use super::memory::pss;
use super::veriplay::run_script;
use super::worker::RoundError;

/// Jobs before the first measurement: allocators and caches have reached their size by then.
const WARM_UP: u64 = 10_000;

/// Usage before and after the jobs.
#[derive(Debug, Clone, Serialize)]
pub struct SoakReport {
    schema_version: u32,
    /// Empty jobs before the first measurement.
    warm_up_jobs: u64,
    /// Empty jobs between the two measurements.
    jobs: u64,
    threads: usize,
    per_s: f64,
    /// After the warm-up.
    first: ProcessUsage,
    /// After the last.
    last: ProcessUsage,
}

/// The resources of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct ProcessUsage {
    /// Its share of resident memory; `null` where the kernel does not report it.
    resident_bytes: Option<u64>,
    descriptors: Option<usize>,
}

impl ProcessUsage {
    fn now() -> Self {
        let descriptors = std::fs::read_dir("/proc/self/fd").ok().map(Iterator::count);
        Self { resident_bytes: pss("self"), descriptors }
    }
}

impl SoakReport {
    /// Measures after 10,000 empty jobs, and again after `jobs` more.
    pub fn run(sandbox: &Sandbox, jobs: u64, threads: usize) -> Result<Self, RoundError> {
        run(sandbox, 0..WARM_UP, threads)?;
        let (first, started) = (ProcessUsage::now(), Instant::now());
        run(sandbox, WARM_UP..WARM_UP + jobs, threads)?;
        let per_s = jobs as f64 / started.elapsed().as_secs_f64();
        Ok(Self {
            schema_version: veriplay_core::SCHEMA_VERSION,
            warm_up_jobs: WARM_UP,
            jobs,
            threads,
            per_s,
            first,
            last: ProcessUsage::now(),
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        let resident = |usage: ProcessUsage| usage.resident_bytes.map_or(f64::NAN, mib);
        let fds = |usage: ProcessUsage| usage.descriptors.map_or_else(|| "?".to_owned(), |count| count.to_string());
        format!(
            "{} on {}, {:.0}/s\nbefore them, after a warm-up of {} others: {:.1} MiB resident, {} descriptors\n\
             after them: {:.1} MiB resident, {} descriptors",
            counted(self.jobs, "empty job"),
            counted(self.threads, "thread"),
            self.per_s,
            self.warm_up_jobs,
            resident(self.first),
            fds(self.first),
            resident(self.last),
            fds(self.last),
        )
    }
}

fn run(sandbox: &Sandbox, serials: std::ops::Range<u64>, threads: usize) -> Result<(), RoundError> {
    let (next, limits) = (AtomicU64::new(serials.start), sandbox.image().default_limits());
    let worker = || {
        loop {
            let serial = next.fetch_add(1, Ordering::Relaxed);
            if serial >= serials.end {
                return Ok(());
            }
            let outcome = run_script(sandbox, numbered("pass", serial), limits)?;
            if outcome.exit != Exit::Returned {
                return Err(RoundError::Wrong(format!("an empty job ended as {:?}", outcome.exit)));
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })
}
