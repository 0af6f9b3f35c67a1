//! What the learner consumes and reports.

use std::sync::Arc;

use crate::PolicyVersion;

/// One response to learn from. The learner knows its weight and nothing of verdicts.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Tokens of the prompt. Samples that follow one another with the same prompt share its computation.
    pub prompt: Arc<[u32]>,
    /// Tokens of the response, the end token included.
    pub response: Vec<u32>,
    /// The first `masked` tokens of `response` are context only and carry no loss. Zero for rollouts; supervised
    /// examples use it to put several questions behind one shared prompt.
    pub masked: usize,
    /// The advantage, for reinforcement; a positive constant, for imitation. Multiplies −log p of every response token
    /// that is not masked.
    pub weight: f32,
}

/// One optimizer step's worth of samples. Never holds a Dropped attempt.
///
/// The loss is Σ over samples of `weight` · Σ over unmasked response tokens of −log p(token), divided by `normalizer`. On-policy
/// this is REINFORCE (Williams 1992), and also PPO-clip at ratio 1.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainBatch {
    /// The samples, those with one prompt side by side.
    pub samples: Vec<Sample>,
    /// What the summed loss is divided by; the number of response tokens gives a token mean. Must be positive.
    pub normalizer: f64,
}

/// What one optimizer step did.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The version after it.
    pub policy: PolicyVersion,
    /// The loss before it.
    pub loss: f64,
    /// Mean entropy of the policy at the response tokens, in nats.
    pub entropy: f64,
    /// Global gradient norm before clipping.
    pub gradient_norm: f64,
    /// Prompt and response tokens that went through the model.
    pub tokens: u64,
}

/// A fault of the learner or of its batch. After one the weights are as before.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The batch cannot be learned from.
    #[error("bad batch: {0}")]
    BadBatch(String),
    /// The silent-cut detector (see the learner's docs): these parameters got no gradient.
    #[error("no gradient reached {names:?}: the training path is cut")]
    NoGradient {
        /// Names of the parameters.
        names: Vec<String>,
    },
    /// A gradient is not finite.
    #[error("the gradient of `{name}` is not finite: lower the learning rate or check the batch's weights")]
    NotFinite {
        /// Name of the first such parameter.
        name: String,
    },
    /// The tensor backend failed.
    #[error("the model failed while learning: {0}")]
    Backend(String),
}
