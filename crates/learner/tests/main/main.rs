//! Tests of the learner through its public interface.

mod chats;
mod checkpoints;
mod common;
mod configs;
mod gradients;
mod hub;
mod learning;
mod lora;
mod losses;
mod memory;
mod optimizers;
mod oracle;
mod parity;
mod requests;
mod sampling;
mod schedules;
mod segments;
mod shards;
mod tokens;
mod truncation;
