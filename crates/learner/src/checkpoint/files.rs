//! Whole-file reads and atomic writes.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;

pub(super) fn io_error(path: &Path) -> impl FnOnce(std::io::Error) -> CheckpointError {
    |cause| CheckpointError::invalid(&path.display().to_string(), cause)
}

pub(super) fn read_text(path: &Path) -> Result<String, CheckpointError> {
    std::fs::read_to_string(path).map_err(io_error(path))
}

/// As [`read_text`]; `None` where there is no such file.
pub(super) fn read_text_if_there(path: &Path) -> Result<Option<String>, CheckpointError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path)(error)),
    }
}

/// Writes next to `path`, syncs, and renames: readers see the old file or the new one.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    write_with(path, |file| file.write_all(bytes))
}

/// As [`write_file`], of what `fill` writes.
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
    result.map_err(io_error(path))
}

/// Removes a file that may not be there.
pub(super) fn remove(path: &Path) -> Result<(), CheckpointError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io_error(path)(error)),
        _ => Ok(()),
    }
}

pub(super) fn make_dir(path: &Path) -> Result<(), CheckpointError> {
    std::fs::create_dir_all(path).map_err(io_error(path))
}

/// JSON for people.
pub(super) fn to_pretty_json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain records serialise");
    text.push('\n');
    text
}

/// An error of a checkpoint. Its message names the file, and the tensor or key where there is one. A cause that it shows is no `source()`:
/// reporters that print the chain would repeat it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CheckpointError(pub(super) String);

impl CheckpointError {
    /// A directory or file that cannot be used for this reason.
    pub(crate) fn invalid(file: &str, problem: impl Display) -> Self {
        Self(format!("`{file}`: {problem}"))
    }

    /// A value that cannot be used: `want` says what it must be.
    pub(crate) fn invalid_value(file: &str, key: &str, value: &str, want: &str) -> Self {
        Self::invalid(file, format!("`{key}` is `{value}`: {want}"))
    }

    /// A file in another format than its name says, or cut short.
    pub(crate) fn unreadable(file: &str, what: impl Display) -> Self {
        Self(format!("`{file}` cannot be read: {what}; hint: it may be cut short, fetch or save it again"))
    }
}
