//! Prompts, rollouts and how they are sampled.

use serde::{Deserialize, Serialize};

use crate::TaskType;

/// Which role the one model plays.
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

/// Counts updates: version 0 is the start checkpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PolicyVersion(pub u64);

/// What a policy is asked to continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The role it addresses.
    pub role: Role,
    /// The kind of task, in games that have task types.
    pub task_type: Option<TaskType>,
    /// The text; control tokens are spelled out as the tokenizer spells them.
    pub text: String,
}

/// Why a rollout ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The policy said it was done.
    Stop,
    /// It reached [`Sampling::max_tokens`].
    Length,
}

/// How rollouts are sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Softmax temperature; 0 means greedy.
    pub temperature: f32,
    /// Tokens at most, the end token included.
    pub max_tokens: usize,
    /// Rollouts a prompt (the group size G). They share the prompt's prefill.
    pub group: usize,
    /// Seeds the samples. Sample `j` of prompt `i` depends on (seed, i, j) and the weights alone, not on the batch.
    pub seed: u64,
}

/// Tokens a policy generated for a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rollout {
    /// The prompt's tokens, as the policy saw them; empty where a server does not tell them.
    pub prompt_tokens: Vec<u32>,
    /// Generated tokens, the end token included when there is one. Empty where a server does not tell them: nothing can be trained on
    /// such a rollout.
    pub tokens: Vec<u32>,
    /// Behaviour log-probability of each of `tokens`, in nats, at the sampling temperature. Empty, never guessed, where the policy does
    /// not tell them: a loss that weighs by them must refuse such a rollout.
    pub logprobs: Vec<f32>,
    /// The decoded text without the end token.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// The weights that made it.
    pub policy: PolicyVersion,
}

/// A fault of the policy or of what it was given.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The prompt leaves no room for an answer.
    #[error("prompt {index} has {tokens} tokens, and the model's context holds {context}")]
    PromptTooLong {
        /// Which prompt of the batch.
        index: usize,
        /// Its length.
        tokens: usize,
        /// The model's context length in tokens.
        context: usize,
    },
    /// The prompt is empty or cannot be tokenized.
    #[error("prompt {index} cannot be tokenized: {reason}")]
    Tokenize {
        /// Which prompt of the batch.
        index: usize,
        /// The tokenizer's word.
        reason: String,
    },
    /// The tensor backend failed.
    #[error("the model failed while generating: {0}")]
    Backend(String),
}
