//! Queries on Python source text, answered by Python's own parser in the sandbox. The guest parses the text and never runs it.

use veriplay_core::{CallResult, Dropped, Evidence, Execute, Job, Limits, Value};
use veriplay_image_python::programs::bugs::SPANS;

use super::RepoContext;
use crate::runner::{NoValue, Runner, add_cost, decode_call, early_end};

/// Seeds every query. Programs that draw take a seed as an argument.
const SEED: u64 = 0;

/// Replaces the bytes `start..end` of a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TextEdit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

/// Calls `function` of `program`, appended to the common `spans.py`, once for each list of arguments. A call that raises is `Err`:
/// the text is not valid Python.
pub(crate) fn query_sources(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    program: &str,
    function: &str,
    arguments: Vec<Vec<Value>>,
) -> Result<Vec<Result<Value, String>>, Dropped> {
    let asked = arguments.len();
    let unread = &mut Evidence::default();
    let QueryResults { answers, early_end } =
        query_sources_within(execute, repo, repo.limits, program, function, arguments, unread)?;
    match early_end {
        Some(how) => {
            Err(Dropped { why: format!("`{function}` answered {} of {asked} questions: {how}", answers.len()) })
        }
        None => Ok(answers),
    }
}

/// The answers of one job.
#[derive(Debug)]
pub(crate) struct QueryResults {
    /// One for each question that was answered, in their order.
    pub(crate) answers: Vec<Result<Value, String>>,
    /// Why the job ended before it answered all questions.
    pub(crate) early_end: Option<String>,
}

/// As [`query_sources`], for hostile texts: a job that such a text stops is a result, and not a host fault. Adds the job and its cost to
/// `evidence`.
pub(crate) fn query_sources_within(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    limits: Limits,
    program: &str,
    function: &str,
    arguments: Vec<Vec<Value>>,
    evidence: &mut Evidence,
) -> Result<QueryResults, Dropped> {
    let asked = arguments.len();
    let job = Job {
        image: repo.image.to_owned(),
        limits,
        seed: SEED,
        ..Job::calls(format!("{SPANS}\n\n{program}"), function, arguments)
    };
    let mut runner = Runner::new(execute);
    let outcome = runner.run(&job)?;
    let Evidence { jobs, fuel, met_deadline, .. } = runner.evidence;
    add_cost(evidence, jobs, fuel, met_deadline);
    let answer = |call: &CallResult| decode_call(call, &limits).map_err(NoValue::text);
    let end = || early_end(&outcome).unwrap_or_else(|| format!("{:?}", outcome.exit));
    Ok(QueryResults {
        answers: outcome.calls.iter().take(asked).map(answer).collect(),
        early_end: (outcome.calls.len() != asked).then(end),
    })
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
