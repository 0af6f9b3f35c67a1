//! A row of the table, and the table as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use veriplay_console::exit::Failure;
use veriplay_console::progress::counted;
use veriplay_corpus::repository::RepositoryLayout;
use veriplay_verifier::repository::{Baseline, TestResult};

use super::super::baseline::BaselineTiming;
use super::super::pip::last_error;
use super::super::{Requirement, StoredRepository};

/// Reasons that Markdown shows of each package.
const SHOWN: usize = 4;

#[derive(Debug, Serialize)]
pub(super) struct PackageTable {
    pub(super) schema_version: u32,
    pub(super) rows: Vec<PackageRow>,
}

/// One package.
#[derive(Debug, Default, Serialize)]
pub(super) struct PackageRow {
    name: String,
    version: String,
    /// Why there is no record of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_because: Option<String>,
    layout: String,
    test_files: usize,
    /// Files of which no test runs.
    broken_files: usize,
    /// Tests that pytest collects.
    tests: usize,
    passed: usize,
    /// They or their fixtures fail.
    failed: usize,
    skipped: usize,
    /// They fail as they say they would, or pass though they say they would not.
    expected_failures: usize,
    /// They end the interpreter, use up a limit, or pass once and not again.
    unsupported: usize,
    /// Why tests do not pass and files are broken, the commonest first.
    reasons: Vec<FailureReason>,
    dependencies: Vec<String>,
    notes: Vec<String>,
    fuel: u64,
    wall_s: f64,
}

impl PackageRow {
    pub(super) fn recorded(stored: &StoredRepository, timing: &BaselineTiming) -> Self {
        let baseline = &stored.baseline;
        let test_files = baseline.files.iter().map(|file| file.path.clone()).collect();
        let layout = RepositoryLayout { roots: baseline.roots.clone(), test_files, ignored_selection: false };
        let wheels = baseline.dependencies.iter().flat_map(|dependencies| &dependencies.wheels);
        let mut row = Self {
            name: baseline.name.clone(),
            version: baseline.version.clone(),
            layout: layout.shape(),
            test_files: baseline.files.len(),
            broken_files: baseline.files.iter().filter(|file| file.broken.is_some()).count(),
            tests: baseline.passed() + baseline.unsupported(),
            passed: baseline.passed(),
            reasons: reasons(baseline),
            dependencies: wheels.map(|wheel| format!("{}=={}", wheel.name, wheel.version)).collect(),
            notes: baseline.notes.clone(),
            fuel: baseline.files.iter().map(|file| file.fuel).fold(0, u64::saturating_add),
            wall_s: timing.total_ns as f64 / 1e9,
            ..Self::default()
        };
        for test in baseline.files.iter().flat_map(|file| &file.unsupported) {
            *match test.result {
                TestResult::Failed | TestResult::Error => &mut row.failed,
                TestResult::Skipped => &mut row.skipped,
                TestResult::Xfailed | TestResult::Xpassed => &mut row.expected_failures,
                TestResult::Passed | TestResult::Stopped | TestResult::Missing => &mut row.unsupported,
            } += 1;
        }
        row
    }

    pub(super) fn failed(requirement: &Requirement, failure: &Failure) -> Self {
        let why = failure.to_string();
        let why = match last_error(&why) {
            error if error.len() < why.len() => error,
            _ => why.lines().next().unwrap_or_default().trim_start_matches("error: "),
        };
        let why = why.to_owned();
        let Requirement { name, version } = requirement.clone();
        Self { name, version, failed_because: Some(why), ..Self::default() }
    }

    /// One line for people.
    pub(super) fn summary(&self) -> String {
        let Self { name, version, tests, passed, wall_s, .. } = self;
        match &self.failed_because {
            Some(why) => format!("{name}=={version}: {why}"),
            None => format!("{name}=={version}: {passed} of {} passed; {wall_s:.1} s", counted(tests, "test")),
        }
    }

    fn markdown(&self) -> String {
        let Self { name, version, layout, tests, passed, failed, skipped, expected_failures, unsupported, .. } = self;
        if let Some(why) = &self.failed_because {
            return format!("| {name} {version} | | | | | | | | | | | {} |", escape_cell(why));
        }
        let files = match self.broken_files {
            0 => self.test_files.to_string(),
            broken => format!("{} ({broken} broken)", self.test_files),
        };
        let why: Vec<String> = self
            .reasons
            .iter()
            .take(SHOWN)
            .map(|reason| format!("{} × {}", reason.count, escape_cell(&reason.why)))
            .collect();
        let (dependencies, seconds) = (self.dependencies.len(), self.wall_s);
        format!(
            "| {name} {version} | {layout} | {files} | {tests} | {passed} | {failed} | {skipped} | {expected_failures} | {unsupported} \
             | {dependencies} | {seconds:.0} | {} |",
            why.join("; ")
        )
    }
}

impl PackageTable {
    pub(super) fn markdown(&self) -> String {
        let mut text = "| package | layout | test files | tests | passed | failed | skipped | xfail | unsupported | wheels | seconds \
                        | why the rest does not pass |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
        for row in &self.rows {
            let _ = writeln!(text, "{}", row.markdown());
        }
        text
    }
}

/// Text inside a cell.
fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['<', '>'], "'")
}

/// The largest number of characters of a message that is shown as it is.
const MESSAGE_CHARS: usize = 70;

/// Parts of messages, and the reasons they stand for. The first match counts.
const REASONS: [(&str, &str); 22] = [
    ("no other thread can run", "threads"),
    ("Fuel limit", "more fuel than a file has"),
    ("MemoryBytes limit", "memory"),
    ("MemoryError", "memory"),
    ("maximum recursion depth", "recursion"),
    ("fixture '", "a fixture of a pytest plugin"),
    ("available fixtures:", "a fixture of a pytest plugin"),
    ("module 'os' has no attribute", "a system call that wasi lacks"),
    ("C extension", "a compiled extension"),
    ("processes are not available", "subprocesses"),
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
struct FailureReason {
    why: String,
    count: usize,
}

/// All reasons of a baseline, the commonest first. Tests that are skipped or expected to fail have columns of their own.
fn reasons(baseline: &Baseline) -> Vec<FailureReason> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in &baseline.files {
        if let Some(why) = &file.broken {
            *counts.entry(format!("file broken: {}", classify_message(why))).or_default() += 1;
        }
        let has_column = |result| matches!(result, TestResult::Skipped | TestResult::Xfailed | TestResult::Xpassed);
        for test in file.unsupported.iter().filter(|test| !has_column(test.result)) {
            *counts.entry(classify_message(&test.reason)).or_default() += 1;
        }
    }
    let mut reasons: Vec<FailureReason> = counts.into_iter().map(|(why, count)| FailureReason { why, count }).collect();
    reasons.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.why.cmp(&other.why)));
    reasons
}

fn classify_message(text: &str) -> String {
    if let Some((_, module)) = text.split_once("No module named ") {
        return format!("no module {}", module.split_whitespace().next().unwrap_or_default());
    }
    if let Some((_, kind)) = REASONS.iter().find(|(part, _)| text.contains(part)) {
        return (*kind).to_owned();
    }
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let line = if text.starts_with("Traceback") { line } else { first };
    line.chars().take(MESSAGE_CHARS).collect()
}
