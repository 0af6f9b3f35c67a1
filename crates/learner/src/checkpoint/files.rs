//! Whole-file reads and atomic writes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

pub(super) fn io_error(path: &Path) -> impl FnOnce(std::io::Error) -> CheckpointError {
    |cause| CheckpointError::Io { path: path.to_owned(), cause }
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

/// Makes a directory and those above it.
pub(super) fn make_dir(path: &Path) -> Result<(), CheckpointError> {
    std::fs::create_dir_all(path).map_err(io_error(path))
}

/// JSON for people.
pub(super) fn to_pretty_json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain records serialise");
    text.push('\n');
    text
}

/// An error of a checkpoint. Every message names the file, and the tensor or key where there is one.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A file that cannot be read or written.
    #[error("`{}`: {cause}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's word. The message shows it, so it is no `source()`: reporters that print the chain would repeat it.
        cause: std::io::Error,
    },
    /// The weights are pickled, not safetensors.
    #[error("`{}` holds pickled weights alone; hint: load and save it with transformers, which writes `model.safetensors`", path.display())]
    Pickled {
        /// The directory.
        path: PathBuf,
    },
    /// A file in another format than its name says, or cut short.
    #[error("`{file}` cannot be read: {what}; hint: it may be cut short, fetch or save it again")]
    Format {
        /// The file.
        file: String,
        /// The parser's word.
        what: String,
    },
    /// A value, or a tensor, that cannot be used or does not fit the other files.
    #[error("`{file}`: {problem}")]
    Invalid {
        /// The file or directory.
        file: String,
        /// The key or the tensor, and the problem.
        problem: String,
    },
    /// A file that ends before its tensors do.
    #[error(
        "`{file}` is cut short: `{tensor}` ends at byte {ends_at}, and the file has {size}; hint: fetch or save it again"
    )]
    Truncated {
        /// The file.
        file: String,
        /// The first tensor that is not whole.
        tensor: String,
        /// Where it should end.
        ends_at: u64,
        /// Bytes of the file.
        size: u64,
    },
}

impl CheckpointError {
    /// A directory or file that cannot be used for this reason.
    pub(crate) fn invalid(file: &str, problem: impl std::fmt::Display) -> Self {
        Self::Invalid { file: file.to_owned(), problem: problem.to_string() }
    }

    /// A value that cannot be used: `want` says what it must be.
    pub(crate) fn invalid_value(file: String, key: &str, value: &str, want: &str) -> Self {
        Self::Invalid { file, problem: format!("`{key}` is `{value}`: {want}") }
    }
}
