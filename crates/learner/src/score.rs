//! Scoring: log-probabilities and logits of given tokens, by the path that trains, by candle's own operations, and by the path that
//! samples.

use candle_core::{DType, Error};
use veriplay_core::PolicyError;

use crate::Result;
use crate::learner::Learner;
use crate::model::Mode;
use crate::model::layout::{MicroBatch, Response, bundle, deal};
use crate::model::packed::Purpose;
use crate::ops::{Engine, SharedSpace};
use crate::train::on_threads;
use veriplay_kernels::thread_pool::ThreadPool;

impl Learner {
    /// Log-probability, in nats at temperature 1, of every token of every response, by the path that trains.
    ///
    /// # Errors
    /// An empty prompt or response, a token outside the vocabulary, or more tokens than the context holds.
    pub fn score(&self, prompt: &[u32], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.check_score(prompt, responses)?;
        let score = || self.score_with(&self.engine(Mode::Detached, Purpose::Forward)?, &asked(prompt, responses));
        score().map_err(backend)
    }

    /// As [`Learner::score`], by candle's own operations instead of our kernels: what they are held to.
    ///
    /// # Errors
    /// As [`Learner::score`].
    pub fn reference_score(&self, prompt: &[u32], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.check_score(prompt, responses)?;
        let score = || self.score_with(&self.stock_engine()?, &asked(prompt, responses));
        score().map_err(backend)
    }

    /// Log-probabilities of every response behind its prompt.
    pub(crate) fn score_with(&self, engine: &Engine, asked: &[(&[u32], &[u32])]) -> Result<Vec<Vec<f32>>> {
        let response = |(index, &(prompt, tokens))| (prompt, Response { index, tokens, masked: 0, bound: false });
        let samples = asked.iter().enumerate().map(response);
        let shards = deal(bundle(samples, self.options.micro_tokens), self.shards(), self.options.micro_tokens);
        let parts: Vec<Result<Vec<Vec<f32>>>> = on_threads(shards.iter(), |share| {
            self.with_space(&ThreadPool::single(), |space| {
                share.iter().map(|batch| logprobs(engine, batch, &space.ops)).collect()
            })
        });
        let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
        let mut out: Vec<Vec<f32>> = asked.iter().map(|(_, r)| vec![0.0; r.len()]).collect();
        for (batch, logprobs) in shards.iter().flatten().zip(parts.into_iter().flatten()) {
            for (&(response, at), logprob) in batch.origins.iter().zip(logprobs) {
                out[response][at] = logprob;
            }
        }
        Ok(out)
    }

    /// As [`Learner::score`] for one response behind each prompt, by the path that samples: prompts go through the cache, and the
    /// tokens of a response one by one. What rollouts keep equals this, and this is held to [`Learner::score`].
    ///
    /// # Errors
    /// As [`Learner::score`], and lists of unequal length.
    pub fn rollout_score(&self, prompts: &[Vec<u32>], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        if prompts.len() != responses.len() {
            let (prompts, responses) = (prompts.len(), responses.len());
            return Err(PolicyError::Backend(format!(
                "{responses} responses for {prompts} prompts: want one for each"
            )));
        }
        for (prompt, response) in prompts.iter().zip(responses) {
            self.check_score(prompt, std::slice::from_ref(response))?;
        }
        self.force(prompts, responses).map_err(backend)
    }

    /// Logits of the next token behind every token of `tokens` [tokens, vocab], by the path that trains.
    ///
    /// # Errors
    /// As [`Learner::score`].
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.check_score(tokens, &[])?;
        let compute = || {
            let engine = self.engine(Mode::Detached, Purpose::Forward)?;
            let mut batch = MicroBatch::default();
            batch.push_prompt(tokens);
            let rows: Vec<usize> = (0..tokens.len()).collect();
            self.with_space(&ThreadPool::single(), |space| {
                let decoder = engine.decoder(&space.ops);
                decoder.logits(&decoder.forward(&batch, |_, _| Ok(()))?, &rows)?.to_dtype(DType::F32)?.to_vec2()
            })
        };
        compute().map_err(backend)
    }

    /// Refuses what cannot be scored.
    pub(crate) fn check_score(&self, prompt: &[u32], responses: &[Vec<u32>]) -> Result<(), PolicyError> {
        let context = self.config.max_position_embeddings;
        self.check_tokens(prompt)?;
        if prompt.is_empty() {
            return Err(PolicyError::Backend("the prompt is empty".to_owned()));
        }
        for (index, response) in responses.iter().enumerate() {
            let tokens = prompt.len() + response.len();
            if response.is_empty() {
                return Err(PolicyError::Backend(format!("response {index} is empty")));
            }
            if tokens > context {
                return Err(PolicyError::PromptTooLong { index, tokens, context });
            }
            self.check_tokens(response)?;
        }
        let (index, tokens) = (0, prompt.len());
        if tokens > context { Err(PolicyError::PromptTooLong { index, tokens, context }) } else { Ok(()) }
    }

    /// Refuses tokens outside the vocabulary.
    pub(crate) fn check_tokens(&self, tokens: &[u32]) -> Result<(), PolicyError> {
        self.speaker().check_tokens(tokens)
    }
}

/// Every response with the one prompt.
fn asked<'a>(prompt: &'a [u32], responses: &'a [Vec<u32>]) -> Vec<(&'a [u32], &'a [u32])> {
    responses.iter().map(|response| (prompt, response.as_slice())).collect()
}

/// The log-probability of every prediction of a micro-batch.
fn logprobs(engine: &Engine, batch: &MicroBatch, space: &SharedSpace) -> Result<Vec<f32>> {
    engine.decoder(space).predict(batch)?.get(0)?.to_vec1()
}

pub(crate) fn backend(error: Error) -> PolicyError {
    PolicyError::Backend(error.to_string())
}
