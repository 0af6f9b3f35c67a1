//! Public sets: a model's samples of them, and their verdicts. For `veriplay eval --suite`, and for `suites` of `[eval]` while training.
//!
//! [`published`] fetches a set, [`prompts`] asks, [`sampling`] samples and keeps what came, and the parts of `verify` judge it. A suite is one line
//! in [`SUITES`]. Invariants: samples and verdicts are files that `verify` and the sets' own tools read; a killed evaluation continues behind the
//! last whole chunk; a folder never mixes samples of two settings.

mod prompts;
mod published;
mod sampling;
mod schedule;
mod template;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::isolation::{self, Isolation};
use veriplay_console::json_file::write_pretty_json;
use veriplay_console::{image, progress};
use veriplay_core::{Digest, Policy, Predicted, SCHEMA_VERSION};
use veriplay_corpus::{ProblemFormat, ProblemStatement, ReadOptions, problem_format, read_statements};
use veriplay_eval::verdict_cache::{FOLDER, VerdictCache};
use veriplay_eval::{AttemptJudge, AttemptSource, JUDGE_SEED, TaskSet, VerdictOutput, VerdictSummary};
use veriplay_repository::pip::hash_sha256;
use veriplay_sandbox::{SandboxOptions, default_cache_dir};
use veriplay_selfplay::intervals::Estimate;
use veriplay_verifier::{JudgeConditions, TaskContext, TaskOverrides};

use crate::model::Model;
use prompts::SuitePrompt;
use published::{MIRROR, PublishedFile};
use sampling::SampleCounts;
use template::{AskedTask, PromptTemplate};

pub use prompts::PromptStyle;
pub use sampling::SuiteSampling;
pub use schedule::{SuiteEstimates, SuiteMeasurements, SuiteName, SuiteSchedule, SuiteScores};

/// The environment variable with the folder of published files, where `--data` does not name one.
const DATA: &str = "VERIPLAY_DATA";

struct Suite {
    name: &'static str,
    format: &'static str,
    predict: Predicted,
    /// Names of its file, the newest release first.
    files: &'static [&'static str],
    published: &'static str,
    /// Its published file. `None` where no hash of it is known, so that it is not fetched.
    pinned: Option<&'static PublishedFile>,
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
    Suite { name, format, predict: Predicted::Output, files, published, pinned: None, max_tokens: PROGRAM }
}

const fn pinned(
    name: &'static str,
    format: &'static str,
    file: &'static PublishedFile,
    files: &'static [&'static str],
) -> Suite {
    Suite { pinned: Some(file), ..suite(name, format, file.repository, files) }
}

const fn cruxeval(name: &'static str, predict: Predicted) -> Suite {
    Suite { predict, max_tokens: LITERAL, ..pinned(name, "cruxeval", &CRUXEVAL, &["cruxeval.jsonl"]) }
}

const HUMANEVAL: PublishedFile = PublishedFile {
    repository: "openai/human-eval",
    commit: "6d43fb980f9fee3c892a914eda09951f772ad10d",
    path: "data/HumanEval.jsonl.gz",
    sha256: "b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef",
};
/// v0.1.10.
const HUMANEVAL_PLUS: PublishedFile = PublishedFile {
    repository: "evalplus/humanevalplus_release",
    commit: "200defce9e3429d28ca215b6dd061c0f7f31c18b",
    path: "HumanEvalPlus.jsonl.gz",
    sha256: "272720b90ac375502c8ed23cd791c2a93dfb22a911641a494da74a426c09f101",
};
/// v0.2.0.
const MBPP_PLUS: PublishedFile = PublishedFile {
    repository: "evalplus/mbppplus_release",
    commit: "64fc4195b858a17cdfdb3324f0baf37939144e14",
    path: "MbppPlus.jsonl.gz",
    sha256: "af43697e8791c4c149bdfd6b489d8b5412507551ac20e28a439f650b8225db63",
};
const CRUXEVAL: PublishedFile = PublishedFile {
    repository: "facebookresearch/cruxeval",
    commit: "190faf16d175b5847b0af05d937872b1fb395942",
    path: "data/cruxeval.jsonl",
    sha256: "8368b81047dc5014e4caf5a2f97604eff7644e0ecd7415e3ceeb184bbc2e0c96",
};

const SUITES: &[Suite] = &[
    pinned("humaneval", "humaneval", &HUMANEVAL, &["HumanEval.jsonl.gz", "HumanEval.jsonl"]),
    pinned(
        "humaneval+",
        "evalplus",
        &HUMANEVAL_PLUS,
        &["HumanEvalPlus-v0.1.10.jsonl.gz", "HumanEvalPlus.jsonl.gz", "HumanEvalPlus.jsonl"],
    ),
    suite("mbpp", "mbpp", "google-research/google-research", &["mbpp.jsonl", "sanitized-mbpp.json"]),
    pinned("mbpp+", "evalplus", &MBPP_PLUS, &["MbppPlus-v0.2.0.jsonl.gz", "MbppPlus.jsonl.gz", "MbppPlus.jsonl"]),
    cruxeval("cruxeval-o", Predicted::Output),
    cruxeval("cruxeval-i", Predicted::Input),
    suite("livecodebench", "livecodebench", "livecodebench/code_generation_lite", &["test.jsonl"]),
    suite("apps", "apps", "codeparrot/apps", &["test.jsonl.gz", "apps.jsonl"]),
];

/// The names of all public sets, for people.
fn suite_names() -> String {
    SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join("`, `")
}

/// A set to evaluate on: a public one, or a file in our own layout.
#[derive(Debug, Clone)]
pub struct SuiteFile {
    name: String,
    format: &'static ProblemFormat,
    options: ReadOptions,
    path: PathBuf,
    /// Whether it is the published file; `None` where that is not known.
    is_published: Option<bool>,
    max_tokens: usize,
    /// How its tasks are asked, if not as we ask them.
    template: Option<Arc<PromptTemplate>>,
}

/// Finds the files of all suites, each with its prompt template. `templates` are `[SUITE=]FILE`: the last that names a suite is for it, else the
/// last that names none. Says where a file is not the published one.
pub fn find_suites<'a>(
    requests: impl Iterator<Item = &'a str>,
    folder: Option<&Path>,
    templates: &[String],
) -> Result<Vec<SuiteFile>, Failure> {
    let mut suites = requests.map(|request| SuiteFile::find(request, folder)).collect::<Result<Vec<_>, _>>()?;
    let mut entries: Vec<(Option<&str>, &str)> = Vec::new();
    for entry in templates {
        let named = entry.split_once('=').filter(|(name, _)| suites.iter().any(|suite| suite.name == *name));
        entries.push(named.map_or((None, entry.as_str()), |(name, path)| (Some(name), path)));
    }
    // Those for all suites first.
    entries.sort_by_key(|(name, _)| name.is_some());
    for (name, path) in entries {
        let read = PromptTemplate::read(Path::new(path));
        let template =
            Arc::new(read.map_err(|failure| failure.or_hint("write FILE, or SET=FILE with an evaluated set"))?);
        for suite in suites.iter_mut().filter(|suite| name.is_none_or(|name| suite.name == name)) {
            suite.template = Some(Arc::clone(&template));
        }
    }
    for suite in &suites {
        suite.say_what_is_not_published();
        suite.check_template()?;
    }
    Ok(suites)
}

impl SuiteFile {
    /// Finds the file of `request`: `NAME` in `folder` or as it is published, `NAME=FILE`, or `FILE` in format `veriplay`.
    fn find(request: &str, folder: Option<&Path>) -> Result<Self, Failure> {
        let (name, path) = match request.split_once('=') {
            Some((name, path)) => (name, Some(PathBuf::from(path))),
            None => (request, None),
        };
        let Some(suite) = SUITES.iter().find(|suite| suite.name == name) else {
            return own_tasks(request);
        };
        let path = match path {
            Some(path) if !path.exists() => {
                let what = format!("suite `{name}`: there is no file `{}`", path.display());
                return Err(Failure::message(ExitCode::Input, what).hint("paths are relative to the working directory"));
            }
            Some(path) => path,
            None => published_file(suite, folder)?,
        };
        let options = ReadOptions { predict: suite.predict, ..ReadOptions::default() };
        let format = problem_format(suite.format).or_fail(ExitCode::Bug)?;
        // Whoever reads its tasks reports a file that cannot be read.
        let is_published = suite.pinned.and_then(|file| Some(file.has_bytes(&std::fs::read(&path).ok()?)));
        let (name, max_tokens) = (name.to_owned(), suite.max_tokens);
        Ok(Self { name, format, options, path, is_published, max_tokens, template: None })
    }

    /// The public set that it is a file of; `None` for tasks in our own layout.
    fn public_set(&self) -> Option<&'static Suite> {
        SUITES.iter().find(|suite| suite.name == self.name && suite.format == self.format.name)
    }

    fn say_what_is_not_published(&self) {
        let (name, path) = (&self.name, self.path.display());
        let what = match self.is_published {
            Some(true) => return,
            Some(false) => "is not the published file, and is used as it is",
            None if self.public_set().is_none() => return,
            None => "is used as it is, because the hash of the set's file is not known, so that nothing pins it",
        };
        progress::say(format!("suite `{name}`: `{path}` {what}; its SHA-256 is in the report"));
    }

    /// Renders the prompt of every task, so that a fault of the template is found before a model is loaded.
    fn check_template(&self) -> Result<(), Failure> {
        let Some(template) = &self.template else { return Ok(()) };
        for task in read_statements(&self.path, self.format, &self.options).or_fail(ExitCode::Input)? {
            // Sampling reports a row without one.
            if let Ok(statement) = &task.statement {
                template.render(self.asked(&task.task_id, statement))?;
            }
        }
        Ok(())
    }

    const fn asked<'a>(&self, task_id: &'a str, statement: &'a ProblemStatement) -> AskedTask<'a> {
        AskedTask { task_id, statement, predict: self.options.predict }
    }

    /// How a task is asked, and its answer read.
    fn prompt(&self, task_id: &str, statement: &ProblemStatement, style: PromptStyle) -> Result<SuitePrompt, Failure> {
        match &self.template {
            Some(template) => SuitePrompt::from_template(template, self.asked(task_id, statement)),
            None => Ok(SuitePrompt::new(statement, self.options.predict, style)),
        }
    }

    fn prompt_style(&self, sampling: &SuiteSampling, has_chat_template: bool) -> PromptStyle {
        let of_template = self.template.as_ref().map(|template| PromptStyle::of(template.is_chat()));
        of_template.or(sampling.prompts).unwrap_or_else(|| PromptStyle::of(has_chat_template))
    }

    /// Tokens of an answer at most.
    fn answer_tokens(&self, sampling: &SuiteSampling) -> usize {
        let of_template = self.template.as_ref().and_then(|template| template.max_tokens());
        sampling.max_tokens.or(of_template).unwrap_or(self.max_tokens)
    }

    /// Digest of its prompt template, if it has one.
    fn template_digest(&self) -> Option<&Digest> {
        self.template.as_ref().map(|template| template.digest())
    }

    /// Refuses a file or a prompt template that is not the one which `recorded` was measured with.
    fn check_same(&self, recorded: &RecordedSettings) -> Result<(), Failure> {
        let tasks = Digest::of(&std::fs::read(&self.path).or_fail(ExitCode::Input)?);
        let text = |digest: Option<&Digest>| digest.map_or_else(|| "none".to_owned(), Digest::to_string);
        let template = (recorded.prompt_template.as_ref(), self.template_digest());
        for (what, (began, found)) in [("file", (Some(&recorded.tasks), Some(&tasks))), ("prompt template", template)] {
            if began != found {
                let (name, began, found) = (&self.name, text(began), text(found));
                let what = format!("the {what} of suite `{name}` has digest {found}, and the run began with {began}");
                return Err(Failure::message(ExitCode::Input, what)
                    .hint("put the earlier file back, or start another run: a curve has one set and one prompt"));
            }
        }
        Ok(())
    }

    /// How its file is read, and how else one is, where no row of it is a task.
    fn layout_hint(&self) -> String {
        let Some(Suite { name, published, .. }) = self.public_set() else {
            let known = suite_names();
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
        let what = format!("`--suite {request}` names neither a public set nor a file");
        let hint = format!("public sets are `{}`; `NAME=FILE` reads one from a file of your own", suite_names());
        return Err(Failure::message(ExitCode::Input, what).hint(hint));
    };
    let format = problem_format("veriplay").or_fail(ExitCode::Bug)?;
    let (name, options) = (name.to_string_lossy().into_owned(), ReadOptions::default());
    Ok(SuiteFile { name, format, options, path, is_published: None, max_tokens: PROGRAM, template: None })
}

/// The file of a set in the folder, or else as it is published, which is fetched once.
fn published_file(suite: &Suite, folder: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = folder.map(Path::to_owned).or_else(|| std::env::var_os(DATA).map(PathBuf::from));
    let folder = folder.unwrap_or_else(|| PathBuf::from("."));
    if let Some(found) = suite.files.iter().map(|file| folder.join(file)).find(|path| path.is_file()) {
        return Ok(found);
    }
    let missing = |why: &str, more: &str| {
        let (name, published) = (suite.name, suite.published);
        let files = suite.files.join("`, `");
        let what =
            format!("suite `{name}` has no file in `{}`, which is searched for `{files}`, and {why}", folder.display());
        let hint = format!(
            "it is published as `{published}`; put its file there, name the folder with `--data`, or give `--suite {name}=FILE`{more}"
        );
        Failure::message(ExitCode::Input, what).hint(hint)
    };
    let Some(file) = suite.pinned else {
        return Err(missing("it is not fetched, because the hash of its file is not known", ""));
    };
    file.fetch().map_err(|error| missing(&format!("{error:#}"), &format!("; `{MIRROR}` names a mirror")))
}

/// Tokens of the longest answer to any of these suites.
pub fn longest_answer(suites: &[SuiteFile], sampling: &SuiteSampling) -> usize {
    suites.iter().map(|suite| suite.answer_tokens(sampling)).max().unwrap_or_default()
}

/// The model that is measured.
#[derive(Clone, Copy)]
pub struct MeasuredModel<'a> {
    /// As reports name it.
    pub name: &'a str,
    /// The policy that answers the prompts.
    pub policy: &'a dyn Policy,
    /// Whether it is asked in conversations where nothing else is said.
    pub has_chat_template: bool,
}

impl<'a> MeasuredModel<'a> {
    /// A model that was opened by this name.
    pub fn opened(name: &'a str, model: &'a Model) -> Self {
        Self { name, policy: model.policy(), has_chat_template: model.has_chat_template() }
    }
}

/// What one suite came to: a function of its settings and samples.
#[derive(Debug, Serialize)]
pub struct SuiteReport {
    settings: SuiteSettings,
    /// Whether the file is the published one; `None` where that is not known.
    published: Option<bool>,
    /// SHA-256 of the set's file, in hexadecimal, as it is pinned where it is.
    tasks_sha256: String,
    #[serde(flatten)]
    counts: SampleCounts,
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
    /// Digest of the prompt template; `None` for our own prompts.
    prompt_template: Option<Digest>,
    #[serde(flatten)]
    sampling: SuiteSampling,
    max_tokens: usize,
}

/// What is read of a `SET.report.json`, which a [`SuiteReport`] was written to.
#[derive(Debug, Deserialize)]
pub struct SuiteRecord {
    /// How the suite was sampled.
    pub settings: RecordedSettings,
    verdicts: RecordedVerdicts,
}

/// What is read of its settings: the tasks, and how they were asked.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct RecordedSettings {
    /// Digest of the set's file.
    pub tasks: Digest,
    /// The first tasks of the set; `None` means all.
    limit: Option<usize>,
    /// Digest of the prompt template; `None` for our own prompts.
    #[serde(default)]
    prompt_template: Option<Digest>,
    #[serde(default)]
    prompts: Option<PromptStyle>,
    #[serde(default)]
    max_tokens: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct RecordedVerdicts {
    tasks_attempted: usize,
    pass_at_k: BTreeMap<u64, f64>,
    pass_at_k_interval: BTreeMap<u64, [f64; 2]>,
}

impl SuiteRecord {
    /// Tasks with an attempt.
    pub const fn tasks(&self) -> usize {
        self.verdicts.tasks_attempted
    }

    /// pass@1, where a task has a verdict.
    pub fn pass_at_1(&self) -> Option<Estimate> {
        let RecordedVerdicts { pass_at_k, pass_at_k_interval, .. } = &self.verdicts;
        Some(Estimate { value: *pass_at_k.get(&1)?, interval: *pass_at_k_interval.get(&1)? })
    }
}

impl SuiteReport {
    /// For people.
    pub fn text(&self) -> String {
        let SampleCounts { truncated, too_long, not_tokenized } = self.counts;
        let counts = [truncated, too_long, not_tokenized].into_iter();
        let counts = counts.zip(["answers cut off", "prompts too long", "prompts that cannot be tokenized"]);
        let counts = counts.filter(|(count, _)| *count > 0).map(|(count, what)| format!("; {count} {what}"));
        self.verdicts.text() + &counts.collect::<String>()
    }
}

/// The judge of all suites: one sandbox, and the cache of verdicts that `verify` has.
pub struct SuiteJudge {
    sandbox: veriplay_sandbox::Sandbox,
    jobs: usize,
    cache: VerdictCache,
}

impl SuiteJudge {
    /// Opens the sandbox and the cache.
    pub fn open(isolation: Isolation) -> Result<Self, Failure> {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let options = SandboxOptions { max_parallel: jobs, ..SandboxOptions::fastest() };
        let sandbox = isolation::open_sandbox(image::python()?, options, isolation)?;
        let cache = VerdictCache::open(&default_cache_dir().map_err(image::failure)?.join(FOLDER));
        Ok(Self { sandbox, jobs, cache })
    }

    /// Samples the suites in turn, and judges the samples. `folder` gets the samples, the verdicts and a report of each; `print` gets a line
    /// of each as soon as it is judged.
    pub fn evaluate(
        &self,
        model: MeasuredModel<'_>,
        suites: &[SuiteFile],
        sampling: &SuiteSampling,
        folder: &Path,
        print: fn(String),
    ) -> Result<BTreeMap<String, SuiteReport>, Failure> {
        let mut reports = BTreeMap::new();
        for suite in suites {
            let bytes = std::fs::read(&suite.path).or_fail(ExitCode::Input)?;
            let settings = SuiteSettings {
                schema_version: SCHEMA_VERSION,
                suite: suite.name.clone(),
                model: model.name.to_owned(),
                tasks: Digest::of(&bytes),
                prompts: suite.prompt_style(sampling, model.has_chat_template),
                prompt_template: suite.template_digest().cloned(),
                max_tokens: suite.answer_tokens(sampling),
                sampling: sampling.clone(),
            };
            let (hint, overrides) = (suite.layout_hint(), TaskOverrides::default());
            let tasks = TaskSet::read(&suite.path, suite.format, &suite.options, &overrides, Some(&hint))?;
            tasks.check_images(&[self.sandbox.image().name()])?;
            tasks.check_checkers(&[self.sandbox.image().name()])?;
            let samples = sampling::sample_suite(model.policy, suite, &settings, folder)?;
            let file = |end: &str| folder.join(format!("{}.{end}", suite.name));
            let verdicts = self.judge(&tasks, &samples.path, &file("verdicts.jsonl"))?;
            let (published, tasks_sha256) = (suite.is_published, hash_sha256(&bytes));
            let report = SuiteReport { settings, published, tasks_sha256, counts: samples.counts, verdicts };
            write_pretty_json(&file("report.json"), &report).or_fail(ExitCode::Input)?;
            print(format!("{}: {}", suite.name, report.text()));
            reports.insert(suite.name.clone(), report);
        }
        Ok(reports)
    }

    fn judge(&self, tasks: &TaskSet, samples: &Path, verdicts: &Path) -> Result<VerdictSummary, Failure> {
        let image = self.sandbox.image();
        let (limits, early_stop) = (image.default_limits(), false);
        let conditions =
            JudgeConditions { image: image.digest().clone(), limits, scaled: true, seed: JUDGE_SEED, early_stop };
        let max_row_bytes = ReadOptions::default().max_row_bytes;
        let mut source = AttemptSource::open(samples, max_row_bytes, tasks, &conditions, &[])?;
        let mut output = VerdictOutput::open(Some(verdicts), &[samples])?;
        let context = TaskContext::new(&self.sandbox, image.name(), &conditions);
        let judge = AttemptJudge { context, others: &[], cache: &self.cache, stop: || false };
        Ok(judge.judge_all(&mut source, &mut output, self.jobs, || {})?.verdicts)
    }
}
