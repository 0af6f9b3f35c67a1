//! Supervised examples of both roles, in the prompts of the compact format.

use anyhow::Context;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value};
use veriplay_console::progress::{self, counted};
use veriplay_core::PolicyError;
use veriplay_corpus::{GeneratedTask, Split, TaskGenerator, built_in_environments};
use veriplay_learner::{Tokenizer, TokenizerError, build_tokenizer};
use veriplay_run::programs::ProgramRunner;
use veriplay_run::warmup_examples::{ExampleConfig, Examples, WarmupExamples};
use veriplay_verifier::environments::ArtifactGate;
use veriplay_verifier::environments::compact_proposal::{CODE, DO, MAKE, WORLD, WRONG};

use super::SelfChallengeSetup;
use super::tasks::{CompletedTask, HeldOutSource, SelfChallengeTaskConfig, ToolTasks};
use crate::prompts::{challenger_prompt, executor_prompt};

/// Which tasks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfChallengeData {
    /// As [`SelfChallengeTaskConfig::environments`].
    environments: Vec<String>,
    /// Whole artifacts that challengers' examples are drawn from. Executors' are drawn anew in each step.
    artifacts: usize,
    /// When an artifact is whole.
    gate: ArtifactGate,
}

/// How many examples of each kind one optimizer step holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfChallengeBatch {
    executions: usize,
    challenges: usize,
}

/// Tasks of the training split.
pub struct TrainingTasks {
    generator: TaskGenerator,
    made: Vec<CompletedTask>,
    /// Names of the tools of each environment.
    tools: Vec<(String, Vec<String>)>,
}

/// Every environment that the binary carries.
fn all_environments() -> Vec<String> {
    built_in_environments().into_iter().map(|corpus| corpus.environment.name).collect()
}

impl WarmupExamples for SelfChallengeSetup {
    type Data = SelfChallengeData;
    type Batch = SelfChallengeBatch;
    type Source = TrainingTasks;

    fn tokenizer() -> Result<Tokenizer, TokenizerError> {
        let names = all_environments();
        let generator = TaskGenerator::by_name(&names).expect("these are the names of all environments");
        let mut fragments = generator.fragments();
        for piece in generator.phrases().into_iter().chain(names) {
            if !fragments.contains(&piece) {
                fragments.push(piece);
            }
        }
        build_tokenizer(&[WORLD, DO, MAKE, CODE, WRONG].map(str::to_owned), &fragments)
    }

    fn check_examples(config: &ExampleConfig<SelfChallengeData, SelfChallengeBatch>) -> Result<(), Failure> {
        let ExampleConfig { data, batch } = config;
        if data.environments.is_empty() {
            return Err(bad_value("data.environments", &"[]", "at least one environment"));
        }
        if data.artifacts == 0 && batch.challenges > 0 {
            return Err(bad_value(
                "data.artifacts",
                &data.artifacts,
                "at least 1, because `batch.challenges` draws them",
            ));
        }
        data.gate.check().context("`data.gate`").or_fail(ExitCode::Input)
    }

    fn source(data: &SelfChallengeData, seed: u64, runner: ProgramRunner<'_>) -> Result<TrainingTasks, Failure> {
        let SelfChallengeData { environments, artifacts, gate } = data;
        if gate.image != runner.image {
            return Err(bad_value("data.gate.image", &gate.image, &format!("`{}`, as `gate.image` is", runner.image)));
        }
        let config = SelfChallengeTaskConfig {
            environments: environments.clone(),
            given: 0,
            given_seed: seed,
            eval_seed: seed,
            held_out: HeldOutSource::Generated,
        };
        let source = ToolTasks::open(&config, gate, runner.execute)?;
        let generator = source.generator().clone();
        let drafts = generator.tasks(Split::Train, seed);
        let made = source.complete_tasks(drafts, "warmup", *artifacts)?;
        progress::say(counted(made.len(), "artifact"));
        let environments = source.tool_environments()?.into_iter();
        let tools = environments.map(|one| {
            let names = one.about.tools.iter().map(|tool| tool.name.clone()).collect();
            (one.environment.name, names)
        });
        Ok(TrainingTasks { made, tools: tools.collect(), generator })
    }

    fn draw_examples(
        &self,
        config: &ExampleConfig<SelfChallengeData, SelfChallengeBatch>,
        source: &TrainingTasks,
        rng: &mut ChaCha8Rng,
        examples: &mut Examples<'_>,
    ) -> Result<(), PolicyError> {
        for _ in 0..config.batch.executions {
            let GeneratedTask { environment, instruction, solution, .. } = source.draw(rng);
            examples.add(&executor_prompt(&environment, &instruction), &solution)?;
        }
        for _ in 0..config.batch.challenges {
            let made = source.made.choose(rng).expect("a recipe asks for an artifact at least");
            let tool = source.draw_tool(made, rng);
            examples.add(&challenger_prompt(&made.task.environment, &tool), &made.proposal.to_text())?;
        }
        Ok(())
    }
}

impl TrainingTasks {
    /// A task of the training split.
    fn draw(&self, rng: &mut ChaCha8Rng) -> GeneratedTask {
        loop {
            let task = self.generator.draw(rng);
            if task.split().0 == Split::Train {
                return task;
            }
        }
    }

    /// A tool that the solution calls.
    fn draw_tool(&self, made: &CompletedTask, rng: &mut ChaCha8Rng) -> String {
        let tools = self.tools.iter().find(|(name, _)| *name == made.task.environment);
        let calls = |tool: &&String| made.task.solution.contains(&format!("{tool}("));
        let called: Vec<&String> = tools.into_iter().flat_map(|(_, tools)| tools.iter().filter(calls)).collect();
        called.choose(rng).map_or_else(String::new, |tool| (*tool).clone())
    }
}
