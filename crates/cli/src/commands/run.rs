//! `veriplay run`: one program in the sandbox: a file of Python, JavaScript, TypeScript, C++ or C, or a WebAssembly module.

use std::ffi::OsStr;
use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::free_memory::mib;
use veriplay_console::image;
use veriplay_console::isolation::{self, Isolation};
use veriplay_console::json_file::read_at_most;
use veriplay_console::limits::{LimitArguments, check_memory};
use veriplay_console::progress;
use veriplay_core::{Entry, Execute, Job, Language, LimitKind, Limits, RunReport, ScannedLanguage, Value};
use veriplay_python::Python;
use veriplay_sandbox::{SandboxOptions, Toolchain};

/// Run one program, or one module for wasm32-wasip1, in the sandbox
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The program, in the language of its ending, such as `.cpp`, `.js` or `.ts`, or else in Python or a WebAssembly module; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A file that the program reads as its standard input; `-` is this command's
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Call this function of the program and report its value, instead of running it as a script
    #[arg(long, value_name = "NAME")]
    call: Option<String>,
    /// Arguments of the call, as Python literals: `[1, 2], 'a'`
    #[arg(long, value_name = "LITERALS", default_value = "", requires = "call", allow_hyphen_values = true)]
    arguments: String,
    #[command(flatten)]
    limits: LimitArguments,
    /// Seed of the guest's random source and clock
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[arg(long, help = image_help(), value_name = "NAME", value_parser = image::parse_program_name)]
    image: Option<String>,
    /// Where guests run
    #[arg(long, value_enum, default_value = "thread")]
    workers: Isolation,
    /// Print one JSON object instead of the program's own output
    #[arg(long)]
    json: bool,
}

fn image_help() -> String {
    format!("The image that the program runs in: {} [default: that of the file's language]", image::describe_names())
}

/// The bytes that every WebAssembly module begins with.
const MODULE: &[u8] = b"\0asm";

/// What `--json` prints.
#[derive(Serialize)]
struct TimedReport {
    #[serde(flatten)]
    report: RunReport,
    wall_ns: u128,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let is_standard_input = |path: &PathBuf| path == Path::new("-");
    if is_standard_input(&args.file) && args.stdin.as_ref().is_some_and(is_standard_input) {
        let what = "standard input cannot be both the program and what the program reads";
        return Err(Failure::message(ExitCode::Input, what).hint("give one of the two as a file"));
    }
    let image_name = image_name(&args);
    let is_compiled = image::is_compiled(image_name);
    let default =
        if is_compiled { Toolchain::default_limits() } else { image::find_spec(image_name)?.default_limits() };
    let limits = args.limits.overrides().apply(default);
    // The option bounds what is read, so it is checked before that.
    let bounds_image = args.limits.memory_mib.is_some() && !is_compiled;
    let opened = bounds_image.then(|| image::open(image_name)).transpose()?;
    let least_bytes = opened.as_ref().map_or(Toolchain::PROGRAM_BYTES, |image| image.memory_bytes());
    check_memory("--memory-mib", args.limits.memory_mib, least_bytes)?;
    let program = read_file(&args.file, limits.memory_bytes)?;
    let stdin = args.stdin.as_ref().map(|path| read_file(path, limits.memory_bytes)).transpose()?.unwrap_or_default();
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let (job, sandbox): (Job, Box<dyn Execute>) = if program.starts_with(MODULE) {
        refuse_call(&args, "a WebAssembly module", "leave it out: the module's `_start` is run")?;
        (Job::module(program), Box::new(isolation::open_modules(options, args.workers)?))
    } else {
        let program = String::from_utf8(program)
            .with_context(|| format!("`{}` is neither UTF-8 nor a WebAssembly module", args.file.display()))
            .or_fail(ExitCode::Input)?;
        if is_compiled {
            refuse_call(&args, "one that is compiled", "leave it out: its `main` is run")?;
            let sandbox = isolation::open_compiled(image::open_toolchain()?, options, args.workers)?;
            (Job { image: image_name.to_owned(), ..Job::script(program) }, Box::new(sandbox))
        } else {
            let image = opened.map_or_else(|| image::open(image_name), Ok)?;
            let job = Job { image: image.name().to_owned(), entry: entry(&args)?, ..Job::script(program) };
            (job, Box::new(isolation::open_sandbox(image, options, args.workers)?))
        }
    };
    let job = Job { stdin, limits, seed: args.seed, ..job };
    let started = Instant::now();
    let outcome = sandbox.execute(&job).or_fail(ExitCode::Host)?;
    let wall_ns = started.elapsed().as_nanos();
    let report = TimedReport { report: RunReport::new(outcome, &job.limits), wall_ns };
    if args.json {
        progress::data(serde_json::to_string(&report).or_fail(ExitCode::Bug)?);
    } else {
        print_report(&report, args.call.is_none());
    }
    let TimedReport { report, .. } = report;
    // A script that leaves by `os._exit(0)` has not returned, and has not failed either.
    if report.exit == "returned" || (args.call.is_none() && report.exit_code == Some(0)) {
        return Ok(());
    }
    let status = report.exit_code.map_or_else(String::new, |code| format!(" (exit status {code})"));
    Err(Failure::message(ExitCode::Program, format!("the program failed: {}{status}", report.exit))
        .maybe_hint(report.limit.and_then(|limit| limit_hint(limit, &job.limits))))
}

/// Reads the program or its input: what is larger than the guest's memory would not fit there either.
fn read_file(path: &Path, memory_bytes: u64) -> Result<Vec<u8>, Failure> {
    let (name, read) = match path == Path::new("-") {
        true => ("standard input".to_owned(), read_at_most(std::io::stdin().lock(), memory_bytes)),
        false => (format!("`{}`", path.display()), File::open(path).and_then(|file| read_at_most(file, memory_bytes))),
    };
    let read = read.with_context(|| format!("cannot read {name}")).or_fail(ExitCode::Input)?;
    read.ok_or_else(|| {
        let what = format!("{name} is larger than the guest's memory, {} MiB", memory_bytes >> 20);
        Failure::message(ExitCode::Input, what).hint("give a smaller file, or more memory by `--memory-mib`")
    })
}

/// The image that is named, else that of the language by which the file is called.
fn image_name(args: &Arguments) -> &str {
    let scanned = args.file.extension().and_then(OsStr::to_str).and_then(ScannedLanguage::of_extension);
    args.image.as_deref().unwrap_or(scanned.map_or(Python.image(), |language| language.image()))
}

fn refuse_call(args: &Arguments, kind: &str, hint: &'static str) -> Result<(), Failure> {
    if args.call.is_none() {
        return Ok(());
    }
    let what = format!("`--call` is for programs in Python, JavaScript and TypeScript, and this is {kind}");
    Err(Failure::message(ExitCode::Input, what).hint(hint))
}

fn entry(args: &Arguments) -> Result<Entry, Failure> {
    let Some(function) = &args.call else { return Ok(Entry::Script) };
    let arguments = Value::parse_arguments(&args.arguments)
        .with_context(|| format!("--arguments `{}` is not a list of Python literals", args.arguments))
        .or_fail(ExitCode::Input)?;
    Ok(Entry::Calls { function: function.clone(), arguments: vec![arguments] })
}

/// Which of two limits `output_exceeded` means, in words; nothing for limits whose exit says it.
fn limit_hint(limit: LimitKind, limits: &Limits) -> Option<String> {
    match limit {
        LimitKind::OutputBytes => {
            Some(format!("a stream or the value is longer than `output_bytes`, {} bytes", limits.output_bytes))
        }
        LimitKind::FileBytes => {
            Some(format!("its files take more than `file_bytes`, {} bytes, names included", limits.file_bytes))
        }
        LimitKind::Fuel => Some("give it more by `--seconds` or `--fuel`, if it may take so long".to_owned()),
        LimitKind::MemoryBytes => Some("give it more by `--memory-mib`".to_owned()),
        LimitKind::DeadlineNs => None,
    }
}

/// For people: the program's own output, which `--quiet` keeps, then one line on how it ended.
fn print_report(TimedReport { report, wall_ns }: &TimedReport, is_script: bool) {
    if !report.stdout.is_empty() {
        // Every byte of it, unless what follows on the terminal, or the value, would stand in its last line.
        let is_followed = report.value.is_some() || std::io::stdout().is_terminal();
        let end = if is_followed && !report.stdout.ends_with('\n') { "\n" } else { "" };
        progress::data_exactly(format_args!("{}{end}", report.stdout));
    }
    if !report.stderr.is_empty() {
        progress::pass_on(report.stderr.trim_end_matches('\n'));
    }
    if let Some(value) = &report.value {
        progress::data(value);
    }
    // `sys.exit(5)` prints nothing, and its status is told below. Any other exception of a script prints its traceback, where it can.
    let left = |kind: &str| is_script && report.exit == "raised" && kind == "SystemExit";
    if let Some(error) = report.error.as_ref().filter(|error| report.stderr.is_empty() && !left(&error.kind)) {
        progress::pass_on(&format!("{}: {}", error.kind, error.message));
    }
    let (mib, ms) = (mib(report.peak_memory_bytes), *wall_ns as f64 / 1e6);
    progress::say(format!("{}; {} fuel, {mib:.0} MiB, {ms:.1} ms", report.exit, report.fuel));
}
