//! The numeric loops: plain functions on `f32` slices, each with its backward where it has one. They run on the calling thread;
//! products and attention's forward may be shared by a team.
//!
//! Called by `ops`, `rollout` and `optim`; they know shapes and nothing of weights, samples or optimizers.

pub(crate) mod attention;
pub(crate) mod bias;
pub(crate) mod gemm;
pub(crate) mod logprob;
pub(crate) mod math;
pub(crate) mod norm;
pub(crate) mod rope;
pub(crate) mod simd;
pub(crate) mod swiglu;
