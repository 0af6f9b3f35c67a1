//! `veriplay bench`: Veriplay and common alternatives, on this machine, in one run.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use veriplay_corpus::{ORDINARY_LOOP, built_in_cost_programs};
use veriplay_learner::LearnerOptions;
use veriplay_sandbox::SandboxOptions;

use crate::bench::baselines::BaselineSetting;
use crate::bench::cost::report::CostReport;
use crate::bench::cost::{self, CostBench};
use crate::bench::jobs::{self, BenchJob};
use crate::bench::learner::{self, ModelShape};
use crate::bench::report::{BenchContext, BenchReport, MeasuredJob};
use crate::bench::rounds::{self, ROUNDS, Samples, StartedBaseline};
use crate::bench::serve::{self, LoadPlan, Protocol};
use crate::bench::worker::RoundError;
use crate::bench::{Machine, MemoryReport, SoakReport, find_node, find_python};
use crate::device::{self, DeviceArguments};
use crate::exit::{ExitCode, Failure, ResultExt};
use crate::http::Target;
use crate::isolation::{self, Isolation};
use crate::json_file::read_text;
use crate::processors::processors;
use crate::{image, progress};

/// Upper bound of `--seconds`.
const MAX_SECONDS: f64 = 3600.0;

/// The subject of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BenchSubject {
    /// The sandbox and other ways to run programs.
    Sandbox,
    /// Training and generation, compared with PyTorch and llama.cpp.
    Learner,
    /// A running service, by load with known answers.
    Serve,
}

/// What `bench serve` asks, and how fast
#[derive(Debug, Args)]
#[command(next_help_heading = "bench serve")]
struct LoadArguments {
    /// The service: `http://HOST:PORT` or `unix:/PATH`
    #[arg(long, value_name = "URL", required_if_eq("subject", "serve"))]
    url: Option<Target>,
    /// Its protocol: any SandboxFusion-compatible server, or our own
    #[arg(long, value_enum, default_value = "sandboxfusion")]
    protocol: Protocol,
    /// Requests
    #[arg(long, value_name = "N", default_value = "2000")]
    requests: NonZeroU64,
    /// Requests under way at once
    #[arg(long, value_name = "N", default_value = "64")]
    in_flight: NonZeroUsize,
    /// Open loop: send this many requests a second without waiting for answers [default: closed loop]
    #[arg(long, value_name = "N")]
    rate: Option<f64>,
    /// `native`: attempts of a request
    #[arg(long, value_name = "N", default_value = "64")]
    batch: NonZeroUsize,
    /// A new connection for each request, as verl makes
    #[arg(long)]
    new_connections: bool,
    /// Seconds to wait for an answer
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    patience: f64,
    /// Seed of the programs; repeating it lets caches answer [default: a new one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// A file whose first line is the bearer token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Compare Veriplay with a subprocess, a fork and a process pool, on this machine in one run
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// What is measured
    #[arg(value_enum, default_value = "sandbox")]
    subject: BenchSubject,
    /// Only this job: `empty`, `assert-small`, `triplet` or `cpu-bound` [repeatable; default: all]; or `cost` by itself: what a
    /// unit of fuel costs at worst, over the programs of task-corpus/cost
    #[arg(long, value_name = "NAME")]
    job: Vec<String>,
    /// Seconds for each job of each baseline, without the warm-up
    #[arg(long, value_name = "S", default_value_t = 2.5)]
    seconds: f64,
    /// Threads of the second measurement; the first has one [default: one for each processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Run N empty jobs instead, and report memory and descriptors before and after
    #[arg(long, value_name = "N", conflicts_with_all = ["job", "seconds"])]
    soak: Option<u64>,
    /// `learner`: the model's shape [repeatable; default: tiny]
    #[arg(long, value_enum, value_name = "SHAPE")]
    shape: Vec<ModelShape>,
    /// `cost`: units of fuel for each program [default: a fifth of the image's]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// `cost`: only this program [repeatable; default: all]
    #[arg(long, value_name = "NAME")]
    program: Vec<String>,
    /// `learner` and `cost`: rounds that count, of which the best is reported [default: 5; of `cost` 2]
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// `learner`: a Python with torch and transformers, and llama-cpp-python and gguf
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: PathBuf,
    #[command(flatten)]
    load: LoadArguments,
    #[command(flatten)]
    device: DeviceArguments,
    /// Where guests run
    #[arg(long, value_enum, default_value = "thread")]
    workers: Isolation,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    check(&args)?;
    let threads = args.threads.unwrap_or_else(processors);
    if args.subject == BenchSubject::Learner {
        return learner(&args, threads);
    }
    if args.subject == BenchSubject::Serve {
        return serve(&args.load, args.json);
    }
    if let Some(jobs) = args.soak {
        return soak(jobs, threads, args.workers, args.json);
    }
    if args.job == [cost::NAME] {
        return cost(&args);
    }
    let works = jobs::named(&args.job)?;
    let span = Duration::from_secs_f64(args.seconds / ROUNDS as f64);
    let (setting, memory, machine) = setting(threads, args.workers)?;
    progress::say("starting the baselines");
    let (mut baselines, absent) = rounds::open(&setting, threads);
    let measured = measure(&mut baselines, &works, threads, span)?;
    let context = BenchContext { round_seconds: span.as_secs_f64(), threads, memory, absent, machine };
    let report = BenchReport::new(&measured, context);
    if args.json {
        progress::data(serde_json::to_string(&report).or_fail(ExitCode::Bug)?);
    } else {
        progress::data(report.text(&measured).trim_end());
    }
    Ok(())
}

fn learner(args: &Arguments, threads: usize) -> Result<(), Failure> {
    let options = args.device.options(LearnerOptions { data_parallel: threads, ..LearnerOptions::default() });
    device::check(&options)?;
    let setting = learner::LearnerBenchSetting { options, threads, python: args.python.clone() };
    let shapes = if args.shape.is_empty() { &[ModelShape::Tiny][..] } else { &args.shape };
    for &shape in shapes {
        let report = learner::measure(shape, &setting, args.rounds.unwrap_or(5)).or_fail(ExitCode::Model)?;
        let json = || serde_json::to_string(&report).or_fail(ExitCode::Bug);
        progress::data(if args.json { json()? } else { report.text() });
        if let Some(why) = report.torch_is_missing() {
            let what = format!("there is nothing to compare with: PyTorch was not measured ({why})");
            let hint = "name a Python with torch and transformers by `--python`";
            return Err(Failure::message(ExitCode::Input, what).hint(hint));
        }
    }
    Ok(())
}

fn serve(args: &LoadArguments, json: bool) -> Result<(), Failure> {
    let plan = load_plan(args)?;
    let bar = progress::bar(plan.requests, "requests");
    let report = serve::run(&plan, &bar);
    bar.finish_and_clear();
    progress::data(if json { serde_json::to_string(&report).or_fail(ExitCode::Bug)? } else { report.text() });
    match report.all_right() {
        true => Ok(()),
        false => Err(Failure::message(ExitCode::Host, format!("not all answers were right: {}", report.failures()))),
    }
}

fn load_plan(args: &LoadArguments) -> Result<LoadPlan, Failure> {
    let outside = |name: &str, value: f64| {
        Failure::message(
            ExitCode::Input,
            format!("--{name} is `{value}`: it must be above 0 and at most {MAX_SECONDS}"),
        )
    };
    if !(args.patience > 0.0 && args.patience <= MAX_SECONDS) {
        return Err(outside("patience", args.patience));
    }
    if let Some(rate) = args.rate.filter(|rate| !(*rate > 0.0 && rate.is_finite())) {
        return Err(Failure::message(ExitCode::Input, format!("--rate is `{rate}`: it must be above 0")));
    }
    let Some(mut target) = args.url.clone() else {
        return Err(Failure::message(ExitCode::Input, "`--url` is missing").hint("name the service"));
    };
    target.token = args.token_file.as_deref().map(read_token).transpose()?;
    let native = args.protocol == Protocol::Native;
    Ok(LoadPlan {
        target,
        protocol: args.protocol,
        requests: args.requests.get(),
        in_flight: args.in_flight.get(),
        rate: args.rate,
        batch: if native { args.batch.get() } else { 1 },
        new_connections: args.new_connections,
        patience: Duration::from_secs_f64(args.patience),
        seed: args.seed.unwrap_or_else(rand::random),
    })
}

/// The first token of a token file.
fn read_token(path: &Path) -> Result<String, Failure> {
    let text = read_text(path)?;
    let token = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let none = || Failure::message(ExitCode::Input, format!("`{}` holds no token", path.display()));
    token.map(str::to_owned).ok_or_else(none)
}

fn cost(args: &Arguments) -> Result<(), Failure> {
    let mut programs = built_in_cost_programs();
    let known = |name: &&String| programs.iter().any(|program| program.name == **name);
    if let Some(unknown) = args.program.iter().find(|name| !known(name)) {
        let failure = Failure::message(ExitCode::Input, format!("--program `{unknown}` is not in task-corpus/cost"));
        return Err(failure.hint("its files' names without `.py` are the programs' names"));
    }
    let wanted = |name: &String| args.program.is_empty() || name == ORDINARY_LOOP || args.program.contains(name);
    programs.retain(|program| wanted(&program.name));
    let image = image::python()?;
    let limits = image.default_limits();
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let sandbox = isolation::open_sandbox(image, options, Isolation::Thread)?;
    let fuel = args.fuel.unwrap_or(limits.fuel / 5);
    let bench = CostBench { sandbox: &sandbox, fuel, rounds: args.rounds.unwrap_or(2) };
    let bar = progress::bar(programs.len() as u64, "programs");
    let measured = bench.measure(&programs, &|name| {
        bar.set_message(name.to_owned());
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    let report = CostReport::new(&measured, fuel, limits, Machine::of(find_python().ok().as_ref()));
    let json = || serde_json::to_string(&report).or_fail(ExitCode::Bug);
    progress::data(if args.json { json()? } else { report.text() });
    let missed = report.missed().join("`, `");
    if missed.is_empty() {
        return Ok(());
    }
    let failure =
        Failure::message(ExitCode::NotContained, format!("programs that cost more than their fuel: `{missed}`"));
    Err(failure.hint("charge the host call, bound the work, or see LIMITATIONS.md"))
}

fn soak(jobs: u64, threads: usize, workers: Isolation, json: bool) -> Result<(), Failure> {
    let options = SandboxOptions { max_parallel: threads, ..SandboxOptions::fastest() };
    let sandbox = isolation::open_sandbox(image::python()?, options, workers)?;
    let soak = SoakReport::run(&sandbox, jobs, threads).map_err(|error| match error {
        RoundError::Wrong(what) => Failure::message(ExitCode::Bug, what),
        RoundError::Failed(what) => Failure::message(ExitCode::Host, what),
    })?;
    progress::data(if json { serde_json::to_string(&soak).or_fail(ExitCode::Bug)? } else { soak.text() });
    Ok(())
}

fn check(args: &Arguments) -> Result<(), Failure> {
    if !(args.seconds > 0.0 && args.seconds <= MAX_SECONDS) {
        let text = format!("--seconds is `{}`: it must be above 0 and at most {MAX_SECONDS}", args.seconds);
        return Err(Failure::message(ExitCode::Input, text));
    }
    if args.rounds == Some(0) {
        return Err(Failure::message(ExitCode::Input, "--rounds is `0`: it must be at least 1"));
    }
    if args.threads == Some(0) {
        return Err(Failure::message(ExitCode::Input, "--threads is `0`: it must be at least 1"));
    }
    Ok(())
}

/// The setting of the baselines. Memory is measured here, before any of them starts.
fn setting(threads: usize, workers: Isolation) -> Result<(BaselineSetting, MemoryReport, Machine), Failure> {
    let image = image::python()?;
    let python = find_python();
    let machine = Machine::of(python.as_ref().ok());
    progress::say("measuring memory");
    let memory = MemoryReport::measure(&image, python.as_ref().ok());
    let options = SandboxOptions { max_parallel: threads, ..SandboxOptions::fastest() };
    let sandbox = Arc::new(isolation::open_sandbox(image, options, workers)?);
    Ok((BaselineSetting { python, node: find_node(), sandbox }, memory, machine))
}

/// All jobs, one after another, with one thread and with `threads`.
fn measure(
    baselines: &mut [StartedBaseline],
    works: &[BenchJob],
    threads: usize,
    span: Duration,
) -> Result<Vec<MeasuredJob>, Failure> {
    let counts = if threads == 1 { vec![1] } else { vec![1, threads] };
    let names: Vec<&'static str> = baselines.iter().map(|baseline| baseline.name).collect();
    let steps = works.len() * (ROUNDS + 1) * counts.len() * baselines.len();
    let bar = progress::bar(steps as u64, "rounds");
    let mut measured = Vec::with_capacity(works.len());
    for work in works {
        bar.set_message(work.name);
        bar.suspend(|| progress::say(format!("{}: {} baselines, threads: {counts:?}", work.name, names.len())));
        rounds::check(baselines, work)?;
        let table = rounds::measure(baselines, work, &counts, span, &|| bar.inc(1))?;
        measured.push(label_samples(work.name, &names, table));
    }
    bar.finish_and_clear();
    Ok(measured)
}

fn label_samples(job: &'static str, names: &[&'static str], table: rounds::Table) -> MeasuredJob {
    let mut rows = table.into_iter().map(|row| names.iter().copied().zip(row).collect::<Vec<(_, Samples)>>());
    MeasuredJob { job, one: rows.next().unwrap_or_default(), several: rows.next() }
}
