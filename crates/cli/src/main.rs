//! `veriplay`: the command line. A command reads its options and calls the crate that does the work.

mod commands;

use std::io::IsTerminal;
use std::process::ExitCode;

use tracing_subscriber::filter::Directive;
use tracing_subscriber::fmt::format::FmtSpan;
use veriplay_console::exit::{self, Failure};
use veriplay_console::text_log::TextLog;
use veriplay_console::{isolation, leftovers, progress};

use commands::LogFormat;

/// Training allocates and frees the same large buffers all the time, and the system's allocator returns each to the kernel.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Without it candle runs elementwise operations on spinning threads of its own, which compete with the learner's workers: training takes
/// three times as long, with the same bits. Candle reads the variable once, from the environment, as the allocator reads its own.
const ONE_CANDLE_THREAD: (&str, &str) = ("CANDLE_NUM_THREADS", "1");

/// Freed memory stays with the process. By default it returns to the kernel within a step, even with a delay of 100 s, and the kernel
/// clears each page before it is used again: an eighth of the time of a step with 135 M parameters.
const KEPT_MEMORY: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "-1");

/// Freed memory returns to the kernel at once. Requests to a service differ in what they take, and what one has left is not what the next one needs.
const RETURNED_MEMORY: (&str, &str) = (KEPT_MEMORY.0, "0");

fn main() -> ExitCode {
    if isolation::is_worker() {
        return veriplay_sandbox::serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    restart_with_environment();
    let command = match commands::CommandLine::parse_arguments() {
        Ok(command) => command,
        Err(error) => return end_unparsed(&error),
    };
    start_log(command.log_format, command.log_filter());
    if command.quiet {
        progress::be_quiet();
    }
    let failures: Vec<Failure> =
        [command.run(), progress::check_written()].into_iter().filter_map(Result::err).collect();
    failures.iter().filter(|failure| !failure.is_silent()).for_each(progress::say_always);
    // A thread that nobody waits for may own some.
    leftovers::remove_all();
    failures.first().map_or(ExitCode::SUCCESS, |failure| ExitCode::from(failure.code()))
}

/// Prints the help or the version that was asked for, or what is wrong with the command line, in the form of the log that it names.
fn end_unparsed(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && asks_for_json() {
        start_log(LogFormat::Json, "error");
        progress::say_always(error.render().to_string().trim_end());
        return ExitCode::from(exit::ExitCode::Usage as u8);
    }
    match error.print() {
        // A closed pipe has read what it wanted.
        Err(fault) if !error.use_stderr() && fault.kind() != std::io::ErrorKind::BrokenPipe => {
            start_log(LogFormat::Text, "error");
            progress::say_always(format!("error: cannot write to standard output: {fault}"));
            ExitCode::from(exit::ExitCode::Input as u8)
        }
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::ExitCode::Usage as u8)),
    }
}

/// Whether a command line that cannot be parsed asks for a log as JSON.
fn asks_for_json() -> bool {
    let arguments: Vec<String> = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    arguments.windows(2).any(|pair| *pair == ["--log-format", "json"])
        || arguments.iter().any(|argument| argument == "--log-format=json")
}

/// Writes to stderr what of the log passes `filter`. `VERIPLAY_LOG` filters it otherwise. Only a terminal gets colours: elsewhere their escape
/// sequences would be part of the text.
fn start_log(format: LogFormat, filter: &str) {
    let filter = tracing_subscriber::EnvFilter::try_from_env("VERIPLAY_LOG").unwrap_or_else(|_| filter.into());
    // `--quiet` holds messages back itself.
    let filter = match format!("{}=info", progress::LOG_TARGET).parse::<Directive>() {
        Ok(messages) if format == LogFormat::Json => filter.add_directive(messages),
        _ => filter,
    };
    // https://no-color.org: set and not empty asks for none.
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    // A span says at its end how long it was at work.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours);
    let log = log.with_span_events(FmtSpan::CLOSE);
    match format {
        LogFormat::Text => log.event_format(TextLog::default()).init(),
        LogFormat::Json => {
            progress::log_messages();
            std::panic::set_hook(Box::new(|panic| tracing::error!(target: progress::LOG_TARGET, "{panic}")));
            log.json().flatten_event(true).with_current_span(false).init();
        }
    }
}

/// Executes this program again with the variables that its command needs and that are not set: safe code cannot set them for the running
/// process. Where that fails, the work goes on, slower.
fn restart_with_environment() {
    use std::os::unix::process::CommandExt;
    // A path may be no UTF-8.
    let arguments = || std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let quantised = arguments().any(|argument| veriplay_run::model::is_quantised(&argument));
    let memory = arguments().skip(1).find_map(|argument| match argument.as_str() {
        "play" | "warmup" | "learner" => Some(KEPT_MEMORY),
        "serve" => Some(RETURNED_MEMORY),
        _ => None,
    });
    let wanted = [Some(ONE_CANDLE_THREAD).filter(|_| !quantised), memory];
    let missing: Vec<(&str, &str)> =
        wanted.into_iter().flatten().filter(|(name, _)| std::env::var_os(name).is_none()).collect();
    if missing.is_empty() {
        return;
    }
    let restarted = std::env::current_exe().map(|program| {
        let mut arguments = std::env::args_os();
        let name = arguments.next().unwrap_or_else(|| program.clone().into_os_string());
        std::process::Command::new(program).arg0(name).args(arguments).envs(missing).exec()
    });
    tracing::debug!(?restarted, "cannot restart with the environment set");
}
