//! What the learner consumes and reports.

use std::collections::BTreeMap;
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
    /// The advantage, for reinforcement; a positive constant, for imitation.
    pub weight: f32,
    /// What aggregation gives every token of this response beside the batch's normalizer: 1, or 1 / length for a mean over
    /// sequences. Not negative.
    pub scale: f32,
    /// Under every loss it counts as −weight · log p, and has no part in terms that are means over what the policy draws.
    pub imitate: bool,
    /// Log-probability of every token of `response`, in nats, under the policy that drew it.
    pub behaviour: Option<Vec<f32>>,
    /// The same under the reference that the policy is held to.
    pub reference: Option<Vec<f32>>,
}

impl Sample {
    /// Nothing masked, scale 1, no other log-probabilities.
    #[must_use]
    pub fn new(prompt: Arc<[u32]>, response: Vec<u32>, weight: f32) -> Self {
        Self { prompt, response, masked: 0, weight, scale: 1.0, imitate: false, behaviour: None, reference: None }
    }

    /// As [`Sample::new`], to be imitated.
    #[must_use]
    pub fn example(prompt: Arc<[u32]>, response: Vec<u32>, weight: f32) -> Self {
        Self { imitate: true, ..Self::new(prompt, response, weight) }
    }
}

/// One optimizer step's worth of samples. Never holds a Dropped attempt.
///
/// The loss is Σ over samples of `scale` · Σ over unmasked response tokens of the learner's loss at that token, divided by
/// `normalizer`. That of the default loss is −weight · log p: on-policy REINFORCE (Williams 1992), and PPO-clip at ratio 1.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainBatch {
    /// The samples, those with one prompt side by side.
    pub samples: Vec<Sample>,
    /// What the summed loss is divided by; the number of response tokens gives a token mean. Must be positive.
    pub normalizer: f64,
}

/// Two responses to one prompt, of which one is preferred.
#[derive(Debug, Clone, PartialEq)]
pub struct PreferencePair {
    /// Tokens of the prompt. Pairs that follow one another with the same prompt share its computation.
    pub prompt: Arc<[u32]>,
    /// Tokens of the better response, the end token included.
    pub chosen: Vec<u32>,
    /// Tokens of the worse one.
    pub rejected: Vec<u32>,
    /// What the pair counts; not negative.
    pub weight: f32,
    /// Log-probabilities of `chosen` and of `rejected` as wholes, in nats, under the reference; `None` leaves them to the
    /// reference that the learner holds.
    pub reference: Option<[f64; 2]>,
}

/// One optimizer step's worth of pairs. The loss is Σ weight · loss of the pair, divided by the number of pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct PreferenceBatch {
    /// The pairs, those with one prompt side by side.
    pub pairs: Vec<PreferencePair>,
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
    /// What the loss says of itself, under verl's names where it has one: means over tokens, or over pairs. Empty for the default
    /// loss.
    pub metrics: BTreeMap<&'static str, f64>,
}

/// A fault of the learner or of its batch. After one the weights are as before.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The batch cannot be learned from.
    #[error("bad batch: {0}")]
    BadBatch(String),
    /// The loss needs what a sample or a pair does not have.
    #[error("sample {index} has no {what}, and the loss `{loss}` needs them: {hint}")]
    Missing {
        /// Which sample or pair of the batch.
        index: usize,
        /// What is missing.
        what: &'static str,
        /// The name of the loss.
        loss: &'static str,
        /// What to do.
        hint: &'static str,
    },
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
