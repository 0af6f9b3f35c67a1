//! Environments, the tasks that executors are given, and those that are held out: generated ones, and those written by hand.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;

use serde::{Deserialize, Serialize};
use veriplay_core::{CodeTask, Environment, Execute};
use veriplay_corpus::environments::parse_environment;
use veriplay_corpus::{
    EnvironmentCorpus, GeneratedTask, Novelty, Split, TaskGenerator, built_in_environments, environment_by_name,
};
use veriplay_selfplay::environment::EvalTask;
use veriplay_selfplay::games::self_challenge::ToolEnvironment;
use veriplay_selfplay::splits::EvalSet;
use veriplay_verifier::environments::compact_proposal::{CompactProposal, LineChange};
use veriplay_verifier::environments::{ArtifactGate, CompleteRequest, complete_with_failures, describe_environment};

use crate::exit::{ExitCode, Failure, ResultExt, bad_value};
use crate::games::corpus_split;
use crate::progress;

/// Where environments and tasks come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SelfChallengeTaskConfig {
    /// Names of folders of `task-corpus/environments`, or folders with the same files.
    pub(super) environments: Vec<String>,
    /// Generated tasks of the training split that executors are given in addition to those of challengers; 0 gives none.
    pub(super) given: usize,
    /// Seeds them: the same for every run.
    pub(super) given_seed: u64,
    /// Seeds evaluation tasks and the samples of an evaluation: the same for every run.
    pub(super) eval_seed: u64,
    /// What the held-out set is. Validation tasks are always generated.
    pub(super) held_out: HeldOutSource,
}

/// What is held out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HeldOutSource {
    /// Generated tasks of the held-out split: a row of new combinations, and one of new arguments.
    Generated,
    /// The tasks that were written by hand: a row for each environment.
    HandWritten,
}

eval_config! {
    /// How the policy is evaluated. `game.eval_samples` sets the number of samples of each task.
    pub(super) struct SelfChallengeEvalConfig {
        /// Tasks of each row of generated ones; those written by hand are all of them.
        tasks: usize,
    }
}

/// Tasks completed together.
const BLOCK: usize = 256;
/// Of so many drafts in a row that give nothing, one is worth no further.
const DRY_BLOCKS: usize = 40;

/// What tasks are made of.
pub(super) struct ToolTasks<'a> {
    config: &'a SelfChallengeTaskConfig,
    gate: &'a ArtifactGate,
    execute: &'a dyn Execute,
    environments: Vec<Environment>,
    /// Those that are no built-in ones, with the tasks written for them.
    folders: Vec<EnvironmentCorpus>,
    /// Of the built-in ones, where there are any.
    generator: Option<TaskGenerator>,
}

/// Opens the environment in a folder, which is named as the folder.
fn open_folder(folder: &Path) -> Result<EnvironmentCorpus, Failure> {
    let read = |file: &str| {
        let path = folder.join(file);
        std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}` of an environment", path.display()))
            .or_fail(ExitCode::Input)
            .map_err(|failure| {
                failure.hint("task-corpus/environments/README.md says what an environment's folder holds")
            })
    };
    let name = folder.file_name().map_or_else(|| "environment".into(), |name| name.to_string_lossy());
    let (source, tasks) = (read("environment.py")?, read("tasks.toml")?);
    let path = folder.join("tasks.toml").display().to_string();
    parse_environment(&name, &source, (&path, &tasks)).or_fail(ExitCode::Input)
}

impl<'a> ToolTasks<'a> {
    pub(super) fn open(
        config: &'a SelfChallengeTaskConfig,
        gate: &'a ArtifactGate,
        execute: &'a dyn Execute,
    ) -> Result<Self, Failure> {
        let (mut environments, mut folders, mut built_in) = (Vec::new(), Vec::new(), Vec::new());
        for name in &config.environments {
            match environment_by_name(name) {
                Err(_) if Path::new(name).is_dir() => {
                    let corpus = open_folder(Path::new(name))?;
                    environments.push(corpus.environment.clone());
                    folders.push(corpus);
                }
                known => {
                    let hint = "or name a folder with `environment.py` and `tasks.toml`";
                    environments.push(known.or_fail(ExitCode::Input).map_err(|failure| failure.or_hint(hint))?);
                    built_in.push(name);
                }
            }
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = environments.iter().find(|one| !seen.insert(one.name.as_str())) {
            return Err(bad_value(
                "tasks.environments",
                &twice.name,
                "named once: environments have the names of their folders",
            ));
        }
        let generator = (!built_in.is_empty()).then(|| TaskGenerator::built_in(&built_in).or_fail(ExitCode::Input));
        Ok(Self { config, gate, execute, environments, folders, generator: generator.transpose()? })
    }

    /// Drafts of generated tasks; none where no environment is a built-in one.
    fn drafts(&self, split: Split, seed: u64) -> impl Iterator<Item = GeneratedTask> {
        self.generator.iter().flat_map(move |generator| generator.tasks(split, seed))
    }

    /// The environments, and what they say of themselves.
    pub(super) fn tool_environments(&self) -> Result<Vec<ToolEnvironment>, Failure> {
        let described = |environment: &Environment| {
            let about = describe_environment(self.execute, environment, &self.gate.image, self.gate.limits)?;
            Ok(ToolEnvironment { environment: environment.clone(), about: Arc::new(about) })
        };
        self.environments.iter().map(described).collect()
    }

    /// The tasks that executors are given.
    pub(super) fn given(&self) -> Result<Vec<CodeTask>, Failure> {
        let drafts = self.drafts(Split::Train, self.config.given_seed);
        let made = self.complete_tasks(drafts, "given", self.config.given)?;
        Ok(made.into_iter().map(|made| made.task).collect())
    }

    /// The tasks that the policy is evaluated on.
    pub(super) fn evaluation(&self, eval: &SelfChallengeEvalConfig) -> Result<Vec<EvalTask<CodeTask>>, Failure> {
        let mut tasks = self.folder_tasks(eval.set);
        if eval.set == EvalSet::HeldOut && self.config.held_out == HeldOutSource::HandWritten {
            tasks.extend(self.hand_written_tasks());
            return Ok(tasks);
        }
        if self.generator.is_none() {
            return Ok(tasks);
        }
        for novelty in [Novelty::Arguments, Novelty::Combination] {
            let drafts = self.drafts(corpus_split(eval.set), self.config.eval_seed);
            let drafts = drafts.filter(|draft| draft.split().1 == novelty);
            let made = self.complete_tasks(drafts, novelty.name(), eval.tasks)?;
            tasks.extend(made.into_iter().map(|made| EvalTask { row: novelty.name().to_owned(), task: made.task }));
        }
        Ok(tasks)
    }

    /// The tasks written for environments of folders: every second one is held out, the others are for validation.
    fn folder_tasks(&self, set: EvalSet) -> Vec<EvalTask<CodeTask>> {
        let of_set = |place: usize| (place % 2 == 1) == (set == EvalSet::HeldOut);
        let tasks = self.folders.iter().flat_map(|corpus| corpus.tasks.iter().enumerate());
        let tasks = tasks.filter(|(place, _)| of_set(*place)).map(|(_, hand)| hand.task.clone());
        tasks.map(|task| EvalTask { row: task.environment.clone(), task }).collect()
    }

    fn hand_written_tasks(&self) -> Vec<EvalTask<CodeTask>> {
        let wanted = |name: &str| self.config.environments.iter().any(|known| known == name);
        let corpora = built_in_environments().into_iter().filter(|corpus| wanted(&corpus.environment.name));
        let tasks = corpora.flat_map(|corpus| corpus.tasks).map(|hand| hand.task);
        tasks.map(|task| EvalTask { row: task.environment.clone(), task }).collect()
    }

    /// The first `count` of the drafts that make whole artifacts.
    pub(super) fn complete_tasks(
        &self,
        mut drafts: impl Iterator<Item = GeneratedTask>,
        purpose: &str,
        count: usize,
    ) -> Result<Vec<CompletedTask>, Failure> {
        if count > 0 {
            progress::say(format!("completing {count} tasks for `{purpose}`"));
        }
        let (mut made, mut dry) = (Vec::new(), 0);
        while made.len() < count && dry < DRY_BLOCKS {
            let block: Vec<GeneratedTask> = drafts.by_ref().take(BLOCK.min(2 * (count - made.len()))).collect();
            if block.is_empty() {
                break;
            }
            let proposals: Vec<CompactProposal> = block.iter().map(proposal).collect();
            let tasks: Vec<CodeTask> =
                proposals.iter().zip(&block).map(|(proposal, draft)| proposal.task("", &draft.environment)).collect();
            let whole = complete_with_failures(self.execute, self.gate, &self.requests(&tasks));
            let before = made.len();
            for (proposal, whole) in proposals.into_iter().zip(whole) {
                made.extend(whole?.map(|task| CompletedTask::new(proposal, task)));
            }
            dry = if made.len() == before { dry + 1 } else { 0 };
        }
        made.truncate(count);
        for (number, made) in made.iter_mut().enumerate() {
            made.task.task_id = format!("{}/{purpose}/{number}", made.task.environment);
        }
        if made.len() < count {
            let what = format!("there are only {} of {count} tasks for `{purpose}`", made.len());
            let hint = "ask for fewer in `[tasks]` and `[eval]`, or name more environments";
            return Err(Failure::message(ExitCode::Input, what).hint(hint));
        }
        Ok(made)
    }

    fn requests<'t>(&'t self, tasks: &'t [CodeTask]) -> Vec<CompleteRequest<'t>> {
        let environment = |name: &str| self.environments.iter().find(|environment| environment.name == name);
        let request = |task: &'t CodeTask| {
            let environment = environment(&task.environment).expect("the generator is of these environments");
            CompleteRequest { environment, task }
        };
        tasks.iter().map(request).collect()
    }
}

/// A whole artifact, and how a compact challenger would write it.
#[derive(Debug, Clone)]
pub(crate) struct CompletedTask {
    /// The artifact.
    pub(super) task: CodeTask,
    /// With the changes that are its failure cases.
    pub(super) proposal: CompactProposal,
}

impl CompletedTask {
    fn new(proposal: CompactProposal, task: CodeTask) -> Self {
        let is_kept = |change: &LineChange| task.failures.contains(&change.apply_to(&proposal.solution));
        let wrong = proposal.wrong.iter().filter(|change| is_kept(change)).cloned().collect();
        Self { proposal: CompactProposal { wrong, ..proposal }, task }
    }
}

fn proposal(draft: &GeneratedTask) -> CompactProposal {
    let change = |(line, text): &(usize, String)| LineChange { line: *line, text: text.clone() };
    let (instruction, solution) = (draft.instruction.clone(), draft.solution.clone());
    CompactProposal { instruction, solution, wrong: draft.changes.iter().map(change).collect() }
}
