//! Chat templates: from messages to the text of a prompt, as `apply_chat_template` of transformers does.
//!
//! Called by whoever prompts a model with a conversation. The template language is Jinja, run by minijinja with transformers'
//! settings and extras (`tojson`, `raise_exception`, `strftime_now`, loop controls, `generation` blocks). A template belongs to a
//! checkpoint and is not trusted: it reads nothing but its arguments, and its steps are counted.
//! No clock is read here: the date a template may ask for is part of the [`Chat`], or of the learner's options.

mod conversation;
mod dates;
mod environment;

use std::collections::BTreeMap;

use minijinja::Value;
use serde_json::Value as Json;

pub use conversation::Chat;
pub(crate) use dates::seconds_of;

use crate::checkpoint::{CheckpointError, SPECIAL_TOKENS, SidecarFiles, TEMPLATE, TOKENIZER_CONFIG};
use crate::tokenizer::TokenizerError;

/// An error between messages and tokens.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The checkpoint has no template.
    #[error(
        "`{0}` has no chat template (`chat_template.jinja`, or `chat_template` in tokenizer_config.json): give plain text instead"
    )]
    Absent(String),
    /// The checkpoint has several, and none of the wanted name.
    #[error("`{origin}` has no chat template `{wanted}`, only {found:?}")]
    Unnamed {
        /// The directory.
        origin: String,
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
    /// It asks for the date, and none is given.
    #[error("the chat template asks for the date, and there is none; hint: set `learn.options.chat_date`")]
    Dateless,
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
    origin: String,
    /// Text by name; a checkpoint with one calls it `default`.
    texts: BTreeMap<String, String>,
    /// `bos_token`, `eos_token` and so on.
    tokens: BTreeMap<String, Value>,
    /// The time of chats that have none, in seconds since 1970.
    now: Option<i64>,
}

/// The special tokens that templates are given under their name.
const TOKENS: [&str; 7] = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];

const DEFAULT: &str = "default";
const WITH_TOOLS: &str = "tool_use";

impl ChatTemplate {
    /// A template without a checkpoint.
    pub fn from_text(text: &str) -> Self {
        let texts = BTreeMap::from([(DEFAULT.to_owned(), text.to_owned())]);
        Self { origin: "(given)".to_owned(), texts, tokens: BTreeMap::new(), now: None }
    }

    /// With the time of chats that have none, in seconds since 1970: for templates that write the date.
    #[must_use]
    pub fn at(mut self, now: Option<i64>) -> Self {
        self.now = now;
        self
    }

    /// The same with a special token that it may spell, such as `bos_token`.
    #[must_use]
    pub(crate) fn with_token(mut self, name: &str, text: &str) -> Self {
        self.tokens.insert(name.to_owned(), Value::from(text));
        self
    }

    /// The templates of a checkpoint: `chat_template.jinja`, which goes first, and `additional_chat_templates/NAME.jinja`; or
    /// `chat_template` in tokenizer_config.json, a text or a list of {name, template}. Special tokens are those of
    /// tokenizer_config.json, else of special_tokens_map.json.
    pub(crate) fn from_files(files: &SidecarFiles) -> Result<Self, ChatError> {
        let config = files.json(TOKENIZER_CONFIG)?.unwrap_or(Json::Null);
        let mut texts = templates_in_config(files, config.get("chat_template").unwrap_or(&Json::Null))?;
        texts.extend(files.more_templates().map(|(name, text)| (name.to_owned(), text.to_owned())));
        texts.extend(files.text(TEMPLATE).map(|text| (DEFAULT.to_owned(), text.to_owned())));
        let map = files.json(SPECIAL_TOKENS)?.unwrap_or(Json::Null);
        let token = |&name: &&str| {
            let text = token_text(&config[name]).or_else(|| token_text(&map[name]))?;
            Some((name.to_owned(), Value::from(text)))
        };
        Ok(Self { origin: files.path(""), texts, tokens: TOKENS.iter().filter_map(token).collect(), now: None })
    }

    /// Whether there is one at all.
    pub fn is_present(&self) -> bool {
        !self.texts.is_empty()
    }

    /// The prompt for the model to continue when `chat` asks for a generation prompt, the whole conversation otherwise.
    /// Control tokens are spelled out. Where the checkpoint has several templates, `tool_use` is for chats with tools and `default`
    /// for all others.
    pub fn render(&self, chat: &Chat) -> Result<String, ChatError> {
        let name = if chat.has_tools() && self.texts.contains_key(WITH_TOOLS) { WITH_TOOLS } else { DEFAULT };
        let text = self.texts.get(name).ok_or_else(|| match self.texts.is_empty() {
            true => ChatError::Absent(self.origin.clone()),
            false => {
                let (origin, wanted) = (self.origin.clone(), name.to_owned());
                ChatError::Unnamed { origin, wanted, found: self.texts.keys().cloned().collect() }
            }
        })?;
        environment::render(text, &self.tokens, chat, chat.now().or(self.now))
    }
}

/// A token is a string, or an object with its text under `content`.
fn token_text(token: &Json) -> Option<&str> {
    token.as_str().or_else(|| token["content"].as_str())
}

fn templates_in_config(files: &SidecarFiles, value: &Json) -> Result<BTreeMap<String, String>, CheckpointError> {
    let named = |entry: &Json| Some((entry["name"].as_str()?.to_owned(), entry["template"].as_str()?.to_owned()));
    let texts = match value {
        Json::Null => Some(BTreeMap::new()),
        Json::String(text) => Some(BTreeMap::from([(DEFAULT.to_owned(), text.clone())])),
        Json::Array(list) => list.iter().map(named).collect(),
        _ => None,
    };
    texts.ok_or_else(|| {
        let want = "want a text, or a list of objects with `name` and `template`";
        CheckpointError::invalid_value(&files.path(TOKENIZER_CONFIG), "chat_template", &value.to_string(), want)
    })
}
