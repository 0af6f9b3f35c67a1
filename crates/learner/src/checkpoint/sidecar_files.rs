//! The small files next to the weights. They are saved exactly as they were read, unknown keys included.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::files::{CheckpointError, make_dir, read_text_if_there, write_file};
use crate::config::end_tokens;

pub(crate) const GENERATION: &str = "generation_config.json";
pub(crate) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
pub(crate) const SPECIAL_TOKENS: &str = "special_tokens_map.json";
pub(crate) const TEMPLATE: &str = "chat_template.jinja";
const MORE_TEMPLATES: &str = "additional_chat_templates";

/// Text of the files, by their name relative to the model directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SidecarFiles {
    /// How errors name the directory.
    origin: String,
    texts: BTreeMap<String, String>,
}

impl SidecarFiles {
    pub(crate) fn empty(origin: &str) -> Self {
        Self { origin: origin.to_owned(), texts: BTreeMap::new() }
    }

    /// The same with one file more.
    pub(crate) fn with(mut self, name: &str, text: String) -> Self {
        self.texts.insert(name.to_owned(), text);
        self
    }

    pub(super) fn read(dir: &Path) -> Result<Self, CheckpointError> {
        let mut names: Vec<String> = [GENERATION, TOKENIZER_CONFIG, SPECIAL_TOKENS, TEMPLATE].map(str::to_owned).into();
        let more = std::fs::read_dir(dir.join(MORE_TEMPLATES)).into_iter().flatten().flatten();
        let more = more.filter_map(|entry| entry.file_name().into_string().ok());
        names.extend(more.filter(|n| n.ends_with(".jinja")).map(|name| format!("{MORE_TEMPLATES}/{name}")));
        let mut texts = BTreeMap::new();
        for name in names {
            if let Some(text) = read_text_if_there(&dir.join(&name))? {
                texts.insert(name, text);
            }
        }
        Ok(Self { origin: dir.display().to_string(), texts })
    }

    pub(super) fn write(&self, dir: &Path) -> Result<(), CheckpointError> {
        for (name, text) in &self.texts {
            let path = dir.join(name);
            path.parent().map_or(Ok(()), make_dir)?;
            write_file(&path, text.as_bytes())?;
        }
        Ok(())
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// Name and text of the templates in their folder: `tool_use` for `additional_chat_templates/tool_use.jinja`.
    pub(crate) fn more_templates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().filter_map(|(path, text)| {
            let name = path.strip_prefix(MORE_TEMPLATES)?.strip_prefix('/')?.strip_suffix(".jinja")?;
            Some((name, text.as_str()))
        })
    }

    /// How errors name a file.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.origin)
    }

    /// A JSON file, parsed; `None` where there is none.
    pub(crate) fn json(&self, name: &str) -> Result<Option<Value>, CheckpointError> {
        let parse = |text| serde_json::from_str(text).map_err(|e| CheckpointError::unreadable(&self.path(name), e));
        self.text(name).map(parse).transpose()
    }

    /// The end tokens of `generation_config.json`: they go before those of `config.json`. Empty where it names none.
    pub(crate) fn end_tokens(&self) -> Result<Vec<u32>, CheckpointError> {
        let Some(value) = self.json(GENERATION)? else { return Ok(Vec::new()) };
        end_tokens(&value).map_err(|error| CheckpointError::invalid(&self.path(GENERATION), error))
    }
}
