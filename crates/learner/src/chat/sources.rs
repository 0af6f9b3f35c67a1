//! Where a checkpoint keeps its chat templates and its special tokens.
//!
//! Templates: `chat_template.jinja`, which goes first, and `additional_chat_templates/NAME.jinja`; or `chat_template` in
//! tokenizer_config.json, a text or a list of {name, template}. Special tokens: tokenizer_config.json, else special_tokens_map.json.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{ChatError, ChatTemplate, DEFAULT};
use crate::checkpoint::{CheckpointError, Companions, SPECIAL_TOKENS, TEMPLATE, TOKENIZER_CONFIG};

/// The special tokens that templates are given under their name.
const TOKENS: [&str; 7] = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];

pub(super) fn template(files: &Companions) -> Result<ChatTemplate, ChatError> {
    let config = files.json(TOKENIZER_CONFIG)?.unwrap_or(Json::Null);
    let mut texts = of_config(files, config.get("chat_template").unwrap_or(&Json::Null))?;
    texts.extend(files.more_templates().map(|(name, text)| (name.to_owned(), text.to_owned())));
    texts.extend(files.text(TEMPLATE).map(|text| (DEFAULT.to_owned(), text.to_owned())));
    let map = files.json(SPECIAL_TOKENS)?.unwrap_or(Json::Null);
    let token = |&name: &&str| {
        let text = spelling(&config[name]).or_else(|| spelling(&map[name]))?;
        Some((name.to_owned(), minijinja::Value::from(text)))
    };
    Ok(ChatTemplate { place: files.path(""), texts, tokens: TOKENS.iter().filter_map(token).collect() })
}

/// A token is a string, or an object with its text under `content`.
fn spelling(token: &Json) -> Option<&str> {
    token.as_str().or_else(|| token["content"].as_str())
}

fn of_config(files: &Companions, value: &Json) -> Result<BTreeMap<String, String>, CheckpointError> {
    let named = |entry: &Json| Some((entry["name"].as_str()?.to_owned(), entry["template"].as_str()?.to_owned()));
    let texts = match value {
        Json::Null => Some(BTreeMap::new()),
        Json::String(text) => Some(BTreeMap::from([(DEFAULT.to_owned(), text.clone())])),
        Json::Array(list) => list.iter().map(named).collect(),
        _ => None,
    };
    texts.ok_or_else(|| CheckpointError::Key {
        file: files.path(TOKENIZER_CONFIG),
        key: "chat_template".to_owned(),
        value: value.to_string(),
        want: "want a text, or a list of objects with `name` and `template`".to_owned(),
    })
}
