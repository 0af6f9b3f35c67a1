//! Prompts, rollouts and how they are sampled.

use serde::{Deserialize, Serialize};

use crate::TaskType;

/// The role that the model plays in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Invents tasks.
    Proposer,
    /// Attempts them.
    Solver,
    /// Writes tests for attempts, where a game has that role.
    Verifier,
}

/// Number of updates since the start checkpoint, which is version 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PolicyVersion(pub u64);

/// A prompt for the policy to continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The role it addresses.
    pub role: Role,
    /// The kind of task, in games that have task types.
    pub task_type: Option<TaskType>,
    /// The text, with control tokens spelled as the tokenizer spells them.
    pub text: String,
}

/// Why a rollout ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The policy generated its end token or a stop text.
    Stop,
    /// It reached [`Sampling::max_tokens`].
    Length,
}

/// How rollouts are sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Softmax temperature; 0 means greedy.
    pub temperature: f32,
    /// The most tokens per rollout, including the end token.
    pub max_tokens: usize,
    /// Rollouts per prompt (the group size G). They share the prompt's prefill.
    pub group: usize,
    /// Seed of the samples. Sample `j` of prompt `i` depends on (seed, i, j) and the weights, not on the rest of the batch.
    pub seed: u64,
}

/// One sampled continuation of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rollout {
    /// The prompt's tokens as the policy saw them; empty where a server does not report them.
    pub prompt_tokens: Vec<u32>,
    /// The generated tokens, including the end token when there is one. Empty where a server does not report them; such a rollout cannot
    /// be trained on.
    pub tokens: Vec<u32>,
    /// Behaviour log-probability of each of `tokens`, in nats, at the sampling temperature. Empty where the policy does not report them:
    /// they are never estimated, and a loss that needs them must refuse such a rollout.
    pub logprobs: Vec<f32>,
    /// The decoded text without the end token.
    pub text: String,
    /// Why it ended.
    pub finish: FinishReason,
    /// The version of the policy that generated it.
    pub policy: PolicyVersion,
}

/// A fault of the policy or of its input.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The prompt leaves no room for a response.
    #[error("prompt {index} has {tokens} tokens, and the model's context holds {context}")]
    PromptTooLong {
        /// Index of the prompt in the batch.
        index: usize,
        /// Its length.
        tokens: usize,
        /// The model's context length in tokens.
        context: usize,
    },
    /// The prompt is empty or cannot be tokenized.
    #[error("prompt {index} cannot be tokenized: {reason}")]
    Tokenize {
        /// Index of the prompt in the batch.
        index: usize,
        /// The tokenizer's message.
        reason: String,
    },
    /// The tensor backend failed.
    #[error("the model failed while generating: {0}")]
    Backend(String),
}
