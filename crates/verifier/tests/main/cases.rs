//! The cases of tests, from data files: a line each, whose columns are literals of Python. Blank lines and those that begin with `#` are for people.

use veriplay_core::Value;

/// The rows of a data file.
pub(crate) fn rows(file: &str) -> impl Iterator<Item = Vec<Value>> {
    let lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| Value::parse_arguments(line).unwrap_or_else(|error| panic!("{line}: {error}")))
}

/// The rows of a data file of so many columns, all of which are texts.
pub(crate) fn texts<const N: usize>(file: &str) -> impl Iterator<Item = [String; N]> {
    rows(file).map(|row| {
        let texts: Vec<String> = row.into_iter().map(text).collect();
        texts.try_into().unwrap_or_else(|texts| panic!("{N} columns are wanted: {texts:?}"))
    })
}

pub(crate) fn text(value: Value) -> String {
    match value {
        Value::Str(text) => text,
        other => panic!("a text is wanted: {other:?}"),
    }
}

/// Reads a column that says `yes` or `no`.
pub(crate) fn is_yes(word: &str) -> bool {
    match word {
        "yes" => true,
        "no" => false,
        other => panic!("`yes` or `no` is wanted: {other}"),
    }
}
