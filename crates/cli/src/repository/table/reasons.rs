//! Why tests do not pass, in few words, for people: nothing is decided by it.

use std::collections::BTreeMap;

use serde::Serialize;
use veriplay_verifier::repository::{Baseline, TestResult};

/// Characters of a message that has no word of its own.
const MESSAGE_CHARS: usize = 70;

/// Parts of messages, and what they come to. The first that is found is told.
const KINDS: [(&str, &str); 22] = [
    ("can't start new thread", "threads"),
    ("Fuel limit", "more fuel than a file has"),
    ("MemoryBytes limit", "memory"),
    ("MemoryError", "memory"),
    ("maximum recursion depth", "recursion"),
    ("fixture '", "a fixture of a pytest plugin"),
    ("available fixtures:", "a fixture of a pytest plugin"),
    ("module 'os' has no attribute", "a system call that wasi lacks"),
    ("C extension", "a compiled extension"),
    ("does not support processes", "subprocesses"),
    ("fork", "subprocesses"),
    ("subprocess", "subprocesses"),
    ("_posixsubprocess", "subprocesses"),
    ("pty", "terminals"),
    ("signal", "signals"),
    ("socket", "sockets"),
    ("tzset", "time zones of the system"),
    ("ZoneInfoNotFoundError", "time zones of the system"),
    ("No time zone found", "time zones of the system"),
    ("cannot fit 'int' into an index-sized integer", "32-bit integers"),
    ("too large to convert to C", "32-bit integers"),
    ("it passed once", "another result with another seed"),
];

/// One reason, and of how many tests or files.
#[derive(Debug, Serialize)]
pub(super) struct Reason {
    pub(super) why: String,
    pub(super) count: usize,
}

/// All reasons of a baseline, the commonest first. Tests that are skipped or fail as they say are told by their own columns.
pub(super) fn reasons(baseline: &Baseline) -> Vec<Reason> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in &baseline.files {
        if let Some(why) = &file.broken {
            *counts.entry(format!("file broken: {}", kind_of(why))).or_default() += 1;
        }
        let told = |result| matches!(result, TestResult::Skipped | TestResult::Xfailed | TestResult::Xpassed);
        for test in file.unsupported.iter().filter(|test| !told(test.result)) {
            *counts.entry(kind_of(&test.reason)).or_default() += 1;
        }
    }
    let mut reasons: Vec<Reason> = counts.into_iter().map(|(why, count)| Reason { why, count }).collect();
    reasons.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.why.cmp(&other.why)));
    reasons
}

fn kind_of(text: &str) -> String {
    if let Some((_, module)) = text.split_once("No module named ") {
        return format!("no module {}", module.split_whitespace().next().unwrap_or_default());
    }
    if let Some((_, kind)) = KINDS.iter().find(|(part, _)| text.contains(part)) {
        return (*kind).to_owned();
    }
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let line = if text.starts_with("Traceback") { line } else { first };
    line.chars().take(MESSAGE_CHARS).collect()
}
