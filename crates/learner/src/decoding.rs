//! Decoding with a key-value cache and continuous batching. A prompt is computed once and shared by its samples; a sample that ends
//! leaves its slot to the next one at once, and when a quarter of the slots is free, more prompts are computed together.
//!
//! Called by the backends: [`CpuLoop`] computes on slices with our kernels, [`DeviceLoop`] in tensors where the weights are.
//! Invariant: a sample depends on its request (prompt, options, seed), its own index and the weights alone. On the CPU it holds to the
//! bit, because every row of every kernel is computed on its own; so threads may take prompts from one queue in any order or share
//! the steps of one loop, the number of slots is free to choose, and prompts of earlier turns may be kept or computed again.

mod cache_size;
mod column_cache;
mod cpu_loop;
mod cpu_step;
mod device_loop;
mod draw;
mod queue;
mod token_sampler;
mod turn_cache;

use veriplay_kernels::thread_pool::ThreadPool;

use crate::ops::IdleBuffers;

pub(crate) use cpu_loop::{CpuLoop, RolloutBuffers};
pub(crate) use cpu_step::{NewRows, attend_prompt};
pub(crate) use device_loop::DeviceLoop;
pub use queue::{Continuation, StopReason};
pub(crate) use queue::{DecodingSample, PromptQueue, QueuedPrompt, Slots, StopStrings};
pub use token_sampler::{TokenSampler, uniform};
pub(crate) use turn_cache::TurnCache;

/// The threads of one call that decodes on the CPU.
pub(crate) struct DecodeThreads<'a> {
    /// Decoding loops, side by side.
    pub(crate) loops: usize,
    /// Threads that share each loop.
    pub(crate) pool: ThreadPool,
    pub(crate) buffers: &'a IdleBuffers<RolloutBuffers>,
}
