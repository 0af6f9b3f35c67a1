//! `code_contests`: CodeContests (arXiv 2203.07814) as `deepmind/code_contests` publishes it: `name, description, public_tests, private_tests,
//! generated_tests, time_limit, memory_limit_bytes, input_file, output_file`. Tests are an object of two lists, `input` and `output`, or a list of
//! objects. All three kinds of them are run.

use veriplay_core::{Problem, Value};

use super::fields::{FieldError, Fields};
use super::row_tests::{RowTest, script_checks, through_files};
use super::{ProblemFormat, ProblemRow, ProblemStatement, RowInput, apps};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "code_contests",
    recognises: |fields| TESTS.iter().any(|name| fields.has(name)),
    parse,
    statement,
};

const TESTS: [&str; 3] = ["public_tests", "private_tests", "generated_tests"];

fn statement(fields: &Fields) -> Result<ProblemStatement, FieldError> {
    Ok(ProblemStatement::Instruction {
        text: fields.filled_text("description")?.to_owned(),
        tests: Vec::new(),
        starter_code: String::new(),
    })
}

fn parse(row: &RowInput<'_>) -> Result<ProblemRow, FieldError> {
    let fields = row.fields()?;
    let mut tests = Vec::new();
    for name in TESTS.into_iter().filter(|name| fields.has(name)) {
        add_tests(&mut tests, name, fields.json(name)?)?;
    }
    if tests.is_empty() {
        return Err(
            fields.fault(TESTS[0], format!("holds no tests, and `{}` and `{}` none either", TESTS[1], TESTS[2]))
        );
    }
    let (input, output) = (fields.text_or_empty("input_file")?, fields.text_or_empty("output_file")?);
    let checks = through_files(script_checks(&tests, apps::JUDGES)?, input, output);
    let prelude = apps::PRELUDE.to_owned();
    Ok(ProblemRow::Ready(Problem { prelude, ..Problem::new(row.id(&["task_id", "name", "id"])?, checks) }))
}

fn add_tests(tests: &mut Vec<RowTest>, name: &str, found: Value) -> Result<(), FieldError> {
    if let Value::List(items) = found {
        for (at, item) in items.into_iter().enumerate() {
            let test = Fields::inside(&format!("{name}[{at}]"), item)?;
            tests.push(RowTest {
                input: test.need("input")?.clone(),
                output: test.need("output")?.clone(),
                holds_json: false,
                input_field: test.place("input"),
                output_field: test.place("output"),
            });
        }
        return Ok(());
    }
    let found = Fields::inside(name, found)?;
    let (inputs, outputs) = (found.list("input")?, found.list("output")?);
    if inputs.len() != outputs.len() {
        return Err(found.fault("output", format!("has {} items for {} inputs", outputs.len(), inputs.len())));
    }
    tests.extend(inputs.iter().zip(outputs).enumerate().map(|(at, (input, output))| RowTest {
        input: input.clone(),
        output: output.clone(),
        holds_json: false,
        input_field: found.place(&format!("input[{at}]")),
        output_field: found.place(&format!("output[{at}]")),
    }));
    Ok(())
}
