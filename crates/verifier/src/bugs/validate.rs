//! Whether a proposed bug is one: every check of [`CHECKS`], in order, and the artifact of what passes them all.

use std::collections::BTreeSet;

use veriplay_core::{Dropped, Execute, Status, TextFiles, Verdict, content_hash};

use super::bench::{Bench, Results};
use super::checks::CHECKS;
use super::tree::States;
use super::{BugArtifact, BugProposal, RepoContext};
use crate::run::cut;

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

/// A verdict on a proposed bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validated {
    /// [`Status::Valid`], or [`Status::Invalid`] with the name of the check that failed as its rule.
    pub verdict: Verdict,
    /// `Some` exactly when it is valid.
    pub artifact: Option<BugArtifact>,
}

/// What the checks look at. Runs are made when a check asks for them, and once.
pub(crate) struct Facts<'a> {
    pub(crate) bug: &'a BugProposal,
    pub(crate) rules: &'a BugRules,
    pub(crate) states: States,
    pub(crate) bench: Bench<'a>,
    /// Tests that can notice the bug.
    pub(crate) affected: BTreeSet<String>,
    buggy: [Option<Results>; 2],
}

impl<'a> Facts<'a> {
    fn new(bench: Bench<'a>, bug: &'a BugProposal, rules: &'a BugRules, states: States) -> Result<Self, Dropped> {
        let repo = bench.repo;
        let affected = repo.map.affected(bench.execute, repo, repo.texts, &states.buggy)?;
        Ok(Self { bug, rules, states, bench, affected, buggy: [None, None] })
    }

    /// The affected tests in the buggy state, by the first or the second seed.
    pub(crate) fn buggy(&mut self, run: usize) -> Result<&Results, Dropped> {
        if self.buggy[run].is_none() {
            self.buggy[run] = Some(self.bench.run(&self.states.buggy, &self.affected, self.rules.seeds[run])?);
        }
        Ok(self.buggy[run].get_or_insert_default())
    }

    /// Tests that pass in the original and fail with the bug.
    pub(crate) fn failing(&mut self) -> Result<BTreeSet<String>, Dropped> {
        let affected = self.affected.clone();
        let results = self.buggy(0)?;
        Ok(affected.into_iter().filter(|id| !results.passed(id)).collect())
    }

    pub(crate) fn original(&self) -> &TextFiles {
        self.bench.repo.texts
    }

    /// What the proposal is once every check has passed.
    pub(crate) fn artifact(&mut self) -> Result<BugArtifact, Dropped> {
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

/// Puts a proposal through the checks.
///
/// # Errors
/// A fault of the host's.
pub fn validate(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    bug: &BugProposal,
    rules: &BugRules,
) -> Result<Validated, Dropped> {
    let bench = Bench::new(execute, repo);
    let states = match States::of(repo.texts, bug) {
        Ok(states) => states,
        Err(error) => return Ok(invalid(bench, 0, "applies", error.to_string())),
    };
    let mut facts = Facts::new(bench, bug, rules, states)?;
    for (index, check) in CHECKS.iter().enumerate() {
        if let Err(why) = (check.holds)(&mut facts)? {
            return Ok(invalid(facts.bench, index, check.name, why));
        }
    }
    let artifact = facts.artifact()?;
    let total = count(CHECKS.len());
    let verdict = Verdict { status: Status::Valid, passed: total, total, evidence: facts.bench.evidence };
    Ok(Validated { verdict, artifact: Some(artifact) })
}

/// Every check for itself, whatever the others come to: why a proposal is refused, in full. `None` where it holds.
///
/// # Errors
/// A fault of the host's.
pub fn each_check(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    bug: &BugProposal,
    rules: &BugRules,
) -> Result<Vec<(&'static str, Option<String>)>, Dropped> {
    let states = match States::of(repo.texts, bug) {
        Ok(states) => states,
        Err(error) => return Ok(vec![("applies", Some(error.to_string()))]),
    };
    let mut facts = Facts::new(Bench::new(execute, repo), bug, rules, states)?;
    CHECKS.iter().map(|check| Ok((check.name, (check.holds)(&mut facts)?.err()))).collect()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn invalid(bench: Bench<'_>, passed: usize, rule: &str, why: String) -> Validated {
    let mut evidence = bench.evidence;
    (evidence.rule, evidence.detail) = (rule.to_owned(), cut(&why));
    let verdict = Verdict { status: Status::Invalid, passed: count(passed), total: count(CHECKS.len()), evidence };
    Validated { verdict, artifact: None }
}
