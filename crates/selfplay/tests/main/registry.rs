//! The slices against the source directories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use veriplay_selfplay::monitors::MONITORS;
use veriplay_selfplay::{advantages, curricula, intrinsic, proposer_factor, rewards};

fn source(directory: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(directory)
}

/// The `.rs` files of a source directory: file stem and text.
fn files(directory: &str) -> Vec<(String, String)> {
    let paths = std::fs::read_dir(source(directory)).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

/// What several methods share, and the curves, which are lines of one file.
const SHARED: [&str; 2] = ["memory", "curve"];

/// What is wrong with `directory`: files that no name of `registered` stands for, names that no file documents, and
/// missing headings.
fn faults(directory: &str, registered: &[&str], headings: &[&str]) -> Vec<String> {
    let files = files(directory);
    assert!(!files.is_empty(), "{directory} is empty");
    let stems: BTreeSet<&str> = files.iter().map(|(stem, _)| stem.as_str()).collect();
    let unregistered = stems
        .iter()
        .filter(|stem| !registered.contains(stem) && !SHARED.contains(stem))
        .map(|stem| format!("{stem} is not registered"));
    let undocumented = registered.iter().filter(|name| !files.iter().any(|(_, text)| documents(text, name)));
    let undocumented = undocumented.map(|name| format!("{name} is in no file's docs"));
    let missing = files.iter().flat_map(|(stem, text)| {
        let missing = headings.iter().filter(move |heading| !text.contains(&format!("//! # {heading}\n")));
        missing.map(move |heading| format!("{stem} lacks the heading {heading}"))
    });
    unregistered.chain(undocumented).chain(missing).collect()
}

fn documents(text: &str, name: &str) -> bool {
    text.lines().filter(|line| line.starts_with("//!")).any(|line| line.contains(&format!("`{name}`")))
}

#[test]
fn every_method_is_a_file_and_a_line_with_its_headings() {
    let monitors = MONITORS.iter().map(|monitor| monitor.name()).collect();
    let (gamed, computes) = ("How it can be gamed", ["What it computes", "Why", "Example"]);
    let methods: [(&str, Vec<&str>, &[&str]); 6] = [
        ("rewards", rewards::names(), &["What it rewards", "Why", gamed, "Example"]),
        ("advantages", advantages::names(), &computes),
        ("intrinsic", intrinsic::names(), &["What it measures", "Why", gamed, "Example"]),
        ("proposer_factor", proposer_factor::names(), &["What it computes", "Why", gamed, "Example"]),
        ("curricula", curricula::names(), &["What it weighs", "Why", "Example"]),
        ("monitors", monitors, &["What it measures", "Why", "Example"]),
    ];
    for (directory, names, headings) in methods {
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        // What estimators share is no estimator, and a table of monitors has the name of none.
        let faults = faults(directory, &names, headings);
        let shared = ["memory ", "arms ", "bounded is not registered"];
        let faults = faults.iter().filter(|fault| !shared.iter().any(|known| fault.starts_with(known)));
        assert_eq!(faults.collect::<Vec<_>>(), [""; 0]);
    }
}

#[test]
fn a_missing_line_doc_or_heading_is_found() {
    let names: Vec<&str> = rewards::names().into_iter().filter(|name| *name != "azr").chain(["nothing"]).collect();
    let faults = faults("rewards", &names, &["What it rewards", "Who"]);
    assert!(faults.contains(&"azr is not registered".to_owned()), "{faults:?}");
    assert!(faults.contains(&"nothing is in no file's docs".to_owned()), "{faults:?}");
    assert_eq!(faults.iter().filter(|fault| fault.ends_with("lacks the heading Who")).count(), files("rewards").len());
    assert_eq!(faults.len(), files("rewards").len() + 2, "{faults:?}");
}

#[test]
fn methods_are_found_by_name() {
    assert!(rewards::names().iter().all(|name| rewards::by_name(name).unwrap().name() == *name));
    assert!(advantages::names().iter().all(|name| advantages::by_name(name).unwrap().name() == *name));
    assert!(curricula::names().iter().all(|name| curricula::by_name(name).unwrap().name() == *name));
    assert!(rewards::by_name("Azr").is_none() && advantages::by_name("").is_none());
}
