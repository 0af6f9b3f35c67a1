//! The policy: tokenizer, decoder, sampling, losses, optimizer, checkpoints.
//!
//! Called by the command line through [`Learner`], which is a `Policy` and a `Learn`. One set of
//! weights, candle variables by name, serves two paths: a candle graph of our own differentiable operations, and a batched rollout
//! with a key-value cache that reads the same storage. Both use the kernels of `veriplay-kernels`, so they agree on
//! log-probabilities. The learner sees tokens and weights, never verdicts.

mod backend;
mod backward;
mod chat;
mod checkpoint;
mod config;
#[cfg(feature = "cuda")]
mod cuda;
mod decoding;
mod device;
mod gguf;
mod gradients;
mod hub;
mod learner;
mod linear;
mod lora;
mod losses;
mod memory;
mod model;
mod network;
mod objective;
mod ops;
mod optim;
mod options;
mod sampling;
mod schedule;
mod score;
mod segments;
mod server;
mod tokenizer;

pub use chat::{Chat, ChatError, ChatTemplate};
pub use checkpoint::{CheckpointError, find_adapters};
pub use config::{
    Architecture, ConfigError, LayerKind, LayerType, Llama3Scaling, LongRope, ModelConfig, RopeScaling, TensorSpec,
    tensor_specs,
};
pub use decoding::{Continuation, StopReason, TokenSampler, uniform};
pub use device::{DeviceError, DeviceSpec, Precision, RolloutPrecision};
pub use gguf::{GgufDescription, GgufError, GgufPolicy, convert_gguf, describe_gguf};
pub use hub::{HubError, HubOptions, cached_models, resolve_config, resolve_model};
pub use learner::{Learner, RoleLearners};
pub use lora::{AdapterCheckpoint, BaseModel, Lora};
pub use losses::{
    Cispo, Copg, Correction, Cream, Dpo, Gspo, Kl, KlEstimator, KlPlace, LOSSES, Loss, LossEntry, LossInput, Nft,
    PolicyGradient, PpoClip, Prdp, Preference, Rft, Scpo, SequenceMask, SequenceRatio, Sft, Spin, Sppo,
};
pub use memory::{MemoryPlan, MicroBatchSize, SamplingPlan};
pub use model::NamedTensor;
pub use optim::{AdamW, Optimizer};
pub use options::{LearnerOptions, MAX_DATA_PARALLEL};
pub use sampling::{RequestError, SamplingRequest};
pub use schedule::{Schedule, ScheduleShape};
pub use segments::Segments;
pub use server::{ApiKey, RolloutServer, ServerError, ServerOptions, ServerPolicy, ServerProtocol};
pub use tokenizer::{END_TOKEN, Tokenizer, TokenizerError, build_tokenizer};

/// Fails with an error of candle where no other type is given.
pub(crate) type Result<T, E = candle_core::Error> = std::result::Result<T, E>;
