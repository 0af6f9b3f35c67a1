//! Runs probes through the trait [`Execute`].
//!
//! Each probe gets a fresh sandbox, which its runs share. The caller provides an [`ExecutorFactory`].

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_core::{Execute, ExecuteError, Job, Outcome};

use super::judge::{self, Finding, SandboxRun};
use super::{Probe, ProbeProgram, RunOrder};

/// Seed of every run, so that a probe that draws or reads a clock sees the same each time.
const SEED: u64 = 20_260_101;

/// A fresh executor for one probe.
pub type BoxedExecutor<'a> = Box<dyn Execute + 'a>;

/// A port without a listener, for programs that run in our own sandbox.
const PORT: &str = "9";
/// The file that programs in our own sandbox look for on the host.
const CANARY: &str = "/etc/passwd";

/// Fills in what only the runner knows: the port on which the suite listens, and the file it has put on the host.
pub fn fill_placeholders(program: &str, port: &str, canary: &str) -> String {
    program.replace("{{port}}", port).replace("{{canary}}", canary)
}

/// Makes executors for probes.
pub trait ExecutorFactory: Sync {
    /// Makes a fresh sandbox of the attacked image with this many workers.
    ///
    /// # Errors
    /// When the host cannot make one.
    fn make_sandbox(&self, workers: u32) -> Result<BoxedExecutor<'_>, String>;

    /// Makes a fresh sandbox for the module in `text`. Jobs name the image `id`, the probe's id.
    ///
    /// # Errors
    /// When the host refuses the module, and why.
    fn make_module(&self, id: &str, text: &str, workers: u32) -> Result<BoxedExecutor<'_>, String>;
}

/// Runs one probe and judges it.
pub fn run_probe(factory: &dyn ExecutorFactory, probe: &Probe, image: &str) -> Finding {
    judge::judge_sandbox_runs(probe, &run_programs(factory, probe, image))
}

/// Runs `probes` on this many threads and returns the findings in their order. Calls `each` when a probe ends.
pub fn run_probes(
    factory: &dyn ExecutorFactory,
    probes: &[Probe],
    image: &str,
    threads: usize,
    each: &(dyn Fn(&Probe, &Finding) + Sync),
) -> Vec<Finding> {
    in_parallel(probes, threads, &|probe| {
        let finding = run_probe(factory, probe, image);
        each(probe, &finding);
        finding
    })
}

/// Calls `work` for every probe, on this many threads, and returns the results in their order.
///
/// # Panics
/// When `work` does.
pub fn in_parallel<T: Send>(probes: &[Probe], threads: usize, work: &(dyn Fn(&Probe) -> T + Sync)) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some((index, probe)) = probes.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(probe);
                    done.lock().expect("no thread panics with the lock").push((index, result));
                }
            });
        }
    });
    let mut done: Vec<(usize, T)> = done.into_inner().expect("no thread panics with the lock");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn run_programs(factory: &dyn ExecutorFactory, probe: &Probe, image: &str) -> Vec<SandboxRun> {
    let workers = if let RunOrder::Concurrent(count) = probe.order { count } else { 1 };
    let (fresh, image, programs) = match &probe.program {
        ProbeProgram::Programs(_, programs) => match factory.make_sandbox(workers) {
            Ok(fresh) => (fresh, image.to_owned(), programs.clone()),
            Err(why) => return vec![SandboxRun::Fault(why)],
        },
        ProbeProgram::Module(text) => match factory.make_module(&probe.id(), text, workers) {
            Ok(fresh) => (fresh, probe.id(), Vec::new()),
            Err(why) => return vec![SandboxRun::Refused(why)],
        },
    };
    let jobs: Vec<Job> = run_texts(probe, programs).into_iter().map(|text| make_job(probe, &image, text)).collect();
    let one = |job: &Job| to_sandbox_run(fresh.execute(job));
    match probe.order {
        RunOrder::Sequential | RunOrder::Repeated(_) => jobs.iter().map(one).collect(),
        RunOrder::Concurrent(_) => run_concurrently(fresh.as_ref(), &jobs),
    }
}

/// The program text of each run. A module gets the number of its run.
fn run_texts(probe: &Probe, programs: Vec<String>) -> Vec<String> {
    let runs = match probe.order {
        RunOrder::Concurrent(count) | RunOrder::Repeated(count) => count,
        RunOrder::Sequential => return if programs.is_empty() { vec!["0".to_owned()] } else { programs },
    };
    (0..runs).map(|run| programs.first().cloned().unwrap_or_else(|| run.to_string())).collect()
}

fn make_job(probe: &Probe, image: &str, program: String) -> Job {
    let program = fill_placeholders(&program, PORT, CANARY);
    let job = match &probe.entry {
        None => Job::script(program),
        Some(function) => Job::call(program, function, []),
    };
    Job {
        image: image.to_owned(),
        stdin: probe.stdin.clone().into_bytes(),
        files: vec![("given.txt".to_owned(), b"given to the job\n".to_vec())],
        limits: probe.limits,
        seed: SEED,
        ..job
    }
}

fn to_sandbox_run(ended: Result<Outcome, ExecuteError>) -> SandboxRun {
    match ended {
        Ok(outcome) => SandboxRun::Outcome(Box::new(outcome)),
        Err(error) => SandboxRun::Fault(error.to_string()),
    }
}

fn run_concurrently(execute: &dyn Execute, jobs: &[Job]) -> Vec<SandboxRun> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = jobs.iter().map(|job| scope.spawn(|| to_sandbox_run(execute.execute(job)))).collect();
        let died = |_| SandboxRun::Fault("the thread that ran it panicked".to_owned());
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(died)).collect()
    })
}
