//! `veriplay bench`: Veriplay and common alternatives, on this machine, in one run.

mod sandbox;
mod serve_load;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::PossibleValuesParser;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::isolation::{self, Isolation};
use veriplay_console::json_file::{check_replaceable, output_file};
use veriplay_console::limits::parse_fuel;
use veriplay_console::processors::processors;
use veriplay_console::progress::{self, counted};
use veriplay_console::{image, interrupt};
use veriplay_core::Language;
use veriplay_corpus::{ORDINARY_LOOP, PROBLEM_FORMATS, built_in_cost_programs};
use veriplay_lab::bench::cost::report::CostReport;
use veriplay_lab::bench::cost::{self, CostBench};
use veriplay_lab::bench::languages::{BenchLanguage, LANGUAGES, PYTHON};
use veriplay_lab::bench::learner::{self, ModelShape};
use veriplay_lab::bench::report::is_csv;
use veriplay_lab::bench::worker::RoundError;
use veriplay_lab::bench::{Machine, PeerCommand, SoakReport, find_python, jobs};
use veriplay_learner::LearnerOptions;
use veriplay_python::Python;
use veriplay_run::device::{self, DeviceArguments};
use veriplay_sandbox::{Image, SandboxOptions};

use super::{print, refuse_ignored};
use serve_load::LoadArguments;

/// Upper bound of `--seconds`.
const MAX_SECONDS: f64 = 3600.0;

/// `--threads` takes numbers up to four times the processors, and on any machine up to this one: a sweep over `1,2,4` is one everywhere.
const LEAST_BOUND: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BenchSubject {
    /// The sandbox and other ways to run programs.
    Sandbox,
    /// Training and generation, compared with PyTorch and llama.cpp.
    Learner,
    /// A running service, by load with known answers.
    Serve,
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
    /// Also write a row for each job, number of threads and baseline to this file. One that is no such table is never overwritten
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Also draw the speeds by the number of threads into this file. One that is no picture is never overwritten
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Compare Veriplay's speed with that of an earlier report, which `bench --json` printed: faster, slower or within noise
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Exit with code 12 if a job is slower than in the baseline beyond the noise, and with 3 if that is unknown
    #[arg(long, requires = "baseline")]
    fail_on_regression: bool,
}

/// The name of each job that `--job` takes, in any language.
fn job_names() -> PossibleValuesParser {
    let names: BTreeSet<&str> = LANGUAGES.into_iter().flat_map(jobs::all).map(|job| job.name).collect();
    PossibleValuesParser::new(names.into_iter().chain([cost::NAME]))
}

fn language_names() -> PossibleValuesParser {
    PossibleValuesParser::new(LANGUAGES.map(|language| language.name))
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= MAX_SECONDS);
    seconds.ok_or_else(|| format!("it must be a number above 0 and at most {MAX_SECONDS}"))
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(PROBLEM_FORMATS.iter().map(|format| format.name))
}

/// Each thread has a worker of every baseline, so that thousands of them would start for minutes, and then measure their queue.
fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse::<NonZeroUsize>().map_err(|error| error.to_string())?;
    let most = (4 * processors()).max(LEAST_BOUND);
    if threads.get() > most {
        let has = counted(processors(), "processor");
        return Err(format!("it may be {most} at most on this machine, which has {has}"));
    }
    Ok(threads)
}

/// Compare Veriplay with a subprocess, a fork and a process pool, on this machine in one run
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// What is measured
    #[arg(value_enum, default_value = "sandbox")]
    subject: BenchSubject,
    /// Language of the jobs, and of the baselines beside Veriplay [default: python]
    #[arg(long, value_name = "NAME", value_parser = language_names())]
    language: Option<String>,
    /// Only this job: `empty`, `assert-small`, `triplet` or `cpu-bound`, in other languages than Python `empty`, `contest` or `cpu-bound`
    /// [repeatable; default: all]; or `cost` by itself: what a unit of fuel costs at worst, over the programs of task-corpus/cost
    #[arg(long, value_name = "NAME", value_parser = job_names(), hide_possible_values = true)]
    job: Vec<String>,
    /// Seconds for each job of each baseline, without the warm-up [default: 2.5]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    seconds: Option<f64>,
    /// Numbers of threads to measure with, such as `1,2,4`; 1 always is. At most four for each processor, or 8. `learner` and `--soak` take
    /// one number [default: one for each processor]
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = parse_threads)]
    threads: Vec<NonZeroUsize>,
    /// Also measure a command, such as `mine='python3 {file}'`: each program is a file of the language and a run of it, whose output is
    /// checked [repeatable]
    #[arg(long, value_name = "NAME=COMMAND")]
    peer: Vec<PeerCommand>,
    /// Run N empty jobs instead, and report memory and descriptors before and after
    #[arg(long, value_name = "N", conflicts_with_all = ["job", "seconds"])]
    soak: Option<u64>,
    /// Print where the time of each job goes instead, without baselines
    #[arg(long, conflicts_with = "soak")]
    profile: bool,
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
    /// The image that guests run in: `python`, `python-numpy` or one of your own with Python [default: that of the language]
    #[arg(long, value_name = "NAME", value_parser = image::parse_program_name)]
    image: Option<String>,
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
    // Baselines and peers are processes, and a program of a peer is a file.
    interrupt::end_without_leftovers();
    match Measured::by(&args) {
        Measured::Learner => learner(&args),
        Measured::Serve => serve_load::run(&args.load, args.json),
        Measured::Soak(jobs) => soak(&args, jobs),
        Measured::Cost => cost(&args),
        Measured::Profile => sandbox::profile(&args),
        Measured::Jobs | Measured::Workload => sandbox::run(&args),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measured {
    Jobs,
    Workload,
    Soak(u64),
    Cost,
    Profile,
    Learner,
    Serve,
}

impl Measured {
    fn by(args: &Arguments) -> Self {
        match (args.subject, args.soak) {
            (BenchSubject::Learner, _) => Self::Learner,
            (BenchSubject::Serve, _) => Self::Serve,
            (BenchSubject::Sandbox, Some(jobs)) => Self::Soak(jobs),
            (BenchSubject::Sandbox, None) if args.profile => Self::Profile,
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
            Self::Profile => "`--profile`",
            Self::Learner => "`learner`",
            Self::Serve => "`serve`",
        }
    }
}

impl Arguments {
    fn isolation(&self) -> Isolation {
        self.workers.unwrap_or(Isolation::Thread)
    }

    fn language(&self) -> &'static BenchLanguage {
        let named = LANGUAGES.into_iter().find(|language| self.language.as_deref() == Some(language.name));
        named.unwrap_or(&PYTHON)
    }

    /// The image of jobs in Python.
    fn open_image(&self) -> Result<Arc<Image>, Failure> {
        image::open(self.image.as_deref().unwrap_or(Python.image()))
    }

    /// The rounds that count.
    fn rounds_or(&self, default: usize) -> usize {
        self.rounds.map_or(default, NonZeroUsize::get)
    }
}

fn one_number_of_threads(args: &Arguments) -> Result<usize, Failure> {
    match args.threads[..] {
        [] => Ok(processors()),
        [threads] => Ok(threads.get()),
        _ => {
            let text = "`--threads` names several numbers, and `learner` and `--soak` take one";
            Err(Failure::message(ExitCode::Usage, text).hint("run the command once for each"))
        }
    }
}

fn learner(args: &Arguments) -> Result<(), Failure> {
    let threads = one_number_of_threads(args)?;
    let options = args.device.options(LearnerOptions { data_parallel: threads, ..LearnerOptions::default() });
    device::check(&options)?;
    let python = args.python.clone().unwrap_or_else(|| "python3".into());
    let setting = learner::LearnerBenchSetting { options, threads, python };
    let shapes = if args.shape.is_empty() { &[ModelShape::Tiny][..] } else { &args.shape };
    for &shape in shapes {
        let report = learner::measure(shape, &setting, args.rounds_or(5)).or_fail(ExitCode::Model)?;
        print(&report, args.json, || report.text())?;
        if let Some(why) = report.torch_is_missing() {
            let what = format!("there is nothing to compare with: PyTorch was not measured ({why})");
            let hint = "name a Python with torch and transformers by `--python`";
            return Err(Failure::message(ExitCode::Input, what).hint(hint));
        }
    }
    Ok(())
}

fn cost(args: &Arguments) -> Result<(), Failure> {
    if let Some(fuel) = args.fuel.filter(|fuel| *fuel < cost::LEAST_FUEL_OF_A_RUN) {
        let why = "is too little for `--job cost`: the start of a program would be most of its cost";
        return Err(Failure::message(ExitCode::Usage, format!("`--fuel {fuel}` {why}"))
            .hint(format!("give at least {}", cost::LEAST_FUEL_OF_A_RUN)));
    }
    let mut programs = built_in_cost_programs();
    let known = |name: &&String| programs.iter().any(|program| program.name == **name);
    if let Some(unknown) = args.program.iter().find(|name| !known(name)) {
        return Err(Failure::message(ExitCode::Usage, format!("`--program {unknown}`: it is not in task-corpus/cost"))
            .hint("its files' names without `.py` are the programs' names"));
    }
    let wanted = |name: &String| args.program.is_empty() || name == ORDINARY_LOOP || args.program.contains(name);
    programs.retain(|program| wanted(&program.name));
    let image = args.open_image()?;
    let limits = image.default_limits();
    let machine = Machine::of(find_python().ok().as_ref()).with_image(image.name());
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
    let report = CostReport::new(&measured, fuel, limits, machine);
    print(&report, args.json, || report.text())?;
    let missed = report.missed().join("`, `");
    if missed.is_empty() {
        return Ok(());
    }
    Err(Failure::message(ExitCode::NotContained, format!("programs that cost more than their fuel: `{missed}`"))
        .hint("charge the host call, bound the work, or see the page \"Measurements\" of the documentation"))
}

fn soak(args: &Arguments, jobs: u64) -> Result<(), Failure> {
    let threads = one_number_of_threads(args)?;
    let options = SandboxOptions { max_parallel: threads, ..SandboxOptions::fastest() };
    let sandbox = isolation::open_sandbox(args.open_image()?, options, args.isolation())?;
    let soak = SoakReport::run(&sandbox, jobs, threads).map_err(failed_round)?;
    print(&soak, args.json, || soak.text())
}

/// The failure of a round of Veriplay's own.
fn failed_round(error: RoundError) -> Failure {
    match error {
        RoundError::Wrong(what) => Failure::message(ExitCode::Bug, what),
        RoundError::Failed(what) => Failure::message(ExitCode::Host, what),
    }
}

fn check(args: &Arguments) -> Result<(), Failure> {
    let names: BTreeSet<&str> = args.peer.iter().map(|peer| peer.name.as_str()).collect();
    if names.len() < args.peer.len() {
        return Err(Failure::message(ExitCode::Usage, "two of `--peer` have the same name"));
    }
    if args.output.csv.is_some() && args.output.csv == args.output.svg {
        return Err(Failure::message(ExitCode::Usage, "`--csv` and `--svg` name the same file"));
    }
    let measured = Measured::by(args);
    let hint = "omit it, or measure what it belongs to: see `bench --help`";
    refuse_ignored(&ignored_options(args, measured), measured.name(), hint)?;
    check_image(args)?;
    // A measurement takes minutes, and its files come last.
    if let Some(path) = &args.output.csv {
        output_file(path)?;
        check_replaceable(path, "table", is_csv)?;
    }
    if let Some(path) = &args.output.svg {
        output_file(path)?;
        check_replaceable(path, "picture", |text| text.starts_with("<svg"))?;
    }
    Ok(())
}

/// Refuses an image whose programs are in another language than the jobs.
fn check_image(args: &Arguments) -> Result<(), Failure> {
    let Some(name) = &args.image else { return Ok(()) };
    let language = args.language();
    if *name == language.name || (language.is_python() && image::parse_python_name(name).is_ok()) {
        return Ok(());
    }
    let what = format!("`--image {name}`: its programs are not in the language of the jobs, `{}`", language.name);
    Err(Failure::message(ExitCode::Usage, what).hint("omit it: `--language` alone names the language and its image"))
}

/// Each option, and whether it is given and would be ignored.
fn ignored_options(args: &Arguments, measured: Measured) -> [(&'static str, bool); 30] {
    use Measured::{Cost, Jobs, Learner, Profile, Serve, Soak, Workload};
    let Arguments { load, output, workload, .. } = args;
    let (jobs, table) = (measured == Jobs, matches!(measured, Jobs | Workload));
    let (learner, serve, cost) = (measured == Learner, measured == Serve, measured == Cost);
    let profile = measured == Profile;
    let guests = table || matches!(measured, Soak(_));
    [
        ("language", args.language.is_some() && !jobs),
        ("peer", !args.peer.is_empty() && !jobs),
        ("tasks", workload.tasks.is_some() && measured != Workload),
        ("csv", output.csv.is_some() && !table),
        ("svg", output.svg.is_some() && !table),
        ("baseline", output.baseline.is_some() && !table),
        ("job", !args.job.is_empty() && !jobs && !cost && !profile),
        ("seconds", args.seconds.is_some() && !jobs && !profile),
        ("soak", args.soak.is_some() && !guests),
        ("profile", args.profile && !profile),
        ("threads", !args.threads.is_empty() && (cost || serve || profile)),
        ("workers", args.workers.is_some() && !guests),
        ("image", args.image.is_some() && !(guests || cost || profile)),
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
