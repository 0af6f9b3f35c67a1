//! `veriplay isolate`: tries to break out, and reports what was contained.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use veriplay_corpus::probes::run::run_probe;
use veriplay_corpus::probes::{CLASSES, Probe, built_in_probes};
use veriplay_sandbox::{ImageSpec, SandboxOptions};

use crate::exit::{ExitCode, Failure, ResultExt};
use crate::isolate::bait::Bait;
use crate::isolate::own_sandbox::OwnSandbox;
use crate::isolate::report::{IsolationReport, SkippedProbes};
use crate::isolate::{ProbeResult, forgeries, open_target, report, run_probes, target};
use crate::isolation::{self, Isolation};
use crate::processors::threads_or_processors;
use crate::{image, progress};

/// Try to break out of this sandbox, or of another one, and report what was contained
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The image whose probes are tried
    #[arg(long, value_name = "NAME", default_value = "python", value_parser = images())]
    image: String,
    /// Only this class of probes [repeatable; default: all]
    #[arg(long, value_name = "CLASS", value_parser = classes())]
    class: Vec<String>,
    /// Attack this instead of our own sandbox: `cmd:"python3 {file}"` or `sandboxfusion:http://host:8080`
    #[arg(long, value_name = "KIND:WHAT")]
    target: Option<String>,
    /// Write a JUnit report to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Probes tried at once [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Where Python programs run; modules in WebAssembly always run in threads
    #[arg(long, value_enum, default_value = "thread", conflicts_with = "target")]
    workers: Isolation,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

fn images() -> PossibleValuesParser {
    PossibleValuesParser::new(ImageSpec::names())
}

fn classes() -> PossibleValuesParser {
    PossibleValuesParser::new(CLASSES.iter().map(|class| class.name).chain([forgeries::CLASS]))
}

/// The suite's results on one target.
struct SuiteRun {
    target: String,
    results: Vec<ProbeResult>,
    skipped: Vec<SkippedProbes>,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let started = Instant::now();
    let SuiteRun { target, results, skipped } = match &args.target {
        None => attack_own_sandbox(&args)?,
        Some(target) => attack_target(&args, target)?,
    };
    let took = started.elapsed();
    if let Some(path) = &args.junit {
        let xml = report::junit_xml(&target, &results, took).or_fail(ExitCode::Bug)?;
        write_file(path, &xml)?;
    }
    let report = IsolationReport::new(target, &results, skipped, took);
    progress::data(if args.json { serde_json::to_string(&report).or_fail(ExitCode::Bug)? } else { report.text() });
    match report.failures() {
        (0, 0) => Ok(()),
        (escaped, unclear) => Err(Failure::message(
            ExitCode::NotContained,
            format!("not contained: {escaped} probes escaped, {unclear} are unclear"),
        )),
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display())).or_fail(ExitCode::Input)
}

/// The image's probes of the named classes, and a note on the others.
fn select_probes(args: &Arguments, probes: Vec<Probe>) -> (Vec<Probe>, Vec<SkippedProbes>) {
    let is_named = |probe: &Probe| args.class.is_empty() || args.class.iter().any(|class| class == probe.class);
    let (probes, rest): (Vec<Probe>, Vec<Probe>) = probes.into_iter().partition(is_named);
    let (what, why) = ("other classes".to_owned(), "`--class` names some".to_owned());
    let skipped = SkippedProbes { what, count: rest.len(), why };
    (probes, if rest.is_empty() { Vec::new() } else { vec![skipped] })
}

fn image_probes(args: &Arguments) -> Result<Vec<Probe>, Failure> {
    built_in_probes(&args.image)
        .ok_or_else(|| Failure::message(ExitCode::Input, format!("image `{}` has no probes", args.image)))
}

/// Rejects a named class that is not among `available`: a suite that runs nothing of it would report success.
fn check_classes(args: &Arguments, target: &str, available: &[&str]) -> Result<(), Failure> {
    let Some(missing) = args.class.iter().find(|class| !available.contains(&class.as_str())) else { return Ok(()) };
    let what = format!("`--class {missing}`: no probe of this class runs on {target}");
    Err(Failure::message(ExitCode::Input, what).hint(format!("its classes are `{}`", available.join("`, `"))))
}

/// The classes of some probes, in the order of reports.
fn classes_of<'a>(probes: impl Iterator<Item = &'a Probe> + Clone) -> Vec<&'static str> {
    let names = CLASSES.iter().map(|class| class.name);
    names.filter(|name| probes.clone().any(|probe| probe.class == *name)).collect()
}

fn runs_forgeries(args: &Arguments) -> bool {
    args.class.is_empty() || args.class.iter().any(|class| class == forgeries::CLASS)
}

fn attack_own_sandbox(args: &Arguments) -> Result<SuiteRun, Failure> {
    let probes = image_probes(args)?;
    let available = [classes_of(probes.iter()), vec![forgeries::CLASS]].concat();
    check_classes(args, &format!("image `{}`", args.image), &available)?;
    let (probes, skipped) = select_probes(args, probes);
    let image = image::python()?;
    let suffix = if args.workers == Isolation::Process { " in worker processes" } else { "" };
    let target = format!("the image `{}` {}{suffix}", image.name(), image.digest().short());
    let sandboxes = OwnSandbox::new(Arc::clone(&image), args.workers);
    let bar = progress::bar(probes.len() as u64, "probes");
    let attempt = |probe: &Probe| run_probe(&sandboxes, probe, image.name());
    let mut results = run_probes(&probes, threads_or_processors(args.jobs), &attempt, &|| bar.inc(1));
    if runs_forgeries(args) {
        bar.set_message("forgeries");
        let sandbox = isolation::open_sandbox(Arc::clone(&image), SandboxOptions::fastest(), args.workers)?;
        results.extend(forgeries::judge_forgeries(&sandbox, image.name()));
    }
    bar.finish_and_clear();
    Ok(SuiteRun { target, results, skipped })
}

fn attack_target(args: &Arguments, name: &str) -> Result<SuiteRun, Failure> {
    let probes = image_probes(args)?;
    check_classes(args, &format!("`{name}`"), &classes_of(probes.iter().filter(|probe| probe.language_level)))?;
    let (probes, mut skipped) = select_probes(args, probes);
    let (probes, rest): (Vec<Probe>, Vec<Probe>) = probes.into_iter().partition(|probe| probe.language_level);
    for class in CLASSES {
        let count = rest.iter().filter(|probe| probe.class == class.name).count();
        if count > 0 {
            let why = "written for our own guest, channel and system calls".to_owned();
            skipped.push(SkippedProbes { what: class.name.to_owned(), count, why });
        }
    }
    let bait = Bait::lay()?;
    let target = open_target(name, &bait)?;
    let bar = progress::bar(probes.len() as u64, "probes");
    let attempt = |probe: &Probe| target::attempt(target.as_ref(), &bait, probe);
    let results = run_probes(&probes, threads_or_processors(args.jobs), &attempt, &|| bar.inc(1));
    bar.finish_and_clear();
    Ok(SuiteRun { target: format!("`{name}`"), results, skipped })
}
