//! Reads Python literals: how text of a model becomes values, with nothing evaluated.
//!
//! Two dialects. *Literal* is what `ast.literal_eval` takes: numbers (no complex), strings, bytes, None, True, False,
//! signs, tuples, lists, sets, dicts, `set()`. *Repr* takes in addition what `repr` writes for values that have no
//! literal: `inf`, `nan`, `frozenset(…)`; stored records use it.

use num_bigint::BigInt;
use num_traits::{Num, Signed};

use super::Value;

/// Containers inside one another, as in the encoding.
const MAX_DEPTH: usize = 64;

/// Why text is not a literal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at}: {what}")]
pub struct LiteralError {
    /// Offset in the text.
    pub at: usize,
    /// What is wrong there.
    pub what: String,
}

impl Value {
    /// Reads one Python literal that fills `text`, white space around it allowed.
    ///
    /// # Errors
    /// Where the text stops being a literal. A name, a call or an operator is never evaluated.
    pub fn parse_literal(text: &str) -> Result<Value, LiteralError> {
        Parser::new(text, false).whole()
    }

    /// Reads what [`Value`]'s `Display` writes.
    ///
    /// # Errors
    /// Where the text stops being a `repr` of a plain value.
    pub fn parse_repr(text: &str) -> Result<Value, LiteralError> {
        Parser::new(text, true).whole()
    }

    /// Reads a comma-separated list of positional arguments, such as `[1, 2], 'a'`; empty text is no arguments.
    ///
    /// # Errors
    /// As [`Value::parse_literal`]; keyword and starred arguments are no literals.
    pub fn parse_arguments(text: &str) -> Result<Vec<Value>, LiteralError> {
        Parser::new(text, false).arguments()
    }

    /// Writes an argument list as it stands between the brackets of a call.
    #[must_use]
    pub fn arguments_text(arguments: &[Value]) -> String {
        let texts: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        texts.join(", ")
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    repr: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, repr: bool) -> Self {
        Self { text, at: 0, repr }
    }

    fn whole(mut self) -> Result<Value, LiteralError> {
        let value = self.value(0)?;
        self.end()?;
        Ok(value)
    }

    fn arguments(mut self) -> Result<Vec<Value>, LiteralError> {
        let mut arguments = Vec::new();
        while self.peek().is_some() {
            arguments.push(self.value(0)?);
            if !self.eat(',') {
                break;
            }
        }
        self.end()?;
        Ok(arguments)
    }

    fn end(&mut self) -> Result<(), LiteralError> {
        match self.peek() {
            None => Ok(()),
            Some(c) => self.fail(format!("unexpected `{c}` after the literal")),
        }
    }

    fn fail<T>(&self, what: impl Into<String>) -> Result<T, LiteralError> {
        Err(LiteralError { at: self.at, what: what.into() })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character that is not white space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0c']).len();
        self.rest().chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), LiteralError> {
        if self.eat(wanted) { Ok(()) } else { self.fail(format!("expected `{wanted}`")) }
    }

    fn value(&mut self, depth: usize) -> Result<Value, LiteralError> {
        if depth > MAX_DEPTH {
            return self.fail(format!("nested deeper than {MAX_DEPTH}"));
        }
        match self.peek() {
            None => self.fail("expected a literal, found the end"),
            Some('+' | '-') => self.signed(depth),
            Some('0'..='9' | '.') => self.number(),
            Some('[') => self.list(depth),
            Some('(') => self.tuple(depth),
            Some('{') => self.braces(depth),
            Some('\'' | '"') => self.strings(),
            Some(c) if c.is_alphabetic() || c == '_' => self.word(depth),
            Some(c) => self.fail(format!("unexpected `{c}`")),
        }
    }

    fn signed(&mut self, depth: usize) -> Result<Value, LiteralError> {
        let minus = self.eat('-');
        if !minus {
            self.expect('+')?;
        }
        let operand = self.value(depth + 1)?;
        match operand {
            Value::Int(value) => Ok(Value::Int(if minus { -value } else { value })),
            Value::Float(value) => Ok(Value::Float(if minus { -value } else { value })),
            _ => self.fail("a sign before something that is no number"),
        }
    }

    fn number(&mut self) -> Result<Value, LiteralError> {
        let start = self.at;
        let rest = self.rest();
        let length = number_length(rest);
        let text = &rest[..length];
        self.at += length;
        let next = self.rest().chars().next();
        if next.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.') {
            return self.fail("a number runs into something else");
        }
        let bad = || LiteralError { at: start, what: format!("`{text}` is no number") };
        parse_number(text).ok_or_else(bad)
    }

    fn list(&mut self, depth: usize) -> Result<Value, LiteralError> {
        self.expect('[')?;
        Ok(Value::List(self.items(']', depth)?.0))
    }

    fn tuple(&mut self, depth: usize) -> Result<Value, LiteralError> {
        self.expect('(')?;
        let (mut items, comma) = self.items(')', depth)?;
        // `(1)` is the number, `(1,)` the tuple.
        Ok(if items.len() == 1 && !comma { items.remove(0) } else { Value::Tuple(items) })
    }

    /// Items up to `close`, and whether a comma followed the last one.
    fn items(&mut self, close: char, depth: usize) -> Result<(Vec<Value>, bool), LiteralError> {
        let mut items = Vec::new();
        let mut comma = false;
        while !self.eat(close) {
            if !items.is_empty() && !comma {
                return self.fail(format!("expected `,` or `{close}`"));
            }
            items.push(self.value(depth + 1)?);
            comma = self.eat(',');
        }
        Ok((items, comma))
    }

    fn braces(&mut self, depth: usize) -> Result<Value, LiteralError> {
        self.expect('{')?;
        if self.eat('}') {
            return Ok(Value::Dict(Vec::new()));
        }
        let first = self.hashable(depth)?;
        if self.eat(':') { self.dict(first, depth) } else { self.set(first, depth) }
    }

    fn set(&mut self, first: Value, depth: usize) -> Result<Value, LiteralError> {
        let mut items = vec![first];
        while !self.eat('}') {
            self.expect(',')?;
            if self.peek() != Some('}') {
                items.push(self.hashable(depth)?);
            }
        }
        Ok(Value::set_of(items, false))
    }

    fn dict(&mut self, first: Value, depth: usize) -> Result<Value, LiteralError> {
        let mut pairs: Vec<(Value, Value)> = vec![(first, self.value(depth + 1)?)];
        while !self.eat('}') {
            self.expect(',')?;
            if self.peek() != Some('}') {
                let key = self.hashable(depth)?;
                self.expect(':')?;
                let value = self.value(depth + 1)?;
                // A repeated key keeps its place and takes the later value, as in Python.
                match pairs.iter_mut().find(|(known, _)| known.python_eq(&key)) {
                    Some(pair) => pair.1 = value,
                    None => pairs.push((key, value)),
                }
            }
        }
        Ok(Value::Dict(pairs))
    }

    fn hashable(&mut self, depth: usize) -> Result<Value, LiteralError> {
        let value = self.value(depth + 1)?;
        if is_hashable(&value) { Ok(value) } else { self.fail(format!("a {} cannot be hashed", value.type_name())) }
    }

    /// A name: a constant, a string prefix, or one of the two calls that stand for values.
    fn word(&mut self, depth: usize) -> Result<Value, LiteralError> {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..length];
        if rest[length..].starts_with(['\'', '"']) {
            return self.strings();
        }
        let value = match word {
            "None" => Value::None,
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "set" => return self.empty_set(length),
            "inf" if self.repr => Value::Float(f64::INFINITY),
            "nan" if self.repr => Value::Float(f64::NAN),
            "frozenset" if self.repr => return self.frozen_set(length, depth),
            _ => return self.fail(format!("`{word}` is no literal")),
        };
        self.at += length;
        Ok(value)
    }

    fn empty_set(&mut self, length: usize) -> Result<Value, LiteralError> {
        self.at += length;
        self.expect('(')?;
        self.expect(')')?;
        Ok(Value::Set(Vec::new()))
    }

    fn frozen_set(&mut self, length: usize, depth: usize) -> Result<Value, LiteralError> {
        self.at += length;
        self.expect('(')?;
        if self.eat(')') {
            return Ok(Value::FrozenSet(Vec::new()));
        }
        let Value::Set(items) = self.value(depth + 1)? else {
            return self.fail("expected a set inside `frozenset(`");
        };
        self.expect(')')?;
        Ok(Value::FrozenSet(items))
    }

    /// One or more string literals side by side: all text or all bytes.
    fn strings(&mut self) -> Result<Value, LiteralError> {
        let mut value = self.string()?;
        while self.at_string() {
            value = match (value, self.string()?) {
                (Value::Str(a), Value::Str(b)) => Value::Str(a + &b),
                (Value::Bytes(a), Value::Bytes(b)) => Value::Bytes([a, b].concat()),
                _ => return self.fail("cannot join bytes and text"),
            };
        }
        Ok(value)
    }

    fn at_string(&mut self) -> bool {
        self.peek();
        let prefix = self.rest().trim_start_matches(|c: char| "bBrRuU".contains(c));
        self.rest().len() - prefix.len() <= 2 && prefix.starts_with(['\'', '"'])
    }

    fn string(&mut self) -> Result<Value, LiteralError> {
        let quote_at = self.rest().find(['\'', '"']).unwrap_or(0);
        let prefix = self.rest()[..quote_at].to_ascii_lowercase();
        let (raw, bytes) = match prefix.as_str() {
            "" | "u" => (false, false),
            "r" => (true, false),
            "b" => (false, true),
            "br" | "rb" => (true, true),
            _ => return self.fail(format!("`{prefix}` is no string prefix of a literal")),
        };
        self.at += quote_at;
        let body = self.string_body()?;
        let text = if raw { body.to_owned() } else { self.unescape(body, bytes)? };
        if !bytes {
            return Ok(Value::Str(text));
        }
        // Bytes literals are ASCII plus escapes, so every char is below 256 here unless the source was not ASCII.
        let narrow: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
        match narrow {
            Some(bytes) if body.is_ascii() => Ok(Value::Bytes(bytes)),
            _ => self.fail("bytes can only hold ASCII characters"),
        }
    }

    /// The source text between the quotes; moves past the closing quote.
    fn string_body(&mut self) -> Result<&'a str, LiteralError> {
        let rest = self.rest();
        let one = &rest[..1];
        let triple = one.repeat(3);
        let quote = if rest.starts_with(&triple) { triple.as_str() } else { one };
        let body = &rest[quote.len()..];
        let mut at = 0;
        while !body[at..].starts_with(quote) {
            let Some(c) = body[at..].chars().next() else {
                return self.fail("a string without its closing quote");
            };
            if c == '\n' && quote.len() == 1 {
                return self.fail("a line end inside a string");
            }
            at += c.len_utf8();
            if c == '\\' {
                at += body[at..].chars().next().map_or(0, char::len_utf8);
            }
        }
        self.at += 2 * quote.len() + at;
        Ok(&body[..at])
    }

    fn unescape(&self, body: &str, bytes: bool) -> Result<String, LiteralError> {
        let mut out = String::with_capacity(body.len());
        let mut chars = body.chars();
        while let Some(c) = chars.next() {
            if c == '\\' { self.escape(&mut chars, bytes, &mut out)? } else { out.push(c) }
        }
        Ok(out)
    }

    fn escape(&self, chars: &mut std::str::Chars<'_>, bytes: bool, out: &mut String) -> Result<(), LiteralError> {
        let Some(c) = chars.next() else {
            return self.fail("a backslash at the end of a string");
        };
        let plain = match c {
            '\n' => return Ok(()),
            '\\' | '\'' | '"' => c,
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'x' => self.hex(chars, 2)?,
            'u' if !bytes => self.hex(chars, 4)?,
            'U' if !bytes => self.hex(chars, 8)?,
            '0'..='7' => self.octal(c, chars)?,
            'N' if !bytes => return self.fail("named characters `\\N{…}` are not supported"),
            other => {
                out.push('\\');
                other
            }
        };
        out.push(plain);
        Ok(())
    }

    fn hex(&self, chars: &mut std::str::Chars<'_>, digits: usize) -> Result<char, LiteralError> {
        let text: String = chars.take(digits).collect();
        let code = (text.len() == digits && text.chars().all(|c| c.is_ascii_hexdigit()))
            .then(|| u32::from_str_radix(&text, 16).ok())
            .flatten();
        match code.and_then(char::from_u32) {
            Some(c) => Ok(c),
            None => self.fail(format!("`{text}` is no character code")),
        }
    }

    fn octal(&self, first: char, chars: &mut std::str::Chars<'_>) -> Result<char, LiteralError> {
        let mut code = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit) = chars.clone().next().and_then(|c| c.to_digit(8)) else { break };
            code = code * 8 + digit;
            chars.next();
        }
        match char::from_u32(code) {
            Some(c) if code < 256 => Ok(c),
            _ => self.fail(format!("octal escape {code:o} is beyond 377")),
        }
    }
}

fn is_hashable(value: &Value) -> bool {
    match value {
        Value::List(_) | Value::Set(_) | Value::Dict(_) => false,
        Value::Tuple(items) => items.iter().all(is_hashable),
        _ => true,
    }
}

/// Length of the longest prefix that looks like a number, signs only inside an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let radix = bytes.len() > 1 && bytes[0] == b'0' && matches!(bytes[1] | 0x20, b'x' | b'o' | b'b');
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let exponent_sign = !radix && at > 0 && matches!(byte, b'+' | b'-') && bytes[at - 1] | 0x20 == b'e';
        if !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.' || exponent_sign) {
            break;
        }
        at += 1;
    }
    at
}

fn parse_number(text: &str) -> Option<Value> {
    let well_placed = !text.starts_with('_') && !text.ends_with('_') && !text.contains("__");
    let digits = text.replace('_', "").to_ascii_lowercase();
    if !well_placed {
        return None;
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            return unsigned(digits, radix);
        }
    }
    if digits.chars().all(|c| c.is_ascii_digit()) {
        // Python refuses `012`, and so do we; `0`, `00` are zero.
        let padded = digits.len() > 1 && digits.starts_with('0') && digits.trim_matches('0') != "";
        return if padded { None } else { unsigned(&digits, 10) };
    }
    let float_like = digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | '+' | '-'));
    let has_digit = digits.starts_with(|c: char| c.is_ascii_digit()) || digits[1..].starts_with(|c: char| c.is_ascii_digit());
    if float_like && has_digit { digits.parse().ok().map(Value::Float) } else { None }
}

/// An int literal; longer ones than Python's own text limit of 4300 digits are refused, as `int()` does.
fn unsigned(digits: &str, radix: u32) -> Option<Value> {
    if digits.is_empty() || digits.len() > 4300 {
        return None;
    }
    let value = BigInt::from_str_radix(digits, radix).ok()?;
    (!value.is_negative()).then_some(Value::Int(value))
}
