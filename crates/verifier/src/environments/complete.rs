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
use crate::runner::Runner;

/// Compares plain values as Python does, but for their types, in keys and sets too: `1`, `1.0` and `True` are three. NaN is itself.
const SAME: &str = include_str!("same.py");

/// For a solution that does not complete: it accepts nothing, and the gate names the violated rule.
const NOTHING: &str = "def verify(before, after, answer):\n    return False\n";

/// Gives a task of `environment` a verification function of what its solution leaves, and replaces any it had.
pub fn complete(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    environment: &Environment,
    task: &CodeTask,
) -> Result<CodeTask, Dropped> {
    let mut runner = Runner::new(execute);
    let mut codes = CodeRunner::open(&mut runner, gate, environment)?;
    let verify = match codes.run(&task.solution, gate.seeds[0])? {
        Ok(end) => verification(&end.after, &end.answer),
        Err(_) => NOTHING.to_owned(),
    };
    Ok(CodeTask { verify, ..task.clone() })
}

/// As [`complete`], for a task with any number of failure cases. Keeps the first ones that run and leave distinct outcomes, as many as the
/// gate wants. `None` where there are too few, where the solution does not complete, or where doing nothing would solve the task, with no
/// answer or one of the gate's canned answers.
pub fn complete_with_failures(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    environment: &Environment,
    task: &CodeTask,
) -> Result<Option<CodeTask>, Dropped> {
    let mut runner = Runner::new(execute);
    let mut codes = CodeRunner::open(&mut runner, gate, environment)?;
    let Ok(right) = codes.run(&task.solution, gate.seeds[0])? else { return Ok(None) };
    let canned = right.answer == Value::None || gate.canned_answers.contains(&right.answer);
    if right.before == right.after && canned {
        return Ok(None);
    }
    let verify = verification(&right.after, &right.answer);
    let (mut seen, mut failures) = (vec![right], Vec::new());
    for code in &task.failures {
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
    Ok(enough.then(|| CodeTask { verify, failures, ..task.clone() }))
}

/// Runs code in an environment as that of tasks is, and makes its calls again. `Err` inside says why it did not complete.
pub fn try_code(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    environment: &Environment,
    code: &str,
) -> Result<Result<(), Failure>, Dropped> {
    let mut runner = Runner::new(execute);
    let end = CodeRunner::open(&mut runner, gate, environment)?.run(code, gate.seeds[0])?;
    Ok(end.map(drop))
}

fn verification(after: &Value, answer: &Value) -> String {
    // NaN is the only value without a literal.
    format!(
        "{SAME}\nnan = float('nan')\nAFTER = {after:#}\nANSWER = {answer:#}\n\n\
         def verify(before, after, answer):\n    return same(after, AFTER) and same(answer, ANSWER)\n"
    )
}
