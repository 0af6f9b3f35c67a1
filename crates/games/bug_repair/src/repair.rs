//! Solvers' episodes: what each gets of a bug, and the verdicts on its patch.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Execute, Fuzz, Status, Verdict};
use veriplay_selfplay::environment::{JudgedResponseOf, OpenedEpisode, TaskEpisode};
use veriplay_selfplay::judgement::{JudgedResponse, Judging, rule_verdict, run_undecided};
use veriplay_selfplay::randomness::generator;
use veriplay_selfplay::rollout::FinishedEpisode;
use veriplay_verifier::bugs::tool_env::{
    DefaultTests, GradeRequest, SolverView, ViewRequest, grade_all, repair_of, solver_view, test_function,
};
use veriplay_verifier::bugs::{BugArtifact, RepairRequest, RepoContext};
use veriplay_verifier::on_all_cores;

use super::BugRepair;
use super::episode::{Assignment, RepoEpisode, RepoWorkspace, SUBMITTED};
use super::prompts::RepoGoal;
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
