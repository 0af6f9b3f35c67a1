//! A conversation, as a template sees it.

use std::collections::BTreeMap;

use minijinja::Value;
use minijinja::value::ValueKind;

use super::ChatError;
use super::json::parse;

/// Messages and what else a template may ask for. Keys of messages and tools keep their order, which templates can see.
#[derive(Debug, Clone)]
pub struct Chat {
    /// Variables of the template by name, `messages` and `tools` among them.
    variables: BTreeMap<String, Value>,
    /// Seconds since 1970, for `strftime_now`.
    now: Option<i64>,
}

impl Chat {
    /// From JSON: a list of messages (objects with `role` and `content`, as in the chat completions of OpenAI), or an object with
    /// that list under `messages` and perhaps `tools`, `documents`, `add_generation_prompt` (true when absent) and further
    /// variables of the template, such as `enable_thinking`.
    ///
    /// # Errors
    /// [`ChatError::Parse`] with what is wrong.
    pub fn parse(text: &str) -> Result<Self, ChatError> {
        let value = parse(text).map_err(|e| ChatError::Parse(e.to_string()))?;
        let mut variables = BTreeMap::from([
            ("add_generation_prompt".to_owned(), Value::from(true)),
            ("tools".to_owned(), Value::from(())),
            ("documents".to_owned(), Value::from(())),
        ]);
        match value.kind() {
            ValueKind::Seq => drop(variables.insert("messages".to_owned(), value)),
            ValueKind::Map => {
                for key in value.try_iter().map_err(|e| ChatError::Parse(e.to_string()))? {
                    let item = value.get_item(&key).map_err(|e| ChatError::Parse(e.to_string()))?;
                    variables.insert(key.to_string(), item);
                }
            }
            other => return Err(ChatError::Parse(format!("it is a {other}; want a list of messages"))),
        }
        check_messages(variables.get("messages"))?;
        Ok(Self { variables, now: None })
    }

    /// One message of the user, to be answered.
    #[must_use]
    pub fn user(content: &str) -> Self {
        let message = Value::from_pairs([("role", Value::from("user")), ("content", Value::from(content))]);
        let variables = [
            ("messages", Value::from(vec![message])),
            ("add_generation_prompt", Value::from(true)),
            ("tools", Value::from(())),
            ("documents", Value::from(())),
        ];
        Self { variables: variables.map(|(name, value)| (name.to_owned(), value)).into(), now: None }
    }

    /// With the time that templates are told, in seconds since 1970: for those that write the date.
    #[must_use]
    pub fn at(mut self, seconds: i64) -> Self {
        self.now = Some(seconds);
        self
    }

    pub(super) fn has_tools(&self) -> bool {
        self.variables.get("tools").is_some_and(Value::is_true)
    }

    pub(super) const fn variables(&self) -> &BTreeMap<String, Value> {
        &self.variables
    }

    pub(super) const fn now(&self) -> Option<i64> {
        self.now
    }
}

fn check_messages(messages: Option<&Value>) -> Result<(), ChatError> {
    let fail = |what: String| Err(ChatError::Parse(what));
    let Some(messages) = messages.filter(|m| m.kind() == ValueKind::Seq) else {
        return fail("there is no list under `messages`".to_owned());
    };
    if messages.len() == Some(0) {
        return fail("there is no message".to_owned());
    }
    for (index, message) in messages.try_iter().map_err(|e| ChatError::Parse(e.to_string()))?.enumerate() {
        let role = message.get_attr("role").ok().filter(|role| role.kind() == ValueKind::String);
        if role.is_none() {
            return fail(format!("message {index} is `{message}`: want an object with a string under `role`"));
        }
    }
    Ok(())
}
