//! `veriplay bench --profile`: where the time of each named job goes.
//!
//! Clocks are read between the steps of a job, on one thread: between the turns of the guest, and around the reset. What is left of a job's time
//! in the sandbox is the host's work on it (its system, its request, its outcome), and what is left of the whole is the judge's.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use veriplay_sandbox::{Image, JobProfile, Sandbox, SandboxOptions};
use veriplay_verifier::ProposalGate;

use super::Machine;
use super::jobs::BenchJob;
use super::veriplay::Veriplay;
use super::worker::{RoundError, Worker};

/// Before the measurement: instances are made, and their pages are mapped.
const WARM_UP: Duration = Duration::from_millis(300);

/// The profiles of some jobs.
#[derive(Debug, Clone, Serialize)]
pub struct ProfileReport {
    schema_version: u32,
    seconds: f64,
    jobs: Vec<ProfiledJob>,
    machine: Machine,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct ProfiledJob {
    job: &'static str,
    /// How often the job was run. Each run is one job of the sandbox or more.
    runs: u64,
    elapsed_ns: u64,
    #[serde(flatten)]
    profile: JobProfile,
}

impl ProfileReport {
    /// Runs each of `works` for `span`, triplets by `gate`.
    ///
    /// # Errors
    /// When a job cannot be run or gives a wrong result.
    pub fn measure(
        image: Arc<Image>,
        gate: ProposalGate,
        works: &[BenchJob],
        span: Duration,
        machine: Machine,
    ) -> Result<Self, RoundError> {
        let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
        let (sandbox, profiler) = Sandbox::profiled(image, options);
        let mut worker = Veriplay::new(Arc::new(sandbox), gate, Arc::default());
        let mut jobs = Vec::with_capacity(works.len());
        for work in works {
            worker.round(work, WARM_UP)?;
            let _warm_up = profiler.take();
            let round = worker.round(work, span)?;
            let elapsed_ns = u64::try_from(round.elapsed.as_nanos()).unwrap_or(u64::MAX);
            let (runs, profile) = (round.ns.len() as u64, profiler.take());
            jobs.push(ProfiledJob { job: work.name, runs, elapsed_ns, profile });
        }
        let (schema_version, seconds) = (veriplay_core::SCHEMA_VERSION, span.as_secs_f64());
        Ok(Self { schema_version, seconds, jobs, machine })
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}\nmeans of one run, in µs; one thread, {} s for each job\n\n",
            self.machine.text(),
            self.seconds
        );
        let heads = ["compile", "run", "reset", "host", "judge", "whole"].map(|head| format!("{head:>10}")).concat();
        let more = ["pages", "fuel to compile", "to run", "sandbox jobs"].map(|head| format!("{head:>16}")).concat();
        let _ = writeln!(text, "{:<13}{heads}{more}", "");
        for job in &self.jobs {
            let _ = writeln!(text, "{}", job.row());
        }
        text
    }
}

impl ProfiledJob {
    fn row(&self) -> String {
        let JobProfile { jobs, total_ns, compiling, running, reset_ns, pages } = self.profile;
        let steps = [compiling.ns, running.ns, reset_ns];
        let host = total_ns.saturating_sub(steps.iter().sum());
        let times = [steps[0], steps[1], steps[2], host, self.elapsed_ns.saturating_sub(total_ns), self.elapsed_ns];
        let per_run = |sum: u64| sum as f64 / self.runs as f64;
        let times = times.map(|ns| format!("{:>10.1}", per_run(ns) / 1e3)).concat();
        let counts = [pages, compiling.fuel, running.fuel].map(|count| format!("{:>16.0}", per_run(count))).concat();
        format!("{:<13}{times}{counts}{:>16.1}", self.job, per_run(jobs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::jobs;
    use crate::bench::languages::PYTHON;
    use veriplay_console::image;

    #[test]
    fn each_job_is_run_and_its_steps_are_told_apart() {
        let works = jobs::named(&PYTHON, &["empty".to_owned(), "triplet".to_owned()]).unwrap();
        let span = Duration::from_millis(50);
        let quickstart: toml::Table = include_str!("../../../../configs/quickstart.toml").parse().unwrap();
        let gate = quickstart["gate"].clone().try_into().unwrap();
        let report = ProfileReport::measure(image::python().unwrap(), gate, &works, span, Machine::of(None)).unwrap();
        let text = report.text();
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with(['e', 't'])).collect();
        assert_eq!(rows.len(), 2, "{text}");
        let [empty, triplet] = report.jobs.as_slice() else { panic!("{report:?}") };
        assert_eq!((empty.job, empty.profile.jobs), ("empty", empty.runs));
        assert!(triplet.profile.jobs > triplet.runs, "a triplet takes several jobs");
        assert!(report.jobs.iter().all(|job| job.profile.total_ns <= job.elapsed_ns && job.profile.pages > 0));
    }
}
