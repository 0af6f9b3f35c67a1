//! The messages between a run and the trainer at its standard input and output: one JSON object a line, with its kind in `type`.
//!
//! `docs/plugins.md` describes them; [`PROTOCOL`] counts incompatible changes.

use std::path::Path;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use veriplay_core::{FinishReason, Message, Prompt, PromptContent, Role, RolloutId, Sampling, TaskType};

use crate::config::LearnConfig;
use crate::play::summary::Summary;

pub(crate) const PROTOCOL: u32 = 1;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Request<'a> {
    /// The first one: where the run stands.
    Start(Start<'a>),
    /// Asks for rollouts.
    Generate {
        step: u64,
        purpose: Purpose,
        /// Number of the first rollout; the others count on from it, prompt by prompt.
        first_rollout: u64,
        prompts: Vec<PromptMessage<'a>>,
        sampling: SamplingMessage<'a>,
    },
    /// Rollouts to learn from, in one optimizer step.
    Update {
        step: u64,
        learning_rate: f64,
        /// Divisor of the summed loss; `null` where the trainer does not tell tokens.
        normalizer: Option<f64>,
        samples: Vec<SampleMessage>,
    },
    /// Pairs of rollouts to learn from, in one optimizer step.
    Prefer { step: u64, learning_rate: f64, pairs: Vec<PairMessage> },
    /// Asks the trainer to save its state into a folder.
    Save { step: u64, folder: &'a Path },
    /// What `events.jsonl` says of a step. It has no answer.
    Step { metrics: serde_json::Value },
    /// The last one: the run is complete. It has no answer.
    End { summary: &'a Summary },
}

impl Request<'_> {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Start(_) => "start",
            Self::Generate { .. } => "generate",
            Self::Update { .. } => "update",
            Self::Prefer { .. } => "prefer",
            Self::Save { .. } => "save",
            Self::Step { .. } => "step",
            Self::End { .. } => "end",
        }
    }

    /// The kind of its answer; empty where it has none.
    pub(super) const fn answer(&self) -> &'static str {
        match self {
            Self::Start(_) => "started",
            Self::Generate { .. } => "rollouts",
            Self::Update { .. } | Self::Prefer { .. } => "updated",
            Self::Save { .. } => "saved",
            Self::Step { .. } | Self::End { .. } => "",
        }
    }
}

/// Where a run stands when its trainer starts.
#[derive(Debug, Serialize)]
pub(crate) struct Start<'a> {
    pub(crate) protocol: u32,
    pub(crate) version: &'static str,
    pub(crate) game: &'static str,
    pub(crate) run: &'a Path,
    /// Steps done.
    pub(crate) step: u64,
    pub(crate) steps: u64,
    pub(crate) seed: u64,
    /// The checkpoint that the run continues from; as it is sent, the folder in it that the trainer's state was saved into. `null` at the start.
    pub(crate) checkpoint: Option<&'a Path>,
    /// The table `[learn]`, which describes what is the trainer's to do.
    pub(crate) learn: &'a LearnConfig,
}

/// What rollouts are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Purpose {
    /// Self-play: a step trains on them.
    Play,
    /// An evaluation: nothing is trained on them.
    Evaluate,
}

#[derive(Debug, Serialize)]
pub(super) struct PromptMessage<'a> {
    role: Role,
    task_type: Option<TaskType>,
    /// The prompt as plain text, which a model without a chat template continues.
    text: String,
    /// The conversation, where the prompt format has one.
    messages: Option<&'a [Message]>,
    stop: &'a [String],
}

impl<'a> From<&'a Prompt> for PromptMessage<'a> {
    fn from(prompt: &'a Prompt) -> Self {
        let messages = match &prompt.content {
            PromptContent::Text(_) => None,
            PromptContent::Messages(messages) => Some(messages.as_slice()),
        };
        let Prompt { role, task_type, stop, .. } = prompt;
        Self { role: *role, task_type: *task_type, text: prompt.text().into_owned(), messages, stop }
    }
}

/// [`Sampling`] with the name that trainers have for the group.
#[derive(Debug, Serialize)]
pub(super) struct SamplingMessage<'a> {
    temperature: f32,
    top_k: usize,
    top_p: f32,
    min_p: f32,
    max_tokens: usize,
    group_size: usize,
    seed: u64,
    stop: &'a [String],
}

impl<'a> From<&'a Sampling> for SamplingMessage<'a> {
    fn from(sampling: &'a Sampling) -> Self {
        let Sampling { temperature, top_k, top_p, min_p, max_tokens, group, seed, ref stop } = *sampling;
        Self { temperature, top_k, top_p, min_p, max_tokens, group_size: group, seed, stop }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct SampleMessage {
    pub(super) rollout: RolloutId,
    /// What −log p of its tokens is multiplied with: the advantage times the weight of its role, or a constant in imitation.
    pub(super) weight: f32,
    /// Factor of every token's loss beside the normalizer; `null` where the trainer does not tell tokens.
    pub(super) scale: Option<f32>,
    pub(super) imitate: bool,
    /// `null` under an objective of preferences, which has no rewards.
    #[serde(flatten)]
    pub(super) rewarded: Option<RewardMessage>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct RewardMessage {
    pub(super) role: Role,
    pub(super) kind: &'static str,
    /// Samples of one group answered the same question.
    pub(super) group: String,
    pub(super) episode: usize,
    pub(super) turn: usize,
    pub(super) reward: f64,
    /// Name, score, weight.
    pub(super) parts: Vec<(String, f64, f64)>,
    pub(super) advantage: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct PairMessage {
    pub(super) chosen: RolloutId,
    pub(super) rejected: RolloutId,
    pub(super) weight: f32,
    /// Log-probabilities of both under the reference; `null` where the trainer holds the reference.
    pub(super) reference: Option<[f64; 2]>,
}

#[derive(Debug, Deserialize)]
pub(super) struct AnswerKind {
    #[serde(rename = "type")]
    pub(super) kind: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Done {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrainerFailed {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rollouts {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    pub(super) rollouts: Vec<Vec<RolloutAnswer>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RolloutAnswer {
    pub(super) text: String,
    #[serde(default = "stopped")]
    pub(super) finish: FinishReason,
    /// Absent where the trainer gives text alone.
    #[serde(default)]
    pub(super) tokens: Option<Vec<u32>>,
    #[serde(default)]
    pub(super) logprobs: Vec<f32>,
}

const fn stopped() -> FinishReason {
    FinishReason::Stop
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromptTooLong {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    pub(super) index: usize,
    pub(super) tokens: usize,
    pub(super) context: usize,
}

/// The report of an optimizer step. What is absent is `null` in `events.jsonl`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Updated {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    #[serde(default)]
    pub(super) loss: Option<f64>,
    #[serde(default)]
    pub(super) entropy: Option<f64>,
    #[serde(default)]
    pub(super) grad_norm: Option<f64>,
    #[serde(default)]
    pub(super) tokens: u64,
}
