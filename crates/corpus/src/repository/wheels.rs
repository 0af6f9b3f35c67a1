//! The pinned wheels of pytest, and the wheels of a repository's dependencies: pure Python, and nothing that could replace pytest.

use std::collections::{BTreeMap, BTreeSet};

use veriplay_core::{Layer, LayerError};

use super::unpack::{ArchiveKind, UnpackError, unpack};

/// A wheel that pip downloads, pinned by version and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PytestWheel {
    /// `name==version`.
    pub requirement: &'static str,
    /// The file's digest, in hexadecimal.
    pub sha256: &'static str,
}

/// pytest and everything it imports.
pub const PYTEST_WHEELS: [PytestWheel; 5] = [
    pinned("pytest==8.4.2", "872f880de3fc3a5bdc88a11b39c9710c3497a547cfa9320bc3c5e62fbf272e79"),
    pinned("pluggy==1.6.0", "e920276dd6813095e9377c0bc5566d94c932c33b27a3e3945d8389c374dd4746"),
    pinned("iniconfig==2.1.0", "9deba5723312380e77435581c6bf4935c94cbfab9b1ed33ef8d238ea168eb760"),
    pinned("packaging==25.0", "29572ef2b1f17581046b3a2227d5c611fb25ec70ca1ba8554b24b0e69331a484"),
    pinned("pygments==2.19.2", "86540386c03d588bb81d44bc3928634ff26449851e99741617ecb9037ee5ec0b"),
];

const fn pinned(requirement: &'static str, sha256: &'static str) -> PytestWheel {
    PytestWheel { requirement, sha256 }
}

/// Makes the layer of these wheels' files.
///
/// # Errors
/// When one is not an archive, or two have a file in common.
pub fn wheel_layer(wheels: &[Vec<u8>]) -> Result<Layer, UnpackError> {
    let unpacked = wheels.iter().map(|bytes| unpack(bytes, ArchiveKind::Zip)).collect::<Result<Vec<_>, _>>()?;
    Ok(Layer::new(unpacked.into_iter().flatten())?)
}

/// Top-level modules that no dependency may contain: those of pytest, and those that the interpreter imports at its start. The layer of
/// dependencies is last on the search path, so they would not be found there; a wheel with such a module is refused all the same.
const RESERVED: [&str; 8] =
    ["pytest", "_pytest", "pluggy", "iniconfig", "py", "site", "sitecustomize", "usercustomize"];

/// A wheel of a repository's dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyWheel {
    /// The package's canonical name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its metadata.
    pub metadata: String,
    /// Files by their path on the search path.
    files: BTreeMap<String, Vec<u8>>,
}

/// Why a file is not a valid wheel of a dependency.
#[derive(Debug, thiserror::Error)]
pub enum WheelError {
    /// It contains compiled code, or is for other interpreters.
    #[error("`{0}` is not pure Python: only wheels tagged py3-none-any are taken")]
    NotPure(String),
    /// It cannot be unpacked.
    #[error("a wheel cannot be unpacked: {0}")]
    Unpack(UnpackError),
    /// It has no metadata, or metadata that is not text.
    #[error("a wheel holds no readable `{0}`")]
    NoMetadata(&'static str),
    /// It contains a module of pytest or of the interpreter's start.
    #[error("`{0}` brings the module `{1}`, which is pytest's or the interpreter's own")]
    Reserved(String, String),
}

/// Whether pytest's layer has the package of this canonical name.
pub fn is_in_pytest_layer(name: &str) -> bool {
    PYTEST_WHEELS.iter().any(|wheel| wheel.requirement.split("==").next() == Some(name))
}

impl DependencyWheel {
    /// Reads the bytes of a wheel. Its name and tags come from its metadata, not from the file's name.
    ///
    /// # Errors
    /// When it is not pure Python, cannot be read, or could replace a module of pytest.
    pub fn read(bytes: &[u8]) -> Result<Self, WheelError> {
        let members = unpack(bytes, ArchiveKind::Zip).map_err(WheelError::Unpack)?;
        let (metadata, tags) = (read_dist_info(&members, "METADATA")?, read_dist_info(&members, "WHEEL")?);
        let field = |name| header_values(&metadata, name).next().ok_or(WheelError::NoMetadata("METADATA"));
        let (name, version) = (canonical_name(field("Name")?), field("Version")?.to_owned());
        if !is_pure(&tags) {
            return Err(WheelError::NotPure(format!("{name}=={version}")));
        }
        let files = members.into_iter().filter_map(|(path, bytes)| Some((installed_path(&path)?, bytes))).collect();
        let wheel = Self { name, version, metadata, files };
        let reserved = wheel.modules().into_iter().find(|module| RESERVED.contains(module)).map(str::to_owned);
        match reserved {
            Some(module) => Err(WheelError::Reserved(format!("{}=={}", wheel.name, wheel.version), module)),
            None => Ok(wheel),
        }
    }

    /// Its top-level modules.
    pub fn modules(&self) -> BTreeSet<&str> {
        self.files.keys().filter_map(|path| module_of(path)).collect()
    }
}

/// Makes the layer of these wheels and of `own`, the files that an installation of the package itself would add. A wheel that has a file
/// of an earlier one with other content is left out and returned in the second place.
///
/// # Errors
/// When the paths of the files clash.
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

/// The metadata that `importlib.metadata` finds of the installed package itself: its `PKG-INFO`.
pub fn installed_metadata(name: &str, version: &str, package: &Layer) -> Option<(String, Vec<u8>)> {
    let metadata = package.files().get("PKG-INFO")?;
    let folder = format!("{}-{version}.dist-info", canonical_name(name).replace('-', "_"));
    Some((format!("{folder}/METADATA"), metadata.as_ref().clone()))
}

/// The canonical form of a package's name: `Name_of.Package` is `name-of-package`.
pub fn canonical_name(name: &str) -> String {
    let parts: Vec<&str> = name.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
    parts.join("-").to_ascii_lowercase()
}

/// Whether a wheel's tags allow any Python 3 on any machine.
fn is_pure(tags: &str) -> bool {
    let tags: Vec<&str> = header_values(tags, "Tag").collect();
    tags.contains(&"py3-none-any") && tags.iter().all(|tag| tag.ends_with("-none-any"))
}

/// The values of the header `name`, before the first empty line.
fn header_values<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let headers = text.lines().take_while(|line| !line.is_empty());
    headers.filter_map(move |line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
}

/// Reads a file of the wheel's `.dist-info`.
fn read_dist_info(members: &BTreeMap<String, Vec<u8>>, name: &'static str) -> Result<String, WheelError> {
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

/// The path at which an installer puts a member, when that is on the search path. Compiled and `.pth` files are left out.
fn installed_path(path: &str) -> Option<String> {
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
