//! Losses: formulas against slow ones written here, gradients against finite differences of a model in f64.

pub(crate) mod common;
mod differences;
mod invariants;
mod refusals;
mod registry;
