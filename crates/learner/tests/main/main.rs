//! Tests of the learner through its public interface.

mod checkpoints;
mod common;
mod configs;
mod gradients;
mod learning;
mod optimizers;
mod oracle;
mod parity;
mod sampling;
mod schedules;
mod tokens;
