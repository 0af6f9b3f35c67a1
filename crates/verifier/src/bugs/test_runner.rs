//! Runs selected tests in a state of the repository, and collects the evidence of a verdict.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use veriplay_core::{Dropped, Evidence, Execute, ExecuteError, TextFiles};

use super::RepoContext;
use super::bug_states::Overlay;
use super::code_scan::SplitLayout;
use crate::repository::{FileRun, Repository, TestRecord, TestResult, run_split, run_tests};
use crate::runner::{add_cost, host_fault};

/// Fuel beyond the cost of the tests, for the start of pytest.
const SLACK: u64 = 15_000_000_000;

/// Results of the requested tests. Tests without a record are missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestResults {
    pub(crate) by_id: BTreeMap<String, TestResult>,
    /// Why test files have no records.
    pub(crate) broken: Vec<String>,
    /// Those of `broken` that are in `uncollected` left out.
    stopped: Vec<String>,
    /// Test files that pytest could not collect.
    pub(crate) uncollected: BTreeSet<String>,
}

impl TestResults {
    pub(crate) fn passed(&self, id: &str) -> bool {
        self.by_id.get(id) == Some(&TestResult::Passed)
    }

    /// Why a test file without records speaks against a bug. Where the bug deletes a module, the tests of a file that cannot be collected
    /// fail: a file imports what it tests, and nothing that stops the interpreter is hidden by it.
    pub(crate) fn invalid_file(&self, deletes_module: bool) -> Option<&String> {
        if deletes_module { self.stopped.first() } else { self.broken.first() }
    }

    /// Whether a test has no record although its file was collected.
    pub(crate) fn lacks(&self, id: &str) -> bool {
        !self.uncollected.contains(file_of(id)) && matches!(self.by_id.get(id), None | Some(TestResult::Missing))
    }
}

/// Runs tests for one verdict.
pub(crate) struct RepoTestRunner<'a> {
    pub(crate) execute: &'a dyn Execute,
    pub(crate) repo: &'a RepoContext<'a>,
    pub(crate) evidence: Evidence,
    layout: SplitLayout,
}

impl<'a> RepoTestRunner<'a> {
    pub(crate) fn new(execute: &'a dyn Execute, repo: &'a RepoContext<'a>) -> Self {
        Self { execute, repo, evidence: Evidence::default(), layout: SplitLayout::from_repo(repo) }
    }

    /// Runs the tests `ids` in the state `now`, test files in parallel.
    pub(crate) fn run(&mut self, now: &TextFiles, ids: &BTreeSet<String>, seed: u64) -> Result<TestResults, Dropped> {
        let execute = self.execute;
        let limit = |repo: &RepoContext<'_>, file: &str| file_fuel(repo, file);
        self.run_by(now, ids, seed, limit, |repository, file, ids| run_tests(execute, repository, file, ids))
    }

    /// Adds the cost of another verdict.
    pub(crate) fn add_cost_of(&mut self, evidence: &Evidence) {
        add_cost(&mut self.evidence, evidence.jobs.iter().cloned(), evidence.fuel, evidence.met_deadline);
    }

    /// The same with the package in another instance. A test has failed in which the package changes an object of the test's, or the
    /// value of a name that it reads, where the original does not: what the test compares with may have been made of it.
    pub(crate) fn run_split(
        &mut self,
        now: &TextFiles,
        ids: &BTreeSet<String>,
        seed: u64,
    ) -> Result<TestResults, Dropped> {
        let execute = self.execute;
        let map = self.repo.map;
        self.run_by(now, ids, seed, split_fuel, |repository, file, ids| {
            let known = map.file(file);
            let mut run = run_split(execute, repository, file, Some(ids), known.map(|file| &file.starred))?;
            let is_new = |test: &TestRecord| {
                known.map_or(!test.changes.is_empty(), |file| file.new_change(&test.id, &test.changes).is_some())
            };
            for test in &mut run.tests {
                if is_new(test) {
                    test.result = TestResult::Failed;
                }
            }
            Ok(run)
        })
    }

    fn run_by(
        &mut self,
        now: &TextFiles,
        ids: &BTreeSet<String>,
        seed: u64,
        fuel: impl Fn(&RepoContext<'_>, &str) -> u64 + Sync,
        run: impl Fn(&Repository<'_>, &str, &[String]) -> Result<FileRun, ExecuteError> + Sync,
    ) -> Result<TestResults, Dropped> {
        let overlay = Overlay::between(self.repo.texts, now);
        let (files, repo, layout) = (group_by_file(ids), self.repo, &self.layout);
        let run = |(file, ids): &(&str, Vec<String>)| {
            let mut repository = overlay.repository(repo, layout, seed);
            repository.limits.fuel = fuel(repo, file);
            run(&repository, file, ids)
        };
        let runs: Vec<(&str, FileRun)> = files
            .par_iter()
            .with_max_len(1)
            .map(|asked| run(asked).map(|run| (asked.0, run)))
            .collect::<Result<_, ExecuteError>>()
            .map_err(|error| host_fault(&error))?;
        let mut results = TestResults::default();
        for (file, run) in runs {
            add_cost(&mut self.evidence, run.jobs, run.fuel, run.met_deadline);
            let broken = run.broken.map(|why| format!("`{file}`: {why}"));
            if run.uncollected {
                results.uncollected.insert(file.to_owned());
            } else {
                results.stopped.extend(broken.clone());
            }
            results.broken.extend(broken);
            results.by_id.extend(run.tests.into_iter().map(|test| (test.id, test.result)));
        }
        Ok(results)
    }
}

/// The fuel for any tests of a file: the cost of all its tests in the original, a quarter more, and [`SLACK`]. It is not proportional to the
/// number of tests, because a few slow tests can be most of a file's cost. A bug that loops therefore costs as much as the whole file.
pub(crate) fn file_fuel(repo: &RepoContext<'_>, file: &str) -> u64 {
    let Some(found) = repo.baseline.files.iter().find(|found| found.path == file) else { return repo.limits.fuel };
    repo.limits.fuel.min(SLACK.saturating_add(found.fuel / 4 * 5))
}

/// As [`file_fuel`], for a run with the package in an instance of its own.
fn split_fuel(repo: &RepoContext<'_>, file: &str) -> u64 {
    let Some(found) = repo.map.files.iter().find(|found| found.path == file) else { return repo.limits.fuel };
    repo.limits.fuel.min(SLACK.saturating_add(found.split_fuel / 4 * 5))
}

/// Groups test ids by the file they begin with.
pub(crate) fn group_by_file(ids: &BTreeSet<String>) -> Vec<(&str, Vec<String>)> {
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for id in ids {
        files.entry(file_of(id)).or_default().push(id.clone());
    }
    files.into_iter().collect()
}

/// The file that a test id begins with.
pub(crate) fn file_of(id: &str) -> &str {
    id.split_once("::").map_or(id, |(file, _)| file)
}
