//! Between text and tokens: what every model that samples here has in common, our own and a quantised one.
//!
//! Called by [`crate::Learner`] and [`crate::GgufPolicy`]: prompts become tokens and are checked, and what was sampled becomes
//! rollouts. Knows no weights.

use veriplay_core::{PolicyError, PolicyVersion, Prompt, Rollout, Sampling};

use crate::generate::Continuation;
use crate::rollout::{Ask, End, TokenSampler};
use crate::tokenizer::Tokenizer;

/// A model, as those see it who ask it something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speaker<'a> {
    pub(crate) tokenizer: &'a Tokenizer,
    /// Any of them ends an answer.
    pub(crate) end_tokens: &'a [u32],
    /// Tokens that there are.
    pub(crate) vocabulary: usize,
    /// Tokens that prompt and answer may have together.
    pub(crate) context: usize,
}

impl<'a> Speaker<'a> {
    /// Rollouts of prompts in text, from `continuations` of their tokens.
    pub(crate) fn generate(
        &self,
        prompts: &[Prompt],
        sampling: &Sampling,
        version: PolicyVersion,
        continuations: impl FnOnce(&[Vec<u32>]) -> Result<Vec<Vec<Continuation>>, PolicyError>,
    ) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let tokens: Vec<Vec<u32>> =
            prompts.iter().enumerate().map(|(i, p)| self.encode_prompt(i, &p.text)).collect::<Result<_, _>>()?;
        self.check_prompts(&tokens, sampling)?;
        let groups = continuations(&tokens)?;
        let rollouts = |(prompt, group): (Vec<u32>, Vec<Continuation>)| {
            group.into_iter().map(|continuation| self.rollout(prompt.clone(), continuation, version)).collect()
        };
        Ok(tokens.into_iter().zip(groups).map(rollouts).collect())
    }

    /// What `sampling` asks of the sampling loop for each prompt.
    pub(crate) fn asks(&self, prompts: &'a [Vec<u32>], sampling: &Sampling) -> Vec<Ask<'a>> {
        prompts.iter().enumerate().map(|(index, prompt)| self.ask(index, prompt, sampling)).collect()
    }

    pub(crate) fn ask(&self, index: usize, prompt: &'a [u32], sampling: &Sampling) -> Ask<'a> {
        Ask {
            prompt,
            samples: sampling.group,
            max_tokens: sampling.max_tokens,
            sampler: TokenSampler::at(sampling.temperature),
            seed: sampling.seed,
            stream: index as u64,
            end_tokens: self.end_tokens,
            stops: None,
            forced: None,
        }
    }

    fn encode_prompt(&self, index: usize, text: &str) -> Result<Vec<u32>, PolicyError> {
        let fail = |reason: String| PolicyError::Tokenize { index, reason };
        let tokens = self.tokenizer.encode(text).map_err(|e| fail(e.to_string()))?;
        if tokens.is_empty() { Err(fail("it is empty".to_owned())) } else { Ok(tokens) }
    }

    /// Refuses what cannot be continued.
    pub(crate) fn check_prompts(&self, prompts: &[Vec<u32>], sampling: &Sampling) -> Result<(), PolicyError> {
        prompts.iter().enumerate().try_for_each(|(index, prompt)| self.check_prompt(index, prompt, sampling))
    }

    fn check_prompt(&self, index: usize, prompt: &[u32], sampling: &Sampling) -> Result<(), PolicyError> {
        check_sampling(sampling)?;
        if prompt.is_empty() {
            return Err(PolicyError::Tokenize { index, reason: "it is empty".to_owned() });
        }
        self.check_tokens(prompt)?;
        let context = self.context;
        if prompt.len().saturating_add(sampling.max_tokens) > context {
            return Err(PolicyError::PromptTooLong { index, tokens: prompt.len(), context });
        }
        Ok(())
    }

    /// Refuses tokens outside the vocabulary.
    pub(crate) fn check_tokens(&self, tokens: &[u32]) -> Result<(), PolicyError> {
        let size = self.vocabulary;
        let outside = tokens.iter().find(|&&t| t as usize >= size);
        outside.map_or(Ok(()), |token| {
            Err(PolicyError::Backend(format!("token {token} is outside the vocabulary of {size}")))
        })
    }

    /// The text of a continuation: without the end token, and up to the stop string that ended it.
    pub(crate) fn text(&self, continuation: &Continuation) -> String {
        let Continuation { tokens, end, .. } = continuation;
        let mut text = self.tokenizer.decode(&tokens[..tokens.len() - usize::from(matches!(end, End::Token(_)))]);
        if let End::Stop(stop) = end {
            text.truncate(text.find(stop.as_str()).unwrap_or(text.len()));
        }
        text
    }

    fn rollout(&self, prompt_tokens: Vec<u32>, continuation: Continuation, policy: PolicyVersion) -> Rollout {
        let (text, finish) = (self.text(&continuation), continuation.finish());
        let Continuation { tokens, logprobs, .. } = continuation;
        Rollout { prompt_tokens, tokens, logprobs, text, finish, policy }
    }
}

/// Refuses sampling options that cannot work.
pub(crate) fn check_sampling(sampling: &Sampling) -> Result<(), PolicyError> {
    let Sampling { max_tokens, temperature, .. } = sampling;
    if *max_tokens == 0 || !(temperature.is_finite() && *temperature >= 0.0) {
        return Err(PolicyError::Backend(format!(
            "max_tokens `{max_tokens}` must be positive and temperature `{temperature}` not negative"
        )));
    }
    Ok(())
}
