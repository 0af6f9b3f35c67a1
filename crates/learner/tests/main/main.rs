//! Tests of the learner through its public interface.

mod chats;
mod checkpoints;
mod common;
mod completions_server;
mod configs;
mod counting;
mod devices;
mod episodes;
mod gradients;
mod hub;
mod int8_rollouts;
mod learning;
mod lora;
mod losses;
mod memory;
mod offload;
mod optimizers;
mod oracle;
mod parity;
mod policies_gguf;
mod policies_server;
mod quantised_models;
mod requests;
mod roles;
mod rollout_server;
mod sampling;
mod schedules;
mod segments;
mod shards;
mod tokens;
mod truncation;

/// The folder of the tiny model. The server of completions reads it, in the tests of the command line too.
const TINY_MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny");
