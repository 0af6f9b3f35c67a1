//! Samples a suite chunk by chunk, and keeps the samples in the set's layout: a row is `{"task_id", "solution"}` for a program, as EvalPlus
//! reads it, and `{"task_id", "completion"}` for a prediction.
//!
//! Invariant: a chunk of tasks is sampled with a seed of its own and written as a whole, so an evaluation that was killed goes on with the
//! same samples.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file;
use veriplay_console::limits::{at_least_one, parse_temperature, parse_top_p};
use veriplay_console::logfile::LogFile;
use veriplay_console::progress::{self, counted};
use veriplay_core::{AttemptText, FinishReason, Policy, PolicyError, Prompt, Rollout, Sampling, mix_seed};
use veriplay_corpus::{ProblemStatement, StatedTask, read_statements};

use super::prompts::PromptStyle;
use super::{SuiteFile, SuiteSettings};

/// Tasks that are sampled together.
const CHUNK: usize = 64;

// How suites are sampled.
#[expect(missing_docs, reason = "clap would make a documentation comment the text of the whole command")]
#[derive(Debug, Clone, Args, Serialize)]
pub struct SuiteSampling {
    /// With --suite: the first N tasks of each set
    #[arg(long, value_name = "N", requires = "suite", value_parser = at_least_one::<usize>())]
    limit: Option<usize>,
    /// With --suite: samples of each task
    #[arg(long, value_name = "N", requires = "suite", default_value_t = 1, value_parser = at_least_one::<usize>())]
    samples: usize,
    /// With --suite: softmax temperature; 0 takes the likeliest token
    #[arg(long, value_name = "T", requires = "suite", default_value_t = 0.0, value_parser = parse_temperature)]
    temperature: f32,
    /// With --suite: draw from the fewest likeliest tokens whose probabilities sum to P
    #[arg(long, value_name = "P", requires = "suite", default_value_t = 1.0, value_parser = parse_top_p)]
    top_p: f32,
    /// With --suite: tokens of an answer at most [default: 768 for programs, 128 for predictions]
    #[arg(long, value_name = "N", requires = "suite", value_parser = at_least_one::<usize>())]
    #[serde(skip)]
    pub(super) max_tokens: Option<usize>,
    /// With --suite: how the model is asked [default: chat where the checkpoint has a chat template]
    #[arg(long, value_enum, requires = "suite", conflicts_with = "prompt_templates")]
    #[serde(skip)]
    pub(super) prompts: Option<PromptStyle>,
    #[arg(skip)]
    seed: u64,
}

impl SuiteSampling {
    /// The likeliest answer to each of the first `limit` tasks.
    pub(super) const fn greedy(limit: Option<usize>) -> Self {
        Self { limit, samples: 1, temperature: 0.0, top_p: 1.0, max_tokens: None, prompts: None, seed: 0 }
    }

    /// The same with another seed of the samples, which is an option of its own on the command line.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Checks what clap does not.
    pub fn validate(&self) -> Result<(), Failure> {
        if self.temperature > 0.0 || self.samples == 1 {
            return Ok(());
        }
        let what = format!("`--samples {}` at temperature 0 would be one sample repeated", self.samples);
        Err(Failure::message(ExitCode::Usage, what).hint("add `--temperature 0.8`, or leave out `--samples`"))
    }

    fn chunk_sampling(&self, max_tokens: usize, chunk: usize) -> Sampling {
        let seed = mix_seed(self.seed, &[chunk as u64]);
        let &Self { temperature, top_p, samples: group, .. } = self;
        Sampling { temperature, top_p, group, seed, ..Sampling::new(max_tokens) }
    }
}

pub(super) struct Samples {
    pub(super) path: PathBuf,
    pub(super) counts: SampleCounts,
}

/// What did not become a whole sample.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct SampleCounts {
    /// Answers that were cut off at the limit of tokens.
    pub(super) truncated: u64,
    /// Tasks whose prompt does not fit the model's context: their attempts are empty, and wrong.
    pub(super) too_long: u64,
    /// Tasks whose prompt cannot be tokenized: likewise.
    pub(super) not_tokenized: u64,
}

/// One sample as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct SampleRow {
    task_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    solution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion: Option<String>,
    finish: SampleEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SampleEnd {
    Stop,
    Length,
    PromptTooLong,
    PromptNotTokenized,
}

/// Samples what `folder` does not have yet.
pub(super) fn sample_suite(
    policy: &dyn Policy,
    suite: &SuiteFile,
    settings: &SuiteSettings,
    folder: &Path,
) -> Result<Samples, Failure> {
    let statements = statements(suite, settings.sampling.limit)?;
    claim_folder(&folder.join(format!("{}.settings.json", suite.name)), settings)?;
    let path = folder.join(format!("{}.samples.jsonl", suite.name));
    let group = settings.sampling.samples;
    let (mut file, mut rows) = open_samples(&path, statements.len(), group)?;
    let bar = progress::bar(statements.len() as u64, "sample");
    bar.inc((rows.len() / group) as u64);
    for (chunk, tasks) in statements.chunks(CHUNK).enumerate().skip(rows.len().div_ceil(CHUNK * group)) {
        let sampling = settings.sampling.chunk_sampling(settings.max_tokens, chunk);
        let sampled = sample_chunk(policy, suite, settings.prompts, tasks, &sampling)?;
        if rows.is_empty() && sampled.iter().all(|row| row.finish == SampleEnd::PromptNotTokenized) {
            // Then the tokenizer or the chat template is at fault, not the tasks.
            let what =
                format!("no prompt of the first {} of `{}` can be tokenized", counted(tasks.len(), "task"), suite.name);
            return Err(Failure::message(ExitCode::Model, what).hint("the reasons are above; see `--prompts`"));
        }
        let written = file.append(&sampled).and_then(|()| file.sync());
        written.with_context(|| format!("cannot write `{}`", path.display())).or_fail(ExitCode::Input)?;
        bar.inc(tasks.len() as u64);
        rows.extend(sampled);
    }
    bar.finish_and_clear();
    let count = |end| rows.iter().filter(|row| row.finish == end).count() as u64;
    let counts = SampleCounts {
        truncated: count(SampleEnd::Length),
        too_long: count(SampleEnd::PromptTooLong) / group as u64,
        not_tokenized: count(SampleEnd::PromptNotTokenized) / group as u64,
    };
    Ok(Samples { path, counts })
}

fn statements(suite: &SuiteFile, limit: Option<usize>) -> Result<Vec<(String, ProblemStatement)>, Failure> {
    let read = read_statements(&suite.path, suite.format, &suite.options).or_fail(ExitCode::Input)?;
    let statement = |task: StatedTask| Ok((task.task_id, task.statement.or_fail(ExitCode::Input)?));
    read.into_iter().take(limit.unwrap_or(usize::MAX)).map(statement).collect()
}

/// Writes the settings, or compares them with those that the folder's samples were made with.
fn claim_folder(path: &Path, settings: &SuiteSettings) -> Result<(), Failure> {
    let wanted = serde_json::to_value(settings).or_fail(ExitCode::Bug)?;
    if !path.exists() {
        let parent = path.parent().unwrap_or(Path::new("."));
        let made = std::fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()));
        return made.and_then(|()| json_file::write_pretty_json(path, &wanted)).or_fail(ExitCode::Input);
    }
    let found: serde_json::Value = json_file::read_json(path)?;
    let keys = wanted.as_object().into_iter().flatten();
    let earlier_value = |key: &str| found.get(key).unwrap_or(&serde_json::Value::Null);
    match keys.into_iter().find(|(key, value)| earlier_value(key) != *value) {
        None => Ok(()),
        Some((key, value)) => {
            let earlier = earlier_value(key);
            let what = format!("`{}` was made with {key} = {earlier}, and {value} is asked for", path.display());
            Err(Failure::message(ExitCode::Input, what)
                .hint("name another folder with `--out`, or use the same settings"))
        }
    }
}

/// Opens the file of samples for appending, with the whole chunks that it has. What is behind them is cut off.
fn open_samples(path: &Path, tasks: usize, group: usize) -> Result<(LogFile, Vec<SampleRow>), Failure> {
    let opened = read_samples(path, tasks, group).and_then(|(rows, bytes)| Ok((LogFile::open_at(path, bytes)?, rows)));
    opened.with_context(|| format!("cannot open `{}`", path.display())).or_fail(ExitCode::Input)
}

/// The rows of whole chunks, and the bytes that they take.
fn read_samples(path: &Path, tasks: usize, group: usize) -> io::Result<(Vec<SampleRow>, u64)> {
    let text = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let (mut rows, mut ends) = (Vec::new(), vec![0]);
    for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        let Ok(row) = serde_json::from_slice::<SampleRow>(line) else { break };
        ends.push(ends[rows.len()] + line.len() as u64);
        rows.push(row);
    }
    if rows.len() < tasks * group {
        rows.truncate(rows.len() / (CHUNK * group) * (CHUNK * group));
    }
    let bytes = ends[rows.len()];
    Ok((rows, bytes))
}

fn sample_chunk(
    policy: &dyn Policy,
    suite: &SuiteFile,
    style: PromptStyle,
    tasks: &[(String, ProblemStatement)],
    sampling: &Sampling,
) -> Result<Vec<SampleRow>, Failure> {
    let prompt = |(task_id, statement): &(String, ProblemStatement)| suite.prompt(task_id, statement, style);
    let prompts = tasks.iter().map(prompt).collect::<Result<Vec<_>, _>>()?;
    let asked: Vec<Prompt> = prompts.iter().map(|prompt| prompt.prompt.clone()).collect();
    let names: Vec<&str> = tasks.iter().map(|(task_id, _)| task_id.as_str()).collect();
    let groups = generate_what_can_be_asked(policy, &names, asked, sampling)?;
    let mut rows = Vec::with_capacity(tasks.len() * sampling.group);
    for (((task_id, _), prompt), rollouts) in tasks.iter().zip(&prompts).zip(groups) {
        match rollouts {
            Ok(rollouts) => rows.extend(rollouts.iter().map(|rollout| {
                let finish = if rollout.finish == FinishReason::Stop { SampleEnd::Stop } else { SampleEnd::Length };
                row(task_id, prompt.attempt(&rollout.text), finish)
            })),
            Err(finish) => rows.extend((0..sampling.group).map(|_| row(task_id, prompt.attempt(""), finish))),
        }
    }
    Ok(rows)
}

/// The rollouts of each prompt, or why there are none: it does not fit the model's context, or cannot be tokenized. `names` are the tasks'.
fn generate_what_can_be_asked(
    policy: &dyn Policy,
    names: &[&str],
    mut prompts: Vec<Prompt>,
    sampling: &Sampling,
) -> Result<Vec<Result<Vec<Rollout>, SampleEnd>>, Failure> {
    let mut places: Vec<usize> = (0..prompts.len()).collect();
    let mut groups: Vec<Result<Vec<Rollout>, SampleEnd>> = vec![Err(SampleEnd::PromptTooLong); prompts.len()];
    loop {
        match policy.generate(&prompts, sampling) {
            Ok(rollouts) => {
                places.into_iter().zip(rollouts).for_each(|(place, rollouts)| groups[place] = Ok(rollouts));
                return Ok(groups);
            }
            Err(PolicyError::PromptTooLong { index, .. }) => {
                prompts.remove(index);
                places.remove(index);
            }
            Err(PolicyError::Tokenize { index, reason }) => {
                prompts.remove(index);
                let place = places.remove(index);
                groups[place] = Err(SampleEnd::PromptNotTokenized);
                progress::say(format!("the prompt of task `{}` cannot be tokenized: {reason}", names[place]));
            }
            Err(error) => return Err(error).or_fail(ExitCode::Model),
        }
    }
}

fn row(task_id: &str, attempt: AttemptText, finish: SampleEnd) -> SampleRow {
    let (solution, completion) = match attempt {
        AttemptText::Program(program) => (Some(program), None),
        AttemptText::Completion(text) => (None, Some(text)),
    };
    SampleRow { task_id: task_id.to_owned(), solution, completion, finish }
}

#[cfg(test)]
mod tests {
    use veriplay_core::{LengthLimit, Policy, PolicyError, Prompt, Role, Rollout, Sampling};

    use super::{SampleEnd, generate_what_can_be_asked};

    /// Refuses the first prompt that says how.
    struct Refusing;

    impl Policy for Refusing {
        fn generate(&self, prompts: &[Prompt], _: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
            let find = |text: &str| prompts.iter().position(|prompt| prompt.text() == text);
            match (find("strange"), find("long")) {
                (Some(index), _) => Err(PolicyError::Tokenize { index, reason: "it is strange".to_owned() }),
                (None, Some(index)) => {
                    let limit = LengthLimit::of_context(8);
                    Err(PolicyError::PromptTooLong { index, tokens: 9, response: 1, limit })
                }
                (None, None) => Ok(vec![Vec::new(); prompts.len()]),
            }
        }
    }

    #[test]
    fn prompts_that_cannot_be_asked_leave_the_others() {
        let texts = ["plain", "long", "strange", "plain"];
        let prompts = texts.iter().map(|text| Prompt::new(Role::SOLVER, *text)).collect();
        let groups = generate_what_can_be_asked(&Refusing, &texts, prompts, &Sampling::new(8)).expect("no fault");
        let ends: Vec<Option<SampleEnd>> = groups.into_iter().map(Result::err).collect();
        assert_eq!(ends, [None, Some(SampleEnd::PromptTooLong), Some(SampleEnd::PromptNotTokenized), None]);
    }
}
