//! Environments, the tasks that executors are given, and those that are held out: generated ones, and those written by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value};
use veriplay_console::progress::{self, counted};
use veriplay_core::{CodeTask, Dropped, Environment, Execute, Status};
use veriplay_corpus::{EnvironmentFolder, GeneratedTask, Novelty, Split, TaskGenerator, open_environment};
use veriplay_run::game_setup::corpus_split;
use veriplay_selfplay::environment::EvalTask;
use veriplay_selfplay::splits::EvalSet;
use veriplay_verifier::environments::compact_proposal::{CompactProposal, LineChange};
use veriplay_verifier::environments::{
    ArtifactGate, ArtifactRequest, DescribeError, complete_with_failures, describe_environment, examine_artifact,
    try_code,
};
use veriplay_verifier::on_all_cores;

use crate::{ToolEnvironment, ToolTask};

/// Where environments and tasks come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelfChallengeTaskConfig {
    /// Built-in environments by name, and folders of the user's own by path ([`open_environment`]).
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HeldOutSource {
    /// Generated tasks of the held-out split: a row of new combinations, and one of new arguments.
    Generated,
    /// The tasks that were written by hand: a row for each environment.
    HandWritten,
}

veriplay_run::eval_config! {
    /// How the policy is evaluated. `game.eval_samples` sets the number of samples of each task.
    pub struct SelfChallengeEvalConfig {}
}

const BLOCK: usize = 256;
/// Of so many drafts in a row that give nothing, one is worth no further.
const DRY_BLOCKS: usize = 40;

/// What tasks are made of.
pub(super) struct ToolTasks<'a> {
    config: &'a SelfChallengeTaskConfig,
    gate: &'a ArtifactGate,
    execute: &'a dyn Execute,
    folders: Vec<EnvironmentFolder>,
    generator: TaskGenerator,
}

impl<'a> ToolTasks<'a> {
    pub(super) fn open(
        config: &'a SelfChallengeTaskConfig,
        gate: &'a ArtifactGate,
        execute: &'a dyn Execute,
    ) -> Result<Self, Failure> {
        let mut folders: Vec<EnvironmentFolder> = Vec::new();
        for entry in &config.environments {
            let folder = open_environment(entry).or_fail(ExitCode::Input)?;
            let name = &folder.corpus.environment.name;
            if folders.iter().any(|other| other.corpus.environment.name == *name) {
                let want = format!("environments of different names, and `{name}` is another one's already");
                return Err(bad_value("tasks.environments", entry, &want));
            }
            folders.push(folder);
        }
        let generator = TaskGenerator::new(&folders).or_fail(ExitCode::Input)?;
        Ok(Self { config, gate, execute, folders, generator })
    }

    pub(super) const fn generator(&self) -> &TaskGenerator {
        &self.generator
    }

    fn environments(&self) -> impl Iterator<Item = &Environment> {
        self.folders.iter().map(|folder| &folder.corpus.environment)
    }

    /// Those of the user's own. What is built in, tests have tried.
    fn own_folders(&self) -> impl Iterator<Item = &EnvironmentFolder> {
        self.folders.iter().filter(|folder| folder.is_own)
    }

    /// The environments, and what they say of themselves.
    pub(super) fn tool_environments(&self) -> Result<Vec<ToolEnvironment>, Failure> {
        let described = |environment: &Environment| {
            let about = describe_environment(self.execute, environment, &self.gate.image, self.gate.limits);
            let about = about.map_err(|error| match error {
                DescribeError::Host(dropped) => Failure::from(dropped),
                DescribeError::Invalid { .. } => Failure::message(ExitCode::Input, error.to_string()).hint(HINT),
            })?;
            Ok(ToolEnvironment { environment: environment.clone(), about: Arc::new(about) })
        };
        let environments = self.environments().map(described).collect::<Result<Vec<_>, Failure>>()?;
        self.own_folders().try_for_each(|folder| check_templates(self.execute, self.gate, folder))?;
        Ok(environments)
    }

    /// The tasks that executors are given.
    pub(super) fn given(&self) -> Result<Vec<CodeTask>, Failure> {
        let drafts = self.generator.tasks(Split::Train, self.config.given_seed);
        let made = self.complete_tasks(drafts, "given", self.config.given)?;
        Ok(made.into_iter().map(|made| made.task).collect())
    }

    /// The tasks that the policy is evaluated on.
    pub(super) fn evaluation(&self, eval: &SelfChallengeEvalConfig) -> Result<Vec<EvalTask<ToolTask>>, Failure> {
        if eval.set == EvalSet::HeldOut && self.config.held_out == HeldOutSource::HandWritten {
            return self.hand_written_tasks();
        }
        let mut tasks = Vec::new();
        for novelty in [Novelty::Arguments, Novelty::Combination] {
            let drafts = self.generator.tasks(corpus_split(eval.set), self.config.eval_seed);
            let drafts = drafts.filter(|draft| draft.split().1 == novelty);
            let made = self.complete_tasks(drafts, novelty.name(), eval.tasks)?;
            tasks.extend(made.into_iter().map(|made| EvalTask::new(novelty.name(), ToolTask(made.task))));
        }
        Ok(tasks)
    }

    fn hand_written_tasks(&self) -> Result<Vec<EvalTask<ToolTask>>, Failure> {
        self.own_folders().try_for_each(|folder| check_hand_written(self.execute, self.gate, folder))?;
        // In the order of their names, whatever order the configuration has them in.
        let mut folders: Vec<&EnvironmentFolder> = self.folders.iter().collect();
        folders.sort_by_key(|folder| &folder.corpus.environment.name);
        let tasks = folders.into_iter().flat_map(|folder| &folder.corpus.tasks).map(|hand| hand.task.clone());
        Ok(tasks.map(|task| EvalTask::new(task.environment.clone(), ToolTask(task))).collect())
    }

    /// The first `count` of the drafts that make whole artifacts.
    pub(super) fn complete_tasks(
        &self,
        mut drafts: impl Iterator<Item = GeneratedTask>,
        purpose: &str,
        count: usize,
    ) -> Result<Vec<CompletedTask>, Failure> {
        if count > 0 {
            progress::say(format!("completing {} for `{purpose}`", counted(count, "task")));
        }
        let bar = progress::bar(count as u64, "tasks");
        let (mut made, mut dry) = (Vec::new(), 0);
        while made.len() < count && dry < DRY_BLOCKS {
            let block: Vec<GeneratedTask> = drafts.by_ref().take(BLOCK.min(2 * (count - made.len()))).collect();
            if block.is_empty() {
                break;
            }
            let proposals: Vec<CompactProposal> = block.iter().map(proposal).collect();
            let tasks: Vec<CodeTask> =
                proposals.iter().zip(&block).map(|(proposal, draft)| proposal.task("", &draft.environment)).collect();
            let whole = on_all_cores(&tasks, |task| self.complete(task));
            let before = made.len();
            for (proposal, whole) in proposals.into_iter().zip(whole) {
                made.extend(whole?.map(|task| CompletedTask::new(proposal, task)));
            }
            dry = if made.len() == before { dry + 1 } else { 0 };
            bar.set_position(made.len() as u64);
        }
        bar.finish_and_clear();
        made.truncate(count);
        for (number, made) in made.iter_mut().enumerate() {
            made.task.task_id = format!("{}/{purpose}/{number}", made.task.environment);
        }
        if made.len() < count {
            let what = format!("there are only {} of {} for `{purpose}`", made.len(), counted(count, "task"));
            let hint = "ask for fewer in `[tasks]` and `[eval]`, name more environments, or give yours more templates and values";
            return Err(Failure::message(ExitCode::Input, what).hint(hint));
        }
        Ok(made)
    }

    fn complete(&self, task: &CodeTask) -> Result<Option<CodeTask>, Dropped> {
        let environment = self.environments().find(|environment| environment.name == task.environment);
        let environment = environment.expect("the generator is of these environments");
        complete_with_failures(self.execute, self.gate, environment, task)
    }
}

/// A whole artifact, and how a compact challenger would write it.
#[derive(Debug, Clone)]
pub(super) struct CompletedTask {
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

// What is tried of an environment of the user's own before it is played in: a fault in it would else look like the policy's, at the price of every
// task that meets it.

/// Advice where an environment of the user's own is wrong.
const HINT: &str = "the page \"Plug-ins in Python, and your own trainer\" of the documentation says what an environment of your own holds";

/// Refuses a template that no task can be made of: each of its codes fails in the state that the environment starts in.
fn check_templates(execute: &dyn Execute, gate: &ArtifactGate, folder: &EnvironmentFolder) -> Result<(), Failure> {
    let environment = &folder.corpus.environment;
    for trial in folder.template_trials() {
        let codes: Vec<&str> = trial.solutions.iter().map(String::as_str).collect();
        let ends = on_all_cores(&codes, |code| try_code(execute, gate, environment, code));
        let ends = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
        if ends.iter().any(Result::is_ok) {
            continue;
        }
        // What most codes meet is a fault rather than a refusal, which depends on the code's values.
        let mut causes: BTreeMap<(Status, String), Vec<&str>> = BTreeMap::new();
        for (code, end) in codes.iter().zip(ends) {
            causes.entry(end.expect_err("none of them completed")).or_default().push(code);
        }
        let most = causes.iter().max_by_key(|(_, codes)| codes.len());
        let ((status, why), failed) = most.expect("a template makes at least one code");
        let (name, template, count, code) = (&environment.name, &trial.template, codes.len(), failed[0]);
        let what = format!(
            "environment `{name}`: no code of template `{template}` works in the first state, of {count} tried; `{code}`: {status}, {why}"
        );
        return Err(Failure::message(ExitCode::Input, what).hint(HINT));
    }
    Ok(())
}

/// Puts the hand-written tasks of an environment through the gate.
fn check_hand_written(execute: &dyn Execute, gate: &ArtifactGate, folder: &EnvironmentFolder) -> Result<(), Failure> {
    let corpus = &folder.corpus;
    let request = |task| ArtifactRequest { environment: &corpus.environment, task, known: false };
    let requests: Vec<_> = corpus.tasks.iter().map(|hand| request(&hand.task)).collect();
    let reports = on_all_cores(&requests, |request| examine_artifact(execute, gate, request));
    for (hand, report) in corpus.tasks.iter().zip(reports) {
        let verdict = report?.verdict;
        if verdict.status != Status::Valid {
            let (task, rule) = (&hand.task.task_id, &verdict.evidence.rule);
            let what = format!("task `{task}` breaks rule `{rule}` of the gate: {}", verdict.evidence.detail);
            return Err(Failure::message(ExitCode::Input, what).hint(HINT));
        }
    }
    Ok(())
}
