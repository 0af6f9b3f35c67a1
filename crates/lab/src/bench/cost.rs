//! `veriplay bench --job cost`: the highest processor time per unit of fuel, over the programs of `task-corpus/cost`.
//!
//! Each program runs with all of its fuel and with half of it, and the more expensive of the whole run and its second half counts, so that a
//! cheap start does not hide an expensive loop. Host work after the job (decoding, judging, printing) is included: the verifier judges
//! values and answers. Results are ratios to an ordinary loop of the same run. [`report`] formats the result.

pub mod report;

use std::time::Instant;

use veriplay_core::{
    CallCase, CallChecks, Checks, Comparison, Dropped, Execute, ExecuteError, Exit, Job, LimitKind, Limits, Predicted,
    Prediction, Problem, Status, Value, Verdict,
};
use veriplay_corpus::{CostJob, CostProgram, ORDINARY_LOOP};
use veriplay_sandbox::Sandbox;
use veriplay_verifier::{ProblemRequest, judge_program};

use veriplay_console::exit::{ExitCode, Failure};

/// The name of the job on the command line.
pub const NAME: &str = "cost";
/// A program that uses less fuel counts as using this much: a short cost that occurs once is harmless.
const LEAST_FUEL: u64 = 100_000_000;
/// The least that `--fuel` takes: of a run with less, [`LEAST_FUEL`] would be too large a part.
pub const LEAST_FUEL_OF_A_RUN: u64 = 10 * LEAST_FUEL;
/// A run shorter than this is repeated [`SHORT_ROUNDS`] times, because a momentary disturbance is a large part of it.
const SHORT_SECONDS: f64 = 0.1;
const SHORT_ROUNDS: usize = 10;
/// Programs between two measurements of the ordinary loop.
const LOOP_EVERY: usize = 12;
/// Bytes of an answer that a program prints for the verifier to judge.
const ANSWER_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq)]
struct TimedRun {
    seconds: f64,
    fuel: u64,
    end: RunEnd,
}

/// How a run ended, in the words of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunEnd {
    /// The exit of a script.
    Exit(&'static str),
    Status(Status),
    /// The wall-clock deadline ended it before the fuel did.
    Deadline,
}

/// The measurements of one program.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredProgram {
    program: CostProgram,
    whole: TimedRun,
    half: TimedRun,
}

impl MeasuredProgram {
    /// Seconds per billion units of fuel: of the whole run, or of its second half where that costs more.
    fn seconds_per_gfuel(&self) -> f64 {
        let per_gfuel = |seconds: f64, fuel: u64| seconds * 1e9 / fuel.max(LEAST_FUEL) as f64;
        let (seconds, fuel) = (self.whole.seconds - self.half.seconds, self.whole.fuel.saturating_sub(self.half.fuel));
        let later = if fuel < LEAST_FUEL { 0.0 } else { per_gfuel(seconds, fuel) };
        per_gfuel(self.whole.seconds, self.whole.fuel).max(later)
    }
}

/// Measures programs in one sandbox.
pub struct CostBench<'a> {
    /// The sandbox that each program runs in.
    pub sandbox: &'a Sandbox,
    /// Units each program may use.
    pub fuel: u64,
    /// Runs of each program; the fastest counts, because disturbances only make a run slower.
    pub rounds: usize,
}

impl CostBench<'_> {
    /// Measures all `programs`, and the ordinary loop every [`LOOP_EVERY`] programs.
    ///
    /// # Errors
    /// A host fault, or a corpus without the ordinary loop.
    pub fn measure(&self, programs: &[CostProgram], tick: &dyn Fn(&str)) -> Result<Vec<MeasuredProgram>, Failure> {
        let ordinary = programs.iter().find(|program| program.name == ORDINARY_LOOP);
        let missing = || Failure::message(ExitCode::Input, format!("task-corpus/cost has no `{ORDINARY_LOOP}`"));
        let ordinary = ordinary.ok_or_else(missing)?;
        let mut loop_measured = self.measure_program(ordinary)?;
        let mut measured = Vec::new();
        for (index, program) in programs.iter().filter(|program| program.name != ORDINARY_LOOP).enumerate() {
            tick(&program.name);
            measured.push(self.measure_program(program)?);
            if index % LOOP_EVERY == 0 {
                let again = self.measure_program(ordinary)?;
                loop_measured.whole.seconds = loop_measured.whole.seconds.min(again.whole.seconds);
                loop_measured.half.seconds = loop_measured.half.seconds.min(again.half.seconds);
            }
        }
        measured.push(loop_measured);
        Ok(measured)
    }

    fn measure_program(&self, program: &CostProgram) -> Result<MeasuredProgram, Failure> {
        let work = self.prepare(program)?;
        let (whole, half) = (self.fastest(&work, self.fuel)?, self.fastest(&work, self.fuel / 2)?);
        Ok(MeasuredProgram { program: program.clone(), whole, half })
    }

    fn fastest(&self, work: &TimedWork, fuel: u64) -> Result<TimedRun, Failure> {
        let mut fastest = self.run(work, fuel)?;
        let rounds = if fastest.seconds < SHORT_SECONDS { SHORT_ROUNDS.max(self.rounds) } else { self.rounds };
        for _ in 1..rounds {
            let run = self.run(work, fuel)?;
            fastest = if run.seconds < fastest.seconds { run } else { fastest };
        }
        Ok(fastest)
    }

    /// The work to time. A program that makes an answer runs once before, untimed.
    fn prepare(&self, program: &CostProgram) -> Result<TimedWork, Failure> {
        let text = program.program.clone();
        Ok(match program.job {
            CostJob::Script => TimedWork::Script(text),
            CostJob::Call => TimedWork::Judged(text, Box::new(wrong_call())),
            CostJob::Output => {
                TimedWork::Judged(self.run_for_output(program)?, Box::new(wrong_answer(Predicted::Output)))
            }
            CostJob::Input => {
                TimedWork::Judged(self.run_for_output(program)?, Box::new(wrong_answer(Predicted::Input)))
            }
        })
    }

    fn run_for_output(&self, program: &CostProgram) -> Result<String, Failure> {
        let limits = Limits { output_bytes: ANSWER_BYTES, ..self.sandbox.image().default_limits() };
        let outcome =
            self.sandbox.execute(&self.script_job(&program.program, limits)).map_err(|error| host_failure(&error))?;
        match (outcome.exit, String::from_utf8(outcome.stdout)) {
            (Exit::Returned, Ok(text)) => Ok(text),
            (exit, _) => {
                let why = format!("`{}` of task-corpus/cost prints no answer: it ended as {exit:?}", program.name);
                Err(Failure::message(ExitCode::Input, why))
            }
        }
    }

    fn script_job(&self, program: &str, limits: Limits) -> Job {
        Job { image: self.sandbox.image().name().to_owned(), limits, ..Job::script(program) }
    }

    fn run(&self, work: &TimedWork, fuel: u64) -> Result<TimedRun, Failure> {
        let limits = Limits { fuel, ..self.sandbox.image().default_limits() };
        match work {
            TimedWork::Script(text) => {
                let job = self.script_job(text, limits);
                let (outcome, seconds) = time_processor(|| self.sandbox.execute(&job));
                let outcome = outcome.map_err(|error| host_failure(&error))?;
                Ok(TimedRun { seconds, fuel: outcome.fuel, end: run_end(&outcome.exit) })
            }
            TimedWork::Judged(text, checks) => self.run_judged(text, (**checks).clone(), limits),
        }
    }

    fn run_judged(&self, program: &str, checks: Checks, limits: Limits) -> Result<TimedRun, Failure> {
        let problem = Problem { limits: limits.into(), ..Problem::new(NAME, checks) };
        let request = ProblemRequest { image: self.sandbox.image().name(), ..ProblemRequest::new(&problem, program) };
        let (verdict, seconds) = time_processor(|| judge_program(self.sandbox, &request));
        let verdict: Verdict = verdict.map_err(|Dropped { why }| Failure::message(ExitCode::Host, why))?;
        let deadline = verdict.status == Status::DeadlineExceeded;
        let end = if deadline { RunEnd::Deadline } else { RunEnd::Status(verdict.status) };
        Ok(TimedRun { seconds, fuel: verdict.evidence.fuel, end })
    }
}

enum TimedWork {
    Script(String),
    /// A program, or an answer, with the checks of it.
    Judged(String, Box<Checks>),
}

/// A check of a call of `f` that every program of the corpus fails.
fn wrong_call() -> Checks {
    let case = CallCase::new(Vec::new(), Value::None);
    let comparison = Comparison::by("exact");
    Checks::Calls(CallChecks { function: "f".to_owned(), cases: vec![case], fresh: false, comparison })
}

/// A prediction that every answer of the corpus gets wrong.
fn wrong_answer(wanted: Predicted) -> Checks {
    let program = "def f(*arguments):\n    return len(arguments)\n".to_owned();
    Checks::Prediction(Prediction { program, input: "1, 2".to_owned(), output: Value::int(-1), wanted })
}

fn run_end(exit: &Exit) -> RunEnd {
    RunEnd::Exit(match exit {
        Exit::Returned => "returned",
        Exit::Raised => "raised",
        Exit::CompileError => "compile error",
        Exit::MissingEntry => "missing entry",
        Exit::Trapped => "trapped",
        Exit::Exceeded { limit: LimitKind::DeadlineNs, .. } => return RunEnd::Deadline,
        Exit::Exceeded { limit: LimitKind::Fuel, .. } => "fuel",
        Exit::Exceeded { limit: LimitKind::MemoryBytes, .. } => "memory",
        Exit::Exceeded { limit: LimitKind::OutputBytes, .. } => "output",
        Exit::Exceeded { limit: LimitKind::FileBytes, .. } => "files",
    })
}

fn host_failure(error: &ExecuteError) -> Failure {
    Failure::message(ExitCode::Host, error)
}

fn time_processor<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let (processor, started) = (processor_seconds(), Instant::now());
    let done = work();
    let elapsed = started.elapsed().as_secs_f64();
    // The kernel counts in hundredths of a second. On a busy machine the processor time is far less than the elapsed time.
    let used = processor.zip(processor_seconds()).map_or(elapsed, |(before, after)| after - before + 0.01);
    (done, elapsed.min(used))
}

/// Processor time of this process, in whole hundredths of a second; `None` where the kernel does not say.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in brackets, which may hold spaces; the 14th and 15th are user and system time.
    let ticks = text.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
    let ticks: Vec<u64> = ticks.map(|field| field.parse().ok()).collect::<Option<_>>()?;
    Some(ticks.iter().sum::<u64>() as f64 / 100.0)
}
