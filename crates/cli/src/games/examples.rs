//! Supervised examples of a game's roles: what a start model is warmed up on.

use rand_chacha::ChaCha8Rng;
use serde::de::DeserializeOwned;
use veriplay_core::{Execute, Sample};
use veriplay_learner::{END_TOKEN, Tokenizer, TokenizerError};

use super::Setup;
use crate::exit::Failure;

/// A game whose roles can be taught by examples that need no model.
pub(crate) trait Teach: Setup {
    /// The recipe's tables of lessons, beside those of the game.
    type Lessons: DeserializeOwned;
    /// Their names.
    const LESSON_TABLES: &'static [&'static str];
    /// What examples are made of.
    type Material;

    /// The vocabulary of the game's compact prompts.
    fn tokenizer() -> Result<Tokenizer, TokenizerError>;

    /// Makes the material: a function of the lessons and the seed.
    fn material(lessons: &Self::Lessons, seed: u64, execute: &dyn Execute) -> Result<Self::Material, Failure>;

    /// The examples of one optimizer step, those of one prompt side by side.
    fn examples(
        lessons: &Self::Lessons,
        material: &Self::Material,
        tokenizer: &Tokenizer,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<Sample>, TokenizerError>;
}

/// One example: `asked` is context, `answer` and the end token are learned.
pub(crate) fn example(
    tokenizer: &Tokenizer,
    prompt: &[u32],
    asked: &str,
    answer: &str,
) -> Result<Sample, TokenizerError> {
    let mut response = tokenizer.encode(asked)?;
    let masked = response.len();
    response.extend(tokenizer.encode(answer)?);
    response.push(
        tokenizer.token_id(END_TOKEN).ok_or_else(|| TokenizerError::Encode(format!("there is no `{END_TOKEN}`")))?,
    );
    Ok(Sample { masked, ..Sample::example(prompt.into(), response, 1.0) })
}
