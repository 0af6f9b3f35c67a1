//! `veriplay run`: one Python file in the sandbox.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use veriplay_core::{
    CallResult, EncodeCaps, Entry, Execute, Exit, GuestError, Job, LimitKind, Limits, Outcome, SCHEMA_VERSION, Value,
};

use crate::exit::{ExitCode, Failure, ResultExt};
use crate::isolation::{self, Isolation};
use crate::{image, progress};
use veriplay_sandbox::SandboxOptions;

/// Run one Python file in the sandbox
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The program
    #[arg(value_name = "FILE.py")]
    file: PathBuf,
    /// What it reads from standard input
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Call this function of the program and report its value, instead of running it as a script
    #[arg(long, value_name = "NAME")]
    call: Option<String>,
    /// Arguments of the call, as Python literals: `[1, 2], 'a'`
    #[arg(long, value_name = "LITERALS", default_value = "", requires = "call", allow_hyphen_values = true)]
    arguments: String,
    /// Wasm fuel, about one unit an instruction
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// Linear memory in MiB, the interpreter's own share included
    #[arg(long, value_name = "N")]
    memory_mib: Option<u64>,
    /// Seed of the guest's random source and clock
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Where guests run
    #[arg(long, value_enum, default_value = "thread")]
    workers: Isolation,
    /// Print one JSON object instead of the program's own output
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct RunReport {
    schema_version: u32,
    exit: &'static str,
    /// The called function's value as Python text; `null` for a script.
    value: Option<Value>,
    error: Option<GuestError>,
    stdout: String,
    stderr: String,
    truncated: bool,
    fuel: u64,
    peak_memory_bytes: u64,
    wall_ns: u128,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let program = read_file(&args.file)?;
    let program = String::from_utf8(program)
        .with_context(|| format!("`{}` is not UTF-8", args.file.display()))
        .or_fail(ExitCode::Input)?;
    let stdin = args.stdin.as_ref().map(read_file).transpose()?.unwrap_or_default();
    let image = image::python()?;
    let limits = limits(&args, image.default_limits());
    let image_name = image.name().to_owned();
    let job = Job { image: image_name, entry: entry(&args)?, stdin, limits, seed: args.seed, ..Job::script(program) };
    let sandbox =
        isolation::open_sandbox(image, SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() }, args.workers)?;
    let started = Instant::now();
    let outcome = sandbox.execute(&job).or_fail(ExitCode::Host)?;
    let wall_ns = started.elapsed().as_nanos();
    let report = make_report(outcome, &job, wall_ns);
    if args.json {
        progress::data(serde_json::to_string(&report).or_fail(ExitCode::Bug)?);
    } else {
        print_report(&report);
    }
    Ok(())
}

fn read_file(path: &PathBuf) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display())).or_fail(ExitCode::Input)
}

fn limits(args: &Arguments, default: Limits) -> Limits {
    Limits {
        fuel: args.fuel.unwrap_or(default.fuel),
        memory_bytes: args.memory_mib.map_or(default.memory_bytes, |mib| mib.saturating_mul(1 << 20)),
        ..default
    }
}

fn entry(args: &Arguments) -> Result<Entry, Failure> {
    let Some(function) = &args.call else { return Ok(Entry::Script) };
    let arguments = Value::parse_arguments(&args.arguments)
        .with_context(|| format!("--arguments `{}` is not a list of Python literals", args.arguments))
        .or_fail(ExitCode::Input)?;
    Ok(Entry::Calls { function: function.clone(), arguments: vec![arguments] })
}

fn make_report(outcome: Outcome, job: &Job, wall_ns: u128) -> RunReport {
    let caps = EncodeCaps::with_bytes(usize::try_from(job.limits.output_bytes).unwrap_or(usize::MAX));
    let mut exit = exit_word(&outcome.exit);
    let mut error = outcome.error;
    let value = match outcome.calls.into_iter().next() {
        Some(CallResult::Returned(bytes)) => Value::decode(&bytes, caps).ok(),
        Some(CallResult::Raised(raised)) => {
            // The job ran to its end, but its call raised.
            exit = "raised";
            error = Some(raised);
            None
        }
        Some(CallResult::Unencodable(message)) => {
            exit = "unencodable";
            error = Some(GuestError { kind: "Unencodable".to_owned(), message });
            None
        }
        None => None,
    };
    RunReport {
        schema_version: SCHEMA_VERSION,
        exit,
        value,
        error,
        stdout: escape_bytes(&outcome.stdout),
        stderr: escape_bytes(&outcome.stderr),
        truncated: outcome.truncated,
        fuel: outcome.fuel,
        peak_memory_bytes: outcome.peak_memory_bytes,
        wall_ns,
    }
}

fn exit_word(exit: &Exit) -> &'static str {
    match exit {
        Exit::Returned => "returned",
        Exit::Raised => "raised",
        Exit::CompileError => "compile_error",
        Exit::MissingEntry => "missing_entry",
        Exit::Trapped => "trapped",
        Exit::Exceeded { limit, .. } => match limit {
            LimitKind::Fuel => "fuel_exhausted",
            LimitKind::MemoryBytes => "memory_exceeded",
            // A file over its cap is output too, kept inside the sandbox.
            LimitKind::OutputBytes | LimitKind::FileBytes => "output_exceeded",
            LimitKind::DeadlineNs => "deadline_exceeded",
        },
    }
}

/// Text without change, except that a byte that is not UTF-8 becomes `\xNN`. A backslash is doubled where it would read as part of such an
/// escape (before `x`, before another backslash, before a byte that is not UTF-8), so that the bytes can be restored.
fn escape_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut chars = chunk.valid().chars().peekable();
        while let Some(c) = chars.next() {
            let doubled = match chars.peek() {
                Some(next) => matches!(next, 'x' | '\\'),
                None => !chunk.invalid().is_empty(),
            };
            text.push(c);
            if c == '\\' && doubled {
                text.push(c);
            }
        }
        chunk.invalid().iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
    }
    text
}

/// For people: the program's own output, then one line on how it ended.
fn print_report(report: &RunReport) {
    if !report.stdout.is_empty() {
        progress::data(report.stdout.trim_end_matches('\n'));
    }
    if !report.stderr.is_empty() {
        progress::say(report.stderr.trim_end_matches('\n'));
    }
    if let Some(value) = &report.value {
        progress::data(value);
    }
    if let Some(error) = report.error.as_ref().filter(|_| report.stderr.is_empty()) {
        progress::say(format!("{}: {}", error.kind, error.message));
    }
    progress::say(format!(
        "{}; {} fuel, {:.0} MiB, {:.1} ms",
        report.exit,
        report.fuel,
        report.peak_memory_bytes as f64 / f64::from(1 << 20),
        report.wall_ns as f64 / 1e6,
    ));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::escape_bytes;

    /// The inverse of [`escape_bytes`].
    fn bytes_of(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("\\\\") {
                bytes.push(b'\\');
                rest = after;
            } else if let Some(after) = rest.strip_prefix("\\x") {
                bytes.push(u8::from_str_radix(&after[..2], 16).expect("two hexadecimal digits follow"));
                rest = &after[2..];
            } else {
                bytes.extend_from_slice(&rest.as_bytes()[..c.len_utf8()]);
                rest = &rest[c.len_utf8()..];
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn escaped_bytes_can_be_restored(parts in prop::collection::vec(
            prop_oneof![Just(b"\\".to_vec()), Just(b"x".to_vec()), Just(b"41".to_vec()), Just(vec![0xff]),
                        Just("é".as_bytes().to_vec()), prop::collection::vec(any::<u8>(), 0..4)], 0..24)) {
            let bytes = parts.concat();
            prop_assert_eq!(bytes_of(&escape_bytes(&bytes)), bytes);
        }
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        assert_eq!(escape_bytes(br"C:\new 'a\n'"), r"C:\new 'a\n'");
    }
}
