//! Queries on Python source text, answered by Python's own parser in the sandbox. The guest parses the text and never runs it.

use std::collections::BTreeSet;

use veriplay_core::{CallResult, Dropped, Evidence, Execute, Job, Limits, TextFiles, Value};
use veriplay_image_python::programs::bugs::{CODE_SIZE, SPANS};

use super::RepoContext;
use super::paths::is_test;
use crate::repository::tuple;
use crate::runner::{NoValue, Runner, add_cost, configure_job, decode_call, early_end, string_list};

/// Seeds every query. Programs that draw take a seed as an argument.
const SEED: u64 = 0;

/// Where source texts are read.
#[derive(Clone, Copy)]
pub(crate) struct SourceReader<'a> {
    pub(crate) execute: &'a dyn Execute,
    pub(crate) image: &'a str,
    pub(crate) limits: Limits,
}

/// The answers of one job.
#[derive(Debug)]
pub(crate) struct QueryResults {
    /// One for each question that was answered, in their order. `Err` is a call that raised: the text is not valid Python.
    pub(crate) answers: Vec<Result<Value, String>>,
    /// Why the job ended before it answered all questions.
    pub(crate) early_end: Option<String>,
}

impl<'a> SourceReader<'a> {
    pub(crate) fn of_repo(execute: &'a dyn Execute, repo: &RepoContext<'a>) -> Self {
        Self { execute, image: repo.image, limits: repo.limits }
    }

    /// Calls `function` of `program`, appended to the common `spans.py`, once for each list of arguments. A job that a hostile text stops is
    /// a result, and not a host fault. Adds the job and its cost to `evidence`.
    pub(crate) fn ask(
        self,
        program: &str,
        function: &str,
        questions: Vec<Vec<Value>>,
        evidence: &mut Evidence,
    ) -> Result<QueryResults, Dropped> {
        let asked = questions.len();
        let job = Job::calls(format!("{SPANS}\n\n{program}"), function, questions);
        let mut runner = Runner::new(self.execute);
        let outcome = runner.run(&configure_job(self.image, self.limits, SEED, job))?;
        let Evidence { jobs, fuel, met_deadline, .. } = runner.evidence;
        add_cost(evidence, jobs, fuel, met_deadline);
        let answer = |call: &CallResult| decode_call(call, &self.limits).map_err(NoValue::text);
        let end = || early_end(&outcome).unwrap_or_else(|| format!("{:?}", outcome.exit));
        Ok(QueryResults {
            answers: outcome.calls.iter().take(asked).map(answer).collect(),
            early_end: (outcome.calls.len() != asked).then(end),
        })
    }

    /// As [`Self::ask`], for texts that no policy wrote: a job that is stopped is a host fault.
    pub(crate) fn ask_all(
        self,
        program: &str,
        function: &str,
        questions: Vec<Vec<Value>>,
    ) -> Result<Vec<Result<Value, String>>, Dropped> {
        let asked = questions.len();
        let QueryResults { answers, early_end } = self.ask(program, function, questions, &mut Evidence::default())?;
        match early_end {
            Some(how) => {
                Err(Dropped { why: format!("`{function}` answered {} of {asked} questions: {how}", answers.len()) })
            }
            None => Ok(answers),
        }
    }

    /// Whether the answer to one question is `True`. A text that the parser gives up on has none.
    pub(crate) fn is_true(
        self,
        program: &str,
        function: &str,
        question: Vec<Value>,
        evidence: &mut Evidence,
    ) -> Result<bool, Dropped> {
        let answers = self.ask(program, function, vec![question], evidence)?.answers;
        Ok(matches!(answers.as_slice(), [Ok(Value::Bool(true))]))
    }
}

/// Whether the files `now` have less code than the original, as the mode of removal asks for: code goes, and not only lines. Comments,
/// docstrings, annotations and layout are none, and where the code is makes no difference. A text that the parser gives up on is not less.
/// Adds the cost to `evidence`.
pub fn has_less_code(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    now: &TextFiles,
    evidence: &mut Evidence,
) -> Result<bool, Dropped> {
    let is_changed =
        |path: &&str| path.ends_with(".py") && !is_test(repo, path) && repo.texts.get(*path) != now.get(*path);
    let paths: BTreeSet<&str> = repo.texts.keys().chain(now.keys()).map(String::as_str).filter(is_changed).collect();
    let code = |texts: &TextFiles| string_list(paths.iter().map(|path| texts.get(*path).map_or("", String::as_str)));
    let question = vec![code(repo.texts), code(now)];
    SourceReader::of_repo(execute, repo).is_true(CODE_SIZE, "has_less_code", question, evidence)
}

/// Replaces the bytes `start..end` of a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TextEdit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

/// Edits as the guest writes them.
pub(crate) fn parse_edits(value: &Value) -> Option<Vec<TextEdit>> {
    let Value::List(items) = value else { return None };
    items.iter().map(parse_edit).collect()
}

fn parse_edit(item: &Value) -> Option<TextEdit> {
    let [start, end, Value::Str(text)] = tuple(item)? else { return None };
    Some(TextEdit { start: parse_index(start)?, end: parse_index(end)?, text: text.clone() })
}

pub(crate) fn parse_index(value: &Value) -> Option<usize> {
    if let Value::Int(number) = value { usize::try_from(number).ok() } else { None }
}

/// `text` with the edits made; `None` when they overlap or cut a character.
pub(crate) fn apply_edits(text: &str, edits: &[TextEdit]) -> Option<String> {
    let mut edits: Vec<&TextEdit> = edits.iter().collect();
    edits.sort();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        out.push_str(text.get(at..edit.start)?);
        out.push_str(&edit.text);
        at = edit.end.max(edit.start);
    }
    out.push_str(text.get(at..)?);
    Some(out)
}
