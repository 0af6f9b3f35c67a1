//! Whether a proposed bug is one: every check of [`CHECKS`], in order, and the artifact of what passes them all.

use veriplay_core::{Dropped, Execute, Status, Verdict};

use super::bench::Bench;
use super::checks::{BugRules, CHECKS, Facts};
use super::tree::States;
use super::{BugArtifact, BugProposal, RepoContext};
use crate::run::cut;

/// A verdict on a proposed bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validated {
    /// [`Status::Valid`], or [`Status::Invalid`] with the name of the check that failed as its rule.
    pub verdict: Verdict,
    /// `Some` exactly when it is valid.
    pub artifact: Option<BugArtifact>,
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
    let states = match States::apply(repo.texts, bug) {
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
    let states = match States::apply(repo.texts, bug) {
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
