//! The report of a benchmark, as data and as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use veriplay_core::SCHEMA_VERSION;

use super::baselines::VERIPLAY;
use super::machine::Machine;
use super::memory::MemoryReport;
use super::rounds::{ROUNDS, Samples};

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct BenchReport {
    schema_version: u32,
    /// Rounds that count, and the seconds of each.
    rounds: usize,
    round_seconds: f64,
    /// One thread, by job.
    jobs: BTreeMap<&'static str, JobReport>,
    /// The same with `scaling.threads` threads; empty when that is one.
    all_cores: BTreeMap<&'static str, JobReport>,
    /// `null` when only one thread was measured.
    scaling: Option<Scaling>,
    memory: MemoryReport,
    /// Baselines that could not be started, and why.
    absent: BTreeMap<&'static str, String>,
    machine: Machine,
}

/// One job of all baselines.
#[derive(Debug, Serialize)]
struct JobReport {
    #[serde(flatten)]
    baselines: BTreeMap<&'static str, JobStats>,
    /// Jobs per second of Veriplay over those of each baseline.
    ratio: BTreeMap<&'static str, f64>,
}

/// One job of one baseline.
#[derive(Debug, Serialize)]
struct JobStats {
    /// Jobs a second: the median over rounds.
    per_s: f64,
    /// Of the rounds: largest minus smallest, as a share of the median.
    spread: f64,
    p50_us: f64,
    p99_us: f64,
    /// Number of jobs timed: the 99th percentile of few jobs is the slowest.
    timed: usize,
    /// Wasm fuel of one job.
    #[serde(skip_serializing_if = "Option::is_none")]
    fuel: Option<u64>,
}

/// Throughput of many threads over that of one.
#[derive(Debug, Serialize)]
struct Scaling {
    threads: usize,
    /// Of Veriplay, on the job that scales worst.
    ratio: f64,
    /// By job and baseline.
    jobs: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
}

/// One job's samples by baseline, with one thread and with several.
pub(crate) struct MeasuredJob {
    pub(crate) job: &'static str,
    pub(crate) one: Vec<(&'static str, Samples)>,
    pub(crate) several: Option<Vec<(&'static str, Samples)>>,
}

/// Everything in a report besides samples.
pub(crate) struct BenchContext {
    pub(crate) round_seconds: f64,
    pub(crate) threads: usize,
    pub(crate) memory: MemoryReport,
    pub(crate) absent: Vec<(&'static str, String)>,
    pub(crate) machine: Machine,
}

impl BenchReport {
    pub(crate) fn new(measured: &[MeasuredJob], context: BenchContext) -> Self {
        let one = measured.iter().map(|job| (job.job, JobReport::new(&job.one)));
        let several = measured.iter().filter_map(|job| Some((job.job, JobReport::new(job.several.as_ref()?))));
        Self {
            schema_version: SCHEMA_VERSION,
            rounds: ROUNDS,
            round_seconds: context.round_seconds,
            jobs: one.collect(),
            all_cores: several.collect(),
            scaling: Scaling::new(measured, context.threads),
            memory: context.memory,
            absent: context.absent.into_iter().collect(),
            machine: context.machine,
        }
    }

    /// For people. Jobs and baselines are in the order of their measurement.
    pub(crate) fn text(&self, measured: &[MeasuredJob]) -> String {
        let mut out = format!("{}\n{} rounds of {:.2} s each\n", self.machine.text(), self.rounds, self.round_seconds);
        for job in measured {
            self.add_job(&mut out, job);
        }
        out += "\nresident memory\n";
        self.memory.lines().iter().for_each(|line| out += &format!("  {line}\n"));
        for (baseline, why) in &self.absent {
            out += &format!("absent: {baseline}: {why}\n");
        }
        out
    }

    fn add_job(&self, out: &mut String, job: &MeasuredJob) {
        let threads = self.scaling.as_ref().map_or(1, |scaling| scaling.threads);
        let _ = write!(
            out,
            "\n{:<16}{:>10}{:>9}{:>11}{:>11}{:>13}",
            job.job, "jobs/s", "spread", "p50 µs", "p99 µs", "veriplay is"
        );
        if self.scaling.is_some() {
            let _ = write!(out, "{:>16}{:>13}{:>9}", format!("{threads} thr. jobs/s"), "veriplay is", "scaling");
        }
        out.push('\n');
        for (baseline, _) in &job.one {
            self.add_line(out, job.job, baseline);
        }
    }

    fn add_line(&self, out: &mut String, job: &str, baseline: &str) {
        let times = |ratio: Option<&f64>| ratio.map_or(String::new(), |ratio| format!("{ratio:.2} ×"));
        let report = &self.jobs[job];
        let stats = &report.baselines[baseline];
        let spread = format!("{:.0} %", stats.spread * 100.0);
        let ratio = times(report.ratio.get(baseline));
        let _ = write!(
            out,
            "  {baseline:<14}{:>10.1}{spread:>9}{:>11.0}{:>11.0}{ratio:>13}",
            stats.per_s, stats.p50_us, stats.p99_us
        );
        if let (Some(several), Some(scaling)) = (self.all_cores.get(job), &self.scaling) {
            let ratio = times(several.ratio.get(baseline));
            let _ = write!(
                out,
                "{:>16.1}{ratio:>13}{:>9.2}",
                several.baselines[baseline].per_s, scaling.jobs[job][baseline]
            );
        }
        out.push('\n');
    }
}

impl JobReport {
    fn new(baselines: &[(&'static str, Samples)]) -> Self {
        let own = baselines.iter().find(|(baseline, _)| *baseline == VERIPLAY).map(|(_, samples)| samples);
        let others = baselines.iter().filter(|(baseline, _)| *baseline != VERIPLAY);
        Self {
            baselines: baselines
                .iter()
                .filter_map(|(baseline, samples)| Some((*baseline, JobStats::new(samples)?)))
                .collect(),
            ratio: others.filter_map(|(baseline, samples)| Some((*baseline, own?.ratio(samples)?))).collect(),
        }
    }
}

impl JobStats {
    fn new(samples: &Samples) -> Option<Self> {
        Some(Self {
            per_s: samples.median_per_s()?,
            spread: samples.spread()?,
            p50_us: samples.latency_us(50.0)?,
            p99_us: samples.latency_us(99.0)?,
            timed: samples.us.len(),
            fuel: samples.fuel,
        })
    }
}

impl Scaling {
    fn new(measured: &[MeasuredJob], threads: usize) -> Option<Self> {
        let by_baseline = |job: &MeasuredJob| -> Option<BTreeMap<&'static str, f64>> {
            let pairs = job.several.as_ref()?.iter().zip(&job.one);
            pairs.map(|((baseline, several), (_, one))| Some((*baseline, several.ratio(one)?))).collect()
        };
        let jobs: BTreeMap<_, _> =
            measured.iter().map(|job| Some((job.job, by_baseline(job)?))).collect::<Option<_>>()?;
        let ratio = jobs.values().filter_map(|baselines| baselines.get(VERIPLAY)).copied().min_by(f64::total_cmp)?;
        Some(Self { threads, ratio, jobs })
    }
}
