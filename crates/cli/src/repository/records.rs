//! The JSON files of a repository on disk: `layer.json` (the layer of its files), `dependencies.json` (that of its dependencies),
//! `baseline.json`, `history.json` (past changes, where they were asked for), `map.json`, and `timing.json`, the one file that differs from run to run.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::exit::{ExitCode, Failure, ResultExt};
use crate::json_file::{read_json, write_pretty_json};

/// Reads one record.
pub(super) fn read_record<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<T, Failure> {
    read_json(&directory.join(name)).map_err(|failure| failure.hint("`veriplay corpus add-repo` writes it"))
}

/// Writes one record.
pub(super) fn write_record(directory: &Path, name: &str, record: &impl Serialize) -> Result<(), Failure> {
    write_pretty_json(&directory.join(name), record).or_fail(ExitCode::Input)
}
