//! `codeforces`: `open-r1/codeforces`: `id, description, input_format, output_format, official_tests, time_limit, memory_limit, input_mode,
//! generated_checker, interaction_format`. Tests that its authors generated lie in files of their own, so only the official ones are run.

use veriplay_core::{Problem, Value};

use super::fields::{FieldError, Fields, shown};
use super::{ProblemFormat, ProblemRow, ProblemStatement, RowInput, apps, test_cases};

pub(super) const FORMAT: ProblemFormat =
    ProblemFormat { name: "codeforces", recognises: |fields| fields.has(TESTS), parse, statement };

/// Where the tests stand.
const TESTS: &str = "official_tests";

fn statement(fields: &Fields) -> Result<ProblemStatement, FieldError> {
    let mut text = fields.filled_text("description")?.to_owned();
    for (name, title) in [("input_format", "Input"), ("output_format", "Output"), ("note", "Note")] {
        let part = fields.text_or_empty(name)?;
        if !part.is_empty() {
            text += &format!("\n\n{title}\n{part}");
        }
    }
    Ok(ProblemStatement::Instruction { text, tests: Vec::new(), starter_code: String::new() })
}

fn parse(row: &RowInput<'_>) -> Result<ProblemRow, FieldError> {
    let fields = row.fields()?;
    check_judgeable(fields)?;
    let tests = match fields.json(TESTS)? {
        Value::List(tests) => tests,
        other => return Err(fields.fault(TESTS, format!("expected a list of tests, found {}", shown(&other)))),
    };
    let (checks, _) = test_cases::checks(TESTS, &tests)?;
    let prelude = apps::PRELUDE.to_owned();
    Ok(ProblemRow::Ready(Problem { prelude, ..Problem::new(row.id(&["task_id", "id"])?, checks) }))
}

/// Refuses what no comparison of two texts can judge.
fn check_judgeable(fields: &Fields) -> Result<(), FieldError> {
    match fields.text_or_empty("input_mode")? {
        "" | "stdio" => {}
        mode => {
            let reason = format!("is `{mode}`; only programs that read standard input are judged");
            return Err(fields.fault("input_mode", reason));
        }
    }
    if !fields.text_or_empty("interaction_format")?.trim().is_empty() {
        return Err(fields.fault("interaction_format", "the problem is interactive, which is not judged"));
    }
    Ok(())
}
