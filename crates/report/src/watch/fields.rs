//! JSON for people: a row for each value, with its path, so that a program in it is read as a program.

use serde_json::Value;
use veriplay_console::progress::counted;

use crate::cut;

/// Rows that are shown of one value.
const ROWS: usize = 200;

/// The rows of `value`: paths such as `question/deduction/program`, and texts. Lists of plain values are one row.
pub(crate) fn fields(value: &Value) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    add_rows(&mut rows, String::new(), value);
    if rows.len() > ROWS {
        let left = rows.len() - ROWS;
        rows.truncate(ROWS);
        rows.push(("…".to_owned(), format!("{}: see `rollouts.jsonl.zst`", counted(left, "more value"))));
    }
    rows
}

fn add_rows(rows: &mut Vec<(String, String)>, path: String, value: &Value) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    let is_plain = |value: &Value| !value.is_object() && !value.is_array();
    match value {
        Value::Null => {}
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => rows.push((path, cut(text.clone()))),
        Value::Object(fields) => fields.iter().for_each(|(name, field)| add_rows(rows, below(name), field)),
        Value::Array(items) if !items.iter().all(is_plain) => {
            items.iter().enumerate().for_each(|(index, item)| add_rows(rows, below(&index.to_string()), item));
        }
        other => rows.push((path, cut(other.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ROWS, fields};

    #[test]
    fn every_value_has_a_row() {
        let value = json!({"question": {"program": "def f(x):\n    return x", "inputs": [1, 2], "pairs": [{"a": 1}, {"a": "<b>"}]}, "none": null, "empty": ""});
        let rows: Vec<(String, String)> = fields(&value);
        let rows: Vec<(&str, &str)> = rows.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let expected = [
            ("question/inputs", "[1,2]"),
            ("question/pairs/0/a", "1"),
            ("question/pairs/1/a", "<b>"),
            ("question/program", "def f(x):\n    return x"),
        ];
        assert!(expected.iter().all(|row| rows.contains(row)) && rows.len() == 4, "{rows:?}");
    }

    #[test]
    fn a_large_value_is_cut() {
        let rows = fields(&json!((0..1000).map(|number| json!({"n": number})).collect::<Vec<_>>()));
        assert_eq!((rows.len(), rows[ROWS].1.as_str()), (ROWS + 1, "800 more values: see `rollouts.jsonl.zst`"));
    }
}
