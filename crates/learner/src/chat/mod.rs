//! Chat templates: from messages to the text of a prompt, as `apply_chat_template` of transformers does.
//!
//! Called by whoever prompts a model with a conversation. The template language is Jinja, run by minijinja with transformers'
//! settings and extras (`tojson`, `raise_exception`, `strftime_now`, loop controls, `generation` blocks). A template belongs to a
//! checkpoint and is not trusted: it reads nothing but its arguments, and its steps are counted.
//! No clock is read here: the date a template may ask for is part of the [`Chat`].

mod conversation;
mod environment;
mod json;
mod sources;
mod strftime;
mod tojson;

use std::collections::BTreeMap;

use minijinja::Value;

pub use conversation::Chat;

use crate::checkpoint::CheckpointError;
use crate::learner::Learner;
use crate::tokenizer::TokenizerError;

/// What can go wrong between messages and tokens.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The checkpoint has no template.
    #[error(
        "`{0}` has no chat template (`chat_template.jinja`, or `chat_template` in tokenizer_config.json): give plain text instead"
    )]
    Absent(String),
    /// The checkpoint has several, and none of the wanted name.
    #[error("`{place}` has no chat template `{wanted}`, only {found:?}")]
    Unnamed {
        /// The directory.
        place: String,
        /// The name.
        wanted: String,
        /// The names there are.
        found: Vec<String>,
    },
    /// The template is not one.
    #[error("the chat template cannot be compiled: {0}")]
    Compile(String),
    /// It failed on these messages.
    #[error("the chat template failed: {0}")]
    Render(String),
    /// It refused these messages by `raise_exception`.
    #[error("the chat template refuses these messages: {0}")]
    Refused(String),
    /// Not a conversation.
    #[error("the conversation cannot be read: {0}")]
    Parse(String),
    /// A file of the checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The tokenizer.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
}

/// The templates of a checkpoint, and the special tokens that they may spell.
#[derive(Debug, Clone)]
pub struct ChatTemplate {
    place: String,
    /// Text by name; a checkpoint with one calls it `default`.
    texts: BTreeMap<String, String>,
    /// `bos_token`, `eos_token` and so on.
    tokens: BTreeMap<String, Value>,
}

const DEFAULT: &str = "default";
const WITH_TOOLS: &str = "tool_use";

impl ChatTemplate {
    /// A template without a checkpoint.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let texts = BTreeMap::from([(DEFAULT.to_owned(), text.to_owned())]);
        Self { place: "(given)".to_owned(), texts, tokens: BTreeMap::new() }
    }

    /// The prompt: what the model is to continue when `chat` asks for a generation prompt, the whole conversation otherwise.
    /// Control tokens are spelled out. Where the checkpoint has several templates, `tool_use` is for chats with tools and `default`
    /// for all others.
    ///
    /// # Errors
    /// A template that is missing, does not compile, fails, or refuses these messages.
    pub fn render(&self, chat: &Chat) -> Result<String, ChatError> {
        let name = if chat.has_tools() && self.texts.contains_key(WITH_TOOLS) { WITH_TOOLS } else { DEFAULT };
        let text = self.texts.get(name).ok_or_else(|| match self.texts.is_empty() {
            true => ChatError::Absent(self.place.clone()),
            false => {
                let (place, wanted) = (self.place.clone(), name.to_owned());
                ChatError::Unnamed { place, wanted, found: self.texts.keys().cloned().collect() }
            }
        })?;
        environment::render(text, &self.tokens, chat)
    }
}

impl Learner {
    /// The chat templates of the checkpoint.
    ///
    /// # Errors
    /// A file that is broken, named with its key. A checkpoint without a template is no error until one is rendered.
    pub fn chat_template(&self) -> Result<ChatTemplate, ChatError> {
        sources::template(&self.companions)
    }

    /// Tokens of a conversation's prompt: the template's text, with nothing added around it.
    ///
    /// # Errors
    /// As [`Learner::chat_template`], [`ChatTemplate::render`] and [`crate::Tokenizer::encode`].
    pub fn encode_chat(&self, chat: &Chat) -> Result<Vec<u32>, ChatError> {
        Ok(self.tokenizer.encode(&self.chat_template()?.render(chat)?)?)
    }
}
