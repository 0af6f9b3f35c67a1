//! Reads one row's fields by name and type, for the parsers of public formats.
//!
//! Invariant: every error names its field.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use veriplay_core::{SCHEMA_VERSION, Value};

use super::pyjson::{self, JsonError};

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", field_text(field))]
pub struct RowFault {
    /// Path of the field it is about, such as `metadata.func_name`; empty for the row as a whole.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

pub(super) fn field_text(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("field `{field}`: ") }
}

impl RowFault {
    pub(super) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }

    /// The same error, in a row that has what it is about in the field `outer`.
    pub(super) fn inside(self, outer: &str) -> Self {
        let joint = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        Self { field: format!("{outer}{joint}{}", self.field), ..self }
    }
}

/// A row, or an object inside one. A field that is `null` counts as absent.
pub(super) struct Fields {
    pairs: Vec<(Value, Value)>,
    /// Names of the row that stand there more than once; known of a row with a model's text.
    repeated: Vec<String>,
    /// Path of the object in the row: what stands before a field's name.
    path: String,
}

impl Fields {
    pub(super) fn parse(text: &str) -> Result<Self, RowFault> {
        Self::of_row(pyjson::parse(text).map(|row| (row, Vec::new())))
    }

    /// As [`Fields::parse`], for a row with a model's text, which [`pyjson::parse_lenient`] reads.
    pub(super) fn parse_lenient(text: &str) -> Result<Self, RowFault> {
        Self::of_row(pyjson::parse_lenient(text))
    }

    fn of_row(row: Result<(Value, Vec<String>), JsonError>) -> Result<Self, RowFault> {
        match row {
            Ok((Value::Dict(pairs), repeated)) => Ok(Self { pairs, repeated, path: String::new() }),
            Ok((other, _)) => Err(RowFault::new("", format!("a row is a JSON object, not {}", json_name(&other)))),
            Err(error) => Err(RowFault::new("", format!("no JSON: {error}"))),
        }
    }

    /// The fields of a row that has been read.
    pub(super) fn of_pairs(pairs: Vec<(Value, Value)>) -> Self {
        Self { pairs, repeated: Vec::new(), path: String::new() }
    }

    /// The object `value`, which stands in the row at `path`.
    pub(super) fn inside(path: &str, value: Value) -> Result<Self, RowFault> {
        match value {
            Value::Dict(pairs) => Ok(Self { pairs, repeated: Vec::new(), path: format!("{path}.") }),
            other => Err(RowFault::new(path, format!("expected an object, found {}", shown(&other)))),
        }
    }

    /// The field `name`, by its path in the row.
    pub(super) fn place(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }

    /// An error of the field `name`.
    pub(super) fn fault(&self, name: &str, reason: impl Into<String>) -> RowFault {
        RowFault::new(self.place(name), reason)
    }

    /// The field, unless it is absent or `null`.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let found = self.pairs.iter().find(|(key, _)| matches!(key, Value::Str(key) if key == name));
        found.map(|(_, value)| value).filter(|value| !matches!(value, Value::None))
    }

    /// Moves the field out of the row, which lacks it from then on.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let found = self.pairs.iter_mut().find(|(key, _)| matches!(key, Value::Str(key) if key == name));
        found.map(|(_, value)| std::mem::replace(value, Value::None)).filter(|value| !matches!(value, Value::None))
    }

    pub(super) fn take_needed(&mut self, name: &str) -> Result<Value, RowFault> {
        self.need(name)?;
        Ok(self.take(name).unwrap_or(Value::None))
    }

    pub(super) fn take_list(&mut self, name: &str) -> Result<Vec<Value>, RowFault> {
        match self.take_needed(name)? {
            Value::List(items) => Ok(items),
            other => Err(self.wrong(name, "a list", &other)),
        }
    }

    /// Moves out a field that holds JSON, as text or as a value.
    pub(super) fn take_json(&mut self, name: &str) -> Result<Value, RowFault> {
        match self.take_needed(name)? {
            Value::Str(text) => self.parse_json(name, &text),
            other => Ok(other),
        }
    }

    /// Reads the JSON that the field `name` holds as a text.
    pub(super) fn parse_json(&self, name: &str, text: &str) -> Result<Value, RowFault> {
        pyjson::parse(text).map_err(|error| self.fault(name, format!("holds no JSON: {error}")))
    }

    /// Checks that no field of these names is there twice: readers differ in which of the two they take.
    pub(super) fn check_single(&self, names: &[&str]) -> Result<(), RowFault> {
        match names.iter().find(|name| self.repeated.iter().any(|key| key == *name)) {
            None => Ok(()),
            Some(name) => Err(self.fault(name, "is there more than once")),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn need(&self, name: &str) -> Result<&Value, RowFault> {
        self.get(name).ok_or_else(|| self.fault(name, format!("is missing; found {}", self.names())))
    }

    /// The names of the fields, for messages.
    pub(super) fn names(&self) -> String {
        /// More names say no more.
        const MOST: usize = 12;
        let names: Vec<String> = self.pairs.iter().take(MOST).map(|(key, _)| format!("`{}`", shown_key(key))).collect();
        match self.pairs.len() {
            0 => "no field".to_owned(),
            all if all > MOST => format!("{} and {} more", names.join(", "), all - MOST),
            _ => names.join(", "),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<&str, RowFault> {
        match self.need(name)? {
            Value::Str(text) => Ok(text),
            other => Err(self.wrong(name, "a string", other)),
        }
    }

    /// A required text that is not blank.
    pub(super) fn filled_text(&self, name: &str) -> Result<&str, RowFault> {
        let text = self.text(name)?;
        if text.trim().is_empty() { Err(self.fault(name, "is empty")) } else { Ok(text) }
    }

    /// A text, empty when absent.
    pub(super) fn text_or_empty(&self, name: &str) -> Result<&str, RowFault> {
        if self.has(name) { self.text(name) } else { Ok("") }
    }

    pub(super) fn list(&self, name: &str) -> Result<&[Value], RowFault> {
        match self.need(name)? {
            Value::List(items) => Ok(items),
            other => Err(self.wrong(name, "a list", other)),
        }
    }

    /// A list, empty when absent.
    pub(super) fn list_or_empty(&self, name: &str) -> Result<&[Value], RowFault> {
        if self.has(name) { self.list(name) } else { Ok(&[]) }
    }

    /// A list of texts, empty when absent.
    pub(super) fn texts_or_empty(&self, name: &str) -> Result<Vec<String>, RowFault> {
        let text = |(at, item): (usize, &Value)| match item {
            Value::Str(text) => Ok(text.clone()),
            other => Err(self.wrong(&format!("{name}[{at}]"), "a string", other)),
        };
        self.list_or_empty(name)?.iter().enumerate().map(text).collect()
    }

    /// The row's name: the first of `names` that is there, a text or an int.
    pub(super) fn id(&self, names: &[&str]) -> Result<String, RowFault> {
        let name = names.iter().find(|name| self.get(name).is_some()).unwrap_or(&names[0]);
        match self.need(name)? {
            Value::Str(text) if text.is_empty() => Err(self.fault(name, "is empty")),
            Value::Str(text) => Ok(text.clone()),
            Value::Int(number) => Ok(number.to_string()),
            other => Err(self.wrong(name, "a string or an int", other)),
        }
    }

    /// A field that holds JSON, as text or as a value.
    pub(super) fn json(&self, name: &str) -> Result<Value, RowFault> {
        match self.need(name)? {
            Value::Str(text) => self.parse_json(name, text),
            other => Ok(other.clone()),
        }
    }

    /// An error of the field `name`, which is not `wanted`.
    pub(super) fn wrong(&self, name: &str, wanted: &str, found: &Value) -> RowFault {
        self.fault(name, format!("expected {wanted}, found {}", shown(found)))
    }
}

/// A value in a message: its type and its beginning.
pub(super) fn shown(value: &Value) -> String {
    /// Enough to find it in the row.
    const CHARS: usize = 40;
    match value {
        Value::None => "null".to_owned(),
        value => format!("{} `{}`", value.type_name(), value.excerpt(CHARS)),
    }
}

fn shown_key(key: &Value) -> String {
    if let Value::Str(name) = key { name.chars().take(40).collect() } else { key.excerpt(40) }
}

fn json_name(value: &Value) -> &'static str {
    match value {
        Value::None => "`null`",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) => "a number",
        Value::Str(_) => "a string",
        Value::List(_) => "an array",
        other => other.type_name(),
    }
}

/// Parses a row of our own format, which is `kind`. The version is checked first, because a row of a later version may have fields that
/// this one does not know.
pub(super) fn parse_versioned<T: DeserializeOwned>(text: &str, kind: &str) -> Result<T, RowFault> {
    #[derive(Deserialize)]
    struct RowVersion {
        schema_version: u32,
    }
    let invalid = |error: serde_json::Error| RowFault::new("", format!("not {kind}: {error}"));
    let RowVersion { schema_version } = serde_json::from_str(text).map_err(invalid)?;
    if schema_version != SCHEMA_VERSION {
        let reason = format!("is `{schema_version}`; this build reads {SCHEMA_VERSION}");
        return Err(RowFault::new("schema_version", reason));
    }
    serde_json::from_str(text).map_err(invalid)
}
