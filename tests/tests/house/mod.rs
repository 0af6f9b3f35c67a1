//! The house rules that ARCHITECTURE.md states: crate arrows, paths that exist, words that must not appear.

mod arrows;
mod budgets;
mod configuration;
mod cycles;
mod documents;
mod facts;
mod files;

use xtask::root;

/// Every file git tracks or would track, by its path from the root.
fn tracked_files() -> Vec<String> {
    let files = xtask::tracked_files(&root()).unwrap_or_else(|error| panic!("{error:#}"));
    files.into_iter().map(|file| file.into_os_string().into_string().expect("file names are UTF-8")).collect()
}
