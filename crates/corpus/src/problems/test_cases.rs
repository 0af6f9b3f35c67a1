//! A list of tests, each an object with `input` and `output`: SYNTHETIC and INTELLECT (`type`, `fn_name`), DeepCoder and SkyRL (`testtype`, `metadata.func_name`,
//! as LiveCodeBench has them), Codeforces (neither).

use veriplay_core::{Checks, Value};

use super::fields::{Fields, RowFault};
use super::row_tests::{RowTest, SetJudges, call_checks, check_count, script_checks};
use super::{apps, livecodebench};

/// What all tests of a list have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TestKind {
    judges: SetJudges,
    /// `None` for scripts.
    function: Option<String>,
}

/// The checks of the list at `place`, and the judges that its kind asks for.
pub(super) fn checks(place: &str, items: Vec<Value>) -> Result<(Checks, SetJudges), RowFault> {
    let mut kind = None;
    let mut tests = Vec::with_capacity(items.len());
    check_count(items.len()).map_err(|reason| RowFault::new(place, reason))?;
    for (at, item) in items.into_iter().enumerate() {
        let place = format!("{place}[{at}]");
        let mut fields = Fields::inside(&place, item)?;
        let found = test_kind(&fields)?;
        match kind.get_or_insert_with(|| found.clone()) {
            first if *first == found => {}
            first => {
                let reason =
                    format!("{}, but the tests before it {}; a task has one", described(&found), described(first));
                return Err(RowFault::new(place, reason));
            }
        }
        tests.push(RowTest {
            // A field that is `null` is an input that is none.
            input: fields.take("input").unwrap_or(Value::None),
            output: fields.take_needed("output")?,
            // SYNTHETIC's grader compares texts, so `6` may be written for the number.
            holds_json: true,
            input_field: fields.place("input"),
            output_field: fields.place("output"),
        });
    }
    let Some(TestKind { judges, function }) = kind else { return Err(RowFault::new(place, "holds no tests")) };
    let checks = match function {
        Some(function) => call_checks(function, tests, judges)?,
        None => script_checks(tests, judges)?,
    };
    Ok((checks, judges))
}

fn test_kind(test: &Fields) -> Result<TestKind, RowFault> {
    let function = function(test)?;
    let (name, judges) = match test.has("testtype") {
        true => ("testtype", livecodebench::JUDGES),
        false => ("type", apps::JUDGES),
    };
    let calls = match test.text_or_empty(name)? {
        "" => function.is_some(),
        "stdin" | "stdin_stdout" => false,
        "functional" | "function_call" => true,
        other => {
            let known = "known are `stdin`, `functional`, `stdin_stdout` and `function_call`";
            return Err(test.fault(name, format!("`{other}` is not a kind of test; {known}")));
        }
    };
    match (calls, function) {
        (false, _) => Ok(TestKind { judges, function: None }),
        (true, function @ Some(_)) => Ok(TestKind { judges, function }),
        (true, None) => {
            Err(test.fault("fn_name", "is missing, and `metadata.func_name` too; the test calls a function"))
        }
    }
}

fn function(test: &Fields) -> Result<Option<String>, RowFault> {
    let named = test.text_or_empty("fn_name")?;
    let name = if named.is_empty() { livecodebench::function(test)? } else { Some(named.to_owned()) };
    Ok(name)
}

fn described(kind: &TestKind) -> String {
    kind.function.as_ref().map_or_else(|| "it is a script's".to_owned(), |function| format!("it calls `{function}`"))
}
