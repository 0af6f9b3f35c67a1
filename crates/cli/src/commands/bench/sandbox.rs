//! `veriplay bench` of the sandbox: the named jobs beside the baselines, or a workload of one's own, and what is reported of them.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use veriplay_absolute_zero::setup::AbsoluteZeroSetup;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::isolation;
use veriplay_console::json_file::write_atomically;
use veriplay_console::processors::processors;
use veriplay_console::programs::{ProgramImage, ProgramSandbox};
use veriplay_console::progress::{self, counted};
use veriplay_corpus::problem_format;
use veriplay_lab::bench::baselines::BaselineSetting;
use veriplay_lab::bench::chart::svg;
use veriplay_lab::bench::compare::{EarlierReport, JobChange};
use veriplay_lab::bench::jobs::{self, BenchJob};
use veriplay_lab::bench::languages::{BenchLanguage, PYTHON};
use veriplay_lab::bench::profile::ProfileReport;
use veriplay_lab::bench::programs::ProgramSetting;
use veriplay_lab::bench::report::{BenchContext, BenchReport, csv, wrong_results};
use veriplay_lab::bench::rounds::{self, AbsentBaseline, MeasuredJob, ROUNDS, Samples, StartedBaseline, ThreadSamples};
use veriplay_lab::bench::worker::WrongResults;
use veriplay_lab::bench::workload::{self, Workload, WorkloadFiles};
use veriplay_lab::bench::{Machine, find_python};
use veriplay_run::builtin_configs;
use veriplay_run::play_config::PlayConfig;
use veriplay_sandbox::SandboxOptions;
use veriplay_verifier::ProposalGate;

use super::{Arguments, OutputArguments, WorkloadArguments, failed_round, print};

/// Default of `--seconds`.
const SECONDS: f64 = 2.5;
/// Passes over a workload that count.
const PASSES: usize = 3;

/// Measures the named jobs or a workload, and reports.
pub(super) fn run(args: &Arguments) -> Result<(), Failure> {
    let earlier = args.output.baseline.as_deref().map(EarlierReport::read).transpose()?;
    let threads = numbers_of_threads(&args.threads);
    let (measured, mut context) = match workload_files(&args.workload)? {
        Some(files) => measure_workload(args, files, &threads, earlier.as_ref())?,
        None => measure_jobs(args, &threads, earlier.as_ref())?,
    };
    let compared = earlier.map(|earlier| compare(&earlier, &measured, &context)).transpose();
    // What was measured is reported, whatever the baseline is.
    let incomparable = compared.map(|comparison| context.comparison = comparison);
    let report = BenchReport::new(&measured, context);
    print(&report, args.json, || report.text(&measured).trim_end().to_owned())?;
    if let Some(warning) = report.noise_warning() {
        progress::say(warning);
    }
    write_files(&args.output, &measured, &report.caption())?;
    incomparable?;
    conclude(&report, &measured, args.output.fail_on_regression)
}

/// Measures where the time of the named jobs goes.
pub(super) fn profile(args: &Arguments) -> Result<(), Failure> {
    let works = jobs::named(&PYTHON, &args.job)?;
    let span = Duration::from_secs_f64(args.seconds.unwrap_or(SECONDS));
    let image = args.open_image()?;
    let machine = Machine::of(find_python().ok().as_ref()).with_image(image.name());
    let report = ProfileReport::measure(image, quickstart_gate()?, &works, span, machine).map_err(failed_round)?;
    print(&report, args.json, || report.text())
}

/// The numbers of threads to measure with, in ascending order.
fn numbers_of_threads(asked: &[NonZeroUsize]) -> Vec<usize> {
    let mut numbers: BTreeSet<usize> = asked.iter().copied().map(NonZeroUsize::get).collect();
    if numbers.is_empty() {
        numbers.insert(processors());
    }
    numbers.insert(1);
    numbers.into_iter().collect()
}

fn workload_files(args: &WorkloadArguments) -> Result<Option<WorkloadFiles<'_>>, Failure> {
    let (Some(tasks), Some(attempts)) = (&args.tasks, &args.attempts) else { return Ok(None) };
    let format = problem_format(args.format.as_deref().unwrap_or("veriplay")).or_fail(ExitCode::Input)?;
    Ok(Some(WorkloadFiles { tasks, attempts, format }))
}

fn setting(args: &Arguments, threads: usize) -> Result<(BaselineSetting, Machine), Failure> {
    let image = args.open_image()?;
    let python = find_python();
    let machine = Machine::of(python.as_ref().ok()).with_image(image.name());
    let options = SandboxOptions { max_parallel: threads, ..SandboxOptions::fastest() };
    let sandbox = Arc::new(isolation::open_sandbox(image, options, args.isolation())?);
    let gate = quickstart_gate()?;
    Ok((BaselineSetting { python, sandbox, gate, serial: Arc::default() }, machine))
}

/// What the jobs of another language than Python run in.
fn program_setting(
    args: &Arguments,
    language: &'static BenchLanguage,
    threads: usize,
) -> Result<(Arc<ProgramSetting>, Machine), Failure> {
    let images = ProgramImage::open_all(&[language.name.to_owned()])?;
    let limits = images[0].default_limits();
    let machine = Machine::of(find_python().ok().as_ref()).with_image(language.name);
    let options = SandboxOptions { max_parallel: threads, ..SandboxOptions::fastest() };
    let sandbox = ProgramSandbox::open(images, options, args.isolation())?;
    Ok((Arc::new(ProgramSetting::new(language, sandbox, limits)), machine))
}

/// Starts `threads` workers of every baseline and peer.
fn open_baselines(
    args: &Arguments,
    threads: usize,
) -> Result<(Vec<StartedBaseline>, Vec<AbsentBaseline>, Machine), Failure> {
    let language = args.language();
    progress::say("starting the baselines");
    let ((mut baselines, absent), machine) = if language.is_python() {
        let (setting, machine) = setting(args, threads)?;
        (rounds::open(&setting, threads), machine)
    } else {
        let (setting, machine) = program_setting(args, language, threads)?;
        (rounds::open_programs(&setting, threads), machine)
    };
    for peer in &args.peer {
        baselines.push(rounds::open_peer(peer, language, threads)?);
    }
    Ok((baselines, absent, machine))
}

/// The gate of `quickstart`, by which triplets are judged.
fn quickstart_gate() -> Result<ProposalGate, Failure> {
    let path = Path::new("quickstart.toml");
    Ok(PlayConfig::<AbsoluteZeroSetup>::parse(builtin_configs::QUICKSTART, path)?.setup.gate)
}

/// The named jobs on all baselines and peers.
fn measure_jobs(
    args: &Arguments,
    threads: &[usize],
    earlier: Option<&EarlierReport>,
) -> Result<(Vec<MeasuredJob>, BenchContext), Failure> {
    let works = jobs::named(args.language(), &args.job)?;
    let names: Vec<&str> = works.iter().map(|work| work.name).collect();
    earlier.map_or(Ok(()), |earlier| earlier.check_jobs(&names, threads))?;
    let span = Duration::from_secs_f64(args.seconds.unwrap_or(SECONDS) / ROUNDS as f64);
    let most = threads.last().copied().unwrap_or(1);
    let (mut baselines, absent, machine) = open_baselines(args, most)?;
    let measured = measure(&mut baselines, &works, threads, span)?;
    let (rounds, round_seconds) = (ROUNDS, span.as_secs_f64());
    let context = BenchContext { rounds, round_seconds, absent, workload: None, comparison: None, machine };
    Ok((measured, context))
}

/// A workload, which only Veriplay can judge.
fn measure_workload(
    args: &Arguments,
    files: WorkloadFiles<'_>,
    threads: &[usize],
    earlier: Option<&EarlierReport>,
) -> Result<(Vec<MeasuredJob>, BenchContext), Failure> {
    earlier.map_or(Ok(()), |earlier| earlier.check_jobs(&[workload::NAME], threads))?;
    let (setting, machine) = setting(args, threads.last().copied().unwrap_or(1))?;
    let (workload, mut report) = Workload::read(files, &setting.sandbox)?;
    earlier.map_or(Ok(()), |earlier| earlier.check_workload(report.digest()))?;
    let rounds = args.rounds_or(PASSES);
    let bar = progress::bar(((rounds + 1) * threads.len()) as u64, "passes");
    let measured = workload.measure(&setting.sandbox, threads, rounds, &mut report, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let round_seconds = report.pass_seconds(&measured);
    let (absent, workload) = (Vec::new(), Some(report));
    let context = BenchContext { rounds, round_seconds, absent, workload, comparison: None, machine };
    Ok((vec![measured], context))
}

/// All jobs, one after another, with each number of threads.
fn measure(
    baselines: &mut [StartedBaseline],
    works: &[BenchJob],
    threads: &[usize],
    span: Duration,
) -> Result<Vec<MeasuredJob>, Failure> {
    let names: Vec<String> = baselines.iter().map(|baseline| baseline.name.clone()).collect();
    let steps = works.len() * (ROUNDS + 1) * threads.len() * baselines.len();
    let bar = progress::bar(steps as u64, "rounds");
    let mut measured = Vec::with_capacity(works.len());
    for work in works {
        bar.set_message(work.name);
        let baselines_named = counted(names.len(), "baseline");
        bar.suspend(|| progress::say(format!("{}: {baselines_named}, threads: {threads:?}", work.name)));
        let checked = rounds::check(baselines, work)?;
        let table = rounds::measure(baselines, work, threads, span, &|| bar.inc(1))?;
        let rows = threads.iter().zip(table);
        let row = |(&threads, row)| ThreadSamples { threads, baselines: label_samples(&names, row, &checked) };
        measured.push(MeasuredJob { job: work.name, by_threads: rows.map(row).collect() });
    }
    bar.finish_and_clear();
    Ok(measured)
}

/// The samples of each baseline, with the wrong results of its check.
fn label_samples(names: &[String], row: Vec<Samples>, checked: &[WrongResults]) -> Vec<(String, Samples)> {
    let mut labelled: Vec<(String, Samples)> = names.iter().cloned().zip(row).collect();
    labelled.iter_mut().zip(checked).for_each(|((_, samples), wrong)| samples.wrong.add(wrong));
    labelled
}

/// Compares with an earlier report, and warns where it is of another machine.
fn compare(
    earlier: &EarlierReport,
    measured: &[MeasuredJob],
    context: &BenchContext,
) -> Result<Vec<JobChange>, Failure> {
    let machine = serde_json::to_value(&context.machine).or_fail(ExitCode::Bug)?;
    if let Some(warning) = earlier.other_machine(&machine) {
        progress::say(warning);
    }
    earlier.compare(measured)
}

fn write_files(output: &OutputArguments, measured: &[MeasuredJob], caption: &[String]) -> Result<(), Failure> {
    if let Some(path) = &output.csv {
        write_atomically(path, csv(measured).as_bytes()).or_fail(ExitCode::Input)?;
    }
    if let Some(path) = &output.svg {
        write_atomically(path, svg(measured, caption).as_bytes()).or_fail(ExitCode::Input)?;
    }
    Ok(())
}

/// Fails where a peer was wrong, or where a regression is to fail.
fn conclude(report: &BenchReport, measured: &[MeasuredJob], fail_on_regression: bool) -> Result<(), Failure> {
    let wrong = wrong_results(measured);
    if !wrong.is_empty() {
        return Err(Failure::message(ExitCode::Host, format!("wrong results: {}", wrong.join("; "))));
    }
    let (slower, unknown) = (report.slower(), report.unknown());
    if fail_on_regression && slower.is_empty() && !unknown.is_empty() {
        let what = "the noise is that of one round or above 50 %, so that nobody knows what became slower";
        return Err(Failure::message(ExitCode::Input, format!("{what}: {}", unknown.join(", ")))
            .hint("measure two rounds or more, then and now, on an idle machine and with longer `--seconds`"));
    }
    if !fail_on_regression || slower.is_empty() {
        return Ok(());
    }
    let text = format!("slower than in the baseline, beyond the noise: {}", slower.join(", "));
    Err(Failure::message(ExitCode::Slower, text).hint("measure again, on an idle machine and with longer `--seconds`"))
}
