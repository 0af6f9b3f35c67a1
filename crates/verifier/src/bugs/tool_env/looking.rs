//! List, read and search: a program of ours in the sandbox, over the tree as the policy has it.

use veriplay_core::{Digest, Dropped, Execute, Job, LayerMount, LayerRoot, LayerStack, Limits, Outcome, Value};

use super::super::tree::Overlay;
use super::{CallEnd, RepoToolCall, RepoToolOutcome, RepoToolRequest};
use crate::run::{NoValue, Runner, cut, failure, value};

const PROGRAM: &str = include_str!("../python/desk.py");
/// Nothing that looks draws anything.
const SEED: u64 = 0;

/// Looks. The path has been checked.
pub(super) fn look(execute: &dyn Execute, request: &RepoToolRequest<'_>) -> Result<RepoToolOutcome, Dropped> {
    let Some((path, arguments)) = arguments(request.call) else {
        return Ok(RepoToolOutcome::refused("it is no tool that looks"));
    };
    let mut runner = Runner::new(execute);
    let outcome = runner.run(&job(request, path, arguments))?;
    let evidence = std::mem::take(&mut runner.evidence);
    Ok(match (failure(&outcome), answer(&outcome, &request.repo.limits)) {
        (None, Ok((true, text))) => RepoToolOutcome::done(text, evidence),
        (None, Ok((false, why))) => RepoToolOutcome { evidence, ..RepoToolOutcome::refused(why) },
        (Some((status, why)), _) => {
            let shown = format!("Stopped: {}.", cut(&why));
            RepoToolOutcome { end: CallEnd::Stopped(status), shown, ..RepoToolOutcome::done(String::new(), evidence) }
        }
        (None, Err(why)) => return Err(Dropped { why: format!("the tool_env: {why}") }),
    })
}

/// The path, and what follows it in the guest's call.
fn arguments(call: &RepoToolCall) -> Option<(&str, Vec<Value>)> {
    match call {
        RepoToolCall::List { path } => Some((path, Vec::new())),
        RepoToolCall::Read { path, first, last } => Some((path, vec![Value::int(*first), Value::int(*last)])),
        RepoToolCall::Search { path, pattern, expression } => {
            Some((path, vec![Value::str(pattern.as_str()), Value::Bool(*expression)]))
        }
        RepoToolCall::Edit { .. } | RepoToolCall::Run { .. } => None,
    }
}

fn job(request: &RepoToolRequest<'_>, path: &str, arguments: Vec<Value>) -> Job {
    let repo = request.repo;
    let Overlay { files, without } = Overlay::between(repo.texts, request.tree);
    let arguments = vec![
        Value::str(request.call.tool()),
        Value::str(path),
        Value::List(arguments),
        // One more than is shown, so that the cut is told.
        Value::int(request.shown_chars.saturating_add(1)),
    ];
    let package: &Digest = &repo.baseline.package;
    Job {
        image: request.image.to_owned(),
        files,
        limits: Limits { fuel: request.fuel.min(repo.limits.fuel), ..repo.limits },
        seed: SEED,
        base: Some(LayerStack { layers: vec![LayerMount { layer: package.clone(), at: LayerRoot::Work }], without }),
        ..Job::calls(PROGRAM, "desk", vec![arguments])
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
