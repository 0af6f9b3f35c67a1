//! Runs probes through the seam [`Execute`].
//!
//! Each probe gets a sandbox of its own, without traces of others; within a probe the runs share it.
//! Who calls brings a [`Range`]: the command line and the tests have one each.

use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_core::{Entry, Execute, ExecuteError, Job, Outcome};

use super::judge::{self, Finding, Ran};
use super::{Order, Probe, Program};

/// Seed of every run: a probe that draws or reads a clock is to see the same each time.
const SEED: u64 = 20_260_101;

/// An executor, new for one probe.
pub type Fresh<'a> = Box<dyn Execute + 'a>;

/// A port without a listener, for programs that run in our own sandbox.
const PORT: &str = "9";
/// What they look for on the host.
const CANARY: &str = "/etc/passwd";

/// A program with what only the runner knows: where the suite listens, and which file it has put on the host.
#[must_use]
pub fn filled(program: &str, port: &str, canary: &str) -> String {
    program.replace("{{port}}", port).replace("{{canary}}", canary)
}

/// Where probes are run.
pub trait Range: Sync {
    /// A sandbox for Python programs with so many workers, in which nothing has run yet.
    ///
    /// # Errors
    /// When the host cannot make one.
    fn python(&self, workers: u32) -> Result<Fresh<'_>, String>;

    /// The same for the module in `text`, of which `id` is the probe's.
    ///
    /// # Errors
    /// When the host refuses the module, and why.
    fn module(&self, id: &str, text: &str, workers: u32) -> Result<Fresh<'_>, String>;

    /// The name jobs must give for the image of the module `id`.
    fn module_image(&self, id: &str) -> String;
}

/// Runs one probe and judges it.
#[must_use]
pub fn run_probe(range: &dyn Range, probe: &Probe, image: &str) -> Finding {
    judge::of_outcomes(probe, &runs(range, probe, image))
}

/// Runs all of `probes` on so many threads; findings in their order. `each` is called for every one as it ends.
#[must_use]
pub fn run_probes(
    range: &dyn Range,
    probes: &[Probe],
    image: &str,
    threads: usize,
    each: &(dyn Fn(&Probe, &Finding) + Sync),
) -> Vec<Finding> {
    in_parallel(probes, threads, &|probe| {
        let finding = run_probe(range, probe, image);
        each(probe, &finding);
        finding
    })
}

/// `work` on every probe, on so many threads; results in their order.
///
/// # Panics
/// When `work` does.
pub fn in_parallel<T: Send>(probes: &[Probe], threads: usize, work: &(dyn Fn(&Probe) -> T + Sync)) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while let Some((index, probe)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, probes.get(at)?)))
        {
            done.push((index, work(probe)));
        }
        done
    };
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(take)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a thread ends, or its panic is passed on"))
            .collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

fn runs(range: &dyn Range, probe: &Probe, image: &str) -> Vec<Ran> {
    let workers = if let Order::AtOnce(count) = probe.order { count } else { 1 };
    let (fresh, image, programs) = match &probe.program {
        Program::Python(programs) => match range.python(workers) {
            Ok(fresh) => (fresh, image.to_owned(), programs.clone()),
            Err(why) => return vec![Ran::Fault(why)],
        },
        Program::Module(text) => match range.module(&probe.id(), text, workers) {
            Ok(fresh) => (fresh, range.module_image(&probe.id()), Vec::new()),
            Err(why) => return vec![Ran::Refused(why)],
        },
    };
    let jobs: Vec<Job> = texts(probe, programs).into_iter().map(|text| job(probe, &image, text)).collect();
    let one = |job: &Job| ran(fresh.execute(job));
    match probe.order {
        Order::InTurn | Order::Repeated(_) => jobs.iter().map(one).collect(),
        Order::AtOnce(_) => at_once(fresh.as_ref(), &jobs),
    }
}

/// The program of each run. A module gets the number of its run.
fn texts(probe: &Probe, programs: Vec<String>) -> Vec<String> {
    let runs = match probe.order {
        Order::AtOnce(count) | Order::Repeated(count) => count,
        Order::InTurn => return if programs.is_empty() { vec!["0".to_owned()] } else { programs },
    };
    (0..runs).map(|run| programs.first().cloned().unwrap_or_else(|| run.to_string())).collect()
}

fn job(probe: &Probe, image: &str, program: String) -> Job {
    Job {
        image: image.to_owned(),
        program: filled(&program, PORT, CANARY),
        entry: probe
            .entry
            .as_ref()
            .map_or(Entry::Script, |function| Entry::Calls { function: function.clone(), arguments: vec![Vec::new()] }),
        stdin: probe.stdin.clone().into_bytes(),
        files: vec![("given.txt".to_owned(), b"given to the job\n".to_vec())],
        limits: probe.limits,
        seed: SEED,
        callee: None,
        base: None,
    }
}

fn ran(ended: Result<Outcome, ExecuteError>) -> Ran {
    match ended {
        Ok(outcome) => Ran::Outcome(Box::new(outcome)),
        Err(error) => Ran::Fault(error.to_string()),
    }
}

fn at_once(execute: &dyn Execute, jobs: &[Job]) -> Vec<Ran> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = jobs.iter().map(|job| scope.spawn(|| ran(execute.execute(job)))).collect();
        let died = |_| Ran::Fault("the thread that ran it panicked".to_owned());
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(died)).collect()
    })
}
