//! Runs tests in the tree of a policy, and reports the results to it.

use std::collections::BTreeSet;

use veriplay_core::{Dropped, Evidence, Execute};

use super::super::RepoContext;
use super::super::bug_states::Overlay;
use super::super::code_scan::SplitLayout;
use super::super::test_runner::{file_fuel, file_of, group_by_file};
use super::solver_view::test_function;
use super::{DefaultTests, RepoToolOutcome, RepoToolRequest};
use crate::repository::{FileRun, TestRecord, TestResult, run_tests};
use crate::runner::host_fault;

/// Runs the named tests or the default ones, file after file, until the fuel is used up.
pub(super) fn run_named_tests(
    execute: &dyn Execute,
    request: &RepoToolRequest<'_>,
    named: &[String],
) -> Result<RepoToolOutcome, Dropped> {
    let repo = RepoContext { image: request.image, ..*request.repo };
    let overlay = Overlay::between(repo.texts, request.tree);
    let (mut report, mut evidence) = (TestReport::default(), Evidence::default());
    for (file, ids) in group_by_file(&selected_tests(execute, request, named)?) {
        let left = request.fuel.saturating_sub(evidence.fuel);
        if left == 0 {
            report.left_out.push(file.to_owned());
            continue;
        }
        let layout = SplitLayout::from_repo(&repo);
        let mut repository = overlay.repository(&repo, &layout, request.seed);
        repository.limits.fuel = file_fuel(&repo, file).min(left);
        let run = run_tests(execute, &repository, file, &ids).map_err(|error| host_fault(&error))?;
        evidence.fuel = evidence.fuel.saturating_add(run.fuel);
        evidence.jobs.extend(run.jobs.iter().cloned());
        report.add(file, run);
    }
    report.unknown = named.iter().filter(|name| !report.mentions(name)).cloned().collect();
    Ok(RepoToolOutcome::done(report.text(), evidence))
}

/// The ids of the requested tests. A test that the tree does not have is reported like one that never existed, so that guessing names does
/// not reveal hidden tests.
fn selected_tests(
    execute: &dyn Execute,
    request: &RepoToolRequest<'_>,
    named: &[String],
) -> Result<BTreeSet<String>, Dropped> {
    let RepoToolRequest { repo, tree, suite, .. } = request;
    let of_names = |names: &[String]| {
        let is_named = |id: &&String| names.iter().any(|name| named_by(name, id));
        // A file that is gone as a whole is as unknown as one that never was.
        let is_there = |id: &&String| tree.contains_key(file_of(id));
        repo.map.tests().filter(is_named).filter(is_there).cloned().collect()
    };
    match suite {
        _ if !named.is_empty() => Ok(of_names(named)),
        DefaultTests::Affected => repo.map.affected(execute, repo, repo.texts, tree),
        DefaultTests::Files(files) => Ok(of_names(files)),
    }
}

/// Whether `name` is the file, the id, or the id without parameters of a test.
fn named_by(name: &str, id: &str) -> bool {
    name == id || name == file_of(id) || name == test_function(id)
}

#[derive(Default)]
struct TestReport {
    passed: Vec<String>,
    failed: Vec<TestRecord>,
    broken: Vec<(String, String)>,
    left_out: Vec<String>,
    unknown: Vec<String>,
}

impl TestReport {
    fn add(&mut self, file: &str, run: FileRun) {
        self.broken.extend(run.broken.map(|why| (file.to_owned(), why)));
        for test in run.tests {
            match test.result {
                TestResult::Passed => self.passed.push(test.id),
                _ => self.failed.push(test),
            }
        }
    }

    /// Whether the report mentions this name.
    fn mentions(&self, name: &str) -> bool {
        let ids = self.passed.iter().chain(self.failed.iter().map(|test| &test.id));
        let files = self.broken.iter().map(|(file, _)| file).chain(&self.left_out);
        ids.into_iter().any(|id| named_by(name, id)) || files.into_iter().any(|file| file == file_of(name))
    }

    fn text(&self) -> String {
        let mut lines = vec![format!("{} passed, {} did not.", self.passed.len(), self.failed.len())];
        lines.extend(self.unknown.iter().map(|name| format!("`{name}` is no test that runs here.")));
        lines.extend(self.broken.iter().map(|(file, why)| format!("No test of `{file}` ran: {}", why.trim())));
        let failed = |test: &TestRecord| format!("{} {:?}: {}", test.id, test.result, test.text.trim());
        lines.extend(self.failed.iter().map(failed));
        lines.extend(self.left_out.iter().map(|file| format!("`{file}` was not run: the fuel is used up.")));
        lines.join("\n")
    }
}
