//! Batched sampling with a key-value cache: prompts are computed once and shared by their samples, rows that end leave the
//! batch, and new prompts take their place.
//!
//! Invariant: a sample depends on (seed, prompt index, sample index) and the weights alone. It holds to the bit, because every
//! row of every kernel is computed on its own; so threads may take prompts from one queue in any order.

mod attend;
mod cache;
mod decode;
mod frozen;
mod sampler;

pub(crate) use decode::{Request, RolloutSpace, Sampled, Sampler};
pub(crate) use frozen::Frozen;
pub use sampler::{draw, uniform};
