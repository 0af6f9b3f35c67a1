//! `humaneval`: HumanEval as published (arXiv 2107.03374): `task_id, prompt, canonical_solution, test, entry_point`.
//!
//! A completion is put behind the prompt. The test defines `check(candidate)`; the prompt runs first in the tests' namespace
//! too, because some tests call helpers that only a prompt defines (`poly` of HumanEval/32, `encode_cyclic` of /38), and a
//! program's own version of those is not to be trusted.

use veriplay_core::{Checks, Problem, ProblemRow, TestCode, TestStyle, Trust};

use super::fields::{Fields, RowFault};
use super::{ProblemFormat, ProblemStatement, RowInput};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "humaneval",
    recognises: |fields| fields.has("entry_point") && fields.has("test"),
    parse,
    statement,
};

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let fields = row.fields()?;
    let prompt = fields.filled_text("prompt")?.to_owned();
    let source = fields.filled_text("test")?.to_owned();
    let function = fields.filled_text("entry_point")?.to_owned();
    if !source.contains("def check(") {
        return Err(fields.fault("test", "does not define `check(candidate)`"));
    }
    let style = TestStyle::Check { source, function };
    let tests = TestCode { setup: prompt.clone(), ..TestCode::new(Trust::default(), style) };
    Ok(ProblemRow::Ready(Problem { prompt, ..Problem::new(row.name(&["task_id"])?, Checks::Tests(tests)) }))
}

pub(super) fn statement(fields: &Fields) -> Result<ProblemStatement, RowFault> {
    Ok(ProblemStatement::Continuation(fields.filled_text("prompt")?.to_owned()))
}
