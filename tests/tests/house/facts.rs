//! Verdicts rest on typed facts: no code decides anything by reading a text for people, which a program or a policy may have written.

use std::fs;

use super::{root, tracked_files};

/// Fields of outcomes, verdicts and errors that hold text for people.
const TEXTS: [&str; 5] = ["detail", "message", "kind", "why", "stderr"];
/// What looks into a text.
const LOOKS: [&str; 8] =
    [".contains(", ".starts_with(", ".ends_with(", ".find(", ".strip_prefix(", ".as_str()", " == \"", " != \""];
/// Files that may: the probes are the project's own programs, and name the trap that they must end in.
const ALLOWED: [&str; 1] = ["crates/corpus/src/probes/judge.rs"];

#[test]
fn no_code_decides_by_reading_a_text_for_people() {
    let sources = tracked_files().into_iter().filter(|name| name.starts_with("crates/") && name.contains("/src/"));
    for name in sources.filter(|name| name.ends_with(".rs") && !ALLOWED.contains(&name.as_str())) {
        let text = fs::read_to_string(root().join(&name)).expect("a tracked file is readable");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        if let Some(found) = looked_into(code) {
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
    let joined: String = code.lines().map(str::trim).fold(String::new(), |text, line| match line.starts_with('.') {
        true => text + line,
        false => text + "\n" + line,
    });
    let expressions = TEXTS.iter().flat_map(|field| LOOKS.map(|look| format!(".{field}{look}")));
    expressions.into_iter().find(|wanted| joined.contains(wanted))
}
