//! The policy: tokenizer, decoder, sampling, losses, optimizer, checkpoints.
//!
//! Called by the command line through [`Learner`], which is a `Policy` and a `Learn`. One set of weights, candle variables by
//! name, serves two paths: a candle graph of our own differentiable operations, and a batched rollout with a key-value cache that
//! reads the same storage. Both use the same kernels, so they agree on log-probabilities. The learner sees tokens and weights,
//! never verdicts.

mod batch;
mod chat;
mod checkpoint;
mod complete;
mod config;
#[cfg(feature = "cuda")]
mod cuda;
mod generate;
mod gradients;
mod hub;
mod init;
mod learner;
mod lora;
mod losses;
mod memory;
mod model;
mod objective;
mod ops;
mod optim;
mod options;
mod place;
mod policies;
mod preference;
mod reference;
mod rollout;
mod schedule;
mod score;
mod segments;
mod speaker;
mod tokenizer;
mod train;
mod update;

pub use chat::{Chat, ChatError, ChatTemplate};
pub use checkpoint::{CheckpointError, Precision};
pub use complete::{Request, RequestError};
pub use config::{Architecture, ConfigError, Llama3Scaling, ModelConfig};
pub use generate::Continuation;
pub use hub::{HubError, HubOptions, resolve};
pub use learner::{Learner, NamedTensor};
pub use lora::Lora;
pub use losses::{
    Dpo, Kl, KlEstimator, KlPlace, LOSSES, Loss, LossEntry, PolicyGradient, PpoClip, Preference, Rft, Sft, Spin, Takes,
    Tis,
};
pub use memory::MemoryPlan;
pub use model::names::{TensorSpec, tensor_specs};
pub use optim::{AdamW, Optimizer};
pub use options::{LearnerOptions, MOST_SHARDS, Segments};
pub use place::{Place, PlaceError};
pub use policies::{ApiKey, GgufError, GgufPolicy, ServerError, ServerOptions, ServerPolicy};
pub use rollout::{End, TokenSampler, uniform};
pub use schedule::{Schedule, Shape};
pub use tokenizer::{END_TOKEN, Tokenizer, TokenizerError, build_tokenizer};

/// What fails here is candle, unless it says otherwise.
pub(crate) type Result<T, E = candle_core::Error> = std::result::Result<T, E>;
