//! The settings of pytest that are a repository's own.

use serde::{Deserialize, Serialize};
use veriplay_core::Value;

use crate::runner::string_list;

/// Options of a repository's configuration that decide which tests exist and what they return. An empty list, `false` and `None` keep the
/// default of pytest. Other options are ignored: they configure plugins, reports or descriptors that do not exist here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PytestSettings {
    /// Patterns of the names of test files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub python_files: Vec<String>,
    /// Patterns of the names of test classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub python_classes: Vec<String>,
    /// Patterns of the names of test functions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub python_functions: Vec<String>,
    /// Whether a test that passes although it is marked to fail counts as failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub xfail_strict: bool,
    /// How test files are imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import_mode: Option<ImportMode>,
}

/// pytest's `--import-mode`, where it is not `prepend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportMode {
    /// Appends to the search path.
    Append,
    /// Imports without the search path.
    Importlib,
}

impl ImportMode {
    const fn word(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Importlib => "importlib",
        }
    }
}

impl PytestSettings {
    /// The options that differ from pytest's defaults, by name, as the guest takes them.
    pub(super) fn value(&self) -> Value {
        let options = [
            ("python_files", (!self.python_files.is_empty()).then(|| string_list(&self.python_files))),
            ("python_classes", (!self.python_classes.is_empty()).then(|| string_list(&self.python_classes))),
            ("python_functions", (!self.python_functions.is_empty()).then(|| string_list(&self.python_functions))),
            ("xfail_strict", self.xfail_strict.then_some(Value::Bool(true))),
            ("import_mode", self.import_mode.map(|mode| Value::str(mode.word()))),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some((Value::str(name), value?)));
        Value::Dict(given.collect())
    }
}
