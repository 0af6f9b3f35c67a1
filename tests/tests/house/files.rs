//! Rules on the files themselves, and on what their code reads. Documents tell the truth about paths: what stands in backticks and looks like a path must
//! exist.

use std::fs;

use veriplay_tests::assert_each;

use super::{names_in, read, root, rust_files, tracked_files, without_tests};

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
    for name in rust_files() {
        let text = read(&name);
        let says = text.starts_with("//!") || text.starts_with("#![doc = include_str!");
        assert!(says, "`{name}` does not open with `//!`");
    }
}

#[test]
fn every_folder_of_data_has_a_readme() {
    let entries = std::fs::read_dir(root().join("sandboxes")).expect("sandboxes/ is there");
    let images = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir());
    let folders = ["sandboxes", "task-corpus", "configs", "models/tiny"].map(|folder| root().join(folder));
    for folder in folders.into_iter().chain(images) {
        assert!(folder.join("README.md").is_file(), "`{}` has no README.md", folder.display());
    }
}

#[test]
fn crates_without_io_stay_without_it() {
    for name in tracked_files().iter().filter(|name| is_pure(name)) {
        let io = io_in(without_tests(&read(name)));
        assert_eq!(io, None, "`{name}` must stay free of files, clocks, threads and the environment");
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

/// Fields of outcomes, verdicts and errors that hold text for people.
const TEXTS: [&str; 5] = ["detail", "message", "kind", "why", "stderr"];
/// What looks into a text.
const LOOKS: [&str; 8] =
    [".contains(", ".starts_with(", ".ends_with(", ".find(", ".strip_prefix(", ".as_str()", " == \"", " != \""];
/// Files that may: the probes are the project's own programs, and name the trap that they must end in.
const ALLOWED: [&str; 1] = ["crates/corpus/src/probes/judge.rs"];

/// Verdicts rest on typed facts, and a program or a policy may have written a text for people.
#[test]
fn no_code_decides_by_reading_a_text_for_people() {
    let sources = rust_files().filter(|name| name.starts_with("crates/") && name.contains("/src/"));
    for name in sources.filter(|name| !ALLOWED.contains(&name.as_str())) {
        if let Some(found) = looked_into(without_tests(&read(&name))) {
            panic!("`{name}` reads a text for people: `{found}`; give the fact a field of its own");
        }
    }
}

#[test]
fn the_check_for_texts_can_fail() {
    assert!(looked_into("verdict.evidence\n        .detail\n        .contains(\"DeadlineNs\")").is_some());
    assert!(looked_into("if error.kind == \"Unencodable\" {").is_some());
    assert!(looked_into("match error.kind.as_str() {").is_some());
    assert!(looked_into("let detail = cut(&error.message);").is_none());
}

/// The first expression of `code` that looks into a text.
fn looked_into(code: &str) -> Option<String> {
    // A chain of calls over several lines is one expression.
    let joined = code.lines().map(|line| format!("\n{}", line.trim_start())).collect::<String>().replace("\n.", ".");
    let expressions = TEXTS.iter().flat_map(|field| LOOKS.map(|look| format!(".{field}{look}")));
    expressions.into_iter().find(|wanted| joined.contains(wanted))
}

const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "LIMITATIONS.md", "SECURITY.md"];

/// The page that `scripts/book` makes, if it is there: what looks like a path in it is what an option may be given, such as `evals/MODEL`.
const MADE: &str = "command-reference.md";

/// The pages of the book, `docs/`.
fn pages() -> impl Iterator<Item = String> {
    names_in("docs").into_iter().filter(|name| name.ends_with(".md") && name != "SUMMARY.md" && name != MADE)
}

#[test]
fn the_summary_of_the_book_lists_every_page() {
    let summary = read("docs/SUMMARY.md");
    for page in pages() {
        assert!(summary.contains(&format!("({page})")), "docs/SUMMARY.md does not link `{page}`");
    }
}

/// The name and the text of each document and page.
fn texts() -> impl Iterator<Item = (String, String)> {
    let pages = pages().map(|page| format!("docs/{page}"));
    let names = DOCUMENTS.iter().map(|document| (*document).to_owned()).chain(pages);
    names.map(|name| (name.clone(), read(&name)))
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
    let text = read("ARCHITECTURE.md");
    for name in names_in("crates") {
        assert!(text.contains(&format!("`crates/{name}`")), "ARCHITECTURE.md does not name `crates/{name}`");
    }
}

#[test]
fn the_check_for_paths_can_fail() {
    let found = paths("see `crates/core/src/lib.rs`, `cargo test`, `runs/<name>/` and `no/such/file.rs`");
    assert_each(found, ["crates/core/src/lib.rs", "no/such/file.rs"]);
}

/// First parts of metric names, which look like paths: `actor/loss`.
const METRICS: [&str; 6] = ["actor/", "eval/", "perf/", "play/", "rollout/", "rollout_corr/"];

/// Backticked words that are paths of this repository: they hold a slash, and neither a space nor a variable part.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split('`').skip(1).step_by(2);
    words.filter(|word| {
        let literal = !word.contains([' ', '<', '>', '*', '{', '$', '(', '=', '~', '\n', '|']);
        let is_metric = METRICS.iter().any(|prefix| word.starts_with(prefix));
        literal && word.contains('/') && !word.starts_with(['/', '-', '.']) && !word.starts_with("runs/") && !is_metric
    })
}
