//! Append-only logs that can be truncated to a known length, so that a killed run loses nothing and repeats nothing.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;

use crate::progress::counted;

/// A log of JSON lines, plain or with one zstd frame per append.
pub struct LogFile {
    file: File,
    bytes: u64,
    compressed: bool,
}

impl LogFile {
    /// Opens `path`, truncated to `bytes`: what was written after the last checkpoint will be written again.
    pub fn open_at(path: &Path, bytes: u64) -> std::io::Result<Self> {
        let file = open_truncated(path, bytes)?;
        let compressed = path.extension().is_some_and(|extension| extension == "zst");
        Ok(Self { file, bytes, compressed })
    }

    /// Appends `records`, one JSON object a line, as one write.
    pub fn append<T: Serialize>(&mut self, records: &[T]) -> std::io::Result<()> {
        let mut text = Vec::new();
        for record in records {
            serde_json::to_writer(&mut text, record)?;
            text.push(b'\n');
        }
        let block = if self.compressed { zstd::bulk::compress(&text, 3)? } else { text };
        self.file.write_all(&block)?;
        self.bytes += block.len() as u64;
        Ok(())
    }

    /// Makes everything appended durable, and returns the length of the log.
    pub fn sync(&mut self) -> std::io::Result<u64> {
        self.file.sync_data()?;
        Ok(self.bytes)
    }
}

/// Opens `path` for appending after its first `bytes` bytes; the rest is removed. A missing file is empty.
pub fn open_truncated(path: &Path, bytes: u64) -> std::io::Result<File> {
    let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    let found = file.metadata()?.len();
    if found < bytes {
        let found = counted(found, "byte");
        let what = format!("`{}` has {found} and its checkpoint says {bytes}", path.display());
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, what));
    }
    file.set_len(bytes)?;
    file.seek(SeekFrom::Start(bytes))?;
    Ok(file)
}
