//! `bird`: BIRD (arXiv 2305.03111): `question, evidence, SQL, db_id, difficulty`. The databases lie beside the rows, a folder for each `db_id`.
//!
//! Judged as by its execution accuracy: rows as a set, columns in their places.

use veriplay_core::{ColumnOrder, ProblemRow, RowOrder};

use super::fields::RowFault;
use super::{ProblemFormat, RowInput, databases};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "bird",
    recognises: |fields| fields.has("SQL") && fields.has("db_id"),
    parse,
    statement: databases::no_statement,
};

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let reference = row.fields()?.filled_text("SQL")?.to_owned();
    databases::query_problem(row, reference, Some(RowOrder::Set), ColumnOrder::Given)
}
