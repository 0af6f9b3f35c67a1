//! Sampling: `Policy` for the learner, and the same by token ids.

use std::sync::atomic::AtomicUsize;

use veriplay_core::{Finish, Policy, PolicyError, Prompt, Rollout, Sampling};

use crate::Result;
use crate::learner::Learner;
use crate::model::Mode;
use crate::model::packed::Purpose;
use crate::rollout::{Frozen, Request, Sampled, Sampler};
use crate::score::backend;
use crate::train::on_threads;

/// What was sampled behind a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Continuation {
    /// Its tokens, the end token included where there is one.
    pub tokens: Vec<u32>,
    /// Log-probability of every token when it was drawn; 0 at temperature 0.
    pub logprobs: Vec<f32>,
    /// Whether it ended with an end token.
    pub finish: Finish,
}

/// Prompt tokens a sampling thread computes together.
const PREFILL_TOKENS: usize = 1024;

impl Policy for Learner {
    /// See the trait. A rollout's text is without the end token; at temperature 0 every log-probability is 0.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let tokens: Vec<Vec<u32>> =
            prompts.iter().enumerate().map(|(i, p)| self.encode_prompt(i, &p.text)).collect::<Result<_, _>>()?;
        let groups = self.continue_tokens(&tokens, sampling)?;
        let rollouts = |(prompt, group): (Vec<u32>, Vec<Continuation>)| {
            group.into_iter().map(|continuation| self.finish(prompt.clone(), continuation)).collect()
        };
        Ok(tokens.into_iter().zip(groups).map(rollouts).collect())
    }
}

impl Learner {
    /// `sampling.group` continuations of each prompt, which is given in tokens: no tokenizer is needed. As
    /// [`Policy::generate`] samples.
    ///
    /// # Errors
    /// A prompt that is empty, holds a token outside the vocabulary or does not fit, or sampling options that cannot work.
    pub fn continue_tokens(
        &self,
        prompts: &[Vec<u32>],
        sampling: &Sampling,
    ) -> Result<Vec<Vec<Continuation>>, PolicyError> {
        for (index, prompt) in prompts.iter().enumerate() {
            self.check_prompt(index, prompt, sampling)?;
        }
        let mut groups: Vec<Vec<Continuation>> = prompts.iter().map(|_| Vec::with_capacity(sampling.group)).collect();
        if sampling.group == 0 || prompts.is_empty() {
            return Ok(groups);
        }
        for Sampled { prompt, tokens, logprobs, ended, .. } in self.sample(prompts, sampling, None).map_err(backend)? {
            let finish = if ended { Finish::Stop } else { Finish::Length };
            groups[prompt].push(Continuation { tokens, logprobs, finish });
        }
        Ok(groups)
    }

    fn encode_prompt(&self, index: usize, text: &str) -> Result<Vec<u32>, PolicyError> {
        let fail = |reason: String| PolicyError::Tokenize { index, reason };
        let tokens = self.tokenizer.encode(text).map_err(|e| fail(e.to_string()))?;
        if tokens.is_empty() { Err(fail("it is empty".to_owned())) } else { Ok(tokens) }
    }

    fn check_prompt(&self, index: usize, prompt: &[u32], sampling: &Sampling) -> Result<(), PolicyError> {
        let Sampling { max_tokens, temperature, .. } = sampling;
        if *max_tokens == 0 || !(temperature.is_finite() && *temperature >= 0.0) {
            return Err(PolicyError::Backend(format!(
                "max_tokens `{max_tokens}` must be positive and temperature `{temperature}` not negative"
            )));
        }
        if prompt.is_empty() {
            return Err(PolicyError::Tokenize { index, reason: "it is empty".to_owned() });
        }
        self.check_tokens(prompt)?;
        let context = self.config.max_position_embeddings;
        if prompt.len().saturating_add(*max_tokens) > context {
            return Err(PolicyError::PromptTooLong { index, tokens: prompt.len(), context });
        }
        Ok(())
    }

    /// All samples, by prompt and sample; with `forced`, one of every prompt that takes the tokens it says.
    pub(crate) fn sample(
        &self,
        prompts: &[Vec<u32>],
        sampling: &Sampling,
        forced: Option<&[Vec<u32>]>,
    ) -> Result<Vec<Sampled>> {
        let request = Request {
            prompts,
            group: sampling.group,
            max_tokens: sampling.max_tokens,
            temperature: sampling.temperature,
            seed: sampling.seed,
            end_tokens: &self.end_tokens,
            forced,
            rows: self.options.rollout_rows,
            prefill_tokens: PREFILL_TOKENS,
            next: AtomicUsize::new(0),
        };
        let engine = self.engine(Mode::Detached, Purpose::Forward)?;
        let frozen = Frozen::new(&self.config, &engine, self.rope())?;
        let run = || self.with_space(|space| Sampler::new(&frozen, &engine, &request, space).run());
        let parts: Result<Vec<_>> = on_threads(0..self.options.shards, |_| run()).into_iter().collect();
        let mut all: Vec<Sampled> = parts?.into_iter().flatten().collect();
        all.sort_unstable_by_key(|s| (s.prompt, s.sample));
        Ok(all)
    }

    fn finish(&self, prompt_tokens: Vec<u32>, continuation: Continuation) -> Rollout {
        let Continuation { tokens, logprobs, finish } = continuation;
        let text = self.tokenizer.decode(&tokens[..tokens.len() - usize::from(finish == Finish::Stop)]);
        Rollout { prompt_tokens, tokens, logprobs, text, finish, policy: self.version }
    }
}
