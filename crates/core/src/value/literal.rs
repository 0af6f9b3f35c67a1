//! Parses Python literals, so that a model's text becomes values without evaluation.
//!
//! There are two syntaxes. *Literal* is the syntax of `ast.literal_eval`: numbers (not complex), strings, bytes, None, True, False, signs,
//! tuples, lists, sets, dicts, `set()`. *Repr* adds the syntax that `repr` writes for values without a
//! literal: `inf`, `nan`, `frozenset(…)`, complex numbers and the calls of [`calls`]; stored records use it.

mod calls;
mod number;
mod string;

use std::collections::HashMap;

use super::{EncodeCaps, PythonClass, Value};

/// The most bytes of a text that is parsed. The text is a model's, and parsing it costs no fuel. A job may write as much by default. Stored
/// records, which are ours, have no such limit.
pub const MAX_LITERAL_BYTES: usize = 1 << 20;

/// The most nested containers, as in the encoding.
const MAX_DEPTH: usize = EncodeCaps::DEPTH;

/// The most nested brackets. An object's state may nest less deep than its text.
const MAX_BRACKETS: usize = 3 * MAX_DEPTH;

/// White space. The last two characters end a line.
const SPACE: &[char] = &[' ', '\t', '\x0c', '\n', '\r'];

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
    /// Parses a Python literal of at most [`MAX_LITERAL_BYTES`]. White space may surround it. Names, calls and operators are never evaluated.
    pub fn parse_literal(text: &str) -> Result<Value, LiteralError> {
        check_length(text)?;
        Parser::new(text, false).parse_whole()
    }

    /// Parses the `repr` of a value, as [`Value`]'s `Display` writes it, of at most [`MAX_LITERAL_BYTES`].
    pub fn parse_repr(text: &str) -> Result<Value, LiteralError> {
        check_length(text)?;
        Self::parse_record(text)
    }

    /// Parses the `repr` of a value in a record, of any length.
    pub(super) fn parse_record(text: &str) -> Result<Value, LiteralError> {
        Parser::new(text, true).parse_whole()
    }

    /// Parses a comma-separated list of literals as positional arguments, such as `[1, 2], 'a'`. An empty text is an empty list. Keyword and starred
    /// arguments are invalid.
    pub fn parse_arguments(text: &str) -> Result<Vec<Value>, LiteralError> {
        check_length(text)?;
        Parser::new(text, false).arguments()
    }

    /// Writes an argument list as in a call, without the brackets: literals, except `nan` and `frozenset(…)`, which have none.
    pub fn arguments_text(arguments: &[Value]) -> String {
        let texts: Vec<String> = arguments.iter().map(|argument| format!("{argument:#}")).collect();
        texts.join(", ")
    }
}

/// Checks the length of a text before it is parsed.
fn check_length(text: &str) -> Result<(), LiteralError> {
    if text.len() <= MAX_LITERAL_BYTES {
        return Ok(());
    }
    let what = format!("the text has {} bytes, and at most {MAX_LITERAL_BYTES} are read", text.len());
    Err(LiteralError { at: MAX_LITERAL_BYTES, what })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Number of open brackets. Inside brackets a line end is white space; outside it ends the literal.
    open: usize,
    repr: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, repr: bool) -> Self {
        Self { text, at: 0, open: 0, repr }
    }

    fn parse_whole(mut self) -> Result<Value, LiteralError> {
        self.at = self.text.len() - self.text.trim_start_matches(SPACE).len();
        let value = self.value_of_allowed_depth()?;
        self.end()?;
        Ok(value)
    }

    fn arguments(mut self) -> Result<Vec<Value>, LiteralError> {
        let mut arguments = Vec::new();
        // The text is parsed as inside the brackets of a call.
        self.open = 1;
        while self.peek().is_some() {
            arguments.push(self.value_of_allowed_depth()?);
            if !self.eat(',') {
                break;
            }
        }
        self.end()?;
        Ok(arguments)
    }

    /// Parses a value that nests no deeper than the encoding allows.
    fn value_of_allowed_depth(&mut self) -> Result<Value, LiteralError> {
        let value = self.value(0)?;
        if value.depth() > MAX_DEPTH { self.fail(format!("nested deeper than {MAX_DEPTH}")) } else { Ok(value) }
    }

    fn end(&mut self) -> Result<(), LiteralError> {
        self.open = 1;
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
        let space = if self.open > 0 { SPACE } else { &SPACE[..3] };
        let rest = self.rest();
        // Byte by byte, because this runs three times for each of up to half a million items.
        let blank = rest.bytes().take_while(|byte| space.contains(&char::from(*byte))).count();
        self.at += blank;
        match rest.as_bytes().get(blank) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            _ => rest[blank..].chars().next(),
        }
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
        if depth > MAX_BRACKETS {
            return self.fail(format!("nested deeper than {MAX_DEPTH}"));
        }
        let next = self.peek();
        if let Some((value, length)) = self.complex(false) {
            self.at += length;
            return Ok(value);
        }
        match next {
            None => self.fail("expected a literal, found the end"),
            Some('+' | '-') => self.signed(),
            Some('0'..='9' | '.') => self.number(),
            Some('[') => self.list(depth),
            Some('(') => self.tuple(depth),
            Some('{') => self.braces(depth),
            Some('\'' | '"') => self.strings(),
            Some(c) if c.is_alphabetic() || c == '_' => self.word(depth),
            Some(c) => self.fail(format!("unexpected `{c}`")),
        }
    }

    fn complex(&self, bare: bool) -> Option<(Value, usize)> {
        self.repr.then(|| calls::complex_at(self.rest(), bare)).flatten()
    }

    /// Parses one sign and one number, which may be in brackets. `--1` and `-(-1)` are expressions, not literals.
    fn signed(&mut self) -> Result<Value, LiteralError> {
        let minus = self.eat('-');
        if !minus {
            self.expect('+')?;
        }
        let outer = self.open;
        while self.eat('(') {
            self.open += 1;
        }
        let operand = self.unsigned()?;
        while self.open > outer {
            self.expect(')')?;
            self.open -= 1;
        }
        Ok(match operand {
            Value::Int(value) if minus => Value::Int(-value),
            Value::Float(value) if minus => Value::Float(-value),
            other => other,
        })
    }

    fn unsigned(&mut self) -> Result<Value, LiteralError> {
        match self.peek() {
            Some('0'..='9' | '.') => self.number(),
            Some('i') if self.repr && self.rest().starts_with("inf") => self.word(0),
            _ => self.fail("a sign before something that is no number"),
        }
    }

    fn number(&mut self) -> Result<Value, LiteralError> {
        let text = &self.rest()[..number::length(self.rest())];
        match number::parse(text, self.repr) {
            Some(value) => {
                self.at += text.len();
                Ok(value)
            }
            None => self.fail(format!("`{}` is no number", excerpt(text))),
        }
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

    /// Parses items up to `close`; returns them and whether a comma followed the last one.
    fn items(&mut self, close: char, depth: usize) -> Result<(Vec<Value>, bool), LiteralError> {
        let mut items = Vec::new();
        let mut comma = false;
        self.open += 1;
        while !self.eat(close) {
            if !items.is_empty() && !comma {
                return self.fail(format!("expected `,` or `{close}`"));
            }
            items.push(self.value(depth + 1)?);
            comma = self.eat(',');
        }
        self.open -= 1;
        Ok((items, comma))
    }

    fn braces(&mut self, depth: usize) -> Result<Value, LiteralError> {
        self.expect('{')?;
        self.open += 1;
        let value = if self.eat('}') { Value::Dict(Vec::new()) } else { self.members(depth)? };
        self.open -= 1;
        Ok(value)
    }

    fn members(&mut self, depth: usize) -> Result<Value, LiteralError> {
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
        let mut places = HashMap::from([(first.python_key(), 0)]);
        let mut pairs = vec![(first, self.value(depth + 1)?)];
        while !self.eat('}') {
            self.expect(',')?;
            if self.peek() != Some('}') {
                let key = self.hashable(depth)?;
                self.expect(':')?;
                let value = self.value(depth + 1)?;
                // A repeated key keeps its place and its first spelling and takes the later value, as in Python.
                let place = *places.entry(key.python_key()).or_insert(pairs.len());
                match pairs.get_mut(place) {
                    Some(pair) => pair.1 = value,
                    None => pairs.push((key, value)),
                }
            }
        }
        Ok(Value::Dict(pairs))
    }

    fn hashable(&mut self, depth: usize) -> Result<Value, LiteralError> {
        let value = self.value(depth + 1)?;
        if value.is_hashable() { Ok(value) } else { self.fail(format!("a {} cannot be hashed", value.type_name())) }
    }

    /// Parses a name: a constant, a string prefix, or a call that stands for a value.
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
            _ if self.repr => return self.object(depth),
            _ => return self.fail(format!("`{}` is no literal", excerpt(word))),
        };
        self.at += length;
        Ok(value)
    }

    /// Parses an object: a dotted name, and its call unless it is a constant.
    fn object(&mut self, depth: usize) -> Result<Value, LiteralError> {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
        let name = &rest[..length];
        if let Some(constant) = calls::constant(name) {
            self.at += length;
            return Ok(constant);
        }
        if PythonClass::from_call(name).is_none() {
            return self.fail(format!("`{}` is no literal", excerpt(name)));
        }
        self.at += length;
        let arguments = self.call(name, depth)?;
        match calls::object(name, arguments) {
            Some(value) => Ok(value),
            None => self.fail(format!("`{name}` has no such arguments")),
        }
    }

    fn call(&mut self, name: &str, depth: usize) -> Result<calls::Arguments, LiteralError> {
        let mut arguments = calls::Arguments::default();
        self.expect('(')?;
        self.open += 1;
        while !self.eat(')') {
            match self.keyword() {
                Some(keyword) => arguments.named.push((keyword, self.value(depth + 1)?)),
                None => arguments.plain.push(self.argument(name, depth + 1)?),
            }
            if !self.eat(',') && self.peek() != Some(')') {
                return self.fail("expected `,` or `)`");
            }
        }
        self.open -= 1;
        Ok(arguments)
    }

    /// Parses the `name=` of a keyword argument, if there is one.
    fn keyword(&mut self) -> Option<String> {
        self.peek();
        let rest = self.rest();
        let (name, value) = rest.split_at(rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len()));
        let found = !name.is_empty() && value.starts_with('=');
        self.at += if found { name.len() + 1 } else { 0 };
        found.then(|| name.to_owned())
    }

    /// Parses an argument. Two kinds are valid only here: the factory of a `defaultdict`, and numpy's complex numbers without brackets.
    fn argument(&mut self, name: &str, depth: usize) -> Result<Value, LiteralError> {
        self.peek();
        if let Some(rest) = self.rest().strip_prefix("<class '") {
            let factory =
                rest.split_once("'>").and_then(|(factory, _)| Some((calls::factory(factory)?, factory.len())));
            let Some((factory, length)) = factory else { return self.fail("expected the class of a built-in type") };
            self.at += "<class ''>".len() + length;
            return Ok(factory);
        }
        match self.complex(name.starts_with("np.complex")) {
            Some((value, length)) => {
                self.at += length;
                Ok(value)
            }
            None => self.value(depth),
        }
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
        self.open += 1;
        self.peek();
        // The brackets of the call are not a value, so the set has the depth of the frozenset.
        let Value::Set(items) = self.braces(depth)? else {
            return self.fail("expected a set inside `frozenset(`");
        };
        self.expect(')')?;
        self.open -= 1;
        Ok(Value::FrozenSet(items))
    }
}

/// The start of a text for an error message: the text comes from a model and may be long.
fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}
