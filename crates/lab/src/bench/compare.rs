//! What has changed since an earlier report of `bench --json`: Veriplay's jobs a second, then and now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::json_file::read_json;
use veriplay_core::{Digest, SCHEMA_VERSION};

use super::baselines::VERIPLAY;
use super::rounds::MeasuredJob;

/// A difference of this share is noise even where the rounds of both reports agree better.
const LEAST_NOISE: f64 = 0.05;
/// Where the noise is a larger share, a change within it is unknown: half of the speed could be lost in it.
const MOST_NOISE: f64 = 0.5;
/// Fields of `machine` whose change makes speeds incomparable.
const MACHINE: [&str; 4] = ["model", "cpus", "build", "image"];

/// An earlier report.
#[derive(Debug)]
pub struct EarlierReport {
    path: PathBuf,
    /// By job and number of threads.
    speeds: BTreeMap<(String, u64), EarlierSpeed>,
    machine: Value,
    /// Digest of its workload; null where it has none.
    workload: Value,
}

#[derive(Debug, Clone, Copy)]
struct EarlierSpeed {
    per_s: f64,
    /// `None` of one round.
    spread: Option<f64>,
}

/// One job with one number of threads, then and now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobChange {
    job: &'static str,
    threads: usize,
    before_per_s: f64,
    per_s: f64,
    /// Jobs a second now over those of then.
    ratio: f64,
    /// Half of the spreads of both: ratios up to 1 plus it, or down to its reciprocal, are within the noise. `null` where one has no spread.
    noise: Option<f64>,
    verdict: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Faster,
    Slower,
    WithinNoise,
    /// One of the reports has one round, or the noise could hide any change.
    Unknown,
}

impl EarlierReport {
    /// Reads what `bench --json` printed.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        const HINT: &str = "`--baseline` reads what `bench --json` printed";
        let report: Value = read_json(path).map_err(|failure| failure.or_hint(HINT))?;
        if report["schema_version"].as_u64() != Some(u64::from(SCHEMA_VERSION)) {
            let text =
                format!("`{}` has schema_version {}, not {SCHEMA_VERSION}", path.display(), report["schema_version"]);
            return Err(Failure::message(ExitCode::Input, text).hint(HINT));
        }
        let mut speeds = BTreeMap::new();
        add_speeds(&mut speeds, 1, &report["jobs"]);
        if let Some(threads) = report["scaling"]["threads"].as_u64() {
            add_speeds(&mut speeds, threads, &report["all_cores"]);
        }
        for row in report["sweep"].as_array().into_iter().flatten() {
            add_speeds(&mut speeds, row["threads"].as_u64().unwrap_or(1), &row["jobs"]);
        }
        if speeds.is_empty() {
            let text = format!("`{}` has no job of Veriplay", path.display());
            return Err(Failure::message(ExitCode::Input, text).hint(HINT));
        }
        let (machine, workload) = (report["machine"].clone(), report["workload"]["digest"].clone());
        Ok(Self { path: path.to_owned(), speeds, machine, workload })
    }

    /// A warning where the report is of another machine or build than `machine`.
    pub fn other_machine(&self, machine: &Value) -> Option<String> {
        let differs = |key: &&str| self.machine[*key] != machine[*key];
        let differences: Vec<String> = MACHINE
            .into_iter()
            .filter(differs)
            .map(|key| format!("{key} {} then, {} now", self.machine[key], machine[key]))
            .collect();
        let text =
            || format!("warning: `{}` is of another machine or build: {}", self.path.display(), differences.join("; "));
        (!differences.is_empty()).then(text)
    }

    /// Checks that it has one of these jobs with one of these numbers of threads. A measurement takes minutes.
    pub fn check_jobs(&self, jobs: &[&str], threads: &[usize]) -> Result<(), Failure> {
        let has =
            |job: &str| threads.iter().any(|threads| self.speeds.contains_key(&(job.to_owned(), *threads as u64)));
        if jobs.iter().copied().any(has) { Ok(()) } else { Err(self.nothing_common()) }
    }

    /// Checks that its workload, where it has one, is that with this digest.
    pub fn check_workload(&self, digest: &Digest) -> Result<(), Failure> {
        if self.workload.is_null() || self.workload == digest.as_str() {
            return Ok(());
        }
        let text = format!("the workload of `{}` is another, with digest {}", self.path.display(), self.workload);
        let hint = format!("that of this one is {digest}: give the same tasks, attempts and image as then");
        Err(Failure::message(ExitCode::Input, text).hint(hint))
    }

    /// Compares all jobs that both have.
    pub fn compare(&self, measured: &[MeasuredJob]) -> Result<Vec<JobChange>, Failure> {
        let rows = measured.iter().flat_map(|job| job.by_threads.iter().map(move |row| (job.job, row)));
        let changes: Vec<JobChange> = rows
            .filter_map(|(job, row)| {
                let earlier = *self.speeds.get(&(job.to_owned(), row.threads as u64))?;
                let samples = row.samples_of(VERIPLAY)?;
                Some(JobChange::new(job, row.threads, earlier, samples.median_per_s()?, samples.spread()))
            })
            .collect();
        if changes.is_empty() { Err(self.nothing_common()) } else { Ok(changes) }
    }

    fn nothing_common(&self) -> Failure {
        let text = format!("`{}` has no job with a number of threads that is measured now", self.path.display());
        let have: Vec<String> =
            self.speeds.keys().map(|(job, threads)| format!("{job} (threads: {threads})")).collect();
        Failure::message(ExitCode::Input, text)
            .hint(format!("give the same `--job` and `--threads` as then: it has {}", have.join(", ")))
    }
}

/// Adds the speeds of Veriplay with one number of threads.
fn add_speeds(speeds: &mut BTreeMap<(String, u64), EarlierSpeed>, threads: u64, jobs: &Value) {
    for (job, baselines) in jobs.as_object().into_iter().flatten() {
        let number = |key: &str| baselines[VERIPLAY][key].as_f64();
        if let Some(per_s) = number("per_s").filter(|speed| *speed > 0.0) {
            speeds.insert((job.clone(), threads), EarlierSpeed { per_s, spread: number("spread") });
        }
    }
}

impl JobChange {
    fn new(job: &'static str, threads: usize, earlier: EarlierSpeed, per_s: f64, spread: Option<f64>) -> Self {
        let ratio = per_s / earlier.per_s;
        let noise = earlier.spread.zip(spread).map(|(then, now)| f64::midpoint(then, now).max(LEAST_NOISE));
        let verdict = match noise {
            None => Change::Unknown,
            Some(noise) if ratio > 1.0 + noise => Change::Faster,
            Some(noise) if ratio < (1.0 + noise).recip() => Change::Slower,
            Some(noise) if noise > MOST_NOISE => Change::Unknown,
            Some(_) => Change::WithinNoise,
        };
        Self { job, threads, before_per_s: earlier.per_s, per_s, ratio, noise, verdict }
    }

    pub(crate) fn is_slower(&self) -> bool {
        self.verdict == Change::Slower
    }

    /// Whether nobody knows how much of the change is noise.
    pub(crate) fn is_unknown(&self) -> bool {
        self.verdict == Change::Unknown
    }

    /// The job, for people.
    pub fn name(&self) -> String {
        format!("{} (threads: {})", self.job, self.threads)
    }

    /// For people.
    pub fn text(&self) -> String {
        let verdict = match self.verdict {
            Change::Faster => "faster",
            Change::Slower => "slower",
            Change::WithinNoise => "within noise",
            Change::Unknown => "unknown",
        };
        let (before, now) = (self.before_per_s, self.per_s);
        let noise = self.noise.map_or("of one round unknown".to_owned(), |noise| format!("{:.0} %", 100.0 * noise));
        format!("{:<26}{before:>10.1} -> {now:.1} jobs/s, {:.2} ×: {verdict} (noise {noise})", self.name(), self.ratio)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bench::rounds::{Samples, ThreadSamples};

    fn read(report: &Value) -> Result<EarlierReport, Failure> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), report.to_string()).expect("it can be written");
        EarlierReport::read(file.path())
    }

    fn report(per_s: f64) -> Value {
        json!({"schema_version": SCHEMA_VERSION, "jobs": {"empty": {"veriplay": {"per_s": per_s, "spread": 0.02}, "ratio": {}}}})
    }

    fn measured(per_s: [f64; 3]) -> Vec<MeasuredJob> {
        let samples = Samples { per_s: per_s.to_vec(), ..Samples::default() };
        let row = ThreadSamples { threads: 1, baselines: vec![(VERIPLAY.to_owned(), samples)] };
        vec![MeasuredJob { job: "empty", by_threads: vec![row] }]
    }

    #[test]
    fn a_change_counts_when_it_is_larger_than_the_noise_which_must_not_be_able_to_hide_any() {
        let (steady, noisy, wild) = ([1000.0; 3], [800.0, 1000.0, 1200.0], [400.0, 1000.0, 1880.0]);
        for (before, now, verdict) in [
            (1000.0, steady, Change::WithinNoise),
            // Less than 5 %.
            (1040.0, steady, Change::WithinNoise),
            (1100.0, steady, Change::Slower),
            (900.0, steady, Change::Faster),
            // Half of 2 % and of 40 % are 21 %.
            (1200.0, noisy, Change::WithinNoise),
            (1230.0, noisy, Change::Slower),
            (830.0, noisy, Change::WithinNoise),
            (820.0, noisy, Change::Faster),
            // Half of 2 % and of 148 % are 75 %, in which half of the speed could be lost.
            (1000.0, wild, Change::Unknown),
            (1740.0, wild, Change::Unknown),
            (1760.0, wild, Change::Slower),
            (500.0, wild, Change::Faster),
        ] {
            let change = read(&report(before)).unwrap().compare(&measured(now)).unwrap().remove(0);
            assert_eq!(change.verdict, verdict, "{before} -> {now:?}");
            assert!(!change.is_unknown() || change.text().contains("unknown (noise 75 %)"), "{}", change.text());
        }
    }

    #[test]
    fn one_round_says_nothing_about_noise() {
        let mut earlier = report(1000.0);
        earlier["jobs"]["empty"]["veriplay"]["spread"] = Value::Null;
        let change = read(&earlier).unwrap().compare(&measured([1.0; 3])).unwrap().remove(0);
        assert!(change.is_unknown() && !change.is_slower() && change.noise.is_none());
        assert!(change.text().contains("unknown (noise of one round unknown)"), "{}", change.text());
    }

    #[test]
    fn every_number_of_threads_of_a_report_is_read() {
        let jobs = |per_s: f64| json!({"empty": {"veriplay": {"per_s": per_s, "spread": 0.0}}});
        let sweep = [json!({"threads": 2, "jobs": jobs(20.0)})];
        let report = json!({"schema_version": SCHEMA_VERSION, "jobs": jobs(10.0), "all_cores": jobs(40.0),
            "scaling": {"threads": 4}, "sweep": sweep});
        let speeds = read(&report).unwrap().speeds;
        let speeds: Vec<(u64, f64)> = speeds.iter().map(|((_, threads), speed)| (*threads, speed.per_s)).collect();
        assert_eq!(speeds, [(1, 10.0), (2, 20.0), (4, 40.0)]);
    }

    #[test]
    fn reports_that_cannot_be_compared_are_refused() {
        for (report, why) in [
            (json!({"schema_version": 99}), "schema_version 99"),
            (
                json!({"schema_version": SCHEMA_VERSION, "jobs": {"empty": {"fork": {"per_s": 1.0}}}}),
                "no job of Veriplay",
            ),
        ] {
            assert!(read(&report).unwrap_err().to_string().contains(why));
        }
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "print('no report')").expect("it can be written");
        let failure = EarlierReport::read(file.path()).unwrap_err();
        assert!(failure.to_string().contains("hint: `--baseline` reads"), "{failure}");
        let mut other = report(1.0);
        other["workload"] = json!({"digest": Digest::of(b"then").to_string()});
        let now = Digest::of(b"now");
        assert!(read(&other).unwrap().check_workload(&Digest::of(b"then")).is_ok());
        let failure = read(&other).unwrap().check_workload(&now).unwrap_err();
        assert!(failure.to_string().contains("is another"), "{failure}");
        let renamed =
            json!({"schema_version": SCHEMA_VERSION, "jobs": {"x": {"veriplay": {"per_s": 1.0, "spread": 0.0}}}});
        let failure = read(&renamed).unwrap().compare(&measured([1.0; 3])).unwrap_err();
        assert!(failure.to_string().contains("no job with"), "{failure}");
        let renamed = read(&renamed).unwrap();
        let failure = renamed.check_jobs(&["empty"], &[1]).unwrap_err();
        assert!(failure.to_string().contains("it has x (threads: 1)"), "{failure}");
        assert!(renamed.check_jobs(&["empty", "x"], &[2]).is_err() && renamed.check_jobs(&["x"], &[1, 2]).is_ok());
    }

    #[test]
    fn another_machine_is_named() {
        let mut earlier = report(1.0);
        let machine = json!({"model": "A", "cpus": 2, "build": "release"});
        earlier["machine"] = machine.clone();
        let earlier = read(&earlier).unwrap();
        assert_eq!(earlier.other_machine(&machine), None);
        let warning = earlier.other_machine(&json!({"model": "A", "cpus": 4, "build": "release"})).unwrap();
        assert!(warning.contains("cpus 2 then, 4 now"), "{warning}");
    }
}
