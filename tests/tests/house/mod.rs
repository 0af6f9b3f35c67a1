//! The house rules that ARCHITECTURE.md states: crate arrows, paths that exist, words that must not appear.

mod arrows;
mod budgets;
mod configuration;
mod cycles;
mod files;
mod release;

use std::fs;

use xtask::root;

/// Every file git tracks or would track, by its path from the root.
fn tracked_files() -> Vec<String> {
    let files = xtask::tracked_files(&root()).unwrap_or_else(|error| panic!("{error:#}"));
    files.into_iter().map(|file| file.into_os_string().into_string().expect("file names are UTF-8")).collect()
}

/// The tracked files of Rust, by their path from the root.
fn rust_files() -> impl Iterator<Item = String> {
    tracked_files().into_iter().filter(|name| name.ends_with(".rs"))
}

/// The text of a file that is there.
fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("`{name}`: {error}"))
}

/// The names of what lies in a folder, in order.
fn names_in(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("`{folder}`: {error}"));
    let names = entries.map(|entry| entry.expect("a folder can be listed").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("names are UTF-8")).collect();
    names.sort();
    names
}

/// The code of a file without its tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or_default()
}
