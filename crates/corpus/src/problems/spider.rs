//! `spider`: Spider (arXiv 1809.08887): `question, query, db_id`. The databases lie beside the rows, a folder for each `db_id`.
//!
//! Judged as by test-suite accuracy (arXiv 2010.02840): on every database of the folder, rows in their order where the reference has an `ORDER BY`
//! and else as a multiset, columns in any order. Unlike there by default, `DISTINCT` counts, and an `ORDER BY` inside of the query gives no order.

use veriplay_core::{ColumnOrder, ProblemRow};

use super::fields::RowFault;
use super::{ProblemFormat, RowInput, databases};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "spider",
    recognises: |fields| fields.has("query") && fields.has("db_id") && fields.has("question"),
    parse,
    statement: databases::no_statement,
};

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let mut reference = row.fields()?.filled_text("query")?.to_owned();
    // The set has operators that its tokenizer has cut, and its evaluation joins them.
    for mark in ["<", ">", "!"] {
        reference = reference.replace(&format!("{mark} ="), &format!("{mark}="));
    }
    databases::query_problem(row, reference, None, ColumnOrder::Any)
}
