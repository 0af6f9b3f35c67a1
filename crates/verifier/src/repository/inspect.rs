//! Inspects a repository in the sandbox: the configuration of pytest, requirements, and the imports of tests.
//!
//! Python's own parsers read the files, and no code of the repository runs. The results are claims by its authors: they decide which
//! packages are fetched and which files pytest gets, but no verdict.

use veriplay_core::{Digest, Execute, ExecuteError, Job, LayerStack, Limits, Value};
use veriplay_image_python::programs::repository::INSPECT;

use super::pytest::mounted;
use super::records::{texts, tuple};
use super::settings::{ImportMode, PytestSettings};
use crate::runner::{NoValue, decode_call, string_list};

/// Inspects repositories and the metadata of packages.
#[derive(Clone, Copy)]
pub struct Inspector<'a> {
    /// The executor.
    pub execute: &'a dyn Execute,
    /// The name of the image.
    pub image: &'a str,
    /// The layer of pytest, whose `packaging` reads requirements.
    pub pytest: &'a Digest,
    /// The layer of the package.
    pub package: &'a Digest,
    /// The limits of each job.
    pub limits: Limits,
}

/// The result of an inspection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Options of pytest.
    pub settings: PytestSettings,
    /// Where pytest looks for tests; empty for everywhere.
    pub test_paths: Vec<String>,
    /// Additional directories of the search path.
    pub python_path: Vec<String>,
    /// The declared requirements, in their order.
    pub required: Vec<DeclaredRequirement>,
    /// Top-level modules that its tests import and that are in none of the repository, the image and the layer of pytest.
    pub imports: Vec<String>,
    /// Modules of the image outside the standard library that its tests import. They are large, and warm images have imported them.
    pub library: Vec<String>,
    /// Parts of its configuration that are ignored.
    pub notes: Vec<String>,
}

/// A declared requirement whose markers hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredRequirement {
    /// Its purpose.
    pub purpose: RequirementPurpose,
    /// The package.
    pub requirement: Requirement,
}

/// What a requirement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequirementPurpose {
    /// For the package itself.
    Runtime,
    /// For its tests or its development.
    Tests,
    /// For another extra.
    Other,
}

/// A required package and its versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// The canonical name.
    pub name: String,
    /// The requested extras.
    pub extras: Vec<String>,
    /// Version specifiers by PEP 440; empty for any version.
    pub specifiers: String,
    /// Whether the image or the layer of pytest has a module of that name.
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
    /// Inspects the repository with these test files. `Err` inside says why it cannot be read.
    pub fn repository(&self, tests: &[String]) -> Result<Result<Inspection, String>, ExecuteError> {
        let tests = string_list(tests);
        self.ask(vec![Value::str("repository"), tests], parse_inspection)
    }

    /// The requirements in a package's metadata, with these extras.
    pub fn requirements(
        &self,
        metadata: &str,
        extras: &[String],
    ) -> Result<Result<Vec<Requirement>, String>, ExecuteError> {
        let extras = string_list(extras);
        let requirements = |value: &Value| parse_rows(value)?.iter().map(|row| parse_requirement(row)).collect();
        self.ask(vec![Value::str("requirements"), Value::str(metadata), extras], requirements)
    }

    /// Whether a version satisfies the specifiers.
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
            ..Job::calls(INSPECT, "ask", vec![arguments])
        };
        let outcome = self.execute.execute(&job)?;
        let Some(call) = outcome.calls.first() else {
            return Ok(Err(format!("its files could not be read: {:?} {:?}", outcome.exit, outcome.error)));
        };
        let answer = decode_call(call, &self.limits).map_err(NoValue::text);
        Ok(answer.and_then(|value| read(&value).ok_or_else(|| format!("its files were read as `{value}`"))))
    }
}

fn parse_inspection(value: &Value) -> Option<Inspection> {
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
        required: parse_rows(field("required")?)?.iter().map(|row| parse_declared(row)).collect::<Option<_>>()?,
        imports: list("imports")?,
        library: list("library")?,
        notes: list("notes")?,
    })
}

fn parse_declared(row: &[Value]) -> Option<DeclaredRequirement> {
    let [Value::Str(purpose), Value::Str(_source), parts @ ..] = row else { return None };
    let purpose = match purpose.as_str() {
        "runtime" => RequirementPurpose::Runtime,
        "test" => RequirementPurpose::Tests,
        "other" => RequirementPurpose::Other,
        _ => return None,
    };
    Some(DeclaredRequirement { purpose, requirement: parse_requirement(parts)? })
}

fn parse_requirement(row: &[Value]) -> Option<Requirement> {
    let [Value::Str(name), extras, Value::Str(specifiers), Value::Bool(is_here)] = row else { return None };
    Some(Requirement { name: name.clone(), extras: texts(extras)?, specifiers: specifiers.clone(), is_here: *is_here })
}

fn parse_rows(value: &Value) -> Option<Vec<&[Value]>> {
    let Value::List(items) = value else { return None };
    items.iter().map(tuple).collect()
}
