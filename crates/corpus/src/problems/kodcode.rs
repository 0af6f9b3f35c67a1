//! `kodcode`: KodCode (arXiv 2503.02951): `question_id, question, solution, test, test_info`. `test` is a module of pytest's, which imports from `solution`;
//! earlier releases call it `test_code`.

use veriplay_core::{Checks, Problem, ProblemRow, TestCode, Value};

use super::fields::{Fields, RowFault};
use super::row_tests::{is_test_module, test_code};
use super::{ProblemFormat, ProblemStatement, RowInput};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "kodcode",
    recognises,
    parse,
    statement: |fields| ProblemStatement::instruction(fields, "question", None),
};

fn recognises(fields: &Fields) -> bool {
    let Some(Value::Str(tests)) = fields.get(name_of_tests(fields)) else { return false };
    fields.has("test_info") || is_test_module(tests)
}

fn name_of_tests(fields: &Fields) -> &'static str {
    if fields.has("test_code") { "test_code" } else { "test" }
}

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let fields = row.fields()?;
    let name = name_of_tests(fields);
    let source = fields.filled_text(name)?;
    if !is_test_module(source) {
        return Err(fields.fault(name, "defines no test: expected functions `test…` or classes `Test…`"));
    }
    let functions = functions(fields)?;
    let tests = TestCode { functions, ..test_code(&[source.to_owned()]) };
    Ok(ProblemRow::Ready(Problem::new(row.id(&["task_id", "question_id", "conversation_id"])?, Checks::Tests(tests))))
}

/// The functions under test, where the row names them.
fn functions(fields: &Fields) -> Result<Vec<String>, RowFault> {
    if !fields.has("test_info") {
        return Ok(Vec::new());
    }
    let name = |(at, info): (usize, &Value)| {
        let info = Fields::inside(&format!("test_info[{at}]"), info.clone())?;
        Ok(info.text_or_empty("function_name")?.to_owned())
    };
    let names: Vec<String> = fields.list("test_info")?.iter().enumerate().map(name).collect::<Result<_, RowFault>>()?;
    Ok(names.into_iter().filter(|name| !name.is_empty()).collect())
}
