//! `veriplay bench --soak N`: looks for leaks of memory and of descriptors in a sandbox that runs for long.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::Serialize;
use veriplay_console::free_memory::mib;
use veriplay_console::progress::counted;
use veriplay_core::Exit;
use veriplay_sandbox::Sandbox;

use super::jobs::numbered;
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
    first: ProcessUsage,
    last: ProcessUsage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct ProcessUsage {
    /// Its share of resident memory: pages that several mappings share, such as the image's, count once. `null` where the kernel does not report it.
    resident_bytes: Option<u64>,
    descriptors: Option<usize>,
}

impl ProcessUsage {
    fn now() -> Self {
        let descriptors = std::fs::read_dir("/proc/self/fd").ok().map(Iterator::count);
        let memory = std::fs::read_to_string("/proc/self/smaps_rollup");
        Self { resident_bytes: memory.ok().and_then(|text| parse_pss(&text)), descriptors }
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

fn parse_pss(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::parse_pss;

    #[test]
    fn pss_is_parsed_in_bytes_and_other_lines_are_ignored() {
        let text = "55c0-7ffd ---p 00000000  [rollup]\nRss:  9000 kB\nPss:   4321 kB\nPss_Dirty:  7 kB\n";
        assert_eq!(parse_pss(text), Some(4321 << 10));
        assert_eq!((parse_pss("Pss_Dirty:  7 kB\n"), parse_pss("Pss: many kB\n")), (None, None));
    }
}
