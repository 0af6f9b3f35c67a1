//! An object with `inputs`, `outputs` and, for calls, `fn_name`: APPS has it in `input_output`, and PRIME and verl have it as the ground truth.
//! verl's `assert_case` holds lines of test code in their place.

use veriplay_core::{Checks, TestCode, Value};

use super::fields::{FieldError, Fields};
use super::row_tests::{RowTest, SetJudges, call_checks, check_count, script_checks};
use super::test_texts::test_code;

/// Whether the object has such tests.
pub(super) fn recognises(fields: &Fields) -> bool {
    fields.has("assert_case") || (fields.has("inputs") && fields.has("outputs"))
}

/// The checks of `tests`.
pub(super) fn checks(mut tests: Fields, judges: SetJudges) -> Result<Checks, FieldError> {
    let function = tests.text_or_empty("fn_name")?.to_owned();
    if tests.has("assert_case") {
        return asserts(&tests, &function);
    }
    let cases = cases(&mut tests)?;
    if function.is_empty() { script_checks(cases, judges) } else { call_checks(function, cases, judges) }
}

fn cases(tests: &mut Fields) -> Result<Vec<RowTest>, FieldError> {
    let (inputs, outputs) = (tests.take_list("inputs")?, tests.take_list("outputs")?);
    if inputs.len() != outputs.len() {
        return Err(tests.fault("outputs", format!("has {} items for {} inputs", outputs.len(), inputs.len())));
    }
    if inputs.is_empty() {
        return Err(tests.fault("inputs", "holds no tests"));
    }
    check_count(inputs.len()).map_err(|reason| tests.fault("inputs", reason))?;
    let case = |(at, (input, output)): (usize, (Value, Value))| RowTest {
        // Beside a list of arguments it is the value itself, as APPS has it.
        holds_json: !matches!(input, Value::List(_)),
        input,
        output,
        input_field: tests.place(&format!("inputs[{at}]")),
        output_field: tests.place(&format!("outputs[{at}]")),
    };
    Ok(inputs.into_iter().zip(outputs).enumerate().map(case).collect())
}

/// verl appends each text to a copy of the program. What stands in `inputs` and `outputs` beside them must be blank: the tests say it all.
fn asserts(tests: &Fields, function: &str) -> Result<Checks, FieldError> {
    const NAME: &str = "assert_case";
    let asserts = match tests.need(NAME)? {
        Value::Str(text) => vec![text.clone()],
        _ => tests.texts_or_empty(NAME)?,
    };
    if asserts.is_empty() {
        return Err(tests.fault(NAME, "holds no tests"));
    }
    if let Some(at) = asserts.iter().position(|text| text.trim().is_empty()) {
        let reason = "is blank; hint: give each test as test code, or give `inputs` and `outputs` alone";
        return Err(tests.fault(&format!("{NAME}[{at}]"), reason));
    }
    for name in ["inputs", "outputs"] {
        let used =
            |value: &Value| !matches!(value, Value::None) && !matches!(value, Value::Str(text) if text.is_empty());
        if let Some(at) = tests.list_or_empty(name)?.iter().position(used) {
            let reason =
                format!("stands beside `{NAME}`, whose tests read and write nothing; one of them says what is tested");
            return Err(tests.fault(&format!("{name}[{at}]"), reason));
        }
    }
    let functions = Some(function.to_owned()).filter(|name| !name.is_empty()).into_iter().collect();
    Ok(Checks::Tests(TestCode { functions, ..test_code(&asserts) }))
}
