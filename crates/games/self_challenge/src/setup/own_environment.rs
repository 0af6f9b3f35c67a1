//! What is tried of an environment of the user's own before it is played in: a fault in it would else look like the policy's, at the price of
//! every task that meets it.

use std::collections::BTreeMap;

use veriplay_core::{Execute, Status};
use veriplay_corpus::EnvironmentFolder;
use veriplay_verifier::environments::{ArtifactGate, ArtifactRequest, examine_artifact, try_code};
use veriplay_verifier::on_all_cores;

use veriplay_console::exit::{ExitCode, Failure};

/// Advice where an environment of the user's own is wrong.
pub(super) const HINT: &str = "the page \"Plug-ins in Python, and your own trainer\" of the documentation says what an environment of your own holds";

/// Refuses a template that no task can be made of: each of its codes fails in the state that the environment starts in.
pub(super) fn check_templates(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    folder: &EnvironmentFolder,
) -> Result<(), Failure> {
    let environment = &folder.corpus.environment;
    for trial in folder.template_trials() {
        let codes: Vec<&str> = trial.solutions.iter().map(String::as_str).collect();
        let ends = on_all_cores(&codes, |code| try_code(execute, gate, environment, code));
        let ends = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
        if ends.iter().any(Result::is_ok) {
            continue;
        }
        // What most codes meet is a fault rather than a refusal, which depends on the code's values.
        let mut causes: BTreeMap<(Status, String), Vec<&str>> = BTreeMap::new();
        for (code, end) in codes.iter().zip(ends) {
            causes.entry(end.expect_err("none of them completed")).or_default().push(code);
        }
        let most = causes.iter().max_by_key(|(_, codes)| codes.len());
        let ((status, why), failed) = most.expect("a template makes at least one code");
        let (name, template, count, code) = (&environment.name, &trial.template, codes.len(), failed[0]);
        let what = format!(
            "environment `{name}`: no code of template `{template}` works in the first state, of {count} tried; `{code}`: {status}, {why}"
        );
        return Err(Failure::message(ExitCode::Input, what).hint(HINT));
    }
    Ok(())
}

/// Puts the hand-written tasks of an environment through the gate.
pub(super) fn check_hand_written(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    folder: &EnvironmentFolder,
) -> Result<(), Failure> {
    let corpus = &folder.corpus;
    let request = |task| ArtifactRequest { environment: &corpus.environment, task, known: false };
    let requests: Vec<_> = corpus.tasks.iter().map(|hand| request(&hand.task)).collect();
    let reports = on_all_cores(&requests, |request| examine_artifact(execute, gate, request));
    for (hand, report) in corpus.tasks.iter().zip(reports) {
        let verdict = report?.verdict;
        if verdict.status != Status::Valid {
            let (task, rule) = (&hand.task.task_id, &verdict.evidence.rule);
            let what = format!("task `{task}` breaks rule `{rule}` of the gate: {}", verdict.evidence.detail);
            return Err(Failure::message(ExitCode::Input, what).hint(HINT));
        }
    }
    Ok(())
}
