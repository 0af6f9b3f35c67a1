//! The numeric loops of the learner: plain functions on `f32` slices, each with its backward where training needs one.
//!
//! Called by `veriplay-learner`. Matrices are row-major slices; a comment such as `x [rows, width]` gives their shape. The functions know
//! shapes and nothing of models, samples or candle. They run on the calling thread, except products and attention, whose forward a
//! [`thread_pool::ThreadPool`] may share. Invariant: every sum has a fixed order, whatever the number of threads, and a row of a result
//! depends only on its own rows of the input: the same input gives the same bits on one machine.

pub mod attention;
pub mod gemm;
pub mod layers;
pub mod logprob;
pub mod math;
pub mod optimizers;
pub mod simd;
pub mod thread_pool;
