//! The JSON files of a repository on disk: `layer.json` (the layer of its files), `dependencies.json` (that of what it needs besides),
//! `baseline.json`, `map.json`, and `timing.json`, the one file that differs from run to run.

use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::exit::{ExitCode, Failure, OrFail};

/// Reads one record.
pub(super) fn read_record<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<T, Failure> {
    let path = directory.join(name);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()));
    let text = text.or_fail(ExitCode::Input).map_err(|failure| failure.hint("`veriplay corpus add-repo` makes it"))?;
    serde_json::from_str(&text)
        .with_context(|| format!("`{}` is not a valid record", path.display()))
        .or_fail(ExitCode::Input)
}

/// Writes one record, whole or not at all.
pub(super) fn write_record(dir: &Path, name: &str, record: &impl Serialize) -> Result<(), Failure> {
    let path = dir.join(name);
    let text = serde_json::to_string_pretty(record).or_fail(ExitCode::Bug)?;
    let partial = dir.join(format!("{name}.partial"));
    std::fs::write(&partial, text + "\n")
        .and_then(|()| std::fs::rename(&partial, &path))
        .with_context(|| format!("cannot write `{}`", path.display()))
        .or_fail(ExitCode::Input)
}
