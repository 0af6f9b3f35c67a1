//! The attempts file.

use veriplay_core::AttemptText;
use veriplay_corpus::{AttemptRow, InvalidAttempt, read_attempts};

use super::file;

fn read(text: &str) -> Vec<Result<AttemptRow, InvalidAttempt>> {
    let (_dir, path) = file(text);
    let rows = read_attempts(&path, 1 << 20).expect("the file can be read");
    rows.map(|row| row.expect("the file can be read to its end")).collect()
}

fn bodies(text: &str) -> Vec<AttemptText> {
    read(text).into_iter().map(|row| row.expect("an attempt").text).collect()
}

#[test]
fn rows_are_read_in_order_with_their_lines() {
    let rows = read(
        "{\"task_id\":\"a\",\"completion\":\"x\",\"model\":{\"t\":1}}\n\n{\"task_id\":7,\"attempt_id\":3,\"program\":\"\"}",
    );
    let first =
        AttemptRow { line: 1, task_id: "a".into(), attempt_id: None, text: AttemptText::Completion("x".into()) };
    let second = AttemptRow {
        line: 3,
        task_id: "7".into(),
        attempt_id: Some("3".into()),
        text: AttemptText::Program(String::new()),
    };
    assert_eq!(rows, [Ok(first), Ok(second)]);
}

#[test]
fn a_solution_is_a_program() {
    let text = "[{\"task_id\":\"a\",\"solution\":\"s\"},\n{\"task_id\":\"a\",\"completion\":null,\"program\":\"p\"}]";
    assert_eq!(bodies(text), [AttemptText::Program("s".into()), AttemptText::Program("p".into())]);
}

#[test]
fn half_a_character_is_one_that_no_program_may_hold() {
    let program = |text: &str| bodies(&format!("{{\"task_id\":\"a\",\"program\":\"{text}\"}}"));
    for (written, read) in [
        ("# \\ud83d", "# \0"),
        ("\\ud83d\\u0041\\ude00", "\0A\0"),
        ("\\ud83d\\ud83d\\ude00", "\0\u{1f600}"),
        ("\\ud83d\\n", "\0\n"),
    ] {
        assert_eq!(program(written), [AttemptText::Program(read.into())], "{written}");
    }
}

#[test]
fn bad_rows_are_reported_by_line_and_field_and_the_rest_goes_on() {
    let cases = [
        ("{\"task_id\":\"a\"}", "completion", "missing"),
        ("{\"completion\":\"x\"}", "task_id", "missing"),
        ("{\"task_id\":\"a\",\"completion\":3}", "completion", "int"),
        ("{\"task_id\":\"a\",\"program\":[]}", "program", "list"),
        ("{\"task_id\":\"a\",\"completion\":\"x\",\"solution\":\"y\"}", "solution", "`completion`"),
        ("{\"task_id\":\"a\",\"attempt_id\":\"\",\"completion\":\"x\"}", "attempt_id", "empty"),
        ("{\"task_id\":\"a\",\"attempt_id\":true,\"completion\":\"x\"}", "attempt_id", "bool"),
        ("{\"task_id\":\"a\",\"completion\":\"x\",\"completion\":\"y\"}", "completion", "more than once"),
        ("{\"task_id\":\"a\",\"completion\":\"x\"", "", "expected `}`"),
    ];
    for (row, field, reason) in cases {
        let good = "{\"task_id\":\"a\",\"completion\":\"x\"}";
        let rows = read(&format!("{good}\n{row}\n{good}\n"));
        assert!(rows.len() == 3 && rows[0].is_ok() && rows[2].is_ok(), "{row}: {rows:?}");
        let bad = &rows[1].as_ref().expect_err(row).fault;
        assert_eq!((bad.line, bad.field.as_str()), (2, field), "{bad}");
        assert!(bad.reason.contains(reason), "{bad}");
    }
}

#[test]
fn bad_rows_keep_the_names_that_they_have() {
    let names = |row: &str| {
        let bad = read(row).remove(0).expect_err(row);
        (bad.task_id, bad.attempt_id)
    };
    let text = |text: &str| Some(text.to_owned());
    for (row, found) in [
        ("{\"task_id\":\"a\",\"attempt_id\":\"b\"}", (text("a"), text("b"))),
        ("{\"task_id\":\"a\",\"attempt_id\":true,\"completion\":\"x\"}", (text("a"), None)),
        ("{\"task_id\":[],\"attempt_id\":7,\"completion\":\"x\"}", (None, text("7"))),
        ("null", (None, None)),
    ] {
        assert_eq!(names(row), found, "{row}");
    }
}
