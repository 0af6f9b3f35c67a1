//! Whole-file reads and atomic writes.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use super::CheckpointError;

pub(super) fn read(path: &Path) -> Result<Vec<u8>, CheckpointError> {
    std::fs::read(path).map_err(|source| CheckpointError::Io { path: path.to_owned(), source })
}

pub(super) fn read_text(path: &Path) -> Result<String, CheckpointError> {
    std::fs::read_to_string(path).map_err(|source| CheckpointError::Io { path: path.to_owned(), source })
}

/// Writes beside `path`, syncs, and renames: readers see the old file or the new one.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let beside = path.with_file_name(name);
    let result = File::create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    });
    result.map_err(|source| CheckpointError::Io { path: path.to_owned(), source })
}
