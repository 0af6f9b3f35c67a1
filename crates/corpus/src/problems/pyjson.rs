//! JSON as Python's `json.loads` reads it, into plain values. Called by the readers of public formats.
//!
//! serde_json is not enough for them: a program sees the order of a dict's keys, `1` and `1.0` are different arguments, ints
//! may have more digits than Python itself takes from a text, and Python writes `NaN` and `Infinity`. With the features for order and for digits it keeps the first three, refuses the
//! last, and is no faster: 55 MB/s into its own values, beside 60 MB/s here into ours (10 MB of test cases, two busy cores). Invariants: of a key that stands twice the last value counts, at
//! the first one's place; nesting and digits are bounded; a lone surrogate is refused, because no plain value holds one, or becomes [`LONE_SURROGATE`].

use std::collections::HashMap;

use veriplay_core::{EncodeCaps, Value};

/// Containers inside one another: a value's own, and those of the row around it.
const MAX_DEPTH: usize = EncodeCaps::DEPTH + 4;

/// Digits of an int. Python's `json.loads` takes 4300 unless told otherwise, as APPS' own reader tells it; reading them takes more than
/// linear time.
const MAX_INT_DIGITS: usize = 100_000;

/// What [`parse_lenient`] reads in the place of a lone surrogate. No Python program may hold either character, so a program with it does not
/// compile, as it would not with the surrogate.
const LONE_SURROGATE: char = '\0';

/// Why text is no JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {what}")]
pub(super) struct JsonError {
    /// In characters, from 1.
    pub(super) column: usize,
    pub(super) what: String,
}

/// Reads one JSON text that fills `text`, white space around it allowed.
pub(super) fn parse(text: &str) -> Result<Value, JsonError> {
    parse_whole(Reader { text, at: 0, lone: None, repeated: Vec::new() }).map(|(value, _)| value)
}

/// As [`parse`], for texts of a model: a lone surrogate, half of a character that was cut in two, is [`LONE_SURROGATE`] instead of an error.
/// With the keys that the outermost object has more than once.
pub(super) fn parse_lenient(text: &str) -> Result<(Value, Vec<String>), JsonError> {
    parse_whole(Reader { text, at: 0, lone: Some(LONE_SURROGATE), repeated: Vec::new() })
}

/// The text of the member `name` of the object that `text` holds, which [`parse`] has read. Of a name that stands twice, the last one's, as [`parse`] takes
/// it. `None` where there is none, or `text` is no object.
pub(super) fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut reader = Reader { text, at: 0, lone: None, repeated: Vec::new() };
    reader.expect(b'{').ok()?;
    let mut found = None;
    while reader.peek() == Some(b'"') {
        let key = reader.string().ok()?;
        reader.expect(b':').ok()?;
        reader.peek()?;
        let start = reader.at;
        reader.skip_value();
        if key == name {
            found = Some(&text[start..reader.at]);
        }
        if !reader.eat(b',') {
            break;
        }
    }
    found
}

fn parse_whole(mut reader: Reader<'_>) -> Result<(Value, Vec<String>), JsonError> {
    let value = reader.value(0)?;
    match reader.peek() {
        None => Ok((value, reader.repeated)),
        Some(byte) => reader.fail(format!("unexpected `{}` after the value", byte as char)),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// What a lone surrogate is read as.
    lone: Option<char>,
    /// Keys that stand more than once in the outermost object.
    repeated: Vec<String>,
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, what: impl Into<String>) -> Result<T, JsonError> {
        let before = &self.text.as_bytes()[..self.at.min(self.text.len())];
        // Continuation bytes are no characters of their own.
        let column = before.iter().filter(|byte| **byte & 0xc0 != 0x80).count() + 1;
        Err(JsonError { column, what: what.into() })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: u8) -> Result<(), JsonError> {
        if self.eat(wanted) { Ok(()) } else { self.fail(format!("expected `{}`", wanted as char)) }
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        if depth > MAX_DEPTH {
            return self.fail(format!("nested deeper than {MAX_DEPTH}"));
        }
        match self.peek() {
            None => self.fail("expected a value, found the end"),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Value::Str),
            Some(_) => self.word_or_number(),
        }
    }

    /// Moves behind a value of well-formed JSON.
    fn skip_value(&mut self) {
        let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
        for byte in self.rest().bytes() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if is_string => is_escaped = true,
                b'"' => is_string = !is_string,
                _ if is_string => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' | b',' if depth == 0 => return,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        if self.eat(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if !self.eat(b',') {
                self.expect(b']')?;
                return Ok(Value::List(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        if self.eat(b'}') {
            return Ok(Value::Dict(pairs));
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.fail("expected a key in double quotes");
            }
            let key = self.string()?;
            self.expect(b':')?;
            let value = self.value(depth + 1)?;
            match places.get(&key) {
                Some(place) => {
                    pairs[*place].1 = value;
                    if depth == 0 {
                        self.repeated.push(key);
                    }
                }
                None => {
                    places.insert(key.clone(), pairs.len());
                    pairs.push((Value::Str(key), value));
                }
            }
            if !self.eat(b',') {
                self.expect(b'}')?;
                return Ok(Value::Dict(pairs));
            }
        }
    }

    fn word_or_number(&mut self) -> Result<Value, JsonError> {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len());
        let word = &rest[..length];
        let value = match word {
            "null" => Value::None,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "NaN" => Value::Float(f64::NAN),
            "Infinity" => Value::Float(f64::INFINITY),
            "-Infinity" => Value::Float(f64::NEG_INFINITY),
            _ => match number(word) {
                Ok(value) => value,
                Err(what) => return self.fail(what),
            },
        };
        self.at += length;
        Ok(value)
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let stop = rest.find(|c: char| c == '"' || c == '\\' || c < ' ');
            let Some(stop) = stop else { return self.fail("a string without its closing quote") };
            out.push_str(&rest[..stop]);
            self.at += stop + 1;
            match rest.as_bytes()[stop] {
                b'"' => return Ok(out),
                b'\\' => out.push(self.escape()?),
                byte => return self.fail(format!("a raw control character {byte:#04x} inside a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let byte = self.text.as_bytes().get(self.at).copied();
        self.at += usize::from(byte.is_some_and(|byte| byte.is_ascii()));
        match byte {
            Some(b'u') => self.unicode(),
            Some(byte @ (b'"' | b'\\' | b'/')) => Ok(byte as char),
            Some(b'b') => Ok('\x08'),
            Some(b'f') => Ok('\x0c'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            _ => self.fail("no such escape in a string"),
        }
    }

    /// `\uXXXX`, or two of them for a character beyond the basic plane.
    fn unicode(&mut self) -> Result<char, JsonError> {
        let high = self.four_digits()?;
        let after = self.at;
        if (0xd800..0xdc00).contains(&high) && self.rest().starts_with("\\u") {
            self.at += 2;
            let low = self.four_digits()?;
            if (0xdc00..0xe000).contains(&low) {
                return self.scalar(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00));
            }
            // The second escape is a character of its own.
            self.at = after;
        }
        self.scalar(high)
    }

    fn scalar(&self, code: u32) -> Result<char, JsonError> {
        match char::from_u32(code).or(self.lone) {
            Some(c) => Ok(c),
            None => self.fail(format!("a lone surrogate \\u{code:04x}, which no plain text can hold")),
        }
    }

    fn four_digits(&mut self) -> Result<u32, JsonError> {
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(digits) = digits else { return self.fail("expected four hexadecimal digits after `\\u`") };
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).expect("four hexadecimal digits are a u32"))
    }
}

/// An int without fraction and exponent, a float with: JSON's grammar, which is narrower than Python's.
fn number(text: &str) -> Result<Value, String> {
    if !is_json_number(text) {
        return Err(format!("`{}` is no JSON value", text.chars().take(40).collect::<String>()));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Value::parse_literal(text).map_err(|error| error.what);
    }
    if digits.len() > MAX_INT_DIGITS {
        return Err(format!("an int of {} digits; the most is {MAX_INT_DIGITS}", digits.len()));
    }
    Value::parse_int(text).ok_or_else(|| format!("`{text}` is no int"))
}

fn is_json_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let padded = whole.len() > 1 && whole.starts_with('0');
    digits(whole) && !padded && fraction.is_none_or(digits) && exponent.is_none_or(digits)
}
