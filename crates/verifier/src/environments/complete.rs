//! Completes artifacts that lack a verification function or have too many failure cases.
//!
//! The game calls it for proposals of the prompt formats `compact` and `direct`, and the command line for generated tasks. The generated verification
//! function accepts exactly the state and the answer that the solution leaves, written as literals and compared type by type. The gate
//! judges it like any other. It is stricter than a function written by a person: of several right outcomes it accepts only that of the
//! solution.

use veriplay_core::{CodeTask, Dropped, Environment, Execute, Value};

use super::artifact_gate::ArtifactGate;
use super::case_runs::CodeRunner;
use super::jobs::Failure;
use crate::runner::{Runner, on_all_cores};

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

/// For a solution that does not complete: it accepts nothing, and the gate names the violated rule.
const NOTHING: &str = "def verify(before, after, answer):\n    return False\n";

/// A task to complete.
#[derive(Debug, Clone, Copy)]
pub struct CompleteRequest<'a> {
    /// The environment it names.
    pub environment: &'a Environment,
    /// The incomplete task.
    pub task: &'a CodeTask,
}

/// Gives each task a verification function of what its solution leaves, and replaces any it had. Runs on all cores, in the order of the
/// requests.
///
/// # Errors
/// For each task, a host fault or an environment that cannot be opened.
pub fn complete(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    requests: &[CompleteRequest<'_>],
) -> Vec<Result<CodeTask, Dropped>> {
    on_all_cores(requests, |request| complete_task(execute, gate, request))
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

/// As [`complete`], for tasks with any number of failure cases. Keeps the first ones that run and leave distinct outcomes, as many as the
/// gate wants. `None` where there are too few, where the solution does not complete, or where doing nothing would solve the task, with no
/// answer or one of the gate's canned answers.
///
/// # Errors
/// As [`complete`].
pub fn complete_with_failures(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    requests: &[CompleteRequest<'_>],
) -> Vec<Result<Option<CodeTask>, Dropped>> {
    on_all_cores(requests, |request| complete_task_with_failures(execute, gate, request))
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

/// Runs codes in an environment as those of tasks are, and makes their calls again. Runs on all cores, in the order of the codes. `Err`
/// inside says why a code did not complete.
///
/// # Errors
/// For each code, a host fault or an environment that cannot be opened.
pub fn try_codes(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    environment: &Environment,
    codes: &[&str],
) -> Vec<Result<Result<(), Failure>, Dropped>> {
    on_all_cores(codes, |code| {
        let mut runner = Runner::new(execute);
        let end = CodeRunner::open(&mut runner, gate, environment)?.run(code, gate.seeds[0])?;
        Ok(end.map(drop))
    })
}

fn verification(after: &Value, answer: &Value) -> String {
    // NaN is the only value without a literal.
    format!(
        "{SAME}\nnan = float('nan')\nAFTER = {after:#}\nANSWER = {answer:#}\n\n\
         def verify(before, after, answer):\n    return same(after, AFTER) and same(answer, ANSWER)\n"
    )
}
