//! What a repository says of itself, read in the sandbox: pytest's configuration, requirements, and what its tests import.
//!
//! Python's own parsers read the files, and nothing of the repository is run. The answers are claims of whoever wrote the
//! repository: they decide what is fetched and which files pytest is given, and nothing about a verdict.

use veriplay_core::{Digest, Execute, ExecuteError, Job, LayerStack, Limits, Value};

use super::run::mounted;
use super::settings::{ImportMode, PytestSettings};
use crate::run::{NoValue, value};

const PROGRAM: &str = include_str!("inspect_repository.py");

/// Reads repositories and the metadata of packages.
#[derive(Clone, Copy)]
pub struct Inspector<'a> {
    /// Where the reader runs.
    pub execute: &'a dyn Execute,
    /// The image's name.
    pub image: &'a str,
    /// The layer of pytest, whose `packaging` reads requirements.
    pub pytest: &'a Digest,
    /// The layer of the package.
    pub package: &'a Digest,
    /// Of each job.
    pub limits: Limits,
}

/// What a repository says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Options of pytest.
    pub settings: PytestSettings,
    /// Where pytest is to look for tests; empty for everywhere.
    pub test_paths: Vec<String>,
    /// More directories of the search path.
    pub python_path: Vec<String>,
    /// What it requires, in the order in which it says so.
    pub required: Vec<Required>,
    /// Top-level modules that its tests import, and that neither it nor the image nor pytest's layer has.
    pub imports: Vec<String>,
    /// Modules of the image, not of Python itself, that its tests import: large, and imported once in a warm start.
    pub library: Vec<String>,
    /// What of its configuration is not used.
    pub notes: Vec<String>,
}

/// A requirement whose markers hold here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Required {
    /// What it is for.
    pub purpose: Purpose,
    /// The file that says so.
    pub source: String,
    /// The package.
    pub requirement: Requirement,
}

/// What a requirement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The package itself.
    Runtime,
    /// Its tests, or its development.
    Tests,
    /// Another extra.
    Other,
}

/// A package, and which versions of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// In its canonical form.
    pub name: String,
    /// Those of its extras that are wanted.
    pub extras: Vec<String>,
    /// As PEP 440 writes them; empty for any.
    pub specifiers: String,
    /// The image, or pytest's layer, has a module of its name.
    pub is_here: bool,
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.extras.as_slice() {
            [] => write!(f, "{}{}", self.name, self.specifiers),
            extras => write!(f, "{}[{}]{}", self.name, extras.join(","), self.specifiers),
        }
    }
}

impl Inspector<'_> {
    /// Reads the repository, whose test files are at these paths. `Err` inside says why it cannot be read.
    ///
    /// # Errors
    /// A host fault.
    pub fn repository(&self, tests: &[String]) -> Result<Result<Inspection, String>, ExecuteError> {
        let tests = Value::List(tests.iter().map(Value::str).collect());
        self.ask(vec![Value::str("repository"), tests], inspection)
    }

    /// What the package of this metadata requires with these extras.
    ///
    /// # Errors
    /// As [`Self::repository`].
    pub fn requirements(
        &self,
        metadata: &str,
        extras: &[String],
    ) -> Result<Result<Vec<Requirement>, String>, ExecuteError> {
        let extras = Value::List(extras.iter().map(Value::str).collect());
        let requirements = |value: &Value| rows(value)?.iter().map(|row| requirement(row)).collect();
        self.ask(vec![Value::str("requirements"), Value::str(metadata), extras], requirements)
    }

    /// Whether a version is one of those that a requirement allows.
    ///
    /// # Errors
    /// As [`Self::repository`].
    pub fn meets(&self, version: &str, specifiers: &str) -> Result<Result<bool, String>, ExecuteError> {
        let arguments = vec![Value::str("meets"), Value::str(version), Value::str(specifiers)];
        self.ask(arguments, |value| if let Value::Bool(meets) = value { Some(*meets) } else { None })
    }

    fn ask<T>(
        &self,
        arguments: Vec<Value>,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Result<T, String>, ExecuteError> {
        let job = Job {
            image: self.image.to_owned(),
            limits: self.limits,
            base: Some(LayerStack { layers: mounted(self.pytest, self.package, None), without: Vec::new() }),
            ..Job::calls(PROGRAM, "ask", vec![arguments])
        };
        let outcome = self.execute.execute(&job)?;
        let Some(call) = outcome.calls.first() else {
            return Ok(Err(format!("its files could not be read: {:?} {:?}", outcome.exit, outcome.error)));
        };
        let answer = value(call, &self.limits).map_err(NoValue::text);
        Ok(answer.and_then(|value| read(&value).ok_or_else(|| format!("its files were read as `{value}`"))))
    }
}

fn inspection(value: &Value) -> Option<Inspection> {
    let Value::Dict(pairs) = value else { return None };
    let field = |name: &str| pairs.iter().find(|(key, _)| *key == Value::str(name)).map(|(_, value)| value);
    let list = |name: &str| texts(field(name)?);
    let settings = PytestSettings {
        python_files: list("python_files")?,
        python_classes: list("python_classes")?,
        python_functions: list("python_functions")?,
        xfail_strict: matches!(field("xfail_strict")?, Value::Bool(true)),
        import_mode: match field("import_mode")? {
            Value::Str(word) if word == "append" => Some(ImportMode::Append),
            Value::Str(word) if word == "importlib" => Some(ImportMode::Importlib),
            _ => None,
        },
    };
    Some(Inspection {
        settings,
        test_paths: list("testpaths")?,
        python_path: list("pythonpath")?,
        required: rows(field("required")?)?.iter().map(|row| required(row)).collect::<Option<_>>()?,
        imports: list("imports")?,
        library: list("library")?,
        notes: list("notes")?,
    })
}

fn required(row: &[Value]) -> Option<Required> {
    let [Value::Str(purpose), Value::Str(source), parts @ ..] = row else { return None };
    let purpose = match purpose.as_str() {
        "runtime" => Purpose::Runtime,
        "test" => Purpose::Tests,
        "other" => Purpose::Other,
        _ => return None,
    };
    Some(Required { purpose, source: source.clone(), requirement: requirement(parts)? })
}

fn requirement(row: &[Value]) -> Option<Requirement> {
    let [Value::Str(name), extras, Value::Str(specifiers), Value::Bool(is_here)] = row else { return None };
    Some(Requirement { name: name.clone(), extras: texts(extras)?, specifiers: specifiers.clone(), is_here: *is_here })
}

fn rows(value: &Value) -> Option<Vec<&[Value]>> {
    let Value::List(items) = value else { return None };
    items.iter().map(|item| if let Value::Tuple(parts) = item { Some(parts.as_slice()) } else { None }).collect()
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let Value::List(items) = value else { return None };
    items.iter().map(|item| if let Value::Str(text) = item { Some(text.clone()) } else { None }).collect()
}
