//! Supervised examples of a game's roles: what a start model is warmed up on.

use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use veriplay_core::{Execute, Sample};
use veriplay_learner::{END_TOKEN, Tokenizer, TokenizerError};

use super::GameSetup;
use crate::exit::Failure;

/// `[data]` and `[batch]` of a recipe.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ExampleConfig<D, B> {
    /// What examples are made of.
    pub(crate) data: D,
    /// How many examples of each kind one optimizer step holds.
    pub(crate) batch: B,
}

impl<D, B> ExampleConfig<D, B> {
    /// The names of its tables.
    pub(crate) const TABLES: [&'static str; 2] = ["data", "batch"];
}

/// A game whose roles can be warmed up by examples that need no model.
pub(crate) trait WarmupExamples: GameSetup {
    /// `[data]` of a recipe.
    type Data: DeserializeOwned;
    /// `[batch]` of a recipe.
    type Batch: DeserializeOwned;
    /// What examples are drawn from.
    type Source;

    /// The vocabulary of the game's compact prompts.
    fn tokenizer() -> Result<Tokenizer, TokenizerError>;

    /// Makes the source of examples: a function of the recipe and the seed.
    fn source(data: &Self::Data, seed: u64, execute: &dyn Execute) -> Result<Self::Source, Failure>;

    /// Draws the examples of one optimizer step, those of one prompt side by side.
    fn draw_examples(
        config: &ExampleConfig<Self::Data, Self::Batch>,
        source: &Self::Source,
        rng: &mut ChaCha8Rng,
        examples: &mut Examples<'_>,
    ) -> Result<(), TokenizerError>;
}

/// The examples of one optimizer step, in tokens.
pub(crate) struct Examples<'a> {
    tokenizer: &'a Tokenizer,
    samples: Vec<Sample>,
}

impl<'a> Examples<'a> {
    pub(crate) const fn new(tokenizer: &'a Tokenizer) -> Self {
        Self { tokenizer, samples: Vec::new() }
    }

    /// Adds an example: `response` and the end token are learned.
    pub(crate) fn add(&mut self, prompt: &str, response: &str) -> Result<(), TokenizerError> {
        self.add_question(prompt, "", response)
    }

    /// Adds an example whose prompt is `shared` with other examples, up to its own `question`.
    pub(crate) fn add_question(&mut self, shared: &str, question: &str, answer: &str) -> Result<(), TokenizerError> {
        let end = self.tokenizer.token_id(END_TOKEN);
        let end = end.ok_or_else(|| TokenizerError::Encode(format!("there is no `{END_TOKEN}`")))?;
        let mut response = self.tokenizer.encode(question)?;
        let masked = response.len();
        response.extend(self.tokenizer.encode(answer)?);
        response.push(end);
        let prompt = self.tokenizer.encode(shared)?;
        self.samples.push(Sample { masked, ..Sample::example(prompt.into(), response, 1.0) });
        Ok(())
    }

    /// All of them, in the order they were added.
    pub(crate) fn finish(self) -> Vec<Sample> {
        self.samples
    }
}
