//! Makes whole artifacts of those that lack their verification function, or have more failure cases than are wanted.
//!
//! Called by the game for proposals of the compact dialect, and by whoever generates tasks. The verification function that is made
//! accepts exactly what the solution left, written out as literals: the state after it, and its answer, type by type. It is
//! an artifact's own like any other from then on, and the gate judges it as such. It is stricter than one that a person would write: a
//! task with several right outcomes has only that of its solution.

use rayon::prelude::*;
use veriplay_core::{CodeTask, Dropped, Environment, Execute, Value};

use super::artifact_gate::ArtifactGate;
use super::case_runs::CodeRunner;
use crate::runner::Runner;

/// Compares plain values as Python does, but for their types, in keys and sets too: `1`, `1.0` and `True` are three. NaN is itself.
const SAME: &str = "def typed(key):
    if type(key) in (tuple, frozenset):
        return type(key), type(key)(map(typed, key))
    return type(key), key if key == key else 'nan'


def same(one, other):
    if type(one) is not type(other):
        return False
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is dict:
        one, other = ({typed(key): item for key, item in found.items()} for found in (one, other))
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if type(one) in (set, frozenset):
        return set(map(typed, one)) == set(map(typed, other))
    return one == other or one != one and other != other
";

/// Of a solution that comes to no end: nothing is accepted, and the gate says what is wrong.
const NOTHING: &str = "def verify(before, after, answer):\n    return False\n";

/// A task to be completed.
#[derive(Debug, Clone, Copy)]
pub struct CompleteRequest<'a> {
    /// The environment it names.
    pub environment: &'a Environment,
    /// What there is of it.
    pub task: &'a CodeTask,
}

/// Each task with a verification function of what its solution leaves, whatever it had before; every core busy, in the order of the
/// requests.
///
/// # Errors
/// Of each, a host fault or an environment that cannot be opened.
pub fn complete(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    requests: &[CompleteRequest<'_>],
) -> Vec<Result<CodeTask, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| complete_task(execute, gate, request)).collect()
}

fn complete_task(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    request: &CompleteRequest<'_>,
) -> Result<CodeTask, Dropped> {
    let mut runner = Runner::new(execute);
    let mut codes = CodeRunner::open(&mut runner, gate, request.environment)?;
    let verify = match codes.run(&request.task.solution, gate.seeds[0])? {
        Ok(end) => verification(&end.after, &end.answer),
        Err(_) => NOTHING.to_owned(),
    };
    Ok(CodeTask { verify, ..request.task.clone() })
}

/// The same for tasks with any number of failure cases, of which the first that run and leave something of their own are kept, as many
/// as the gate wants. `None` where there are too few, where the solution does not come to its end, or where doing nothing, with one of
/// the gate's answers or none, would be enough.
///
/// # Errors
/// As [`complete`].
pub fn complete_with_failures(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    requests: &[CompleteRequest<'_>],
) -> Vec<Result<Option<CodeTask>, Dropped>> {
    requests.par_iter().with_max_len(1).map(|request| complete_task_with_failures(execute, gate, request)).collect()
}

fn complete_task_with_failures(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    request: &CompleteRequest<'_>,
) -> Result<Option<CodeTask>, Dropped> {
    let mut runner = Runner::new(execute);
    let mut codes = CodeRunner::open(&mut runner, gate, request.environment)?;
    let Ok(right) = codes.run(&request.task.solution, gate.seeds[0])? else { return Ok(None) };
    let canned = right.answer == Value::None || gate.canned_answers.contains(&right.answer);
    if right.before == right.after && canned {
        return Ok(None);
    }
    let verify = verification(&right.after, &right.answer);
    let (mut seen, mut failures) = (vec![right], Vec::new());
    for code in &request.task.failures {
        if failures.len() == gate.failures {
            break;
        }
        if let Ok(end) = codes.run(code, gate.seeds[0])?
            && !seen.iter().any(|earlier| earlier.is_same_outcome(&end))
        {
            seen.push(end);
            failures.push(code.clone());
        }
    }
    let enough = failures.len() == gate.failures;
    Ok(enough.then(|| CodeTask { verify, failures, ..request.task.clone() }))
}

fn verification(after: &Value, answer: &Value) -> String {
    // The one value without a literal is NaN.
    format!(
        "{SAME}\nnan = float('nan')\nAFTER = {after:#}\nANSWER = {answer:#}\n\n\
         def verify(before, after, answer):\n    return same(after, AFTER) and same(answer, ANSWER)\n"
    )
}
