//! `bug_repair` (Self-play SWE-RL, arXiv 2512.18552): one policy puts bugs into real repositories, and repairs them.
//!
//! # One step
//! Injectors work on the original in a tool environment ([`veriplay_verifier::bugs::tool_env`]), in one of four [`InjectionMode`]s,
//! and leave an edited tree each. Its changes of code are the bug; the weakening that hides it is made from the tests that fail, or is
//! what it did to test files
//! ([`BugRepairSettings::weakening`]). Mutants are made beside them. Every proposal goes through all checks of
//! [`veriplay_verifier::bugs::CHECKS`]. Tasks are this step's bugs and earlier ones of the second order, each up to its share, then the
//! training set and earlier ones. A solver gets base, bug and weakening, without history; its prompt is the weakening
//! reversed; what counts is the patch its edits of code come to, submitted or not. Grading restores the original's tests. Failed repairs
//! of first-order bugs are tried as bugs of the second order; the order is never more. [`veriplay_selfplay::driver`] has the rest.
//!
//! # Choices
//! What the paper leaves open is a key of [`BugRepairSettings`]. Two things differ from it on purpose. A share of the failing tests may be
//! hidden from the solver: neither in its prompt nor in its tree, and graded all the same, which the paper recommends and
//! does not do. And a bug that is known already is rewarded no more than one that nobody repairs.
//!
//! # Invariants
//! Bugs are made only in training repositories, and none of them, however it was made, turns a function into one that the policy is evaluated on
//! ([`veriplay_selfplay::splits`]). No IO and no clock. The same state, seed, step, policy and executor give the same result. A Dropped episode is no part of a
//! solve rate, a reward, a mean or a batch. No solver sees an oracle test whole, no injector that rewrites a function sees the
//! original's, and no job of theirs holds either. No step uses held-out bugs, and no bug that changes the same enters the
//! buffer. A failed repair keeps its injector's spec: the prompt stays the same.

mod config;
mod episode;
mod injection;
mod metrics;
mod mutation;
pub mod prompts;
mod repair;
mod repositories;
pub mod setup;
mod task;

use std::sync::Arc;

use veriplay_core::{Digest, Execute, Prompt, TextFiles};
use veriplay_verifier::bugs::tool_env::{RepoToolRequest, serve_tool_call};
use veriplay_verifier::bugs::{BugArtifact, Injector, RepoContext};
use veriplay_verifier::on_all_cores;

use injection::InjectionSite;
use metrics::BugRepairMetrics;
use prompts::RepairFormat;
use repair::PlacedExample;
use task::KIND;
use veriplay_selfplay::admission::IsKnown;
use veriplay_selfplay::environment::{
    Environment, EvalTask, GameBase, JudgedProposalOf, JudgedResponseOf, OpenedEpisode, ProposalBatch, Proposer,
    Proposing, Stage, StreamNames, TaskEpisode,
};
use veriplay_selfplay::facts::StepFacts;
use veriplay_selfplay::game::Game;
use veriplay_selfplay::judgement::{Never, Seeds};
use veriplay_selfplay::multi_turn::{NextAction, serve_calls};
use veriplay_selfplay::play::{PlayError, StepContext};
use veriplay_selfplay::rollout::{self, FinishedEpisode};
use veriplay_selfplay::step::Step;
use veriplay_selfplay::task_pool::{TaskChoice, TaskPool};

pub use config::{BugRepairConfig, BugRepairSettings, TestCommandSource};
pub use episode::{Assignment, RepoBudget, RepoEpisode, RepoWorkspace, SUBMITTED};
pub use injection::InjectionRequest;
pub use mutation::Derivation;
pub use prompts::InjectionMode;
pub use repair::RepairDetail;
pub use repositories::{Repositories, Repository};
pub use task::{BugOrigin, BugTask};

/// Its name in configurations: a value of `plays`.
pub const NAME: &str = "bug_repair";

/// The game, set up.
pub struct BugRepair {
    base: GameBase<BugTask>,
    own: BugRepairSettings,
    /// Training repositories, then those of evaluation.
    repositories: Vec<Repository>,
    /// How many of them are for training: bugs are made only in these.
    training_count: usize,
    /// The repositories' text files, as trees are made of them.
    originals: Vec<Arc<TextFiles>>,
    training: Vec<BugTask>,
    /// One more than prompts show.
    examples: Vec<PlacedExample>,
    format: &'static dyn RepairFormat,
    injectors: Vec<Injector>,
}

impl BugRepair {
    /// Sets the game up. `training` may be empty, when bugs are made in play; `evaluation` are bugs of the validation or held-out
    /// repositories.
    ///
    /// # Errors
    /// The first thing that has no meaning.
    ///
    /// # Panics
    /// Never: a checked config names a prompt format.
    pub fn new(
        config: BugRepairConfig,
        repositories: Repositories,
        training: &[BugArtifact],
        evaluation: &[BugArtifact],
    ) -> Result<Self, PlayError> {
        config.check()?;
        let BugRepairConfig { shared: settings, own } = config;
        let format = prompts::by_name(&settings.format).expect("a checked config names a prompt format");
        let (guard, training_count) = (repositories.guard(), repositories.training.len());
        let repositories = repositories.into_vec();
        let originals: Vec<Arc<TextFiles>> =
            repositories.iter().map(|repository| Arc::new(repository.texts.clone())).collect();
        let injectors = own.injectors();
        let training = training.iter().map(BugTask::from).collect();
        let eval_task = |task: BugTask| EvalTask::new(task.family(), task);
        let evaluation = evaluation.iter().map(BugTask::from).map(eval_task).collect();
        let base = GameBase { settings, guard, evaluation };
        let examples = Vec::new();
        let game = Self { base, own, repositories, training_count, originals, training, examples, format, injectors };
        game.check()?;
        Ok(game)
    }

    fn check(&self) -> Result<(), PlayError> {
        if self.training_count == 0 {
            return Err(PlayError::Setup("no training repository: name at least one".to_owned()));
        }
        self.check_repositories()?;
        let (training, evaluation) = self.repositories.split_at(self.training_count);
        check_packages("training", self.training.iter(), training)?;
        check_packages("measured", self.base.evaluation.iter().map(|one| &one.task), evaluation)?;
        self.check_training_bugs()?;
        if self.own.modes.contains(&InjectionMode::History) && self.past_changes().is_empty() {
            let what = "mode `history` undoes past changes, and no training repository has any: fetch one with `veriplay corpus add-repo \
                        NAME==VERSION --history URL@COMMIT`";
            return Err(PlayError::Setup(what.to_owned()));
        }
        let makes = self.own.injections_per_step + self.own.mutants_per_step;
        if self.training.is_empty() && makes == 0 {
            let what = "there are no training bugs, and the config makes none: set `injections_per_step` or `mutants_per_step`";
            return Err(PlayError::Setup(what.to_owned()));
        }
        Ok(())
    }

    fn repository_of(&self, package: &Digest) -> Option<usize> {
        self.repositories.iter().position(|repository| repository.package() == package)
    }

    /// The repositories that bugs are made in.
    fn training_repositories(&self) -> &[Repository] {
        &self.repositories[..self.training_count]
    }

    fn repos(&self) -> Vec<RepoContext<'_>> {
        self.repositories.iter().map(Repository::context).collect()
    }

    /// This step's bugs and earlier ones of the second order, each kind up to its share; then the training set and other earlier ones.
    fn choose_tasks(&self, choice: &mut TaskChoice<'_, BugTask>) {
        let config = &self.own;
        let higher = choice.shuffled(choice.entries(|entry| !entry.seed && entry.task.is_higher_order()));
        let (model, mutants) = (choice.fresh(BugTask::is_of_model), choice.fresh(|task| !task.is_of_model()));
        let kinds =
            [(model, config.injection_share), (mutants, config.mutant_share), (higher, config.higher_order_share)];
        for (candidates, share) in kinds {
            choice.take(candidates, config.tasks_of(share).min(config.tasks_per_step - choice.len()));
        }
        let others = choice.entries(|entry| entry.seed || !entry.task.is_higher_order());
        let others = choice.by_curriculum(others);
        choice.take(others, config.tasks_per_step - choice.len());
    }

    fn tool_request<'a>(
        &'a self,
        repos: &'a [RepoContext<'a>],
        seed: u64,
        episode: &'a RepoEpisode,
    ) -> Option<RepoToolRequest<'a>> {
        let NextAction::Call(call) = episode.next_action() else { return None };
        let workspace = episode.workspace();
        let assignment = workspace.assignment();
        Some(RepoToolRequest {
            repo: &repos[assignment.repository],
            image: &self.repositories[assignment.repository].tool_env_image,
            tree: workspace.tree(),
            suite: &assignment.suite,
            call,
            fuel: episode.fuel_left(),
            shown_chars: workspace.shown_chars(),
            seed,
        })
    }
}

fn check_packages<'a>(
    set: &'static str,
    mut bugs: impl Iterator<Item = &'a BugTask>,
    repositories: &[Repository],
) -> Result<(), PlayError> {
    let unknown = |bug: &&BugTask| repositories.iter().all(|repository| *repository.package() != bug.package);
    let Some(bug) = bugs.find(unknown) else { return Ok(()) };
    let BugTask { task_id, package, .. } = bug;
    Err(PlayError::Setup(format!(
        "{set} bug `{task_id}` is in a repository of digest `{package}`, which is not among the {set} repositories"
    )))
}

impl Environment for BugRepair {
    type Task = BugTask;
    type Request = InjectionRequest;
    type Episode = RepoEpisode;
    type ProposalDetail = ();
    type SolutionDetail = RepairDetail;
    type Round = Never;
    type Derivation = Derivation;

    const KINDS: &'static [&'static str] = &[KIND];
    const STREAMS: Option<StreamNames> = Some(STREAMS);

    fn base(&self) -> &GameBase<BugTask> {
        &self.base
    }

    fn proposer_episode(
        &self,
        execute: &dyn Execute,
        request: &InjectionRequest,
    ) -> Result<Option<RepoEpisode>, PlayError> {
        Ok(self.logged_injection_episode(execute, request)?)
    }

    fn judge_proposals(&self, execute: &dyn Execute, batch: ProposalBatch<'_, Self>) -> Vec<JudgedProposalOf<Self>> {
        self.judge_injections(execute, batch)
    }

    fn judge_derived(
        &self,
        execute: &dyn Execute,
        derivations: &[Derivation],
        is_known: &mut IsKnown<'_>,
    ) -> Vec<JudgedProposalOf<Self>> {
        self.judge_derivations(execute, derivations, is_known)
    }

    fn solver_episodes(&self, execute: &dyn Execute, seeds: Seeds, tasks: &[&BugTask]) -> Vec<OpenedEpisode<Self>> {
        self.repair_episodes(execute, seeds.shown, tasks)
    }

    fn advance(&self, execute: &dyn Execute, seed: u64, episodes: &mut [FinishedEpisode<RepoEpisode>]) {
        let repos = self.repos();
        serve_calls(episodes, |waiting| {
            let requests = waiting.iter().filter_map(|episode| self.tool_request(&repos, seed, episode));
            on_all_cores(requests.collect::<Vec<_>>(), |request| serve_tool_call(execute, &request))
        });
    }

    fn judge_solutions(
        &self,
        execute: &dyn Execute,
        seed: u64,
        solutions: &[TaskEpisode<'_, Self>],
    ) -> Vec<JudgedResponseOf<Self>> {
        self.judge_repairs(execute, seed, solutions)
    }

    /// Only the run's seed decides which tests a bug's solvers are shown.
    fn seeds(&self, stage: Stage, run: u64, step: u64) -> Seeds {
        let shown = if matches!(stage, Stage::SftPropose | Stage::Propose) { 0 } else { run };
        Seeds { shown, ..STREAMS.seeds(stage, run, step) }
    }
}

impl Game for BugRepair {
    type Metrics = BugRepairMetrics;

    fn step(&self, step: &mut Step<'_, Self>) -> Result<(), PlayError> {
        let injections = step.propose(|proposing| self.proposers(proposing))?;
        self.note_groups(step, injections)?;
        step.derive(self.draw_mutants(step.execute(), step.seed(), step.number()));
        let tasks = step.draw(|choice| self.choose_tasks(choice))?;
        step.admit();
        let attempts = step.solve(tasks)?;
        // Repairs that failed become tasks of later steps.
        step.derive(self.draw_failed_repairs(step, &attempts));
        step.admit();
        Ok(())
    }

    fn proposers(&self, proposing: &Proposing<'_, BugTask>) -> Result<Vec<Proposer<Self>>, PlayError> {
        let Proposing { context, stage, step, .. } = *proposing;
        if stage == Stage::SftPropose && self.own.sft_bugs == 0 {
            return Ok(Vec::new());
        }
        Ok(self.proposers_at(self.draw_sites(
            context.execute,
            &self.own.modes,
            STREAMS.stage_seed(stage, context.seed),
            step,
        )))
    }

    fn initial_pool(&self, _context: &StepContext<'_>) -> Result<TaskPool<BugTask>, PlayError> {
        let mut pool = TaskPool::default();
        pool.add_seeds(self.training.iter().cloned());
        Ok(pool)
    }

    fn sft_tasks(&self) -> usize {
        self.own.sft_bugs
    }

    fn plays_without_proposers(&self) -> bool {
        !self.training.is_empty() || self.own.mutants_per_step > 0 || self.base.settings.seed_proposals > 0
    }

    fn metrics(&self, step: &StepFacts<Self>) -> BugRepairMetrics {
        metrics::step_metrics(step)
    }

    fn preview(&self, execute: &dyn Execute) -> Result<Vec<(String, Prompt)>, PlayError> {
        let mut prompts = Vec::new();
        for mode in &self.own.modes {
            let modes = if *mode == InjectionMode::History { std::slice::from_ref(mode) } else { &self.own.modes };
            let drawn = self.draw_sites(execute, modes, 0, 0);
            let sites = drawn.into_iter().map(|site| InjectionSite {
                mode: *mode,
                past: site.past.filter(|_| *mode == InjectionMode::History),
                ..site
            });
            let episode = sites.filter_map(|site| self.injection_episode(site)).next();
            let prompt = episode.and_then(|episode| rollout::Episode::prompt(&episode));
            prompts.extend(prompt.map(|prompt| (format!("injector, {}", mode.name()), prompt)));
        }
        // The first that has a prompt.
        for task in &self.training {
            if let Some(episode) = self.repair_episodes(execute, 0, &[task]).remove(0)? {
                prompts.extend(rollout::Episode::prompt(&episode).map(|prompt| ("solver".to_owned(), prompt)));
                break;
            }
        }
        Ok(prompts)
    }
}

const STREAMS: StreamNames = StreamNames {
    proposer: "injector",
    sft_proposers: "anchors of injectors",
    sft_solver: "anchors",
    solver: "solver",
    proposer_tools: "tests of injectors",
    solver_tools: "tests",
    judge: "grade",
};
