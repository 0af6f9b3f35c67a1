//! The images: loaded from the cache, imported from an archive that was installed with this program, or built once under a progress
//! bar.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use rustix::fs::StatVfsMountFlags;
use veriplay_core::{Language, Limits, SCANNED};
use veriplay_python::Python;
use veriplay_sandbox::{
    BuildPhase, Image, ImageArchive, ImageError, ImageSpec, ImageStore, Toolchain, default_cache_dir,
};

use crate::exit::{ExitCode, Failure};
use crate::free_memory::{ADDRESSES_HINT, LEAST_ADDRESSES, most_addresses};
use crate::progress;

/// Where archives are installed, from the directory above that of the program.
const INSTALLED: &str = "share/veriplay";

/// The cache of this user.
pub fn store() -> Result<ImageStore, Failure> {
    let dir = default_cache_dir().map_err(failure)?;
    ImageStore::open(&dir).map_err(failure)
}

/// The option for the image of a command's programs, which are in Python.
#[derive(Debug, Args)]
pub struct ImageArguments {
    /// The image that programs run in: `python`, `python-numpy`, which has numpy imported already, or one of your own
    #[arg(long, value_name = "NAME", default_value = Python.image(), value_parser = parse_python_name)]
    image: String,
}

impl ImageArguments {
    /// Loads the image, and builds it first where the cache lacks it.
    pub fn open(&self) -> Result<Arc<Image>, Failure> {
        open(&self.image)
    }

    /// The image, where it is in the cache and takes no time to open.
    pub fn find_cached(&self) -> Option<Arc<Image>> {
        let (store, spec) = (store().ok()?, find_spec(&self.image).ok()?);
        store.load(&spec)
    }

    /// The limits of its jobs, which are known before it is opened.
    pub fn default_limits(&self) -> Result<Limits, Failure> {
        Ok(find_spec(&self.image)?.default_limits())
    }
}

/// Whether the toolchain compiles the programs of jobs of the image of this name.
#[must_use]
pub fn is_compiled(name: &str) -> bool {
    SCANNED.iter().any(|language| language.is_compiled() && language.image() == name)
}

/// The images that [`parse_program_name`] takes, for the help of an option.
#[must_use]
pub fn describe_names() -> String {
    let compiled = SCANNED.iter().filter(|language| language.is_compiled()).map(|language| language.image());
    let names = ImageSpec::builtin_names().into_iter().chain(compiled).map(|name| format!("`{name}`"));
    format!("{} or one of your own", names.collect::<Vec<_>>().join(", "))
}

/// As [`parse_name`], for a command that the toolchain is an image for, too.
pub fn parse_program_name(name: &str) -> Result<String, String> {
    if is_compiled(name) { Ok(name.to_owned()) } else { parse_name(name) }
}

/// Reads the value of an option that names an image: there must be one of that name. The error says what to do, which clap has no place for.
pub fn parse_name(name: &str) -> Result<String, String> {
    find_named(name).map(|_| name.to_owned())
}

/// The same for a command whose programs are in Python.
pub fn parse_python_name(name: &str) -> Result<String, String> {
    match !is_compiled(name) && find_named(name)?.is_python() {
        true => Ok(name.to_owned()),
        false => {
            Err("its programs are not in Python, and this command has no others; `run`, `verify` and `serve --languages` take it".to_owned())
        }
    }
}

fn find_named(name: &str) -> Result<ImageSpec, String> {
    let told = |error: ImageError| error.hint().map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}"));
    ImageSpec::find(name).map_err(told)
}

/// The image of that name.
pub fn find_spec(name: &str) -> Result<ImageSpec, Failure> {
    ImageSpec::find(name).map_err(failure)
}

/// Loads the Python image; imports or builds it first where it is missing.
pub fn python() -> Result<Arc<Image>, Failure> {
    open(Python.image())
}

/// Loads the image of that name; imports or builds it first where it is missing.
pub fn open(name: &str) -> Result<Arc<Image>, Failure> {
    check_addresses(most_addresses())?;
    let image = load_or_make(&store()?, &find_spec(name)?)?;
    tracing::info!(image = name, digest = image.digest().short(), "image opened");
    Ok(image)
}

/// Loads the toolchain of C and C++, and builds it first where the cache lacks it.
pub fn open_toolchain() -> Result<Arc<Toolchain>, Failure> {
    check_addresses(most_addresses())?;
    let store = store()?;
    if let Some(found) = store.load_toolchain() {
        return Ok(found);
    }
    show_toolchain(&store, |progress| store.load_or_build_toolchain(progress))
}

/// Builds the toolchain of C and C++, even if it is cached.
pub fn build_toolchain(store: &ImageStore) -> Result<Arc<Toolchain>, Failure> {
    show_toolchain(store, |progress| store.build_toolchain(progress))
}

fn show_toolchain(
    store: &ImageStore,
    build: impl FnOnce(&dyn Fn(BuildPhase)) -> Result<Arc<Toolchain>, ImageError>,
) -> Result<Arc<Toolchain>, Failure> {
    progress::say("building the toolchain of C and C++: once, some minutes on two cores");
    let started = Instant::now();
    let built = show_phases("toolchain", build)?;
    let (seconds, dir) = (started.elapsed().as_secs_f64(), store.toolchain_dir());
    progress::say(format!("the toolchain is in `{}`, after {seconds:.0} s", dir.display()));
    Ok(built)
}

/// Refuses a limit on addresses with which no guest has memory: loading the image could end the process without a word of why.
fn check_addresses(most: Option<u64>) -> Result<(), Failure> {
    match most.filter(|most| *most < LEAST_ADDRESSES) {
        None => Ok(()),
        Some(most) => {
            let what = format!(
                "no program can run within {} MiB of addresses (`ulimit -v`): one takes more than {} GiB",
                most >> 20,
                LEAST_ADDRESSES >> 30
            );
            Err(Failure::message(ExitCode::Host, what).hint(ADDRESSES_HINT))
        }
    }
}

fn load_or_make(store: &ImageStore, spec: &ImageSpec) -> Result<Arc<Image>, Failure> {
    if let Some(image) = store.load(spec) {
        return Ok(image);
    }
    if let Some(archive) = installed_archive(spec) {
        match open_installed(store, spec, &archive) {
            Ok(image) => return Ok(image),
            Err(error) => progress::say(format!("warning: {}", describe_unusable(&archive, &error))),
        }
    }
    if let Some(dir) = default_cache_dir().ok().filter(|dir| is_noexec(dir)) {
        progress::say(format!("{}; {NOEXEC_HINT}", describe_noexec(&dir)));
    }
    with_bar(spec, |progress| store.load_or_build(spec, progress))
}

fn describe_unusable(archive: &Path, error: &ImageError) -> String {
    format!("the installed image `{}` cannot be used: {error}", archive.display())
}

/// Reads an installed archive to its end. The error says why its image cannot be used.
pub fn check_installed(spec: &ImageSpec, archive: &Path) -> Result<(), String> {
    read_archive(spec, archive).map(drop).map_err(|error| describe_unusable(archive, &error))
}

/// Imports an installed archive. Where the cache cannot be written, the image is unpacked for this process alone.
fn open_installed(store: &ImageStore, spec: &ImageSpec, archive: &Path) -> Result<Arc<Image>, ImageError> {
    let read = || {
        progress::say(format!(
            "importing the image `{}` from `{}`: once, some seconds",
            spec.name(),
            archive.display()
        ));
        read_archive(spec, archive)
    };
    match store.load_or_import(spec, read) {
        Err(error) if is_fault_of_cache(&error) => {
            let hint = match &error {
                ImageError::Cache { .. } | ImageError::UnsafeCache { .. } => error.hint().unwrap_or_default(),
                _ => NOEXEC_HINT,
            };
            progress::say(format!("warning: {error}; this process unpacks the image for itself\nhint: {hint}"));
            store.open_archive(spec, read_archive(spec, archive)?)
        }
        imported => imported,
    }
}

/// Whether the cache cannot hold an image, which says nothing about the archive.
fn is_fault_of_cache(error: &ImageError) -> bool {
    matches!(error, ImageError::Cache { .. } | ImageError::UnsafeCache { .. })
        || default_cache_dir().is_ok_and(|dir| is_noexec(&dir))
}

/// The cache, where it lacks the image of that name.
pub fn find_cache_without(name: &str) -> Option<PathBuf> {
    let (spec, dir) = (ImageSpec::find(name).ok()?, default_cache_dir().ok()?);
    let store = ImageStore::open(&dir).ok()?;
    store.load(&spec).is_none().then_some(dir)
}

/// The archive that was installed with this program, as the package `veriplay-image-python` does, in the `share` beside the program's `bin`.
///
/// Its native code is trusted as this program is, so who can change it must be who can change the program: it has the same owner, and no
/// wider rights.
pub fn installed_archive(spec: &ImageSpec) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let archive = program.parent()?.parent()?.join(INSTALLED).join(format!("{}.tar.zst", spec.name()));
    let found = fs::metadata(&archive).ok()?;
    let directory = fs::metadata(archive.parent()?).ok()?;
    let reference = fs::metadata(&program).ok()?;
    let trusted = found.is_file() && [found, directory].iter().all(|other| no_wider(other, &reference));
    if !trusted {
        let hint = "it must have the owner of the program, and be writable by nobody else";
        tracing::warn!(path = %archive.display(), hint, "an installed image is not trusted");
    }
    trusted.then_some(archive)
}

/// Whether nobody can write to `other` who cannot write to `program`.
fn no_wider(other: &Metadata, program: &Metadata) -> bool {
    let writers = |found: &Metadata| found.mode() & 0o022;
    (other.uid() == program.uid() || other.uid() == 0) && writers(other) & !writers(program) == 0
}

/// What to do where [`is_noexec`] holds.
pub const NOEXEC_HINT: &str =
    "mount it with `exec` (of a container: `--tmpfs /cache:exec`), or set VERIPLAY_CACHE to a directory elsewhere";

/// Whether the engine can load no code from `dir`, or from where it will be made, because that is mounted with `noexec`.
pub fn is_noexec(dir: &Path) -> bool {
    let found = dir.ancestors().find_map(|above| rustix::fs::statvfs(above).ok());
    found.is_some_and(|stat| stat.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

/// Describes the cache of which [`is_noexec`] holds.
pub fn describe_noexec(dir: &Path) -> String {
    format!("the cache `{}` is mounted with `noexec`: no image can be loaded from it", dir.display())
}

fn read_archive(spec: &ImageSpec, path: &Path) -> Result<ImageArchive, ImageError> {
    let damaged = |error: std::io::Error| ImageError::ArchiveDamaged { detail: error.to_string() };
    let file = File::open(path).map_err(damaged)?;
    ImageArchive::read(spec, &mut zstd::Decoder::new(file).map_err(damaged)?)
}

/// Runs a build, whose phases are shown. Nobody knows how far a phase is.
pub fn with_bar(
    spec: &ImageSpec,
    build: impl FnOnce(&dyn Fn(BuildPhase)) -> Result<Arc<Image>, ImageError>,
) -> Result<Arc<Image>, Failure> {
    progress::say(format!("building the image `{}`: once, at most about a minute on two cores", spec.name()));
    show_phases("image", build)
}

fn show_phases<T>(
    what: &'static str,
    build: impl FnOnce(&dyn Fn(BuildPhase)) -> Result<T, ImageError>,
) -> Result<T, Failure> {
    let bar = progress::phases(what);
    let report = |phase: BuildPhase| {
        bar.set_message(phase.describe());
        tracing::info!(phase = phase.describe(), what);
    };
    let built = build(&report).map_err(failure);
    bar.finish_and_clear();
    built
}

/// Gives an image error its exit code and hint.
pub fn failure(error: ImageError) -> Failure {
    let hint = error.hint();
    let code = match error {
        // A file that was given, or a place to write to.
        ImageError::ArchiveWrite { .. }
        | ImageError::ArchiveDamaged { .. }
        | ImageError::ArchiveMismatch { .. }
        | ImageError::ArchiveCpu { .. } => ExitCode::Input,
        _ => ExitCode::Image,
    };
    Failure::new(code, error).maybe_hint(hint)
}
