//! The report of a benchmark, as data, as a table and as CSV.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use veriplay_console::progress::counted;
use veriplay_core::SCHEMA_VERSION;

use super::baselines::VERIPLAY;
use super::compare::JobChange;
use super::machine::Machine;
use super::noise::Noise;
use super::rounds::{AbsentBaseline, MeasuredJob, Samples, ThreadSamples};
use super::workload::WorkloadReport;

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct BenchReport {
    schema_version: u32,
    /// Rounds that count, and the seconds of each: of a workload, whose rounds are passes, those of the median pass with one thread.
    rounds: usize,
    round_seconds: f64,
    jobs: BTreeMap<&'static str, JobReport>,
    /// The same with `scaling.threads` threads, the most that were measured; empty when that is one.
    all_cores: BTreeMap<&'static str, JobReport>,
    /// `null` when only one thread was measured.
    scaling: Option<Scaling>,
    /// The jobs with each number of threads, in ascending order.
    sweep: Vec<SweepStep>,
    /// Baselines that could not be started, and why.
    absent: BTreeMap<&'static str, String>,
    install: BTreeMap<&'static str, &'static str>,
    /// Whether the numbers are to be trusted.
    noise: Noise,
    /// `null` when named jobs were measured.
    workload: Option<WorkloadReport>,
    /// Changes since the report of `--baseline`; `null` without one.
    comparison: Option<Vec<JobChange>>,
    machine: Machine,
}

#[derive(Debug, Serialize)]
struct SweepStep {
    threads: usize,
    jobs: BTreeMap<&'static str, JobReport>,
}

#[derive(Debug, Serialize)]
struct JobReport {
    #[serde(flatten)]
    baselines: BTreeMap<String, JobStats>,
    /// Jobs per second of Veriplay over those of each baseline without wrong results.
    ratio: BTreeMap<String, f64>,
}

#[derive(Debug, Serialize)]
struct JobStats {
    /// Jobs a second: the median over rounds.
    per_s: f64,
    /// Of the rounds: largest minus smallest, as a share of the median; `null` of one round.
    spread: Option<f64>,
    p50_us: f64,
    p99_us: f64,
    /// Number of jobs timed: the 99th percentile of few jobs is the slowest.
    timed: usize,
    /// Wasm fuel of one job.
    #[serde(skip_serializing_if = "Option::is_none")]
    fuel: Option<u64>,
    /// Wrong results, those of the check before the measurement included. Only peers have any: others would have ended the run.
    wrong: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_wrong: Option<String>,
}

#[derive(Debug, Serialize)]
struct Scaling {
    threads: usize,
    /// Of Veriplay, on the job that scales worst.
    ratio: f64,
    jobs: BTreeMap<&'static str, BTreeMap<String, f64>>,
}

/// Everything in a report besides samples.
pub struct BenchContext {
    /// How many rounds count for each job.
    pub rounds: usize,
    /// How long a round measures.
    pub round_seconds: f64,
    /// Baselines that this machine lacks.
    pub absent: Vec<AbsentBaseline>,
    /// What the attempts of a workload ended as.
    pub workload: Option<WorkloadReport>,
    /// What has changed since the earlier report.
    pub comparison: Option<Vec<JobChange>>,
    /// The machine that it was measured on.
    pub machine: Machine,
}

impl BenchReport {
    /// The report of these measurements.
    pub fn new(measured: &[MeasuredJob], context: BenchContext) -> Self {
        let counts = measured.first().map_or(&[][..], |job| &job.by_threads);
        let most = counts.iter().map(|row| row.threads).max().filter(|threads| *threads > 1);
        Self {
            schema_version: SCHEMA_VERSION,
            rounds: context.rounds,
            round_seconds: context.round_seconds,
            jobs: reports(measured, 1),
            all_cores: most.map(|threads| reports(measured, threads)).unwrap_or_default(),
            scaling: most.and_then(|threads| Scaling::new(measured, threads)),
            sweep: counts
                .iter()
                .map(|row| SweepStep { threads: row.threads, jobs: reports(measured, row.threads) })
                .collect(),
            install: context.absent.iter().map(|absent| (absent.name, absent.install)).collect(),
            absent: context.absent.into_iter().map(|absent| (absent.name, absent.why)).collect(),
            noise: Noise::new(measured, context.machine.load()),
            workload: context.workload,
            comparison: context.comparison,
            machine: context.machine,
        }
    }

    /// The warning about numbers that are not to be trusted.
    pub fn noise_warning(&self) -> Option<String> {
        self.noise.warning()
    }

    /// What a picture of the numbers says below them.
    pub fn caption(&self) -> Vec<String> {
        let bars = "a dot is the median of the rounds, and its bar goes from the slowest to the fastest".to_owned();
        let conditions = self.conditions();
        conditions.lines().map(str::to_owned).chain([bars]).chain(self.noise.distrust()).collect()
    }

    fn conditions(&self) -> String {
        format!("{}\nrounds: {}, of {:.2} s each", self.machine.text(), self.rounds, self.round_seconds)
    }

    /// The jobs that became slower beyond the noise.
    pub fn slower(&self) -> Vec<String> {
        let changes = self.comparison.iter().flatten();
        changes.filter(|change| change.is_slower()).map(JobChange::name).collect()
    }

    /// The jobs of which nobody knows whether they became slower.
    pub fn unknown(&self) -> Vec<String> {
        let changes = self.comparison.iter().flatten();
        changes.filter(|change| change.is_unknown()).map(JobChange::name).collect()
    }

    /// For people. Jobs and baselines are in the order of their measurement.
    pub fn text(&self, measured: &[MeasuredJob]) -> String {
        let mut out = self.conditions() + "\n";
        if let Some(workload) = &self.workload {
            out += &format!("workload: {}\n", workload.text());
        }
        measured.iter().for_each(|job| add_job(&mut out, job));
        out.push('\n');
        for (baseline, why) in &self.absent {
            out += &format!("absent: {baseline}: {why}; to have it: {}\n", self.install[baseline]);
        }
        wrong_results(measured).iter().for_each(|wrong| out += &format!("wrong: {wrong}\n"));
        if let Some(changes) = &self.comparison {
            out += "\nsince the baseline\n";
            changes.iter().for_each(|change| out += &format!("  {}\n", change.text()));
        }
        out
    }
}

/// The wrong results of peers: a text for each job of each.
pub fn wrong_results(measured: &[MeasuredJob]) -> Vec<String> {
    let mut texts = Vec::new();
    for job in measured {
        for row in &job.by_threads {
            for (peer, Samples { wrong, .. }) in row.baselines.iter().filter(|(_, samples)| samples.wrong.count > 0) {
                let first = wrong.first.as_deref().unwrap_or_default();
                let (count, job, threads) = (wrong.count, job.job, row.threads);
                texts.push(format!(
                    "{} of peer `{peer}` on `{job}` (threads: {threads}), the first: {first}",
                    counted(count, "result")
                ));
            }
        }
    }
    texts
}

fn reports(measured: &[MeasuredJob], threads: usize) -> BTreeMap<&'static str, JobReport> {
    let of_job = |job: &MeasuredJob| Some((job.job, JobReport::new(job.with_threads(threads)?)));
    measured.iter().filter_map(of_job).collect()
}

/// The table of one job: a line for each baseline, with further columns for each number of threads above 1.
fn add_job(out: &mut String, job: &MeasuredJob) {
    let Some((one, several)) = job.by_threads.split_first() else { return };
    let _ = write!(
        out,
        "\n{:<16}{:>10}{:>9}{:>11}{:>11}{:>13}",
        job.job, "jobs/s", "spread", "p50 µs", "p99 µs", "veriplay is"
    );
    for row in several {
        let _ = write!(out, "{:>16}{:>13}{:>9}", format!("{} thr. jobs/s", row.threads), "veriplay is", "scaling");
    }
    out.push('\n');
    for (baseline, samples) in &one.baselines {
        let Some(stats) = JobStats::new(samples) else { continue };
        add_line(out, baseline, &stats, one.speed_of(VERIPLAY, baseline));
        several.iter().for_each(|row| add_scaling(out, row, baseline, samples));
        out.push('\n');
    }
}

fn add_line(out: &mut String, baseline: &str, stats: &JobStats, ratio: Option<f64>) {
    let spread = stats.spread.map_or("-".to_owned(), |spread| format!("{:.0} %", spread * 100.0));
    let _ = write!(
        out,
        "  {baseline:<14}{:>10.1}{spread:>9}{:>11.0}{:>11.0}{:>13}",
        stats.per_s,
        stats.p50_us,
        stats.p99_us,
        times(ratio)
    );
}

/// The columns of a number of threads above 1.
fn add_scaling(out: &mut String, row: &ThreadSamples, baseline: &str, one: &Samples) {
    let several = row.samples_of(baseline);
    let speed = several.and_then(Samples::median_per_s).unwrap_or_default();
    let scaling = several.and_then(|several| several.ratio(one)).unwrap_or_default();
    let _ = write!(out, "{speed:>16.1}{:>13}{scaling:>9.2}", times(row.speed_of(VERIPLAY, baseline)));
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or(String::new(), |ratio| format!("{ratio:.2} ×"))
}

impl JobReport {
    fn new(row: &ThreadSamples) -> Self {
        let names = || row.baselines.iter().map(|(baseline, _)| baseline);
        let stats = |(baseline, samples): &(String, Samples)| Some((baseline.clone(), JobStats::new(samples)?));
        Self {
            baselines: row.baselines.iter().filter_map(stats).collect(),
            ratio: names().filter_map(|name| Some((name.clone(), row.speed_of(VERIPLAY, name)?))).collect(),
        }
    }
}

impl JobStats {
    fn new(samples: &Samples) -> Option<Self> {
        Some(Self {
            per_s: samples.median_per_s()?,
            spread: samples.spread(),
            p50_us: samples.latency_us(50.0)?,
            p99_us: samples.latency_us(99.0)?,
            timed: samples.us.len(),
            fuel: samples.fuel,
            wrong: samples.wrong.count,
            first_wrong: samples.wrong.first.clone(),
        })
    }
}

impl Scaling {
    fn new(measured: &[MeasuredJob], threads: usize) -> Option<Self> {
        let by_baseline = |job: &MeasuredJob| -> Option<BTreeMap<String, f64>> {
            let pairs = job.with_threads(threads)?.baselines.iter().zip(&job.with_threads(1)?.baselines);
            pairs.map(|((baseline, several), (_, one))| Some((baseline.clone(), several.ratio(one)?))).collect()
        };
        let jobs: BTreeMap<_, _> =
            measured.iter().map(|job| Some((job.job, by_baseline(job)?))).collect::<Option<_>>()?;
        let ratio = jobs.values().filter_map(|baselines| baselines.get(VERIPLAY)).copied().min_by(f64::total_cmp)?;
        Some(Self { threads, ratio, jobs })
    }
}

/// The first line of the CSV. `speed_of_veriplay` is Veriplay's jobs a second over the baseline's.
const CSV_HEADER: &str = "job,threads,baseline,per_s,spread,p50_us,p99_us,timed,fuel,wrong,speed_of_veriplay\n";

/// Whether a text begins as a table of this command, of any version.
pub fn is_csv(text: &str) -> bool {
    text.starts_with("job,threads,baseline,")
}

/// All that was measured, a row for each job, number of threads and baseline. Names hold nothing that would need quotes, and what there is no
/// number of is empty.
pub fn csv(measured: &[MeasuredJob]) -> String {
    let mut text = CSV_HEADER.to_owned();
    for job in measured {
        for row in &job.by_threads {
            row.baselines.iter().for_each(|(baseline, samples)| text += &csv_line(job.job, row, baseline, samples));
        }
    }
    text
}

fn csv_line(job: &str, row: &ThreadSamples, baseline: &str, samples: &Samples) -> String {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let cells = [
        job.to_owned(),
        row.threads.to_string(),
        baseline.to_owned(),
        number(samples.median_per_s()),
        number(samples.spread()),
        number(samples.latency_us(50.0)),
        number(samples.latency_us(99.0)),
        samples.us.len().to_string(),
        samples.fuel.map_or(String::new(), |fuel| fuel.to_string()),
        samples.wrong.count.to_string(),
        number(row.speed_of(VERIPLAY, baseline)),
    ];
    cells.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::worker::WrongResults;

    #[test]
    fn a_row_has_the_numbers_of_a_baseline() {
        let samples = |per_s: f64| Samples { per_s: vec![per_s; 3], us: vec![500.0, 700.0], ..Samples::default() };
        let wrong = Samples { wrong: WrongResults { count: 4, first: None }, ..samples(9.0) };
        let own = Samples { fuel: Some(77), ..samples(3000.0) };
        let baselines =
            vec![("fork".to_owned(), samples(1500.0)), ("mine".to_owned(), wrong), ("veriplay".to_owned(), own)];
        let job = MeasuredJob { job: "empty", by_threads: vec![ThreadSamples { threads: 2, baselines }] };
        let text = csv(&[job]);
        assert!(is_csv(&text) && !is_csv("import csv\n"));
        let rows: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            rows,
            [
                "empty,2,fork,1500,0,500,700,2,,0,2",
                "empty,2,mine,9,0,500,700,2,,4,",
                "empty,2,veriplay,3000,0,500,700,2,77,0,",
            ]
        );
    }
}
