//! What of pytest's configuration is a repository's own.

use serde::{Deserialize, Serialize};
use veriplay_core::Value;

use crate::runner::string_list;

/// Options of a repository's own configuration that decide which tests there are and what they come to. An empty list, `false`
/// and `None` leave pytest's default. All others are left out: they ask for plugins, reports or descriptors that are not here.
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
    /// A test that passes though it is marked to fail has failed.
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
    /// Behind the search path.
    Append,
    /// Without the search path.
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
    /// As the guest's side takes them: the options that are not pytest's default, by name.
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
