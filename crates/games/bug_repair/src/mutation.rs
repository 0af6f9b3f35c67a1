//! Bugs that no policy proposed: mutants, and failed repairs as bugs of the second order; and the checks of every bug.

use std::collections::BTreeSet;

use rand::seq::{IndexedRandom, SliceRandom};
use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Execute, Patch, Status, TextFiles, Verdict};
use veriplay_selfplay::admission::{IsKnown, JudgedProposal};
use veriplay_selfplay::environment::JudgedProposalOf;
use veriplay_selfplay::judgement::{JudgedResponse, Judging, rule_verdict, run_undecided};
use veriplay_selfplay::randomness::{derive_seed, generator, weighted_sample};
use veriplay_selfplay::step::{Attempts, Step};
use veriplay_selfplay::task_pool::PoolTask;
use veriplay_verifier::bugs::tool_env::{ValidateRequest, validate_all};
use veriplay_verifier::bugs::{
    BugProposal, BugValidation, RepoContext, TestCommand, TreeRequest, Weakening, make_mutants, propose_tree,
};
use veriplay_verifier::on_all_cores;

use super::BugRepair;
use super::repair::RepairDetail;
use super::repositories::Repository;
use super::task::{BugTask, change_digest};

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

#[derive(Debug, Clone, Copy)]
pub(super) struct EditedTree<'a> {
    pub(super) repository: usize,
    pub(super) now: &'a TextFiles,
    pub(super) injector: &'a str,
    /// As [`BugProposal::test_command`].
    pub(super) test_command: Option<&'a TestCommand>,
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
        let repos: Vec<RepoContext<'_>> = self.training_repositories().iter().map(Repository::context).collect();
        let of_repo = |(repository, repo): (usize, &RepoContext<'_>)| -> Vec<(usize, String)> {
            repo.code_files().into_iter().map(|path| (repository, path.to_owned())).collect()
        };
        let wanted = self.own.mutants_per_step;
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
        let count = self.own.mutants_per_step.div_ceil(files.len().saturating_mul(self.injectors.len()).max(1));
        let found = on_all_cores(files.iter().collect::<Vec<_>>(), |(repository, path)| {
            let (repo, seed) = (&repos[*repository], derive_seed(seed, step, &format!("mutants/{repository}/{path}")));
            let text = repo.texts.get(path).map_or("", String::as_str);
            make_mutants(execute, repo, &self.injectors, text, seed, count)
        });
        let found = found.into_iter().map(Result::unwrap_or_default);
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
    pub(super) fn draw_failed_repairs(&self, step: &Step<'_, Self>, attempts: &Attempts) -> Vec<Derivation> {
        let mut seen = BTreeSet::new();
        let mut derivation = |(task, solution): (&BugTask, &JudgedResponse<RepairDetail>)| {
            let status = solution.verdict.as_ref().ok()?.status;
            let failed = matches!(status, Status::WrongAnswer | Status::RuntimeError);
            if !failed || solution.detail.patch.is_empty() || task.bug.order() != 1 {
                return None;
            }
            let (package, patch) = (task.package.clone(), Patch::parse(&solution.detail.patch).ok()?);
            let bug = BugProposal { failed_repairs: vec![patch], ..task.bug.clone() };
            seen.insert(change_digest(&package, &bug)).then_some(Derivation::FailedRepair { package, bug })
        };
        let solved = step.solved(attempts).into_iter();
        let solutions = solved.flat_map(|(task, all)| all.iter().map(move |one| (task, &one.judged)));
        let all = solutions.filter_map(&mut derivation).map(|one| (one, 1.0)).collect();
        let generator = &mut generator(step.seed(), step.number(), "higher order");
        weighted_sample(all, self.own.higher_order_per_step, generator)
    }

    /// Judges mutants together, and failed repairs together.
    pub(super) fn judge_derivations(
        &self,
        execute: &dyn Execute,
        derivations: &[Derivation],
        is_known: &mut IsKnown<'_>,
    ) -> Vec<JudgedProposalOf<Self>> {
        let (mut mutants, mut repairs) = (Vec::new(), Vec::new());
        for derivation in derivations {
            match derivation {
                Derivation::Mutant { package, injector, patch } => {
                    let edited = self.repository_of(package);
                    let edited = edited.and_then(|place| Some((place, patch.apply(&self.originals[place]).ok()?)));
                    mutants.push(edited.map_or_else(
                        || Judging::Decided(unknown_repository()),
                        |(place, now)| Judging::Open((place, now, injector)),
                    ));
                }
                Derivation::FailedRepair { package, bug } => {
                    let place = self.repository_of(package);
                    repairs.push(place.map_or_else(
                        || Judging::Decided(unknown_repository()),
                        |place| Judging::Open((place, bug.clone())),
                    ));
                }
            }
        }
        let of_trees = run_undecided(mutants, |open| {
            let trees = open.iter().map(|(repository, now, injector)| EditedTree {
                repository: *repository,
                now,
                injector,
                test_command: None,
            });
            self.judge_trees(execute, &trees.collect::<Vec<_>>(), Weakening::Derived)
        });
        let of_bugs = run_undecided(repairs, |open| self.validate(execute, open));
        let (mut of_trees, mut of_bugs) = (of_trees.into_iter(), of_bugs.into_iter());
        let judged = derivations.iter().filter_map(|derivation| match derivation {
            Derivation::Mutant { .. } => of_trees.next(),
            Derivation::FailedRepair { .. } => of_bugs.next(),
        });
        let mut judged: Vec<JudgedProposalOf<Self>> = judged.collect();
        mark_known(&mut judged, is_known);
        judged
    }

    /// Proposes and validates edited trees. Nothing runs for those with a function that is evaluated on.
    pub(super) fn judge_trees(
        &self,
        execute: &dyn Execute,
        trees: &[EditedTree<'_>],
        weakening: Weakening,
    ) -> Vec<JudgedProposalOf<Self>> {
        let (repos, seeds) = (self.repos(), (0, self.own.rules().seeds[0]));
        let unmeasured = trees
            .iter()
            .map(|tree| self.refuse_held_out(tree.repository, tree.now).map_or(Judging::Open(*tree), Judging::Decided));
        run_undecided(unmeasured, |trees| {
            let requests = trees.iter().map(|tree| {
                let EditedTree { repository, now, injector, test_command } = *tree;
                TreeRequest { repo: &repos[repository], now, injector, weakening, seeds, test_command }
            });
            let proposed = on_all_cores(requests.collect::<Vec<_>>(), |request| propose_tree(execute, &request));
            let bugs = trees.iter().zip(proposed).map(|(tree, proposed)| match proposed {
                Err(dropped) => Judging::Decided(judgement(Err(dropped), None)),
                Ok(Err(unfit)) => Judging::Decided(refusal(Status::Invalid, unfit.check, &unfit.why)),
                Ok(Ok(bug)) => Judging::Open((tree.repository, bug)),
            });
            run_undecided(bugs, |bugs| self.validate(execute, bugs))
        })
    }

    /// Validates proposals, but for those with a function that is evaluated on.
    fn validate(&self, execute: &dyn Execute, proposals: &[(usize, BugProposal)]) -> Vec<JudgedProposalOf<Self>> {
        let (repos, rules) = (self.repos(), self.own.rules());
        let requests = proposals.iter().map(|(repository, bug)| {
            let request = ValidateRequest { repo: &repos[*repository], bug, rules: &rules };
            self.refuse_held_out(*repository, &self.buggy(*repository, bug))
                .map_or(Judging::Open(request), Judging::Decided)
        });
        run_undecided(requests, |open| {
            let judged = |validated: Result<BugValidation, Dropped>| match validated {
                Ok(BugValidation { verdict, artifact, .. }) => {
                    judgement(Ok(verdict), artifact.as_ref().map(BugTask::from))
                }
                Err(dropped) => judgement(Err(dropped), None),
            };
            validate_all(execute, open).into_iter().map(judged).collect()
        })
    }
}

pub(super) const fn judgement(verdict: Result<Verdict, Dropped>, task: Option<BugTask>) -> JudgedProposalOf<BugRepair> {
    JudgedProposal { verdict, task, known: false, guess_rate: None, detail: () }
}

pub(super) fn refusal(status: Status, rule: &str, why: &str) -> JudgedProposalOf<BugRepair> {
    judgement(Ok(rule_verdict(status, rule, why)), None)
}

/// The judgement on a derivation of a log that does not fit the configuration.
fn unknown_repository() -> JudgedProposalOf<BugRepair> {
    refusal(Status::Invalid, "repository", "it does not fit the repositories")
}

/// Says of every valid bug whether it is known.
pub(super) fn mark_known(judged: &mut [JudgedProposalOf<BugRepair>], is_known: &mut IsKnown<'_>) {
    for (index, one) in judged.iter_mut().enumerate() {
        one.known = one.task.as_ref().is_some_and(|task| is_known(index, &task.key()));
    }
}
