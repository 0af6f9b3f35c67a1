//! The environment a template runs in: transformers' settings and functions on minijinja.
//!
//! One difference from Jinja remains, in no template we know of: lists and objects that are printed whole (not by `tojson`) look as
//! minijinja writes them, not as Python does.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::fmt;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, Template, Value};

use super::dates::strftime;
use super::{Chat, ChatError};

/// Steps a template may take: far more than any conversation needs, and still over in about a second.
const FUEL: u64 = 5_000_000;

/// The argument of `raise_exception`.
#[derive(Debug)]
struct RaisedException(String);

impl fmt::Display for RaisedException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RaisedException {}

/// The function that gives the date. transformers has it always; here it is there where a date is given, and a template that asks whether it is
/// defined writes its own date otherwise.
const STRFTIME_NOW: &str = "strftime_now";

/// `now` is what [`STRFTIME_NOW`] tells, in seconds since 1970.
pub(super) fn render(
    text: &str,
    tokens: &BTreeMap<String, Value>,
    chat: &Chat,
    now: Option<i64>,
) -> Result<String, ChatError> {
    let text = without_generation_tags(text);
    let environment = environment(now);
    let template = environment.template_from_str(&text).map_err(|e| ChatError::Compile(describe_error(&e)))?;
    let variables = tokens.iter().chain(chat.variables()).map(|(name, value)| (name.as_str(), value.clone()));
    template.render(Value::from_pairs(variables)).map_err(|error| match raised_message(&error) {
        Some(message) => ChatError::Refused(message),
        None if lacks_date(&template, &error, now) => ChatError::Dateless,
        None => ChatError::Render(describe_error(&error)),
    })
}

/// Whether a template failed for want of a date.
fn lacks_date(template: &Template<'_, '_>, error: &Error, now: Option<i64>) -> bool {
    let asks = || template.undeclared_variables(false).contains(STRFTIME_NOW);
    now.is_none() && error.kind() == ErrorKind::UnknownFunction && asks()
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
        Err(Error::new(ErrorKind::InvalidOperation, "raise_exception").with_source(RaisedException(message)))
    });
    if let Some(now) = now {
        environment.add_function(STRFTIME_NOW, move |format: String| -> Result<String, Error> {
            strftime(now, &format).map_err(|directive| {
                let what = format!("{STRFTIME_NOW} does not know `{directive}`");
                Error::new(ErrorKind::InvalidOperation, what)
            })
        });
    }
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

/// `generation` blocks mark the model's own tokens for masks, which this learner does not make: they become `if true` blocks.
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

fn raised_message(error: &Error) -> Option<String> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(RaisedException(message)) = cause.downcast_ref() {
            return Some(message.clone());
        }
        source = cause.source();
    }
    None
}

fn describe_error(error: &Error) -> String {
    let line = error.line().map_or_else(String::new, |line| format!(" (line {line})"));
    format!("{}{line}", error.detail().map_or_else(|| error.kind().to_string(), |d| format!("{}: {d}", error.kind())))
}

/// The options of `json.dumps`.
struct JsonStyle {
    indent: Option<usize>,
    item: String,
    key: String,
    sort_keys: bool,
    ensure_ascii: bool,
}

/// `value | tojson(indent=None, separators=None, sort_keys=False, ensure_ascii=False)`.
pub(super) fn tojson(value: &Value, options: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let separators: Option<(String, String)> =
        options.get::<Option<Vec<String>>>("separators")?.map(pair).transpose()?;
    let item = if indent.is_some() { "," } else { ", " };
    let (item, key) = separators.unwrap_or_else(|| (item.to_owned(), ": ".to_owned()));
    let sort_keys = options.get::<Option<bool>>("sort_keys")?.unwrap_or(false);
    let ensure_ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    options.assert_all_used()?;
    let mut out = String::new();
    JsonStyle { indent, item, key, sort_keys, ensure_ascii }.write(&mut out, value, 0)?;
    Ok(out)
}

fn pair(list: Vec<String>) -> Result<(String, String), Error> {
    <[String; 2]>::try_from(list)
        .map(|[item, key]| (item, key))
        .map_err(|_| Error::new(ErrorKind::InvalidOperation, "tojson: want two separators"))
}

impl JsonStyle {
    fn write(&self, out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => out.push_str(&format_number(value)),
            ValueKind::String => self.write_string(out, value.as_str().unwrap_or_default()),
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort_keys {
                    keys.sort_by_key(ToString::to_string);
                }
                self.write_list(out, ['{', '}'], depth, keys, |out, key| {
                    self.write_string(out, &key.to_string());
                    out.push_str(&self.key);
                    self.write(out, &value.get_item(&key)?, depth + 1)
                })?;
            }
            ValueKind::Seq | ValueKind::Iterable => {
                let items = value.try_iter()?.collect();
                self.write_list(out, ['[', ']'], depth, items, |out, item| self.write(out, &item, depth + 1))?;
            }
            other => return Err(Error::new(ErrorKind::InvalidOperation, format!("tojson: {other} is not JSON"))),
        }
        Ok(())
    }

    fn write_list(
        &self,
        out: &mut String,
        [open, close]: [char; 2],
        depth: usize,
        items: Vec<Value>,
        mut write: impl FnMut(&mut String, Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        out.push(open);
        let any = !items.is_empty();
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                out.push_str(&self.item);
            }
            self.break_line(out, depth + 1);
            write(out, item)?;
        }
        if any {
            self.break_line(out, depth);
        }
        out.push(close);
        Ok(())
    }

    fn break_line(&self, out: &mut String, depth: usize) {
        if let Some(indent) = self.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }

    fn write_string(&self, out: &mut String, text: &str) {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        if !self.ensure_ascii {
            return out.push_str(&quoted);
        }
        for unit in quoted.encode_utf16() {
            match u8::try_from(unit).ok().filter(u8::is_ascii) {
                Some(ascii) => out.push(char::from(ascii)),
                None => out.push_str(&format!("\\u{unit:04x}")),
            }
        }
    }
}

/// A number as Python writes it: floats with a point or an exponent of two digits.
fn format_number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    let Ok(x) = f64::try_from(value.clone()) else { return value.to_string() };
    match x {
        f64::INFINITY => return "Infinity".to_owned(),
        f64::NEG_INFINITY => return "-Infinity".to_owned(),
        _ if x.is_nan() => return "NaN".to_owned(),
        _ => {}
    }
    // Python switches to exponents below 1e-4 and from 1e16 on.
    if x != 0.0 && !(1e-4..1e16).contains(&x.abs()) {
        let text = format!("{x:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(("+", exponent), |e| ("-", e));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{x:?}")
}
