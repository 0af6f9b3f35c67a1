//! From a mutant to a proposal: the bug as a patch, and the weakening that takes out the tests which notice it.

use std::collections::BTreeSet;

use veriplay_core::{Dropped, Execute, Patch};

use super::bench::{Bench, file_of};
use super::{BugProposal, Candidate, Ground, weakening};
use crate::repository::TestResult;

/// A mutant that is no bug: the check that it would fail, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// Name of the check.
    pub check: &'static str,
    /// Why, for people.
    pub why: String,
}

/// The proposal of a mutant of the file `path`. It runs the affected tests once; validating runs them again, so an executor
/// that remembers saves that.
///
/// # Errors
/// A fault of the host's.
pub fn propose(
    execute: &dyn Execute,
    ground: &Ground<'_>,
    path: &str,
    mutant: &Candidate,
    seeds: (u64, u64),
) -> Result<Result<BugProposal, Unfit>, Dropped> {
    let unfit = |check, why: &str| Ok(Err(Unfit { check, why: why.to_owned() }));
    let mut buggy = ground.texts.clone();
    buggy.insert(path.to_owned(), mutant.text.clone());
    let Ok(bug_inject) = Patch::make(ground.texts, &buggy) else { return unfit("applies", "it makes no patch") };
    let affected = ground.map.affected(ground.texts, &buggy);
    if affected.is_empty() {
        return unfit("failing", "no test enters what it changes");
    }
    let (seed_of_making, seed_of_run) = seeds;
    let results = Bench::new(execute, ground).run(&buggy, &affected, seed_of_run)?;
    if let Some(why) = results.broken.first() {
        return unfit("records", why);
    }
    let recorded = |id: &String| !matches!(results.by_id.get(id), None | Some(TestResult::Missing));
    if !affected.iter().all(recorded) {
        return unfit("records", "it stops more tests than are waited for");
    }
    let failing: BTreeSet<String> = affected.into_iter().filter(|id| !results.passed(id)).collect();
    if failing.is_empty() {
        return unfit("failing", "every test passes");
    }
    let Some(test_weaken) = weakening(execute, ground, &failing)? else {
        return unfit("hidden", "its failing tests cannot be taken out by name");
    };
    let files: BTreeSet<&str> = failing.iter().map(|id| file_of(id)).collect();
    Ok(Ok(BugProposal {
        bug_inject,
        test_weaken,
        test_files: files.into_iter().map(str::to_owned).collect(),
        injector: mutant.injector.to_owned(),
        seed: seed_of_making,
        failed_repairs: Vec::new(),
    }))
}
