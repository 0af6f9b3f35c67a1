//! `cat`: Code-as-Task artifacts, `{"schema_version":1,"code_task":{…}}` with [`veriplay_core::CodeTask`] in its serde form.
//! Attempts are an executor's code in the environment that the artifact names, one of ours.

use serde::Deserialize;
use veriplay_core::{Checks, EnvironmentChecks, Problem, SCHEMA_VERSION};

use super::fields::Fault;
use super::{ProblemFormat, ProblemRow, RowText};
use crate::environments::{CodeTaskRow, environment_by_name};

pub(super) const FORMAT: ProblemFormat = ProblemFormat { name: "cat", parse };

/// A row of a later version may have fields that this one does not know, so the version is looked at first.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

fn parse(row: &RowText<'_>) -> Result<ProblemRow, Fault> {
    let not = |error: serde_json::Error| Fault::new("", format!("not an artifact: {error}"));
    let version: Version = serde_json::from_str(row.text).map_err(not)?;
    if version.schema_version != SCHEMA_VERSION {
        let reason = format!("is `{}`; this build reads {SCHEMA_VERSION}", version.schema_version);
        return Err(Fault::new("schema_version", reason));
    }
    let CodeTaskRow { code_task, .. } = serde_json::from_str(row.text).map_err(not)?;
    if code_task.task_id.is_empty() {
        return Err(Fault::new("code_task.task_id", "is empty"));
    }
    let environment = environment_by_name(&code_task.environment)
        .map_err(|error| Fault::new("code_task.environment", error.to_string()))?;
    let checks = Checks::Environment(EnvironmentChecks { environment, verify: code_task.verify });
    let (prelude, prompt) = (String::new(), String::new());
    Ok(ProblemRow::Ready(Problem { task_id: code_task.task_id, prelude, prompt, checks, limits: None }))
}
