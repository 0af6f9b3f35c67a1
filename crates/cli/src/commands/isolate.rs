//! `veriplay isolate`: tries to break out, and reports what was contained.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::isolation::{self, Isolation};
use veriplay_console::processors::threads_or_processors;
use veriplay_console::progress::{self, counted};
use veriplay_console::{image, interrupt};
use veriplay_core::WasmModule;
use veriplay_corpus::probes::run::run_probe;
use veriplay_corpus::probes::{Probe, ProbeClass, ProbeLanguage, ProbeProgram, Severity};
use veriplay_lab::isolate::allow::AllowList;
use veriplay_lab::isolate::bait::Bait;
use veriplay_lab::isolate::catalog::{self, NamedProbe, find_class};
use veriplay_lab::isolate::forgeries::{self, PlannedForgery};
use veriplay_lab::isolate::fusion::ConnectOptions;
use veriplay_lab::isolate::own_sandbox::{Attacked, OwnSandbox};
use veriplay_lab::isolate::report::IsolationReport;
use veriplay_lab::isolate::report_files::ReportFiles;
use veriplay_lab::isolate::selection::{NotTried, Selection, Tested};
use veriplay_lab::isolate::service::probe::ServiceProbe;
use veriplay_lab::isolate::service::{self, OpenService, ServiceOptions};
use veriplay_lab::isolate::{ProbeResult, SuiteEnd, open_target, run_probes, target};
use veriplay_sandbox::SandboxOptions;

use super::{print, refuse_ignored};

/// Try to break out of this sandbox, or of another one, and report what was contained
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The image that is attacked: `python`, `python-numpy`, `javascript`, `typescript`, `cpp`, `wasm` (modules) or one of your own
    #[arg(long, value_name = "NAME", default_value = "python", value_parser = parse_attacked, conflicts_with = "target")]
    image: String,
    /// Only this class of probes [repeatable; default: all]
    #[arg(long, value_name = "CLASS", value_parser = classes())]
    class: Vec<String>,
    /// Only this probe, beside those of `--class` [repeatable]
    #[arg(long, value_name = "CLASS/NAME")]
    probe: Vec<String>,
    /// Leave out this probe or class [repeatable]
    #[arg(long, value_name = "CLASS[/NAME]", value_parser = StringValueParser::new().map(current_name))]
    skip: Vec<String>,
    /// Attack this instead of our own sandbox: `cmd:"python3 {file}"`, `docker:IMAGE`, `sandboxfusion:https://host`, or a service and its
    /// clients: `service` (a `veriplay serve` that is started for it), `service:http://host:8080`, `service:unix:/path`
    #[arg(long, value_name = "KIND:WHAT")]
    target: Option<String>,
    /// Send tokens of this file, one a line, to a `sandboxfusion:` or `service:` target; the second is another client's
    #[arg(long, value_name = "FILE", requires = "target")]
    token_file: Option<PathBuf>,
    /// Trust the certificates in this file (PEM) for `https://`, instead of Mozilla's
    #[arg(long, value_name = "FILE", requires = "target")]
    ca_file: Option<PathBuf>,
    /// The log of a `service:` target, to look for programs in it
    #[arg(long, value_name = "FILE", requires = "target")]
    service_log: Option<PathBuf>,
    /// Seconds after which a service that still waits for a slow client counts as waiting for ever
    #[arg(long, value_name = "SECONDS", default_value_t = 70, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
    /// Do not fail on the probes that this file allows, each with a reason
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,
    #[command(flatten)]
    files: ReportFiles,
    /// Probes tried at once [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Where programs run; modules in WebAssembly always run in threads
    #[arg(long, value_enum, default_value = "thread", conflicts_with = "target")]
    workers: Isolation,
    /// List the probes and try none
    #[arg(long, conflicts_with_all = ["explain", "allow", "write_allow", "junit", "sarif", "markdown"])]
    list: bool,
    /// Say what this probe tries and why that matters, and show its programs; try none
    #[arg(long, value_name = "CLASS/NAME", conflicts_with_all = ["allow", "write_allow", "junit", "sarif", "markdown"])]
    explain: Option<String>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// The name that the class of forgeries had before.
const EARLIER_NAME: &str = "verifier";

/// As [`image::parse_program_name`], and the image of modules.
fn parse_attacked(name: &str) -> Result<String, String> {
    if name == WasmModule::IMAGE { Ok(name.to_owned()) } else { image::parse_program_name(name) }
}

/// The language of the probes of the image of this name.
fn language_of(name: &str) -> Result<ProbeLanguage, Failure> {
    let found = if name == WasmModule::IMAGE || image::is_compiled(name) {
        ProbeLanguage::find(name)
    } else {
        ProbeLanguage::find(image::find_spec(name)?.guest())
    };
    found.ok_or_else(|| Failure::message(ExitCode::Input, format!("image `{name}` has no probes")))
}

fn classes() -> impl TypedValueParser<Value = String> {
    let classes = catalog::classes().map(|class| PossibleValue::new(class.name));
    PossibleValuesParser::new(classes.chain([PossibleValue::new(forgeries::CLASS).alias(EARLIER_NAME)]))
        .map(current_name)
}

/// The name that a class or probe has now.
fn current_name(name: String) -> String {
    if name == EARLIER_NAME { forgeries::CLASS.to_owned() } else { name }
}

/// The most probes that the error at the end names.
const NAMED: usize = 50;

struct SuiteRun {
    target: String,
    results: Vec<ProbeResult>,
    not_tried: NotTried,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let language = language_of(&args.image)?;
    if args.list {
        return list_probes(&args, language);
    }
    if let Some(id) = &args.explain {
        return explain_probe(id);
    }
    args.check_target_options()?;
    let allow = args.allow.as_deref().map(|path| AllowList::read(path, &catalog::probe_ids()));
    let allow = allow.transpose().or_fail(ExitCode::Input)?;
    args.files.check()?;
    if args.json && args.files.take_stdout() {
        let what = "`--json` and a report to `-` would both be written to stdout";
        return Err(Failure::message(ExitCode::Usage, what).hint("name a file for the report"));
    }
    interrupt::listen("stopping after the probes under way; press Ctrl-C again to stop at once");
    let started = Instant::now();
    let SuiteRun { target, mut results, not_tried } = match &args.target {
        None => attack_own_sandbox(&args, language)?,
        Some(target) => match service_address(target) {
            Some(url) => attack_service(&args, url)?,
            None => attack_target(&args, target, language.probes())?,
        },
    };
    let today = chrono::Utc::now().date_naive();
    let end = SuiteEnd { target: &target, took: started.elapsed(), stopped: interrupt::requested(), today };
    let allow = allow.unwrap_or_default().apply(&mut results, today).or_fail(ExitCode::Input)?;
    let report = IsolationReport::new(&results, &not_tried, allow, &end);
    let summary = if args.json { serde_json::to_string(&report).or_fail(ExitCode::Bug)? } else { report.text() };
    if args.files.take_stdout() {
        progress::data_beside(summary)
    } else {
        progress::data(summary)
    }
    let written = args.files.write(&report, &results, &not_tried, &end, args.allow.as_deref());
    let judged = if end.stopped {
        let (tried, left) = (counted(results.len(), "probe"), not_tried.unreached());
        Err(Failure::message(ExitCode::Interrupted, format!("stopped after {tried}, not tried: {left}")))
    } else {
        fail_on_escapes(&results)
    };
    if judged.is_err()
        && let Err(unwritten) = &written
    {
        progress::say_always(unwritten);
    }
    judged.and(written)
}

fn fail_on_escapes(results: &[ProbeResult]) -> Result<(), Failure> {
    let failed: Vec<&ProbeResult> = results.iter().filter(|result| result.is_failure()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let escaped = failed.iter().filter(|result| result.finding.is_escape()).count();
    let unclear = failed.len() - escaped;
    // Where the report is in files, this is all that a log has.
    let mut names: Vec<String> = failed.iter().take(NAMED).map(|result| result.id()).collect();
    if failed.len() > NAMED {
        names.push(format!("and {} more", failed.len() - NAMED));
    }
    let what = format!("not contained: {} escaped, {unclear} unclear: {}", counted(escaped, "probe"), names.join(", "));
    Err(Failure::message(ExitCode::NotContained, what))
}

impl Arguments {
    /// Refuses options that the kind of target would ignore.
    fn check_target_options(&self) -> Result<(), Failure> {
        let Some(target) = &self.target else { return Ok(()) };
        let kind = target.split(':').next().unwrap_or_default();
        let options = [
            ("token-file", &self.token_file, &["sandboxfusion", service::KIND][..]),
            ("ca-file", &self.ca_file, &["sandboxfusion"]),
            ("service-log", &self.service_log, &[service::KIND]),
        ];
        for (option, file, kinds) in options {
            let hint = format!("omit it; it is for `{}:`", kinds.join(":`, `"));
            let is_ignored = file.is_some() && !kinds.contains(&kind);
            refuse_ignored(&[(option, is_ignored)], format_args!("`--target {target}`"), &hint)?;
        }
        Ok(())
    }

    fn selection(&self) -> Selection<'_> {
        Selection { classes: &self.class, probes: &self.probe, skip: &self.skip }
    }
}

/// What a probe runs on.
const ON_OURS: &str = "ours";
const ON_ANY_TARGET: &str = "any target";
const ON_SERVICES: &str = "a service";

#[derive(Serialize)]
struct ListedProbe {
    probe: String,
    severity: Severity,
    /// Whether it runs on any target that runs programs.
    any_target: bool,
    /// What it runs on.
    runs_on: &'static str,
    title: String,
    #[serde(skip)]
    class: &'static str,
}

fn list_probes(args: &Arguments, language: ProbeLanguage) -> Result<(), Failure> {
    let kind = |target: &str| if service_address(target).is_some() { ON_SERVICES } else { ON_ANY_TARGET };
    let wanted = args.target.as_deref().map(kind);
    let why = "`veriplay isolate --list` says what each runs on";
    let elsewhere = |probe: &ListedProbe| wanted.is_some_and(|wanted| wanted != probe.runs_on).then_some(why);
    // Forgeries are written in Python, and the probes of a service send it Python.
    let is_python = language == ProbeLanguage::Python;
    let forgeries = if wanted.is_none() && is_python { forgeries::planned_forgeries() } else { Vec::new() };
    let (probes, services) = (language.probes(), if is_python { service::probes() } else { Vec::new() });
    let tested = Tested { name: "the target", reason_against: &elsewhere, forgeries: &forgeries };
    let runs_on = |probe: &Probe| if probe.language_level { ON_ANY_TARGET } else { ON_OURS };
    let programs = probes.iter().map(|probe| ListedProbe::new(probe, runs_on(probe)));
    let all = programs.chain(services.iter().map(|probe| ListedProbe::new(probe, ON_SERVICES))).collect();
    let (mut listed, _) = args.selection().choose(all, &tested)?;
    let forgeries = args.selection().forgeries(&forgeries);
    if args.class.is_empty() && args.probe.is_empty() {
        listed.extend(ListedProbe::all_forgeries(&forgeries));
    } else {
        listed.extend(ListedProbe::each_forgery(&forgeries));
    }
    let width = listed.iter().map(|one| one.probe.len()).max().unwrap_or_default();
    print(&listed, args.json, || listed.iter().map(|one| one.line(width)).collect::<Vec<_>>().join("\n"))
}

impl ListedProbe {
    fn new(probe: &impl NamedProbe, runs_on: &'static str) -> Self {
        let (probe, class, title) = (probe.id(), probe.class(), probe.title().to_owned());
        let severity = find_class(class).map_or(Severity::High, |class| class.severity);
        Self { probe, severity, any_target: runs_on == ON_ANY_TARGET, runs_on, title, class }
    }

    fn line(&self, width: usize) -> String {
        let Self { probe, severity, runs_on, title, .. } = self;
        format!("{probe:<width$}  {:<8}  {runs_on:<10}  {title}", severity.word())
    }

    /// A line for the whole class of forgeries, of which there are many; `None` where none is selected.
    fn all_forgeries(chosen: &[&PlannedForgery]) -> Option<Self> {
        let (count, class) = (chosen.len(), forgeries::CLASS);
        let title =
            format!("{count} wrong programs that try to be judged correct; `--list --class {class}` lists them");
        (count > 0).then(|| Self::forgery(class.to_owned(), title))
    }

    /// A line for each file: it stands for all problems that it attacks.
    fn each_forgery(chosen: &[&PlannedForgery]) -> Vec<Self> {
        let mut lines: Vec<Self> =
            chosen.iter().map(|one| Self::forgery(one.file_id(), one.title().to_owned())).collect();
        lines.dedup_by(|later, earlier| later.probe == earlier.probe);
        lines
    }

    fn forgery(probe: String, title: String) -> Self {
        let severity = Severity::High;
        Self { probe, severity, any_target: false, runs_on: ON_OURS, title, class: forgeries::CLASS }
    }
}

impl NamedProbe for ListedProbe {
    fn class(&self) -> &'static str {
        self.class
    }

    fn name(&self) -> &str {
        self.probe.split_once('/').map_or("", |(_, name)| name)
    }

    fn title(&self) -> &str {
        &self.title
    }
}

fn explain_probe(id: &str) -> Result<(), Failure> {
    if let Some(probe) = service::probes().into_iter().find(|probe| probe.id() == id) {
        progress::data(explanation(&probe, &probe.text.statement).trim_end());
        return Ok(());
    }
    if let Some(explanation) = forgeries::explain(id) {
        progress::data(explanation);
        return Ok(());
    }
    let probes = ProbeLanguage::ALL.map(ProbeLanguage::probes).concat();
    let Some(probe) = probes.iter().find(|probe| probe.id() == id) else {
        return Err(Failure::message(ExitCode::Input, format!("`--explain {id}`: there is no such probe"))
            .hint("a probe is `CLASS/NAME`; `veriplay isolate --list` lists them"));
    };
    let mut out = explanation(probe, &probe.statement);
    let (language, programs) = match &probe.program {
        ProbeProgram::Programs(language, programs) => (language.block(), programs.as_slice()),
        ProbeProgram::Module(text) => ("wat", std::slice::from_ref(text)),
    };
    for program in programs {
        let _ = write!(out, "\n```{language}\n{}\n```\n", program.trim_end());
    }
    progress::data(out.trim_end());
    Ok(())
}

/// What a probe tries, why that matters, and what to do where it escapes.
fn explanation(probe: &impl NamedProbe, statement: &str) -> String {
    let mut out = format!("# {}\n\n{}\n\n", probe.title(), statement.trim());
    if let Some(ProbeClass { name, tries, hint, severity }) = find_class(probe.class()) {
        let _ = writeln!(out, "class: {name} (its probes {tries}); severity: {}", severity.word());
        let _ = writeln!(out, "where it escapes: {hint}");
    }
    out
}

/// The address of a service that `--target` names, which is `None` for one that the suite starts; `None` for another kind of target.
fn service_address(target: &str) -> Option<Option<&str>> {
    match target.split_once(':') {
        None if target == service::KIND => Some(None),
        Some((service::KIND, url)) => Some(Some(url)),
        _ => None,
    }
}

fn attack_service(args: &Arguments, url: Option<&str>) -> Result<SuiteRun, Failure> {
    if url.is_none() {
        // Compiled here, where that is reported.
        image::python()?;
    }
    let (token_file, log) = (args.token_file.as_deref(), args.service_log.as_deref());
    let options = ServiceOptions { token_file, log, slow_patience: Duration::from_secs(args.patience) };
    let open = OpenService::open(url, &options)?;
    let target = open.name();
    let reason_against = |probe: &&'static ServiceProbe| open.reason_against(probe);
    let tested = Tested { name: &target, reason_against: &reason_against, forgeries: &[] };
    let (probes, mut not_tried) = args.selection().choose(service::probes(), &tested)?;
    let bar = progress::bar(probes.len() as u64, "probes");
    let results = open.attack(&probes, &|| bar.inc(1));
    bar.finish_unless(interrupt::requested());
    not_tried.add_unreached(&probes, &results);
    Ok(SuiteRun { target, results, not_tried })
}

fn attack_own_sandbox(args: &Arguments, language: ProbeLanguage) -> Result<SuiteRun, Failure> {
    let name = format!("image `{}`", args.image);
    let selection = args.selection();
    let all_forgeries = forgeries::planned_forgeries();
    let is_python = language == ProbeLanguage::Python;
    let planned: &[PlannedForgery] = if is_python { &all_forgeries } else { &[] };
    let tested = Tested { name: &name, reason_against: &|_| None, forgeries: planned };
    let (probes, mut not_tried) = selection.choose(language.probes(), &tested)?;
    let forgeries = selection.forgeries(planned);
    if !is_python {
        selection.forgeries(&all_forgeries).iter().for_each(|_| not_tried.count(forgeries::CLASS, "written in Python"));
    }
    let attacked = Attacked::open(&args.image, language)?;
    let suffix = if args.workers == Isolation::Process { " in worker processes" } else { "" };
    let target = format!("{}{suffix}", attacked.describe(&args.image));
    let of_forgeries = if let Attacked::Image(image) = &attacked { Some(Arc::clone(image)) } else { None };
    let sandboxes = OwnSandbox::new(attacked, &args.image, language, args.workers)?;
    let bar = progress::bar(probes.len() as u64, "probes");
    let attempt = |probe: &Probe| run_probe(&sandboxes, probe, &args.image);
    let mut results = run_probes(&probes, threads_or_processors(args.jobs), &attempt, &|| bar.inc(1));
    if let Some(image) = of_forgeries.filter(|_| !forgeries.is_empty() && !interrupt::requested()) {
        bar.set_message("forgeries");
        let sandbox = isolation::open_sandbox(image, SandboxOptions::fastest(), args.workers)?;
        let reached = forgeries.iter().take_while(|_| !interrupt::requested());
        results.extend(reached.map(|forgery| forgery.judge(&sandbox, &args.image)));
    }
    bar.finish_unless(interrupt::requested());
    not_tried.add_unreached(&probes, &results);
    not_tried.add_unreached(&forgeries, &results);
    Ok(SuiteRun { target, results, not_tried })
}

fn attack_target(args: &Arguments, name: &str, probes: Vec<Probe>) -> Result<SuiteRun, Failure> {
    let quoted = format!("`{name}`");
    let why = "written for our own guest, channel and system calls";
    let elsewhere = |probe: &Probe| (!probe.language_level).then_some(why);
    let tested = Tested { name: &quoted, reason_against: &elsewhere, forgeries: &[] };
    let (probes, mut not_tried) = args.selection().choose(probes, &tested)?;
    let bait = Bait::lay()?;
    let options = ConnectOptions { token_file: args.token_file.as_deref(), ca_file: args.ca_file.as_deref() };
    let target = open_target(name, &bait, options)?;
    target::check_plain_program(target.as_ref(), name)?;
    let bar = progress::bar(probes.len() as u64, "probes");
    let attempt = |probe: &Probe| target::attempt(target.as_ref(), &bait, probe);
    let results = run_probes(&probes, threads_or_processors(args.jobs), &attempt, &|| bar.inc(1));
    bar.finish_unless(interrupt::requested());
    not_tried.add_unreached(&probes, &results);
    Ok(SuiteRun { target: quoted, results, not_tried })
}
