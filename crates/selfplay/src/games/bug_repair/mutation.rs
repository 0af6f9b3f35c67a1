//! Bugs that no policy proposed: mutants, and failed repairs as bugs of the second order; and the checks of every bug.

use std::collections::BTreeSet;

use rand::seq::{IndexedRandom, SliceRandom};
use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Evidence, Execute, Patch, Status, TextFiles, Verdict};
use veriplay_verifier::bugs::tool_env::{MutateRequest, ValidateRequest, mutate_all, propose_all, validate_all};
use veriplay_verifier::bugs::{BugProposal, BugValidation, ProposalRejection, RepoContext, TreeRequest, Weakening};

use super::BugRepair;
use super::repair::RepairDetail;
use super::repositories::Repository;
use super::task::{BugTask, change_digest};
use crate::environment::Judged;
use crate::judgement::{JudgedProposal, Solution};
use crate::randomness::{derive_seed, draw, generator};
use crate::task_pool::PoolTask;

/// A bug that no policy made on purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Derivation {
    /// What an operator makes of a file.
    Mutant {
        /// The repository.
        package: Digest,
        /// The operator.
        injector: String,
        /// Original → buggy.
        patch: Patch,
    },
    /// A failed repair: a bug of the second order, whole.
    FailedRepair {
        /// The repository.
        package: Digest,
        /// The bug.
        bug: BugProposal,
    },
}

/// An edited tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree<'a> {
    pub(super) repository: usize,
    pub(super) now: &'a TextFiles,
    pub(super) injector: &'a str,
}

/// A file's text by an operator.
struct Mutant {
    repository: usize,
    path: String,
    injector: &'static str,
    text: String,
}

impl BugRepair {
    /// Mutants of a step: files are drawn first, then of all that the operators make of them. A file that the host failed on has none.
    pub(super) fn draw_mutants(&self, execute: &dyn Execute, seed: u64, step: u64) -> Vec<Derivation> {
        let mut generator = generator(seed, step, "mutants");
        let repos: Vec<RepoContext<'_>> = self.training_repositories().iter().map(Repository::repo).collect();
        let of_repo = |(repository, repo): (usize, &RepoContext<'_>)| -> Vec<(usize, String)> {
            repo.code_files().into_iter().map(|path| (repository, path.to_owned())).collect()
        };
        let wanted = self.config.own.mutants_per_step;
        let files: Vec<(usize, String)> = repos.iter().enumerate().flat_map(of_repo).collect();
        let drawn: BTreeSet<&(usize, String)> = (0..wanted).filter_map(|_| files.choose(&mut generator)).collect();
        let mut pool = self.mutate(execute, &repos, &drawn, (seed, step));
        pool.shuffle(&mut generator);
        pool.truncate(wanted);
        pool.into_iter().map(|mutant| self.derivation(mutant)).collect()
    }

    /// All that the operators make of files.
    fn mutate(
        &self,
        execute: &dyn Execute,
        repos: &[RepoContext<'_>],
        files: &BTreeSet<&(usize, String)>,
        (seed, step): (u64, u64),
    ) -> Vec<Mutant> {
        // More than one of each operator where files are few.
        let count = self.config.own.mutants_per_step.div_ceil(files.len().saturating_mul(self.injectors.len()).max(1));
        let requests = files.iter().map(|(repository, path)| {
            let seed = derive_seed(seed, step, &format!("mutants/{repository}/{path}"));
            MutateRequest { repo: &repos[*repository], path, injectors: &self.injectors, seed, count }
        });
        let found = mutate_all(execute, &requests.collect::<Vec<_>>()).into_iter().map(Result::unwrap_or_default);
        let mut mutants = Vec::new();
        for ((repository, path), found) in files.iter().copied().zip(found) {
            for candidate in found.into_iter().flat_map(|found| found.candidates) {
                let (injector, text) = (candidate.injector, candidate.text);
                mutants.push(Mutant { repository: *repository, path: path.clone(), injector, text });
            }
        }
        mutants
    }

    fn derivation(&self, mutant: Mutant) -> Derivation {
        let original = &self.originals[mutant.repository];
        let mut now = TextFiles::clone(original);
        now.insert(mutant.path, mutant.text);
        Derivation::Mutant {
            package: self.repositories[mutant.repository].package().clone(),
            injector: mutant.injector.to_owned(),
            patch: Patch::make(original, &now).unwrap_or_default(),
        }
    }

    /// The bugs of the second order that a step's failed repairs make: of bugs of the first order, with patches that were graded.
    pub(super) fn draw_failed_repairs(
        &self,
        (seed, step): (u64, u64),
        solutions: &[(&BugTask, &Solution<RepairDetail>)],
    ) -> Vec<Derivation> {
        let mut seen = BTreeSet::new();
        let mut derivation = |(task, solution): &(&BugTask, &Solution<RepairDetail>)| {
            let status = solution.verdict.as_ref().ok()?.status;
            let failed = matches!(status, Status::WrongAnswer | Status::RuntimeError);
            if !failed || solution.detail.patch.is_empty() || task.bug.order() != 1 {
                return None;
            }
            let (package, patch) = (task.package.clone(), Patch::parse(&solution.detail.patch).ok()?);
            let bug = BugProposal { failed_repairs: vec![patch], ..task.bug.clone() };
            seen.insert(change_digest(&package, &bug)).then_some(Derivation::FailedRepair { package, bug })
        };
        let all = solutions.iter().filter_map(&mut derivation).map(|one| (one, 1.0)).collect();
        draw(all, self.config.own.higher_order_per_step, &mut generator(seed, step, "higher order"))
    }

    /// Judges mutants together, and failed repairs together.
    pub(super) fn judge_derivations(
        &self,
        execute: &dyn Execute,
        derivations: &[Derivation],
        is_known: &mut dyn FnMut(usize, &Digest) -> bool,
    ) -> Vec<Judged<Self>> {
        let (mut mutated, mut proposals) = (Vec::new(), Vec::new());
        for derivation in derivations {
            match derivation {
                Derivation::Mutant { package, injector, patch } => {
                    let repository = self.repository_of(package);
                    let now = repository
                        .and_then(|repository| Some((repository, patch.apply(&self.originals[repository]).ok()?)));
                    mutated.push(now.map(|(repository, now)| (repository, now, injector)));
                }
                Derivation::FailedRepair { package, bug } => {
                    proposals.push(self.repository_of(package).map(|repository| (repository, bug)));
                }
            }
        }
        let trees =
            mutated.iter().flatten().map(|(repository, now, injector)| Tree { repository: *repository, now, injector });
        let mut of_trees = self.judge_trees(execute, &trees.collect::<Vec<_>>(), Weakening::Derived).into_iter();
        let known_places: Vec<(usize, &BugProposal)> = proposals.iter().flatten().copied().collect();
        let mut of_proposals = self.validate(execute, &known_places).into_iter();
        let (mut mutated, mut proposals) = (mutated.iter(), proposals.iter());
        let judged = |derivation: &Derivation| {
            let judged = match derivation {
                Derivation::Mutant { .. } => mutated.next().and_then(Option::as_ref).and_then(|_| of_trees.next()),
                Derivation::FailedRepair { .. } => {
                    proposals.next().and_then(Option::as_ref).and_then(|_| of_proposals.next())
                }
            };
            judged.unwrap_or_else(|| refusal(Status::Invalid, "repository", "it does not fit the repositories"))
        };
        let mut judged: Vec<Judged<Self>> = derivations.iter().map(judged).collect();
        mark_known(&mut judged, is_known);
        judged
    }

    /// Proposes and validates edited trees. Nothing runs for those with a function that is evaluated on.
    pub(super) fn judge_trees(
        &self,
        execute: &dyn Execute,
        trees: &[Tree<'_>],
        weakening: Weakening,
    ) -> Vec<Judged<Self>> {
        let (repos, seeds) = (self.repos(), (0, self.config.own.rules().seeds[0]));
        let measured: Vec<Option<Judged<Self>>> =
            trees.iter().map(|tree| self.refuse_measured(tree.repository, tree.now)).collect();
        let left: Vec<&Tree<'_>> =
            trees.iter().zip(&measured).filter(|(_, measured)| measured.is_none()).map(|(tree, _)| tree).collect();
        let requests = left.iter().map(|tree| {
            let Tree { repository, now, injector } = **tree;
            TreeRequest { repo: &repos[repository], now, injector, weakening, seeds }
        });
        let proposed = propose_all(execute, &requests.collect::<Vec<_>>());
        let fit = left.iter().zip(&proposed).filter_map(|(tree, proposed)| match proposed {
            Ok(Ok(bug)) => Some((tree.repository, bug)),
            _ => None,
        });
        let mut validated = self.validate(execute, &fit.collect::<Vec<_>>()).into_iter();
        let mut judged =
            proposed.iter().map(|proposed: &Result<Result<BugProposal, ProposalRejection>, Dropped>| match proposed {
                Err(dropped) => judgement(Err(dropped.clone()), None),
                Ok(Err(unfit)) => refusal(Status::Invalid, unfit.check, &unfit.why),
                Ok(Ok(_)) => validated.next().unwrap_or_else(no_verdict),
            });
        measured.into_iter().map(|measured| measured.or_else(|| judged.next()).unwrap_or_else(no_verdict)).collect()
    }

    /// Validates proposals, but for those with a function that is evaluated on.
    fn validate(&self, execute: &dyn Execute, proposals: &[(usize, &BugProposal)]) -> Vec<Judged<Self>> {
        let (repos, rules) = (self.repos(), self.config.own.rules());
        let refuse = |(repository, bug): &(usize, &BugProposal)| {
            self.refuse_measured(*repository, &self.buggy(*repository, bug))
        };
        let measured: Vec<Option<Judged<Self>>> = proposals.iter().map(refuse).collect();
        let requests = proposals
            .iter()
            .zip(&measured)
            .filter(|(_, measured)| measured.is_none())
            .map(|((repository, bug), _)| ValidateRequest { repo: &repos[*repository], bug, rules: &rules });
        let task =
            |validated: BugValidation| judgement(Ok(validated.verdict), validated.artifact.as_ref().map(BugTask::from));
        let validated = validate_all(execute, &requests.collect::<Vec<_>>()).into_iter();
        let mut validated = validated.map(|one| one.map_or_else(|dropped| judgement(Err(dropped), None), task));
        measured.into_iter().map(|measured| measured.or_else(|| validated.next()).unwrap_or_else(no_verdict)).collect()
    }
}

pub(super) const fn judgement(verdict: Result<Verdict, Dropped>, task: Option<BugTask>) -> Judged<BugRepair> {
    JudgedProposal { verdict, task, known: false, detail: () }
}

pub(super) fn refusal(status: Status, rule: &str, why: &str) -> Judged<BugRepair> {
    let evidence = Evidence { rule: rule.to_owned(), detail: why.to_owned(), ..Evidence::default() };
    judgement(Ok(Verdict { status, passed: 0, total: 0, evidence }), None)
}

pub(super) fn no_verdict() -> Judged<BugRepair> {
    judgement(Err(Dropped { why: "no verdict was made".to_owned() }), None)
}

/// Says of every valid bug whether it is known.
pub(super) fn mark_known(judged: &mut [Judged<BugRepair>], is_known: &mut dyn FnMut(usize, &Digest) -> bool) {
    for (index, one) in judged.iter_mut().enumerate() {
        one.known = one.task.as_ref().is_some_and(|task| is_known(index, &task.key()));
    }
}
