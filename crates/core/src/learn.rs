//! Rewards, training batches, and the report of an update.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{PolicyVersion, Role, RolloutId};

/// A reward: named parts, each with a score and a weight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reward {
    /// Name, score, weight. Names are the usual ones, such as `accuracy`, `format`, `learnability`.
    pub parts: Vec<(String, f64, f64)>,
}

impl Reward {
    /// A reward of one part with weight 1.
    pub fn single(name: &str, score: f64) -> Self {
        Self { parts: vec![(name.to_owned(), score, 1.0)] }
    }

    /// Σ score · weight.
    pub fn total(&self) -> f64 {
        self.parts.iter().map(|(_, score, weight)| score * weight).sum()
    }
}

/// One response to learn from. The learner sees its weight, never a verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Tokens of the prompt. Samples that follow one another with the same prompt share its computation.
    pub prompt: Arc<[u32]>,
    /// Tokens of the response, the end token included.
    pub response: Vec<u32>,
    /// The first `masked` tokens of `response` are context and carry no loss. It is 0 for rollouts; supervised examples use it to put
    /// several questions behind one shared prompt.
    pub masked: usize,
    /// The advantage in reinforcement learning; a positive constant in imitation.
    pub weight: f32,
    /// Added to `weight` at each token of `response`. Only where `weight` is not 0: alone they would teach without an outcome.
    pub token_advantages: Option<Vec<f32>>,
    /// Factor of every token's loss in addition to the batch's normalizer: 1, or 1 / length for a mean over sequences. Not negative.
    pub scale: f32,
    /// Added to the upper clip of a loss that clips ratios; 0 in most samples, and not negative.
    pub wider_clip: f32,
    /// Whether this is a supervised example: every loss counts it as −weight · log p, and on-policy means (KL, entropy) exclude it.
    pub imitate: bool,
    /// Log-probability of each token of `response`, in nats, under the policy that sampled it.
    pub behaviour: Option<Vec<f32>>,
    /// The same under the policy that the updates on this sample begin with, for a learner that compares itself with that one. `None` is the
    /// learner as it is.
    pub old: Option<Vec<f32>>,
    /// The same under the reference policy.
    pub reference: Option<Vec<f32>>,
    /// The role that is rewarded; `None` of a supervised example.
    pub role: Option<Role>,
    /// The role whose answer a supervised example is, where that is known: it trains that role's weights, where roles have weights of their own.
    pub example_of: Option<Role>,
    /// The rollout it was made of, where its trainer numbers them.
    pub rollout: Option<RolloutId>,
    /// Neighbours with the same number are the turns of one episode, in their order. A learner may compute what their prompts have in common
    /// once; their losses are those of samples on their own.
    pub episode: Option<u32>,
    /// Share of the attempts at the same task that succeeded, above 0 and below 1. `None` where all or none did, and of what is no attempt.
    pub rate: Option<f32>,
}

impl Sample {
    /// A sample with nothing masked, scale 1, one weight for all tokens, no log-probabilities, no episode and no rate.
    pub fn new(prompt: Arc<[u32]>, response: Vec<u32>, weight: f32) -> Self {
        Self {
            prompt,
            response,
            masked: 0,
            weight,
            token_advantages: None,
            scale: 1.0,
            wider_clip: 0.0,
            imitate: false,
            behaviour: None,
            old: None,
            reference: None,
            role: None,
            example_of: None,
            rate: None,
            rollout: None,
            episode: None,
        }
    }

    /// A supervised example; otherwise as [`Sample::new`].
    pub fn example(prompt: Arc<[u32]>, response: Vec<u32>, weight: f32) -> Self {
        Self { imitate: true, ..Self::new(prompt, response, weight) }
    }
}

/// The samples of one optimizer step. It never holds a Dropped attempt.
///
/// The loss is Σ over samples of `scale` · Σ over unmasked response tokens of the learner's loss at that token, divided by
/// `normalizer`. That of the default loss is −weight · log p, with the token's advantage in the weight: on-policy REINFORCE (Williams 1992), and
/// PPO-clip at ratio 1.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainBatch {
    /// The samples. Those that share a prompt stand side by side, and so do the turns of an episode.
    pub samples: Vec<Sample>,
    /// Divisor of the summed loss; the number of response tokens gives a token mean. Must be positive.
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
    /// Weight of the pair's loss; not negative.
    pub weight: f32,
    /// Log-probabilities of the whole `chosen` and `rejected` responses under the reference policy, in nats. With `None` the learner
    /// computes them with its own reference.
    pub reference: Option<[f64; 2]>,
    /// The rollouts `chosen` and `rejected` were made of, where their trainer numbers them.
    pub rollouts: Option<[RolloutId; 2]>,
    /// How often `chosen` and `rejected` win against a response to the prompt, each in [0, 1]. `None` is a sure win: 1 and 0.
    pub win: Option<[f64; 2]>,
    /// Rewards of `chosen` and `rejected`, for losses over differences of rewards.
    pub rewards: Option<[f64; 2]>,
}

/// The pairs of one optimizer step. The loss is Σ weight · loss of the pair, divided by the number of pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct PreferenceBatch {
    /// The pairs. Those that share a prompt stand side by side.
    pub pairs: Vec<PreferencePair>,
}

/// The report of one optimizer step.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The policy's version after the step.
    pub policy: PolicyVersion,
    /// The loss before the step.
    pub loss: f64,
    /// Mean entropy of the policy at the response tokens, in nats.
    pub entropy: f64,
    /// Global gradient norm before clipping.
    pub gradient_norm: f64,
    /// Number of prompt and response tokens that the model processed.
    pub tokens: u64,
    /// The loss's own metrics, as means over tokens, responses or pairs, or the largest value, by verl's names where it has them; and of episodes of
    /// several turns the share of later turns that were computed as one sequence with the turn before. Empty for the default loss on single turns.
    pub metrics: BTreeMap<&'static str, f64>,
}

/// What a learner had learned at some time; only it knows what is inside.
pub struct Snapshot(Box<dyn Any>);

impl Snapshot {
    /// Of this state.
    pub fn new(state: impl Any) -> Self {
        Self(Box::new(state))
    }

    /// The state; an error where it is another learner's.
    pub fn state<T: Any>(&self) -> Result<&T, LearnError> {
        self.0.downcast_ref().ok_or_else(|| LearnError::Backend("a snapshot of another learner".to_owned()))
    }
}

/// A fault of the learner or of its batch. The weights are then unchanged.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The batch is invalid.
    #[error("bad batch: {0}")]
    BadBatch(String),
    /// A sample or a pair lacks a field that the loss needs.
    #[error("sample {index} has no {what}, and the loss `{loss}` needs them: {hint}")]
    Missing {
        /// Index of the sample or pair in the batch.
        index: usize,
        /// What is missing.
        what: &'static str,
        /// The name of the loss.
        loss: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// These parameters got no gradient: the graph is cut somewhere between them and the loss.
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
