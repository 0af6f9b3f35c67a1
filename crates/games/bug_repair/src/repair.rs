//! Solvers' episodes: what each gets of a bug, the answered examples beside it, and the verdicts on its patch.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Execute, Fuzz, Status, Verdict};
use veriplay_selfplay::environment::{JudgedResponseOf, OpenedEpisode, TaskEpisode};
use veriplay_selfplay::judgement::{JudgedResponse, Judging, rule_verdict, run_undecided};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::randomness::generator;
use veriplay_selfplay::rollout::FinishedEpisode;
use veriplay_verifier::bugs::tool_env::{
    DefaultTests, FunctionSource, GradeRequest, SolverView, ViewRequest, grade_all, repair_of, solver_view,
    test_function,
};
use veriplay_verifier::bugs::{BugArtifact, RepairRequest, RepoContext};
use veriplay_verifier::on_all_cores;

use super::BugRepair;
use super::episode::{Assignment, RepoEpisode, RepoWorkspace, SUBMITTED};
use super::prompts::{AnsweredBug, RepoGoal};
use super::task::BugTask;

/// What is logged of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairDetail {
    /// Its patch over the tree that it got; empty for none.
    pub patch: String,
    /// Test functions that it was shown nothing of.
    pub hidden: BTreeSet<String>,
}

/// A training bug that is in one function, with its repair, which prompts show: the first one of its function.
pub(super) struct PlacedExample {
    repository: usize,
    function: FunctionSource,
    bug: AnsweredBug,
}

impl PlacedExample {
    fn is_in(&self, repository: usize, function: &FunctionSource) -> bool {
        self.repository == repository && self.function.path == function.path && self.function.name == function.name
    }
}

impl BugRepair {
    /// Finds the answered examples of prompts, as many as [`veriplay_selfplay::settings::SharedSettings::examples`] needs.
    ///
    /// # Errors
    /// Too few training bugs in functions of their own, or a host fault.
    pub fn with_examples(mut self, execute: &dyn Execute) -> Result<Self, PlayError> {
        let count = self.base.settings.example_count();
        let mut found: Vec<PlacedExample> = Vec::new();
        for task in &self.training {
            if found.len() == count {
                break;
            }
            let Some(repository) = self.repository_of(&task.package) else { continue };
            let (repo, artifact) =
                (self.repositories[repository].context(), task.artifact(&self.repositories[repository]));
            let request =
                ViewRequest { repo: &repo, artifact: &artifact, hidden: &BTreeSet::new(), with_function: true };
            let SolverView { spec, function: Some((right, wrong)), .. } = solver_view(execute, &request)? else {
                continue;
            };
            if found.iter().any(|one| one.is_in(repository, &right) || one.bug.right == right.source) {
                continue;
            }
            let bug = AnsweredBug { spec: spec.to_string(), wrong: wrong.source, right: right.source.clone() };
            if self.format.can_ask(&RepoGoal::Repair { spec: bug.spec.clone(), function: Some(right.clone()) }) {
                found.push(PlacedExample { repository, function: right, bug });
            }
        }
        self.base.settings.check_examples(found.len(), "functions with a training bug")?;
        self.examples = found;
        Ok(self)
    }

    /// The examples of a prompt. Another bug of its own function would show what the function is without its bug.
    pub(super) fn examples_beside(&self, repository: usize, goal: &RepoGoal) -> Vec<&AnsweredBug> {
        let function = goal.function();
        let shows_it = |one: &&PlacedExample| {
            function.is_some_and(|function| one.is_in(repository, function) || one.bug.right == function.source)
        };
        let others = self.examples.iter().filter(|one| !shows_it(one));
        others.map(|one| &one.bug).take(self.base.settings.examples).collect()
    }
}

/// A bug with its repository, for a solver.
struct BugToRepair {
    repository: usize,
    artifact: BugArtifact,
    hidden: BTreeSet<String>,
}

/// A patch to be graded.
struct PatchToGrade<'a> {
    task: &'a BugTask,
    repository: usize,
    patch: &'a str,
}

impl BugRepair {
    /// A solver's episode for each bug; `None` where no prompt can be made of it.
    pub(super) fn repair_episodes(
        &self,
        execute: &dyn Execute,
        seed: u64,
        tasks: &[&BugTask],
    ) -> Vec<OpenedEpisode<Self>> {
        let (repos, with_function) = (self.repos(), self.format.is_single_turn());
        let bugs = tasks.iter().map(|task| {
            let Some(repository) = self.repository_of(&task.package) else { return Judging::Decided(Ok(None)) };
            let artifact = task.artifact(&self.repositories[repository]);
            Judging::Open(BugToRepair { repository, artifact, hidden: self.draw_hidden_tests(task, seed) })
        });
        run_undecided(bugs, |bugs| {
            let requests = bugs.iter().map(|bug| {
                let BugToRepair { repository, artifact, hidden } = bug;
                ViewRequest { repo: &repos[*repository], artifact, hidden, with_function }
            });
            let views = on_all_cores(requests.collect::<Vec<_>>(), |request| solver_view(execute, &request));
            let episode = |(bug, view): (&BugToRepair, Result<SolverView, Dropped>)| {
                let assignment = Arc::new(repair_assignment(bug.repository, view?));
                let examples = self.examples_beside(bug.repository, &assignment.goal);
                Ok(RepoWorkspace::open(assignment, self.format, &examples, self.own.solver_budget))
            };
            bugs.iter().zip(views).map(episode).collect()
        })
    }

    /// Test functions of a bug that its solver is shown nothing of: a draw by only the seed and the bug.
    fn draw_hidden_tests(&self, task: &BugTask, seed: u64) -> BTreeSet<String> {
        let functions: BTreeSet<&str> = task.fail_to_pass.iter().map(|id| test_function(id)).collect();
        let mut functions: Vec<&str> = functions.into_iter().collect();
        let count = (self.own.hidden_share * functions.len() as f64).floor() as usize;
        functions.shuffle(&mut generator(seed, 0, &format!("hidden tests of {}", task.task_id)));
        functions.truncate(count.min(functions.len().saturating_sub(1)));
        functions.into_iter().map(str::to_owned).collect()
    }

    /// Judgements on what solvers left.
    pub(super) fn judge_repairs(
        &self,
        execute: &dyn Execute,
        seed: u64,
        solutions: &[TaskEpisode<'_, Self>],
    ) -> Vec<JudgedResponseOf<Self>> {
        let repos = self.repos();
        let patches: Vec<Result<String, Result<Verdict, Dropped>>> =
            solutions.iter().map(|(_, finished)| self.finished_patch(&repos, finished)).collect();
        let graded = solutions.iter().zip(&patches).map(|((task, finished), patch)| match patch {
            Ok(patch) => {
                let repository = finished.episode.workspace().assignment().repository;
                Judging::Open(PatchToGrade { task, repository, patch })
            }
            Err(verdict) => Judging::Decided(verdict.clone()),
        });
        let verdicts = run_undecided(graded, |graded| self.grade(execute, &repos, seed, graded));
        let hidden = solutions.iter().map(|(_, one)| one.episode.workspace().assignment().hidden.clone());
        let details =
            hidden.zip(patches).map(|(hidden, patch)| RepairDetail { patch: patch.unwrap_or_default(), hidden });
        verdicts.into_iter().zip(details).map(|(verdict, detail)| JudgedResponse { verdict, detail }).collect()
    }

    fn grade(
        &self,
        execute: &dyn Execute,
        repos: &[RepoContext<'_>],
        seed: u64,
        graded: &[PatchToGrade<'_>],
    ) -> Vec<Result<Verdict, Dropped>> {
        // Attempts at one task stand side by side, and have one artifact.
        let groups: Vec<&[PatchToGrade<'_>]> =
            graded.chunk_by(|one, other| std::ptr::eq(one.task, other.task)).collect();
        let artifacts: Vec<BugArtifact> =
            groups.iter().map(|group| group[0].task.artifact(&self.repositories[group[0].repository])).collect();
        let requests = groups.iter().zip(&artifacts).flat_map(|(group, artifact)| {
            group.iter().map(|PatchToGrade { repository, patch, .. }| {
                let repair = RepairRequest { artifact, patch, fuzz: Fuzz::GIT, seed };
                GradeRequest { repo: &repos[*repository], repair }
            })
        });
        grade_all(execute, &requests.collect::<Vec<_>>())
    }

    /// What an episode made, or the verdict on one that is graded no further.
    fn finished_patch(
        &self,
        repos: &[RepoContext<'_>],
        finished: &FinishedEpisode<RepoEpisode>,
    ) -> Result<String, Result<Verdict, Dropped>> {
        if let Some(dropped) = &finished.dropped {
            return Err(Err(dropped.clone()));
        }
        let workspace = finished.episode.workspace();
        let assignment = workspace.assignment();
        if !self.own.grade_unfinished && finished.episode.end() != Some(SUBMITTED) {
            return Err(Ok(rule_verdict(Status::Malformed, "unfinished", "it submitted nothing")));
        }
        let patch = repair_of(&repos[assignment.repository], &assignment.tree, workspace.tree());
        patch
            .map(|patch| patch.to_string())
            .map_err(|error| Ok(rule_verdict(Status::Malformed, "patch", error.to_string())))
    }
}

/// What a solver is asked.
fn repair_assignment(repository: usize, view: SolverView) -> Assignment {
    let function = view.function.map(|(_, now)| now);
    let goal = RepoGoal::Repair { spec: view.spec.to_string(), function };
    Assignment {
        goal,
        repository,
        tree: Arc::new(view.tree),
        suite: DefaultTests::Files(view.test_files),
        hidden: view.hidden,
    }
}
