//! `veriplay report`: runs as one page.

use std::path::PathBuf;

use clap::Args;

use crate::exit::{ExitCode, Failure, ResultExt};
use crate::json_file::write_atomically;
use crate::progress;
use crate::report::{RunReport, draw_curves, render};

/// Make one self-contained HTML page of a run, or of several to compare
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Run directories. The first is the one that the others are compared with
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Number of logged records to show of each run, spread over its steps; near misses and what rules decided are shown besides
    #[arg(long, value_name = "N", default_value_t = 200)]
    samples: usize,
    /// Also draw curves, which `--curve` names, into this file
    #[arg(long, value_name = "FILE", requires = "curve")]
    svg: Option<PathBuf>,
    /// A curve to draw, as the page calls it, such as `actor/loss` [repeatable]
    #[arg(long, value_name = "PATH", requires = "svg")]
    curve: Vec<String>,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let read = |run: &PathBuf| RunReport::read(run, run.display().to_string(), args.samples);
    let runs = args.runs.iter().map(read).collect::<Result<Vec<RunReport>, Failure>>()?;
    // Before anything is written: it may have no such curve.
    let picture =
        args.svg.as_ref().map(|path| Ok::<_, Failure>((path, draw_curves(&runs, &args.curve)?))).transpose()?;
    let page = render(&runs)?;
    write_atomically(&args.out, page.as_bytes()).or_fail(ExitCode::Input)?;
    progress::data(args.out.display());
    if let Some((path, picture)) = picture {
        write_atomically(path, picture.as_bytes()).or_fail(ExitCode::Input)?;
        progress::data(path.display());
    }
    progress::say(format!("{:.1} MiB, opens without a network", page.len() as f64 / f64::from(1 << 20)));
    Ok(())
}
