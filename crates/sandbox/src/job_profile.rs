//! Where the time of jobs goes: `veriplay bench --profile` prints it.

use std::ops::AddAssign;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;

/// What the jobs of a sandbox took, in sum. Times are in nanoseconds. The turns of a callee are counted by themselves, and lie within one of
/// its caller's. Those of an interactor and of its program overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct JobProfile {
    /// Jobs with an outcome.
    pub jobs: u64,
    /// From the start of a job to the end of its reset.
    pub total_ns: u64,
    /// Compiling programs, in the guest.
    pub compiling: TurnCost,
    /// Running what was compiled, in the guest: values read, the program, results written.
    pub running: TurnCost,
    /// Finding the pages that were written, and copying them back.
    pub reset_ns: u64,
    /// Pages of 4 KiB that were copied back.
    pub pages: u64,
}

/// What turns of one kind took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TurnCost {
    /// How many there were. A program that ran before is not compiled again.
    pub turns: u64,
    /// Their time.
    pub ns: u64,
    /// Their fuel.
    pub fuel: u64,
}

impl AddAssign for TurnCost {
    fn add_assign(&mut self, other: Self) {
        self.turns += other.turns;
        self.ns += other.ns;
        self.fuel += other.fuel;
    }
}

impl AddAssign for JobProfile {
    fn add_assign(&mut self, other: Self) {
        self.jobs += other.jobs;
        self.total_ns += other.total_ns;
        self.compiling += other.compiling;
        self.running += other.running;
        self.reset_ns += other.reset_ns;
        self.pages += other.pages;
    }
}

/// Sums what jobs take.
#[derive(Debug, Clone, Default)]
pub struct Profiler(Arc<Mutex<JobProfile>>);

impl Profiler {
    /// The sums since the last call.
    #[must_use]
    pub fn take(&self) -> JobProfile {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn add(&self, profile: JobProfile) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += profile;
    }
}

pub(crate) fn nanoseconds_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use veriplay_core::{Execute, Job};

    use crate::host_support::HostSupport;
    use crate::image::Image;
    use crate::sandbox::{Sandbox, SandboxOptions};

    #[test]
    fn what_jobs_took_is_summed_and_lies_within_their_time() {
        let (sandbox, profiler) = Sandbox::profiled(Image::python().unwrap(), SandboxOptions::fastest());
        let fuel: u64 =
            (0..3).map(|number| sandbox.execute(&Job::script(format!("print({number})"))).unwrap().fuel).sum();
        let found = profiler.take();
        assert_eq!((found.jobs, found.compiling.turns, found.running.turns), (3, 3, 3));
        assert_eq!(found.compiling.fuel + found.running.fuel, fuel);
        assert!(found.compiling.ns + found.running.ns + found.reset_ns <= found.total_ns, "{found:?}");
        // Three times one program: the second run keeps the state behind its compilation, from which the third starts.
        (0..3).for_each(|_| drop(sandbox.execute(&Job::script("print('again')"))));
        let again = profiler.take();
        assert_eq!((again.jobs, again.running.turns), (3, 3));
        let kept = HostSupport::detect().page_scan;
        assert_eq!((again.compiling.turns, profiler.take().jobs), (if kept { 2 } else { 3 }, 0));
    }

    #[test]
    fn a_small_job_writes_few_pages() {
        let (sandbox, profiler) = Sandbox::profiled(Image::python().unwrap(), SandboxOptions::fastest());
        (0..4).for_each(|number| drop(sandbox.execute(&Job::script(format!("{number}"))).unwrap()));
        // `bench --profile` counts 35 a job, and 69 where code on the way of every job is not specialised and the heap's gaps are not filled.
        let pages = profiler.take().pages;
        assert!(pages < 180, "{pages} pages");
    }
}
