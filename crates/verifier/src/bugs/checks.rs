//! The checks a proposed bug must pass, SSR's a to g and five of our own, in the order they are made: those that run
//! nothing come first. Each is a line of [`CHECKS`], and each has a bug in the tests that it alone rejects.

use std::collections::BTreeSet;

use veriplay_core::{Dropped, Execute, Fuzz, Patch, Status, TextFiles, Trust, Verdict, content_hash};

use super::bug_states::{BugStates, restore_files};
use super::code_scan::{MAX_PATCH_BYTES, scan_changes};
use super::grade::{RepairRequest, grade_repair, needs_shared};
use super::paths::{PatchPurpose, forbidden_change, is_test};
use super::test_runner::{RepoTestRunner, TestResults};
use super::{BugArtifact, BugProposal, RepoContext};
use crate::repository::TestResult;
use crate::runner::{Decision, saturating_u32};

/// The bounds of the checks. SSR's text leaves their values open; re-implementations use 5–10 passing tests, one or two
/// files, one failing test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BugRules {
    /// More tests than this must pass in the original.
    pub min_passing: usize,
    /// Files that `bug_inject` must change.
    pub min_changed_files: usize,
    /// Tests that must fail with the bug.
    pub min_failing: usize,
    /// Seeds of the two runs that must agree.
    pub seeds: [u64; 2],
}

impl BugRules {
    /// The least that the paper's conditions ask for.
    pub const LEAST: Self = Self { min_passing: 0, min_changed_files: 1, min_failing: 1, seeds: [1, 2] };
}

/// What the checks look at. Runs are made when a check asks for them, and once.
pub(crate) struct CheckContext<'a> {
    pub(crate) bug: &'a BugProposal,
    pub(crate) rules: &'a BugRules,
    pub(crate) states: BugStates,
    pub(crate) bench: RepoTestRunner<'a>,
    /// Tests that can notice the bug.
    pub(crate) affected: BTreeSet<String>,
    buggy: [Option<TestResults>; 2],
}

impl<'a> CheckContext<'a> {
    pub(super) fn new(
        bench: RepoTestRunner<'a>,
        bug: &'a BugProposal,
        rules: &'a BugRules,
        states: BugStates,
    ) -> Result<Self, Dropped> {
        let repo = bench.repo;
        let affected = repo.map.affected(bench.execute, repo, repo.texts, &states.buggy)?;
        Ok(Self { bug, rules, states, bench, affected, buggy: [None, None] })
    }

    /// The affected tests in the buggy state, by the first or the second seed.
    fn buggy(&mut self, run: usize) -> Result<&TestResults, Dropped> {
        if self.buggy[run].is_none() {
            self.buggy[run] = Some(self.bench.run(&self.states.buggy, &self.affected, self.rules.seeds[run])?);
        }
        Ok(self.buggy[run].get_or_insert_default())
    }

    /// Tests that pass in the original and fail with the bug.
    fn failing(&mut self) -> Result<BTreeSet<String>, Dropped> {
        let affected = self.affected.clone();
        let results = self.buggy(0)?;
        Ok(affected.into_iter().filter(|id| !results.passed(id)).collect())
    }

    fn original(&self) -> &TextFiles {
        self.bench.repo.texts
    }

    /// What the proposal is once every check has passed.
    pub(super) fn artifact(&mut self) -> Result<BugArtifact, Dropped> {
        let failing = self.failing()?;
        let (bug, repo) = (self.bug, self.bench.repo);
        let baseline = repo.baseline;
        let digest = content_hash(&(&baseline.package, &bug.bug_inject, &bug.test_weaken, &bug.failed_repairs));
        Ok(BugArtifact {
            schema_version: BugArtifact::SCHEMA_VERSION,
            task_id: format!("{}-{}-{}", baseline.name, baseline.version, digest.short()),
            name: baseline.name.clone(),
            version: baseline.version.clone(),
            package: baseline.package.clone(),
            bug: bug.clone(),
            pass_to_pass: repo.map.tests().filter(|id| !failing.contains(*id)).cloned().collect(),
            fail_to_pass: failing.into_iter().collect(),
        })
    }
}

/// What a check comes to: nothing, or why not.
type CheckResult = Result<Result<(), String>, Dropped>;

/// A check.
#[derive(Clone, Copy)]
pub struct BugCheck {
    /// The rule of verdicts it decides.
    pub name: &'static str,
    /// What must hold.
    pub what: &'static str,
    pub(crate) holds: fn(&mut CheckContext<'_>) -> CheckResult,
}

impl std::fmt::Debug for BugCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All of them.
pub const CHECKS: &[BugCheck] = &[
    BugCheck { name: "paths", what: "the bug changes code alone, the weakening test files alone", holds: paths },
    BugCheck {
        name: "test_files",
        what: "a: each test file exists, and the weakening touches no other",
        holds: test_files,
    },
    BugCheck { name: "records", what: "b: each test file gives a record a test, with the bug too", holds: records },
    BugCheck { name: "passing", what: "c: enough tests pass in the original", holds: passing },
    BugCheck { name: "changed_files", what: "d: the bug changes enough files", holds: changed_files },
    BugCheck { name: "machinery", what: "the bug reaches for no introspection, chance or clock", holds: machinery },
    BugCheck { name: "failing", what: "e: enough tests of the test files fail with the bug", holds: failing },
    BugCheck {
        name: "judgeable",
        what: "under split trust: each failing test fails with the package in an instance of its own, and passes there in the original",
        holds: judgeable,
    },
    BugCheck { name: "repeated", what: "another seed gives the same results", holds: repeated },
    BugCheck { name: "hidden", what: "f: the weakening hides a failing test, and breaks none", holds: hidden },
    BugCheck { name: "inverse", what: "g: undoing any one file of the bug makes a failing test pass", holds: inverse },
    BugCheck { name: "empty_repair", what: "an empty patch is no repair of it", holds: empty_repair },
];

fn require(condition: bool, why: impl FnOnce() -> String) -> CheckResult {
    Ok(if condition { Ok(()) } else { Err(why()) })
}

fn require_none(why: Option<String>) -> CheckResult {
    Ok(why.map_or(Ok(()), Err))
}

fn paths(context: &mut CheckContext<'_>) -> CheckResult {
    let (bug, repo) = (context.bug, context.bench.repo);
    let code = std::iter::once(&bug.bug_inject).chain(&bug.failed_repairs);
    // A repair may have to take all of it back.
    let large = |patch: &Patch| {
        let size = patch.to_string().len();
        (size > MAX_PATCH_BYTES).then(|| format!("a patch of the bug has {size} bytes, and may have {MAX_PATCH_BYTES}"))
    };
    let why =
        code.into_iter().find_map(|patch| forbidden_change(repo, patch, PatchPurpose::Code).or_else(|| large(patch)));
    // A file the weakening touches that no list names is check a's to find; here it must be a test's.
    let outside = bug.test_weaken.touched().map(|(path, _)| path).find(|path| !is_test(repo, path));
    let why = why.or_else(|| outside.map(|path| format!("the weakening touches `{path}`, which is no test")));
    require_none(why)
}

fn test_files(context: &mut CheckContext<'_>) -> CheckResult {
    let (bug, repo) = (context.bug, context.bench.repo);
    let known = |path: &String| repo.baseline.files.iter().any(|file| file.path == *path);
    if let Some(path) = bug.test_files.iter().find(|path| !known(path)) {
        return Ok(Err(format!("`{path}` is no test file of the original")));
    }
    let why = forbidden_change(repo, &bug.test_weaken, PatchPurpose::Weaken(&bug.test_files));
    require_none(why)
}

fn records(context: &mut CheckContext<'_>) -> CheckResult {
    let (bug, repo) = (context.bug, context.bench.repo);
    let mapped = |path: &String| repo.map.files.iter().any(|file| file.path == *path);
    if let Some(path) = bug.test_files.iter().find(|path| !mapped(path)) {
        return Ok(Err(format!("`{path}` gives no records in the original")));
    }
    if context.affected.is_empty() {
        return Ok(Ok(()));
    }
    let affected = context.affected.clone();
    let results = context.buggy(0)?;
    if let Some(why) = results.broken.first() {
        return Ok(Err(format!("with the bug {why}")));
    }
    let missing = |id: &&String| matches!(results.by_id.get(*id), None | Some(TestResult::Missing));
    if let Some(id) = affected.iter().find(missing) {
        return Ok(Err(format!("with the bug test `{id}` has no record")));
    }
    // One that is not run says nothing, and one that is expected to fail nothing new.
    let unrun = |id: &&String| matches!(results.by_id.get(*id), Some(TestResult::Skipped | TestResult::Xfailed));
    let unrun = affected.iter().find(unrun);
    require(unrun.is_none(), || format!("with the bug test `{}` is skipped", unrun.map_or("", |id| id)))
}

fn passing(context: &mut CheckContext<'_>) -> CheckResult {
    let listed = context.bench.repo.map.files.iter().filter(|file| context.bug.test_files.contains(&file.path));
    let (found, wanted) = (listed.map(|file| file.tests.len()).sum::<usize>(), context.rules.min_passing);
    require(found > wanted, || format!("{found} tests pass in the original, and more than {wanted} must"))
}

fn changed_files(context: &mut CheckContext<'_>) -> CheckResult {
    let (found, wanted) = (context.bug.bug_inject.touched().count(), context.rules.min_changed_files);
    require(found >= wanted, || format!("{found} files are changed, and {wanted} must be"))
}

fn machinery(context: &mut CheckContext<'_>) -> CheckResult {
    let (execute, repo, buggy) = (context.bench.execute, context.bench.repo, &context.states.buggy);
    let found = scan_changes(execute, repo, buggy, buggy, true, &mut context.bench.evidence)?;
    require_none(found.map(|found| found.why))
}

fn failing(context: &mut CheckContext<'_>) -> CheckResult {
    let listed = |id: &String| context.bug.test_files.iter().any(|file| super::test_runner::file_of(id) == file);
    let failing = context.failing()?;
    let (found, wanted) = (failing.iter().filter(|id| listed(id)).count(), context.rules.min_failing);
    require(found >= wanted, || format!("{found} tests fail with the bug, and {wanted} must"))
}

fn repeated(context: &mut CheckContext<'_>) -> CheckResult {
    let first = context.buggy(0)?.clone();
    let second = context.buggy(1)?;
    let other = first.by_id.iter().find(|(id, result)| second.by_id.get(*id) != Some(result));
    require(first == *second, || {
        other
            .map_or_else(|| "other files".to_owned(), |(id, result)| format!("`{id}` was {result:?} by one seed alone"))
    })
}

fn hidden(context: &mut CheckContext<'_>) -> CheckResult {
    let failing = context.failing()?;
    let (weakened, seed) = (context.states.weakened.clone(), context.rules.seeds[0]);
    let mut affected = context.affected.clone();
    // Lines that are added may break tests that do not notice the bug.
    if context.bug.test_weaken.changed_lines().1 > 0 {
        let touched: Vec<&str> = context.bug.test_weaken.touched().map(|(path, _)| path).collect();
        let beside = context.bench.repo.map.tests().filter(|id| touched.contains(&super::test_runner::file_of(id)));
        affected.extend(beside.cloned());
    }
    let results = context.bench.run(&weakened, &affected, seed)?;
    if let Some(why) = results.broken.first() {
        return Ok(Err(format!("weakened {why}")));
    }
    let worse = |id: &&String| !failing.contains(*id) && results.by_id.contains_key(*id) && !results.passed(id);
    if let Some(id) = affected.iter().find(worse) {
        return Ok(Err(format!("`{id}` passes with the bug and fails weakened")));
    }
    let shows = |id: &String| results.by_id.contains_key(id) && !results.passed(id);
    require(!failing.iter().all(shows), || format!("all {} failing tests fail as before", failing.len()))
}

fn judgeable(context: &mut CheckContext<'_>) -> CheckResult {
    let (failing, repo) = (context.failing()?, context.bench.repo);
    if repo.trust == Trust::Shared {
        return Ok(Ok(()));
    }
    if let Some(id) = failing.iter().find(|id| !repo.map.is_split(id)) {
        return Ok(Err(needs_shared(id)));
    }
    let results = context.bench.run_split(&context.states.buggy, &failing, context.rules.seeds[0])?;
    let unseen = failing.iter().find(|id| results.passed(id));
    require(unseen.is_none(), || {
        let id = unseen.map_or("", |id| id);
        format!("test `{id}` fails beside the package, and passes with the package in an instance of its own")
    })
}

/// A bug that tells when it is graded would be repaired by nothing.
fn empty_repair(context: &mut CheckContext<'_>) -> CheckResult {
    let artifact = context.artifact()?;
    let (execute, repo, seed) = (context.bench.execute, context.bench.repo, context.rules.seeds[0]);
    let empty = RepairRequest { artifact: &artifact, patch: "", fuzz: Fuzz::NONE, seed };
    let verdict = grade_repair(execute, repo, &empty)?;
    context.bench.add_cost_of(&verdict.evidence);
    require(verdict.status != Status::Accepted, || "graded with an empty patch, its failing tests pass".to_owned())
}

/// Inverse mutation testing. Undoing the only file of a bug gives the original, whose results are the baseline.
fn inverse(context: &mut CheckContext<'_>) -> CheckResult {
    let failing = context.failing()?;
    let touched = std::iter::once(&context.bug.bug_inject).chain(&context.bug.failed_repairs);
    let paths: BTreeSet<&str> = touched.flat_map(|patch| patch.touched().map(|(path, _)| path)).collect();
    for path in paths {
        let undone = restore_files(context.original(), &context.states.buggy, |found| found == path);
        if undone == *context.original() {
            continue;
        }
        let results = context.bench.run(&undone, &failing, context.rules.seeds[0])?;
        if !failing.iter().any(|id| results.passed(id)) {
            return Ok(Err(format!("without its change of `{path}` the bug is the same")));
        }
    }
    Ok(Ok(()))
}

/// A verdict on a proposed bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BugValidation {
    /// [`Status::Valid`], or [`Status::Invalid`] with the name of the check that failed as its rule.
    pub verdict: Verdict,
    /// `Some` exactly when it is valid.
    pub artifact: Option<BugArtifact>,
}

/// Puts a proposal through the checks.
///
/// # Errors
/// A host fault.
pub fn validate_bug(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    bug: &BugProposal,
    rules: &BugRules,
) -> Result<BugValidation, Dropped> {
    let bench = RepoTestRunner::new(execute, repo);
    let states = match BugStates::apply(repo.texts, bug) {
        Ok(states) => states,
        Err(error) => return Ok(invalid(bench, 0, "applies", error.to_string())),
    };
    let mut context = CheckContext::new(bench, bug, rules, states)?;
    for (index, check) in CHECKS.iter().enumerate() {
        if let Err(why) = (check.holds)(&mut context)? {
            return Ok(invalid(context.bench, index, check.name, why));
        }
    }
    let artifact = context.artifact()?;
    let total = saturating_u32(CHECKS.len());
    let verdict = Verdict { status: Status::Valid, passed: total, total, evidence: context.bench.evidence };
    Ok(BugValidation { verdict, artifact: Some(artifact) })
}

/// Every check for itself, whatever the others come to: why a proposal is refused, in full. `None` where it holds.
///
/// # Errors
/// A host fault.
pub fn check_each(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    bug: &BugProposal,
    rules: &BugRules,
) -> Result<Vec<(&'static str, Option<String>)>, Dropped> {
    let states = match BugStates::apply(repo.texts, bug) {
        Ok(states) => states,
        Err(error) => return Ok(vec![("applies", Some(error.to_string()))]),
    };
    let mut context = CheckContext::new(RepoTestRunner::new(execute, repo), bug, rules, states)?;
    CHECKS.iter().map(|check| Ok((check.name, (check.holds)(&mut context)?.err()))).collect()
}

fn invalid(bench: RepoTestRunner<'_>, passed: usize, rule: &str, why: String) -> BugValidation {
    let (passed, total) = (saturating_u32(passed), saturating_u32(CHECKS.len()));
    let decision = Decision { passed, total, ..Decision::by_rule(Status::Invalid, rule, why) };
    let verdict = decision.into_verdict(bench.evidence);
    BugValidation { verdict, artifact: None }
}
