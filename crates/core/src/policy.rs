//! Prompts, rollouts and how they are sampled.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::TaskType;

/// The role that the model plays in a prompt: a name in snake case. A game may have others than these three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Role(&'static str);

impl Role {
    /// Invents tasks.
    pub const PROPOSER: Self = Self("proposer");
    /// Attempts them.
    pub const SOLVER: Self = Self("solver");
    /// Writes tests for attempts, where a game has that role.
    pub const VERIFIER: Self = Self("verifier");

    /// Another role, such as `Role::new("writer")`.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Its name, as configurations and logs have it.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// Number of updates since the start checkpoint, which is version 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PolicyVersion(pub u64);

/// A prompt for the policy to continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// The role it addresses.
    pub role: Role,
    /// The kind of task, in games that have task types.
    pub task_type: Option<TaskType>,
    /// The text, or the conversation.
    pub content: PromptContent,
    /// Text that ends the response, besides the model's end tokens and [`Sampling::stop`]. Empty where only an end token ends it.
    pub stop: Vec<String>,
    /// In a later turn of an episode, the turn before: the last message of the assistant is its response. A policy may continue its tokens
    /// in place of reading their text again.
    #[serde(skip)]
    pub earlier: Option<Arc<SampledTurn>>,
    /// Whether a later turn may come, whose prompt then begins with this one: a policy may keep what it computes of it.
    #[serde(skip)]
    pub may_continue: bool,
}

/// The tokens of one turn, as the policy saw and sampled them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledTurn {
    /// Those of the prompt.
    pub prompt: Vec<u32>,
    /// Those of the response, the end token included.
    pub response: Vec<u32>,
}

impl Prompt {
    /// Asks to continue a text or a conversation. Only an end token ends the response.
    pub fn new(role: Role, content: impl Into<PromptContent>) -> Self {
        Self { role, task_type: None, content: content.into(), stop: Vec::new(), earlier: None, may_continue: false }
    }

    /// The prompt as plain text: a conversation as a base model is shown it.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.content {
            PromptContent::Text(text) => Cow::Borrowed(text),
            messages @ PromptContent::Messages(_) => Cow::Owned(messages.to_string()),
        }
    }

    /// The same for a kind of task.
    #[must_use]
    pub fn with_task_type(mut self, task_type: TaskType) -> Self {
        self.task_type = Some(task_type);
        self
    }

    /// The same with text that ends the response.
    #[must_use]
    pub fn with_stop(mut self, stop: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.stop = stop.into_iter().map(Into::into).collect();
        self
    }
}

/// A text or a conversation. `Display` writes it as plain text: a conversation as a base model is shown it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PromptContent {
    /// Continued as it stands, behind the begin token that a policy's tokenizer puts before documents, unless the text begins with it. Control
    /// tokens are spelled out as the tokenizer spells them.
    Text(String),
    /// The policy renders it: with the chat template of its checkpoint, or as plain text for base models, which have none. Where the last
    /// message is the assistant's, the response continues that message.
    Messages(Vec<Message>),
}

impl From<String> for PromptContent {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for PromptContent {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<Message>> for PromptContent {
    fn from(messages: Vec<Message>) -> Self {
        Self::Messages(messages)
    }
}

/// In plain text, the words before a user's message; a base model that writes them has begun a message that is not its own.
pub const PLAIN_USER: &str = "\nUser:";

impl fmt::Display for PromptContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages = match self {
            Self::Text(text) => return f.write_str(text),
            Self::Messages(messages) => messages,
        };
        for (index, Message { role, content }) in messages.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            let label = match role {
                MessageRole::System => "",
                MessageRole::User => "User: ",
                MessageRole::Assistant => "Assistant: ",
            };
            write!(f, "{separator}{label}{content}")?;
        }
        match messages.last() {
            Some(Message { role: MessageRole::Assistant, .. }) | None => Ok(()),
            Some(_) => f.write_str("\nAssistant:"),
        }
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Its author.
    pub role: MessageRole,
    /// Its text.
    pub content: String,
}

impl Message {
    /// Instructions for the whole conversation.
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: MessageRole::System, content: content.into() }
    }

    /// A request.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: MessageRole::User, content: content.into() }
    }

    /// A response.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: MessageRole::Assistant, content: content.into() }
    }
}

/// The author of a message, by the names that chat templates know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// Instructions for the whole conversation.
    System,
    /// Who asks.
    User,
    /// The policy.
    Assistant,
}

impl MessageRole {
    /// The name that chat templates know.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
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
    /// Draw from this many likeliest tokens; 0 means all.
    pub top_k: usize,
    /// Draw from the fewest likeliest tokens whose probabilities sum to this; 1 means all.
    pub top_p: f32,
    /// Draw from tokens at least this many times as likely as the likeliest; 0 means all.
    pub min_p: f32,
    /// Maximum tokens, the end token included.
    pub max_tokens: usize,
    /// Rollouts per prompt (the group size G). They share the prompt's prefill.
    pub group: usize,
    /// Seed of the samples. Sample `j` of prompt `i` depends on (seed, i, j) and the weights, not on the rest of the batch.
    pub seed: u64,
    /// Text that ends a response of any prompt.
    pub stop: Vec<String>,
}

impl Sampling {
    /// One rollout of so many tokens a prompt, at temperature 1 from all tokens, with seed 0.
    pub const fn new(max_tokens: usize) -> Self {
        Self { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, max_tokens, group: 1, seed: 0, stop: Vec::new() }
    }
}

/// The number by which a policy knows one of its rollouts again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RolloutId(pub u64);

/// One sampled continuation of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rollout {
    /// Its number, where a trainer outside this process made it and keeps what it needs to learn from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RolloutId>,
    /// The prompt's tokens as the policy saw them; empty where a server does not report them.
    pub prompt_tokens: Vec<u32>,
    /// The text of these tokens, where a chat template rendered the prompt: what the policy saw, control tokens spelled out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered_prompt: Option<String>,
    /// The generated tokens, including the end token when there is one. Empty where a server does not report them; such a rollout can
    /// be trained on by its `id` alone.
    pub tokens: Vec<u32>,
    /// The model's log-probability of each of `tokens`, in nats: at temperature 1 and over all tokens, however they were drawn. Empty,
    /// never guessed, where the policy does not report them: a loss that weighs by them must refuse such a rollout.
    pub logprobs: Vec<f32>,
    /// The decoded text without the end token, and before the stop string that ended it.
    pub text: String,
    /// Why it ended.
    pub finish: FinishReason,
    /// The version of the policy that generated it.
    pub policy: PolicyVersion,
}

impl Rollout {
    /// Whether something can be learned from it: its tokens are known, or its trainer knows it by its number.
    pub const fn is_trainable(&self) -> bool {
        !self.tokens.is_empty() || self.id.is_some()
    }
}

/// How many tokens a prompt and its response may have together: what the model's context holds, or less where a configuration says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthLimit {
    /// What the model's context holds.
    pub context: usize,
    /// `learn.options.max_length`, where it is set.
    pub max_length: Option<usize>,
}

impl LengthLimit {
    /// The model's context alone.
    pub const fn of_context(context: usize) -> Self {
        Self { context, max_length: None }
    }

    /// The smaller of the two.
    pub fn tokens(self) -> usize {
        self.max_length.map_or(self.context, |most| most.min(self.context))
    }
}

/// As the end of an error: which of the two it is, both values, and what to do.
impl fmt::Display for LengthLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let context = self.context;
        match self.max_length {
            Some(most) if most < context => write!(
                f,
                "`learn.options.max_length` allows {most} together, of the {context} that the model's context holds: raise that key, or \
                 shorten the prompt or the response"
            ),
            Some(most) => write!(
                f,
                "the model's context holds {context} together, whatever more `learn.options.max_length = {most}` allows: shorten the \
                 prompt or the response"
            ),
            None => write!(f, "the model's context holds {context} together: shorten the prompt or the response"),
        }
    }
}

/// A fault of the policy or of its input.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// There is no such policy beside this one.
    #[error("there is no policy `{name}`: there are {}", shown(.known))]
    Unknown {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The prompt leaves no room for a response.
    #[error("prompt {index} has {tokens} tokens and its response up to {response}, and {limit}")]
    PromptTooLong {
        /// Index of the prompt in the batch.
        index: usize,
        /// Its length.
        tokens: usize,
        /// Tokens that its response has, or may have.
        response: usize,
        /// What both may have together.
        limit: LengthLimit,
    },
    /// The prompt is empty, its chat template refuses it, or it cannot be tokenized.
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
    /// A trainer outside this process failed, or its answer is invalid.
    #[error("{0}")]
    Trainer(String),
}

fn shown(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { format!("`{}`", names.join("`, `")) }
}

#[cfg(test)]
mod tests {
    use super::LengthLimit;

    #[test]
    fn a_limit_says_which_of_two_bounds_it_is_and_names_both() {
        let context = "the model's context holds 96 together";
        for (max_length, tokens, words) in [
            (None, 96, format!("{context}: shorten")),
            (Some(96), 96, format!("{context}, whatever more `learn.options.max_length = 96`")),
            (Some(1000), 96, format!("{context}, whatever more `learn.options.max_length = 1000`")),
            (Some(59), 59, "`learn.options.max_length` allows 59 together, of the 96 that the".to_owned()),
        ] {
            let limit = LengthLimit { context: 96, max_length };
            assert_eq!(limit.tokens(), tokens, "{limit:?}");
            assert!(limit.to_string().starts_with(&words), "{limit}");
        }
        assert_eq!(LengthLimit::of_context(96), LengthLimit { context: 96, max_length: None });
    }
}
