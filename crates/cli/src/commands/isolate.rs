//! `veriplay isolate`: tries to break out, and reports what held.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use veriplay_corpus::probes::run::run_probe;
use veriplay_corpus::probes::{CLASSES, Probe, built_in_probes};
use veriplay_sandbox::{ImageSpec, SandboxOptions};

use crate::exit::{ExitCode, Failure, OrFail};
use crate::isolate::bait::Bait;
use crate::isolate::ours::Ours;
use crate::isolate::report::{IsolationReport, NotTried};
use crate::isolate::{Tried, forgeries, open_target, report, target, try_all};
use crate::workers::{self, Workers};
use crate::{image, progress};

/// Try to break out of this sandbox, or of another one, and report what held
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
    workers: Workers,
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

/// What was attacked, and what came of it.
struct Attack {
    target: String,
    tried: Vec<Tried>,
    not_tried: Vec<NotTried>,
}

pub(super) fn run(asked: Arguments) -> Result<(), Failure> {
    let started = Instant::now();
    let attack = match &asked.target {
        None => own(&asked)?,
        Some(text) => theirs(&asked, text)?,
    };
    let took = started.elapsed();
    if let Some(path) = &asked.junit {
        let xml = report::junit_xml(&attack.target, &attack.tried, took).or_fail(ExitCode::Bug)?;
        write(path, &xml)?;
    }
    let report = IsolationReport::new(attack.target, &attack.tried, attack.not_tried, took);
    progress::data(if asked.json { serde_json::to_string(&report).or_fail(ExitCode::Bug)? } else { report.text() });
    match report.failures() {
        (0, 0) => Ok(()),
        (escaped, unclear) => Err(Failure::message(
            ExitCode::NotContained,
            format!("not contained: {escaped} probes escaped, {unclear} are unclear"),
        )),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display())).or_fail(ExitCode::Input)
}

/// The selected probes, and a note on the others.
fn chosen(asked: &Arguments) -> Result<(Vec<Probe>, Vec<NotTried>), Failure> {
    let all = built_in_probes(&asked.image)
        .ok_or_else(|| Failure::message(ExitCode::Input, format!("image `{}` has no probes", asked.image)))?;
    let wanted = |probe: &Probe| asked.class.is_empty() || asked.class.iter().any(|class| class == probe.class);
    let (probes, rest): (Vec<Probe>, Vec<Probe>) = all.into_iter().partition(wanted);
    let not_tried =
        NotTried { what: "other classes".to_owned(), count: rest.len(), why: "`--class` asked for some".to_owned() };
    Ok((probes, if rest.is_empty() { Vec::new() } else { vec![not_tried] }))
}

fn threads(asked: &Arguments) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.jobs.map_or_else(processors, usize::from)
}

fn wants_forgeries(asked: &Arguments) -> bool {
    asked.class.is_empty() || asked.class.iter().any(|class| class == forgeries::CLASS)
}

fn own(asked: &Arguments) -> Result<Attack, Failure> {
    let (probes, not_tried) = chosen(asked)?;
    let image = image::python()?;
    let place = if asked.workers == Workers::Process { " in worker processes" } else { "" };
    let target = format!("the image `{}` {}{place}", image.name(), image.digest().short());
    let ours = Ours::new(Arc::clone(&image), asked.workers);
    let bar = progress::bar(probes.len() as u64, "probes");
    let attempt = |probe: &Probe| run_probe(&ours, probe, image.name());
    let mut tried = try_all(&probes, threads(asked), &attempt, &|| bar.inc(1));
    if wants_forgeries(asked) {
        bar.set_message("forgeries");
        let sandbox = workers::sandbox(Arc::clone(&image), SandboxOptions::fastest(), asked.workers)?;
        tried.extend(forgeries::try_all(&sandbox, image.name()));
    }
    bar.finish_and_clear();
    Ok(Attack { target, tried, not_tried })
}

fn theirs(asked: &Arguments, text: &str) -> Result<Attack, Failure> {
    let (probes, mut not_tried) = chosen(asked)?;
    let (probes, rest): (Vec<Probe>, Vec<Probe>) = probes.into_iter().partition(|probe| probe.language_level);
    for class in CLASSES {
        let count = rest.iter().filter(|probe| probe.class == class.name).count();
        if count > 0 {
            let why = "written for our own guest, channel and system calls".to_owned();
            not_tried.push(NotTried { what: class.name.to_owned(), count, why });
        }
    }
    let bait = Bait::lay()?;
    let target = open_target(text, &bait)?;
    let bar = progress::bar(probes.len() as u64, "probes");
    let attempt = |probe: &Probe| target::attempt(target.as_ref(), &bait, probe);
    let tried = try_all(&probes, threads(asked), &attempt, &|| bar.inc(1));
    bar.finish_and_clear();
    Ok(Attack { target: format!("`{text}`"), tried, not_tried })
}
