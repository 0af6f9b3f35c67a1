//! Questions about Python source text, answered by Python's own parser in the sandbox. The text is data there: nothing of it
//! is run.

use veriplay_core::{CallResult, Digest, Dropped, Execute, Exit, Job, Limits, Outcome, Value};

use super::RepoContext;
use crate::runner::{NoValue, decode_call, met_deadline};

const SPANS: &str = include_str!("python/spans.py");
/// The seed of every question. Chance enters an answer by its arguments alone.
const SEED: u64 = 0;

/// What replaces a stretch of a text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TextEdit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

/// Calls `function` of `program`, behind the common part, once for each list of arguments. A call that raises is `Err`: the
/// text is no Python.
pub(crate) fn query_sources(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    program: &str,
    function: &str,
    arguments: Vec<Vec<Value>>,
) -> Result<Vec<Result<Value, String>>, Dropped> {
    let asked = arguments.len();
    let answers = query_sources_within(execute, repo, repo.limits, program, function, arguments)?;
    match answers.ended {
        Some(how) => {
            Err(Dropped { why: format!("`{function}` answered {} of {asked} questions: {how}", answers.given.len()) })
        }
        None => Ok(answers.given),
    }
}

/// What questions came to.
#[derive(Debug)]
pub(crate) struct QueryResults {
    /// One a question, as far as they were answered.
    pub(crate) given: Vec<Result<Value, String>>,
    /// How the job ended, where it did before all were.
    pub(crate) ended: Option<String>,
    pub(crate) fuel: u64,
    pub(crate) job: Digest,
    pub(crate) met_deadline: bool,
}

/// As [`query_sources`], for texts that may be made to stop the reader: that is an answer too.
pub(crate) fn query_sources_within(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    limits: Limits,
    program: &str,
    function: &str,
    arguments: Vec<Vec<Value>>,
) -> Result<QueryResults, Dropped> {
    let asked = arguments.len();
    let job = Job {
        image: repo.image.to_owned(),
        limits,
        seed: SEED,
        ..Job::calls(format!("{SPANS}\n\n{program}"), function, arguments)
    };
    let outcome = execute.execute(&job).map_err(|error| Dropped { why: error.to_string() })?;
    let answer = |call: &CallResult| decode_call(call, &limits).map_err(NoValue::text);
    Ok(QueryResults {
        given: outcome.calls.iter().take(asked).map(answer).collect(),
        ended: (outcome.calls.len() != asked).then(|| how_it_ended(&outcome)),
        fuel: outcome.fuel,
        met_deadline: met_deadline(&outcome),
        job: job.digest(),
    })
}

fn how_it_ended(outcome: &Outcome) -> String {
    match (&outcome.exit, &outcome.error) {
        (Exit::Exceeded { limit, allowed, .. }, _) => format!("{limit:?} limit {allowed} exceeded"),
        (_, Some(error)) => format!("{}: {}", error.kind, error.message),
        (exit, None) => format!("{exit:?}"),
    }
}

/// Edits as the guest writes them.
pub(crate) fn parse_edits(value: &Value) -> Option<Vec<TextEdit>> {
    let Value::List(items) = value else { return None };
    items.iter().map(parse_edit).collect()
}

fn parse_edit(item: &Value) -> Option<TextEdit> {
    let Value::Tuple(parts) = item else { return None };
    let [start, end, Value::Str(text)] = parts.as_slice() else { return None };
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
