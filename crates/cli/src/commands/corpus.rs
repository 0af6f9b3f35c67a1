//! `veriplay corpus`: real repositories, the results of their tests in the sandbox, and bugs in them.

mod generated;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use serde::Serialize;
use veriplay_console::exit::Failure;
use veriplay_console::isolation::Isolation;
use veriplay_console::progress::{self, counted};
use veriplay_core::{SCHEMA_VERSION, Trust};
use veriplay_corpus::Split;
use veriplay_repository::{
    BaselineRequest, CommitSource, DependencySource, RepositorySources, Requirement, StoredRepository, TestSource,
};
use veriplay_verifier::bugs::{History, INJECTORS, Injector};
use veriplay_verifier::repository::Baseline;

use super::print;
use super::verify::trust_parser;

/// Real repositories with a baseline of tests, and bugs in them
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: CorpusCommand,
}

#[derive(Debug, Subcommand)]
enum CorpusCommand {
    /// Fetch a package's sources and record which of its tests pass in the sandbox
    AddRepo(AddRepo),
    /// Make bugs in a repository by operators over its syntax trees, and validate them by its tests
    InjectBugs(InjectBugs),
    /// Write a small repository of generated functions with tests
    GenerateRepo(GenerateRepo),
}

#[derive(Debug, Args)]
struct GenerateRepo {
    /// Directory to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Split of the generator to draw from; training uses only `train`
    #[arg(long, default_value = "train", value_parser = split_parser())]
    split: Split,
    /// Families of the functions, as the grammar names the mix
    #[arg(long, value_name = "MIX", default_value = "natural")]
    mix: String,
    /// How many functions, each with a module and a module of tests
    #[arg(long, value_name = "N", default_value = "60")]
    functions: usize,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
}

fn split_parser() -> impl TypedValueParser<Value = Split> {
    PossibleValuesParser::new(["train", "validation", "held-out"]).map(|name| match &*name {
        "train" => Split::Train,
        "validation" => Split::Validation,
        _ => Split::HeldOut,
    })
}

#[derive(Debug, Args)]
struct InjectBugs {
    /// What `add-repo` made: NAME==VERSION, or its directory
    #[arg(long, value_name = "NAME==VERSION|DIR")]
    repo: String,
    /// How many valid bugs to make
    #[arg(long, value_name = "N", default_value = "100")]
    count: NonZeroUsize,
    /// Seed of the mutants
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    /// Output file, one JSON object a line; a half-written file is continued
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Where the tests that a bug must fail run: apart from the package (`split`) or in its instance (`shared`)
    #[arg(long, default_value = "split", value_parser = trust_parser())]
    trust: Trust,
    /// Only these operators [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = injectors())]
    injectors: Vec<String>,
    /// Where guests run
    #[arg(long, value_enum, default_value = "thread")]
    workers: Isolation,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn injectors() -> PossibleValuesParser {
    PossibleValuesParser::new(INJECTORS.iter().map(|injector| injector.name))
}

#[derive(Debug, Args)]
struct AddRepo {
    /// One version of a package, as pip knows it. pip runs its build script, outside the sandbox
    #[arg(value_name = "NAME==VERSION")]
    requirement: Requirement,
    /// A local source distribution (.tar.gz, .zip); nothing of it is run outside the sandbox
    #[arg(long, value_name = "FILE")]
    sdist: Option<PathBuf>,
    /// Tests that the source distribution lacks: the project's own files, as an archive, a directory or a commit that git
    /// fetches. Files that the source distribution has are not replaced
    #[arg(long, value_name = "FILE|DIR|URL@COMMIT")]
    tests: Option<TestSource>,
    /// A commit of the project's repository: changes of the package's code up to it are kept, for bugs that undo them
    #[arg(long, value_name = "DIR|URL@COMMIT")]
    history: Option<CommitSource>,
    /// The number of commits of the history that are looked at
    #[arg(long, value_name = "COUNT", default_value = "100", requires = "history")]
    commits: NonZeroUsize,
    /// A dependency of the tests that the package's metadata does not name: a pure-Python wheel
    #[arg(long, value_name = "NAME==VERSION")]
    with: Vec<Requirement>,
    /// The `baseline.json` of an earlier run, whose pinned dependencies are taken to the same bytes
    #[arg(long, value_name = "FILE", conflicts_with = "with")]
    pins: Option<PathBuf>,
    /// Where the repository goes [default: `repositories/NAME-VERSION` in the cache]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where guests run
    #[arg(long, value_enum, default_value = "thread")]
    workers: Isolation,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct AddRepoReport<'a> {
    schema_version: u32,
    name: &'a str,
    version: &'a str,
    directory: String,
    files: usize,
    test_files: usize,
    broken_files: usize,
    passed: usize,
    unsupported: usize,
    past_changes: usize,
    dependencies: Vec<String>,
    notes: &'a [String],
    fuel: u64,
    wall_ns: u64,
}

pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.action {
        CorpusCommand::AddRepo(args) => add_repo(&args),
        CorpusCommand::InjectBugs(args) => inject_bugs(&args),
        CorpusCommand::GenerateRepo(args) => {
            generated::generate_repository(&args.out, args.split, &args.mix, args.functions, args.seed)
        }
    }
}

fn inject_bugs(args: &InjectBugs) -> Result<(), Failure> {
    let chosen =
        |injector: &&Injector| args.injectors.is_empty() || args.injectors.iter().any(|name| name == injector.name);
    let report = veriplay_repository::inject_bugs(&veriplay_repository::InjectRequest {
        repository: &StoredRepository::open(&args.repo)?,
        injectors: &INJECTORS.iter().filter(chosen).copied().collect::<Vec<_>>(),
        count: args.count.get(),
        seed: args.seed,
        trust: args.trust,
        out: &args.out,
        workers: args.workers,
    })?;
    print(&report, args.json, || report.to_string())
}

fn add_repo(args: &AddRepo) -> Result<(), Failure> {
    let sources =
        RepositorySources { requirement: &args.requirement, sdist: args.sdist.as_deref(), tests: args.tests.as_ref() };
    let package = sources.layer()?;
    let history = args.history.as_ref();
    let history =
        history.map(|from| veriplay_repository::collect_history(from, args.commits.get(), &package)).transpose()?;
    let pins = args.pins.as_deref().map(veriplay_repository::read_pins).transpose()?;
    let source = pins.as_deref().map_or(DependencySource::Resolve { with: &args.with }, DependencySource::Pinned);
    let request = BaselineRequest {
        requirement: &args.requirement,
        package: &package,
        dependencies: source,
        workers: args.workers,
    };
    let measured = veriplay_repository::measure_baseline(&request)?;
    let directory = args.out.clone().map_or_else(|| veriplay_repository::cache_directory(&args.requirement), Ok)?;
    veriplay_repository::write_history(&directory, history.as_ref())?;
    measured.write(&directory, &package)?;
    let baseline = &measured.baseline;
    let report = AddRepoReport {
        schema_version: SCHEMA_VERSION,
        name: &baseline.name,
        version: &baseline.version,
        directory: directory.display().to_string(),
        files: package.files().len(),
        test_files: baseline.files.len(),
        broken_files: baseline.files.iter().filter(|file| file.broken.is_some()).count(),
        passed: baseline.passed(),
        unsupported: baseline.unsupported(),
        past_changes: history.as_ref().map_or(0, |history| history.changes.len()),
        dependencies: dependencies(baseline),
        notes: &baseline.notes,
        fuel: baseline.files.iter().map(|file| file.fuel).sum(),
        wall_ns: measured.timing.total_ns,
    };
    print(&report, args.json, || {
        print_unusable_tests(baseline);
        if let Some(History { commits, changes, .. }) = &history {
            let (changes, commits) = (counted(changes.len(), "change"), counted(commits, "commit"));
            progress::data(format!("history      {changes} of {commits} can be undone"));
        }
        format!(
            "{}: {} passed, {} cannot be used, {} of {} cannot be tested; {:.1} s and {:.1} G fuel\n{}",
            args.requirement,
            counted(report.passed, "test"),
            report.unsupported,
            report.broken_files,
            counted(report.test_files, "file"),
            report.wall_ns as f64 / 1e9,
            report.fuel as f64 / 1e9,
            report.directory,
        )
    })
}

fn dependencies(baseline: &Baseline) -> Vec<String> {
    let wheels = baseline.dependencies.iter().flat_map(|dependencies| &dependencies.wheels);
    wheels.map(|wheel| format!("{}=={}", wheel.name, wheel.version)).collect()
}

/// Prints dependencies, notes, and the tests that cannot be used, with reasons.
fn print_unusable_tests(baseline: &Baseline) {
    for dependency in dependencies(baseline) {
        progress::data(format!("dependency   {dependency}"));
    }
    for note in &baseline.notes {
        progress::data(format!("note         {}", one_line(note)));
    }
    for file in &baseline.files {
        if let Some(why) = &file.broken {
            progress::data(format!("broken       {}: {}", file.path, one_line(why)));
        }
        for test in &file.unsupported {
            progress::data(format!("unsupported  {} ({:?}): {}", test.id, test.result, one_line(&test.reason)));
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
