//! Runs all baselines in turn, round by round, and keeps what was measured.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use veriplay_console::exit::{ExitCode, Failure};

use super::baselines::{BASELINES, Baseline, BaselineSetting, INSTALL, VERIPLAY};
use super::command_peer::{CommandPeer, PeerCommand};
use super::jobs::BenchJob;
use super::languages::{BenchLanguage, NativeCommand};
use super::programs::{ProgramSetting, VeriplayPrograms};
use super::worker::{Round, RoundError, Worker, WrongResults};

/// Rounds that count, after one warm-up round.
pub const ROUNDS: usize = 5;

/// A baseline with all its workers started.
pub struct StartedBaseline {
    /// Its name in the report.
    pub name: String,
    workers: Vec<Box<dyn Worker>>,
    /// Whether its wrong results are counted instead of ending the run.
    counts_wrong: bool,
}

/// A baseline that could not start.
#[derive(Debug, Clone)]
pub struct AbsentBaseline {
    /// Its name in the report.
    pub name: &'static str,
    /// Why it could not start.
    pub why: String,
    /// How to have it on this machine.
    pub install: &'static str,
}

/// Starts `threads` workers of every available baseline of Python.
pub fn open(setting: &BaselineSetting, threads: usize) -> (Vec<StartedBaseline>, Vec<AbsentBaseline>) {
    let (mut opened, mut absent) = (Vec::new(), Vec::new());
    for Baseline { name, open } in BASELINES {
        let workers: Result<Vec<_>, String> = (0..threads).map(|_| open(setting)).collect();
        match workers {
            Ok(workers) => {
                opened.push(StartedBaseline { name: (*name).to_owned(), workers, counts_wrong: false });
            }
            Err(why) => absent.push(AbsentBaseline { name, why, install: INSTALL }),
        }
    }
    (opened, absent)
}

/// The same of another language: Veriplay, and the commands that this machine has.
pub fn open_programs(setting: &Arc<ProgramSetting>, threads: usize) -> (Vec<StartedBaseline>, Vec<AbsentBaseline>) {
    let (mut opened, mut absent) = (Vec::new(), Vec::new());
    for NativeCommand { name, command, install } in setting.language.commands {
        match start_command(command, setting.language, false, threads) {
            Ok(workers) => {
                opened.push(StartedBaseline { name: (*name).to_owned(), workers, counts_wrong: false });
            }
            Err((_, why)) => absent.push(AbsentBaseline { name, why, install }),
        }
    }
    let own = |_| Box::new(VeriplayPrograms(Arc::clone(setting))) as Box<dyn Worker>;
    let workers = (0..threads).map(own).collect();
    opened.push(StartedBaseline { name: VERIPLAY.to_owned(), workers, counts_wrong: false });
    (opened, absent)
}

/// Starts `threads` workers of a peer, which runs files of `language`.
pub fn open_peer(
    peer: &PeerCommand,
    language: &'static BenchLanguage,
    threads: usize,
) -> Result<StartedBaseline, Failure> {
    let workers = start_command(&peer.command, language, true, threads)
        .map_err(|(code, why)| Failure::message(code, format!("peer `{}`: {why}", peer.name)))?;
    Ok(StartedBaseline { name: peer.name.clone(), workers, counts_wrong: true })
}

/// Starts `threads` workers of a command, and tries it once.
fn start_command(
    command: &str,
    language: &'static BenchLanguage,
    counts_wrong: bool,
    threads: usize,
) -> Result<Vec<Box<dyn Worker>>, (ExitCode, String)> {
    let start = |_| CommandPeer::new(command, language, counts_wrong);
    let workers = (0..threads).map(start).collect::<Result<Vec<_>, String>>().map_err(|why| (ExitCode::Host, why))?;
    workers.first().map_or(Ok(()), CommandPeer::check_command).map_err(|why| (ExitCode::Input, why))?;
    Ok(workers.into_iter().map(|worker| Box::new(worker) as Box<dyn Worker>).collect())
}

/// The measurements of one baseline on one job, over all rounds that count.
#[derive(Debug, Default, Clone)]
pub struct Samples {
    /// Jobs a second, one number a round.
    pub per_s: Vec<f64>,
    /// Microseconds, one number a job.
    pub us: Vec<f64>,
    /// Fuel of one job, where it is counted.
    pub fuel: Option<u64>,
    /// Wrong results, those of the check before the measurement included.
    pub wrong: WrongResults,
}

/// The measurements of one job.
#[derive(Debug, Clone)]
pub struct MeasuredJob {
    /// The job's name on the command line.
    pub job: &'static str,
    /// In ascending order of the number of threads, which begins with 1.
    pub by_threads: Vec<ThreadSamples>,
}

impl MeasuredJob {
    pub(crate) fn with_threads(&self, threads: usize) -> Option<&ThreadSamples> {
        self.by_threads.iter().find(|row| row.threads == threads)
    }
}

/// The measurements of one job with one number of threads.
#[derive(Debug, Clone)]
pub struct ThreadSamples {
    /// How many workers ran at once.
    pub threads: usize,
    /// By baseline, in the order of reports.
    pub baselines: Vec<(String, Samples)>,
}

impl ThreadSamples {
    pub(crate) fn samples_of(&self, baseline: &str) -> Option<&Samples> {
        self.baselines.iter().find(|(name, _)| name == baseline).map(|(_, samples)| samples)
    }

    /// Jobs a second of `own` over those of `other`. `None` of itself, and where one of them gave wrong results, whose time means nothing.
    pub(crate) fn speed_of(&self, own: &str, other: &str) -> Option<f64> {
        let right = |baseline| self.samples_of(baseline).filter(|samples| samples.wrong.count == 0);
        if own == other { None } else { right(own)?.ratio(right(other)?) }
    }
}

impl Samples {
    /// Adds a round of each of several workers, which ran at the same time.
    pub(super) fn add(&mut self, rounds: &[Round]) {
        let rate = |round: &Round| round.ns.len() as f64 / round.elapsed.as_secs_f64();
        self.per_s.push(rounds.iter().map(rate).sum());
        self.us.extend(rounds.iter().flat_map(|round| &round.ns).map(|ns| *ns as f64 / 1e3));
        self.fuel = rounds.iter().find_map(|round| round.fuel).or(self.fuel);
        rounds.iter().for_each(|round| self.wrong.add(&round.wrong));
    }

    /// Jobs per second over those of `other`: the median over rounds, each compared with the other's round of the same number.
    pub(crate) fn ratio(&self, other: &Samples) -> Option<f64> {
        let ratios: Vec<f64> = self.per_s.iter().zip(&other.per_s).map(|(own, other)| own / other).collect();
        median(&ratios)
    }

    pub(crate) fn median_per_s(&self) -> Option<f64> {
        median(&self.per_s)
    }

    /// Jobs a second of the slowest and of the fastest round.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        Some((percentile(&self.per_s, 0.0)?, percentile(&self.per_s, 100.0)?))
    }

    /// `None` of a single round, which does not say how much rounds differ.
    pub(crate) fn spread(&self) -> Option<f64> {
        if self.per_s.len() < 2 { None } else { spread(&self.per_s) }
    }

    /// A percentile of the time of one job, in µs.
    pub(crate) fn latency_us(&self, percent: f64) -> Option<f64> {
        percentile(&self.us, percent)
    }
}

/// One job's samples: for each number of threads, for each baseline.
pub type Table = Vec<Vec<Samples>>;

/// Runs `work` in every baseline, with each number of threads, round after round of `span`.
///
/// # Errors
/// A baseline that gave a wrong result, or failed.
pub fn measure(
    baselines: &mut [StartedBaseline],
    work: &BenchJob,
    threads: &[usize],
    span: Duration,
    tick: &dyn Fn(),
) -> Result<Table, Failure> {
    let mut table = vec![vec![Samples::default(); baselines.len()]; threads.len()];
    for round in 0..=ROUNDS {
        for (threads, row) in threads.iter().zip(&mut table) {
            for (baseline, samples) in baselines.iter_mut().zip(row) {
                let rounds = run_together(&mut baseline.workers[..*threads], work, span);
                let rounds = rounds.map_err(|error| baseline_failure(&baseline.name, work, &error))?;
                if round > 0 {
                    samples.add(&rounds);
                }
                tick();
            }
        }
    }
    Ok(table)
}

fn run_together(workers: &mut [Box<dyn Worker>], work: &BenchJob, span: Duration) -> Result<Vec<Round>, RoundError> {
    let barrier = Barrier::new(workers.len());
    std::thread::scope(|scope| {
        let start = |worker| scope.spawn(|| run_at_barrier(worker, &barrier, work, span));
        let started: Vec<_> = workers.iter_mut().map(start).collect();
        let ended = started.into_iter().map(|thread| thread.join());
        ended.map(|round| round.unwrap_or_else(|_| Err(RoundError::Failed("its thread panicked".to_owned())))).collect()
    })
}

fn run_at_barrier(
    worker: &mut Box<dyn Worker>,
    barrier: &Barrier,
    work: &BenchJob,
    span: Duration,
) -> Result<Round, RoundError> {
    barrier.wait();
    worker.round(work, span)
}

/// Checks that every baseline accepts `work` and finds the bug in its broken copy, because the time of a wrong result means nothing. Returns
/// the wrong results of each: only baselines whose wrong results are counted have any.
///
/// # Errors
/// The first other baseline that does not.
pub fn check(baselines: &mut [StartedBaseline], work: &BenchJob) -> Result<Vec<WrongResults>, Failure> {
    let check_one = |baseline: &mut StartedBaseline| {
        check_worker(&mut baseline.workers[0], work, baseline.counts_wrong)
            .map_err(|error| baseline_failure(&baseline.name, work, &error))
    };
    baselines.iter_mut().map(check_one).collect()
}

fn check_worker(worker: &mut Box<dyn Worker>, work: &BenchJob, counts_wrong: bool) -> Result<WrongResults, RoundError> {
    let mut wrong = worker.round(work, Duration::ZERO)?.wrong;
    let found = match worker.round(&work.broken(), Duration::ZERO) {
        Err(RoundError::Wrong(_)) => true,
        Err(error) => return Err(error),
        Ok(round) => round.wrong.count > 0,
    };
    let missed = "it did not find the bug in a broken copy";
    match (found, counts_wrong) {
        (true, _) => {}
        (false, true) => wrong.note(missed.to_owned()),
        (false, false) => return Err(RoundError::Wrong(missed.to_owned())),
    }
    Ok(wrong)
}

fn baseline_failure(baseline: &str, work: &BenchJob, error: &RoundError) -> Failure {
    match error {
        RoundError::Wrong(what) => Failure::message(
            ExitCode::Bug,
            format!("baseline `{baseline}` gives a wrong result for job `{}`: {what}", work.name),
        ),
        RoundError::Failed(what) => {
            Failure::message(ExitCode::Host, format!("baseline `{baseline}` fails on job `{}`: {what}", work.name))
        }
    }
}

/// The value below which a share of `percent` of all values lies, by nearest rank: always one of the values.
///
/// `None` of no values.
fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    nearest_rank(&sorted, percent / 100.0)
}

/// The smallest of the sorted values that at least this share of all does not exceed. `None` of no values.
pub(super) fn nearest_rank(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
}

/// The middle value, or the mean of the two in the middle. `None` of no values.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, *upper))
}

/// The distance between the largest and the smallest value, as a share of the median. `None` of no values.
fn spread(values: &[f64]) -> Option<f64> {
    let (low, high) = (percentile(values, 0.0)?, percentile(values, 100.0)?);
    Some((high - low) / median(values)?)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;
    use crate::bench::jobs;
    use crate::bench::languages::{LANGUAGES, PYTHON};

    struct FixedWorker(fn(&BenchJob) -> Result<(), RoundError>);

    impl Worker for FixedWorker {
        fn round(&mut self, work: &BenchJob, span: Duration) -> Result<Round, RoundError> {
            let elapsed = span.max(Duration::from_micros(1));
            (self.0)(work).map(|()| Round { ns: vec![1000], elapsed, ..Round::default() })
        }
    }

    fn baseline(answer: fn(&BenchJob) -> Result<(), RoundError>) -> Vec<StartedBaseline> {
        vec![StartedBaseline {
            name: "fixed".to_owned(),
            workers: vec![Box::new(FixedWorker(answer)), Box::new(FixedWorker(answer))],
            counts_wrong: false,
        }]
    }

    fn honest(work: &BenchJob) -> Result<(), RoundError> {
        let broken = work.steps().iter().any(|step| step.program.contains("1 == 2") || step.program.contains("[8], 6"));
        if broken { Err(RoundError::Wrong("found".to_owned())) } else { Ok(()) }
    }

    #[test]
    fn a_baseline_that_tells_right_from_wrong_passes_the_check() {
        for work in jobs::all(&PYTHON) {
            check(&mut baseline(honest), &work).unwrap();
        }
    }

    /// By a native run of every job and its broken copy, on machines that have the compilers and interpreters.
    #[test]
    fn commands_of_other_languages_find_the_bug_in_the_broken_copies_of_their_jobs() {
        for language in LANGUAGES {
            for NativeCommand { name, command, install } in language.commands {
                let workers = match start_command(command, language, false, 1) {
                    Ok(workers) => workers,
                    Err((_, why)) => {
                        let _ = writeln!(std::io::stderr(), "SKIPPED jobs in {}: {why}; {install}", language.name);
                        continue;
                    }
                };
                let name = (*name).to_owned();
                let mut native = [StartedBaseline { name, workers, counts_wrong: false }];
                for work in jobs::all(language) {
                    let wrong = check(&mut native, &work).unwrap_or_else(|failure| panic!("{failure}"));
                    assert_eq!(wrong, [WrongResults::default()]);
                }
            }
        }
    }

    /// A command that ends well without running anything: as a peer its results are counted, as a baseline they end the run.
    #[test]
    fn a_command_that_runs_nothing_is_found_out_in_every_language() {
        for language in LANGUAGES {
            for counts_wrong in [true, false] {
                let workers = start_command("true {file}", language, counts_wrong, 1).unwrap();
                let mut idle = [StartedBaseline { name: "idle".to_owned(), workers, counts_wrong }];
                for work in jobs::all(language) {
                    let checked = check(&mut idle, &work);
                    assert_eq!(checked.as_ref().is_ok_and(|wrong| wrong[0].count == 1), counts_wrong, "{checked:?}");
                    assert_eq!(checked.is_err(), !counts_wrong, "{checked:?}");
                }
            }
        }
    }

    #[test]
    fn baselines_that_accept_all_or_nothing_or_break_are_named() {
        let work = &jobs::all(&PYTHON)[1];
        for says in [
            (|_| Ok(())) as fn(&BenchJob) -> Result<(), RoundError>,
            |_| Err(RoundError::Wrong("never".to_owned())),
            |_| Err(RoundError::Failed("gone".to_owned())),
        ] {
            let text = check(&mut baseline(says), work).unwrap_err().to_string();
            assert!(text.contains("`fixed`") && text.contains("`assert-small`"), "{text}");
        }
    }

    /// A peer that accepts whatever it is given, which is right until a program is broken.
    #[test]
    fn wrong_results_of_a_peer_are_counted_and_do_not_end_the_run() {
        let mut peers = baseline(|_| Ok(()));
        peers[0].counts_wrong = true;
        let checked = check(&mut peers, &jobs::all(&PYTHON)[0]).unwrap();
        assert_eq!((checked.len(), checked[0].count), (1, 1));
        assert!(checked[0].first.as_ref().unwrap().contains("broken copy"));

        let mut samples = Samples::default();
        let wrong = WrongResults { count: 2, first: Some("no".to_owned()) };
        let round = Round { ns: vec![1, 1], elapsed: Duration::from_micros(1), fuel: None, wrong };
        samples.add(&[round.clone(), round]);
        samples.wrong.add(&checked[0]);
        assert_eq!(samples.wrong, WrongResults { count: 5, first: Some("no".to_owned()) });
    }

    #[test]
    fn a_wrong_result_in_the_middle_of_a_measurement_ends_it() {
        let result = measure(
            &mut baseline(|_| Err(RoundError::Wrong("x".to_owned()))),
            &jobs::all(&PYTHON)[0],
            &[1],
            Duration::ZERO,
            &|| (),
        );
        assert!(result.is_err());
    }

    #[test]
    fn rates_of_threads_add_up_and_the_warm_up_does_not_count() {
        let span = Duration::from_millis(2);
        let table = measure(&mut baseline(honest), &jobs::all(&PYTHON)[0], &[1, 2], span, &|| ()).unwrap();
        let (one, two) = (&table[0][0], &table[1][0]);
        assert_eq!((one.per_s.len(), one.us.len(), two.us.len()), (ROUNDS, ROUNDS, 2 * ROUNDS));
        assert_eq!(two.ratio(one), Some(2.0));
        assert_eq!(one.latency_us(99.0), Some(1.0));
    }

    #[test]
    fn known_lists_have_known_statistics() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentile(&hundred, 99.0), Some(99.0));
        assert_eq!(percentile(&hundred, 50.0), Some(50.0));
        assert_eq!(percentile(&[7.0], 99.0), Some(7.0));
        assert_eq!(spread(&[8.0, 10.0, 12.0]), Some(0.4));
        assert_eq!((median(&[]), percentile(&[], 50.0), spread(&[])), (None, None, None));
        let samples = |per_s: &[f64]| Samples { per_s: per_s.to_vec(), ..Samples::default() };
        assert_eq!((samples(&[5.0]).spread(), samples(&[5.0, 5.0]).spread()), (None, Some(0.0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn at_least_the_share_asked_for_lies_at_or_below_a_percentile_and_less_lies_below_it(
            values in prop::collection::vec(0.0f64..1e9, 1..60), percent in 1.0f64..=100.0,
        ) {
            let found = percentile(&values, percent).unwrap();
            let share = |count: usize| count as f64 / values.len() as f64;
            prop_assert!(values.contains(&found));
            prop_assert!(share(values.iter().filter(|v| **v <= found).count()) >= percent / 100.0 - 1e-9);
            prop_assert!(share(values.iter().filter(|v| **v < found).count()) < percent / 100.0 + 1e-9);
        }

        #[test]
        fn statistics_do_not_depend_on_the_order_and_scale_with_the_values(
            values in prop::collection::vec(1.0f64..1e6, 1..40),
        ) {
            let reversed: Vec<f64> = values.iter().rev().copied().collect();
            let doubled: Vec<f64> = values.iter().map(|v| v * 2.0).collect();
            prop_assert_eq!(median(&values), median(&reversed));
            prop_assert_eq!(spread(&values), spread(&reversed));
            prop_assert_eq!(median(&doubled), median(&values).map(|m| m * 2.0));
            let (half, whole) = (percentile(&values, 50.0).unwrap(), percentile(&values, 99.0).unwrap());
            prop_assert!(half <= whole);
            // The 99th percentile of fewer than a hundred values is the largest.
            prop_assert!((percentile(&values, 0.0).unwrap()..=whole).contains(&median(&values).unwrap()));
        }
    }
}
