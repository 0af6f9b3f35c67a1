//! Batches of requests, on all cores, with results in the order of the requests.

use veriplay_core::{Dropped, Execute, Verdict, content_hash};

use super::super::propose::propose_tree;
use super::super::{
    BugProposal, BugRules, BugValidation, Injector, Mutants, ProposalRejection, RepairRequest, RepoContext,
    TreeRequest, grade_repair, make_mutants, validate_bug,
};
use super::{
    FunctionSource, RepoToolOutcome, RepoToolRequest, SolverView, ViewRequest, list_functions, serve_tool_call,
    solver_view,
};
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

/// Mutants to draw.
#[derive(Debug, Clone, Copy)]
pub struct MutateRequest<'a> {
    /// The repository.
    pub repo: &'a RepoContext<'a>,
    /// The file.
    pub path: &'a str,
    /// The operators.
    pub injectors: &'a [Injector],
    /// The seed of the draw.
    pub seed: u64,
    /// The maximum number of mutants per operator.
    pub count: usize,
}

/// [`make_mutants`] for each request.
pub fn mutate_all(execute: &dyn Execute, requests: &[MutateRequest<'_>]) -> Vec<Result<Vec<Mutants>, Dropped>> {
    let one = |request: &MutateRequest<'_>| {
        let text = request.repo.texts.get(request.path).map_or("", String::as_str);
        make_mutants(execute, request.repo, request.injectors, text, request.seed, request.count)
    };
    on_all_cores(requests, one)
}

/// [`serve_tool_call`] for each request.
pub fn serve_all(execute: &dyn Execute, requests: &[RepoToolRequest<'_>]) -> Vec<Result<RepoToolOutcome, Dropped>> {
    on_all_cores(requests, |request| serve_tool_call(execute, request))
}

/// [`solver_view`] for each request.
pub fn view_all(execute: &dyn Execute, requests: &[ViewRequest<'_>]) -> Vec<Result<SolverView, Dropped>> {
    on_all_cores(requests, |request| solver_view(execute, request))
}

/// [`list_functions`] of one file of the original, for each request.
pub fn functions_all(
    execute: &dyn Execute,
    requests: &[(&RepoContext<'_>, &str)],
) -> Vec<Result<Vec<FunctionSource>, Dropped>> {
    let one = |(repo, path): &(&RepoContext<'_>, &str)| list_functions(execute, repo, repo.texts, &[path]);
    on_all_cores(requests, |request| one(request).map(|mut found| found.remove(0)))
}

/// Proposes each edited tree.
pub fn propose_all(
    execute: &dyn Execute,
    requests: &[TreeRequest<'_>],
) -> Vec<Result<Result<BugProposal, ProposalRejection>, Dropped>> {
    on_all_cores(requests, |request| propose_tree(execute, request))
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
        content_hash(&(&artifact.task_id, patch, fuzz.offset, fuzz.context, seed))
    };
    let one = |request: &GradeRequest<'_>| grade_repair(execute, request.repo, &request.repair);
    run_distinct(requests, key, |distinct| on_all_cores(distinct, one))
}
