//! Speed, correctness under load and memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::results::{Memory, Speed, UnderLoad};
use super::target::{Answer, RunEnding, RunLimits, Target};

/// Rounds of each measurement of speed, in turns with the reference.
const ROUNDS: usize = 3;
/// Seconds of a peer's round, and of the reference's.
const ROUND: Duration = Duration::from_millis(2000);
const REFERENCE_ROUND: Duration = Duration::from_millis(700);
/// The least programs of a round.
const LEAST: usize = 3;
/// What the measurement under load should take at most, by the speed that was measured before.
const UNDER_LOAD_SECONDS: f64 = 30.0;
/// Programs of it, at least and at most.
const UNDER_LOAD_PROGRAMS: [usize; 2] = [64, 2048];

/// A program that no other run has, and what it must print. It uses what every subset of Python has.
pub fn numbered_program() -> (String, String) {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let serial = 1_000_003 + SERIAL.fetch_add(1, Ordering::Relaxed);
    let program = format!(
        "def score(values, weight):\n    total = 0\n    for value in values:\n        if value > 0:\n            \
         total = total + value * weight\n    return total\n\nprint(score([3, -1, 4, 1, -5, 9], {serial}))\n"
    );
    (program, (17 * serial).to_string())
}

fn is_right(answer: &Answer, expected: &str) -> bool {
    answer.ending == RunEnding::Finished && answer.stdout.trim_end_matches('\n') == expected
}

/// One round: programs one after another, by each of some callers.
struct Round {
    latencies: Vec<Duration>,
    not_right: usize,
    elapsed: Duration,
}

impl Round {
    fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64()
    }
}

fn run_round(target: &Target, callers: usize, span: Duration) -> anyhow::Result<Round> {
    let started = Instant::now();
    let call = || -> anyhow::Result<(Vec<Duration>, usize)> {
        let mut client = target.client()?;
        let (mut latencies, mut not_right) = (Vec::new(), 0);
        while started.elapsed() < span || latencies.len() * callers < LEAST {
            let (program, expected) = numbered_program();
            let answer = client.run(&program, RunLimits::ROOMY);
            not_right += usize::from(!is_right(&answer, &expected));
            latencies.push(answer.latency);
        }
        Ok((latencies, not_right))
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..callers).map(|_| scope.spawn(call)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| anyhow::bail!("a caller panicked"))).collect()
    });
    let mut round = Round { latencies: Vec::new(), not_right: 0, elapsed: started.elapsed() };
    for result in results {
        let (latencies, not_right) = result?;
        round.latencies.extend(latencies);
        round.not_right += not_right;
    }
    Ok(round)
}

/// Programs a second with this many callers, in turns with the reference.
///
/// # Errors
/// When a caller cannot be set up.
pub fn speed(target: &Target, reference: &Target, callers: usize) -> anyhow::Result<Speed> {
    let (mut rates, mut ratios, mut latencies, mut not_right) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        let round = run_round(target, callers, ROUND)?;
        let reference = run_round(reference, callers, REFERENCE_ROUND)?;
        rates.push(round.rate());
        ratios.push(reference.rate() / round.rate());
        latencies.extend(round.latencies.iter().map(|latency| latency.as_secs_f64() * 1e6));
        not_right += round.not_right;
    }
    latencies.sort_by(f64::total_cmp);
    let middle = median(&mut rates);
    Ok(Speed {
        programs_per_second: middle,
        reference_ratio: median(&mut ratios),
        spread_percent: 100.0 * (rates[rates.len() - 1] - rates[0]) / middle,
        programs: latencies.len(),
        not_right,
        p50_us: percentile(&latencies, 0.5),
        p99_us: if latencies.len() >= 100 { percentile(&latencies, 0.99) } else { latencies[latencies.len() - 1] },
    })
}

/// The median; sorts.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    percentile(values, 0.5)
}

/// The nearest rank among sorted values.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len()) - 1]
}

/// Runs programs with known answers, many at once, and counts what came back.
///
/// # Errors
/// When a caller cannot be set up.
pub fn under_load(target: &Target, in_flight: usize, programs_per_second: f64) -> anyhow::Result<UnderLoad> {
    let [least, most] = UNDER_LOAD_PROGRAMS;
    let programs = ((programs_per_second * UNDER_LOAD_SECONDS) as usize).clamp(least, most);
    let (next, counts) = (AtomicUsize::new(0), Mutex::new(UnderLoad { in_flight, programs, ..UnderLoad::default() }));
    let started = Instant::now();
    let call = || -> anyhow::Result<()> {
        let mut client = target.client()?;
        while next.fetch_add(1, Ordering::Relaxed) < programs {
            let (program, expected) = numbered_program();
            let answer = client.run(&program, RunLimits::ROOMY);
            let mut counts = counts.lock().map_err(|_| anyhow::anyhow!("a caller panicked"))?;
            count(&mut counts, &answer, &expected);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..in_flight).map(|_| scope.spawn(call)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| anyhow::bail!("a caller panicked")))
    })?;
    let counts = counts.into_inner().map_err(|_| anyhow::anyhow!("a caller panicked"))?;
    Ok(UnderLoad { seconds: started.elapsed().as_secs_f64(), ..counts })
}

fn count(counts: &mut UnderLoad, answer: &Answer, expected: &str) {
    if is_right(answer, expected) {
        counts.right += 1;
        return;
    }
    let what = match &answer.ending {
        RunEnding::Finished => {
            counts.wrong += 1;
            format!("success, and `{}` instead of `{expected}`", answer.stdout.trim_end())
        }
        RunEnding::Failed(why) => {
            counts.failed += 1;
            why.clone()
        }
        RunEnding::Unanswered(why) => {
            counts.unanswered += 1;
            why.clone()
        }
    };
    counts.example.get_or_insert(what);
}

/// Resident memory while idle, and with two programs that compute.
///
/// # Errors
/// When the process table cannot be read.
pub fn memory(target: &Target, reference: &Target) -> anyhow::Result<Memory> {
    const PROGRAM: &str = "i = 0\nwhile i < 400000000:\n    i = i + 1\nprint(i)\n";
    let limits = RunLimits { seconds: 4, memory_bytes: 256 << 20, patience: Duration::from_secs(6) };
    let resident = || match target.service_pid() {
        Some(pid) => resident_mib(pid, None),
        None => resident_mib(std::process::id(), reference.service_pid()).map(|all| all - own_mib()),
    };
    let idle = resident()?;
    let done = AtomicBool::new(false);
    let peak = std::thread::scope(|scope| -> anyhow::Result<f64> {
        let runs: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| target.client().map(|mut client| client.run(PROGRAM, limits)).is_ok()))
            .collect();
        let sampler = scope.spawn(|| {
            let mut peak = 0.0_f64;
            while !done.load(Ordering::Relaxed) {
                peak = peak.max(resident().unwrap_or_default());
                std::thread::sleep(Duration::from_millis(50));
            }
            peak
        });
        let ran = runs.into_iter().all(|run| run.join().unwrap_or(false));
        done.store(true, Ordering::Relaxed);
        let peak = sampler.join().map_err(|_| anyhow::anyhow!("the sampler panicked"))?;
        anyhow::ensure!(ran, "a caller cannot be set up");
        Ok(peak)
    })?;
    let idle_mib = if target.service_pid().is_some() { idle } else { 0.0 };
    Ok(Memory { idle_mib, per_program_mib: (peak - idle).max(0.0) / 2.0 })
}

fn own_mib() -> f64 {
    pss_kib(std::process::id()).unwrap_or_default() as f64 / 1024.0
}

/// The proportional set size of a process and its descendants, without those below `except`.
fn resident_mib(root: u32, except: Option<u32>) -> anyhow::Result<f64> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").context("cannot list the processes")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let parent = fs::read_to_string(entry.path().join("stat")).ok().and_then(|stat| parent_in(&stat));
        children.entry(parent.unwrap_or_default()).or_default().push(pid);
    }
    let (mut todo, mut seen, mut kib) = (vec![root], BTreeSet::new(), 0);
    while let Some(pid) = todo.pop() {
        if Some(pid) != except && seen.insert(pid) {
            kib += pss_kib(pid).unwrap_or_default();
            todo.extend(children.get(&pid).into_iter().flatten());
        }
    }
    Ok(kib as f64 / 1024.0)
}

/// The parent in a line of `/proc/PID/stat`. The name before it may hold anything.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn pss_kib(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(stdout: &str, ending: RunEnding) -> Answer {
        Answer { stdout: stdout.to_owned(), ending, latency: Duration::ZERO }
    }

    #[test]
    fn an_answer_is_right_only_if_the_run_succeeded_and_printed_the_number() {
        let mut counts = UnderLoad::default();
        count(&mut counts, &answer("34\n", RunEnding::Finished), "34");
        assert_eq!((counts.right, &counts.example), (1, &None));
        count(&mut counts, &answer("", RunEnding::Finished), "34");
        count(&mut counts, &answer("34\n", RunEnding::Failed("exit code 1".to_owned())), "34");
        count(&mut counts, &answer("", RunEnding::Unanswered("lost".to_owned())), "34");
        assert_eq!((counts.right, counts.wrong, counts.failed, counts.unanswered), (1, 1, 1, 1));
        assert_eq!(counts.example.as_deref(), Some("success, and `` instead of `34`"));
    }

    #[test]
    fn no_two_programs_have_the_same_answer() {
        assert_ne!(numbered_program().1, numbered_program().1);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(
            (percentile(&values, 0.5), percentile(&values, 0.99), percentile(&values[..1], 0.99)),
            (50.0, 99.0, 1.0)
        );
    }

    #[test]
    fn a_process_may_have_any_name() {
        assert_eq!(parent_in("7 (a) b) R 3 7 7 0"), Some(3));
        assert_eq!(parent_in("7"), None);
    }
}
