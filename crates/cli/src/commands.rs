//! The commands. Adding one is a file here, its `mod`, and a line in [`commands!`].

mod bench;
mod cache_arguments;
mod compare;
mod completions;
mod config;
mod corpus;
mod doctor;
mod eval;
mod generate;
mod image;
mod isolate;
mod man;
mod model;
mod play;
mod replay;
mod report;
mod run;
mod serve;
mod verify;
mod warmup;
mod watch;

use std::fmt::Display;

use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::programs::ProgramImage;
use veriplay_console::progress;
use veriplay_verifier::OpenImage;

/// Self-play for code with verifiable rewards
#[derive(Debug, Parser)]
#[command(name = "veriplay", version, arg_required_else_help = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
    /// Print no messages and no progress on stderr, only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Log what is done on stderr, or with -vv its details too; `VERIPLAY_LOG` overrides it
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Form of messages, progress and log on stderr; `VERIPLAY_LOG` filters the log
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
}

/// The form of what is on stderr.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object a line, and nothing else
    Json,
}

impl CommandLine {
    pub(crate) fn parse_arguments() -> Result<Self, clap::Error> {
        let mut command = with_negative_values(Self::command());
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// The log's filter where the environment names none. The details of libraries would drown those of this program.
    pub(crate) const fn log_filter(&self) -> &'static str {
        match (self.quiet, self.verbose) {
            (true, _) => "error",
            (_, 0) => "warn",
            (_, 1) => "warn,veriplay=info",
            _ => "warn,veriplay=debug",
        }
    }

    pub(crate) fn run(self) -> Result<(), Failure> {
        self.command.run()
    }
}

/// Has every option take a negative number as its value: `--seed -1` is a bad value, not an unknown option `-1`.
fn with_negative_values(command: clap::Command) -> clap::Command {
    let takes_value = |arg: &Arg| arg.get_action().takes_values() && !arg.is_positional();
    command
        .mut_args(|arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(with_negative_values)
}

/// Prints what a command has found: as one JSON object with `json`, else as `text` says it to people.
fn print(found: &impl Serialize, json: bool, text: impl FnOnce() -> String) -> Result<(), Failure> {
    progress::data(if json { serde_json::to_string(found).or_fail(ExitCode::Bug)? } else { text() });
    Ok(())
}

/// The images of these names, as verdicts depend on them.
fn describe_images(names: &[String], images: &[ProgramImage]) -> Vec<OpenImage> {
    let described = names.iter().zip(images).map(|(name, image)| OpenImage {
        name: name.clone(),
        digest: image.digest().clone(),
        memory_bytes: image.memory_bytes(),
    });
    described.collect()
}

/// Refuses the first option that is given and would be ignored, which the second of each pair says.
fn refuse_ignored(options: &[(&str, bool)], of: impl Display, hint: &str) -> Result<(), Failure> {
    match options.iter().find(|(_, is_ignored)| *is_ignored) {
        None => Ok(()),
        Some((name, _)) => {
            let what = format!("`--{name}` does not apply to {of}");
            Err(Failure::message(ExitCode::Usage, what).hint(hint))
        }
    }
}

/// Makes the subcommands from modules, each with `Arguments`, whose first line of documentation is the help text, and `run`.
macro_rules! commands {
    ($($variant:ident: $module:ident),* $(,)?) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($variant($module::Arguments)),*
        }

        impl Command {
            fn run(self) -> Result<(), Failure> {
                match self {
                    $(Self::$variant(arguments) => $module::run(arguments)),*
                }
            }
        }
    };
}

// In the order of `--help`.
commands! {
    Play: play,
    Config: config,
    Eval: eval,
    Generate: generate,
    Verify: verify,
    Run: run,
    Serve: serve,
    Replay: replay,
    Watch: watch,
    Report: report,
    Compare: compare,
    Isolate: isolate,
    Bench: bench,
    Corpus: corpus,
    Image: image,
    Doctor: doctor,
    Model: model,
    Warmup: warmup,
    Completions: completions,
    Man: man,
}
