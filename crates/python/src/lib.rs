#![doc = include_str!("../README.md")]

pub mod fingerprint;
pub mod large;
pub mod names;
pub mod prelude;
pub mod syntax;

use veriplay_core::{Digest, Language, Literals, Value};

/// The names of Python's implementations, which a version may follow.
const IMPLEMENTATIONS: [&str; 5] = ["python", "ipython", "cpython", "pypy", "py"];

/// The language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Python;

impl Language for Python {
    fn names(&self) -> &'static [&'static str] {
        &["python"]
    }

    fn image(&self) -> &'static str {
        "python"
    }

    /// A name of Python or of one of its versions, or that of a file of it.
    fn is_label(&self, word: &str) -> bool {
        let mut versions = IMPLEMENTATIONS.iter().filter_map(|name| word.strip_prefix(name));
        versions.any(is_version) || word.ends_with(".py") || word.starts_with("python")
    }

    fn fingerprint(&self, program: &str) -> Digest {
        fingerprint::program_fingerprint(program)
    }

    fn literals(&self) -> Option<&'static dyn Literals> {
        Some(&Python)
    }
}

impl Literals for Python {
    /// As `repr` writes it, for `inf` and `nan` are results, too; `1, 2` is a tuple.
    fn read(&self, text: &str) -> Result<Value, String> {
        match Value::parse_arguments(text) {
            Ok(items) if items.len() > 1 => Ok(Value::Tuple(items)),
            _ => Value::parse_repr(text).map_err(|error| error.to_string()),
        }
    }

    fn read_arguments(&self, text: &str) -> Result<Vec<Value>, String> {
        Value::parse_arguments(text).map_err(|error| error.to_string())
    }

    fn write(&self, value: &Value) -> String {
        value.to_string()
    }

    fn write_arguments(&self, arguments: &[Value]) -> String {
        Value::arguments_text(arguments)
    }

    fn are_equal(&self, one: &Value, other: &Value) -> bool {
        one.python_eq(other)
    }

    fn excerpt(&self, value: &Value, chars: usize) -> String {
        value.excerpt(chars)
    }
}

fn is_version(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || ".-_".contains(c))
}
