//! The environment a template runs in: transformers' settings and functions on minijinja.
//!
//! What differs from Jinja and cannot be seen in templates we know of: lists and objects that are printed whole (not by `tojson`)
//! look as minijinja writes them, not as Python does.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::fmt;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, Value};

use super::strftime::strftime;
use super::tojson::tojson;
use super::{Chat, ChatError};

/// Steps a template may take: far more than any conversation needs, and still over in about a second.
const FUEL: u64 = 5_000_000;

/// What `raise_exception` was called with.
#[derive(Debug)]
struct Raised(String);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Raised {}

pub(super) fn render(text: &str, tokens: &BTreeMap<String, Value>, chat: &Chat) -> Result<String, ChatError> {
    let text = without_generation_tags(text);
    let environment = environment(chat.now());
    let template = environment.template_from_str(&text).map_err(|e| ChatError::Compile(describe(&e)))?;
    let variables = tokens.iter().chain(chat.variables()).map(|(name, value)| (name.as_str(), value.clone()));
    template.render(Value::from_pairs(variables)).map_err(|error| match raised(&error) {
        Some(message) => ChatError::Refused(message),
        None => ChatError::Render(describe(&error)),
    })
}

fn environment(now: Option<i64>) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_syntax(syntax());
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    environment.set_formatter(python_formatter);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_filter("tojson", tojson);
    environment.add_function("raise_exception", |message: String| -> Result<String, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, "raise_exception").with_source(Raised(message)))
    });
    environment.add_function("strftime_now", move |format: String| -> Result<String, Error> {
        let fail = |what: String| Error::new(ErrorKind::InvalidOperation, what);
        let now = now
            .ok_or_else(|| fail("it asks for the date, and the chat has none: give one with `Chat::at`".to_owned()))?;
        strftime(now, &format).map_err(|directive| fail(format!("strftime_now does not know `{directive}`")))
    });
    environment
}

/// Blocks take their line with them.
fn syntax() -> SyntaxConfig {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    syntax.build().expect("the delimiters are the defaults")
}

/// Prints True, False and None as Python does.
fn python_formatter(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let word = match value.kind() {
        ValueKind::None => "None",
        ValueKind::Bool if value.is_true() => "True",
        ValueKind::Bool => "False",
        _ => return minijinja::escape_formatter(out, state, value),
    };
    out.write_str(word).map_err(Error::from)
}

/// `generation` blocks mark what the model said, for masks that nobody asks for here: they become blocks that are always taken.
fn without_generation_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, (tag, after))) =
        rest.split_once("{%").and_then(|(before, behind)| Some((before, behind.split_once("%}")?)))
    {
        out.push_str(before);
        let word = tag.trim_matches(['-', '+']).trim();
        let new = match word {
            "generation" => tag.replace(word, "if true"),
            "endgeneration" => tag.replace(word, "endif"),
            _ => tag.to_owned(),
        };
        out.extend(["{%", &new, "%}"]);
        rest = after;
    }
    out + rest
}

fn raised(error: &Error) -> Option<String> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(Raised(message)) = cause.downcast_ref() {
            return Some(message.clone());
        }
        source = cause.source();
    }
    None
}

fn describe(error: &Error) -> String {
    let line = error.line().map_or_else(String::new, |line| format!(" (line {line})"));
    format!("{}{line}", error.detail().map_or_else(|| error.kind().to_string(), |d| format!("{}: {d}", error.kind())))
}
