//! Batches of requests of which equal ones are judged once, on all cores, with results in the order of the requests.

use veriplay_core::{Dropped, Execute, Verdict, content_hash};

use super::super::{BugProposal, BugRules, BugValidation, RepairRequest, RepoContext, grade_repair, validate_bug};
use crate::runner::{on_all_cores, run_distinct};

/// A repair to grade.
#[derive(Debug, Clone, Copy)]
pub struct GradeRequest<'a> {
    /// The repository of the bug.
    pub repo: &'a RepoContext<'a>,
    /// The repair.
    pub repair: RepairRequest<'a>,
}

/// A proposal to validate.
#[derive(Debug, Clone, Copy)]
pub struct ValidateRequest<'a> {
    /// The repository.
    pub repo: &'a RepoContext<'a>,
    /// The proposal.
    pub bug: &'a BugProposal,
    /// The bounds of the checks.
    pub rules: &'a BugRules,
}

/// [`validate_bug`] for each request. Equal proposals in one repository are validated once.
pub fn validate_all(execute: &dyn Execute, requests: &[ValidateRequest<'_>]) -> Vec<Result<BugValidation, Dropped>> {
    let key = |request: &ValidateRequest<'_>| {
        let BugRules { min_passing, min_changed_files, min_failing, seeds } = request.rules;
        content_hash(&(&request.repo.baseline.package, request.bug, min_passing, min_changed_files, min_failing, seeds))
    };
    let one = |request: &ValidateRequest<'_>| validate_bug(execute, request.repo, request.bug, request.rules);
    run_distinct(requests, key, |distinct| on_all_cores(distinct, one))
}

/// [`grade_repair`] for each request. Equal patches of one bug are graded once.
pub fn grade_all(execute: &dyn Execute, requests: &[GradeRequest<'_>]) -> Vec<Result<Verdict, Dropped>> {
    let key = |request: &GradeRequest<'_>| {
        let RepairRequest { artifact, patch, fuzz, seed } = request.repair;
        content_hash(&(&artifact.task_id, patch, fuzz.offset, seed))
    };
    let one = |request: &GradeRequest<'_>| grade_repair(execute, request.repo, &request.repair);
    run_distinct(requests, key, |distinct| on_all_cores(distinct, one))
}
