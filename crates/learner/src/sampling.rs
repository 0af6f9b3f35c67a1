//! Sampling: from prompts and options to continuations.
//!
//! Called by the learner. The sampler divides the samples of a call among threads; the model's backend decodes them.

mod requests;

use candle_core::Result;
use veriplay_kernels::thread_pool::ThreadPool;

use crate::decoding::{
    Continuation, DecodeThreads, DecodingSample, PromptQueue, QueuedPrompt, RolloutBuffers, Slots, TurnCache,
};
use crate::device::RolloutPrecision;
use crate::model::Model;
use crate::ops::IdleBuffers;
use crate::options::LearnerOptions;
pub use requests::{RequestError, SamplingRequest};
pub(crate) use requests::{SamplingContext, check_sampling};

/// Prompt tokens a decoding loop computes together, on the CPU.
const PREFILL_TOKENS: usize = 1024;
/// The same on a device, which takes as long for fewer.
pub(crate) const DEVICE_PREFILL_TOKENS: usize = 4096;
/// Rows of one thread from which on it is busier with multiplying than with reading the weights.
const ENOUGH_ROWS: usize = 32;

#[derive(Debug)]
pub(crate) struct Sampler {
    /// Samples in flight for each thread.
    rows: usize,
    /// Their tokens at most, on a device.
    tokens: usize,
    buffers: IdleBuffers<RolloutBuffers>,
    /// Prompts that later turns continue, and how many bytes of them.
    turns: TurnCache,
    turn_bytes: usize,
    /// That of the weights where absent.
    precision: Option<RolloutPrecision>,
}

impl Sampler {
    pub(crate) fn new(options: &LearnerOptions) -> Self {
        let tokens = options.rollout_tokens.unwrap_or(usize::MAX);
        let (buffers, turns) = (IdleBuffers::default(), TurnCache::default());
        let (rows, precision) = (options.rollout_rows, options.rollout_precision);
        Self { rows, tokens, buffers, turns, turn_bytes: options.turn_cache_mib << 20, precision }
    }

    /// One for other weights of the same shape: it shares the buffers, and nothing that depends on weights.
    pub(crate) fn beside(&self) -> Self {
        Self { buffers: self.buffers.clone(), turns: TurnCache::default(), ..*self }
    }

    /// Forgets what it has computed: the weights are others from now on.
    pub(crate) fn forget(&self) {
        self.turns.clear();
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

    fn sample(&self, model: &Model, queued_prompts: Vec<QueuedPrompt<'_>>) -> Result<Vec<DecodingSample>> {
        if queued_prompts.is_empty() {
            return Ok(Vec::new());
        }
        let (threads, slots) = self.divide(model, queued_prompts.iter().map(|queued| queued.samples).sum())?;
        let (slots, turns) = (Slots { samples: slots, tokens: self.tokens }, self.turns.begin(self.turn_bytes));
        let prefill_tokens = if model.device.kernels { PREFILL_TOKENS } else { DEVICE_PREFILL_TOKENS };
        let queue = PromptQueue::new(queued_prompts, slots, prefill_tokens, turns);
        let mut samples = model.sampling_backend(self.precision)?.decode(&queue, &threads)?;
        self.turns.end(queue.turns);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use veriplay_core::Sampling;

    use super::{Sampler, SamplingContext};
    use crate::config::ModelConfig;
    use crate::decoding::{Continuation, QueuedPrompt};
    use crate::model::Model;
    use crate::options::LearnerOptions;
    use crate::tokenizer::build_tokenizer;

    fn model() -> Model {
        let config = ModelConfig {
            vocab_size: 110,
            hidden_size: 36,
            num_hidden_layers: 2,
            num_attention_heads: 4,
            num_key_value_heads: 2,
            head_dim: 10,
            intermediate_size: 50,
            max_position_embeddings: 96,
            initializer_range: 0.15,
            ..ModelConfig::default()
        };
        let tokenizer = build_tokenizer(&[], &[]).expect("a tokenizer");
        Model::initialize(config, tokenizer, 7, &LearnerOptions::default()).expect("valid")
    }

    fn tokens(count: usize, salt: u32) -> Vec<u32> {
        (0..count as u32).map(|i| (i * 37 + i * i * salt + salt) % 107 + 1).collect()
    }

    /// Three samples of each prompt, which begins with so many tokens of the turn before.
    fn sample(sampler: &Sampler, model: &Model, prompts: &[(Vec<u32>, usize)]) -> Vec<Vec<Continuation>> {
        let (context, sampling) = (SamplingContext::new(model), Sampling { group: 3, seed: 5, ..Sampling::new(9) });
        let queued = prompts.iter().enumerate().map(|(index, (prompt, earlier))| QueuedPrompt {
            earlier: *earlier,
            may_continue: true,
            ..context.queue_prompt(index, prompt, &sampling)
        });
        sampler.continuations(model, queued.collect()).expect("samples")
    }

    /// Prompts of a turn, each continued by a sample and more.
    fn next(prompts: &[(Vec<u32>, usize)], samples: &[Vec<Continuation>]) -> Vec<(Vec<u32>, usize)> {
        let next = |((prompt, _), group): (&(Vec<u32>, usize), &Vec<Continuation>)| {
            ([prompt.as_slice(), &group[1].tokens, &tokens(4, 3)].concat(), prompt.len())
        };
        prompts.iter().zip(samples).map(next).collect()
    }

    #[test]
    fn a_prompt_that_was_kept_is_not_computed_again_until_it_is_forgotten() {
        let model = model();
        let sampler = Sampler::new(&LearnerOptions::default());
        let first = vec![(tokens(20, 1), 0), (tokens(20, 2), 0)];
        let samples = sample(&sampler, &model, &first);
        let asked = next(&first[..1], &samples);
        let want = sample(&sampler, &model, &asked);
        // The keys and values of another prompt give other samples, so they are read.
        let poison = || {
            sample(&sampler, &model, &first);
            let call = sampler.turns.begin(usize::MAX);
            let other = call.find(&first[1].0).expect("it was kept").clone();
            call.keep(&first[0].0, &Arc::new(other));
            sampler.turns.end(call);
        };
        poison();
        assert_ne!(sample(&sampler, &model, &asked), want);
        poison();
        sampler.forget();
        assert_eq!(sample(&sampler, &model, &asked), want);
    }
}
