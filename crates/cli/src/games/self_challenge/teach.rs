//! Examples of both roles: what warm-up teaches, in the prompts of the compact format.

use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use veriplay_core::{Execute, Sample};
use veriplay_corpus::{GeneratedTask, Split, TaskGenerator, built_in_environments};
use veriplay_learner::{Tokenizer, TokenizerError, build_tokenizer};
use veriplay_selfplay::games::self_challenge::prompts::{challenger_prompt, executor_prompt};
use veriplay_verifier::environments::ArtifactGate;
use veriplay_verifier::environments::compact_proposal::{CODE, DO, MAKE, WORLD, WRONG};

use super::SelfChallengeSetup;
use super::tasks::{CompletedTask, HeldOutSource, TaskConfig, TaskSource};
use crate::exit::Failure;
use crate::games::examples::{Teach, example};
use crate::progress;

/// `[data]` and `[batch]` of a recipe.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Lessons {
    data: Data,
    batch: BatchPlan,
}

/// Which tasks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    /// Names of folders of `task-corpus/environments`.
    environments: Vec<String>,
    /// Whole artifacts that challengers' examples are drawn from. Executors' are drawn anew in each step.
    artifacts: usize,
    /// When an artifact is whole.
    gate: ArtifactGate,
}

/// How many examples of each kind one optimizer step holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchPlan {
    /// Tasks to be done.
    executions: usize,
    /// Tasks to be made.
    challenges: usize,
}

/// What examples are made of: tasks of the training split.
pub(crate) struct Material {
    generator: TaskGenerator,
    made: Vec<CompletedTask>,
    /// Names of the tools of each environment.
    tools: Vec<(String, Vec<String>)>,
}

/// Every environment that the binary carries.
fn all_environments() -> Vec<String> {
    built_in_environments().into_iter().map(|corpus| corpus.environment.name).collect()
}

impl Teach for SelfChallengeSetup {
    type Lessons = Lessons;
    const LESSON_TABLES: &'static [&'static str] = &["data", "batch"];
    type Material = Material;

    fn tokenizer() -> Result<Tokenizer, TokenizerError> {
        let names = all_environments();
        let generator = TaskGenerator::built_in(&names).expect("these are the names of all environments");
        let mut fragments = generator.fragments();
        for piece in generator.phrases().into_iter().chain(names) {
            if !fragments.contains(&piece) {
                fragments.push(piece);
            }
        }
        build_tokenizer(&[WORLD, DO, MAKE, CODE, WRONG].map(str::to_owned), &fragments)
    }

    fn material(lessons: &Lessons, seed: u64, execute: &dyn Execute) -> Result<Material, Failure> {
        let Data { environments, artifacts, gate } = &lessons.data;
        let config = TaskConfig {
            environments: environments.clone(),
            given: 0,
            given_seed: seed,
            eval_seed: seed,
            held_out: HeldOutSource::Generated,
        };
        let source = TaskSource::open(&config, gate, execute)?;
        let generator = TaskGenerator::built_in(environments).expect("the source has found these environments");
        let drafts = generator.tasks(Split::Train, seed);
        let made = source.complete_tasks(drafts, "lessons", *artifacts)?;
        progress::say(format!("{} artifacts", made.len()));
        let worlds = source.worlds()?.into_iter();
        let tools = worlds.map(|world| {
            let names = world.about.tools.iter().map(|tool| tool.name.clone()).collect();
            (world.environment.name, names)
        });
        Ok(Material { made, tools: tools.collect(), generator })
    }

    fn examples(
        lessons: &Lessons,
        material: &Material,
        tokenizer: &Tokenizer,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<Sample>, TokenizerError> {
        let mut samples = Vec::new();
        let mut teach = |prompt: String, response: &str| -> Result<(), TokenizerError> {
            samples.push(example(tokenizer, &tokenizer.encode(&prompt)?, "", response)?);
            Ok(())
        };
        for _ in 0..lessons.batch.executions {
            let GeneratedTask { environment, instruction, solution, .. } = material.draw(rng);
            teach(executor_prompt(&environment, &instruction), &solution)?;
        }
        for _ in 0..lessons.batch.challenges {
            let made = material.made.choose(rng).expect("a recipe asks for an artifact at least");
            let tool = material.tool(made, rng);
            teach(challenger_prompt(&made.task.environment, &tool), &made.sketch.to_text())?;
        }
        Ok(samples)
    }
}

impl Material {
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
    fn tool(&self, made: &CompletedTask, rng: &mut ChaCha8Rng) -> String {
        let tools = self.tools.iter().find(|(name, _)| *name == made.task.environment);
        let calls = |tool: &&String| made.task.solution.contains(&format!("{tool}("));
        let called: Vec<&String> = tools.into_iter().flat_map(|(_, tools)| tools.iter().filter(calls)).collect();
        called.choose(rng).map_or_else(String::new, |tool| (*tool).clone())
    }
}
