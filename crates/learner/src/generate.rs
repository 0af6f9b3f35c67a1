//! `Policy` for the learner, and log-probabilities of given responses.

use std::sync::atomic::AtomicUsize;

use candle_core::Error;
use veriplay_core::{Finish, Policy, PolicyError, Prompt, Rollout, Sampling};

use crate::Result;
use crate::learner::Learner;
use crate::model::Mode;
use crate::model::layout::{MicroBatch, Response, bundle, deal};
use crate::model::packed::Purpose;
use crate::ops::{Engine, SharedSpace};
use crate::rollout::{Frozen, Request, Sampled, Sampler};
use crate::train::on_threads;

/// Prompt tokens a sampling thread computes together.
const PREFILL_TOKENS: usize = 1024;

impl Policy for Learner {
    /// See the trait. A rollout's text is without the end token; at temperature 0 every log-probability is 0.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let tokens: Vec<Vec<u32>> = prompts
            .iter()
            .enumerate()
            .map(|(i, p)| self.encode_prompt(i, &p.text, sampling))
            .collect::<Result<_, _>>()?;
        let mut rollouts: Vec<Vec<Rollout>> = prompts.iter().map(|_| Vec::with_capacity(sampling.group)).collect();
        if sampling.group == 0 || prompts.is_empty() {
            return Ok(rollouts);
        }
        for sampled in self.sample(&tokens, sampling).map_err(backend)? {
            let prompt_tokens = tokens[sampled.prompt].clone();
            rollouts[sampled.prompt].push(self.finish(prompt_tokens, sampled));
        }
        Ok(rollouts)
    }
}

impl Learner {
    fn encode_prompt(&self, index: usize, text: &str, sampling: &Sampling) -> Result<Vec<u32>, PolicyError> {
        let fail = |reason: String| PolicyError::Tokenize { index, reason };
        let tokens = self.tokenizer.encode(text).map_err(|e| fail(e.to_string()))?;
        if tokens.is_empty() {
            return Err(fail("it is empty".to_owned()));
        }
        if sampling.max_tokens == 0 || !(sampling.temperature.is_finite() && sampling.temperature >= 0.0) {
            let Sampling { max_tokens, temperature, .. } = sampling;
            return Err(PolicyError::Backend(format!(
                "max_tokens `{max_tokens}` must be positive and temperature `{temperature}` not negative"
            )));
        }
        if tokens.len().saturating_add(sampling.max_tokens) > self.config.max_position_embeddings {
            return Err(PolicyError::PromptTooLong {
                index,
                tokens: tokens.len(),
                context: self.config.max_position_embeddings,
            });
        }
        Ok(tokens)
    }

    /// All samples, by prompt and sample.
    fn sample(&self, prompts: &[Vec<u32>], sampling: &Sampling) -> Result<Vec<Sampled>> {
        let request = Request {
            prompts,
            group: sampling.group,
            max_tokens: sampling.max_tokens,
            temperature: sampling.temperature,
            seed: sampling.seed,
            end_token: self.config.eos_token_id,
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

    fn finish(&self, prompt_tokens: Vec<u32>, sampled: Sampled) -> Rollout {
        let Sampled { tokens, logprobs, ended, .. } = sampled;
        let text = self.tokenizer.decode(&tokens[..tokens.len() - usize::from(ended)]);
        let finish = if ended { Finish::Stop } else { Finish::Length };
        Rollout { prompt_tokens, tokens, logprobs, text, finish, policy: self.version }
    }

    /// Log-probability, in nats at temperature 1, of every token of every response, by the path that trains.
    ///
    /// # Errors
    /// An empty prompt or response, a token outside the vocabulary, or more tokens than the context holds.
    pub fn score(&self, prompt: &[u32], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.check_score(prompt, responses)?;
        let score = || self.score_with(&self.engine(Mode::Detached, Purpose::Forward)?, prompt, responses);
        score().map_err(backend)
    }

    /// As [`Learner::score`], by candle's own operations instead of our kernels: what they are held to.
    ///
    /// # Errors
    /// As [`Learner::score`].
    pub fn reference_score(&self, prompt: &[u32], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.check_score(prompt, responses)?;
        let score = || self.score_with(&self.stock_engine()?, prompt, responses);
        score().map_err(backend)
    }

    fn score_with(&self, engine: &Engine, prompt: &[u32], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>> {
        let samples = responses
            .iter()
            .enumerate()
            .map(|(index, tokens)| (prompt, Response { index, tokens, masked: 0, weight: 0.0 }));
        let shards = deal(bundle(samples, self.options.micro_tokens), self.options.shards, self.options.micro_tokens);
        let parts: Vec<Result<Vec<Vec<f32>>>> = on_threads(shards.iter(), |share| {
            self.with_space(|space| share.iter().map(|batch| logprobs(engine, batch, &space.ops)).collect())
        });
        let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
        let mut out: Vec<Vec<f32>> = responses.iter().map(|r| vec![0.0; r.len()]).collect();
        for (batch, logprobs) in shards.iter().flatten().zip(parts.into_iter().flatten()) {
            for (&(response, at), logprob) in batch.origins.iter().zip(logprobs) {
                out[response][at] = logprob;
            }
        }
        Ok(out)
    }

    fn check_score(&self, prompt: &[u32], responses: &[Vec<u32>]) -> Result<(), PolicyError> {
        let context = self.config.max_position_embeddings;
        for (index, response) in responses.iter().enumerate() {
            let tokens = prompt.len() + response.len();
            if prompt.is_empty() || response.is_empty() {
                return Err(PolicyError::Backend(format!("response {index} or its prompt is empty")));
            }
            if tokens > context {
                return Err(PolicyError::PromptTooLong { index, tokens, context });
            }
            if let Some(token) = prompt.iter().chain(response).find(|&&t| t as usize >= self.config.vocab_size) {
                return Err(PolicyError::Backend(format!(
                    "token {token} is outside the vocabulary of {}",
                    self.config.vocab_size
                )));
            }
        }
        Ok(())
    }
}

/// The log-probability of every prediction of a micro-batch.
fn logprobs(engine: &Engine, batch: &MicroBatch, space: &SharedSpace) -> Result<Vec<f32>> {
    engine.decoder(space).predict(batch)?.get(0)?.to_vec1()
}

fn backend(error: Error) -> PolicyError {
    PolicyError::Backend(error.to_string())
}
