//! Continuous batching with a key-value cache: a prompt is computed once and shared by its samples; a sample that ends leaves its
//! slot to the next one at once, and when a quarter of the slots is free, more prompts are computed together.
//!
//! Invariant: a sample depends on its request (prompt, options, seed), its own index and the weights alone. It holds to the bit,
//! because every row of every kernel is computed on its own; so threads may take prompts from one queue in any order or share the
//! steps of one loop, and the number of slots is free to choose.

mod columns;
mod decode;
mod device;
mod draw;
mod frozen;
mod prompts;
mod queue;
mod sampler;
mod step;
mod stops;
mod truncate;

pub(crate) use decode::{RolloutSpace, Sampler};
pub(crate) use device::DeviceSampler;
pub(crate) use frozen::Frozen;
pub use queue::End;
pub(crate) use queue::{Ask, Queue, Sampled};
pub use sampler::{TokenSampler, uniform};
pub(crate) use stops::Stops;
