//! The file of a verdict cache: entries by key, and the order in which they were last used.
//!
//! Invariants: a batch of changes is stored completely or not at all; after each batch the entries are below the bound, the least
//! recently used having been removed; an entry is returned only as it was stored, under its own key. Use is counted, not timed: a
//! count needs no clock and has no ties.

use std::io::ErrorKind;
use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable, Table, TableDefinition, TableError, WriteTransaction};
use veriplay_core::{Digest, Verdict};

/// Digest of name and verdict in 64 digits, then the verdict as JSON.
const VERDICTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("verdicts");
/// When each entry was last used.
const USED: TableDefinition<'_, &str, u64> = TableDefinition::new("used");
/// The entries in that order.
const ORDER: TableDefinition<'_, u64, &str> = TableDefinition::new("order");
const COUNTS: TableDefinition<'_, &str, u64> = TableDefinition::new("counts");
/// Uses so far.
const USES: &str = "uses";
/// The accounted size of all entries.
const BYTES: &str = "bytes";

/// The accounted overhead of an entry: its key three times, its use twice, and a share of the pages.
const OVERHEAD: u64 = 256;
const DIGITS: usize = 64;
/// Memory for pages: the library's own default is a gigabyte.
const PAGE_CACHE: usize = 32 << 20;

/// Why a store cannot be used.
#[derive(Debug)]
pub(super) enum StoreError {
    /// The file contains something that was never written to it.
    NotWhole(String),
    /// Something else: the disk is full, or may not be written to.
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

impl<E: Into<redb::Error>> From<E> for StoreError {
    fn from(error: E) -> Self {
        let error = error.into();
        let text = error.to_string();
        match error {
            redb::Error::Corrupted(_)
            | redb::Error::RepairAborted
            | redb::Error::UpgradeRequired(_)
            | redb::Error::TableTypeMismatch { .. }
            | redb::Error::TableIsMultimap(_)
            | redb::Error::TypeDefinitionChanged { .. }
            | redb::Error::TableDoesNotExist(_)
            | redb::Error::TransactionPoisoned => StoreError::NotWhole(text),
            redb::Error::Io(io) if matches!(io.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => {
                StoreError::NotWhole(text)
            }
            _ => StoreError::Fault(text),
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
    database: Database,
    max_bytes: u64,
}

impl Store {
    /// Opens `path`, or makes it. After a kill the library puts the last whole commit back.
    pub(super) fn open(path: &Path, max_bytes: u64) -> Result<Self, StoreError> {
        let database = Database::builder().set_cache_size(PAGE_CACHE).create(path)?;
        let made = database.begin_read()?.open_table(VERDICTS).map(drop);
        match made {
            Err(TableError::TableDoesNotExist(_)) => {
                let write = database.begin_write()?;
                StoreTables::open(&write)?;
                write.commit()?;
            }
            made => made?,
        }
        Ok(Self { database, max_bytes })
    }

    /// The verdict of that name.
    pub(super) fn get(&self, key: &Digest) -> Result<Option<Verdict>, StoreError> {
        let table = self.database.begin_read()?.open_table(VERDICTS)?;
        let found = table.get(key.as_str())?;
        found.map(|entry| unseal_entry(key, entry.value())).transpose()
    }

    /// Stores all of `changes`, in their order, or none.
    pub(super) fn apply(&self, changes: &[(Digest, CacheChange)]) -> Result<(), StoreError> {
        let write = self.database.begin_write()?;
        {
            let mut tables = StoreTables::open(&write)?;
            for (key, change) in changes {
                match change {
                    CacheChange::Used => tables.touch(key.as_str()).map(drop)?,
                    CacheChange::Put(verdict) => tables.put(key, verdict, self.max_bytes)?,
                }
            }
            tables.shrink_to(self.max_bytes)?;
        }
        write.commit()?;
        Ok(())
    }

    /// The accounted size of the entries: as recorded, and as computed.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> Result<(u64, u64), StoreError> {
        let read = self.database.begin_read()?;
        let recorded = read.open_table(COUNTS)?.get(BYTES)?.map_or(0, |bytes| bytes.value());
        let mut found = 0;
        for entry in read.open_table(VERDICTS)?.iter()? {
            found += weight(entry?.1.value());
        }
        Ok((recorded, found))
    }

    /// An entry as it is stored.
    #[cfg(test)]
    pub(super) fn entry(&self, key: &Digest) -> Result<Vec<u8>, StoreError> {
        let table = self.database.begin_read()?.open_table(VERDICTS)?;
        let entry = table.get(key.as_str())?.ok_or_else(|| not_whole("there is no such entry"))?;
        Ok(entry.value().to_vec())
    }

    /// Stores an entry as no run does.
    #[cfg(test)]
    pub(super) fn set_entry(&self, key: &Digest, entry: &[u8]) -> Result<(), StoreError> {
        let write = self.database.begin_write()?;
        write.open_table(VERDICTS)?.insert(key.as_str(), entry)?;
        write.commit()?;
        Ok(())
    }
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

/// The tables of one write.
struct StoreTables<'t> {
    verdicts: Table<'t, &'static str, &'static [u8]>,
    used: Table<'t, &'static str, u64>,
    order: Table<'t, u64, &'static str>,
    counts: Table<'t, &'static str, u64>,
}

impl<'t> StoreTables<'t> {
    fn open(write: &'t WriteTransaction) -> Result<Self, StoreError> {
        Ok(Self {
            verdicts: write.open_table(VERDICTS)?,
            used: write.open_table(USED)?,
            order: write.open_table(ORDER)?,
            counts: write.open_table(COUNTS)?,
        })
    }

    fn count(&self, name: &str) -> Result<u64, StoreError> {
        Ok(self.counts.get(name)?.map_or(0, |count| count.value()))
    }

    /// Makes the entry the last one used. False when there is none.
    fn touch(&mut self, key: &str) -> Result<bool, StoreError> {
        let there = self.verdicts.get(key)?.is_some();
        let before = self.used.get(key)?.map(|used| used.value());
        let Some(before) = before.filter(|_| there) else {
            let agreed = there == before.is_some();
            return if agreed { Ok(false) } else { Err(not_whole("its tables do not agree on an entry")) };
        };
        self.order.remove(before)?.ok_or_else(|| not_whole("an entry stands nowhere in the order of use"))?;
        self.stamp(key)?;
        Ok(true)
    }

    fn stamp(&mut self, key: &str) -> Result<(), StoreError> {
        let now = self.count(USES)?.checked_add(1).ok_or_else(|| not_whole("its count of uses is at its end"))?;
        self.counts.insert(USES, now)?;
        self.used.insert(key, now)?;
        self.order.insert(now, key)?;
        Ok(())
    }

    fn put(&mut self, key: &Digest, verdict: &Verdict, max_bytes: u64) -> Result<(), StoreError> {
        let entry = seal_entry(key, verdict)?;
        // One that is larger than all may be would drive out the rest, and then itself.
        if weight(&entry) > max_bytes || self.touch(key.as_str())? {
            return Ok(());
        }
        self.verdicts.insert(key.as_str(), entry.as_slice())?;
        self.stamp(key.as_str())?;
        let bytes = self.count(BYTES)?.saturating_add(weight(&entry));
        self.counts.insert(BYTES, bytes)?;
        Ok(())
    }

    /// Removes the least recently used entries until the rest is within `max_bytes`.
    fn shrink_to(&mut self, max_bytes: u64) -> Result<(), StoreError> {
        let mut bytes = self.count(BYTES)?;
        let before = bytes;
        while bytes > max_bytes {
            let oldest = self.order.pop_first()?.map(|(_, key)| key.value().to_owned());
            let key = oldest.ok_or_else(|| not_whole("it counts entries that are not there"))?;
            self.used.remove(key.as_str())?;
            let gone = self.verdicts.remove(key.as_str())?.map(|entry| weight(entry.value()));
            let rest = gone.and_then(|gone| bytes.checked_sub(gone));
            bytes = rest.ok_or_else(|| not_whole("it counts an entry that is not there"))?;
        }
        if bytes != before {
            self.counts.insert(BYTES, bytes)?;
        }
        Ok(())
    }
}
