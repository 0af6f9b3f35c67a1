//! `mbpp`: MBPP (arXiv 2108.07732), both files: the original's `text, code, task_id, test_setup_code, test_list,
//! challenge_test_list` and the sanitized one's `prompt, code, task_id, test_imports, test_list`.
//!
//! The functions under test are those that the row's own `code` defines: some are named like builtins (`sum` of task 126).
//! Each `assert` line is one test, the challenge tests after the others. The words of the task are no source text, so a
//! completion stands alone.

use veriplay_core::{Checks, Problem, ProblemRow, TestCode, TestStyle, Trust};

use super::fields::{Fields, RowFault};
use super::{ProblemFormat, ProblemStatement, RowInput};

pub(super) const FORMAT: ProblemFormat =
    ProblemFormat { name: "mbpp", recognises: |fields| fields.has("test_list"), parse, statement };

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let fields = row.fields()?;
    let mut asserts = fields.texts_or_empty("test_list")?;
    asserts.extend(fields.texts_or_empty("challenge_test_list")?);
    if asserts.is_empty() {
        return Err(fields.fault("test_list", "holds no tests"));
    }
    let mut setup = fields.texts_or_empty("test_imports")?;
    setup.extend(Some(fields.text_or_empty("test_setup_code")?.to_owned()).filter(|code| !code.trim().is_empty()));
    let setup = setup.iter().map(|code| format!("{code}\n")).collect();
    let functions = functions_of(fields.text_or_empty("code")?);
    let tests = TestCode { setup, functions, ..TestCode::new(Trust::default(), TestStyle::Asserts(asserts)) };
    Ok(ProblemRow::Ready(Problem::new(row.name(&["task_id"])?, Checks::Tests(tests))))
}

/// The original calls the words `text`, the sanitized file `prompt`. The challenge tests are not shown.
fn statement(fields: &Fields) -> Result<ProblemStatement, RowFault> {
    let name = if fields.get("text").is_some() { "text" } else { "prompt" };
    Ok(ProblemStatement::Instruction {
        text: fields.filled_text(name)?.to_owned(),
        tests: fields.texts_or_empty("test_list")?,
        starter_code: String::new(),
    })
}

/// Names of the functions at the top level of `code`.
fn functions_of(code: &str) -> Vec<String> {
    let name = |line: &str| {
        let rest = line.strip_prefix("async ").unwrap_or(line).strip_prefix("def ")?;
        Some(rest[..rest.find('(')?].trim().to_owned())
    };
    code.lines().filter_map(name).collect()
}
