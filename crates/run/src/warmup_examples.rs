//! Supervised examples of a game's roles: what a start model is warmed up on.

use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use veriplay_console::exit::Failure;
use veriplay_core::{Policy, PolicyError, Prompt, Role, Sample};
use veriplay_learner::{Learner, Tokenizer, TokenizerError};

use crate::game_setup::GameSetup;
use crate::programs::ProgramRunner;

/// `[data]` and `[batch]` of a recipe.
#[derive(Debug, Clone, Deserialize)]
pub struct ExampleConfig<D, B> {
    /// What examples are made of.
    pub data: D,
    /// How many examples of each kind one optimizer step holds.
    pub batch: B,
}

/// A game whose roles can be warmed up by examples that need no model.
pub trait WarmupExamples: GameSetup {
    /// `[data]` of a recipe.
    type Data: DeserializeOwned;
    /// `[batch]` of a recipe.
    type Batch: DeserializeOwned;
    /// What examples are drawn from.
    type Source;

    /// The vocabulary of the game's compact prompts, for models that are trained from scratch.
    fn tokenizer() -> Result<Tokenizer, TokenizerError>;

    /// Checks what types cannot, before anything is made.
    fn check_examples(config: &ExampleConfig<Self::Data, Self::Batch>) -> Result<(), Failure>;

    /// Makes the source of examples: a function of the recipe and the seed.
    fn source(data: &Self::Data, seed: u64, runner: ProgramRunner<'_>) -> Result<Self::Source, Failure>;

    /// Draws the examples of one optimizer step, those of one prompt side by side.
    fn draw_examples(
        &self,
        config: &ExampleConfig<Self::Data, Self::Batch>,
        source: &Self::Source,
        rng: &mut ChaCha8Rng,
        examples: &mut Examples<'_>,
    ) -> Result<(), PolicyError>;
}

/// The examples of one optimizer step, in tokens.
pub struct Examples<'a> {
    learner: &'a Learner,
    samples: Vec<Sample>,
}

impl<'a> Examples<'a> {
    /// No examples yet, for this learner.
    pub const fn new(learner: &'a Learner) -> Self {
        Self { learner, samples: Vec::new() }
    }

    /// Adds an example: `response` and the end token are learned.
    pub fn add(&mut self, prompt: &str, response: &str) -> Result<(), PolicyError> {
        self.add_question(prompt, "", response)
    }

    /// Adds an example whose prompt is `shared` with other examples, up to its own `question`.
    pub fn add_question(&mut self, shared: &str, question: &str, answer: &str) -> Result<(), PolicyError> {
        let text = |text: &str| if text.is_empty() { Ok(Vec::new()) } else { self.encode(text) };
        let (prompt, question) = (text(shared)?, text(question)?);
        self.push(prompt, question, answer)
    }

    /// Adds examples whose prompts begin alike: the learner computes their common tokens once.
    pub fn add_group(&mut self, group: &[(Prompt, String)]) -> Result<(), PolicyError> {
        let prompts = group.iter().map(|(prompt, _)| self.learner.encode_prompt(prompt));
        let prompts: Vec<Vec<u32>> = prompts.collect::<Result<_, _>>()?;
        let shared = common_prefix(&prompts);
        for (prompt, (_, answer)) in prompts.iter().zip(group) {
            let (shared, question) = prompt.split_at(shared);
            self.push(shared.to_vec(), question.to_vec(), answer)?;
        }
        Ok(())
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        self.learner.encode_prompt(&Prompt::new(Role::SOLVER, text))
    }

    fn push(&mut self, prompt: Vec<u32>, question: Vec<u32>, answer: &str) -> Result<(), PolicyError> {
        let (masked, mut response) = (question.len(), question);
        response.extend(self.learner.encode_response(answer)?);
        self.samples.push(Sample { masked, ..Sample::example(prompt.into(), response, 1.0) });
        Ok(())
    }

    /// All of them, in the order they were added.
    pub fn finish(self) -> Vec<Sample> {
        self.samples
    }
}

/// The number of tokens that all `prompts` begin with: all of a single prompt, and of several less than the shortest has, so that each keeps
/// a question of its own.
fn common_prefix(prompts: &[Vec<u32>]) -> usize {
    let (first, others) = match prompts {
        [] => return 0,
        [only] => return only.len(),
        [first, others @ ..] => (first, others),
    };
    let longest = prompts.iter().map(Vec::len).min().unwrap_or(0).saturating_sub(1);
    (0..longest).find(|&at| others.iter().any(|other| other[at] != first[at])).unwrap_or(longest)
}

#[cfg(test)]
mod tests {
    use super::common_prefix;

    #[test]
    fn prompts_share_what_they_begin_with_and_none_of_several_is_all_shared() {
        let prompts =
            |tokens: &[&[u32]]| common_prefix(&tokens.iter().map(|tokens| tokens.to_vec()).collect::<Vec<_>>());
        assert_eq!(prompts(&[]), 0);
        assert_eq!(prompts(&[&[1, 2, 3]]), 3);
        assert_eq!(prompts(&[&[1, 2, 3], &[1, 2, 4, 5]]), 2);
        assert_eq!(prompts(&[&[1, 2], &[1, 2, 4]]), 1);
        assert_eq!(prompts(&[&[1, 2], &[3, 2]]), 0);
    }
}
