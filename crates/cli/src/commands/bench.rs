//! `veriplay bench`: Veriplay and common alternatives, on this machine, in one run.

use std::collections::BTreeSet;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use veriplay_corpus::{ORDINARY_LOOP, PROBLEM_FORMATS, built_in_cost_programs, problem_format};
use veriplay_learner::LearnerOptions;
use veriplay_sandbox::SandboxOptions;

use crate::bench::baselines::BaselineSetting;
use crate::bench::chart::svg;
use crate::bench::compare::{EarlierReport, JobChange};
use crate::bench::cost::report::CostReport;
use crate::bench::cost::{self, CostBench};
use crate::bench::csv::csv;
use crate::bench::jobs::{self, BenchJob};
use crate::bench::learner::{self, ModelShape};
use crate::bench::report::{BenchContext, BenchReport, wrong_results};
use crate::bench::rounds::{self, MeasuredJob, ROUNDS, Samples, StartedBaseline, ThreadSamples};
use crate::bench::serve::{self, LoadPlan, Protocol};
use crate::bench::worker::{RoundError, WrongResults};
use crate::bench::workload::{Workload, WorkloadFiles, WorkloadReport};
use crate::bench::{Machine, MemoryReport, PeerCommand, SoakReport, find_node, find_python};
use crate::device::{self, DeviceArguments};
use crate::exit::{ExitCode, Failure, ResultExt};
use crate::http::Target;
use crate::isolation::{self, Isolation};
use crate::json_file::{output_file, read_text, write_atomically};
use crate::limits::parse_fuel;
use crate::processors::processors;
use crate::{image, progress};

/// Upper bound of `--seconds`.
const MAX_SECONDS: f64 = 3600.0;
/// Default of `--seconds`.
const SECONDS: f64 = 2.5;
/// Passes over a workload that count.
const PASSES: usize = 3;
/// Defaults of the options of `bench serve`.
const REQUESTS: u64 = 2000;
const IN_FLIGHT: usize = 64;
const BATCH: usize = 64;
const PATIENCE: f64 = 30.0;

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
    /// Its protocol: any SandboxFusion-compatible server, or our own [default: sandboxfusion]
    #[arg(long, value_enum)]
    protocol: Option<Protocol>,
    /// Requests [default: 2000]
    #[arg(long, value_name = "N")]
    requests: Option<NonZeroU64>,
    /// Requests under way at once [default: 64]
    #[arg(long, value_name = "N")]
    in_flight: Option<NonZeroUsize>,
    /// Open loop: send this many requests a second without waiting for answers [default: closed loop]
    #[arg(long, value_name = "N", value_parser = parse_rate)]
    rate: Option<f64>,
    /// `native`: attempts of a request [default: 64]
    #[arg(long, value_name = "N")]
    batch: Option<NonZeroUsize>,
    /// A new connection for each request, as verl makes
    #[arg(long)]
    new_connections: bool,
    /// Seconds to wait for an answer [default: 30]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    patience: Option<f64>,
    /// Seed of the programs; repeating it lets caches answer [default: a new one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// A file whose first line is the bearer token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

// A real workload. No documentation comment: clap would make it the text of the whole command.
#[derive(Debug, Args)]
#[command(next_help_heading = "A workload of your own")]
struct WorkloadArguments {
    /// Measure how fast `verify` judges attempts at the tasks of this file, instead of the named jobs
    #[arg(long, value_name = "FILE", requires = "attempts", conflicts_with_all = ["job", "soak", "seconds", "peer"])]
    tasks: Option<PathBuf>,
    /// The attempts, in the layout of `verify`: all are judged in each pass
    #[arg(long, value_name = "FILE", requires = "tasks")]
    attempts: Option<PathBuf>,
    /// Format of the tasks, as of `verify` [default: veriplay]
    #[arg(long, value_name = "NAME", requires = "tasks", value_parser = formats())]
    format: Option<String>,
}

// What becomes of the numbers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output and comparison")]
struct OutputArguments {
    /// Also write a row for each job, number of threads and baseline to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Also draw the speeds by the number of threads into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Compare Veriplay's speed with that of an earlier report, which `bench --json` printed: faster, slower or within noise
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Exit with code 12 if a job is slower than in the baseline beyond the noise
    #[arg(long, requires = "baseline")]
    fail_on_regression: bool,
}

/// The name of each job that `--job` takes.
fn job_names() -> PossibleValuesParser {
    PossibleValuesParser::new(jobs::all().map(|job| job.name).into_iter().chain([cost::NAME]))
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= MAX_SECONDS);
    seconds.ok_or_else(|| format!("it must be a number above 0 and at most {MAX_SECONDS}"))
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0 && rate.is_finite());
    rate.ok_or_else(|| "it must be a number above 0".to_owned())
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(PROBLEM_FORMATS.iter().map(|format| format.name))
}

/// Compare Veriplay with a subprocess, a fork and a process pool, on this machine in one run
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// What is measured
    #[arg(value_enum, default_value = "sandbox")]
    subject: BenchSubject,
    /// Only this job: `empty`, `assert-small`, `triplet` or `cpu-bound` [repeatable; default: all]; or `cost` by itself: what a
    /// unit of fuel costs at worst, over the programs of task-corpus/cost
    #[arg(long, value_name = "NAME", value_parser = job_names(), hide_possible_values = true)]
    job: Vec<String>,
    /// Seconds for each job of each baseline, without the warm-up [default: 2.5]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    seconds: Option<f64>,
    /// Numbers of threads to measure with, such as `1,2,4`; 1 always is. `learner` and `--soak` take one number [default: one for each
    /// processor]
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    threads: Vec<NonZeroUsize>,
    /// Also measure a command, such as `mine='python3 {file}'`: each program is a file and a run of it, whose output is checked
    /// [repeatable]
    #[arg(long, value_name = "NAME=COMMAND")]
    peer: Vec<PeerCommand>,
    /// Run N empty jobs instead, and report memory and descriptors before and after
    #[arg(long, value_name = "N", conflicts_with_all = ["job", "seconds"])]
    soak: Option<u64>,
    /// `learner`: the model's shape [repeatable; default: tiny]
    #[arg(long, value_enum, value_name = "SHAPE")]
    shape: Vec<ModelShape>,
    /// `cost`: units of fuel for each program [default: a fifth of the image's]
    #[arg(long, value_name = "N", value_parser = parse_fuel)]
    fuel: Option<u64>,
    /// `cost`: only this program [repeatable; default: all]
    #[arg(long, value_name = "NAME")]
    program: Vec<String>,
    /// `learner` and `cost`: rounds that count, of which the best is reported [default: 5; of `cost` 2]. `--tasks`: passes that count,
    /// of which the median is reported [default: 3]
    #[arg(long, value_name = "N")]
    rounds: Option<NonZeroUsize>,
    /// `learner`: a Python with torch and transformers, and llama-cpp-python and gguf [default: python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
    /// Where guests run [default: thread]
    #[arg(long, value_enum)]
    workers: Option<Isolation>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    workload: WorkloadArguments,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    load: LoadArguments,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    check(&args)?;
    match Measured::by(&args) {
        Measured::Learner => learner(&args),
        Measured::Serve => serve(&args.load, args.json),
        Measured::Soak(jobs) => soak(jobs, one_number_of_threads(&args)?, args.isolation(), args.json),
        Measured::Cost => cost(&args),
        Measured::Jobs | Measured::Workload => sandbox(&args),
    }
}

/// What one call of the command measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measured {
    Jobs,
    Workload,
    Soak(u64),
    Cost,
    Learner,
    Serve,
}

impl Measured {
    fn by(args: &Arguments) -> Self {
        match (args.subject, args.soak) {
            (BenchSubject::Learner, _) => Self::Learner,
            (BenchSubject::Serve, _) => Self::Serve,
            (BenchSubject::Sandbox, Some(jobs)) => Self::Soak(jobs),
            (BenchSubject::Sandbox, None) if args.job == [cost::NAME] => Self::Cost,
            (BenchSubject::Sandbox, None) if args.workload.tasks.is_some() => Self::Workload,
            (BenchSubject::Sandbox, None) => Self::Jobs,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Jobs => "the named jobs",
            Self::Workload => "`--tasks`",
            Self::Soak(_) => "`--soak`",
            Self::Cost => "`--job cost`",
            Self::Learner => "`learner`",
            Self::Serve => "`serve`",
        }
    }
}

impl Arguments {
    fn isolation(&self) -> Isolation {
        self.workers.unwrap_or(Isolation::Thread)
    }

    /// The rounds that count.
    fn rounds_or(&self, default: usize) -> usize {
        self.rounds.map_or(default, NonZeroUsize::get)
    }
}

/// Measures the named jobs or a workload, and reports.
fn sandbox(args: &Arguments) -> Result<(), Failure> {
    let earlier = args.output.baseline.as_deref().map(EarlierReport::read).transpose()?;
    let threads = numbers_of_threads(&args.threads);
    let (measured, mut context) = match workload_files(&args.workload)? {
        Some(files) => measure_workload(args, files, &threads)?,
        None => measure_jobs(args, &threads)?,
    };
    let compared = earlier.map(|earlier| compare(&earlier, &measured, &context)).transpose();
    // What was measured is reported, whatever the baseline is.
    let (comparison, incomparable) = match compared {
        Ok(comparison) => (comparison, None),
        Err(failure) => (None, Some(failure)),
    };
    context.comparison = comparison;
    let report = BenchReport::new(&measured, context);
    if args.json {
        progress::data(serde_json::to_string(&report).or_fail(ExitCode::Bug)?);
    } else {
        progress::data(report.text(&measured).trim_end());
    }
    if let Some(warning) = report.noise_warning() {
        progress::say(warning);
    }
    write_files(&args.output, &measured)?;
    incomparable.map_or(Ok(()), Err)?;
    conclude(&report, &measured, args.output.fail_on_regression)
}

/// The numbers of threads to measure with, in ascending order.
fn numbers_of_threads(asked: &[NonZeroUsize]) -> Vec<usize> {
    let mut numbers: Vec<usize> = asked.iter().copied().map(NonZeroUsize::get).collect();
    if numbers.is_empty() {
        numbers.push(processors());
    }
    numbers.push(1);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn one_number_of_threads(args: &Arguments) -> Result<usize, Failure> {
    match args.threads[..] {
        [] => Ok(processors()),
        [threads] => Ok(threads.get()),
        _ => {
            let text = "`--threads` names several numbers, and `learner` and `--soak` take one";
            Err(Failure::message(ExitCode::Input, text).hint("run the command once for each"))
        }
    }
}

fn workload_files(args: &WorkloadArguments) -> Result<Option<WorkloadFiles<'_>>, Failure> {
    let (Some(tasks), Some(attempts)) = (&args.tasks, &args.attempts) else { return Ok(None) };
    let format = problem_format(args.format.as_deref().unwrap_or("veriplay")).or_fail(ExitCode::Input)?;
    Ok(Some(WorkloadFiles { tasks, attempts, format }))
}

/// Compares with an earlier report, and warns where it is of another machine.
fn compare(
    earlier: &EarlierReport,
    measured: &[MeasuredJob],
    context: &BenchContext,
) -> Result<Vec<JobChange>, Failure> {
    let machine = serde_json::to_value(&context.machine).or_fail(ExitCode::Bug)?;
    if let Some(warning) = earlier.other_machine(&machine) {
        progress::say(warning);
    }
    earlier.compare(measured, context.workload.as_ref().map(WorkloadReport::digest))
}

fn write_files(output: &OutputArguments, measured: &[MeasuredJob]) -> Result<(), Failure> {
    if let Some(path) = &output.csv {
        write_atomically(path, csv(measured).as_bytes()).or_fail(ExitCode::Input)?;
    }
    if let Some(path) = &output.svg {
        write_atomically(path, svg(measured).as_bytes()).or_fail(ExitCode::Input)?;
    }
    Ok(())
}

/// Fails where a peer was wrong, or where a regression is to fail.
fn conclude(report: &BenchReport, measured: &[MeasuredJob], fail_on_regression: bool) -> Result<(), Failure> {
    let wrong = wrong_results(measured);
    if !wrong.is_empty() {
        return Err(Failure::message(ExitCode::Host, format!("wrong results: {}", wrong.join("; "))));
    }
    let (slower, unknown) = (report.slower(), report.without_noise());
    if fail_on_regression && slower.is_empty() && !unknown.is_empty() {
        let text = format!(
            "the noise of one round is unknown, so that nobody knows what became slower: {}",
            unknown.join(", ")
        );
        return Err(Failure::message(ExitCode::Input, text).hint("measure two rounds or more, then and now"));
    }
    if !fail_on_regression || slower.is_empty() {
        return Ok(());
    }
    let text = format!("slower than in the baseline, beyond the noise: {}", slower.join(", "));
    Err(Failure::message(ExitCode::Slower, text).hint("measure again, on an idle machine and with longer `--seconds`"))
}

fn learner(args: &Arguments) -> Result<(), Failure> {
    let threads = one_number_of_threads(args)?;
    let options = args.device.options(LearnerOptions { data_parallel: threads, ..LearnerOptions::default() });
    device::check(&options)?;
    let setting = learner::LearnerBenchSetting {
        options,
        threads,
        python: args.python.clone().unwrap_or_else(|| "python3".into()),
    };
    let shapes = if args.shape.is_empty() { &[ModelShape::Tiny][..] } else { &args.shape };
    for &shape in shapes {
        let report = learner::measure(shape, &setting, args.rounds_or(5)).or_fail(ExitCode::Model)?;
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
    let Some(mut target) = args.url.clone() else {
        return Err(Failure::message(ExitCode::Input, "`--url` is missing").hint("name the service"));
    };
    target.token = args.token_file.as_deref().map(read_token).transpose()?;
    let protocol = args.protocol.unwrap_or(Protocol::SandboxFusion);
    let batch = match (protocol, args.batch) {
        (Protocol::Native, batch) => batch.map_or(BATCH, NonZeroUsize::get),
        (Protocol::SandboxFusion, None) => 1,
        (Protocol::SandboxFusion, Some(_)) => {
            let text = "`--batch` does not apply to `--protocol sandboxfusion`, whose requests have one program each";
            return Err(Failure::message(ExitCode::Input, text).hint("omit it, or add `--protocol native`"));
        }
    };
    Ok(LoadPlan {
        target,
        protocol,
        requests: args.requests.map_or(REQUESTS, NonZeroU64::get),
        in_flight: args.in_flight.map_or(IN_FLIGHT, NonZeroUsize::get),
        rate: args.rate,
        batch,
        new_connections: args.new_connections,
        patience: Duration::from_secs_f64(args.patience.unwrap_or(PATIENCE)),
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
    let bench = CostBench { sandbox: &sandbox, fuel, rounds: args.rounds_or(2) };
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
    let names: BTreeSet<&str> = args.peer.iter().map(|peer| peer.name.as_str()).collect();
    if names.len() < args.peer.len() {
        return Err(Failure::message(ExitCode::Input, "two of `--peer` have the same name"));
    }
    if args.output.csv.is_some() && args.output.csv == args.output.svg {
        return Err(Failure::message(ExitCode::Input, "`--csv` and `--svg` name the same file"));
    }
    check_options_apply(args)?;
    // A measurement takes minutes, and its files come last.
    [&args.output.csv, &args.output.svg].into_iter().flatten().try_for_each(|path| output_file(path).map(drop))
}

/// Rejects options that what is measured does not use.
fn check_options_apply(args: &Arguments) -> Result<(), Failure> {
    let measured = Measured::by(args);
    match ignored_options(args, measured).into_iter().find(|(_, ignored)| *ignored) {
        None => Ok(()),
        Some((name, _)) => {
            let text = format!("`--{name}` does not apply to {}", measured.name());
            Err(Failure::message(ExitCode::Input, text)
                .hint("omit it, or measure what it belongs to: see `bench --help`"))
        }
    }
}

/// Each option, and whether it is given and would be ignored.
fn ignored_options(args: &Arguments, measured: Measured) -> [(&'static str, bool); 27] {
    use Measured::{Cost, Jobs, Learner, Serve, Soak, Workload};
    let Arguments { load, output, workload, .. } = args;
    let (jobs, table) = (measured == Jobs, matches!(measured, Jobs | Workload));
    let (learner, serve, cost) = (measured == Learner, measured == Serve, measured == Cost);
    let guests = table || matches!(measured, Soak(_));
    [
        ("peer", !args.peer.is_empty() && !jobs),
        ("tasks", workload.tasks.is_some() && measured != Workload),
        ("csv", output.csv.is_some() && !table),
        ("svg", output.svg.is_some() && !table),
        ("baseline", output.baseline.is_some() && !table),
        ("job", !args.job.is_empty() && !jobs && !cost),
        ("seconds", args.seconds.is_some() && !jobs),
        ("soak", args.soak.is_some() && !guests),
        ("threads", !args.threads.is_empty() && (cost || serve)),
        ("workers", args.workers.is_some() && !guests),
        ("rounds", args.rounds.is_some() && !(learner || cost || measured == Workload)),
        ("fuel", args.fuel.is_some() && !cost),
        ("program", !args.program.is_empty() && !cost),
        ("shape", !args.shape.is_empty() && !learner),
        ("python", args.python.is_some() && !learner),
        ("device", args.device.device.is_some() && !learner),
        ("precision", args.device.precision.is_some() && !learner),
        ("url", load.url.is_some() && !serve),
        ("protocol", load.protocol.is_some() && !serve),
        ("requests", load.requests.is_some() && !serve),
        ("in-flight", load.in_flight.is_some() && !serve),
        ("rate", load.rate.is_some() && !serve),
        ("batch", load.batch.is_some() && !serve),
        ("patience", load.patience.is_some() && !serve),
        ("seed", load.seed.is_some() && !serve),
        ("new-connections", load.new_connections && !serve),
        ("token-file", load.token_file.is_some() && !serve),
    ]
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

/// The named jobs on all baselines and peers.
fn measure_jobs(args: &Arguments, threads: &[usize]) -> Result<(Vec<MeasuredJob>, BenchContext), Failure> {
    let works = jobs::named(&args.job)?;
    let span = Duration::from_secs_f64(args.seconds.unwrap_or(SECONDS) / ROUNDS as f64);
    let most = threads.last().copied().unwrap_or(1);
    let (setting, memory, machine) = setting(most, args.isolation())?;
    progress::say("starting the baselines");
    let (mut baselines, absent) = rounds::open(&setting, most);
    for peer in &args.peer {
        baselines.push(rounds::open_peer(peer, most)?);
    }
    let measured = measure(&mut baselines, &works, threads, span)?;
    let (rounds, round_seconds) = (ROUNDS, span.as_secs_f64());
    let context = BenchContext { rounds, round_seconds, memory, absent, workload: None, comparison: None, machine };
    Ok((measured, context))
}

/// A workload, which only Veriplay can judge.
fn measure_workload(
    args: &Arguments,
    files: WorkloadFiles<'_>,
    threads: &[usize],
) -> Result<(Vec<MeasuredJob>, BenchContext), Failure> {
    let (setting, memory, machine) = setting(threads.last().copied().unwrap_or(1), args.isolation())?;
    let (workload, mut report) = Workload::read(files, &setting.sandbox)?;
    let rounds = args.rounds_or(PASSES);
    let bar = progress::bar(((rounds + 1) * threads.len()) as u64, "passes");
    let measured = workload.measure(&setting.sandbox, threads, rounds, &mut report, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let round_seconds = report.pass_seconds(&measured);
    let (absent, workload) = (Vec::new(), Some(report));
    let context = BenchContext { rounds, round_seconds, memory, absent, workload, comparison: None, machine };
    Ok((vec![measured], context))
}

/// All jobs, one after another, with each number of threads.
fn measure(
    baselines: &mut [StartedBaseline],
    works: &[BenchJob],
    threads: &[usize],
    span: Duration,
) -> Result<Vec<MeasuredJob>, Failure> {
    let names: Vec<String> = baselines.iter().map(|baseline| baseline.name.clone()).collect();
    let steps = works.len() * (ROUNDS + 1) * threads.len() * baselines.len();
    let bar = progress::bar(steps as u64, "rounds");
    let mut measured = Vec::with_capacity(works.len());
    for work in works {
        bar.set_message(work.name);
        bar.suspend(|| progress::say(format!("{}: {} baselines, threads: {threads:?}", work.name, names.len())));
        let checked = rounds::check(baselines, work)?;
        let table = rounds::measure(baselines, work, threads, span, &|| bar.inc(1))?;
        let rows = threads.iter().zip(table);
        let row = |(&threads, row)| ThreadSamples { threads, baselines: label_samples(&names, row, &checked) };
        measured.push(MeasuredJob { job: work.name, by_threads: rows.map(row).collect() });
    }
    bar.finish_and_clear();
    Ok(measured)
}

/// The samples of each baseline, with the wrong results of its check.
fn label_samples(names: &[String], row: Vec<Samples>, checked: &[WrongResults]) -> Vec<(String, Samples)> {
    let mut labelled: Vec<(String, Samples)> = names.iter().cloned().zip(row).collect();
    labelled.iter_mut().zip(checked).for_each(|((_, samples), wrong)| samples.wrong.add(wrong));
    labelled
}
