//! Python's `repr` of plain values, whole or as an excerpt. Both take time linear in the written text, because the values are a guest's and
//! printing them costs no fuel.

use std::fmt::{self, Display, Formatter, Write};

use dashu_int::IBig;
use dashu_int::ops::BitTest;

use super::Value;

/// The most decimal digits of an int in text, as in Python.
pub(super) const MAX_DIGITS: usize = 4300;
/// Bits of the least number that has more than [`MAX_DIGITS`] decimal digits: 10^4300.
const MAX_DECIMAL_BITS: usize = 14_285;

impl Value {
    /// The first `chars` characters of the text that `Display` writes, followed by `…` if there are more. The rest is not computed.
    #[must_use]
    pub fn excerpt(&self, chars: usize) -> String {
        let mut excerpt = Excerpt { text: String::new(), left: chars };
        match write!(excerpt, "{self}") {
            Ok(()) => excerpt.text,
            Err(fmt::Error) => excerpt.text + "…",
        }
    }
}

/// Accepts `left` characters and then returns an error, which ends the writer.
struct Excerpt {
    text: String,
    left: usize,
}

impl Write for Excerpt {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.char_indices().nth(self.left).map_or(text.len(), |(at, _)| at);
        self.text.push_str(&text[..end]);
        if end < text.len() {
            return Err(fmt::Error);
        }
        self.left -= text.chars().count();
        Ok(())
    }
}

impl Display for Value {
    /// Writes Python's `repr` of the value, but an int with more decimal digits than Python writes in hexadecimal. With `{:#}` it writes a
    /// literal that Python reads back: an infinity as a number that overflows, as in `ast.unparse`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => f.write_str("None"),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Int(value) => write_int(f, value),
            Value::Float(value) if value.is_infinite() && f.alternate() => {
                f.write_str(if *value > 0.0 { "1e309" } else { "-1e309" })
            }
            Value::Float(value) => f.write_str(&float_repr(*value)),
            Value::Str(text) => {
                write_quoted(f, text.chars().map(QuotedUnit::Char), text.contains('\''), text.contains('"'))
            }
            Value::Bytes(bytes) => {
                f.write_char('b')?;
                write_quoted(
                    f,
                    bytes.iter().map(|b| QuotedUnit::Byte(*b)),
                    bytes.contains(&b'\''),
                    bytes.contains(&b'"'),
                )
            }
            Value::List(items) => write_items(f, "[", items, "]"),
            Value::Tuple(items) if items.len() == 1 => write_items(f, "(", items, ",)"),
            Value::Tuple(items) => write_items(f, "(", items, ")"),
            Value::Set(items) if items.is_empty() => f.write_str("set()"),
            Value::Set(items) => write_items(f, "{", items, "}"),
            Value::FrozenSet(items) if items.is_empty() => f.write_str("frozenset()"),
            Value::FrozenSet(items) => write_items(f, "frozenset({", items, "})"),
            Value::Dict(pairs) => write_pairs(f, pairs),
            Value::Object(object) => object.fmt(f),
        }
    }
}

/// Conversion to decimal takes more than linear time, so the size is checked first.
fn write_int(f: &mut Formatter<'_>, value: &IBig) -> fmt::Result {
    if value.bit_len() > MAX_DECIMAL_BITS {
        return write!(f, "{value:#x}");
    }
    let decimal = value.to_string();
    if decimal.trim_start_matches('-').len() > MAX_DIGITS { write!(f, "{value:#x}") } else { f.write_str(&decimal) }
}

pub(super) fn write_items(f: &mut Formatter<'_>, open: &str, items: &[Value], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    f.write_str(close)
}

pub(super) fn write_pairs(f: &mut Formatter<'_>, pairs: &[(Value, Value)]) -> fmt::Result {
    f.write_char('{')?;
    for (index, (key, value)) in pairs.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        key.fmt(f)?;
        f.write_str(": ")?;
        value.fmt(f)?;
    }
    f.write_char('}')
}

enum QuotedUnit {
    Char(char),
    Byte(u8),
}

fn write_quoted(
    f: &mut Formatter<'_>,
    units: impl Iterator<Item = QuotedUnit>,
    has_single: bool,
    has_double: bool,
) -> fmt::Result {
    let quote = if has_single && !has_double { '"' } else { '\'' };
    f.write_char(quote)?;
    for unit in units {
        match unit {
            QuotedUnit::Char(c) => write_char(f, c, quote)?,
            QuotedUnit::Byte(b) if b < 0x80 => write_char(f, char::from(b), quote)?,
            QuotedUnit::Byte(b) => write!(f, "\\x{b:02x}")?,
        }
    }
    f.write_char(quote)
}

fn write_char(f: &mut Formatter<'_>, c: char, quote: char) -> fmt::Result {
    match c {
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        '\\' => f.write_str("\\\\"),
        _ if c == quote => write!(f, "\\{c}"),
        ' '..='~' => f.write_char(c),
        _ if is_printable(c) => f.write_char(c),
        _ => match u32::from(c) {
            code @ 0..=0xff => write!(f, "\\x{code:02x}"),
            code @ 0x100..=0xffff => write!(f, "\\u{code:04x}"),
            code => write!(f, "\\U{code:08x}"),
        },
    }
}

/// Close to `str.isprintable`: characters that Rust does not escape, and no spaces except the ASCII one. Either form reads back the same.
fn is_printable(c: char) -> bool {
    c > '\u{a0}' && c != '\u{ad}' && !c.is_whitespace() && c.escape_debug().count() == 1
}

/// `repr` of a float: the shortest digits that read back, in positional form for exponents −4 to 15.
pub(super) fn float_repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("`{:e}` writes an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes an integer exponent");
    if value == 0.0 || (-4..16).contains(&exponent) {
        let text = format!("{value}");
        return if text.contains('.') { text } else { text + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
