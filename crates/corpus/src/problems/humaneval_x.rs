//! `humaneval_x`: HumanEval-X (arXiv 2303.17568): `task_id, prompt, declaration, canonical_solution, test, example_test`. The task's name begins
//! with the language. A completion is put behind the prompt, and the tests behind it.

use veriplay_core::{AppendedTests, Checks, Language, Problem, ProblemRow};

use super::fields::RowFault;
use super::row_options::required_language;
use super::{ProblemFormat, RowInput, humaneval};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "humaneval_x",
    recognises: |fields| fields.has("declaration") && fields.has("test"),
    parse,
    statement: humaneval::statement,
};

/// The set's grader includes what solutions use and the prompts lack.
const INCLUDES: &str = "#include <bits/stdc++.h>\n";
/// Tests of JavaScript print what is wrong, and go on.
const PRINTED: &str = "console.assert";

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let fields = row.fields()?;
    let task_id = fields.filled_text("task_id")?;
    let named = task_id.split('/').next().unwrap_or_default();
    let name = required_language(fields, "task_id", named)?.names()[0];
    let source = fields.filled_text("test")?.to_owned();
    let tests = AppendedTests { silent: source.contains(PRINTED), source, stop: Vec::new() };
    let includes = if name == "cpp" { INCLUDES } else { "" };
    let prompt = format!("{includes}{}", fields.filled_text("prompt")?);
    let language = Some(name.to_owned());
    Ok(ProblemRow::Ready(Problem { language, prompt, ..Problem::new(task_id, Checks::Appended(tests)) }))
}
