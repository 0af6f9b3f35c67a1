//! From the tree that an injector leaves to a proposed bug.

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Execute, Patch, TextFiles};

use super::super::paths::is_test;
use super::super::propose::{find_failing_tests, propose_files};
use super::super::test_runner::file_of;
use super::super::{BugProposal, ProposalRejection, RepoContext};

/// Who takes out the tests that notice a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weakening {
    /// We do, function by function: the tests that fail, and nothing else.
    Derived,
    /// The injector, by its edits of test files; one that edited none weakens nothing, and is refused for it.
    Model,
}

/// A tree that an injector left.
#[derive(Debug, Clone, Copy)]
pub struct TreeRequest<'a> {
    /// The repository.
    pub repo: &'a RepoContext<'a>,
    /// All its text files as they are now.
    pub now: &'a TextFiles,
    /// Becomes [`BugProposal::injector`].
    pub injector: &'a str,
    /// Who takes out the tests.
    pub weakening: Weakening,
    /// The seed of its making, which the proposal keeps, and that of the run that finds the failing tests.
    pub seeds: (u64, u64),
}

/// The proposal of an edited tree: its changes of code are the bug. It runs the affected tests once.
///
/// # Errors
/// A host fault.
pub(super) fn propose_tree(
    execute: &dyn Execute,
    request: &TreeRequest<'_>,
) -> Result<Result<BugProposal, ProposalRejection>, Dropped> {
    let repo = request.repo;
    let unfit = |check, why: &str| Ok(Err(ProposalRejection { check, why: why.to_owned() }));
    let Ok(patch) = Patch::make(repo.texts, request.now) else { return unfit("applies", "it makes no patch") };
    let (bug, weaken) = (patch.only(|path| !is_test(repo, path)), patch.only(|path| is_test(repo, path)));
    if bug.is_empty() {
        return unfit("changed_files", "no code is changed");
    }
    let Ok(buggy) = bug.apply(repo.texts) else { return unfit("applies", "its patch does not apply") };
    match request.weakening {
        Weakening::Derived => propose_files(execute, repo, &buggy, request.injector, request.seeds),
        Weakening::Model => by_model(execute, request, &buggy, bug, weaken),
    }
}

fn by_model(
    execute: &dyn Execute,
    request: &TreeRequest<'_>,
    buggy: &TextFiles,
    bug_inject: Patch,
    test_weaken: Patch,
) -> Result<Result<BugProposal, ProposalRejection>, Dropped> {
    let failing = match find_failing_tests(execute, request.repo, buggy, request.seeds.1)? {
        Ok(failing) => failing,
        Err(unfit) => return Ok(Err(unfit)),
    };
    let mut test_files: Vec<String> = failing.iter().map(|id| file_of(id).to_owned()).collect();
    test_files.extend(test_weaken.touched().map(|(path, _)| path.to_owned()));
    test_files.sort();
    test_files.dedup();
    Ok(Ok(BugProposal {
        bug_inject,
        test_weaken,
        test_files,
        injector: request.injector.to_owned(),
        seed: request.seeds.0,
        failed_repairs: Vec::new(),
    }))
}
