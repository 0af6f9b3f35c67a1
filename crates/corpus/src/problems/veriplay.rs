//! `veriplay`: our own rows, `{"schema_version":1,"problem":{…}}` with [`veriplay_core::Problem`] in its serde form.

use serde::Deserialize;
use veriplay_core::{Problem, SCHEMA_VERSION};

use super::fields::Fault;
use super::{ProblemFormat, ProblemRow, RowText};

pub(super) const FORMAT: ProblemFormat = ProblemFormat { name: "veriplay", parse };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(rename = "schema_version")]
    _version: u32,
    problem: Problem,
}

/// A row of a later version may have fields that this one does not know, so the version is looked at first.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

fn parse(row: &RowText<'_>) -> Result<ProblemRow, Fault> {
    let not = |error: serde_json::Error| Fault::new("", format!("not a problem: {error}"));
    let version: Version = serde_json::from_str(row.text).map_err(not)?;
    if version.schema_version != SCHEMA_VERSION {
        let reason = format!("is `{}`; this build reads {SCHEMA_VERSION}", version.schema_version);
        return Err(Fault::new("schema_version", reason));
    }
    let Row { problem, .. } = serde_json::from_str(row.text).map_err(not)?;
    match problem.task_id.is_empty() {
        true => Err(Fault::new("problem.task_id", "is empty")),
        false => Ok(ProblemRow::Ready(problem)),
    }
}
