//! Verdicts kept on disk between runs, so that no attempt is judged twice.
//!
//! A verdict is a pure function of the inputs that its key digests, so it stays valid indefinitely. The cache is optional: any
//! fault of it is reported once, and the work continues without it. Invariants:
//! - an entry's key digests the attempt, its task, the image, limits, seed, early stop, and this binary, so a change of any
//!   rule changes the key; an entry is used only if it is complete and was stored under that key;
//! - only reproducible verdicts are stored: callers leave out dropped attempts and those that met the deadline;
//! - one process has a cache at a time; others continue without it. A process killed at any point loses at most what it
//!   had not yet stored;
//! - the entries stay below a number of bytes: the least recently used are removed first.
//!
//! The digest of an entry guards against accidents. Anyone with write access to the folder can plant verdicts, so a
//! folder that other users may write to is not used.

mod store;
#[cfg(test)]
mod tests;

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use veriplay_core::{Digest, Verdict, content_hash};

use store::{CacheChange, Store, StoreError};
use veriplay_console::progress;

/// Name of the folder in the user's cache directory.
pub const FOLDER: &str = "verdicts";
/// The largest size of keys and verdicts in bytes: some hundred thousand verdicts.
pub const MAX_BYTES: u64 = 256 << 20;

const FILE: &str = "verdicts.sqlite";
/// A damaged file, kept for inspection. The next one replaces it.
const SET_ASIDE: &str = "verdicts.sqlite.bad";
/// What the library needs to take a batch back. It belongs to one file and must not outlive it.
const JOURNAL: &str = "verdicts.sqlite-journal";
/// Held as long as the cache is open, whatever becomes of the file.
const LOCK: &str = "lock";

/// Changes that are stored at once: a commit waits for the disk.
const BATCH: usize = 1024;
/// Changes wait no longer for the next ones, so that little is lost where verdicts are slow.
const PATIENCE: Duration = Duration::from_secs(2);

/// The cache, or none. It may be used from many threads at once.
pub struct VerdictCache {
    open: Option<OpenCache>,
}

struct OpenCache {
    dir: PathBuf,
    rules: Digest,
    store: Store,
    /// Something went wrong: nothing is read or stored any more.
    off: AtomicBool,
    pending: Mutex<PendingChanges>,
    /// Declared behind the store: it is released when that is closed.
    _lock: File,
}

/// Changes that are not stored yet.
struct PendingChanges {
    changes: Vec<(Digest, CacheChange)>,
    since: Instant,
}

impl VerdictCache {
    /// A cache that knows nothing and keeps nothing.
    pub const fn none() -> Self {
        Self { open: None }
    }

    /// The cache in `dir`, for this binary. Where it cannot be opened, that is reported, and [`VerdictCache::none`] takes its place.
    pub fn open(dir: &Path) -> Self {
        Self::or_none(hash_this_binary().and_then(|rules| OpenCache::new(dir, rules, MAX_BYTES)))
    }

    fn or_none(opened: anyhow::Result<OpenCache>) -> Self {
        let say = |error: &anyhow::Error| progress::say(format!("warning: verdicts are not cached: {error:#}"));
        Self { open: opened.inspect_err(say).ok() }
    }

    /// The verdict of `judged`, which has everything it depends on except the rules of this binary.
    pub fn get(&self, judged: &Digest) -> Option<Verdict> {
        let open = self.open.as_ref()?;
        let key = open.key(judged);
        let verdict = open.with_store(|store| store.get(&key))??;
        open.note(key, CacheChange::Used);
        Some(verdict)
    }

    /// Keeps `verdict` for later runs. It must be one that a repetition would give again.
    pub fn put(&self, judged: &Digest, verdict: &Verdict) {
        if let Some(open) = &self.open {
            open.note(open.key(judged), CacheChange::Put(Box::new(verdict.clone())));
        }
    }

    /// Stores the pending changes.
    pub fn flush(&self) {
        if let Some(open) = &self.open {
            let changes = std::mem::take(&mut open.pending().changes);
            open.store(changes);
        }
    }
}

impl OpenCache {
    fn new(dir: &Path, rules: Digest, max_bytes: u64) -> anyhow::Result<Self> {
        make_private_dir(dir)?;
        let lock = lock_dir(dir)?;
        let path = dir.join(FILE);
        let store = match Store::open(&path, max_bytes) {
            Err(StoreError::NotWhole(why)) => {
                set_aside(dir, &why)?;
                Store::open(&path, max_bytes)
            }
            opened => opened,
        };
        let store = store.with_context(|| format!("cannot use `{}`", path.display()))?;
        let pending = Mutex::new(PendingChanges { changes: Vec::new(), since: Instant::now() });
        Ok(Self { dir: dir.to_owned(), rules, store, off: AtomicBool::new(false), pending, _lock: lock })
    }

    /// Another binary may judge by other rules, so its verdicts have other names.
    fn key(&self, judged: &Digest) -> Digest {
        content_hash(&("verdict", &self.rules, judged))
    }

    fn pending(&self) -> MutexGuard<'_, PendingChanges> {
        // A list is consistent between any two statements, so it stays usable after another thread's panic.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, key: Digest, change: CacheChange) {
        let mut pending = self.pending();
        pending.changes.push((key, change));
        if pending.changes.len() < BATCH && pending.since.elapsed() < PATIENCE {
            return;
        }
        pending.since = Instant::now();
        let changes = std::mem::take(&mut pending.changes);
        // The other threads go on while this one waits for the disk.
        drop(pending);
        self.store(changes);
    }

    fn store(&self, changes: Vec<(Digest, CacheChange)>) {
        if !changes.is_empty() {
            self.with_store(|store| store.apply(&changes));
        }
    }

    /// Runs `action` on the store. After the first failure nothing more is done.
    fn with_store<T>(&self, action: impl FnOnce(&Store) -> Result<T, StoreError>) -> Option<T> {
        if self.off.load(Ordering::Acquire) {
            return None;
        }
        action(&self.store).inspect_err(|error| self.give_up(error)).ok()
    }

    fn give_up(&self, error: &StoreError) {
        if self.off.swap(true, Ordering::AcqRel) {
            return;
        }
        let handled = match error {
            StoreError::NotWhole(why) => set_aside(&self.dir, why),
            StoreError::Fault(_) => Ok(()),
        };
        let error = handled.err().map_or_else(|| error.to_string(), |error| format!("{error:#}"));
        progress::say(format!("warning: this run continues without the verdict cache: {error}"));
    }
}

impl Drop for OpenCache {
    fn drop(&mut self) {
        let changes = std::mem::take(&mut self.pending().changes);
        self.store(changes);
    }
}

/// A digest of the rules that this binary judges by. It covers the whole binary, because a verdict depends on the judges, the
/// decoder, the sandbox and the engine, and a version number could be forgotten.
fn hash_this_binary() -> anyhow::Result<Digest> {
    let path = std::env::current_exe().context("this program does not find itself")?;
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(Digest::of(&bytes))
}

fn make_private_dir(dir: &Path) -> anyhow::Result<()> {
    let what = || format!("cannot use the folder `{}`", dir.display());
    DirBuilder::new().recursive(true).mode(0o700).create(dir).with_context(what)?;
    let mode = std::fs::metadata(dir).with_context(what)?.permissions().mode();
    if mode & 0o022 != 0 {
        bail!(
            "other users may write to `{}`; take that right away, or name another folder by `--cache`",
            dir.display()
        );
    }
    Ok(())
}

fn lock_dir(dir: &Path) -> anyhow::Result<File> {
    let path = dir.join(LOCK);
    let what = || format!("cannot lock `{}`", path.display());
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).with_context(what)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("another process has `{}`", dir.display()),
        Err(TryLockError::Error(error)) => Err(error).with_context(what),
    }
}

/// Moves the file aside. Its verdicts are computed again.
fn set_aside(dir: &Path, why: &str) -> anyhow::Result<()> {
    let (from, to) = (dir.join(FILE), dir.join(SET_ASIDE));
    let what = || format!("cannot move the damaged `{}` aside", from.display());
    std::fs::rename(&from, &to).with_context(what)?;
    match std::fs::remove_file(dir.join(JOURNAL)) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error).with_context(what),
        _ => {}
    }
    let (from, to) = (from.display(), to.display());
    progress::say(format!("warning: `{from}` is damaged ({why}): it is now `{to}`, and verdicts are computed again"));
    Ok(())
}
