//! `veriplay man`: the manual pages and the command reference, made from the same texts as `--help`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use clap_markdown::{MarkdownOptions, help_markdown_command_custom};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress;

use super::CommandLine;

/// Codes that no failure of a command has: success, what the parser of the command line exits with, and what a shell shows of a process that a
/// signal ended.
const OTHER_CODES: [(u8, &str); 2] = [
    (0, "success"),
    (
        143,
        "ended by SIGTERM: a command that saves nothing, such as `run`, or `serve` by its second signal. At the first, `serve` drains and exits with 0",
    ),
];

/// Print the manual page, or write those of all commands
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Folder to write `veriplay.1` and a page for each command to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print every command, option and exit code as one Markdown page instead
    #[arg(long, conflicts_with = "out")]
    markdown: bool,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    match &args.out {
        None if args.markdown => {
            progress::data(command_reference().trim_end());
            Ok(())
        }
        Some(folder) => write_pages(folder).or_fail(ExitCode::Input),
        None => {
            let mut page = Vec::new();
            Man::new(CommandLine::command()).render(&mut page).or_fail(ExitCode::Bug)?;
            progress::data(String::from_utf8(page).or_fail(ExitCode::Bug)?.trim_end());
            Ok(())
        }
    }
}

/// Every command with its options, and the exit codes, as Markdown.
fn command_reference() -> String {
    let options = MarkdownOptions::new().title("Command reference".to_owned()).show_footer(false);
    let commands = help_markdown_command_custom(&CommandLine::command(), &options);
    let mut codes = [&OTHER_CODES, ExitCode::MEANINGS].concat();
    codes.sort_unstable();
    let rows: String = codes.iter().map(|(code, meaning)| format!("| {code} | {meaning} |\n")).collect();
    format!("{}\n\n## Exit codes\n\n| code | meaning |\n|---|---|\n{rows}", commands.trim_end())
}

/// The folder may be a new one, in a folder that is there: a mistyped path makes no tree of folders.
fn write_pages(folder: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot write manual pages to `{}`", folder.display());
    match std::fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error).with_context(cannot),
        _ => {}
    }
    clap_mangen::generate_to(CommandLine::command(), folder).with_context(cannot)
}
