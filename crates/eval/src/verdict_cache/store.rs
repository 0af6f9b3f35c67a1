//! The file of a verdict cache, a database of SQLite: entries by key, and when each was last used.
//!
//! Invariants: a batch of changes is stored completely or not at all; after each batch the entries are below the bound, the least
//! recently used having been removed; an entry is returned only as it was stored, under its own key. Use is counted, not timed: a
//! count needs no clock and has no ties.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, params};
use veriplay_core::{Digest, Verdict};

/// An entry is the digest of key and verdict in 64 digits, then the verdict as JSON. The index answers for the order of use and
/// for the sum of bytes without reading entries.
///
/// One process has the file, so locks are taken once. What is committed survives a kill of the process; a power failure may cost the
/// last batches.
const SCHEMA: &str = "
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA journal_mode = TRUNCATE;
    PRAGMA synchronous = NORMAL;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA cache_size = -32768;
    CREATE TABLE IF NOT EXISTS verdicts
        (key BLOB PRIMARY KEY, used INTEGER NOT NULL, bytes INTEGER NOT NULL, entry BLOB NOT NULL) STRICT;
    CREATE INDEX IF NOT EXISTS order_of_use ON verdicts (used, bytes);
";

/// The accounted overhead of an entry: its key twice, its use twice, and a share of the pages.
const OVERHEAD: u64 = 256;
const DIGITS: usize = 64;

/// Why a store cannot be used.
#[derive(Debug)]
pub(super) enum StoreError {
    /// The file contains something that was never written to it.
    NotWhole(String),
    /// Something else: the disk is full, or the file cannot be opened.
    Fault(String),
}

impl std::error::Error for StoreError {}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::NotWhole(why) => write!(f, "its file is not whole: {why}"),
            StoreError::Fault(why) => f.write_str(why),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        match error.sqlite_error_code() {
            Some(
                ErrorCode::CannotOpen
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OutOfMemory
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure,
            ) => StoreError::Fault(text),
            // All else the statements below meet on a damaged file alone, a column or table that is missing among it. A file
            // is also read-only where its header names a later version of the format.
            _ => StoreError::NotWhole(text),
        }
    }
}

fn not_whole(what: &str) -> StoreError {
    StoreError::NotWhole(what.to_owned())
}

/// One change to store.
#[derive(Debug)]
pub(super) enum CacheChange {
    /// A new verdict. One that is there already stays, and counts as used.
    Put(Box<Verdict>),
    /// A verdict was read.
    Used,
}

/// The open file.
pub(super) struct Store {
    file: Mutex<StoreFile>,
    max_bytes: u64,
}

struct StoreFile {
    connection: Connection,
    totals: Totals,
}

/// What is known of all entries.
#[derive(Debug, Clone, Copy)]
struct Totals {
    /// The accounted size.
    bytes: u64,
    /// The last use.
    uses: u64,
}

impl Store {
    /// Opens `path`, or makes it. After a kill the library takes back a batch that was not wholly stored.
    pub(super) fn open(path: &Path, max_bytes: u64) -> Result<Self, StoreError> {
        let connection = Connection::open(path)?;
        connection.execute_batch(SCHEMA)?;
        let totals = Totals::read(&connection)?;
        Ok(Self { file: Mutex::new(StoreFile { connection, totals }), max_bytes })
    }

    fn file(&self) -> MutexGuard<'_, StoreFile> {
        // A transaction that a panic ends is rolled back, and the totals change only behind a whole one.
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The verdict of that name.
    pub(super) fn get(&self, key: &Digest) -> Result<Option<Verdict>, StoreError> {
        find_entry(&self.file().connection, key)?.map(|entry| unseal_entry(key, &entry)).transpose()
    }

    /// Stores all of `changes`, in their order, or none.
    pub(super) fn apply(&self, changes: &[(Digest, CacheChange)]) -> Result<(), StoreError> {
        let mut file = self.file();
        let StoreFile { connection, totals } = &mut *file;
        let mut batch = Batch { transaction: connection.transaction()?, totals: *totals };
        for (key, change) in changes {
            match change {
                CacheChange::Used => batch.touch(key).map(drop)?,
                CacheChange::Put(verdict) => batch.put(key, verdict, self.max_bytes)?,
            }
        }
        batch.shrink_to(self.max_bytes)?;
        batch.transaction.commit()?;
        *totals = batch.totals;
        Ok(())
    }

    /// The accounted size of the entries: as kept, and as computed.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> Result<(u64, u64), StoreError> {
        let file = self.file();
        let mut statement = file.connection.prepare("SELECT entry FROM verdicts")?;
        let entries = statement.query_map([], |row| row.get::<_, Vec<u8>>(0))?;
        let found = entries.map(|entry| entry.map(|entry| weight(&entry))).sum::<Result<u64, _>>()?;
        Ok((file.totals.bytes, found))
    }

    /// An entry as it is stored.
    #[cfg(test)]
    pub(super) fn entry(&self, key: &Digest) -> Result<Vec<u8>, StoreError> {
        find_entry(&self.file().connection, key)?.ok_or_else(|| not_whole("there is no such entry"))
    }

    /// Stores an entry as no run does.
    #[cfg(test)]
    pub(super) fn set_entry(&self, key: &Digest, entry: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO verdicts (key, used, bytes, entry) VALUES (?1, 1, 1, ?2)";
        self.file().connection.execute(sql, params![key_bytes(key), entry])?;
        Ok(())
    }
}

/// Keys are stored as bytes, which no setting of the file makes another encoding of.
fn key_bytes(key: &Digest) -> &[u8] {
    key.as_str().as_bytes()
}

fn find_entry(connection: &Connection, key: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT entry FROM verdicts WHERE key = ?1")?;
    Ok(statement.query_row([key_bytes(key)], |row| row.get(0)).optional()?)
}

fn seal_entry(key: &Digest, verdict: &Verdict) -> Result<Vec<u8>, StoreError> {
    let json = serde_json::to_vec(verdict).map_err(|error| StoreError::Fault(error.to_string()))?;
    Ok([seal(key, &json).as_str().as_bytes(), &json].concat())
}

fn unseal_entry(key: &Digest, entry: &[u8]) -> Result<Verdict, StoreError> {
    let damaged = || not_whole("an entry is not as it was stored");
    let (digits, json) = entry.split_at_checked(DIGITS).ok_or_else(damaged)?;
    if digits != seal(key, json).as_str().as_bytes() {
        return Err(damaged());
    }
    serde_json::from_slice(json).map_err(|_| damaged())
}

/// Includes the key, so that a verdict under a wrong key is detected.
fn seal(key: &Digest, json: &[u8]) -> Digest {
    Digest::of(&[key.as_str().as_bytes(), json].concat())
}

const fn weight(entry: &[u8]) -> u64 {
    entry.len() as u64 + OVERHEAD
}

impl Totals {
    fn read(connection: &Connection) -> Result<Self, StoreError> {
        let sql = "SELECT coalesce(sum(bytes), 0), coalesce(max(used), 0) FROM verdicts";
        Ok(connection.query_row(sql, [], |row| Ok(Self { bytes: row.get(0)?, uses: row.get(1)? }))?)
    }
}

/// Changes that are being stored.
struct Batch<'c> {
    transaction: Transaction<'c>,
    totals: Totals,
}

impl Batch<'_> {
    fn next_use(&mut self) -> Result<u64, StoreError> {
        let last = i64::MAX.unsigned_abs();
        self.totals.uses = Some(self.totals.uses)
            .filter(|&uses| uses < last)
            .ok_or_else(|| not_whole("its count of uses is at its end"))?
            + 1;
        Ok(self.totals.uses)
    }

    /// Makes the entry the last one used. False when there is none.
    fn touch(&mut self, key: &Digest) -> Result<bool, StoreError> {
        let now = self.next_use()?;
        let mut statement = self.transaction.prepare_cached("UPDATE verdicts SET used = ?2 WHERE key = ?1")?;
        Ok(statement.execute(params![key_bytes(key), now])? > 0)
    }

    fn put(&mut self, key: &Digest, verdict: &Verdict, max_bytes: u64) -> Result<(), StoreError> {
        let entry = seal_entry(key, verdict)?;
        let bytes = weight(&entry);
        // One that is larger than all may be would drive out the rest, and then itself.
        if bytes > max_bytes || self.touch(key)? {
            return Ok(());
        }
        let sql = "INSERT INTO verdicts (key, used, bytes, entry) VALUES (?1, ?2, ?3, ?4)";
        self.transaction.prepare_cached(sql)?.execute(params![key_bytes(key), self.totals.uses, bytes, entry])?;
        self.totals.bytes = self.totals.bytes.saturating_add(bytes);
        Ok(())
    }

    /// Removes the least recently used entries until the rest is within `max_bytes`.
    fn shrink_to(&mut self, max_bytes: u64) -> Result<(), StoreError> {
        let sql = "DELETE FROM verdicts WHERE used = (SELECT min(used) FROM verdicts) RETURNING bytes";
        let mut statement = self.transaction.prepare_cached(sql)?;
        while self.totals.bytes > max_bytes {
            let gone: Option<u64> = statement.query_row([], |row| row.get(0)).optional()?;
            let rest = gone.and_then(|gone| self.totals.bytes.checked_sub(gone));
            self.totals.bytes = rest.ok_or_else(|| not_whole("it counts an entry that is not there"))?;
        }
        Ok(())
    }
}
