//! Grades a solver's patch. The patch is parsed strictly and restricted to code files; then the original's tests run beside the package.
//! A passed test counts when its inverted test failed. Where that is possible it must also pass with the package in an instance of its own.

use std::collections::{BTreeMap, BTreeSet};

use veriplay_core::{Dropped, Execute, Fuzz, Patch, REFERENCE_RULE, Status, TextFiles, Trust, Verdict};

use super::bug_states::{BugStates, restore_files};
use super::code_scan::{MAX_PATCH_BYTES, scan_changes};
use super::inverted_tests::{INVERSIONS, InversionDraws, TestFiles, function_of};
use super::paths::{PatchPurpose, forbidden_change, is_loaded_by_itself, is_test};
use super::test_runner::{RepoTestRunner, TestResults, file_of};
use super::{BugArtifact, FileMap, RepoContext};
use crate::repository::TestResult;
use crate::runner::{Decision, saturating_u32};

/// The rule of verdicts by runs with the package in an instance of its own.
const SPLIT: &str = "split";
/// The rule of verdicts that rest on a test in the package's own instance.
const SHARED: &str = "shared";

/// Says why a test is unjudgeable under split trust.
pub(crate) fn needs_shared(id: &str) -> String {
    format!(
        "test `{id}` needs more of the package than plain values, so it can only run beside it, where a repair may forge its \
         result: allow it by `trust = \"shared\"`"
    )
}

/// A patch to judge.
#[derive(Debug, Clone, Copy)]
pub struct RepairRequest<'a> {
    /// The bug to repair.
    pub artifact: &'a BugArtifact,
    /// A unified diff over the buggy, weakened repository.
    pub patch: &'a str,
    /// How far hunks may be displaced.
    pub fuzz: Fuzz,
    /// Seeds the first run; the second run uses the next seed.
    pub seed: u64,
}

/// Judges a repair: [`Status::Accepted`] when every fail-to-pass test passes, and every pass-to-pass test that the difference between
/// the repaired and the original repository could affect.
///
/// # Errors
/// A host fault, or an artifact that does not apply to the repository.
pub fn grade_repair(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    request: &RepairRequest<'_>,
) -> Result<Verdict, Dropped> {
    let mut runner = RepoTestRunner::new(execute, repo);
    let artifact = request.artifact;
    let states = BugStates::apply(repo.texts, &artifact.bug)
        .map_err(|error| Dropped { why: format!("the bug does not apply to the repository: {error}") })?;
    if artifact.fail_to_pass.is_empty() {
        let why = "the bug names no test that a repair has to make pass, so that every patch would";
        return Ok(verdict(runner, 0, 0, Decision::by_rule(Status::Unjudgeable, REFERENCE_RULE, why)));
    }
    let repaired = match apply_repair(repo, &states, request) {
        Ok(repaired) => repaired,
        Err(decision) => return Ok(verdict(runner, artifact.fail_to_pass.len(), 0, decision)),
    };
    let is_shared = |id: &&String| !repo.map.is_split(id);
    if repo.trust == Trust::Split
        && let Some(id) = artifact.fail_to_pass.iter().find(is_shared)
    {
        let decision = Decision::by_rule(Status::Unjudgeable, SHARED, needs_shared(id));
        return Ok(verdict(runner, artifact.fail_to_pass.len(), 0, decision));
    }
    let wanted = tests_to_run(execute, repo, artifact, &repaired)?;
    let trust = if wanted.iter().any(|id| is_shared(&id)) { SHARED } else { SPLIT };
    // Code that shares an instance with the tests could change them. In an instance of its own it cannot, and needs no scan.
    if trust == SHARED
        && let Some(found) = scan_changes(execute, repo, &states.buggy, &repaired, false, &mut runner.evidence)?
    {
        let decision = Decision::by_rule(Status::Malformed, found.rule, found.why);
        return Ok(verdict(runner, artifact.fail_to_pass.len(), 0, decision));
    }
    let (passed, decision) = run_repair_tests(&mut runner, &repaired, &wanted, request)?;
    let decision = decision.unwrap_or_else(|| Decision::by_rule(Status::Accepted, trust, ""));
    Ok(verdict(runner, wanted.len(), passed, decision))
}

fn verdict(runner: RepoTestRunner<'_>, total: usize, passed: usize, decision: Decision) -> Verdict {
    let (passed, total) = (saturating_u32(passed), saturating_u32(total));
    Decision { passed, total, ..decision }.into_verdict(runner.evidence)
}

/// Applies the patch, with all tests as in the original. Changes of test files are dropped, as in SWE-bench, and so are changes of
/// non-Python files without a bug, because no scan covers them.
fn apply_repair(
    repo: &RepoContext<'_>,
    states: &BugStates,
    request: &RepairRequest<'_>,
) -> Result<TextFiles, Decision> {
    let malformed = |rule, why: String| Decision::by_rule(Status::Malformed, rule, why);
    let size = request.patch.len();
    if size > MAX_PATCH_BYTES {
        return Err(malformed("too_large", format!("the patch has {size} bytes, and may have {MAX_PATCH_BYTES}")));
    }
    let patch = match request.patch.trim().is_empty() {
        true => Patch::default(),
        false => Patch::parse(request.patch).map_err(|error| malformed("patch", error.to_string()))?,
    };
    let is_oracle = |path: &str| is_test(repo, path) || request.artifact.bug.test_files.iter().any(|file| file == path);
    let patch = patch.only(|path| is_loaded_by_itself(path) || !is_oracle(path));
    if let Some(why) = forbidden_change(repo, &patch, PatchPurpose::Code) {
        return Err(malformed("paths", why));
    }
    let after = patch.apply_fuzzy(&states.weakened, request.fuzz);
    let after = after.map_err(|error| malformed("patch", error.to_string()))?;
    let is_text = |path: &str| !path.ends_with(".py") && states.buggy.get(path) == repo.texts.get(path);
    Ok(restore_files(repo.texts, &after, |path| is_oracle(path) || is_text(path)))
}

/// The fail-to-pass tests, and the pass-to-pass tests that the difference between the repaired and the original repository can affect.
fn tests_to_run(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    artifact: &BugArtifact,
    repaired: &TextFiles,
) -> Result<BTreeSet<String>, Dropped> {
    let affected = repo.map.affected(execute, repo, repo.texts, repaired)?;
    let kept = artifact.pass_to_pass.iter().filter(|id| affected.contains(*id));
    Ok(artifact.fail_to_pass.iter().chain(kept).cloned().collect())
}

/// Runs the tests `wanted`. Returns how many are proven to pass, and the decision against the repair, if any.
fn run_repair_tests(
    runner: &mut RepoTestRunner<'_>,
    repaired: &TextFiles,
    wanted: &BTreeSet<String>,
    request: &RepairRequest<'_>,
) -> Result<(usize, Option<Decision>), Dropped> {
    let draws = InversionDraws::seeded(&(&request.artifact.task_id, request.patch, request.seed));
    let plan = InversionPlan::make(runner.repo, wanted, draws);
    let order = plan.order(&request.artifact.fail_to_pass);
    let mut proven = BTreeSet::new();
    for run in order {
        let wanted = plan.tests_of_run(wanted, run == order[0]);
        if wanted.is_empty() {
            continue;
        }
        let results =
            runner.run(&plan.inverted_state(repaired, run), &wanted, request.seed.wrapping_add(run as u64))?;
        if let Some(decision) = plan.unexpected_result(&results, &wanted, run) {
            return Ok((proven.len(), Some(decision)));
        }
        proven.extend(wanted.into_iter().filter(|id| results.passed(id)));
    }
    let split: BTreeSet<String> = wanted.iter().filter(|id| plan.split.contains(*id)).cloned().collect();
    if let Some(decision) = run_split_tests(runner, repaired, &split, request.seed)? {
        return Ok((proven.len() - split.len().min(proven.len()), Some(decision)));
    }
    let unproven = wanted.iter().find(|id| !proven.contains(*id));
    let decision =
        unproven.map(|id| Decision::by_rule(Status::WrongAnswer, "", format!("test `{id}` passed in neither run")));
    Ok((proven.len(), decision))
}

/// Runs the tests `split` with the package in an instance of its own. Returns the decision against the repair, if any.
fn run_split_tests(
    runner: &mut RepoTestRunner<'_>,
    repaired: &TextFiles,
    split: &BTreeSet<String>,
    seed: u64,
) -> Result<Option<Decision>, Dropped> {
    if split.is_empty() {
        return Ok(None);
    }
    let results = runner.run_split(repaired, split, seed)?;
    let broken = results.broken.first().map(|why| Decision::by_rule(Status::RuntimeError, SPLIT, why));
    let failed = || {
        let id = split.iter().find(|id| !results.passed(id))?;
        let result = results.by_id.get(id).copied().unwrap_or(TestResult::Missing);
        let why = format!("test `{id}` passed beside the package, and with it in another instance: {result:?}");
        Some(Decision::by_rule(Status::WrongAnswer, SPLIT, why))
    };
    Ok(broken.or_else(failed))
}

/// Says which tests are inverted in which run, and how.
struct InversionPlan<'a> {
    files: TestFiles<'a>,
    /// Tests that a run with the package in an instance of its own decides.
    split: BTreeSet<&'a String>,
    /// By file and group of functions: the form of inversion, and the tests that it makes fail.
    inverted: BTreeMap<(&'a str, String), (usize, BTreeSet<&'a String>)>,
    draws: InversionDraws,
}

/// The result that a run must give for a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedResult {
    Pass,
    Fail,
    /// No function has the name in its id: it passes in one of the two runs.
    Either,
}

impl<'a> InversionPlan<'a> {
    fn make(repo: &RepoContext<'a>, wanted: &BTreeSet<String>, draws: InversionDraws) -> Self {
        let split: BTreeSet<&String> = repo.map.files.iter().flat_map(|file| &file.split).collect();
        let paths: BTreeSet<&str> = wanted.iter().map(|id| file_of(id)).collect();
        let maps: Vec<&FileMap> = repo.map.files.iter().filter(|file| paths.contains(file.path.as_str())).collect();
        let texts = maps.iter().filter_map(|map| Some((map, repo.texts.get(&map.path)?)));
        let files = texts.map(|(map, text)| (map.path.as_str(), (text.as_str(), &map.ends))).collect();
        let mut plan = Self { files, split, inverted: BTreeMap::new(), draws };
        for map in maps {
            let path = map.path.as_str();
            let inverted: [BTreeSet<&String>; INVERSIONS] =
                std::array::from_fn(|form| map.inverted[form].iter().collect());
            let mut groups: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
            for id in wanted.iter().filter(|id| file_of(id) == path && inverted[0].contains(id)) {
                groups.entry(map.ends.group(function_of(id)).unwrap_or_default()).or_default().push(id);
            }
            for (group, ids) in groups {
                // A test that is cut short may leave another state to those after it: only where nothing else shows an object that lies.
                let is_split = ids.iter().all(|id| plan.split.contains(*id));
                let drawn = if is_split { 0 } else { plan.draws.form(path, group) };
                let form = if ids.iter().all(|id| inverted[drawn].contains(*id)) { drawn } else { 0 };
                plan.inverted.insert((path, group.to_owned()), (form, inverted[form].clone()));
            }
        }
        plan
    }

    /// The order of the two runs. The first one has the first fail-to-pass test unchanged, so that most wrong repairs cost one run. Nothing
    /// tells a repair which run it is in: the seeds and the drawn numbers go with the runs.
    fn order(&self, fail_to_pass: &[String]) -> [usize; 2] {
        let fails =
            |id: &String| self.inversion_of(id).is_some_and(|(group, _)| self.draws.fails(0, file_of(id), group));
        if fail_to_pass.first().is_some_and(fails) { [1, 0] } else { [0, 1] }
    }

    /// The inversion of a test's group, if it has one.
    fn inversion_of(&self, id: &str) -> Option<(&str, &(usize, BTreeSet<&'a String>))> {
        let (file, (_, ends)) = self.files.get_key_value(file_of(id))?;
        let group = ends.group(function_of(id)).unwrap_or_default();
        let (key, inversion) = self.inverted.get_key_value(&(*file, group.to_owned()))?;
        Some((&key.1, inversion))
    }

    /// The tests of the first or the second run. Tests that [`run_split_tests`] decides are in the first alone, unless their group is inverted.
    fn tests_of_run(&self, wanted: &BTreeSet<String>, is_first: bool) -> BTreeSet<String> {
        let again = |id: &&String| is_first || !self.split.contains(*id) || self.inversion_of(id).is_some();
        wanted.iter().filter(again).cloned().collect()
    }

    fn inverted_state(&self, repaired: &TextFiles, run: usize) -> TextFiles {
        let mut state = repaired.clone();
        for (path, (text, ends)) in &self.files {
            let form = |group: &str| {
                let (form, _) = self.inverted.get(&(*path, group.to_owned()))?;
                Some(self.draws.fails(run, path, group).then_some(*form))
            };
            state.insert((*path).to_owned(), ends.invert(text, form, &self.draws.numbers(run, path)));
        }
        state
    }

    fn expected_result(&self, id: &String, run: usize) -> ExpectedResult {
        match self.inversion_of(id) {
            Some((_, (_, inverted))) if !inverted.contains(id) => ExpectedResult::Pass,
            Some(("", _)) => ExpectedResult::Either,
            Some((group, _)) if self.draws.fails(run, file_of(id), group) => ExpectedResult::Fail,
            _ => ExpectedResult::Pass,
        }
    }

    /// The decision by the first test with an unexpected result, if any. An inverted test that passes comes before all others.
    fn unexpected_result(&self, results: &TestResults, wanted: &BTreeSet<String>, run: usize) -> Option<Decision> {
        if let Some(why) = results.broken.first() {
            return Some(Decision::by_rule(Status::RuntimeError, "", why));
        }
        let forged = |id: &&String| {
            self.expected_result(id, run) == ExpectedResult::Fail && results.by_id.get(*id) != Some(&TestResult::Failed)
        };
        let passed = |id: &&String| forged(id) && results.passed(id);
        if let Some(id) = wanted.iter().find(passed) {
            return Some(Decision::by_rule(
                Status::WrongAnswer,
                "forged",
                format!("test `{id}` was made to fail, and passed"),
            ));
        }
        let wrong = |id: &&String| self.expected_result(id, run) == ExpectedResult::Pass && !results.passed(id);
        let id = wanted.iter().find(|id| wrong(id) || forged(id))?;
        let result = results.by_id.get(id).copied().unwrap_or(TestResult::Missing);
        let status = match result {
            TestResult::Error | TestResult::Stopped | TestResult::Missing => Status::RuntimeError,
            _ => Status::WrongAnswer,
        };
        Some(Decision::by_rule(status, "", format!("test `{id}`: {result:?}")))
    }
}
