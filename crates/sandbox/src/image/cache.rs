//! Images on disk. A directory is checked as a whole before anything in it is trusted.
//!
//! An image has two directories in `<cache>/images/`: `<name>-code-<key>` (native code and library) and `<name>-<key>` (the snapshot). Each has
//! a `manifest.json` with size and blake3 digest of every other file, and a digest of itself: the snapshot's globals are in it. A directory is
//! built under another name and renamed when complete, so that readers see all of it or nothing. A file that does not match its manifest is
//! never loaded, nor is a manifest that does not match its digest.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, content_hash};
use wasmtime::{Engine, Module};

use super::{CompiledGuest, ImageError};
use crate::exports::{GlobalState, GuestSnapshot};

pub(super) const MODULE: &str = "module.cwasm";
pub(super) const LIBRARY: &str = "library.zip";
pub(super) const MEMORY: &str = "memory.bin";
const MANIFEST: &str = "manifest.json";
/// Prefix of the names of incomplete directories.
const STAGING: &str = "building-";
const LAYOUT: u32 = 2;
/// Hexadecimal digits of a key.
pub(super) const KEY_DIGITS: usize = 24;

/// All that is read of a manifest before its version is known.
#[derive(Debug, Deserialize)]
struct ManifestVersion {
    layout: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestFile {
    layout: u32,
    /// Digest of the rest. A changed digit of the state would change every job, without any sign of it.
    blake3: Digest,
    manifest: CacheManifest,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheManifest {
    key: String,
    files: Vec<ManifestEntry>,
    /// The part of a snapshot that is not memory.
    state: Option<GlobalState>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestEntry {
    pub(super) name: String,
    pub(super) bytes: u64,
    blake3: String,
}

/// Turns an IO error into one that names the path and what was tried.
pub(crate) fn cache_error(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> ImageError {
    let path = path.to_owned();
    move |cause| ImageError::Cache { path, action, cause }
}

/// Creates the directory `path` and checks that only this user can write to it.
pub(crate) fn create_private_dir(path: &Path) -> Result<(), ImageError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(cache_error(path, "create it"))?;
    let found = fs::metadata(path).map_err(cache_error(path, "look at it"))?;
    // SAFETY: geteuid takes nothing, touches no memory and cannot fail.
    let user = unsafe { libc::geteuid() };
    if found.uid() != user || found.mode() & 0o022 != 0 {
        return Err(ImageError::UnsafeCache { path: path.to_owned() });
    }
    Ok(())
}

/// Reads compiled code. An error says why it cannot be used: it is missing, incomplete, or of another engine.
pub(crate) fn read_code(dir: &Path, key: &str, engine: &Engine) -> Result<CompiledGuest, String> {
    let manifest = read_manifest(dir, key)?;
    // Hashing takes most of a load: the two files in two threads.
    let (module, library) = std::thread::scope(|scope| {
        let library = scope.spawn(|| manifest.read_file(dir, LIBRARY));
        let module = manifest.open_checked(dir, MODULE);
        (module, library.join().unwrap_or_else(|_| Err("a thread that checks the cache panicked".to_owned())))
    });
    Ok(CompiledGuest { module: load_module(engine, module?)?, library: Arc::new(library?) })
}

/// Reads the two files of compiled code, without loading them.
pub(super) fn read_code_files(dir: &Path, key: &str) -> Result<(Vec<u8>, Vec<u8>), String> {
    let manifest = read_manifest(dir, key)?;
    Ok((manifest.read_file(dir, MODULE)?, manifest.read_file(dir, LIBRARY)?))
}

pub(crate) fn read_snapshot(dir: &Path, key: &str) -> Result<GuestSnapshot, String> {
    let manifest = read_manifest(dir, key)?;
    let memory = manifest.read_file(dir, MEMORY)?;
    let state = manifest.state.ok_or("its manifest holds no state")?;
    Ok(GuestSnapshot { memory, state })
}

fn read_manifest(dir: &Path, key: &str) -> Result<CacheManifest, String> {
    create_private_dir(dir.parent().unwrap_or(dir)).map_err(|error| error.to_string())?;
    open_manifest(dir, key)
}

/// Opens the manifest in `dir`, which must be whole and of the image with this key.
fn open_manifest(dir: &Path, key: &str) -> Result<CacheManifest, String> {
    let text = fs::read(dir.join(MANIFEST)).map_err(|error| format!("no manifest: {error}"))?;
    let manifest = CacheManifest::open(&text)?;
    if manifest.key == key { Ok(manifest) } else { Err("its manifest is another image's".to_owned()) }
}

impl CacheManifest {
    /// Reads a manifest from the text of its file.
    fn open(text: &[u8]) -> Result<Self, String> {
        let unreadable = |error: serde_json::Error| format!("its manifest: {error}");
        let ManifestVersion { layout } = serde_json::from_slice(text).map_err(unreadable)?;
        if layout != LAYOUT {
            return Err(format!("its manifest has layout {layout}, and this version reads {LAYOUT}"));
        }
        let ManifestFile { blake3, manifest, .. } = serde_json::from_slice(text).map_err(unreadable)?;
        if content_hash(&manifest) != blake3 {
            return Err("its manifest is changed".to_owned());
        }
        manifest.check_names()
    }

    fn seal(self) -> Vec<u8> {
        let file = ManifestFile { layout: LAYOUT, blake3: content_hash(&self), manifest: self };
        serde_json::to_vec_pretty(&file).expect("a manifest has string keys only")
    }

    /// A manifest may only name files of an image beside it, because these are opened and read.
    fn check_names(self) -> Result<Self, String> {
        match self.files.iter().find(|entry| ![MODULE, LIBRARY, MEMORY].contains(&entry.name.as_str())) {
            Some(entry) => Err(format!("its manifest names `{}`, which is no file of an image", entry.name)),
            None => Ok(self),
        }
    }

    fn open_entry(&self, dir: &Path, name: &str) -> Result<(&ManifestEntry, File), String> {
        let entry = self.files.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| format!("its manifest does not name `{name}`"))?;
        let file = File::open(dir.join(name)).map_err(|error| format!("cannot open `{name}`: {error}"))?;
        Ok((entry, file))
    }

    fn read_file(&self, dir: &Path, name: &str) -> Result<Vec<u8>, String> {
        let (entry, mut file) = self.open_entry(dir, name)?;
        let mut bytes = Vec::with_capacity(file.metadata().map_or(0, |meta| meta.len() as usize));
        file.read_to_end(&mut bytes).map_err(|error| format!("cannot read `{name}`: {error}"))?;
        entry.check(bytes.len() as u64, &blake3::hash(&bytes))?;
        Ok(bytes)
    }

    fn open_checked(&self, dir: &Path, name: &str) -> Result<File, String> {
        let (entry, mut file) = self.open_entry(dir, name)?;
        let mut hasher = blake3::Hasher::new();
        let read = io::copy(&mut file, &mut hasher).map_err(|error| format!("cannot read `{name}`: {error}"))?;
        entry.check(read, &hasher.finalize())?;
        Ok(file)
    }
}

impl ManifestEntry {
    pub(super) fn of(name: &str, bytes: &[u8]) -> Self {
        let blake3 = blake3::hash(bytes).to_hex().to_string();
        Self { name: name.to_owned(), bytes: bytes.len() as u64, blake3 }
    }

    pub(super) fn check(&self, bytes: u64, digest: &blake3::Hash) -> Result<(), String> {
        if bytes == self.bytes && digest.to_hex().as_str() == self.blake3 {
            Ok(())
        } else {
            Err(format!("`{}` is truncated or changed", self.name))
        }
    }
}

fn load_module(engine: &Engine, file: File) -> Result<Module, String> {
    // SAFETY: the file is what this program serialised, here or where an archive was exported that this user chose to import: its
    // digest is that of the manifest, both lie in a directory only this user can write, and the descriptor that was hashed is the
    // one that is mapped. Who can change it meanwhile is this user, who can change the program as well. The engine refuses code of
    // another version or configuration.
    unsafe { Module::deserialize_open_file(engine, file) }.map_err(|error| format!("{error:#}"))
}

/// Loads native code of an archive that is in no file.
pub(super) fn load_module_in_memory(engine: &Engine, native: &[u8]) -> Result<Module, String> {
    // SAFETY: these bytes have the digests of an archive that this user chose to trust, as in `load_module`, and they are copied, so that
    // nobody changes them. The engine refuses code of another version or configuration.
    unsafe { Module::deserialize(engine, native) }.map_err(|error| format!("{error:#}"))
}

pub(crate) fn write_code(dir: &Path, key: &str, code: &CompiledGuest) -> Result<(), ImageError> {
    let native = code.module.serialize().map_err(|error| ImageError::Host(format!("{error:#}")))?;
    StagedDir::write(dir, key, &[(MODULE, &native), (LIBRARY, &code.library)], None)?.put_in_place()
}

pub(crate) fn write_snapshot(dir: &Path, key: &str, snapshot: &GuestSnapshot) -> Result<(), ImageError> {
    StagedDir::write(dir, key, &[(MEMORY, &snapshot.memory)], Some(snapshot.state.clone()))?.put_in_place()
}

/// A directory of an image beside its place. Dropped, it is removed.
pub(super) struct StagedDir {
    staging: tempfile::TempDir,
    place: PathBuf,
}

impl StagedDir {
    /// Writes files and their manifest, for the place `dir`.
    pub(super) fn write(
        dir: &Path,
        key: &str,
        contents: &[(&str, &[u8])],
        state: Option<GlobalState>,
    ) -> Result<Self, ImageError> {
        let parent = dir.parent().unwrap_or(dir);
        let staging = tempfile::Builder::new()
            .prefix(STAGING)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent)
            .map_err(cache_error(parent, "make a directory in it"))?;
        let mut files = Vec::new();
        for (name, bytes) in contents {
            write_file(&staging.path().join(name), bytes)?;
            files.push(ManifestEntry::of(name, bytes));
        }
        let manifest = CacheManifest { key: key.to_owned(), files, state };
        write_file(&staging.path().join(MANIFEST), &manifest.seal())?;
        sync_dir(staging.path())?;
        Ok(Self { staging, place: dir.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        self.staging.path()
    }

    /// Gives the directory its name, replacing what is there. Call with the lock held.
    pub(super) fn put_in_place(self) -> Result<(), ImageError> {
        let parent = self.place.parent().unwrap_or(&self.place);
        replace_dir(&self.staging.keep(), &self.place, parent)
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), ImageError> {
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(cache_error(path, "write it"))
}

fn sync_dir(path: &Path) -> Result<(), ImageError> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(cache_error(path, "flush it"))
}

fn replace_dir(staging: &Path, dir: &Path, parent: &Path) -> Result<(), ImageError> {
    let swap = || -> io::Result<()> {
        // The lock is held, so an existing directory is a broken image that nobody waits for.
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(staging, dir)
    };
    if let Err(error) = swap() {
        // The error that counts is the swap's. The next `remove_stale_builds` finds the rest.
        let _ = fs::remove_dir_all(staging);
        return Err(cache_error(dir, "put the image in place")(error));
    }
    sync_dir(parent)
}

/// The lock of builders in a cache directory. It is released when dropped, and by the system when the process dies.
pub(crate) struct Lock(#[expect(dead_code, reason = "held for its lock")] File);

impl Lock {
    /// Takes the lock, calling `waiting` first when another process holds it.
    pub(crate) fn take(dir: &Path, waiting: impl FnOnce()) -> Result<Self, ImageError> {
        let path = dir.join("lock");
        let open = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        let file = open.map_err(cache_error(&path, "open the lock"))?;
        match file.try_lock() {
            Ok(()) => return Ok(Self(file)),
            Err(fs::TryLockError::WouldBlock) => waiting(),
            Err(fs::TryLockError::Error(error)) => return Err(cache_error(&path, "lock it")(error)),
        }
        file.lock().map_err(cache_error(&path, "lock it"))?;
        Ok(Self(file))
    }
}

/// Removes the directories of builds that died. Call with the lock held.
pub(crate) fn remove_stale_builds(dir: &Path) {
    let stale = fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in stale.filter(|entry| entry.file_name().to_string_lossy().starts_with(STAGING)) {
        if let Err(error) = fs::remove_dir_all(entry.path()) {
            tracing::debug!(path = %entry.path().display(), %error, "cannot remove a stale build directory");
        }
    }
}

/// The key in the name of an image's directory; `None` of any other name.
fn key_of(dir: &Path) -> Option<&str> {
    let (_, key) = dir.file_name()?.to_str()?.rsplit_once('-')?;
    (key.len() == KEY_DIGITS && key.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(key)
}

/// Lists the directories of images in `dir`, those without a manifest too.
pub(crate) fn list_images(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && key_of(path).is_some())
        .collect();
    found.sort();
    found
}

/// Checks every byte of the image in `dir` without loading it; returns its size in bytes.
pub(crate) fn check_image(dir: &Path) -> Result<u64, String> {
    let manifest = open_manifest(dir, key_of(dir).unwrap_or_default())?;
    for entry in &manifest.files {
        manifest.open_checked(dir, &entry.name)?;
    }
    Ok(manifest.files.iter().map(|entry| entry.bytes).sum())
}

/// For fuzzing: reads `text` as the file of a manifest, and as a manifest whose digest is right, and checks `content` against that.
#[cfg(feature = "fuzzing")]
pub(crate) fn read_any_manifest(text: &[u8], content: &[u8]) {
    let _ = CacheManifest::open(text);
    let Ok(manifest) = serde_json::from_slice::<CacheManifest>(text) else { return };
    let Ok(manifest) = manifest.check_names() else { return };
    let (bytes, digest) = (content.len() as u64, blake3::hash(content));
    for entry in &manifest.files {
        assert!(!entry.name.contains('/'), "a manifest names `{}`", entry.name);
        let whole = entry.bytes == bytes && entry.blake3 == digest.to_hex().as_str();
        assert_eq!(entry.check(bytes, &digest).is_ok(), whole);
    }
    let hash = content_hash(&manifest);
    let again = CacheManifest::open(&manifest.seal()).expect("a manifest that was read can be read again");
    assert_eq!(content_hash(&again), hash, "a manifest reads differently the second time");
}
