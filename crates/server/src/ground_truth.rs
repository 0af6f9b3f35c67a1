//! What trainers send next to a completion, as data sets carry it: from its shape to the task that judges the completion.
//!
//! `docs/trainers.md` has the table of shapes; `python/veriplay/tasks.py` knows the same ones.

use serde_json::{Map, Value, json};
use veriplay_core::{Digest, Predicted};

use crate::judge::TaskSource;

/// Keys that only rows of one format have.
const FORMAT_OF_KEY: [(&str, &str); 6] = [
    ("input_output", "apps"),
    ("entry_point", "humaneval"),
    ("test_list", "mbpp"),
    ("private_test_cases", "livecodebench"),
    ("public_test_cases", "livecodebench"),
    ("problem", "veriplay"),
];

/// No task can be made of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UnknownTruth(String);

/// The task in a ground truth: an object or a list, or their JSON text.
pub(crate) fn task_source(truth: &Value) -> Result<TaskSource, UnknownTruth> {
    match truth {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::String(_)) | Err(_) => Err(UnknownTruth("the text is not the JSON of a task".to_owned())),
            Ok(inner) => task_source(&inner),
        },
        Value::Object(object) => from_object(object),
        Value::Array(items) if !items.is_empty() => from_list(items),
        _ => Err(unknown("it is neither an object nor a list")),
    }
}

fn unknown(why: &str) -> UnknownTruth {
    UnknownTruth(format!("{why}; expected `inputs` and `outputs`, `format` and `row`, or a row of a known set"))
}

fn from_object(object: &Map<String, Value>) -> Result<TaskSource, UnknownTruth> {
    if let (Some(Value::String(format)), Some(Value::Object(row))) = (object.get("format"), object.get("row")) {
        return Ok(row_source(format, row.clone()));
    }
    if let (Some(inputs), Some(outputs)) = (object.get("inputs"), object.get("outputs")) {
        let mut tests = json!({"inputs": inputs, "outputs": outputs});
        if let Some(name @ Value::String(_)) = object.get("fn_name") {
            tests["fn_name"] = name.clone();
        }
        let mut row = Map::from_iter([("input_output".to_owned(), Value::String(tests.to_string()))]);
        row.extend(object.get("starter_code").map(|code| ("starter_code".to_owned(), code.clone())));
        return Ok(row_source("apps", row));
    }
    if let Some(Value::Array(tests)) = object.get("test_cases") {
        return from_list(tests);
    }
    match FORMAT_OF_KEY.iter().find(|(key, _)| object.contains_key(*key)) {
        Some((_, format)) => Ok(row_source(format, object.clone())),
        None => Err(unknown("its keys are those of no known task")),
    }
}

fn from_list(items: &[Value]) -> Result<TaskSource, UnknownTruth> {
    if items.iter().all(Value::is_string) {
        let checks = json!({"tests": {"style": {"asserts": items}}});
        return Ok(own_source(&checks));
    }
    let pairs = items.iter().map(|item| Some((item.get("input")?.clone(), item.get("output")?.clone())));
    let Some((inputs, outputs)) = pairs.collect::<Option<(Vec<Value>, Vec<Value>)>>() else {
        return Err(unknown("its items are neither lines of test code nor tests with `input` and `output`"));
    };
    let function = one_function(items)?;
    if items[0].get("testtype").is_some() {
        let kinds = items.iter().map(|item| item.get("testtype").cloned().unwrap_or_default()).collect();
        return Ok(live_code_bench(inputs, outputs, kinds, function.as_deref()));
    }
    let mut object = Map::from_iter([("inputs".to_owned(), inputs.into()), ("outputs".to_owned(), outputs.into())]);
    object.extend(function.map(|name| ("fn_name".to_owned(), name.into())));
    from_object(&object)
}

/// The function that all tests of a list name, in `fn_name` or in `metadata.func_name`.
fn one_function(tests: &[Value]) -> Result<Option<String>, UnknownTruth> {
    let name = |test: &Value| {
        let metadata = match test.get("metadata") {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
            other => other.cloned().unwrap_or_default(),
        };
        let name = test.get("fn_name").or_else(|| metadata.get("func_name"));
        name.and_then(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned)
    };
    let first = tests.first().and_then(name);
    match tests.iter().all(|test| name(test) == first) {
        true => Ok(first),
        false => Err(UnknownTruth("its tests name several functions".to_owned())),
    }
}

/// Tests as LiveCodeBench has them: texts, or, for calls of a method, lines of JSON arguments.
pub(crate) fn live_code_bench(
    inputs: Vec<Value>,
    outputs: Vec<Value>,
    kinds: Vec<Value>,
    function: Option<&str>,
) -> TaskSource {
    let tests = inputs.into_iter().zip(outputs).zip(kinds);
    let tests = tests.map(|((input, output), kind)| json!({"input": input, "output": output, "testtype": kind}));
    let metadata = function.map_or_else(|| json!({}), |name| json!({"func_name": name}));
    let row = Map::from_iter([
        ("public_test_cases".to_owned(), "[]".into()),
        ("private_test_cases".to_owned(), Value::Array(tests.collect()).to_string().into()),
        ("metadata".to_owned(), metadata.to_string().into()),
    ]);
    row_source("livecodebench", row)
}

fn own_source(checks: &Value) -> TaskSource {
    let name = name_of(&checks.to_string());
    let problem = json!({"task_id": name, "checks": checks});
    let row = Map::from_iter([("schema_version".to_owned(), 1.into()), ("problem".to_owned(), problem)]);
    row_source("veriplay", row)
}

/// A row, with a name made of its content where it has none.
fn row_source(format: &str, mut row: Map<String, Value>) -> TaskSource {
    let keys: &[&str] = match format {
        "veriplay" => &["problem"],
        "apps" => &["task_id", "problem_id", "id", "question_id"],
        "livecodebench" => &["question_id"],
        "cruxeval" => &["id"],
        _ => &["task_id"],
    };
    if !keys.iter().any(|key| row.contains_key(*key)) {
        let name = name_of(&Value::Object(row.clone()).to_string());
        row.insert(keys[0].to_owned(), name.into());
    }
    let row = Value::Object(row).to_string();
    TaskSource::Row { format: format.to_owned(), row, predict: Predicted::Output }
}

fn name_of(content: &str) -> String {
    Digest::of(content.as_bytes()).to_string().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(truth: &Value) -> (String, Value) {
        match task_source(truth).expect("a known shape") {
            TaskSource::Row { format, row, .. } => (format, serde_json::from_str(&row).expect("JSON")),
            TaskSource::Digest(_) => panic!("a row"),
        }
    }

    #[test]
    fn shapes_of_data_sets_are_known() {
        let tests = json!({"inputs": ["1\n"], "outputs": ["2\n"]});
        let case = json!({"input": "1\n", "output": "2\n", "testtype": "stdin", "metadata": "{\"func_name\": null}"});
        for (truth, format) in [
            (tests.clone(), "apps"),
            (json!({"input_output": tests.to_string(), "problem_id": 7}), "apps"),
            (json!({"format": "mbpp", "row": {"task_id": 1, "test_list": ["assert f(1)"]}}), "mbpp"),
            (json!({"test": "def check(c): pass", "entry_point": "f", "prompt": "p"}), "humaneval"),
            (json!({"test_list": ["assert f(1)"]}), "mbpp"),
            (json!([case]), "livecodebench"),
            (json!({"test_cases": [{"input": [1], "output": 2, "fn_name": "f"}]}), "apps"),
            (json!({"schema_version": 1, "problem": {"task_id": "a"}}), "veriplay"),
            (json!(["assert f(1) == 2"]), "veriplay"),
        ] {
            assert_eq!(found(&truth).0, format, "{truth}");
            assert_eq!(found(&Value::String(truth.to_string())), found(&truth));
        }
    }

    #[test]
    fn a_row_keeps_its_name_and_gets_one_where_it_has_none() {
        let (_, row) = found(&json!({"input_output": "{}", "problem_id": 7}));
        assert_eq!((row.get("task_id"), &row["problem_id"]), (None, &json!(7)));
        let (_, row) =
            found(&json!({"inputs": [[1]], "outputs": [2], "fn_name": "f", "starter_code": "class Solution"}));
        assert_eq!(row["task_id"].as_str().map(str::len), Some(16));
        assert_eq!(row["starter_code"], "class Solution");
        let tests: Value = serde_json::from_str(row["input_output"].as_str().expect("a text")).expect("JSON");
        assert_eq!(tests, json!({"inputs": [[1]], "outputs": [2], "fn_name": "f"}));
    }

    #[test]
    fn other_shapes_are_refused() {
        let two = |name: &str| json!({"input": 1, "output": 2, "fn_name": name});
        for truth in [
            json!(null),
            json!(4),
            json!("4"),
            json!("x = 1"),
            json!([]),
            json!({}),
            json!({"question": "why"}),
            json!([1, "a"]),
            json!([two("f"), two("g")]),
            json!("\"\\\"4\\\"\""),
        ] {
            assert!(task_source(&truth).is_err(), "{truth}");
        }
    }
}
