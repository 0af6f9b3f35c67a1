//! The same questions put to the machine's own `python3`, where there is one: repr, `ast.literal_eval`, `==`, `ast.dump`.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde::Serialize;
use veriplay_core::{Value, normalize_program};

use crate::arbitrary::value;
use crate::program::CORPUS;

/// What `script` prints for these records, which it reads as lines of JSON, one line each; nothing where there is no python3.
pub(crate) fn python(script: &str, records: &[impl Serialize]) -> Option<Vec<String>> {
    let child = Command::new("python3")
        .args(["-I", "-S", "-X", "utf8", "-W", "ignore", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        std::io::stderr().write_all(b"skipped: no python3 to compare with\n").unwrap();
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input: String = records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the comparison script failed");
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn python_reads_each_repr_as_an_equal_value_and_writes_ascii_alike() {
    let mut runner = TestRunner::deterministic();
    let draws = std::iter::repeat_with(|| value().new_tree(&mut runner).unwrap().current());
    // Values without `inf`, `nan` and frozensets: those that have a literal.
    let literals = draws.filter(|value| Value::parse_literal(&value.to_string()).is_ok());
    let values: Vec<Value> = literals.take(300).collect();
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let Some(replies) = python(include_str!("python/reprs.py"), &texts) else { return };
    assert_eq!(replies.len(), values.len());
    for ((value, text), reply) in values.iter().zip(texts).zip(replies) {
        let (repr, ascii): (String, String) = serde_json::from_str(&reply).unwrap();
        assert_eq!(Value::parse_repr(&repr).unwrap(), *value, "python wrote {repr}");
        if text.is_ascii() && !ascii.is_empty() {
            assert_eq!(text, ascii);
        }
    }
}

#[test]
fn what_is_taken_as_a_literal_python_takes_too_and_as_the_same() {
    let mut runner = TestRunner::deterministic();
    let texts =
        "[-+0-9exj_.,:'\"bru\\\\(){}\\[\\] ]{1,8}|-?[0-9_]{1,4}[.e]{0,2}[0-9_]{0,3}|[bru]{0,2}'[a-z\\\\0-7'\"]{0,5}'";
    let draws = std::iter::repeat_with(|| texts.new_tree(&mut runner).unwrap().current());
    let taken: Vec<String> = draws.take(20_000).filter(|text| Value::parse_literal(text).is_ok()).collect();
    assert!(taken.len() > 500, "only {} texts to compare", taken.len());
    let Some(replies) = python(include_str!("python/literals.py"), &taken) else { return };
    for (text, reply) in taken.iter().zip(replies) {
        let reply: String = serde_json::from_str(&reply).unwrap();
        let ours = Value::parse_literal(text).unwrap();
        let theirs = Value::parse_repr(&reply).unwrap_or_else(|_| panic!("`{text}` is {ours}, python says {reply}"));
        assert_eq!(ours, theirs, "`{text}`");
    }
}

#[test]
fn python_parses_a_program_and_its_normal_form_to_one_tree() {
    let mut programs: Vec<String> = CORPUS.iter().map(|(program, _)| (*program).to_owned()).collect();
    programs.push(include_str!("sample.py.txt").to_owned());
    let pairs: Vec<[String; 2]> = programs.iter().map(|text| [text.clone(), normalize_program(text)]).collect();
    let Some(replies) = python(include_str!("python/trees.py"), &pairs) else { return };
    for (program, reply) in programs.iter().zip(replies) {
        assert_eq!(reply, "same", "{program}");
    }
}
