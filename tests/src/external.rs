//! What tests use and the repository cannot ship: benchmark files, pip, `python3`. A test that lacks it passes, and reports why.
//!
//! Tests of other packages include this file by its path, so it needs the standard library alone.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Reports that the running test is skipped: on stderr, past libtest's capture, and in the file `VERIPLAY_SKIPPED` names.
pub fn report_skipped(reason: &str) {
    let thread = std::thread::current();
    let line = format!("SKIPPED {}: {reason}\n", thread.name().unwrap_or("a test"));
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os("VERIPLAY_SKIPPED") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

/// Reports a test that is skipped for want of pip.
///
/// # Panics
/// `VERIPLAY_REQUIRE_PIP` is set, as in `.ci/run`: there pip is expected to work.
pub fn report_without_pip(reason: &str) {
    assert!(std::env::var_os("VERIPLAY_REQUIRE_PIP").is_none(), "{reason}");
    report_skipped(reason);
}

/// Reports a test that is skipped for want of npm.
///
/// # Panics
/// `VERIPLAY_REQUIRE_NPM` is set, as in `.ci/run` where npm is installed.
pub fn report_without_npm(reason: &str) {
    assert!(std::env::var_os("VERIPLAY_REQUIRE_NPM").is_none(), "{reason}");
    report_skipped(reason);
}

/// A published file of the folder `VERIPLAY_DATA`, or of `shared/data` beside the repository; where it is missing, that is reported.
pub fn published_file(name: &str) -> Option<PathBuf> {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = folders.find(|folder| folder.join("Cargo.lock").is_file()).expect("a package lies in the repository");
    let path = std::env::var_os("VERIPLAY_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from).join(name);
    let found = path.is_file();
    if !found {
        report_skipped(&format!("there is no `{}`; VERIPLAY_DATA names the folder", path.display()));
    }
    found.then_some(path)
}
