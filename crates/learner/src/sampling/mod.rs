//! Generation: continuous batching with a key-value cache. A prompt is computed once and shared by its samples; a sample that ends
//! leaves its slot to the next one at once, and when a quarter of the slots is free, more prompts are computed together.
//!
//! Invariant: a sample depends on its request (prompt, options, seed), its own index and the weights alone. It holds to the bit,
//! because every row of every kernel is computed on its own; so threads may take prompts from one queue in any order or share the
//! steps of one loop, and the number of slots is free to choose.

mod columns;
mod cpu_loop;
mod cpu_step;
mod device_loop;
mod draw;
mod frozen;
mod queue;
mod requests;
mod stops;
mod token_sampler;

use std::sync::{Mutex, PoisonError};

use candle_core::Result;
use veriplay_core::Sampling;
use veriplay_kernels::thread_pool::{ThreadPool, run_on_threads};

use crate::model::{Mode, Model};
use crate::ops::Purpose;
use cpu_loop::{CpuLoop, RolloutSpace};
use device_loop::DeviceLoop;
use frozen::Frozen;
pub use queue::{Continuation, End};
pub(crate) use queue::{Queue, QueuedPrompt, Sampled};
pub use requests::{Request, RequestError};
pub(crate) use requests::{SamplingContext, check_sampling};
pub use token_sampler::{TokenSampler, uniform};

/// Prompt tokens a decoding loop computes together.
const PREFILL_TOKENS: usize = 1024;
/// Rows of one thread from which on it is busier with multiplying than with reading the weights.
const ENOUGH_ROWS: usize = 32;

/// Generates from a model.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// Samples in flight for each thread.
    rows: usize,
    /// Buffers of threads that are not sampling now.
    idle: Mutex<Vec<RolloutSpace>>,
}

/// How samples are divided among threads.
struct Division {
    /// Decoding loops, side by side.
    loops: usize,
    /// Threads that share each loop.
    pool: ThreadPool,
    /// Rows of each.
    slots: usize,
}

impl Sampler {
    /// With so many samples in flight for each thread.
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows, idle: Mutex::default() }
    }

    /// The log-probabilities of given tokens, one response for each prompt, by the path that samples.
    pub(crate) fn force(&self, model: &Model, prompts: &[Vec<u32>], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>> {
        let context = SamplingContext::of(model);
        let queued_prompts = prompts.iter().zip(responses).enumerate().map(|(index, (prompt, response))| {
            let sampling = Sampling { temperature: 1.0, max_tokens: response.len(), group: 1, seed: 0 };
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
        for Sampled { queued, tokens, logprobs, end, .. } in self.sample(model, queued_prompts)? {
            groups[queued].push(Continuation { tokens, logprobs, end });
        }
        Ok(groups)
    }

    /// All samples, by queued prompt and sample.
    fn sample(&self, model: &Model, queued_prompts: Vec<QueuedPrompt<'_>>) -> Result<Vec<Sampled>> {
        if queued_prompts.is_empty() {
            return Ok(Vec::new());
        }
        let Division { loops, pool, slots } =
            self.divide(model, queued_prompts.iter().map(|queued| queued.samples).sum())?;
        let queue = Queue::new(queued_prompts, slots, PREFILL_TOKENS);
        let engine = model.engine(Mode::Detached, Purpose::Forward)?;
        if !model.device.kernels {
            let mut all = DeviceLoop::new(&model.config, &engine, &model.rope, &queue)?.run()?;
            all.sort_unstable_by_key(|s| (s.queued, s.sample));
            return Ok(all);
        }
        let frozen = Frozen::new(&model.config, &engine, &model.rope)?;
        let run = || {
            pool.enter(|| self.with_space(&pool, |space| CpuLoop::new(&frozen, &engine, &queue, space, &pool).run()))
        };
        let parts: Result<Vec<_>> = run_on_threads(0..loops, |_| run()).into_iter().collect();
        let mut all: Vec<Sampled> = parts?.into_iter().flatten().collect();
        all.sort_unstable_by_key(|s| (s.queued, s.sample));
        Ok(all)
    }

    /// How so many samples are divided. Where every thread would read a large model for a few rows of its own, one loop reads it for
    /// all.
    fn divide(&self, model: &Model, samples: usize) -> Result<Division> {
        let (workers, slots) = (model.workers(), self.rows);
        let few = slots.min(samples.div_ceil(workers)) < ENOUGH_ROWS;
        Ok(if few && model.is_large() {
            Division { loops: 1, pool: model.pool()?, slots: slots * workers }
        } else {
            Division { loops: workers, pool: ThreadPool::single(), slots }
        })
    }

    /// Runs `work` with the buffers of a sampling thread, which `pool` shares.
    fn with_space<R>(&self, pool: &ThreadPool, work: impl FnOnce(&mut RolloutSpace) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let mut space = kept.unwrap_or_default();
        space.shared_by(pool);
        let result = work(&mut space);
        // A pool ends with its call.
        space.shared_by(&ThreadPool::single());
        idle().push(space);
        result
    }
}
