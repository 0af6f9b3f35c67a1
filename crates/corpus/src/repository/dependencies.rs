//! Wheels of other packages that a repository needs: pure Python alone, and nothing in them that could stand in for pytest.

use std::collections::{BTreeMap, BTreeSet};

use veriplay_core::{Layer, LayerError};

use super::unpack::{Archive, UnpackError, unpack};
use super::wheels::PYTEST;

/// Top-level modules that no dependency may bring: pytest's own, and what the interpreter imports by itself. The layer is last on
/// the search path, so that they would not be found there; a wheel that has them is refused all the same.
const RESERVED: [&str; 8] =
    ["pytest", "_pytest", "pluggy", "iniconfig", "py", "site", "sitecustomize", "usercustomize"];

/// A wheel that may be a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyWheel {
    /// The package's name, in its canonical form.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its metadata.
    pub metadata: String,
    /// Files by their path on the search path.
    files: BTreeMap<String, Vec<u8>>,
}

/// Why a file is not accepted as a dependency's wheel.
#[derive(Debug, thiserror::Error)]
pub enum WheelError {
    /// It holds compiled code, or is for other interpreters.
    #[error("`{0}` is not pure Python: only wheels tagged py3-none-any are taken")]
    NotPure(String),
    /// It cannot be unpacked.
    #[error("a wheel cannot be unpacked: {0}")]
    Unpack(UnpackError),
    /// No metadata, or metadata that is not text.
    #[error("a wheel holds no readable `{0}`")]
    NoMetadata(&'static str),
    /// A module of pytest or of the interpreter's start.
    #[error("`{0}` brings the module `{1}`, which is pytest's or the interpreter's own")]
    Reserved(String, String),
}

/// Whether pytest's own layer has the package of this canonical name.
#[must_use]
pub fn is_pytests_own(name: &str) -> bool {
    PYTEST.iter().any(|wheel| wheel.requirement.split("==").next() == Some(name))
}

impl DependencyWheel {
    /// Reads the bytes of a wheel. Its name and tags are those in it: how the file was called does not matter.
    ///
    /// # Errors
    /// When it is not pure, cannot be read, or would stand in for pytest.
    pub fn read(bytes: &[u8]) -> Result<Self, WheelError> {
        let members = unpack(bytes, Archive::Zip).map_err(WheelError::Unpack)?;
        let (metadata, tags) = (information(&members, "METADATA")?, information(&members, "WHEEL")?);
        let field = |name| fields(&metadata, name).next().ok_or(WheelError::NoMetadata("METADATA"));
        let (name, version) = (canonical(field("Name")?), field("Version")?.to_owned());
        if !is_pure(&tags) {
            return Err(WheelError::NotPure(format!("{name}=={version}")));
        }
        let files = members.into_iter().filter_map(|(path, bytes)| Some((installed(&path)?, bytes))).collect();
        let wheel = Self { name, version, metadata, files };
        let reserved = wheel.modules().into_iter().find(|module| RESERVED.contains(module)).map(str::to_owned);
        match reserved {
            Some(module) => Err(WheelError::Reserved(format!("{}=={}", wheel.name, wheel.version), module)),
            None => Ok(wheel),
        }
    }

    /// Its top-level modules.
    #[must_use]
    pub fn modules(&self) -> BTreeSet<&str> {
        self.files.keys().filter_map(|path| module_of(path)).collect()
    }
}

/// The layer of these wheels, and of what an installation of the package itself would leave beside it. A wheel that has a file
/// of an earlier one with other content is left out: its name is in the second place.
///
/// # Errors
/// When the files make no tree.
pub fn dependency_layer<'a>(
    wheels: impl IntoIterator<Item = &'a DependencyWheel>,
    own: impl IntoIterator<Item = (String, Vec<u8>)>,
) -> Result<(Layer, Vec<&'a DependencyWheel>), LayerError> {
    let mut files: BTreeMap<String, Vec<u8>> = own.into_iter().collect();
    let mut left_out = Vec::new();
    for wheel in wheels {
        if wheel.files.iter().any(|(path, bytes)| files.get(path).is_some_and(|there| there != bytes)) {
            left_out.push(wheel);
        } else {
            files.extend(wheel.files.clone());
        }
    }
    Ok((Layer::new(files)?, left_out))
}

/// What `importlib.metadata` finds of the package itself once it is installed: its `PKG-INFO` as the metadata of an installation.
#[must_use]
pub fn own_metadata(name: &str, version: &str, package: &Layer) -> Option<(String, Vec<u8>)> {
    let metadata = package.files().get("PKG-INFO")?;
    let folder = format!("{}-{version}.dist-info", canonical(name).replace('-', "_"));
    Some((format!("{folder}/METADATA"), metadata.as_ref().clone()))
}

/// `Name_of.Package` is `name-of-package`.
#[must_use]
pub fn canonical(name: &str) -> String {
    let parts: Vec<&str> = name.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
    parts.join("-").to_ascii_lowercase()
}

/// Whether a wheel's tags allow any Python 3 on any machine.
fn is_pure(tags: &str) -> bool {
    let tags: Vec<&str> = fields(tags, "Tag").collect();
    tags.contains(&"py3-none-any") && tags.iter().all(|tag| tag.ends_with("-none-any"))
}

/// The values of a header, of those before the first empty line.
fn fields<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let headers = text.lines().take_while(|line| !line.is_empty());
    headers.filter_map(move |line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
}

/// A file of the wheel's own `.dist-info`.
fn information(members: &BTreeMap<String, Vec<u8>>, name: &'static str) -> Result<String, WheelError> {
    let is_it =
        |path: &str| path.split_once('/').is_some_and(|(folder, rest)| folder.ends_with(".dist-info") && rest == name);
    let bytes = members.iter().find(|(path, _)| is_it(path)).map(|(_, bytes)| bytes.clone());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or(WheelError::NoMetadata(name))
}

/// The top-level module that a file belongs to; `None` for folders of metadata.
fn module_of(path: &str) -> Option<&str> {
    match path.split_once('/') {
        Some((folder, _)) => (!folder.contains('.')).then_some(folder),
        None => path.strip_suffix(".py"),
    }
}

/// Where an installer would put a member, when that is on the search path; compiled and path files are left out.
fn installed(path: &str) -> Option<String> {
    let lower = path.to_ascii_lowercase();
    if [".pyc", ".pyo", ".pth", ".so", ".pyd"].iter().any(|ending| lower.ends_with(ending)) {
        return None;
    }
    match path.split_once('/') {
        Some((folder, rest)) if folder.ends_with(".data") => {
            let (kind, rest) = rest.split_once('/')?;
            matches!(kind, "purelib" | "platlib").then(|| rest.to_owned())
        }
        _ => Some(path.to_owned()),
    }
}
