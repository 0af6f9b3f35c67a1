//! Documents tell the truth about paths: what stands in backticks and looks like a path must exist.

use std::fs;

use super::root;

const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "LIMITATIONS.md", "SECURITY.md"];

/// The page that `scripts/book` makes, if it is there: what looks like a path in it is what an option may be given, such as `evals/MODEL`.
const MADE: &str = "command-reference.md";

/// The pages of the book, `docs/`.
fn pages() -> Vec<String> {
    let entries = fs::read_dir(root().join("docs")).expect("docs/ is there");
    let names =
        entries.map(|entry| entry.expect("docs/ can be listed").file_name().into_string().expect("names are UTF-8"));
    names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md" && name != MADE).collect()
}

#[test]
fn the_summary_of_the_book_lists_every_page() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("docs/SUMMARY.md is there");
    for page in pages() {
        assert!(summary.contains(&format!("({page})")), "docs/SUMMARY.md does not link `{page}`");
    }
}

/// The name and the text of each document and page.
fn texts() -> impl Iterator<Item = (String, String)> {
    let pages = pages().into_iter().map(|page| format!("docs/{page}"));
    DOCUMENTS.iter().map(|document| (*document).to_owned()).chain(pages).map(|document| {
        let text = fs::read_to_string(root().join(&document)).unwrap_or_else(|e| panic!("{document}: {e}"));
        (document, text)
    })
}

#[test]
fn no_document_is_left_unfinished() {
    for (document, text) in texts() {
        let unfinished: Vec<&str> = text.lines().filter(|line| line.contains("TODO")).collect();
        assert!(unfinished.is_empty(), "{document} is unfinished: {unfinished:?}");
    }
}

#[test]
fn paths_named_in_documents_exist() {
    for (document, text) in texts() {
        let missing: Vec<&str> = paths(&text).filter(|path| !root().join(path).exists()).collect();
        assert!(missing.is_empty(), "{document} names paths that do not exist: {missing:?}");
    }
}

#[test]
fn architecture_names_every_crate_folder() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    for entry in fs::read_dir(root().join("crates")).expect("crates/ is there") {
        let name = entry.expect("crates/ can be listed").file_name().into_string().expect("crate names are UTF-8");
        assert!(text.contains(&format!("`crates/{name}`")), "ARCHITECTURE.md does not name `crates/{name}`");
    }
}

#[test]
fn the_check_for_paths_can_fail() {
    let found: Vec<&str> =
        paths("see `crates/core/src/lib.rs`, `cargo test`, `runs/<name>/` and `no/such/file.rs`").collect();
    assert_eq!(found, ["crates/core/src/lib.rs", "no/such/file.rs"]);
}

/// First parts of metric names, which look like paths: `actor/loss`.
const METRICS: [&str; 4] = ["actor/", "eval/", "perf/", "play/"];

/// Backticked words that are paths of this repository: they hold a slash, and neither a space nor a variable part.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split('`').skip(1).step_by(2);
    words.filter(|word| {
        let literal = !word.contains([' ', '<', '>', '*', '{', '$', '(', '=', '~', '\n', '|']);
        let is_metric = METRICS.iter().any(|prefix| word.starts_with(prefix));
        literal && word.contains('/') && !word.starts_with(['/', '-', '.']) && !word.starts_with("runs/") && !is_metric
    })
}
