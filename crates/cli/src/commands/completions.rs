//! `veriplay completions`: what a shell needs to complete our command line.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress;

use super::CommandLine;

/// Print the completions of a shell
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut CommandLine::command(), "veriplay", &mut script);
    progress::data(String::from_utf8(script).or_fail(ExitCode::Bug)?.trim_end());
    Ok(())
}
