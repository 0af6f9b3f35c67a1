//! `code_contests`: CodeContests (arXiv 2203.07814) as `deepmind/code_contests` publishes it: `name, description, public_tests, private_tests,
//! generated_tests, time_limit, memory_limit_bytes, input_file, output_file`. Tests are an object of two lists, `input` and `output`, or a list of
//! objects. All three kinds of them are run.

use veriplay_core::{Problem, ProblemRow, Value};

use super::fields::{Fields, RowFault};
use super::row_tests::{RowTest, check_count, paired_tests, script_checks, through_files};
use super::{ProblemFormat, ProblemStatement, RowInput, apps};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "code_contests",
    recognises: |fields| TESTS.iter().any(|name| fields.has(name)),
    parse,
    statement: |fields| ProblemStatement::instruction(fields, "description", None),
};

const TESTS: [&str; 3] = ["public_tests", "private_tests", "generated_tests"];

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let mut tests = Vec::new();
    for name in TESTS {
        if row.fields()?.has(name) {
            add_tests(&mut tests, name, row.fields_mut()?.take_json(name)?)?;
        }
    }
    let fields = row.fields()?;
    if tests.is_empty() {
        return Err(
            fields.fault(TESTS[0], format!("holds no tests, and `{}` and `{}` none either", TESTS[1], TESTS[2]))
        );
    }
    let (input, output) = (fields.text_or_empty("input_file")?, fields.text_or_empty("output_file")?);
    let checks = through_files(script_checks(tests, apps::JUDGES)?, input, output);
    let prelude = apps::PRELUDE.to_owned();
    Ok(ProblemRow::Ready(Problem { prelude, ..Problem::new(row.id(&["task_id", "name", "id"])?, checks) }))
}

fn add_tests(tests: &mut Vec<RowTest>, name: &str, found: Value) -> Result<(), RowFault> {
    if let Value::List(items) = found {
        check_count(items.len()).map_err(|reason| RowFault::new(name, reason))?;
        for (at, item) in items.into_iter().enumerate() {
            let mut test = Fields::inside(&format!("{name}[{at}]"), item)?;
            tests.push(RowTest {
                input: test.take_needed("input")?,
                output: test.take_needed("output")?,
                holds_json: false,
                input_field: test.place("input"),
                output_field: test.place("output"),
            });
        }
        return Ok(());
    }
    let mut found = Fields::inside(name, found)?;
    tests.extend(paired_tests(&mut found, "input", "output")?);
    Ok(())
}
