//! Sampling: from prompts and options to continuations.
//!
//! Called by the learner. The sampler divides the samples of a call among threads; the model's backend decodes them.

mod requests;

use candle_core::Result;
use veriplay_core::Sampling;
use veriplay_kernels::thread_pool::ThreadPool;

use crate::decoding::{Continuation, DecodeThreads, DecodingSample, PromptQueue, QueuedPrompt, RolloutBuffers, Slots};
use crate::model::Model;
use crate::network::GradientMode;
use crate::ops::{IdleBuffers, Purpose};
use crate::options::LearnerOptions;
pub use requests::{RequestError, SamplingRequest};
pub(crate) use requests::{SamplingContext, check_sampling};

/// Prompt tokens a decoding loop computes together.
pub(crate) const PREFILL_TOKENS: usize = 1024;
/// Rows of one thread from which on it is busier with multiplying than with reading the weights.
const ENOUGH_ROWS: usize = 32;

/// Generates from a model.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// Samples in flight for each thread.
    rows: usize,
    /// Their tokens at most, on a device.
    tokens: usize,
    buffers: IdleBuffers<RolloutBuffers>,
}

impl Sampler {
    pub(crate) fn new(options: &LearnerOptions) -> Self {
        let tokens = options.rollout_tokens.unwrap_or(usize::MAX);
        Self { rows: options.rollout_rows, tokens, buffers: IdleBuffers::default() }
    }

    /// The log-probabilities of given tokens, one response for each prompt, by the path that samples.
    pub(crate) fn score_forced(
        &self,
        model: &Model,
        prompts: &[Vec<u32>],
        responses: &[Vec<u32>],
    ) -> Result<Vec<Vec<f32>>> {
        let context = SamplingContext::new(model);
        let queued_prompts = prompts.iter().zip(responses).enumerate().map(|(index, (prompt, response))| {
            let sampling = Sampling::new(response.len());
            QueuedPrompt { forced: Some(response), ..context.queue_prompt(index, prompt, &sampling) }
        });
        Ok(self.sample(model, queued_prompts.collect())?.into_iter().map(|sample| sample.logprobs).collect())
    }

    /// The continuations of every queued prompt, in order.
    pub(crate) fn continuations(
        &self,
        model: &Model,
        queued_prompts: Vec<QueuedPrompt<'_>>,
    ) -> Result<Vec<Vec<Continuation>>> {
        let mut groups: Vec<Vec<Continuation>> =
            queued_prompts.iter().map(|queued| Vec::with_capacity(queued.samples)).collect();
        for sample in self.sample(model, queued_prompts)? {
            groups[sample.queued].push(sample.into_continuation());
        }
        Ok(groups)
    }

    /// All samples, by queued prompt and index.
    fn sample(&self, model: &Model, queued_prompts: Vec<QueuedPrompt<'_>>) -> Result<Vec<DecodingSample>> {
        if queued_prompts.is_empty() {
            return Ok(Vec::new());
        }
        let (threads, slots) = self.divide(model, queued_prompts.iter().map(|queued| queued.samples).sum())?;
        let queue = PromptQueue::new(queued_prompts, Slots { samples: slots, tokens: self.tokens }, PREFILL_TOKENS);
        let mut samples = model.backend(GradientMode::Detached, Purpose::Forward)?.decode(&queue, &threads)?;
        samples.sort_unstable_by_key(|sample| (sample.queued, sample.index));
        Ok(samples)
    }

    /// The division of samples among threads, and the slots of each decoding loop. Where every thread would read a large model for a
    /// few rows, one loop decodes all of them.
    fn divide(&self, model: &Model, samples: usize) -> Result<(DecodeThreads<'_>, usize)> {
        let (workers, buffers) = (model.workers(), &self.buffers);
        let few = self.rows.min(samples.div_ceil(workers)) < ENOUGH_ROWS;
        Ok(if few && model.is_large() {
            (DecodeThreads { loops: 1, pool: model.pool()?, buffers }, self.rows * workers)
        } else {
            (DecodeThreads { loops: workers, pool: ThreadPool::single(), buffers }, self.rows)
        })
    }
}
