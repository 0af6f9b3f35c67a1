//! `cat`: Code-as-Task artifacts, `{"schema_version":1,"code_task":{…}}` with [`veriplay_core::CodeTask`] in its serde form.
//! Attempts are an executor's code in the environment that the artifact names, one of ours.

use veriplay_core::{Checks, EnvironmentChecks, Problem, ProblemRow};

use super::fields::Fields;
use super::fields::{RowFault, parse_versioned};
use super::{ProblemFormat, ProblemStatement, RowInput};
use crate::environments::{CodeTaskRow, environment_by_name};

pub(super) const FORMAT: ProblemFormat =
    ProblemFormat { name: "cat", recognises: |fields| fields.has("code_task"), parse, statement };

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let CodeTaskRow { code_task, .. } = parse_versioned(row.text, "an artifact")?;
    if code_task.task_id.is_empty() {
        return Err(RowFault::new("code_task.task_id", "is empty"));
    }
    let environment = environment_by_name(&code_task.environment)
        .map_err(|error| RowFault::new("code_task.environment", error.to_string()))?;
    let solution = Some(code_task.solution).filter(|solution| !solution.trim().is_empty());
    let checks = Checks::Environment(EnvironmentChecks { environment, verify: code_task.verify, solution });
    let (prelude, prompt) = (String::new(), String::new());
    Ok(ProblemRow::Ready(Problem { prelude, prompt, ..Problem::new(code_task.task_id, checks) }))
}

/// Its instruction needs the tools' descriptions, which the game writes.
fn statement(_fields: &Fields) -> Result<ProblemStatement, RowFault> {
    Err(RowFault::new("code_task.instruction", "is asked by the game self_challenge alone"))
}
