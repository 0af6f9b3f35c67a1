//! Rules on the files themselves.

use std::fs;

use super::{root, tracked_files};

/// Files that hold more than this do not belong in a repository of source.
const LARGEST_FILE_BYTES: u64 = 12 << 20;

/// Hosts of package registries, each written so that this file does not name one.
const REGISTRY_HOSTS: &[(&str, &str)] =
    &[("crates", ".io"), ("pypi", ".org"), ("npmjs", ".org"), ("npmjs", ".com"), ("pythonhosted", ".org")];

#[test]
fn no_file_names_a_registry_host() {
    for name in tracked_files().iter().filter(|name| !name.ends_with(".lock")) {
        let Ok(text) = fs::read_to_string(root().join(name)) else { continue };
        for (start, end) in REGISTRY_HOSTS {
            assert!(!text.contains(&format!("{start}{end}")), "`{name}` names a registry's host");
        }
    }
}

#[test]
fn no_tracked_file_is_too_large() {
    for name in tracked_files() {
        let bytes = fs::metadata(root().join(&name)).expect("a tracked file exists").len();
        assert!(bytes <= LARGEST_FILE_BYTES, "`{name}` has {bytes} bytes");
    }
}

/// Packages and programs are fetched or built, never committed: nobody could see what is in them.
#[test]
fn no_tracked_file_is_a_package_or_a_program() {
    const ENDINGS: [&str; 10] = [".whl", ".zip", ".tar", ".tar.gz", ".tgz", ".wasm", ".so", ".pyc", ".exe", ".a"];
    for name in tracked_files() {
        let ending = ENDINGS.iter().find(|ending| name.ends_with(*ending));
        assert_eq!(ending, None, "`{name}` is a package or a program: fetch it or build it");
    }
}

#[test]
fn every_rust_file_says_what_it_is_for() {
    for name in tracked_files().iter().filter(|name| name.ends_with(".rs")) {
        let text = fs::read_to_string(root().join(name)).expect("a tracked file is readable");
        let says = text.starts_with("//!") || text.starts_with("#![doc = include_str!");
        assert!(says, "`{name}` does not open with `//!`");
    }
}

#[test]
fn every_folder_of_data_has_a_readme() {
    for folder in [
        "sandboxes", "sandboxes/python", "sandboxes/python-numpy", "sandboxes/cpython", "task-corpus", "configs",
        "models/tiny",
    ] {
        assert!(root().join(folder).join("README.md").is_file(), "`{folder}` has no README.md");
    }
}

#[test]
fn crates_without_io_stay_without_it() {
    for name in tracked_files().iter().filter(|name| is_pure(name)) {
        let text = fs::read_to_string(root().join(name)).expect("a tracked file is readable");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        assert_eq!(io_in(code), None, "`{name}` must stay free of files, clocks, threads and the environment");
    }
}

#[test]
fn the_check_for_io_can_fail() {
    assert_eq!(io_in("let now = std::time::Instant::now();"), Some("std::time"));
    assert_eq!(io_in("use std::time::{Duration, Instant};"), Some("std::time"));
    assert_eq!(io_in("use std::time::Duration;"), None);
}

/// Whether a file belongs to a crate that ARCHITECTURE.md keeps free of IO.
fn is_pure(name: &str) -> bool {
    // Its thread judges while another samples; results keep their order.
    if name == "crates/selfplay/src/pipeline.rs" {
        return false;
    }
    ["core", "python", "verifier", "selfplay"].iter().any(|krate| name.starts_with(&format!("crates/{krate}/src/")))
}

/// How long something may take reads no clock.
const SPAN: &str = "std::time::Duration";

fn io_in(text: &str) -> Option<&'static str> {
    ["std::fs", "std::env", "std::net", "std::process", "std::time", "std::thread"]
        .into_iter()
        .find(|io| text.replace(SPAN, "").contains(io))
}
