//! Solvers' episodes: what each is handed of a bug, and the verdicts on what it made.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Evidence, Execute, Fuzz, Status, Verdict};
use veriplay_verifier::bugs::tool_env::{
    DefaultTests, GradeRequest, SolverView, ViewRequest, grade_all, repair_of, test_function, view_all,
};
use veriplay_verifier::bugs::{BugArtifact, RepairRequest, RepoContext};

use super::BugRepair;
use super::episode::{Assignment, Episode, RepoWorkspace, SUBMITTED};
use super::prompts::Goal;
use super::task::BugTask;
use crate::judgement::Solution;
use crate::randomness::generator;
use crate::rollout::Finished;

/// What is logged of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairDetail {
    /// What it made, as a patch over what it was handed; empty for none.
    pub patch: String,
    /// Test functions that it was shown nothing of.
    pub hidden: BTreeSet<String>,
}

/// A bug with its repository, to be handed out.
struct Handout {
    repository: usize,
    artifact: BugArtifact,
    hidden: BTreeSet<String>,
}

/// A patch to be graded.
struct Graded<'a> {
    task: &'a BugTask,
    repository: usize,
    patch: &'a str,
}

impl BugRepair {
    /// A solver's episode for each bug; `None` where it cannot be asked for.
    pub(super) fn repairs(
        &self,
        execute: &dyn Execute,
        seed: u64,
        tasks: &[&BugTask],
    ) -> Vec<Result<Option<Episode>, Dropped>> {
        let handout = |task: &&BugTask| {
            let repository = self.repository_of(&task.package)?;
            Some(Handout {
                repository,
                artifact: task.artifact(&self.repositories[repository]),
                hidden: self.hidden(task, seed),
            })
        };
        let handouts: Vec<Option<Handout>> = tasks.iter().map(handout).collect();
        let (repos, with_function) = (self.repos(), self.format.is_single_turn());
        let requests = handouts.iter().flatten().map(|handout| {
            let Handout { repository, artifact, hidden } = handout;
            ViewRequest { repo: &repos[*repository], artifact, hidden, with_function }
        });
        let mut views = view_all(execute, &requests.collect::<Vec<_>>()).into_iter();
        let mut episode = |handout: &Option<Handout>| {
            let Some(Handout { repository, .. }) = handout else { return Ok(None) };
            let view = views.next().unwrap_or_else(|| Err(Dropped { why: "nothing was handed out".to_owned() }))?;
            Ok(RepoWorkspace::open(Arc::new(repair(*repository, view)), self.format, self.config.own.solver_budget))
        };
        handouts.iter().map(&mut episode).collect()
    }

    /// Test functions of a bug that its solver is shown nothing of: a draw by the seed and the bug alone.
    fn hidden(&self, task: &BugTask, seed: u64) -> BTreeSet<String> {
        let functions: BTreeSet<&str> = task.fail_to_pass.iter().map(|id| test_function(id)).collect();
        let mut functions: Vec<&str> = functions.into_iter().collect();
        let count = (self.config.own.hidden_share * functions.len() as f64).floor() as usize;
        functions.shuffle(&mut generator(seed, 0, &format!("hidden tests of {}", task.task_id)));
        functions.truncate(count.min(functions.len().saturating_sub(1)));
        functions.into_iter().map(str::to_owned).collect()
    }

    /// Judgements on what solvers left.
    pub(super) fn judge_repairs(
        &self,
        execute: &dyn Execute,
        seed: u64,
        solutions: &[(&BugTask, &Finished<Episode>)],
    ) -> Vec<Solution<RepairDetail>> {
        let repos = self.repos();
        let patches: Vec<Result<String, Result<Verdict, Dropped>>> =
            solutions.iter().map(|(_, finished)| self.patch(&repos, finished)).collect();
        let mut graded: Vec<Graded<'_>> = Vec::new();
        for ((task, finished), patch) in solutions.iter().zip(&patches) {
            if let Ok(patch) = patch {
                graded.push(Graded { task, repository: finished.episode.workspace().assignment().repository, patch });
            }
        }
        // Attempts at one task stand side by side, and have one artifact.
        let groups: Vec<&[Graded<'_>]> = graded.chunk_by(|one, other| std::ptr::eq(one.task, other.task)).collect();
        let artifacts: Vec<BugArtifact> =
            groups.iter().map(|group| group[0].task.artifact(&self.repositories[group[0].repository])).collect();
        let requests = groups.iter().zip(&artifacts).flat_map(|(group, artifact)| {
            group.iter().map(|Graded { repository, patch, .. }| {
                let repair = RepairRequest { artifact, patch, fuzz: Fuzz::NONE, seed };
                GradeRequest { repo: &repos[*repository], repair }
            })
        });
        let mut verdicts = grade_all(execute, &requests.collect::<Vec<_>>()).into_iter();
        let no_verdict = || Err(Dropped { why: "no verdict was made".to_owned() });
        let solution = |((_, finished), patch): (&(&BugTask, &Finished<Episode>), Result<String, _>)| {
            let hidden = finished.episode.workspace().assignment().hidden.clone();
            let (verdict, patch) = match patch {
                Ok(patch) => (verdicts.next().unwrap_or_else(no_verdict), patch),
                Err(verdict) => (verdict, String::new()),
            };
            Solution { verdict, detail: RepairDetail { patch, hidden } }
        };
        solutions.iter().zip(patches).map(solution).collect()
    }

    /// What an episode made, or the verdict on one that is graded no further.
    fn patch(
        &self,
        repos: &[RepoContext<'_>],
        finished: &Finished<Episode>,
    ) -> Result<String, Result<Verdict, Dropped>> {
        if let Some(dropped) = &finished.dropped {
            return Err(Err(dropped.clone()));
        }
        let workspace = finished.episode.workspace();
        let assignment = workspace.assignment();
        if !self.config.own.grade_unfinished && finished.episode.end() != Some(SUBMITTED) {
            return Err(Ok(malformed("unfinished", "it submitted nothing")));
        }
        let patch = repair_of(&repos[assignment.repository], &assignment.tree, workspace.tree());
        patch.map(|patch| patch.to_string()).map_err(|error| Ok(malformed("patch", &error.to_string())))
    }
}

/// What a solver is asked.
fn repair(repository: usize, view: SolverView) -> Assignment {
    let function = view.function.map(|(_, now)| now);
    let goal = Goal::Repair { spec: view.spec.to_string(), function };
    Assignment {
        goal,
        repository,
        tree: Arc::new(view.tree),
        suite: DefaultTests::Files(view.test_files),
        hidden: view.hidden,
    }
}

fn malformed(rule: &str, detail: &str) -> Verdict {
    let evidence = Evidence { rule: rule.to_owned(), detail: detail.to_owned(), ..Evidence::default() };
    Verdict { status: Status::Malformed, passed: 0, total: 0, evidence }
}
