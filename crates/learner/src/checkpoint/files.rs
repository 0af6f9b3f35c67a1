//! Whole-file reads and atomic writes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use super::error::CheckpointError;

pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> CheckpointError {
    |source| CheckpointError::Io { path: path.to_owned(), source }
}

pub(super) fn read_text(path: &Path) -> Result<String, CheckpointError> {
    std::fs::read_to_string(path).map_err(io(path))
}

/// As [`read_text`]; `None` where there is no such file.
pub(super) fn read_text_if_there(path: &Path) -> Result<Option<String>, CheckpointError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CheckpointError::Io { path: path.to_owned(), source }),
    }
}

/// Writes beside `path`, syncs, and renames: readers see the old file or the new one.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    write_with(path, |file| file.write_all(bytes))
}

/// As [`write`], of what `fill` writes.
pub(super) fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), CheckpointError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let beside = path.with_file_name(name);
    let result = File::create(&beside).and_then(|file| {
        let mut file = BufWriter::with_capacity(1 << 20, file);
        fill(&mut file)?;
        file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&beside, path)
    });
    result.map_err(io(path))
}

/// Removes a file that may not be there.
pub(super) fn remove(path: &Path) -> Result<(), CheckpointError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(path)(error)),
        _ => Ok(()),
    }
}

/// Makes a directory and those above it.
pub(super) fn make_dir(path: &Path) -> Result<(), CheckpointError> {
    std::fs::create_dir_all(path).map_err(io(path))
}

/// JSON for people.
pub(super) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain records serialise");
    text.push('\n');
    text
}
