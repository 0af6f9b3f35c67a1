//! `veriplay`: our own rows, `{"schema_version":1,"problem":{…}}` with [`veriplay_core::Problem`] in its serde form.

use serde::Deserialize;
use veriplay_core::{Problem, ProblemRow};

use super::fields::Fields;
use super::fields::{RowFault, parse_versioned};
use super::{ProblemFormat, ProblemStatement, RowInput, databases};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "veriplay",
    recognises: |fields| fields.has("problem") && fields.has("schema_version"),
    parse,
    statement,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(rename = "schema_version")]
    _version: u32,
    problem: Problem,
}

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let Row { mut problem, .. } = parse_versioned(row.text, "a problem")?;
    databases::read_files(&mut problem, row.options.databases.as_ref())?;
    match problem.task_id.is_empty() {
        true => Err(RowFault::new("problem.task_id", "is empty")),
        false => Ok(ProblemRow::Ready(problem)),
    }
}

fn statement(fields: &Fields) -> Result<ProblemStatement, RowFault> {
    let problem = Fields::inside("problem", fields.need("problem")?.clone())?;
    Ok(ProblemStatement::Continuation(problem.filled_text("prompt")?.to_owned()))
}
