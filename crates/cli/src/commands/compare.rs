//! `veriplay compare`: runs side by side in the terminal.

use std::path::PathBuf;

use clap::Args;
use veriplay_console::exit::Failure;
use veriplay_report::{ComparedRun, Comparison};

use super::print;

/// Compare runs: evaluations with 95 % intervals, differences, configurations, and how the curves end
///
/// Runs need not be finished. `veriplay report RUN RUN` draws their curves
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Run directories of one game, two or more. The first is the one that the others are compared with
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let runs = args.runs.iter().map(|run| ComparedRun::read(run)).collect::<Result<Vec<_>, Failure>>()?;
    let comparison = Comparison::new(runs)?;
    print(&comparison, args.json, || comparison.to_string())
}
