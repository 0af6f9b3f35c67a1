//! Files as such: lines, arrays, gzip, caps, repeated names; and JSON as Python reads it.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use veriplay_core::{Checks, ProblemRow, Value};
use veriplay_corpus::{CorpusError, ProblemFile, ReadOptions, problem_format, read_problems};

use super::file;
use super::problem_formats::fault;

fn row(id: &str) -> String {
    format!(r#"{{"id":"{id}","code":"def f(x): return x","input":"1","output":"1"}}"#)
}

fn read(content: impl AsRef<[u8]>) -> ProblemFile {
    read_with(content, &ReadOptions::default()).expect("the file can be read")
}

fn read_with(content: impl AsRef<[u8]>, options: &ReadOptions) -> Result<ProblemFile, CorpusError> {
    let (_dir, path) = file(content);
    read_problems(&path, problem_format("cruxeval").expect("the format is known"), options)
}

/// Lines and names of the rows, and the lines of the bad ones.
fn seen(file: &ProblemFile) -> (Vec<(usize, &str)>, Vec<usize>) {
    (
        file.rows.iter().map(|(line, row)| (*line, row.task_id())).collect(),
        file.bad.iter().map(|bad| bad.line).collect(),
    )
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

#[test]
fn bad_lines_are_reported_and_the_rest_goes_on() {
    let text = format!("\u{feff}{}\n\n{{\n  \r\nnull\n{}", row("a"), row("b"));
    let file = read(&text);
    assert_eq!(seen(&file), (vec![(1, "a"), (6, "b")], vec![3, 5]));
    assert!(file.bad[1].to_string().ends_with("rows.jsonl:5: a row is a JSON object, not `null`"), "{}", file.bad[1]);
    let mut bytes = row("a").into_bytes();
    bytes.extend(b"\n{\"id\":\"\xff\"}\n");
    assert!(read(bytes).bad[0].reason.contains("not UTF-8 at byte 7"));
    assert_eq!(seen(&read("")), (vec![], vec![]));
}

#[test]
fn an_array_is_cut_into_its_rows() {
    let text = format!("\n[\n{},\n  {{\"id\": \"]}},[\",\n \"x\": \"\\\"\"}},\n\n{}\n]\n", row("a"), row("b"));
    let file = read(&text);
    assert_eq!(seen(&file), (vec![(3, "a"), (7, "b")], vec![4]));
    assert_eq!(file.bad[0].field, "output");
    assert_eq!(seen(&read("[]")), (vec![], vec![]));
    assert_eq!(seen(&read(format!("[{},{}]", row("a"), row("b")))).0, [(1, "a"), (1, "b")]);
}

#[test]
fn an_array_that_does_not_end_well_says_so_and_keeps_its_rows() {
    for (tail, reason) in
        [("", "does not end"), ("] x", "text follows"), (",", "does not end"), (",]\n]", "text follows")]
    {
        let file = read(format!("[{}{tail}", row("a")));
        assert_eq!(seen(&file).0, [(1, "a")], "{tail}");
        assert!(file.bad.last().expect("a report").reason.contains(reason), "{tail}: {:?}", file.bad);
    }
    assert!(read(format!("[,{}]", row("a"))).bad[0].reason.contains("found the end"));
}

#[test]
fn gzip_is_told_by_its_first_bytes() {
    let text = format!("{}\n{}\n", row("a"), row("b"));
    assert_eq!(seen(&read(gzip(text.as_bytes()))).0, [(1, "a"), (2, "b")]);
    // Two members one behind the other are one file.
    let two = [gzip(row("a").as_bytes()), gzip(format!("\n{}", row("b")).as_bytes())].concat();
    assert_eq!(seen(&read(two)).0, [(1, "a"), (2, "b")]);
    assert_eq!(seen(&read(gzip(format!("[{}]", row("a")).as_bytes()))).0, [(1, "a")]);
}

#[test]
fn damaged_gzip_is_an_error_of_the_file() {
    let mut bytes = gzip(row("a").as_bytes());
    bytes.truncate(bytes.len() - 9);
    assert!(read_with(bytes, &ReadOptions::default()).is_err());
}

#[test]
fn rows_have_a_cap_and_a_long_one_is_one_bad_row() {
    let options = ReadOptions { max_row_bytes: 100, ..ReadOptions::default() };
    let bomb = gzip(format!("{}\n{}\n{}\n", row("a"), " ".repeat(1 << 20), row("b")).as_bytes());
    let file = read_with(bomb, &options).expect("the file can be read");
    assert_eq!(seen(&file), (vec![(1, "a"), (3, "b")], vec![2]));
    assert!(file.bad[0].reason.contains("longer than 100 bytes"), "{}", file.bad[0]);
    let array = read_with(format!("[{}]", vec![row("a"); 3].join(",")), &options).expect("the file can be read");
    assert!(array.rows.is_empty() && array.bad[0].reason.contains("array is longer than 100"), "{:?}", array.bad);
}

#[test]
fn a_name_that_stands_twice_is_reported_with_its_first_line() {
    let file = read(format!("{}\n{}\n{}\n", row("a"), row("b"), row("a")));
    assert_eq!(seen(&file), (vec![(1, "a"), (2, "b")], vec![3]));
    assert!(file.bad[0].reason.contains("`a` stands in line 1 already"), "{}", file.bad[0]);
}

#[test]
fn a_missing_file_is_named() {
    let path = std::path::Path::new("no/such/file.jsonl");
    let format = problem_format("mbpp").expect("the format is known");
    let error = read_problems(path, format, &ReadOptions::default()).expect_err("there is none").to_string();
    assert!(error.contains("no/such/file.jsonl") && error.contains("hint:"), "{error}");
}

/// The value of a JSON text, read as an argument of a call.
fn json(text: &str) -> Value {
    let row = format!(r#"{{"id":1,"input_output":{{"fn_name":"f","inputs":[[{text},0]],"outputs":[0]}}}}"#);
    let ProblemRow::Ready(problem) = super::problem_formats::only("apps", &row) else { panic!("no problem") };
    let Checks::Calls(mut calls) = problem.checks else { panic!("no calls") };
    calls.cases.remove(0).input.remove(0)
}

#[test]
fn json_is_read_as_python_reads_it() {
    let cases = [
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("1E2", "100.0"),
        ("1.0", "1.0"),
        ("1e400", "inf"),
        ("NaN", "nan"),
        ("-Infinity", "-inf"),
        ("[Infinity]", "[inf]"),
        (r#""\u00e9\ud83d\ude00\n\/""#, "'é😀\\n/'"),
        (r#"{"b": 1, "a": 2, "b": 3}"#, "{'b': 3, 'a': 2}"),
        ("[true, false, null]", "[True, False, None]"),
    ];
    for (text, wanted) in cases {
        assert_eq!(json(text).to_string(), wanted, "{text}");
    }
}

#[test]
fn many_digits_or_deep_nesting_are_refused_and_do_not_end_the_process() {
    let digits = fault("cruxeval", &format!("{{\"id\": {}}}", "9".repeat(5000)));
    assert!(!digits.reason.is_empty());
    let bad = fault("cruxeval", &format!("{{\"id\": {}", "[".repeat(100_000)));
    assert!(bad.reason.contains("nested deeper"), "{bad}");
}

/// Values that JSON can hold.
fn json_value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Value as Json, json};
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(|f| json!(f)),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map("[a-z\"\\\\é]{0,4}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// The result of serde_json, as a plain value.
fn plain(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::None,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) if number.is_i64() => Value::int(number.as_i64().expect("an i64")),
        Json::Number(number) => Value::Float(number.as_f64().expect("an f64")),
        Json::String(text) => Value::str(text.as_str()),
        Json::Array(items) => Value::List(items.iter().map(plain).collect()),
        Json::Object(pairs) => {
            Value::Dict(pairs.iter().map(|(key, value)| (Value::str(key.as_str()), plain(value))).collect())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_serde_writes_is_read_back(value in json_value()) {
        // A dict as the only argument would get int keys; `json` passes a second one.
        prop_assert_eq!(json(&value.to_string()), plain(&value));
        prop_assert_eq!(json(&serde_json::to_string_pretty(&value).expect("JSON").replace('\n', " ")), plain(&value));
    }

    #[test]
    fn no_text_ends_the_process(text in "[\\[\\]{}\",:0-9a-zA-Z\\\\ .eE+-]{0,60}") {
        let file = read(&text);
        prop_assert!(file.rows.is_empty());
    }
}
