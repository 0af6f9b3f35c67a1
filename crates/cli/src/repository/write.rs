//! A repository on disk: `layer.json` (the layer of its files), `dependencies.json` (that of what it needs besides),
//! `baseline.json`, and `timing.json`, the one file that differs from run to run.

use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use veriplay_core::Layer;

use super::MeasuredBaseline;
use crate::exit::{ExitCode, Failure, OrFail};

/// Writes the files into `dir`. `baseline.json` comes last: where it is, the others are.
pub(crate) fn write(dir: &Path, package: &Layer, measured: &MeasuredBaseline) -> Result<(), Failure> {
    std::fs::create_dir_all(dir)
        .with_context(|| format!("cannot make `{}`", dir.display()))
        .or_fail(ExitCode::Input)?;
    put(dir, "layer.json", package)?;
    if let Some(dependencies) = &measured.dependencies {
        put(dir, "dependencies.json", dependencies)?;
    }
    put(dir, "timing.json", &measured.timing)?;
    put(dir, "baseline.json", &measured.baseline)
}

/// Writes one record, whole or not at all.
pub(super) fn put(dir: &Path, name: &str, record: &impl Serialize) -> Result<(), Failure> {
    let path = dir.join(name);
    let text = serde_json::to_string_pretty(record).or_fail(ExitCode::Bug)?;
    let partial = dir.join(format!("{name}.partial"));
    std::fs::write(&partial, text + "\n")
        .and_then(|()| std::fs::rename(&partial, &path))
        .with_context(|| format!("cannot write `{}`", path.display()))
        .or_fail(ExitCode::Input)
}
