//! Losses: formulas against slow ones written here, gradients against finite differences of a model in f64.

mod common;
mod differences;
mod formulas;
mod invariants;
mod refusals;
mod registry;
