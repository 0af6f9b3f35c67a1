//! Public sets: a model's samples of them, and their verdicts. For `veriplay eval --suite`, and for `suites` of `[eval]` while training.
//!
//! [`prompts`] asks, [`sampling`] samples and keeps what came, and the parts of `verify` judge it. A suite is one line in [`SUITES`]. Invariants:
//! samples and verdicts are files that `verify` and the sets' own tools read; a killed evaluation continues behind the last whole chunk; a
//! folder never mixes samples of two settings.

mod prompts;
mod sampling;
mod schedule;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Policy, Predicted, SCHEMA_VERSION};
use veriplay_corpus::{ProblemFormat, ReadOptions, problem_format};
use veriplay_sandbox::{SandboxOptions, default_cache_dir};
use veriplay_selfplay::intervals::Estimate;

use crate::exit::{ExitCode, Failure, ResultExt};
use crate::image;
use crate::isolation::{self, Isolation};
use crate::json_file::read_json;
use crate::model::Model;
use crate::verdict_cache::{FOLDER, VerdictCache};
use crate::verify::{
    AttemptJudge, AttemptSource, JUDGE_SEED, JudgeConditions, TaskOverrides, TaskSet, VerdictOutput, VerdictSummary,
    VerifyContext,
};

pub(crate) use prompts::PromptStyle;
pub(crate) use sampling::SuiteSampling;
pub(crate) use schedule::{SuiteEstimates, SuiteMeasurements, SuiteName, SuiteSchedule, SuiteScores};

/// The environment variable with the folder of published files, where `--data` does not name one.
const DATA: &str = "VERIPLAY_DATA";

/// A public set.
struct Suite {
    name: &'static str,
    format: &'static str,
    predict: Predicted,
    /// Names of its file, the newest release first.
    files: &'static [&'static str],
    /// Where it is published.
    published: &'static str,
    /// Tokens of an answer at most.
    max_tokens: usize,
}

/// Tokens of a program at most.
const PROGRAM: usize = 768;
/// Tokens of a predicted literal at most.
const LITERAL: usize = 128;

const fn suite(
    name: &'static str,
    format: &'static str,
    published: &'static str,
    files: &'static [&'static str],
) -> Suite {
    Suite { name, format, predict: Predicted::Output, files, published, max_tokens: PROGRAM }
}

const fn cruxeval(name: &'static str, predict: Predicted) -> Suite {
    let files: &[&str] = &["cruxeval.jsonl"];
    Suite { predict, max_tokens: LITERAL, ..suite(name, "cruxeval", "facebookresearch/cruxeval", files) }
}

/// All public sets.
const SUITES: &[Suite] = &[
    suite("humaneval", "humaneval", "openai/human-eval", &["HumanEval.jsonl.gz", "HumanEval.jsonl"]),
    suite(
        "humaneval+",
        "evalplus",
        "evalplus/humanevalplus_release",
        &["HumanEvalPlus-v0.1.10.jsonl.gz", "HumanEvalPlus.jsonl.gz", "HumanEvalPlus.jsonl"],
    ),
    suite("mbpp", "mbpp", "google-research/google-research", &["mbpp.jsonl", "sanitized-mbpp.json"]),
    suite(
        "mbpp+",
        "evalplus",
        "evalplus/mbppplus_release",
        &["MbppPlus-v0.2.0.jsonl.gz", "MbppPlus.jsonl.gz", "MbppPlus.jsonl"],
    ),
    cruxeval("cruxeval-o", Predicted::Output),
    cruxeval("cruxeval-i", Predicted::Input),
    suite("livecodebench", "livecodebench", "livecodebench/code_generation_lite", &["test.jsonl"]),
    suite("apps", "apps", "codeparrot/apps", &["test.jsonl.gz", "apps.jsonl"]),
];

/// A set to evaluate on: a public one, or a file in our own layout.
#[derive(Debug, Clone)]
pub(crate) struct SuiteFile {
    name: String,
    format: &'static ProblemFormat,
    options: ReadOptions,
    path: PathBuf,
    max_tokens: usize,
}

impl SuiteFile {
    /// Finds the file of `request`: `NAME` in `folder`, `NAME=FILE`, or `FILE` in format `veriplay`.
    pub(crate) fn find(request: &str, folder: Option<&Path>) -> Result<Self, Failure> {
        let (name, path) = match request.split_once('=') {
            Some((name, path)) => (name, Some(PathBuf::from(path))),
            None => (request, None),
        };
        let Some(suite) = SUITES.iter().find(|suite| suite.name == name) else {
            return own_tasks(request);
        };
        let path = match path {
            Some(path) => path,
            None => published_file(suite, folder)?,
        };
        let options = ReadOptions { predict: suite.predict, ..ReadOptions::default() };
        let format = problem_format(suite.format).or_fail(ExitCode::Bug)?;
        Ok(Self { name: name.to_owned(), format, options, path, max_tokens: suite.max_tokens })
    }

    /// How its file is read, and how else one is, where no row of it is a task.
    fn layout_hint(&self) -> String {
        let is_own = |suite: &&Suite| suite.name == self.name && suite.format == self.format.name;
        let Some(Suite { name, published, .. }) = SUITES.iter().find(is_own) else {
            let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
            let known = known.join("`, `");
            return format!(
                "a file without a set's name has tasks of our own layout; `NAME=FILE` reads a set: `{known}`"
            );
        };
        format!("suite `{name}` has the rows of `{published}`; a file without `{name}=` has tasks of our own layout")
    }
}

fn own_tasks(request: &str) -> Result<SuiteFile, Failure> {
    let path = PathBuf::from(request);
    let Some(name) = path.file_stem().filter(|_| path.is_file()) else {
        let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        let what = format!("`--suite {request}` names neither a public set nor a file");
        let hint = format!("public sets are `{}`; `NAME=FILE` reads one from a file of your own", known.join("`, `"));
        return Err(Failure::message(ExitCode::Input, what).hint(hint));
    };
    let format = problem_format("veriplay").or_fail(ExitCode::Bug)?;
    let name = name.to_string_lossy().into_owned();
    Ok(SuiteFile { name, format, options: ReadOptions::default(), path, max_tokens: PROGRAM })
}

fn published_file(suite: &Suite, folder: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = folder.map(Path::to_owned).or_else(|| std::env::var_os(DATA).map(PathBuf::from));
    let folder = folder.unwrap_or_else(|| PathBuf::from("."));
    let found = suite.files.iter().map(|file| folder.join(file)).find(|path| path.is_file());
    found.ok_or_else(|| {
        let what = format!(
            "suite `{}` has no file in `{}`, which is searched for `{}`",
            suite.name,
            folder.display(),
            suite.files.join("`, `")
        );
        let hint = format!(
            "it is published as `{}`; put its file there, name the folder with `--data`, or give `--suite {}=FILE`",
            suite.published, suite.name
        );
        Failure::message(ExitCode::Input, what).hint(hint)
    })
}

/// Tokens of the longest answer to any of these suites.
pub(crate) fn longest_answer(suites: &[SuiteFile], sampling: &SuiteSampling) -> usize {
    let of_sets = suites.iter().map(|suite| suite.max_tokens).max().unwrap_or_default();
    sampling.max_tokens.unwrap_or(of_sets)
}

/// The model that is measured.
#[derive(Clone, Copy)]
pub(crate) struct MeasuredModel<'a> {
    /// As reports name it.
    pub(crate) name: &'a str,
    pub(crate) policy: &'a dyn Policy,
    /// Whether it is asked in conversations where nothing else is said.
    pub(crate) has_chat_template: bool,
}

impl<'a> MeasuredModel<'a> {
    /// A model that was opened by this name.
    pub(crate) fn opened(name: &'a str, model: &'a Model) -> Self {
        Self { name, policy: model.policy(), has_chat_template: model.has_chat_template() }
    }
}

/// What one suite came to: a function of its settings and samples.
#[derive(Debug, Serialize)]
pub(crate) struct SuiteReport {
    settings: SuiteSettings,
    /// Answers that were cut off at the limit of tokens.
    truncated: u64,
    /// Tasks whose prompt does not fit the model's context: their attempts are empty, and wrong.
    too_long: u64,
    /// Tasks whose prompt cannot be tokenized: likewise.
    not_tokenized: u64,
    verdicts: VerdictSummary,
}

/// Everything that decides the samples. A folder belongs to one.
#[derive(Debug, Serialize)]
struct SuiteSettings {
    schema_version: u32,
    suite: String,
    model: String,
    /// Digest of the set's file.
    tasks: Digest,
    prompts: PromptStyle,
    #[serde(flatten)]
    sampling: SuiteSampling,
    max_tokens: usize,
}

/// What is read of a `SET.report.json`, which a [`SuiteReport`] was written to.
#[derive(Debug, Deserialize)]
pub(crate) struct SuiteRecord {
    pub(crate) settings: RecordedSettings,
    verdicts: RecordedVerdicts,
}

/// What is read of its settings: the tasks that were sampled.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct RecordedSettings {
    /// Digest of the set's file.
    tasks: Digest,
    /// The first tasks of the set; `None` means all.
    limit: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct RecordedVerdicts {
    tasks_attempted: usize,
    pass_at_k: BTreeMap<u64, f64>,
    pass_at_k_interval: BTreeMap<u64, [f64; 2]>,
}

impl SuiteRecord {
    /// Reads a report.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        read_json(path)
    }

    /// Tasks with an attempt.
    pub(crate) const fn tasks(&self) -> usize {
        self.verdicts.tasks_attempted
    }

    /// pass@1, where a task has a verdict.
    pub(crate) fn pass_at_1(&self) -> Option<Estimate> {
        let RecordedVerdicts { pass_at_k, pass_at_k_interval, .. } = &self.verdicts;
        Some(Estimate { value: *pass_at_k.get(&1)?, interval: *pass_at_k_interval.get(&1)? })
    }
}

/// Samples the suites in turn, and judges the samples. `folder` gets the samples, the verdicts and a report of each; `print` gets a line of
/// each as soon as it is judged.
pub(crate) fn evaluate(
    model: MeasuredModel<'_>,
    suites: &[SuiteFile],
    sampling: &SuiteSampling,
    folder: &Path,
    print: fn(String),
) -> Result<BTreeMap<String, SuiteReport>, Failure> {
    evaluate_with(&SuiteJudge::open(Isolation::Process)?, model, suites, sampling, folder, print)
}

fn evaluate_with(
    judge: &SuiteJudge,
    model: MeasuredModel<'_>,
    suites: &[SuiteFile],
    sampling: &SuiteSampling,
    folder: &Path,
    print: fn(String),
) -> Result<BTreeMap<String, SuiteReport>, Failure> {
    let mut reports = BTreeMap::new();
    for suite in suites {
        let report = evaluate_one(model, suite, sampling, folder, judge)?;
        print(format!("{}: {}", suite.name, report.text()));
        reports.insert(suite.name.clone(), report);
    }
    Ok(reports)
}

fn evaluate_one(
    model: MeasuredModel<'_>,
    suite: &SuiteFile,
    sampling: &SuiteSampling,
    folder: &Path,
    judge: &SuiteJudge,
) -> Result<SuiteReport, Failure> {
    let bytes = std::fs::read(&suite.path).or_fail(ExitCode::Input)?;
    let settings = SuiteSettings {
        schema_version: SCHEMA_VERSION,
        suite: suite.name.clone(),
        model: model.name.to_owned(),
        tasks: Digest::of(&bytes),
        prompts: sampling.prompts.unwrap_or_else(|| PromptStyle::of(model.has_chat_template)),
        max_tokens: sampling.max_tokens.unwrap_or(suite.max_tokens),
        sampling: sampling.clone(),
    };
    let overrides = TaskOverrides::default();
    let tasks = TaskSet::read(&suite.path, suite.format, &suite.options, &overrides, Some(&suite.layout_hint()))?;
    let samples = sampling::sample_suite(model.policy, suite, &settings, folder)?;
    let verdicts = judge.judge(&tasks, &samples.path, &folder.join(format!("{}.verdicts.jsonl", suite.name)))?;
    let sampling::Samples { truncated, too_long, not_tokenized, .. } = samples;
    let report = SuiteReport { settings, truncated, too_long, not_tokenized, verdicts };
    let path = folder.join(format!("{}.report.json", suite.name));
    crate::json_file::write_pretty_json(&path, &report).or_fail(ExitCode::Input)?;
    Ok(report)
}

impl SuiteReport {
    /// For people.
    pub(crate) fn text(&self) -> String {
        let counts = [
            (self.truncated, "answers cut off"),
            (self.too_long, "prompts too long"),
            (self.not_tokenized, "prompts that cannot be tokenized"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("; {count} {what}"));
        self.verdicts.text() + &counts.collect::<String>()
    }
}

/// The judge of all suites: one sandbox, and the cache of verdicts that `verify` has.
struct SuiteJudge {
    sandbox: veriplay_sandbox::Sandbox,
    jobs: usize,
    cache: VerdictCache,
}

impl SuiteJudge {
    fn open(isolation: Isolation) -> Result<Self, Failure> {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let options = SandboxOptions { max_parallel: jobs, ..SandboxOptions::fastest() };
        let sandbox = isolation::open_sandbox(image::python()?, options, isolation)?;
        let cache = VerdictCache::open(&default_cache_dir().map_err(image::failure)?.join(FOLDER));
        Ok(Self { sandbox, jobs, cache })
    }

    fn judge(&self, tasks: &TaskSet, samples: &Path, verdicts: &Path) -> Result<VerdictSummary, Failure> {
        let image = self.sandbox.image();
        let (limits, early_stop) = (image.default_limits(), false);
        let conditions =
            JudgeConditions { image: image.digest().clone(), limits, scaled: true, seed: JUDGE_SEED, early_stop };
        let max_row_bytes = ReadOptions::default().max_row_bytes;
        let mut source = AttemptSource::open(samples, max_row_bytes, tasks, &conditions)?;
        let mut output = VerdictOutput::open(Some(verdicts), &[samples])?;
        let context = VerifyContext {
            execute: &self.sandbox,
            execute_reference: &self.sandbox,
            image: image.name(),
            conditions: &conditions,
        };
        let judge = AttemptJudge { context, cache: &self.cache, stop: || false };
        Ok(judge.judge_all(&mut source, &mut output, self.jobs, || {})?.into_verdicts())
    }
}
