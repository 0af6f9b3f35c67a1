//! Files, above all of JSON: read with the path in every error, written so that readers see the old file or the whole new one.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::exit::{ExitCode, Failure, ResultExt};

/// Reads a file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).with_context(|| format!("cannot read `{}`", path.display())).or_fail(ExitCode::Input)
}

/// Reads a text file.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display())).or_fail(ExitCode::Input)
}

/// Reads a JSON file.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let bytes = read_bytes(path)?;
    serde_json::from_slice(&bytes)
        .with_context(|| format!("`{}` is damaged or of another version", path.display()))
        .or_fail(ExitCode::Input)
}

/// Writes a value on one line.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    write_atomically(path, &serde_json::to_vec(value)?)
}

/// Writes a value over several lines, for people.
pub(crate) fn write_pretty_json(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    write_atomically(path, (serde_json::to_string_pretty(value)? + "\n").as_bytes())
}

/// Writes a file that is not there yet: one that is may have been edited since.
pub(crate) fn write_new_file(path: &Path, text: &str) -> Result<(), Failure> {
    fs::File::create_new(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write the new file `{}`", path.display()))
        .or_fail(ExitCode::Input)
}

/// Writes a file under another name, syncs it, and renames it to `path`.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let staging = path.with_extension("tmp");
    let write = || {
        let mut file = fs::File::create(&staging)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&staging, path)
    };
    // The other name is nothing that its caller knows.
    write().with_context(|| format!("cannot write `{}`", path.display()))
}
