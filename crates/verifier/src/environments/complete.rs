//! Makes whole artifacts of those that lack their verification function, or have more failure cases than are wanted.
//!
//! Called by the game for proposals of the compact dialect, and by whoever generates tasks. The verification function that is made
//! accepts exactly what the solution left, written out as literals: the state after it, and its answer, type by type. It is
//! an artifact's own like any other from then on, and the gate judges it as such. It is stricter than one that a person would write: a
//! task with several right outcomes has only that of its solution.

use rayon::prelude::*;
use veriplay_core::{CodeTask, Dropped, Environment, Execute, Limits, Value};

use super::artifact_gate::ArtifactGate;
use super::jobs::{self, CodeRequest, Compiled, Failure};
use crate::runner::Runner;

/// Compares plain values as Python does, but for their types: `1`, `1.0` and `True` are three.
const SAME: &str = "def same(one, other):
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other
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

/// What code left.
#[derive(Debug, Clone, PartialEq)]
struct CaseEnd {
    before: Value,
    after: Value,
    answer: Value,
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
    requests.par_iter().with_max_len(1).map(|request| completed(execute, gate, request)).collect()
}

fn completed(execute: &dyn Execute, gate: &ArtifactGate, request: &CompleteRequest<'_>) -> Result<CodeTask, Dropped> {
    let mut bench = Bench::open(execute, gate, request.environment)?;
    let verify = match bench.run_solution(&request.task.solution)? {
        Ok(left) => verification(&left.after, &left.answer),
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
    requests.par_iter().with_max_len(1).map(|request| chosen(execute, gate, request)).collect()
}

fn chosen(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    request: &CompleteRequest<'_>,
) -> Result<Option<CodeTask>, Dropped> {
    let mut bench = Bench::open(execute, gate, request.environment)?;
    let Ok(right) = bench.run_solution(&request.task.solution)? else { return Ok(None) };
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
        if let Ok(left) = bench.run_solution(code)?
            && !seen.contains(&left)
        {
            seen.push(left);
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

struct Bench<'a, 'b> {
    runner: Runner<'b>,
    gate: &'a ArtifactGate,
    environment: &'a Environment,
    compiled: Compiled,
}

impl<'a, 'b> Bench<'a, 'b> {
    fn open(execute: &'b dyn Execute, gate: &'a ArtifactGate, environment: &'a Environment) -> Result<Self, Dropped> {
        let mut runner = Runner::new(execute);
        let none = |(_, detail): Failure| Dropped { why: format!("environment `{}`: {detail}", environment.name) };
        let compiled = jobs::compile_environment(&mut runner, environment, &gate.image, gate.limits)?.map_err(none)?;
        Ok(Self { runner, gate, environment, compiled })
    }

    fn run_solution(&mut self, code: &str) -> Result<Result<CaseEnd, Failure>, Dropped> {
        let (image, limits, seed): (&str, Limits, u64) = (&self.gate.image, self.gate.limits, self.gate.seeds[0]);
        let request = CodeRequest { environment: self.environment, history: &[], code, image, limits, seed };
        let outcome = jobs::run_compiled(&mut self.runner, &self.compiled, &request)?;
        if let Some(failure) = outcome.failure {
            return Ok(Err(failure));
        }
        let states = jobs::replay_calls(&mut self.runner, &self.compiled, &outcome.calls, image, limits)?;
        let answer = outcome.answer.unwrap_or(Value::None);
        Ok(states.map(|(before, after)| CaseEnd { before, after, answer }))
    }
}
