//! `veriplay verify`: judges a file of attempts at a file of tasks, and streams the verdicts.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::image;
use veriplay_console::interrupt;
use veriplay_console::isolation::Isolation;
use veriplay_console::limits::{LimitArguments, check_memory};
use veriplay_console::processors::attempts_at_once;
use veriplay_console::programs::{ProgramImage, ProgramSandbox};
use veriplay_console::progress::{self, Progress};
use veriplay_core::{Comparison, Language, Predicted, SCANNED, ScannedLanguage, Trust};
use veriplay_corpus::{DatabaseFolder, PROBLEM_FORMATS, ReadOptions, problem_format, read_attempts};
use veriplay_eval::{
    AttemptJudge, AttemptSource, JUDGE_SEED, StandardInput, TaskSet, VerdictOutput, VerifySummary, bugs,
};
use veriplay_python::Python;
use veriplay_sandbox::SandboxOptions;
use veriplay_verifier::judges::{judge_names, parse_judge};
use veriplay_verifier::{ChosenJudge, JudgeConditions, TaskContext, TaskOverrides};

use super::cache_arguments::CacheArguments;
use super::{describe_images, refuse_ignored};

const EXIT_CODES: &str = "Exit codes: 0 every attempt has its verdict; 3 rows are invalid or name an unknown task; 7 attempts were dropped through a \
fault of the host; 9 attempts are unjudgeable: their task is the cause, such as a reference that raises, or their program, such as a value that tests cannot be given";

/// The format whose tasks are bugs in repositories.
const BUG_FORMAT: &str = "bug";
/// The formats whose tasks may be on databases: sets of queries, our own, and those that hold others.
const DATABASE_FORMATS: [&str; 4] = ["spider", "bird", "veriplay", "auto"];
/// The format whose attempts predict.
const CRUXEVAL_FORMAT: &str = "cruxeval";

/// Judge a file of attempts at a file of tasks: a verdict a line, in order
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Arguments {
    /// The tasks: JSONL or one JSON array, plain or gzip
    #[arg(long, value_name = "FILE")]
    tasks: PathBuf,
    /// The attempts: a row is {"task_id", "attempt_id"?, "completion"}, or "program" for a whole program; `-` is standard input
    ///
    /// In format bug a completion is a unified diff; without attempts each bug is validated anew, its own reverse patch must
    /// be accepted, and the empty one must not
    #[arg(long, value_name = "FILE")]
    attempts: Option<PathBuf>,
    /// Format of the tasks
    #[arg(long, value_name = "NAME", default_value = "veriplay", value_parser = formats())]
    format: String,
    /// For format bug: the repositories that `corpus add-repo` made [default: those of the cache]
    #[arg(long, value_name = "NAME==VERSION|DIR")]
    repo: Vec<String>,
    /// For tasks on databases: the folder of their files, in formats spider and bird a folder for each db_id
    #[arg(long, value_name = "DIR")]
    databases: Option<PathBuf>,
    /// Judge by this judge instead of each task's own: its name, with options as in `float:rtol=1e-6,atol=1e-9`, or JSON
    #[arg(long, value_name = "NAME", value_parser = parse_judge, long_help = judge_help())]
    judge: Option<Comparison>,
    /// What attempts at cruxeval tasks predict [default: the output]
    #[arg(long, value_parser = predicted_parser())]
    predict: Option<Predicted>,
    /// Where test code runs, instead of what each task says: in an instance of its own, or in the program's
    #[arg(long, value_parser = trust_parser())]
    trust: Option<Trust>,
    /// Attempts judged at once, at most one for each processor [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    limits: LimitArguments,
    /// Stop each attempt at its first failed case
    #[arg(long)]
    early_stop: bool,
    /// Write the verdicts to this file; a half-written one is continued
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    cache: CacheArguments,
    /// The image that programs run in, or one for each language of the tasks
    #[arg(long = "image", value_name = "NAMES", value_delimiter = ',', long_help = images_help(), default_value = Python.image(), value_parser = image::parse_program_name)]
    images: Vec<String>,
    /// Where guests run
    #[arg(long, value_enum, default_value = "process")]
    workers: Isolation,
    /// Print the summary as one JSON object: the last line of stdout, or of stderr when the verdicts go to stdout; `error:` and `hint:` come
    /// before it
    #[arg(long)]
    json: bool,
}

fn predicted_parser() -> impl TypedValueParser<Value = Predicted> {
    let sides = PossibleValuesParser::new(["output", "input"]);
    sides.map(|name| if name == "output" { Predicted::Output } else { Predicted::Input })
}

pub(super) fn trust_parser() -> impl TypedValueParser<Value = Trust> {
    PossibleValuesParser::new(["split", "shared"])
        .map(|name| if name == "split" { Trust::Split } else { Trust::Shared })
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(PROBLEM_FORMATS.iter().map(|format| format.name).chain([BUG_FORMAT]))
}

fn images_help() -> String {
    format!(
        "The image that programs run in, or one for each language of the tasks: {}\n\nPrograms at tasks that name no language are in Python, or in \
         the first image's language if none of the images is Python's",
        image::describe_names()
    )
}

fn judge_help() -> String {
    format!(
        "Judge by this judge instead of each task's own: its name, with options as in `float:rtol=1e-6,atol=1e-9`, or JSON\n\nJudges: {}. \
         An option that is left out is the task's own",
        judge_names()
    )
}

pub(super) fn run(mut args: Arguments) -> Result<(), Failure> {
    let is_standard_input = args.attempts.as_deref() == Some(Path::new("-"));
    let standard_input = if is_standard_input { Some(StandardInput::keep()?) } else { None };
    if let Some(kept) = &standard_input {
        args.attempts = Some(kept.path());
    }
    check_options_apply(&args)?;
    if args.format == BUG_FORMAT {
        return judge_bugs(&args);
    }
    let Some(attempts) = &args.attempts else {
        return Err(Failure::message(ExitCode::Usage, "`--attempts` is missing").hint("name the file of attempts"));
    };
    let mut options = ReadOptions::default();
    options.predict = args.predict.unwrap_or(options.predict);
    options.databases = args.databases.as_ref().map(DatabaseFolder::new);
    options.language = default_language(&args.images)?;
    let judge = args.judge.clone().map(ChosenJudge::Every);
    let overrides = TaskOverrides { judge, trust: args.trust, limits: args.limits.overrides() };
    let format = problem_format(&args.format).or_fail(ExitCode::Input)?;
    let mut tasks = TaskSet::read(&args.tasks, format, &options, &overrides, None)?;
    let names: Vec<&str> = args.images.iter().map(String::as_str).collect();
    tasks.check_images(&names)?;
    let of_checkers = tasks.checker_images(&names).into_iter().map(str::to_owned);
    let all: Vec<String> = args.images.iter().cloned().chain(of_checkers).collect();
    let images = ProgramImage::open_all(&all)?;
    let conditions: Vec<_> =
        images.iter().map(|image| conditions_in(image, &args, &overrides)).collect::<Result<_, _>>()?;
    let open = describe_images(&all, &images);
    let jobs = attempts_at_once(args.jobs);
    let sandbox_options = SandboxOptions { max_parallel: jobs, ..SandboxOptions::fastest() };
    let sandbox = ProgramSandbox::open(images, sandbox_options, args.workers)?;
    let contexts: Vec<_> =
        args.images.iter().zip(&conditions).map(|(name, of)| TaskContext::new(&sandbox, name, of)).collect();
    tasks.refuse_small_memory(&contexts, &open)?;
    let (context, others) = contexts.split_first().expect("the option has a default");
    let source = AttemptSource::open(attempts, options.max_row_bytes, &tasks, context.conditions, others)?;
    let mut source = source.with_checkers(&names, &open);
    let mut output = VerdictOutput::open(args.out.as_deref(), &[args.tasks.as_path(), attempts.as_path()])?;
    let cache = args.cache.open()?;
    interrupt::listen(veriplay_eval::STOPPING);
    let judge = AttemptJudge { context: *context, others, cache: &cache, stop: interrupt::requested };

    let bar = attempts_bar(attempts, &options)?;
    let started = Instant::now();
    let summary = judge.judge_all(&mut source, &mut output, jobs, || bar.inc(1))?;
    bar.finish_unless(interrupt::requested());
    finish(&args, &summary, started)
}

/// The language other than Python of programs in the image of this name.
fn language_of(image: &str) -> Option<&'static ScannedLanguage> {
    SCANNED.into_iter().find(|language| language.image() == image)
}

/// The language of programs at tasks that name none, where it is not Python. Rejects two images of one language.
fn default_language(images: &[String]) -> Result<Option<&'static ScannedLanguage>, Failure> {
    let languages: Vec<_> = images.iter().map(|image| language_of(image)).collect();
    let is_repeated = |index: &usize| languages[..*index].contains(&languages[*index]);
    if let Some(image) = (0..images.len()).find(is_repeated).map(|index| &images[index]) {
        let what = format!("`--image` names `{image}` and another image of its language");
        return Err(Failure::message(ExitCode::Usage, what).hint("name one image for each language"));
    }
    Ok(if languages.contains(&None) { None } else { languages.first().copied().flatten() })
}

/// The conditions of verdicts on programs in `image`.
fn conditions_in(
    image: &ProgramImage,
    args: &Arguments,
    overrides: &TaskOverrides,
) -> Result<JudgeConditions, Failure> {
    check_memory("--memory-mib", args.limits.memory_mib, image.memory_bytes())?;
    Ok(JudgeConditions {
        image: image.digest().clone(),
        limits: overrides.limits.apply(image.default_limits()),
        scaled: overrides.limits.fuel.is_none(),
        seed: JUDGE_SEED,
        early_stop: args.early_stop,
    })
}

/// Rejects options that the format does not use.
fn check_options_apply(args: &Arguments) -> Result<(), Failure> {
    let of_bugs = args.format == BUG_FORMAT;
    let unused = [
        ("repo", !args.repo.is_empty() && !of_bugs),
        ("judge", args.judge.is_some() && of_bugs),
        ("databases", args.databases.is_some() && !DATABASE_FORMATS.contains(&args.format.as_str())),
        ("predict", args.predict.is_some() && args.format != CRUXEVAL_FORMAT),
        ("fuel", args.limits.fuel.is_some() && of_bugs),
        ("seconds", args.limits.seconds.is_some() && of_bugs),
        ("memory-mib", args.limits.memory_mib.is_some() && of_bugs),
        ("early-stop", args.early_stop && of_bugs),
    ];
    let of = format!("tasks in format `{}`", args.format);
    refuse_ignored(&unused, of, "omit it, or name the format that it is for by `--format`")
}

fn judge_bugs(args: &Arguments) -> Result<(), Failure> {
    bugs::judge(&bugs::BugOptions {
        tasks: &args.tasks,
        attempts: args.attempts.as_deref(),
        repositories: &args.repo,
        out: args.out.as_deref(),
        jobs: attempts_at_once(args.jobs),
        workers: args.workers,
        seed: JUDGE_SEED,
        trust: args.trust.unwrap_or_default(),
        json: args.json,
    })
}

/// A progress bar over the attempts, which are counted only when it is visible.
fn attempts_bar(attempts: &Path, options: &ReadOptions) -> Result<Progress, Failure> {
    let bar = progress::bar(0, "verify");
    if !bar.is_hidden() {
        let rows = read_attempts(attempts, options.max_row_bytes);
        let rows = rows.with_context(|| "cannot count the attempts").or_fail(ExitCode::Input)?;
        bar.set_length(rows.count() as u64);
    }
    Ok(bar)
}

fn finish(args: &Arguments, report: &VerifySummary, started: Instant) -> Result<(), Failure> {
    let ended = judge_summary(args, report);
    if args.json {
        return veriplay_eval::end_with_summary(report, args.out.as_deref(), ended);
    }
    let seconds = started.elapsed().as_secs_f64();
    let rate = (report.verdicts.attempts - report.resumed) as f64 / seconds.max(1e-9);
    progress::say(format!("{}; {seconds:.1} s, {rate:.1}/s", report.text()));
    ended
}

const WITHOUT_TASK: &str = "rows that are invalid or name an unknown task";

/// Fails where attempts have no verdict.
fn judge_summary(args: &Arguments, report: &VerifySummary) -> Result<(), Failure> {
    if report.stopped {
        return Err(veriplay_eval::stopped(args.out.as_deref()));
    }
    if report.verdicts.attempts == 0 {
        // What wrote them has failed, most likely.
        return Err(Failure::message(ExitCode::Input, "there are no attempts: nothing was judged")
            .hint("give `--attempts` a file with a row for each"));
    }
    match (report.verdicts.dropped, report.verdicts.unjudgeable, report.verdicts.without_task()) {
        (0, 0, 0) => Ok(()),
        (0, 0, rows) => Err(Failure::message(ExitCode::Input, format!("{WITHOUT_TASK}: {rows}")).hint(
            "attempts among them are `unjudgeable`, with the reason; the messages above name the first of each kind",
        )),
        (0, unjudgeable, rows) => {
            let what = format!("attempts that their tasks cannot judge: {unjudgeable}; {WITHOUT_TASK}: {rows}");
            let hint = "their rows are `unjudgeable` and give the reason; pass@k counts them as not accepted unless the task has no usable reference";
            Err(Failure::message(ExitCode::Unjudgeable, what).hint(hint))
        }
        (dropped, _, rows) => {
            let what = format!("attempts dropped through a fault of the host: {dropped}; {WITHOUT_TASK}: {rows}");
            let hint =
                "their rows give the reason; to judge them again, truncate the file before the first `dropped` row";
            Err(Failure::message(ExitCode::Host, what).hint(hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of the language that these images choose; `-` is Python, `!` an error.
    fn chosen(images: &str) -> &'static str {
        let images: Vec<String> = images.split(',').map(str::to_owned).collect();
        default_language(&images).map_or("!", |language| language.map_or("-", |language| language.names()[0]))
    }

    #[test]
    fn tasks_that_name_no_language_have_that_of_the_images() {
        let images = ["python", "cpp,mine", "cpp,c", "javascript", "python,python-numpy", "c,javascript,c"];
        assert_eq!(images.map(chosen), ["-", "-", "cpp", "javascript", "!", "!"]);
    }
}
