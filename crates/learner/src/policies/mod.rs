//! Policies that are not our own model: they sample, and never learn.
//!
//! Called by the command line wherever a `veriplay_core::Policy` is wanted: [`GgufPolicy`] for a quantised model on this machine,
//! [`ServerPolicy`] for one that is served elsewhere. (A scripted one is `veriplay_core::Scripted`.)

mod gguf;
mod server;

pub use gguf::{GgufError, GgufPolicy, convert_gguf};
pub use server::{ApiKey, ServerError, ServerOptions, ServerPolicy};
