//! Sampling: `Policy` for the learner, and the same by token ids.

use veriplay_core::{Finish, Policy, PolicyError, Prompt, Rollout, Sampling};

use crate::Result;
use crate::learner::Learner;
use crate::model::Mode;
use crate::model::packed::Purpose;
use crate::rollout::{Ask, End, Frozen, Queue, Sampled, Sampler, TokenSampler};
use crate::score::backend;
use crate::train::on_threads;

/// What was sampled behind a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Continuation {
    /// Its tokens; the end token included, and those of a stop string, where there is one.
    pub tokens: Vec<u32>,
    /// Log-probability of every token in the distribution that it was drawn from, in nats: see [`TokenSampler`].
    pub logprobs: Vec<f32>,
    /// Why it ended.
    pub end: End,
}

impl Continuation {
    /// Whether it ended by itself or by the limit.
    #[must_use]
    pub const fn finish(&self) -> Finish {
        match self.end {
            End::Token(_) | End::Stop(_) => Finish::Stop,
            End::Length => Finish::Length,
        }
    }
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
            group.into_iter().map(|continuation| self.rollout(prompt.clone(), continuation)).collect()
        };
        Ok(tokens.into_iter().zip(groups).map(rollouts).collect())
    }
}

impl Learner {
    /// `sampling.group` continuations of each prompt, which is given in tokens: no tokenizer is needed. As
    /// [`Policy::generate`] samples: one seed for all prompts, which their index tells apart. For prompts with options and seeds of
    /// their own see [`Learner::complete`].
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
        if sampling.group == 0 {
            return Ok(prompts.iter().map(|_| Vec::new()).collect());
        }
        let asks = prompts.iter().enumerate().map(|(index, prompt)| self.ask(index, prompt, sampling)).collect();
        self.continuations(asks).map_err(backend)
    }

    fn ask<'a>(&'a self, index: usize, prompt: &'a [u32], sampling: &Sampling) -> Ask<'a> {
        Ask {
            prompt,
            samples: sampling.group,
            max_tokens: sampling.max_tokens,
            sampler: TokenSampler::at(sampling.temperature),
            seed: sampling.seed,
            stream: index as u64,
            end_tokens: &self.end_tokens,
            stops: None,
            forced: None,
        }
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

    /// The log-probabilities of given tokens, one response for each prompt, by the path that samples.
    pub(crate) fn force(&self, prompts: &[Vec<u32>], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>> {
        let asks = prompts.iter().zip(responses).enumerate().map(|(index, (prompt, response))| {
            let sampling = Sampling { temperature: 1.0, max_tokens: response.len(), group: 1, seed: 0 };
            Ask { forced: Some(response), ..self.ask(index, prompt, &sampling) }
        });
        Ok(self.sample(asks.collect())?.into_iter().map(|sample| sample.logprobs).collect())
    }

    /// The continuations of every ask, in order.
    pub(crate) fn continuations(&self, asks: Vec<Ask<'_>>) -> Result<Vec<Vec<Continuation>>> {
        let mut groups: Vec<Vec<Continuation>> = asks.iter().map(|ask| Vec::with_capacity(ask.samples)).collect();
        for Sampled { ask, tokens, logprobs, end, .. } in self.sample(asks)? {
            groups[ask].push(Continuation { tokens, logprobs, end });
        }
        Ok(groups)
    }

    /// All samples, by ask and sample.
    fn sample(&self, asks: Vec<Ask<'_>>) -> Result<Vec<Sampled>> {
        if asks.is_empty() {
            return Ok(Vec::new());
        }
        let queue = Queue::new(asks, self.options.rollout_rows, PREFILL_TOKENS);
        let engine = self.engine(Mode::Detached, Purpose::Forward)?;
        let frozen = Frozen::new(&self.config, &engine, self.rope())?;
        let run = || self.with_space(|space| Sampler::new(&frozen, &engine, &queue, space).run());
        let parts: Result<Vec<_>> = on_threads(0..self.options.shards, |_| run()).into_iter().collect();
        let mut all: Vec<Sampled> = parts?.into_iter().flatten().collect();
        all.sort_unstable_by_key(|s| (s.ask, s.sample));
        Ok(all)
    }

    /// The text of a continuation: without the end token, and up to the stop string that ended it. Empty where the checkpoint has no
    /// tokenizer.
    #[must_use]
    pub fn text(&self, continuation: &Continuation) -> String {
        let Continuation { tokens, end, .. } = continuation;
        let mut text = self.tokenizer.decode(&tokens[..tokens.len() - usize::from(matches!(end, End::Token(_)))]);
        if let End::Stop(stop) = end {
            text.truncate(text.find(stop.as_str()).unwrap_or(text.len()));
        }
        text
    }

    fn rollout(&self, prompt_tokens: Vec<u32>, continuation: Continuation) -> Rollout {
        let (text, finish) = (self.text(&continuation), continuation.finish());
        let Continuation { tokens, logprobs, .. } = continuation;
        Rollout { prompt_tokens, tokens, logprobs, text, finish, policy: self.version }
    }
}
