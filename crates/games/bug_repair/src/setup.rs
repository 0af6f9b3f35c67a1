//! `bug_repair`: its configuration, its repositories in two images, and the files of its bugs.

mod warmup;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::image;
use veriplay_console::isolation::{self, Isolation};
use veriplay_console::progress::{self, counted};
use veriplay_core::{Digest, Language, Trust};
use veriplay_corpus::BUILTIN_PREFIX;
use veriplay_python::Python;
use veriplay_repository::{RepoImages, RepoSandboxes, StoredRepository, read_bugs};
use veriplay_run::config::{LearnConfig, from_toml};
use veriplay_run::executor::GameExecutor;
use veriplay_run::game_setup::{EvalKeys, GameSetup, StepTokens};
use veriplay_run::named_files::NamedFile;
use veriplay_sandbox::SandboxOptions;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::methods::Methods;
use veriplay_selfplay::settings::SharedSettings;
use veriplay_selfplay::splits::EvalSet;
use veriplay_verifier::bugs::BugArtifact;

use crate::{BugRepair, BugRepairConfig, NAME, Repositories, Repository};

/// `[game]`, `[repositories]`, `[bugs]` and `[eval]`, as `configs/bug-repair-qwen.toml` shows them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BugRepairSetup {
    game: BugRepairConfig,
    repositories: RepositoryNames,
    /// Bugs that are there before the run.
    bugs: BugFiles,
    /// How the policy is evaluated.
    eval: BugRepairEvalConfig,
}

/// Where bugs are: `NAME==VERSION` that `veriplay corpus add-repo` has fetched, or directories that it wrote. No repository is in two
/// lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "RepositoryLists")]
struct RepositoryNames {
    /// Bugs are made in these.
    training: Vec<String>,
    /// Those of `bugs.validation`.
    validation: Vec<String>,
    /// Those of `bugs.held_out`.
    held_out: Vec<String>,
}

/// [`RepositoryNames`] as they are read: not checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RepositoryLists {
    training: Vec<String>,
    validation: Vec<String>,
    held_out: Vec<String>,
}

impl TryFrom<RepositoryLists> for RepositoryNames {
    type Error = String;

    /// The configuration reader adds the line to this error.
    fn try_from(lists: RepositoryLists) -> Result<Self, String> {
        let RepositoryLists { training, validation, held_out } = lists;
        if training.is_empty() {
            return Err("`repositories.training` is empty: name at least one repository".to_owned());
        }
        let lists = [("training", &training), ("validation", &validation), ("held_out", &held_out)];
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (list, name) in lists.iter().flat_map(|(list, names)| names.iter().map(move |name| (list, name))) {
            // `a/` and `a` are one directory.
            if let Some(other) = seen.insert(name.trim_end_matches('/'), list) {
                return Err(format!(
                    "repository `{name}` is in `{other}` and in `{list}`: name it once, so that nothing that is measured trains"
                ));
            }
        }
        Ok(Self { training, validation, held_out })
    }
}

/// Files of bugs, as `veriplay corpus inject-bugs --out` writes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BugFiles {
    /// To train on; empty where all bugs are made in play.
    training: Vec<PathBuf>,
    validation: Vec<PathBuf>,
    held_out: Vec<PathBuf>,
}

veriplay_run::eval_config! {
    /// How the policy is evaluated. `game.eval_samples` sets the number of samples of each bug.
    pub struct BugRepairEvalConfig {
        /// Seeds the samples, and which failing tests are hidden: the same for every run.
        seed: u64,
    }
}

impl GameSetup for BugRepairSetup {
    type Game = BugRepair;
    type Eval = BugRepairEvalConfig;
    const NAME: &'static str = NAME;
    const TABLES: &'static [&'static str] = &["game", "repositories", "bugs", "eval"];

    fn parse(text: &str, origin: &Path) -> Result<Self, Failure> {
        from_toml(text, origin)
    }

    fn shared_settings(&self) -> &SharedSettings {
        &self.game.shared
    }

    fn validate(&self, _learn: &LearnConfig) -> Result<(), Failure> {
        self.game.check().map_err(|error| error.within("game")).or_fail(ExitCode::Input)
    }

    /// Every turn is a sample with a prompt of its own, at most as long as the context.
    fn step_tokens(&self, context: usize) -> StepTokens {
        let (game, shared) = (&self.game.own, &self.game.shared);
        let solver = game.tasks_per_step * shared.group_size * game.solver_budget.turns;
        let injector = game.injections_per_step * game.injector_budget.turns;
        let longest_response = shared.solver_max_tokens.max(shared.proposer_max_tokens);
        StepTokens { total: (solver + injector + shared.sft_samples) * context, longest: context, longest_response }
    }

    fn eval(&self) -> &Self::Eval {
        &self.eval
    }

    fn eval_mut(&mut self) -> &mut Self::Eval {
        &mut self.eval
    }

    fn eval_seed(&self) -> u64 {
        self.eval.seed
    }

    fn named_files(&self) -> Result<Vec<NamedFile>, Failure> {
        let (repositories, bugs) = (&self.repositories, &self.bugs);
        let mut files = NamedFile::repositories("repositories.training", &repositories.training)?;
        files.extend(NamedFile::repositories("repositories.validation", &repositories.validation)?);
        files.extend(NamedFile::repositories("repositories.held_out", &repositories.held_out)?);
        let lists = [
            ("bugs.training", &bugs.training),
            ("bugs.validation", &bugs.validation),
            ("bugs.held_out", &bugs.held_out),
        ];
        for (key, paths) in lists {
            let own = paths.iter().filter(|path| !path.to_string_lossy().starts_with(BUILTIN_PREFIX));
            files.extend(own.map(|path| NamedFile::new(key, path, inject_advice(path))));
        }
        Ok(files)
    }

    fn describe_step(&self) -> Vec<String> {
        let (game, shared) = (&self.game.own, &self.game.shared);
        let (solver, injector) = (game.tasks_per_step * shared.group_size, game.injections_per_step);
        let Methods { reward, advantage, .. } = Methods::named_by(shared);
        let alpha = shared.alpha.map_or_else(String::new, |alpha| format!(", alpha {alpha}"));
        vec![
            format!(
                "a step: {} to make bugs, {}, then {} at each of {}",
                counted(injector, "episode"),
                counted(game.mutants_per_step, "mutant"),
                counted(shared.group_size, "episode"),
                counted(game.tasks_per_step, "bug")
            ),
            format!(
                "turns of a step: at most {}, each a prompt and a call of a tool",
                solver * game.solver_budget.turns + injector * game.injector_budget.turns
            ),
            format!(
                "jobs of a step: at most {} of tools, two runs of tests for each of {}, and the checks of each bug",
                counted(solver * game.solver_budget.turns + injector * game.injector_budget.turns, "call"),
                counted(solver, "repair")
            ),
            format!("reward `{}`{alpha}; advantage `{}`; prompts `{}`", reward.name(), advantage.name(), shared.format),
        ]
    }

    fn open(&self, workers: Isolation) -> Result<(GameExecutor, SelfPlay<BugRepair>), Failure> {
        let (executor, mut repositories) = open_repositories(&self.repositories, self.game.own.trust, workers)?;
        let read = |paths: &[PathBuf]| -> Result<Vec<BugArtifact>, Failure> {
            Ok(paths.iter().map(|path| read_bugs(path)).collect::<Result<Vec<_>, _>>()?.concat())
        };
        let training = read(&self.bugs.training)?;
        let mut held_out = read(match self.eval.set {
            EvalSet::HeldOut => &self.bugs.held_out,
            EvalSet::Validation => &self.bugs.validation,
        })?;
        held_out.truncate(self.eval.tasks);
        repositories.eval_guard = self.eval.suite_schedule().guard()?;
        let game = BugRepair::new(self.game.clone(), repositories, &training, &held_out)?.with_examples(&executor)?;
        Ok((executor, SelfPlay::new(game)))
    }
}

fn inject_advice(path: &Path) -> String {
    let out = progress::shell_word(path);
    format!(
        "`veriplay corpus inject-bugs --repo NAME==VERSION --count N --out {out}` makes it, of a repository of the same list"
    )
}

/// Opens the repositories, all in the same sandboxes.
fn open_repositories(
    names: &RepositoryNames,
    trust: Trust,
    workers: Isolation,
) -> Result<(GameExecutor, Repositories), Failure> {
    let all = names.training.iter().chain(&names.validation).chain(&names.held_out);
    let stored = all.map(|name| StoredRepository::open(name)).collect::<Result<Vec<_>, _>>()?;
    let RepoSandboxes { pytest, images, mut sandboxes } =
        RepoSandboxes::open(&stored, SandboxOptions::fastest(), workers)?;
    sandboxes.push(isolation::open_sandbox(image::python()?, SandboxOptions::fastest(), workers)?);
    let executor = GameExecutor::over(Python.image(), sandboxes);
    let load = |stored: &StoredRepository| repository(stored, &executor, &images, &pytest, trust);
    let mut repositories = stored.iter().map(load).collect::<Result<Vec<_>, Failure>>()?;
    let mut held_out = repositories.split_off(names.training.len());
    let validation = held_out.drain(..names.validation.len()).collect();
    Ok((executor, Repositories { training: repositories, validation, held_out, ..Repositories::default() }))
}

fn repository(
    stored: &StoredRepository,
    executor: &GameExecutor,
    images: &RepoImages,
    pytest: &Digest,
    trust: Trust,
) -> Result<Repository, Failure> {
    let map = stored.map(executor, images, pytest)?;
    let repo = stored.repo(images, pytest, &map);
    Ok(Repository {
        image: repo.image.to_owned(),
        tool_env_image: repo.split_image.to_owned(),
        pytest: pytest.clone(),
        texts: repo.texts.clone(),
        binaries: repo.binaries.clone(),
        baseline: repo.baseline.clone(),
        limits: repo.limits,
        max_jobs: repo.max_jobs,
        trust,
        map: map.clone(),
        history: stored.history.clone(),
    })
}
