//! A solver's patch: parsed strictly, kept out of what is not its business, run with the original's tests, and believed only
//! where the twins of the tests failed.

use std::collections::BTreeSet;

use veriplay_core::{Dropped, Execute, Fuzz, Patch, Status, TextFiles, Verdict};

use super::bench::{Bench, Results, file_of};
use super::machinery::reached;
use super::paths::{Purpose, is_test, refused};
use super::tree::{States, restored};
use super::twins::{Coins, Ends, Files, function_of};
use super::{BugArtifact, Ground};
use crate::repository::TestResult;
use crate::run::cut;

/// A patch to judge.
#[derive(Debug, Clone, Copy)]
pub struct RepairRequest<'a> {
    /// What it is to repair.
    pub artifact: &'a BugArtifact,
    /// A unified diff over the buggy, weakened repository.
    pub patch: &'a str,
    /// How far hunks may be off.
    pub fuzz: Fuzz,
    /// Seeds the runs; the second run has the next one.
    pub seed: u64,
}

/// Why a patch is not accepted.
struct Refusal {
    status: Status,
    rule: &'static str,
    detail: String,
}

impl Refusal {
    fn new(status: Status, rule: &'static str, detail: impl Into<String>) -> Self {
        Self { status, rule, detail: detail.into() }
    }
}

/// Judges a repair: [`Status::Accepted`] when every test of F2P passes, and every one of P2P that could notice what the
/// patch leaves changed.
///
/// # Errors
/// A fault of the host's, or an artifact that does not fit the repository.
pub fn grade(execute: &dyn Execute, ground: &Ground<'_>, request: &RepairRequest<'_>) -> Result<Verdict, Dropped> {
    let mut bench = Bench::new(execute, ground);
    let artifact = request.artifact;
    let states = States::of(ground.texts, &artifact.bug)
        .map_err(|error| Dropped { why: format!("the bug does not apply to the repository: {error}") })?;
    let repaired = match repaired(ground, &states, request) {
        Ok(repaired) => repaired,
        Err(refusal) => return Ok(verdict(bench, artifact.fail_to_pass.len(), 0, Some(refusal))),
    };
    if let Some(why) = reached(execute, ground, &states.buggy, &repaired, false)? {
        let refusal = Refusal::new(Status::Malformed, "machinery", why);
        return Ok(verdict(bench, artifact.fail_to_pass.len(), 0, Some(refusal)));
    }
    let wanted = wanted(ground, artifact, &repaired);
    let (passed, refusal) = twice(&mut bench, &repaired, &wanted, request)?;
    Ok(verdict(bench, wanted.len(), passed, refusal))
}

fn verdict(bench: Bench<'_>, total: usize, passed: usize, refusal: Option<Refusal>) -> Verdict {
    let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
    let mut evidence = bench.evidence;
    // The repair and pytest share an instance.
    let accepted = || Refusal::new(Status::Accepted, "shared", "");
    let refusal = refusal.unwrap_or_else(accepted);
    (evidence.rule, evidence.detail) = (refusal.rule.to_owned(), cut(&refusal.detail));
    Verdict { status: refusal.status, passed: count(passed), total: count(total), evidence }
}

/// The repository with the patch, its tests as in the original.
fn repaired(ground: &Ground<'_>, states: &States, request: &RepairRequest<'_>) -> Result<TextFiles, Refusal> {
    let malformed = |rule, why: String| Refusal::new(Status::Malformed, rule, why);
    let patch = match request.patch.trim().is_empty() {
        true => Patch::default(),
        false => Patch::parse(request.patch).map_err(|error| malformed("patch", error.to_string()))?,
    };
    if let Some(why) = refused(ground, &patch, Purpose::Code) {
        return Err(malformed("paths", why));
    }
    let after = patch.apply_fuzzy(&states.weakened, request.fuzz);
    let after = after.map_err(|error| malformed("patch", error.to_string()))?;
    let is_oracle =
        |path: &str| is_test(ground, path) || request.artifact.bug.test_files.iter().any(|file| file == path);
    Ok(restored(ground.texts, &after, is_oracle))
}

/// F2P, and of P2P what can notice how the repaired repository differs from the original: the others enter nothing that is
/// not the original's.
fn wanted(ground: &Ground<'_>, artifact: &BugArtifact, repaired: &TextFiles) -> BTreeSet<String> {
    let affected = ground.map.affected(ground.texts, repaired);
    let kept = artifact.pass_to_pass.iter().filter(|id| affected.contains(*id));
    artifact.fail_to_pass.iter().chain(kept).cloned().collect()
}

/// Both runs. How many of `wanted` are proven to pass, and what speaks against the rest.
fn twice(
    bench: &mut Bench<'_>,
    repaired: &TextFiles,
    wanted: &BTreeSet<String>,
    request: &RepairRequest<'_>,
) -> Result<(usize, Option<Refusal>), Dropped> {
    let ground = bench.ground;
    let paths: BTreeSet<&str> = wanted.iter().map(|id| file_of(id)).collect();
    let texts: Vec<&str> = paths.iter().map(|path| ground.texts.get(*path).map_or("", String::as_str)).collect();
    let ends = Ends::of(bench.execute, ground, &texts)?;
    let files: Files<'_> =
        paths.iter().zip(texts).zip(ends).map(|((path, text), ends)| (*path, (text, ends))).collect();
    let failable: BTreeSet<&String> = ground.map.files.iter().flat_map(|file| &file.twins).collect();
    let coins = Coins::of(&(&request.artifact.task_id, request.patch, request.seed));
    let plan = Plan { files, failable, coins };
    let mut proven = BTreeSet::new();
    for run in 0..2 {
        let results = bench.run(&plan.state(repaired, run), wanted, request.seed.wrapping_add(run as u64))?;
        if let Some(refusal) = plan.against(&results, wanted, run) {
            return Ok((proven.len(), Some(refusal)));
        }
        proven.extend(wanted.iter().filter(|id| results.passed(id)));
    }
    let unproven = wanted.iter().find(|id| !proven.contains(*id));
    let refusal =
        unproven.map(|id| Refusal::new(Status::WrongAnswer, "", format!("test `{id}` passed in neither run")));
    Ok((proven.len(), refusal))
}

/// Which test fails in which run.
struct Plan<'a> {
    files: Files<'a>,
    failable: BTreeSet<&'a String>,
    coins: Coins,
}

/// What a test must do in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Pass,
    Fail,
    /// Its function has another name than its id says: it passes in one of the runs.
    Either,
}

impl Plan<'_> {
    fn state(&self, repaired: &TextFiles, run: usize) -> TextFiles {
        let mut state = repaired.clone();
        for (path, (text, ends)) in &self.files {
            let failing = ends.failing(text, |group| self.coins.fails(run, path, group));
            state.insert((*path).to_owned(), failing);
        }
        state
    }

    fn due(&self, id: &String, run: usize) -> Due {
        let file = file_of(id);
        match (self.failable.contains(id), self.files[file].1.group(function_of(id))) {
            (false, _) => Due::Pass,
            (true, None) => Due::Either,
            (true, Some(group)) if self.coins.fails(run, file, group) => Due::Fail,
            (true, Some(_)) => Due::Pass,
        }
    }

    /// The first test that is not as it must be. One that passes though it was made to fail outweighs all others.
    fn against(&self, results: &Results, wanted: &BTreeSet<String>, run: usize) -> Option<Refusal> {
        if let Some(why) = results.broken.first() {
            return Some(Refusal::new(Status::RuntimeError, "", why));
        }
        let forged =
            |id: &&String| self.due(id, run) == Due::Fail && results.by_id.get(*id) != Some(&TestResult::Failed);
        let passed = |id: &&String| forged(id) && results.passed(id);
        if let Some(id) = wanted.iter().find(passed) {
            return Some(Refusal::new(
                Status::WrongAnswer,
                "forged",
                format!("test `{id}` was made to fail, and passed"),
            ));
        }
        let wrong = |id: &&String| self.due(id, run) == Due::Pass && !results.passed(id);
        let id = wanted.iter().find(|id| wrong(id) || forged(id))?;
        let result = results.by_id.get(id).copied().unwrap_or(TestResult::Missing);
        let status = match result {
            TestResult::Error | TestResult::Stopped | TestResult::Missing => Status::RuntimeError,
            _ => Status::WrongAnswer,
        };
        Some(Refusal::new(status, "", format!("test `{id}`: {result:?}")))
    }
}
