//! `veriplay isolate`: tries to break out, and reports what was contained.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use veriplay_corpus::probes::run::run_probe;
use veriplay_corpus::probes::{CLASSES, Probe, ProbeProgram, Severity, built_in_probes, find_class};
use veriplay_sandbox::{ImageSpec, SandboxOptions};

use crate::exit::{ExitCode, Failure, ResultExt};
use crate::isolate::allow::AllowList;
use crate::isolate::bait::Bait;
use crate::isolate::own_sandbox::OwnSandbox;
use crate::isolate::report::{IsolationReport, SkippedProbes};
use crate::isolate::sarif::sarif;
use crate::isolate::selection::{Selection, Tested};
use crate::isolate::{ProbeResult, forgeries, open_target, report, run_probes, target};
use crate::isolation::{self, Isolation};
use crate::processors::threads_or_processors;
use crate::{image, interrupt, progress};

/// Try to break out of this sandbox, or of another one, and report what was contained
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The image whose probes are tried
    #[arg(long, value_name = "NAME", default_value = "python", value_parser = images())]
    image: String,
    /// Only this class of probes [repeatable; default: all]
    #[arg(long, value_name = "CLASS", value_parser = classes())]
    class: Vec<String>,
    /// Only this probe, beside those of `--class` [repeatable]
    #[arg(long, value_name = "CLASS/NAME")]
    probe: Vec<String>,
    /// Leave out this probe or class [repeatable]
    #[arg(long, value_name = "CLASS[/NAME]")]
    skip: Vec<String>,
    /// Attack this instead of our own sandbox: `cmd:"python3 {file}"` or `sandboxfusion:http://host:8080`
    #[arg(long, value_name = "KIND:WHAT")]
    target: Option<String>,
    /// Do not fail on the probes that this file allows, each with a reason
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,
    /// Write an allow-list of what is not contained to this new file
    #[arg(long, value_name = "FILE")]
    write_allow: Option<PathBuf>,
    /// Write a JUnit report to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a SARIF report to this file, for code hosts that list findings of security tools
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write a report in Markdown to this file, for the summary of a CI run
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Probes tried at once [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Where Python programs run; modules in WebAssembly always run in threads
    #[arg(long, value_enum, default_value = "thread", conflicts_with = "target")]
    workers: Isolation,
    /// List the probes and try none
    #[arg(long, conflicts_with = "explain")]
    list: bool,
    /// Say what this probe tries and why that matters, and show its programs; try none
    #[arg(long, value_name = "CLASS/NAME")]
    explain: Option<String>,
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
    let probes = built_in_probes(&args.image)
        .ok_or_else(|| Failure::message(ExitCode::Input, format!("image `{}` has no probes", args.image)))?;
    if args.list {
        return list_probes(&args, probes);
    }
    if let Some(id) = &args.explain {
        return explain_probe(id, &probes);
    }
    let allow =
        args.allow.as_deref().map(|path| AllowList::read(path, &probes)).transpose().or_fail(ExitCode::Input)?;
    interrupt::listen("stopping after the probes under way; press Ctrl-C again to stop at once");
    let started = Instant::now();
    let SuiteRun { target, mut results, skipped } = match &args.target {
        None => attack_own_sandbox(&args, probes)?,
        Some(target) => attack_target(&args, target, probes)?,
    };
    let today = chrono::Utc::now().date_naive();
    let allow = allow.unwrap_or_default().apply(&mut results, today).or_fail(ExitCode::Input)?;
    let report = IsolationReport::new(target.clone(), &results, skipped, allow, started.elapsed());
    progress::data(if args.json { serde_json::to_string(&report).or_fail(ExitCode::Bug)? } else { report.text() });
    if let Some(path) = &args.junit {
        write_file(path, &report::junit_xml(&target, &results, started.elapsed()).or_fail(ExitCode::Bug)?)?;
    }
    if let Some(path) = &args.sarif {
        write_file(path, &serde_json::to_string_pretty(&sarif(&target, &results)).or_fail(ExitCode::Bug)?)?;
    }
    if let Some(path) = &args.markdown {
        write_file(path, &report.markdown())?;
    }
    if let Some(path) = &args.write_allow {
        write_new_file(path, &AllowList::of(&results, today).to_toml().or_fail(ExitCode::Bug)?)?;
    }
    if interrupt::requested() {
        return Err(Failure::message(ExitCode::Interrupted, format!("stopped after {} probes", results.len())));
    }
    fail_on_escapes(&results)
}

fn fail_on_escapes(results: &[ProbeResult]) -> Result<(), Failure> {
    let failed: Vec<&ProbeResult> = results.iter().filter(|result| result.is_failure()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let escaped = failed.iter().filter(|result| result.finding.is_escape()).count();
    let unclear = failed.len() - escaped;
    Err(Failure::message(
        ExitCode::NotContained,
        format!("not contained: {escaped} probes escaped, {unclear} are unclear"),
    ))
}

fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display())).or_fail(ExitCode::Input)
}

/// For what a person has edited since.
fn write_new_file(path: &Path, text: &str) -> Result<(), Failure> {
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    let written = made.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.with_context(|| format!("cannot write the new file `{}`", path.display())).or_fail(ExitCode::Input)
}

impl Arguments {
    fn selection(&self) -> Selection<'_> {
        Selection { classes: &self.class, probes: &self.probe, skip: &self.skip }
    }
}

/// A line of `--list`.
#[derive(Serialize)]
struct ListedProbe {
    probe: String,
    severity: Severity,
    /// Whether it runs on any target.
    any_target: bool,
    title: String,
}

fn list_probes(args: &Arguments, probes: Vec<Probe>) -> Result<(), Failure> {
    let is_there: &dyn Fn(&Probe) -> bool =
        if args.target.is_some() { &|probe| probe.language_level } else { &|_| true };
    let tested = Tested { name: "the target", runs: is_there, has_verifier: args.target.is_none() };
    let (probes, _) = args.selection().choose(probes, &tested)?;
    let listed: Vec<ListedProbe> = probes.iter().map(ListedProbe::new).collect();
    if args.json {
        progress::data(serde_json::to_string(&listed).or_fail(ExitCode::Bug)?);
        return Ok(());
    }
    let width = listed.iter().map(|one| one.probe.len()).max().unwrap_or_default();
    let mut out = String::new();
    for ListedProbe { probe, severity, any_target, title } in &listed {
        let place = if *any_target { "any target" } else { "ours" };
        let _ = writeln!(out, "{probe:<width$}  {:<8}  {place:<10}  {title}", severity.word());
    }
    progress::data(out.trim_end());
    Ok(())
}

impl ListedProbe {
    fn new(probe: &Probe) -> Self {
        let severity = find_class(probe.class).map_or(Severity::High, |class| class.severity);
        Self { probe: probe.id(), severity, any_target: probe.language_level, title: probe.title.clone() }
    }
}

fn explain_probe(id: &str, probes: &[Probe]) -> Result<(), Failure> {
    let Some(probe) = probes.iter().find(|probe| probe.id() == id) else {
        return Err(Failure::message(ExitCode::Input, format!("`--explain {id}`: there is no such probe"))
            .hint("a probe is `CLASS/NAME`; `veriplay isolate --list` lists them"));
    };
    let class = find_class(probe.class);
    let (tries, hint) = class.map_or(("", ""), |class| (class.tries, class.hint));
    let severity = class.map_or(Severity::High, |class| class.severity).word();
    let mut out = format!("# {}\n\n{}\n\n", probe.title, probe.statement.trim());
    let _ = writeln!(out, "class: {} (its probes {tries}); severity: {severity}", probe.class);
    let _ = writeln!(out, "where it escapes: {hint}");
    let (language, programs) = match &probe.program {
        ProbeProgram::Python(programs) => ("python", programs.as_slice()),
        ProbeProgram::Module(text) => ("wat", std::slice::from_ref(text)),
    };
    for program in programs {
        let _ = write!(out, "\n```{language}\n{}\n```\n", program.trim_end());
    }
    progress::data(out.trim_end());
    Ok(())
}

fn attack_own_sandbox(args: &Arguments, probes: Vec<Probe>) -> Result<SuiteRun, Failure> {
    let name = format!("image `{}`", args.image);
    let selection = args.selection();
    let (probes, skipped) = selection.choose(probes, &Tested { name: &name, runs: &|_| true, has_verifier: true })?;
    let image = image::python()?;
    let suffix = if args.workers == Isolation::Process { " in worker processes" } else { "" };
    let target = format!("the image `{}` {}{suffix}", image.name(), image.digest().short());
    let sandboxes = OwnSandbox::new(Arc::clone(&image), args.workers);
    let bar = progress::bar(probes.len() as u64, "probes");
    let attempt = |probe: &Probe| run_probe(&sandboxes, probe, image.name());
    let mut results = run_probes(&probes, threads_or_processors(args.jobs), &attempt, &|| bar.inc(1));
    if selection.has_forgeries() && !interrupt::requested() {
        bar.set_message("forgeries");
        let sandbox = isolation::open_sandbox(Arc::clone(&image), SandboxOptions::fastest(), args.workers)?;
        results.extend(forgeries::judge_forgeries(&sandbox, image.name()));
    }
    bar.finish_and_clear();
    Ok(SuiteRun { target, results, skipped })
}

fn attack_target(args: &Arguments, name: &str, probes: Vec<Probe>) -> Result<SuiteRun, Failure> {
    let quoted = format!("`{name}`");
    let tested = Tested { name: &quoted, runs: &|probe| probe.language_level, has_verifier: false };
    let (probes, skipped) = args.selection().choose(probes, &tested)?;
    let bait = Bait::lay()?;
    let target = open_target(name, &bait)?;
    target::check_plain_program(target.as_ref(), name)?;
    let bar = progress::bar(probes.len() as u64, "probes");
    let attempt = |probe: &Probe| target::attempt(target.as_ref(), &bait, probe);
    let results = run_probes(&probes, threads_or_processors(args.jobs), &attempt, &|| bar.inc(1));
    bar.finish_and_clear();
    Ok(SuiteRun { target: quoted, results, skipped })
}
