//! The checks that a proposed bug must pass: SSR's a to g and six of our own, in the order in which they run. Each check is a line
//! of [`CHECKS`], and the tests hold a bug for each that no other check rejects.

use std::collections::BTreeSet;

use veriplay_core::{Dropped, Execute, Fuzz, SCHEMA_VERSION, Status, TextFiles, Trust, Verdict, content_hash};

use super::bug_states::{BugStates, deleted_modules, lacks_module, restore_files, restore_modules};
use super::characters::new_character;
use super::code_scan::{MAX_CHANGED_FILES, MAX_PATCH_BYTES, scan_changes};
use super::grade::{RepairRequest, grade_repair, needs_shared};
use super::paths::{PatchPurpose, forbidden_change, is_test};
use super::propose::unreadable_test_file;
use super::test_runner::{RepoTestRunner, TestResults, file_of, group_by_file};
use super::{BugArtifact, BugProposal, RepoContext};
use crate::repository::TestResult;
use crate::runner::{Decision, saturating_u32};

/// The bounds of the checks. The SSR paper leaves the values open; re-implementations use 5–10 passing tests, one or two
/// files, and one failing test.
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
    /// The minimum that the paper's conditions require.
    pub const LEAST: Self = Self { min_passing: 0, min_changed_files: 1, min_failing: 1, seeds: [1, 2] };
}

/// A proposal under validation. Runs start when a check first needs them, and their results are kept.
pub(crate) struct CheckContext<'a> {
    pub(crate) bug: &'a BugProposal,
    pub(crate) rules: &'a BugRules,
    pub(crate) states: BugStates,
    pub(crate) tests: RepoTestRunner<'a>,
    /// Tests that can notice the bug.
    pub(crate) affected: BTreeSet<String>,
    buggy: [Option<TestResults>; 2],
}

impl<'a> CheckContext<'a> {
    pub(super) fn new(
        tests: RepoTestRunner<'a>,
        bug: &'a BugProposal,
        rules: &'a BugRules,
        states: BugStates,
    ) -> Result<Self, Dropped> {
        let repo = tests.repo;
        let affected = repo.map.affected(tests.execute, repo, repo.texts, &states.buggy)?;
        Ok(Self { bug, rules, states, tests, affected, buggy: [None, None] })
    }

    /// Results of the affected tests in the buggy state, under the first or the second seed.
    fn buggy_results(&mut self, run: usize) -> Result<&TestResults, Dropped> {
        if self.buggy[run].is_none() {
            self.buggy[run] = Some(self.tests.run(&self.states.buggy, &self.affected, self.rules.seeds[run])?);
        }
        Ok(self.buggy[run].get_or_insert_default())
    }

    /// Tests that pass in the original and fail with the bug.
    fn failing_tests(&mut self) -> Result<BTreeSet<String>, Dropped> {
        let mut failing = self.affected.clone();
        let results = self.buggy_results(0)?;
        failing.retain(|id| !results.passed(id));
        Ok(failing)
    }

    fn original(&self) -> &TextFiles {
        self.tests.repo.texts
    }

    /// The files that the bug changes.
    fn changed_paths(&self) -> BTreeSet<&'a str> {
        self.bug.code_patches().flat_map(|patch| patch.touched().map(|(path, _)| path)).collect()
    }

    /// The artifact of a proposal that has passed every check.
    pub(super) fn artifact(&mut self) -> Result<BugArtifact, Dropped> {
        let failing = self.failing_tests()?;
        let (bug, repo) = (self.bug, self.tests.repo);
        let baseline = repo.baseline;
        let digest = content_hash(&(&baseline.package, &bug.bug_inject, &bug.test_weaken, &bug.failed_repairs));
        Ok(BugArtifact {
            schema_version: SCHEMA_VERSION,
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

/// Why a check has no result, or fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    #[error(transparent)]
    Host(#[from] Dropped),
    #[error("{0}")]
    Fails(String),
}

type CheckResult = Result<(), CheckError>;

/// A check of proposed bugs.
#[derive(Debug, Clone, Copy)]
pub struct BugCheck {
    /// Its name, and the rule of verdicts on bugs that fail it.
    pub name: &'static str,
    /// The condition.
    pub what: &'static str,
    pub(crate) holds: fn(&mut CheckContext<'_>) -> CheckResult,
}

impl BugCheck {
    /// Why a proposal fails it; `None` where it passes.
    fn objection(&self, context: &mut CheckContext<'_>) -> Result<Option<String>, Dropped> {
        match (self.holds)(context) {
            Ok(()) => Ok(None),
            Err(CheckError::Fails(why)) => Ok(Some(why)),
            Err(CheckError::Host(dropped)) => Err(dropped),
        }
    }
}

/// All checks, in the order in which they run.
pub const CHECKS: &[BugCheck] = &[
    BugCheck { name: "paths", what: "the bug changes only code, the weakening only test files", holds: paths },
    BugCheck {
        name: "characters",
        what: "the bug writes no character beyond printable ASCII that its files lack in the original",
        holds: characters,
    },
    BugCheck {
        name: "test_files",
        what: "a: each test file exists, and the weakening touches no other",
        holds: test_files,
    },
    BugCheck {
        name: "records",
        what: "b: each test file gives a record a test, with the bug too unless it needs a module that the bug deletes",
        holds: records,
    },
    BugCheck {
        name: "passing",
        what: "c: enough tests pass in the original, and all of a test command",
        holds: passing,
    },
    BugCheck { name: "changed_files", what: "d: the bug changes enough files", holds: changed_files },
    BugCheck { name: "machinery", what: "the bug reaches for no introspection, chance or clock", holds: machinery },
    BugCheck {
        name: "failing",
        what: "e: enough tests of the test files fail with the bug, and none outside a test command",
        holds: failing,
    },
    BugCheck {
        name: "judgeable",
        what: "under split trust: each failing test fails with the package in an instance of its own, and passes there in the original",
        holds: judgeable,
    },
    BugCheck { name: "repeated", what: "another seed gives the same results", holds: repeated },
    BugCheck { name: "hidden", what: "f: the weakening hides a failing test, and breaks none", holds: hidden },
    BugCheck {
        name: "inverse",
        what: "g: undoing any one file of the bug makes a failing test pass, or a passing one fail for want of a module that it deletes",
        holds: inverse,
    },
    BugCheck { name: "empty_repair", what: "an empty patch is no repair of it", holds: empty_repair },
];

fn fail(why: impl Into<String>) -> CheckResult {
    Err(CheckError::Fails(why.into()))
}

fn require(condition: bool, why: impl FnOnce() -> String) -> CheckResult {
    if condition { Ok(()) } else { fail(why()) }
}

fn require_none(why: Option<String>) -> CheckResult {
    why.map_or(Ok(()), fail)
}

fn paths(context: &mut CheckContext<'_>) -> CheckResult {
    let (bug, repo) = (context.bug, context.tests.repo);
    for patch in bug.code_patches() {
        require_none(forbidden_change(repo, patch, PatchPurpose::Code))?;
        // A repair may have to undo the whole patch, and repairs have the same limit.
        let size = patch.to_string().len();
        require(size <= MAX_PATCH_BYTES, || {
            format!("a patch of the bug has {size} bytes, and may have {MAX_PATCH_BYTES}")
        })?;
    }
    // Check `test_files` compares the weakening with the list of test files; this one requires test files only.
    let outside = bug.test_weaken.touched().map(|(path, _)| path).find(|path| !is_test(repo, path));
    require_none(outside.map(|path| format!("the weakening touches `{path}`, which is no test")))
}

fn characters(context: &mut CheckContext<'_>) -> CheckResult {
    let found = new_character(context.original(), &context.states.buggy, &context.changed_paths());
    require_none(found.map(|(path, char)| {
        format!(
            "`{path}`: U+{:04X} is not printable ASCII, and no file of the bug has it in the original",
            u32::from(char)
        )
    }))
}

fn test_files(context: &mut CheckContext<'_>) -> CheckResult {
    let (bug, repo) = (context.bug, context.tests.repo);
    let known = |path: &String| repo.baseline.files.iter().any(|file| file.path == *path);
    if let Some(path) = bug.test_files.iter().find(|path| !known(path)) {
        return fail(format!("`{path}` is no test file of the original"));
    }
    require_none(forbidden_change(repo, &bug.test_weaken, PatchPurpose::Weaken(&bug.test_files)))
}

fn records(context: &mut CheckContext<'_>) -> CheckResult {
    let (bug, repo) = (context.bug, context.tests.repo);
    if let Some(path) = bug.test_files.iter().find(|path| repo.map.file(path).is_none()) {
        return fail(format!("`{path}` gives no records in the original"));
    }
    if context.affected.is_empty() {
        return Ok(());
    }
    let affected = context.affected.clone();
    let deletes_module = lacks_module(context.original(), &context.states.buggy);
    let results = context.buggy_results(0)?.clone();
    require_none(results.invalid_file(deletes_module).map(|why| format!("with the bug {why}")))?;
    uncollected_with_cause(context, &results.uncollected)?;
    if let Some(id) = affected.iter().find(|id| results.lacks(id)) {
        return fail(format!("with the bug test `{id}` has no record"));
    }
    // Skipped tests and expected failures carry no information about the bug.
    let unrun = |id: &&String| matches!(results.by_id.get(*id), Some(TestResult::Skipped | TestResult::Xfailed));
    require_none(affected.iter().find(unrun).map(|id| format!("with the bug test `{id}` is skipped")))
}

/// Test files that pytest cannot collect speak against a bug unless it deletes modules that they need. Some file must be left, or the repository
/// can no longer be imported; the modules alone must be what the others lack: with these back, each file is collected; and each of the others
/// must have needed them before, see [`uncollected_with_need`].
fn uncollected_with_cause(context: &mut CheckContext<'_>, uncollected: &BTreeSet<String>) -> CheckResult {
    if uncollected.is_empty() {
        return Ok(());
    }
    let is_uncollected = |id: &&String| uncollected.contains(file_of(id));
    if context.affected.iter().all(|id| is_uncollected(&id)) {
        return fail("with the bug no test file can be collected");
    }
    let ids: BTreeSet<String> = context.affected.iter().filter(is_uncollected).cloned().collect();
    let restored = restore_modules(context.original(), &context.states.buggy);
    let results = context.tests.run(&restored, &ids, context.rules.seeds[0])?;
    let broken = results.broken.first();
    require_none(broken.map(|why| format!("with the bug, and the modules that it deletes, {why}")))?;
    uncollected_with_need(context, &ids)
}

/// The files of the tests `ids`, which pytest cannot collect, must have needed the deleted modules: a bug could delete what nothing needs, and
/// make other code import it. A module excuses the files that cannot be collected in the original without it, which are some of those that run
/// it there. With the modules back that do not excuse a file, pytest still cannot collect it: it lacks one that does.
fn uncollected_with_need(context: &mut CheckContext<'_>, ids: &BTreeSet<String>) -> CheckResult {
    let (repo, seed) = (context.tests.repo, context.rules.seeds[0]);
    let original = repo.texts;
    let mut needing: Vec<(&str, BTreeSet<String>)> = Vec::new();
    let deleted = deleted_modules(original, &context.states.buggy);
    // Each costs runs of its own.
    require(deleted.len() <= MAX_CHANGED_FILES, || {
        format!("{} modules are deleted, and {MAX_CHANGED_FILES} files may be changed", deleted.len())
    })?;
    for module in deleted {
        let runs_it = |id: &&String| repo.map.file(file_of(id)).is_some_and(|file| file.enters_module(module));
        let ids: BTreeSet<String> = ids.iter().filter(runs_it).cloned().collect();
        let mut without = original.clone();
        without.remove(module);
        needing.push((module, context.tests.run(&without, &ids, seed)?.uncollected));
    }
    for (file, ids) in group_by_file(ids) {
        let unneeded = needing.iter().filter(|(_, files)| !files.contains(file)).map(|(module, _)| *module);
        let unneeded: BTreeSet<&str> = unneeded.collect();
        let Some(module) = unneeded.first() else { continue };
        let restored = restore_files(original, &context.states.buggy, |path| unneeded.contains(path));
        let results = context.tests.run(&restored, &ids.into_iter().collect(), seed)?;
        require(results.uncollected.contains(file), || {
            format!(
                "with the bug `{file}` cannot be collected for want of `{module}`, which it does not need in the original"
            )
        })?;
    }
    Ok(())
}

fn passing(context: &mut CheckContext<'_>) -> CheckResult {
    let (bug, repo, wanted) = (context.bug, context.tests.repo, context.rules.min_passing);
    let listed = repo.map.files.iter().filter(|file| bug.test_files.contains(&file.path));
    let mut found = listed.map(|file| file.tests.len()).sum::<usize>();
    // The map has the results of whole files in the original, which is how tests are run; a run for each command would be in no budget.
    if let Some(command) = &bug.test_command {
        require_none(command.invalid_selection(repo))?;
        found = repo.map.tests().filter(|id| command.selects(id)).count();
    }
    require(found > wanted, || format!("{found} tests pass in the original, and more than {wanted} must"))
}

fn changed_files(context: &mut CheckContext<'_>) -> CheckResult {
    let (found, wanted) = (context.bug.bug_inject.touched().count(), context.rules.min_changed_files);
    require(found >= wanted, || format!("{found} files are changed, and {wanted} must be"))
}

fn machinery(context: &mut CheckContext<'_>) -> CheckResult {
    let (execute, repo, buggy) = (context.tests.execute, context.tests.repo, &context.states.buggy);
    let found = scan_changes(execute, repo, buggy, buggy, true, &mut context.tests.evidence)?;
    require_none(found.map(|found| found.why))
}

fn failing(context: &mut CheckContext<'_>) -> CheckResult {
    let bug = context.bug;
    let failing = context.failing_tests()?;
    // A failed repair may break other tests than its bug, whose command the proposal has.
    if let Some(command) = bug.test_command.as_ref().filter(|_| bug.order() == 1)
        && let Some(id) = failing.iter().find(|id| !command.selects(id))
    {
        return fail(format!("test `{id}` fails with the bug, and the test command does not run it"));
    }
    let listed = |id: &&String| bug.test_files.iter().any(|file| file_of(id) == file);
    let (found, wanted) = (failing.iter().filter(listed).count(), context.rules.min_failing);
    require(found >= wanted, || format!("{found} tests fail with the bug, and {wanted} must"))
}

fn repeated(context: &mut CheckContext<'_>) -> CheckResult {
    let first = context.buggy_results(0)?.clone();
    let second = context.buggy_results(1)?;
    let other = first.by_id.iter().find(|(id, result)| second.by_id.get(*id) != Some(result));
    let why = other.map(|(id, result)| format!("`{id}` was {result:?} by one seed alone"));
    require(first == *second, || why.unwrap_or_else(|| "other files".to_owned()))
}

fn hidden(context: &mut CheckContext<'_>) -> CheckResult {
    let failing = context.failing_tests()?;
    let (weakened, seed) = (context.states.weakened.clone(), context.rules.seeds[0]);
    let (bug, execute, repo) = (context.bug, context.tests.execute, context.tests.repo);
    let touched: Vec<&str> = bug.test_weaken.touched().map(|(path, _)| path).collect();
    let weakened_repo = RepoContext { texts: &weakened, ..*repo };
    let unread = unreadable_test_file(execute, &weakened_repo, &touched, &mut context.tests.evidence)?;
    require_none(unread.map(|why| format!("weakened {why}")))?;
    let mut affected = context.affected.clone();
    // Added lines may break tests that do not notice the bug.
    if bug.test_weaken.changed_lines().1 > 0 {
        affected.extend(repo.map.tests().filter(|id| touched.contains(&file_of(id))).cloned());
    }
    // The tests of a file that the weakening deletes are hidden.
    affected.retain(|id| weakened.contains_key(file_of(id)));
    let results = context.tests.run(&weakened, &affected, seed)?;
    require_none(results.broken.first().map(|why| format!("weakened {why}")))?;
    let fails = |id: &String| results.by_id.contains_key(id) && !results.passed(id);
    let worse = affected.iter().find(|id| !failing.contains(*id) && fails(id));
    require_none(worse.map(|id| format!("`{id}` passes with the bug and fails weakened")))?;
    require(!failing.iter().all(fails), || format!("all {} failing tests fail as before", failing.len()))
}

fn judgeable(context: &mut CheckContext<'_>) -> CheckResult {
    let (failing, repo) = (context.failing_tests()?, context.tests.repo);
    if repo.trust == Trust::Shared {
        return Ok(());
    }
    require_none(failing.iter().find(|id| !repo.map.is_split(id)).map(|id| needs_shared(id)))?;
    let results = context.tests.run_split(&context.states.buggy, &failing, context.rules.seeds[0])?;
    let unseen = failing.iter().find(|id| results.passed(id));
    require_none(unseen.map(|id| {
        format!("test `{id}` fails beside the package, and passes with the package in an instance of its own")
    }))
}

/// A bug that detects grading, and then behaves, would count as repaired by an empty patch.
fn empty_repair(context: &mut CheckContext<'_>) -> CheckResult {
    let artifact = context.artifact()?;
    let (execute, repo, seed) = (context.tests.execute, context.tests.repo, context.rules.seeds[0]);
    let empty = RepairRequest { artifact: &artifact, patch: "", fuzz: Fuzz::NONE, seed };
    let verdict = grade_repair(execute, repo, &empty)?;
    context.tests.add_cost_of(&verdict.evidence);
    require(verdict.status != Status::Accepted, || "graded with an empty patch, its failing tests pass".to_owned())
}

/// Inverse mutation testing. Undoing the only file of a bug gives the original, whose results are the baseline. Where the bug deletes a
/// module, other files are changed so that the rest still runs: [`is_needed_without_modules`].
fn inverse(context: &mut CheckContext<'_>) -> CheckResult {
    let failing = context.failing_tests()?;
    let deletes_module = lacks_module(context.original(), &context.states.buggy);
    let passing: BTreeSet<String> = context.affected.difference(&failing).cloned().collect();
    for path in context.changed_paths() {
        let undone = restore_files(context.original(), &context.states.buggy, |found| found == path);
        if undone == *context.original() {
            continue;
        }
        let seed = context.rules.seeds[0];
        let results = context.tests.run(&undone, &failing, seed)?;
        if failing.iter().any(|id| results.passed(id)) {
            continue;
        }
        if !(deletes_module && is_needed_without_modules(context, &undone, &passing)?) {
            return fail(format!("without its change of `{path}` the bug is the same"));
        }
    }
    Ok(())
}

/// Whether tests that pass with the bug fail in the state `undone`, and pass there with the deleted modules back. Changes that need only each
/// other fail there with these modules too.
fn is_needed_without_modules(
    context: &mut CheckContext<'_>,
    undone: &TextFiles,
    passing: &BTreeSet<String>,
) -> Result<bool, Dropped> {
    let seed = context.rules.seeds[0];
    let results = context.tests.run(undone, passing, seed)?;
    let failing: BTreeSet<String> = passing.iter().filter(|id| !results.passed(id)).cloned().collect();
    if failing.is_empty() {
        return Ok(false);
    }
    let restored = restore_modules(context.original(), undone);
    let results = context.tests.run(&restored, &failing, seed)?;
    Ok(failing.iter().all(|id| results.passed(id)))
}

/// The result of [`validate_bug`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BugValidation {
    /// [`Status::Valid`], or [`Status::Invalid`] with the name of the check that failed as its rule.
    pub verdict: Verdict,
    /// `Some` exactly when the bug is valid.
    pub artifact: Option<BugArtifact>,
}

/// Runs the checks on a proposal, up to the first that fails.
pub fn validate_bug(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    bug: &BugProposal,
    rules: &BugRules,
) -> Result<BugValidation, Dropped> {
    let tests = RepoTestRunner::new(execute, repo);
    let states = match BugStates::apply(repo.texts, bug) {
        Ok(states) => states,
        Err(error) => return Ok(invalid(tests, 0, "applies", error.to_string())),
    };
    let mut context = CheckContext::new(tests, bug, rules, states)?;
    for (index, check) in CHECKS.iter().enumerate() {
        if let Some(why) = check.objection(&mut context)? {
            return Ok(invalid(context.tests, index, check.name, why));
        }
    }
    let artifact = context.artifact()?;
    let total = saturating_u32(CHECKS.len());
    let verdict = Verdict { status: Status::Valid, passed: total, total, evidence: context.tests.evidence };
    Ok(BugValidation { verdict, artifact: Some(artifact) })
}

/// Runs every check, whatever the others decide. Returns each check's name and why it fails; `None` where it passes.
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
    CHECKS.iter().map(|check| Ok((check.name, check.objection(&mut context)?))).collect()
}

fn invalid(tests: RepoTestRunner<'_>, passed: usize, rule: &str, why: String) -> BugValidation {
    let (passed, total) = (saturating_u32(passed), saturating_u32(CHECKS.len()));
    let decision = Decision { passed, total, ..Decision::by_rule(Status::Invalid, rule, why) };
    let verdict = decision.into_verdict(tests.evidence);
    BugValidation { verdict, artifact: None }
}
