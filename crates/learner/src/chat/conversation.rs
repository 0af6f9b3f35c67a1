//! A conversation, as a template sees it.

use std::collections::BTreeMap;
use std::fmt;

use minijinja::Value;
use minijinja::value::ValueKind;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use veriplay_core::Message;

use super::ChatError;

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
    pub fn parse(text: &str) -> Result<Self, ChatError> {
        let OrderedJson(value) = serde_json::from_str(text).map_err(unreadable)?;
        let mut chat = Self::new(Value::UNDEFINED);
        match value.kind() {
            ValueKind::Seq => drop(chat.variables.insert("messages".to_owned(), value)),
            ValueKind::Map => {
                for key in value.try_iter().map_err(unreadable)? {
                    chat.variables.insert(key.to_string(), value.get_item(&key).map_err(unreadable)?);
                }
            }
            other => return Err(ChatError::Parse(format!("it is a {other}; want a list of messages"))),
        }
        check_messages(&chat.variables["messages"])?;
        Ok(chat)
    }

    fn new(messages: Value) -> Self {
        let variables = [
            ("messages", messages),
            ("add_generation_prompt", Value::from(true)),
            ("tools", Value::from(())),
            ("documents", Value::from(())),
        ];
        Self { variables: variables.map(|(name, value)| (name.to_owned(), value)).into(), now: None }
    }

    /// One message of the user, to be answered.
    pub fn user(content: &str) -> Self {
        Self::from_messages(&[Message::user(content)])
    }

    /// These messages, to be answered.
    pub fn from_messages(messages: &[Message]) -> Self {
        let value = |Message { role, content }: &Message| {
            Value::from_pairs([("role", Value::from(role.name())), ("content", Value::from(content.as_str()))])
        };
        Self::new(messages.iter().map(value).collect::<Vec<_>>().into())
    }

    /// With the time that templates see, in seconds since 1970: for those that write the date.
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

fn unreadable(error: impl ToString) -> ChatError {
    ChatError::Parse(error.to_string())
}

fn check_messages(messages: &Value) -> Result<(), ChatError> {
    let fail = |what: String| Err(ChatError::Parse(what));
    if messages.kind() != ValueKind::Seq {
        return fail("there is no list under `messages`".to_owned());
    }
    if messages.len() == Some(0) {
        return fail("there is no message".to_owned());
    }
    for (index, message) in messages.try_iter().map_err(unreadable)?.enumerate() {
        let role = message.get_attr("role").ok().filter(|role| role.kind() == ValueKind::String);
        if role.is_none() {
            return fail(format!("message {index} is `{message}`: want an object with a string under `role`"));
        }
    }
    Ok(())
}

/// Under `arbitrary_precision` serde_json hands a number over as an object of one entry with this key and the digits.
const NUMBER: &str = "$serde_json::private::Number";

/// A value whose objects keep their order.
struct OrderedJson(Value);

impl<'de> Deserialize<'de> for OrderedJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedVisitor).map(OrderedJson)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::from(()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(OrderedJson(value)) = list.next_element()? {
            out.push(value);
        }
        Ok(Value::from(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut out: Vec<(String, Value)> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == NUMBER {
                return number(&map.next_value::<String>()?).map_err(serde::de::Error::custom);
            }
            let OrderedJson(value) = map.next_value()?;
            match out.iter_mut().find(|(old, _)| *old == key) {
                Some((_, old)) => *old = value,
                None => out.push((key, value)),
            }
        }
        Ok(Value::from_pairs(out))
    }
}

fn number(digits: &str) -> Result<Value, String> {
    if let Ok(whole) = digits.parse::<i128>() {
        return Ok(i64::try_from(whole).map_or_else(|_| Value::from(whole), Value::from));
    }
    digits.parse::<f64>().map(Value::from).map_err(|e| format!("`{digits}`: {e}"))
}
