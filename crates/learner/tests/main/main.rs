//! Tests of the learner through its public interface.

mod chats;
mod checkpoints;
mod common;
mod configs;
mod gradients;
mod hub;
mod learning;
mod optimizers;
mod oracle;
mod parity;
mod sampling;
mod schedules;
mod shards;
mod tokens;
