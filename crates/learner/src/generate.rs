//! Sampling: `Policy` for the learner, and the same by token ids.

use veriplay_core::{Finish, Policy, PolicyError, Prompt, Rollout, Sampling};

use crate::Result;
use crate::learner::Learner;
use crate::model::Mode;
use crate::model::packed::Purpose;
use crate::rollout::{Ask, DeviceSampler, End, Frozen, Queue, Sampled, Sampler};
use crate::score::backend;
use crate::speaker::Speaker;
use crate::train::on_threads;
use veriplay_kernels::thread_pool::ThreadPool;

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

/// Prompt tokens a decoding loop computes together.
const PREFILL_TOKENS: usize = 1024;
/// Rows of one thread from which on it is busier with multiplying than with reading the weights.
const ENOUGH_ROWS: usize = 32;

/// Who decodes.
struct Division {
    /// Decoding loops, side by side.
    loops: usize,
    /// Who shares each.
    pool: ThreadPool,
    /// Rows of each.
    slots: usize,
}

impl Policy for Learner {
    /// See the trait. A rollout's text is without the end token; at temperature 0 every log-probability is 0.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        self.speaker().generate(prompts, sampling, self.version, |tokens| self.continue_tokens(tokens, sampling))
    }
}

impl Learner {
    /// What is said with the model: how text becomes tokens, and what may be asked.
    pub(crate) fn speaker(&self) -> Speaker<'_> {
        Speaker {
            tokenizer: &self.tokenizer,
            end_tokens: &self.end_tokens,
            vocabulary: self.config.vocab_size,
            context: self.config.max_position_embeddings,
        }
    }

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
        let speaker = self.speaker();
        speaker.check_prompts(prompts, sampling)?;
        if sampling.group == 0 {
            return Ok(prompts.iter().map(|_| Vec::new()).collect());
        }
        self.continuations(speaker.asks(prompts, sampling)).map_err(backend)
    }

    /// The log-probabilities of given tokens, one response for each prompt, by the path that samples.
    pub(crate) fn force(&self, prompts: &[Vec<u32>], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>> {
        let asks = prompts.iter().zip(responses).enumerate().map(|(index, (prompt, response))| {
            let sampling = Sampling { temperature: 1.0, max_tokens: response.len(), group: 1, seed: 0 };
            Ask { forced: Some(response), ..self.speaker().ask(index, prompt, &sampling) }
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
        let Division { loops, pool, slots } = self.divide(asks.iter().map(|ask| ask.samples).sum())?;
        let queue = Queue::new(asks, slots, PREFILL_TOKENS);
        let engine = self.engine(Mode::Detached, Purpose::Forward)?;
        if !self.compute.kernels {
            let mut all = DeviceSampler::new(&self.config, &engine, self.rope(), &queue)?.run()?;
            all.sort_unstable_by_key(|s| (s.ask, s.sample));
            return Ok(all);
        }
        let frozen = Frozen::new(&self.config, &engine, self.rope())?;
        let run = || {
            pool.enter(|| self.with_space(&pool, |space| Sampler::new(&frozen, &engine, &queue, space, &pool).run()))
        };
        let parts: Result<Vec<_>> = on_threads(0..loops, |_| run()).into_iter().collect();
        let mut all: Vec<Sampled> = parts?.into_iter().flatten().collect();
        all.sort_unstable_by_key(|s| (s.ask, s.sample));
        Ok(all)
    }

    /// How so many samples are divided. Where every thread would read a large model for a few rows of its own, one loop reads it for
    /// all.
    fn divide(&self, samples: usize) -> Result<Division> {
        let (shards, slots) = (self.shards(), self.options.rollout_rows);
        let few = slots.min(samples.div_ceil(shards)) < ENOUGH_ROWS;
        Ok(if few && self.is_large() {
            Division { loops: 1, pool: self.pool()?, slots: slots * shards }
        } else {
            Division { loops: shards, pool: ThreadPool::single(), slots }
        })
    }

    /// The text of a continuation: without the end token, and up to the stop string that ended it. Empty where the checkpoint has no
    /// tokenizer.
    #[must_use]
    pub fn text(&self, continuation: &Continuation) -> String {
        self.speaker().text(continuation)
    }
}
