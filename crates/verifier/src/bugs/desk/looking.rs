//! List, read and search: a program of ours in the sandbox, over the tree as the policy has it.

use veriplay_core::{Base, Digest, Dropped, Entry, Execute, Job, Limits, Mounted, Outcome, Place, Value};

use super::super::tree::Overlay;
use super::{CallEnd, DeskCall, DeskOutcome, DeskRequest};
use crate::run::{NoValue, Runner, cut, failure, value};

const PROGRAM: &str = include_str!("../python/desk.py");
/// Nothing that looks draws anything.
const SEED: u64 = 0;

/// Looks. The path has been checked.
pub(super) fn look(execute: &dyn Execute, request: &DeskRequest<'_>) -> Result<DeskOutcome, Dropped> {
    let Some((path, arguments)) = arguments(request.call) else {
        return Ok(DeskOutcome::refused("it is no tool that looks"));
    };
    let mut runner = Runner::new(execute);
    let outcome = runner.run(&job(request, path, arguments))?;
    let evidence = std::mem::take(&mut runner.evidence);
    Ok(match (failure(&outcome), answer(&outcome, &request.ground.limits)) {
        (None, Ok((true, text))) => DeskOutcome::done(text, evidence),
        (None, Ok((false, why))) => DeskOutcome { evidence, ..DeskOutcome::refused(why) },
        (Some((status, why)), _) => {
            let shown = format!("Stopped: {}.", cut(&why));
            DeskOutcome { end: CallEnd::Stopped(status), shown, ..DeskOutcome::done(String::new(), evidence) }
        }
        (None, Err(why)) => return Err(Dropped { why: format!("the desk: {why}") }),
    })
}

/// The path, and what follows it in the guest's call.
fn arguments(call: &DeskCall) -> Option<(&str, Vec<Value>)> {
    match call {
        DeskCall::List { path } => Some((path, Vec::new())),
        DeskCall::Read { path, first, last } => Some((path, vec![Value::int(*first), Value::int(*last)])),
        DeskCall::Search { path, pattern, expression } => {
            Some((path, vec![Value::str(pattern.as_str()), Value::Bool(*expression)]))
        }
        DeskCall::Edit { .. } | DeskCall::Run { .. } => None,
    }
}

fn job(request: &DeskRequest<'_>, path: &str, arguments: Vec<Value>) -> Job {
    let ground = request.ground;
    let Overlay { files, without } = Overlay::of(ground.texts, request.tree);
    let arguments = vec![
        Value::str(request.call.tool()),
        Value::str(path),
        Value::List(arguments),
        // One more than is shown, so that the cut is told.
        Value::int(request.shown_chars.saturating_add(1)),
    ];
    let package: &Digest = &ground.baseline.package;
    Job {
        image: request.image.to_owned(),
        program: PROGRAM.to_owned(),
        entry: Entry::Calls { function: "desk".to_owned(), arguments: vec![arguments] },
        stdin: Vec::new(),
        files,
        limits: Limits { fuel: request.fuel.min(ground.limits.fuel), ..ground.limits },
        seed: SEED,
        peer: None,
        base: Some(Base { layers: vec![Mounted { layer: package.clone(), at: Place::Work }], without }),
    }
}

/// Whether it was done, and the text.
fn answer(outcome: &Outcome, limits: &Limits) -> Result<(bool, String), String> {
    let call = outcome.calls.first().ok_or("it answered nothing")?;
    match value(call, limits).map_err(NoValue::text)? {
        Value::Tuple(parts) => match parts.as_slice() {
            [Value::Str(word), Value::Str(text)] => Ok((word == "done", text.clone())),
            _ => Err("its answer is none".to_owned()),
        },
        _ => Err("its answer is none".to_owned()),
    }
}
