//! One row's fields by name, each with the type its format wants. Called by the readers of public formats.
//!
//! Invariant: every refusal names the field it is about.

use veriplay_core::Value;

use super::pyjson;

/// Why a row is not a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The field, by its path in the row; empty for the row as a whole.
    pub(super) field: String,
    /// What is wrong with it.
    pub(super) reason: String,
}

impl Fault {
    pub(super) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }
}

/// A row, or an object inside one. A field that is `null` is as good as absent.
pub(super) struct Fields {
    pairs: Vec<(Value, Value)>,
    /// Path of the object in the row: what stands before a field's name.
    path: String,
}

impl Fields {
    /// Reads a row.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        match pyjson::parse(text) {
            Ok(Value::Dict(pairs)) => Ok(Self { pairs, path: String::new() }),
            Ok(other) => Err(Fault::new("", format!("a row is a JSON object, not a {}", other.type_name()))),
            Err(error) => Err(Fault::new("", format!("no JSON: {error}"))),
        }
    }

    /// The object `value`, which stands in the row at `path`.
    pub(super) fn inside(path: &str, value: Value) -> Result<Self, Fault> {
        match value {
            Value::Dict(pairs) => Ok(Self { pairs, path: format!("{path}.") }),
            other => Err(Fault::new(path, format!("expected an object, found {}", other.type_name()))),
        }
    }

    /// A refusal of the field `name`.
    pub(super) fn fault(&self, name: &str, reason: impl Into<String>) -> Fault {
        Fault::new(format!("{}{name}", self.path), reason)
    }

    /// The field, unless it is absent or `null`.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let found = self.pairs.iter().find(|(key, _)| matches!(key, Value::Str(key) if key == name));
        found.map(|(_, value)| value).filter(|value| !matches!(value, Value::None))
    }

    /// A field that must be there.
    pub(super) fn need(&self, name: &str) -> Result<&Value, Fault> {
        self.get(name).ok_or_else(|| self.fault(name, "is missing"))
    }

    /// A text that must be there.
    pub(super) fn text(&self, name: &str) -> Result<&str, Fault> {
        match self.need(name)? {
            Value::Str(text) => Ok(text),
            other => Err(self.wrong(name, "a string", other)),
        }
    }

    /// A text that must be there and not be blank.
    pub(super) fn filled_text(&self, name: &str) -> Result<&str, Fault> {
        let text = self.text(name)?;
        if text.trim().is_empty() { Err(self.fault(name, "is empty")) } else { Ok(text) }
    }

    /// A text, empty when absent.
    pub(super) fn text_or_empty(&self, name: &str) -> Result<&str, Fault> {
        if self.get(name).is_none() { Ok("") } else { self.text(name) }
    }

    /// A list that must be there.
    pub(super) fn list(&self, name: &str) -> Result<&[Value], Fault> {
        match self.need(name)? {
            Value::List(items) => Ok(items),
            other => Err(self.wrong(name, "a list", other)),
        }
    }

    /// A list, empty when absent.
    pub(super) fn list_or_empty(&self, name: &str) -> Result<&[Value], Fault> {
        if self.get(name).is_none() { Ok(&[]) } else { self.list(name) }
    }

    /// A list of texts, empty when absent.
    pub(super) fn texts_or_empty(&self, name: &str) -> Result<Vec<String>, Fault> {
        let text = |(at, item): (usize, &Value)| match item {
            Value::Str(text) => Ok(text.clone()),
            other => Err(self.wrong(&format!("{name}[{at}]"), "a string", other)),
        };
        self.list_or_empty(name)?.iter().enumerate().map(text).collect()
    }

    /// The row's name: the first of `names` that is there, a text or an int.
    pub(super) fn id(&self, names: &[&str]) -> Result<String, Fault> {
        let name = names.iter().find(|name| self.get(name).is_some()).unwrap_or(&names[0]);
        match self.need(name)? {
            Value::Str(text) if text.is_empty() => Err(self.fault(name, "is empty")),
            Value::Str(text) => Ok(text.clone()),
            Value::Int(number) => Ok(number.to_string()),
            other => Err(self.wrong(name, "a string or an int", other)),
        }
    }

    /// A field that holds JSON: as text, as the sets are published, or as it is.
    pub(super) fn json(&self, name: &str) -> Result<Value, Fault> {
        match self.need(name)? {
            Value::Str(text) => {
                pyjson::parse(text).map_err(|error| self.fault(name, format!("holds no JSON: {error}")))
            }
            other => Ok(other.clone()),
        }
    }

    fn wrong(&self, name: &str, wanted: &str, found: &Value) -> Fault {
        self.fault(name, format!("expected {wanted}, found {}", found.type_name()))
    }
}
