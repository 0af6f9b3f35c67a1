//! Development tasks of this repository, run with `cargo xtask`. They are a library so that tests can check their inputs.

pub mod dist;
pub mod licenses;
#[cfg(feature = "probes")]
pub mod probes;
pub mod runner;
pub mod sabotage;

use std::path::PathBuf;

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}
