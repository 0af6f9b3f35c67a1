//! Runs of tests in the policy's tree, in the words it is told of them.

use std::collections::{BTreeMap, BTreeSet};

use veriplay_core::{Dropped, Evidence, Execute};

use super::super::Ground;
use super::super::bench::{file_of, fuel};
use super::super::tree::Overlay;
use super::view::test_function;
use super::{DeskOutcome, DeskRequest, Suite};
use crate::repository::{FileRun, TestRecord, TestResult, run_tests};

/// Runs the tests named, or those of the suite, file after file until the fuel is used up.
pub(super) fn run(execute: &dyn Execute, request: &DeskRequest<'_>, named: &[String]) -> Result<DeskOutcome, Dropped> {
    let wanted = match wanted(request, named) {
        Ok(wanted) => wanted,
        Err(unknown) => return Ok(DeskOutcome::refused(format!("`{unknown}` is no test that runs here"))),
    };
    let ground = Ground { image: request.image, ..*request.ground };
    let overlay = Overlay::of(ground.texts, request.tree);
    let (mut report, mut evidence) = (Report::default(), Evidence::default());
    for (file, ids) in by_file(&wanted) {
        let left = request.fuel.saturating_sub(evidence.fuel);
        if left == 0 {
            report.left_out.push(file.to_owned());
            continue;
        }
        let mut repository = overlay.repository(&ground, request.seed);
        repository.limits.fuel = fuel(&ground, file, ids.len()).min(left);
        let run = run_tests(execute, &repository, file, &ids).map_err(|error| Dropped { why: error.to_string() })?;
        evidence.fuel = evidence.fuel.saturating_add(run.fuel);
        evidence.jobs.extend(run.jobs.iter().cloned());
        report.add(file, run);
    }
    Ok(DeskOutcome::done(report.text(), evidence))
}

/// Ids of the tests asked for. `Err` is the first name that is none; a test that the tree does not have counts as one here, and has
/// no record later.
fn wanted(request: &DeskRequest<'_>, named: &[String]) -> Result<BTreeSet<String>, String> {
    let (map, texts) = (request.ground.map, request.ground.texts);
    let of_file = |path: &String| map.tests().filter(|id| file_of(id) == path).cloned().collect::<Vec<_>>();
    if named.is_empty() {
        return Ok(match request.suite {
            Suite::Affected => map.affected(texts, request.tree),
            Suite::Files(files) => files.iter().flat_map(of_file).collect(),
        });
    }
    let mut found = BTreeSet::new();
    for name in named {
        let ids = if name.contains("::") {
            map.tests().filter(|id| *id == name || test_function(id) == *name).cloned().collect()
        } else {
            of_file(name)
        };
        if ids.is_empty() {
            return Err(name.clone());
        }
        found.extend(ids);
    }
    Ok(found)
}

fn by_file(ids: &BTreeSet<String>) -> BTreeMap<&str, Vec<String>> {
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for id in ids {
        files.entry(file_of(id)).or_default().push(id.clone());
    }
    files
}

#[derive(Default)]
struct Report {
    passed: usize,
    failed: Vec<TestRecord>,
    broken: Vec<(String, String)>,
    left_out: Vec<String>,
}

impl Report {
    fn add(&mut self, file: &str, run: FileRun) {
        self.broken.extend(run.broken.map(|why| (file.to_owned(), why)));
        for test in run.tests {
            match test.result {
                TestResult::Passed => self.passed += 1,
                _ => self.failed.push(test),
            }
        }
    }

    fn text(&self) -> String {
        let mut lines = vec![format!("{} passed, {} did not.", self.passed, self.failed.len())];
        lines.extend(self.broken.iter().map(|(file, why)| format!("No test of `{file}` ran: {}", why.trim())));
        let failed = |test: &TestRecord| format!("{} {:?}: {}", test.id, test.result, test.text.trim());
        lines.extend(self.failed.iter().map(failed));
        lines.extend(self.left_out.iter().map(|file| format!("`{file}` was not run: the fuel is used up.")));
        lines.join("\n")
    }
}
