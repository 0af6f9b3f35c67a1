//! `veriplay report`: runs as one page.

use std::path::{Path, PathBuf};

use clap::Args;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::{check_replaceable, output_file, write_atomically};
use veriplay_console::progress;
use veriplay_report::{RunReport, draw_curves, render};

/// Make one self-contained HTML page of a run, or of several to compare
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Run directories. The first is the one that the others are compared with
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// The page to write, `-` for stdout [default: report.html, or none with --svg]. A file that is no such page is never overwritten
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Number of logged records to show of each run, spread over its steps; near misses and what rules decided are shown besides
    #[arg(long, value_name = "N", default_value_t = 200)]
    samples: usize,
    /// Draw curves, which `--curve` names, into this file; with --out beside the page, else in its place
    #[arg(long, value_name = "FILE", requires = "curve")]
    svg: Option<PathBuf>,
    /// A curve to draw, as the page calls it, such as `actor/loss` [repeatable]
    #[arg(long, value_name = "PATH", requires = "svg")]
    curve: Vec<String>,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let out = args.out.or_else(|| args.svg.is_none().then(|| "report.html".into()));
    if out.is_some() && out == args.svg {
        return Err(Failure::message(ExitCode::Usage, "`--out` and `--svg` name the same file"));
    }
    let page_file = out.as_deref().filter(|path| *path != Path::new("-"));
    // Reading the runs may take long.
    for path in page_file.into_iter().chain(args.svg.as_deref()) {
        output_file(path)?;
    }
    if let Some(path) = page_file {
        check_replaceable(path, "report", |text| text.starts_with("<!doctype html>") && text.contains(TITLE_END))?;
    }
    if let Some(path) = &args.svg {
        check_replaceable(path, "picture", |text| text.starts_with("<svg"))?;
    }
    let read = |run: &PathBuf| RunReport::read(run, run.display().to_string(), args.samples);
    let runs = args.runs.iter().map(read).collect::<Result<Vec<RunReport>, Failure>>()?;
    // Before anything is written: it may have no such curve.
    let picture =
        args.svg.as_ref().map(|path| Ok::<_, Failure>((path, draw_curves(&runs, &args.curve)?))).transpose()?;
    if out.is_some() {
        write_page(&render(&runs)?, page_file)?;
    }
    if let Some((path, picture)) = picture {
        write_atomically(path, picture.as_bytes()).or_fail(ExitCode::Input)?;
        let page_is_printed = out.is_some() && page_file.is_none();
        if page_is_printed { progress::data_beside(path.display()) } else { progress::data(path.display()) }
    }
    Ok(())
}

fn write_page(page: &str, file: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = file else {
        progress::data(page.trim_end());
        return Ok(());
    };
    write_atomically(path, page.as_bytes()).or_fail(ExitCode::Input)?;
    progress::data(path.display());
    progress::say(format!("{:.1} MiB, opens without a network", page.len() as f64 / f64::from(1 << 20)));
    Ok(())
}

/// The end of the title of every page, which is in its first bytes.
const TITLE_END: &str = ": Veriplay</title>";
