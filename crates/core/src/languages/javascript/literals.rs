//! How JavaScript writes what calls take and return: read strictly, and never evaluated.
//!
//! Literals are `null`, `undefined`, booleans, numbers, BigInts, strings, templates without `${`, arrays and objects, and `new Map([…])`, `new Set([…])`
//! and `new Uint8Array([…])`. A value is as the JavaScript image brings it to the host, where null and undefined are one, as are 5 and 5n, and an
//! object and a Map with the same texts for keys. Arguments that would reach a program as something else are none.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use dashu_int::IBig;

use crate::{EncodeCaps, Literals, MAX_LITERAL_BYTES, Value};

/// `Number.MAX_SAFE_INTEGER`: up to it every whole number is a number of its own.
const MAX_SAFE: i64 = (1 << 53) - 1;

/// The most digits of a BigInt that is read. Reading takes more than linear time.
const MAX_DIGITS: usize = 4_300;

/// The literals of JavaScript, as they cross.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JavaScriptLiterals;

impl Literals for JavaScriptLiterals {
    fn read(&self, text: &str) -> Result<Value, String> {
        let mut reader = Reader::new(text, false)?;
        let value = reader.value()?;
        reader.end().map(|()| value)
    }

    fn read_arguments(&self, text: &str) -> Result<Vec<Value>, String> {
        let mut reader = Reader::new(text, true)?;
        let mut all = Vec::new();
        while reader.end().is_err() {
            all.push(reader.value()?);
            if !reader.take(',') {
                reader.end()?;
            }
        }
        Ok(all)
    }

    fn write(&self, value: &Value) -> String {
        match value {
            Value::None => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(number) if is_safe(number) => number.to_string(),
            Value::Int(number) => format!("{number}n"),
            Value::Float(number) => float_text(*number),
            Value::Str(text) => quoted(text),
            Value::Bytes(bytes) => format!("new Uint8Array({bytes:?})"),
            Value::List(items) | Value::Tuple(items) => array_text(items),
            Value::Set(items) | Value::FrozenSet(items) => format!("new Set({})", array_text(items)),
            Value::Dict(pairs) => dict_text(pairs),
            Value::Object(_) => value.to_string(),
        }
    }

    /// As `assert.deepStrictEqual` has it, but for what is one on the host, and for the signs of zeros.
    fn are_equal(&self, one: &Value, other: &Value) -> bool {
        without_bools(one).python_eq(&without_bools(other))
    }
}

/// The value with tuples, which JavaScript does not have, for booleans: in Python they equal numbers.
fn without_bools(value: &Value) -> Value {
    let all = |items: &[Value]| items.iter().map(without_bools).collect::<Vec<Value>>();
    match value {
        Value::Bool(_) => Value::Tuple(vec![value.clone()]),
        Value::List(items) => Value::List(all(items)),
        Value::Set(items) => Value::Set(all(items)),
        Value::Dict(pairs) => {
            Value::Dict(pairs.iter().map(|(key, value)| (without_bools(key), without_bools(value))).collect())
        }
        _ => value.clone(),
    }
}

fn is_safe(number: &IBig) -> bool {
    (IBig::from(-MAX_SAFE)..=IBig::from(MAX_SAFE)).contains(number)
}

/// A number as the image brings it: an int where it is safe and not -0.
fn number_value(number: f64) -> Value {
    let is_int =
        number.fract() == 0.0 && number.abs() <= MAX_SAFE as f64 && !(number == 0.0 && number.is_sign_negative());
    if is_int { Value::int(number as i64) } else { Value::Float(number) }
}

fn float_text(number: f64) -> String {
    match number.abs() {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY if number > 0.0 => "Infinity".to_owned(),
        f64::INFINITY => "-Infinity".to_owned(),
        size if size >= 1e21 || (size < 1e-6 && size > 0.0) => format!("{number:e}"),
        _ => number.to_string(),
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string has a text in JSON")
}

fn array_text(items: &[Value]) -> String {
    format!("[{}]", JavaScriptLiterals.write_arguments(items))
}

/// An object, or a Map where a key is no text.
fn dict_text(pairs: &[(Value, Value)]) -> String {
    let write = |value: &Value| JavaScriptLiterals.write(value);
    let is_object = are_texts(pairs);
    let texts: Vec<String> = pairs
        .iter()
        .map(|(key, value)| match is_object {
            true => format!("{}: {}", write(key), write(value)),
            false => format!("[{}, {}]", write(key), write(value)),
        })
        .collect();
    let inside = texts.join(", ");
    if is_object { format!("{{{inside}}}") } else { format!("new Map([{inside}])") }
}

fn are_texts(pairs: &[(Value, Value)]) -> bool {
    pairs.iter().all(|(key, _)| matches!(key, Value::Str(_)))
}

type Read<T> = Result<T, String>;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// How many brackets are open.
    depth: usize,
    are_arguments: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, are_arguments: bool) -> Read<Self> {
        match text.len() > MAX_LITERAL_BYTES {
            true => Err(format!("the text has {} bytes, and at most {MAX_LITERAL_BYTES} are read", text.len())),
            false => Ok(Self { text, at: 0, depth: 0, are_arguments }),
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn fail<T>(&self, what: &str) -> Read<T> {
        Err(format!("at byte {}: {what}", self.at))
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes a sign where it comes next.
    fn take(&mut self, sign: char) -> bool {
        self.skip_space();
        let is_next = self.rest().starts_with(sign);
        self.at += if is_next { sign.len_utf8() } else { 0 };
        is_next
    }

    fn want(&mut self, sign: char) -> Read<()> {
        if self.take(sign) { Ok(()) } else { self.fail(&format!("`{sign}` is missing")) }
    }

    fn end(&mut self) -> Read<()> {
        self.skip_space();
        if self.rest().is_empty() { Ok(()) } else { self.fail("the literal ends, and more follows") }
    }

    fn word(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn value(&mut self) -> Read<Value> {
        self.skip_space();
        match self.rest().chars().next() {
            Some('[') => self.array().map(Value::List),
            Some('{') => self.object(),
            Some('"' | '\'' | '`') => self.string().map(Value::Str),
            Some('-') => {
                self.at += 1;
                self.number(true)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(false),
            _ => self.named(),
        }
    }

    fn named(&mut self) -> Read<Value> {
        let begin = self.at;
        Ok(match self.word() {
            "null" => Value::None,
            "undefined" if self.are_arguments => return self.fail("`undefined` reaches a program as null"),
            "undefined" => Value::None,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "NaN" => Value::Float(f64::NAN),
            "Infinity" => Value::Float(f64::INFINITY),
            "new" => return self.collection(),
            _ => {
                self.at = begin;
                return self.fail("no literal begins here");
            }
        })
    }

    fn number(&mut self, is_negative: bool) -> Read<Value> {
        self.skip_space();
        let text = number_text(self.rest());
        let is_decimal = |text: &str| text == "0" || (!text.starts_with('0') && is_digits(text, 10));
        let size = match text.strip_suffix('n') {
            Some(digits) if is_decimal(digits) => return self.big_int(text, digits, is_negative),
            _ if text == "Infinity" => Some(f64::INFINITY),
            _ => number_of(text),
        };
        let Some(size) = size else { return self.fail("it is no number") };
        self.at += text.len();
        Ok(number_value(if is_negative { -size } else { size }))
    }

    fn big_int(&mut self, text: &str, digits: &str, is_negative: bool) -> Read<Value> {
        let sign = if is_negative { "-" } else { "" };
        let number = (digits.len() <= MAX_DIGITS).then(|| Value::parse_int(&format!("{sign}{digits}"))).flatten();
        match number {
            Some(Value::Int(number)) if self.are_arguments && is_safe(&number) => {
                self.fail("a BigInt of this size reaches a program as a number")
            }
            Some(number) => {
                self.at += text.len();
                Ok(number)
            }
            None => self.fail("the BigInt has too many digits"),
        }
    }

    fn string(&mut self) -> Read<String> {
        let quote = self.next_char()?;
        // UTF-16, as JavaScript has it: an escape may be half of a character.
        let mut units = Vec::new();
        loop {
            match self.next_char()? {
                c if c == quote => break,
                '\n' | '\r' if quote != '`' => return self.fail("a string ends with its line"),
                '$' if quote == '`' && self.rest().starts_with('{') => return self.fail("a template computes"),
                '\\' => self.escape(&mut units)?,
                c => push(&mut units, c),
            }
        }
        String::from_utf16(&units).or_else(|_| self.fail("half of a surrogate pair does not cross"))
    }

    fn next_char(&mut self) -> Read<char> {
        let Some(next) = self.rest().chars().next() else { return self.fail("a string does not end") };
        self.at += next.len_utf8();
        Ok(next)
    }

    fn escape(&mut self, units: &mut Vec<u16>) -> Read<()> {
        let c = match self.next_char()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => {
                units.push(self.hex(2)?);
                return Ok(());
            }
            'u' if self.rest().starts_with('{') => return self.code_point(units),
            'u' => {
                units.push(self.hex(4)?);
                return Ok(());
            }
            '0' if !self.rest().starts_with(|c: char| c.is_ascii_digit()) => '\0',
            '0'..='9' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => return self.fail("it is no escape"),
            c => c,
        };
        push(units, c);
        Ok(())
    }

    fn hex(&mut self, count: usize) -> Read<u16> {
        let digits = self.rest().get(..count).filter(|digits| is_digits(digits, 16));
        match digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            Some(unit) => {
                self.at += count;
                Ok(unit)
            }
            None => self.fail("the escape has too few digits"),
        }
    }

    /// Reads the rest of an escape such as `\u{1f600}`.
    fn code_point(&mut self, units: &mut Vec<u16>) -> Read<()> {
        let digits = self.rest()[1..].split('}').next().filter(|digits| is_digits(digits, 16));
        let c = digits.and_then(|digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?));
        let (Some(digits), Some(c)) = (digits, c) else { return self.fail("it is no character") };
        push(units, c);
        self.at += digits.len() + 1;
        if self.rest().starts_with('}') {
            self.at += 1;
            return Ok(());
        }
        self.fail("`}` is missing")
    }

    fn open(&mut self, bracket: char) -> Read<()> {
        self.want(bracket)?;
        self.depth += 1;
        if self.depth > EncodeCaps::DEPTH { self.fail("it nests too deep") } else { Ok(()) }
    }

    fn array(&mut self) -> Read<Vec<Value>> {
        self.open('[')?;
        let mut items = Vec::new();
        while !self.take(']') {
            items.push(self.value()?);
            if !self.take(',') {
                self.want(']')?;
                break;
            }
        }
        self.depth -= 1;
        Ok(items)
    }

    fn object(&mut self) -> Read<Value> {
        self.open('{')?;
        let mut entries = Entries::default();
        while !self.take('}') {
            let key = self.key()?;
            self.want(':')?;
            let value = self.value()?;
            entries.put(Value::Str(key), value).or_else(|what| self.fail(what))?;
            if !self.take(',') {
                self.want('}')?;
                break;
            }
        }
        self.depth -= 1;
        Ok(Value::Dict(entries.pairs))
    }

    fn key(&mut self) -> Read<String> {
        self.skip_space();
        let key = match self.rest().chars().next() {
            Some('"' | '\'') => self.string()?,
            Some(c) if c.is_ascii_digit() => match self.number(false)? {
                Value::Int(number) if is_safe(&number) => number.to_string(),
                _ => return self.fail("write this key as a string"),
            },
            _ => self.word().to_owned(),
        };
        match key.as_str() {
            "__proto__" => self.fail("`__proto__` is no key"),
            "" if !self.text[..self.at].ends_with(['"', '\'']) => self.fail("a key is missing"),
            _ => Ok(key),
        }
    }

    /// Reads what follows the word `new`.
    fn collection(&mut self) -> Read<Value> {
        let class = self.word();
        self.want('(')?;
        let mut items = Vec::new();
        if !self.take(')') {
            items = self.array()?;
            self.want(')')?;
        }
        match class {
            "Map" => self.map(items),
            "Set" if self.are_arguments => self.fail("a Set reaches a program in another order: pass an array"),
            "Set" => {
                let mut entries = Entries::default();
                for item in items {
                    entries.put(item, Value::None).or_else(|what| self.fail(what))?;
                }
                Ok(Value::set_of(entries.pairs.into_iter().map(|(key, _)| key).collect(), false))
            }
            "Uint8Array" => {
                let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
                bytes.map_or_else(|| self.fail("an item is no byte"), |bytes| Ok(Value::Bytes(bytes)))
            }
            _ => self.fail("only `Map`, `Set` and `Uint8Array` are made by `new`"),
        }
    }

    fn map(&self, items: Vec<Value>) -> Read<Value> {
        let mut entries = Entries::default();
        for item in items {
            let pair = if let Value::List(pair) = item { pair } else { Vec::new() };
            let Ok([key, value]) = <[Value; 2]>::try_from(pair) else {
                return self.fail("an entry of a Map is no array of two");
            };
            entries.put(key, value).or_else(|what| self.fail(what))?;
        }
        match self.are_arguments && are_texts(&entries.pairs) {
            true => self.fail("a Map whose keys are all strings reaches a program as an object"),
            false => Ok(Value::Dict(entries.pairs)),
        }
    }
}

fn push(units: &mut Vec<u16>, c: char) {
    units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
}

fn is_digits(text: &str, radix: u32) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_digit(radix))
}

/// What a text begins with that looks like a number, with a sign in the exponent alone.
fn number_text(text: &str) -> &str {
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        let is_sign = matches!(c, '+' | '-') && matches!(last, 'e' | 'E');
        if !(c.is_ascii_alphanumeric() || c == '.' || is_sign) {
            return &text[..at];
        }
        last = c;
    }
    text
}

/// The number that a text writes in decimal or, below 2⁵³, with a prefix.
fn number_of(text: &str) -> Option<f64> {
    for (prefixes, radix) in [(["0x", "0X"], 16), (["0o", "0O"], 8), (["0b", "0B"], 2)] {
        if let Some(digits) = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix)) {
            let number = is_digits(digits, radix).then(|| i64::from_str_radix(digits, radix).ok()).flatten();
            return number.filter(|number| *number <= MAX_SAFE).map(|number| number as f64);
        }
    }
    let mut bytes = text.bytes();
    let is_padded = bytes.next() == Some(b'0') && bytes.next().is_some_and(|byte| byte.is_ascii_digit());
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || ".eE+-".contains(c));
    if is_plain && !is_padded { text.parse().ok() } else { None }
}

fn byte(item: &Value) -> Option<u8> {
    if let Value::Int(number) = item { number.to_string().parse().ok() } else { None }
}

/// The entries of an object or a Map, or the members of a Set.
#[derive(Default)]
struct Entries {
    pairs: Vec<(Value, Value)>,
    places: HashMap<Vec<u8>, usize>,
}

impl Entries {
    /// Adds an entry, or replaces the value of the key.
    fn put(&mut self, key: Value, value: Value) -> Result<(), &'static str> {
        let key = match key {
            Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Bytes(_) => {
                return Err("keys and members that are objects do not cross");
            }
            Value::Float(0.0) => Value::int(0),
            key => key,
        };
        match self.places.entry(key.python_key()) {
            Entry::Vacant(free) => {
                free.insert(self.pairs.len());
                self.pairs.push((key, value));
            }
            Entry::Occupied(place) => {
                let (own, old) = &mut self.pairs[*place.get()];
                if !JavaScriptLiterals.are_equal(own, &key) {
                    return Err("a boolean and the number that it converts to do not cross together");
                }
                *old = value;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Value {
        JavaScriptLiterals.read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn literals_are_read_as_the_image_brings_them_and_written_back() {
        for (text, python, written) in [
            (" null ", "None", "null"),
            ("undefined", "None", "null"),
            ("true", "True", "true"),
            ("3.0", "3", "3"),
            ("-0", "-0.0", "-0"),
            ("- 1.5e-7", "-1.5e-07", "-1.5e-7"),
            ("0x1F", "31", "31"),
            (".5", "0.5", "0.5"),
            ("1e21", "1e+21", "1e21"),
            ("9007199254740993", "9007199254740992.0", "9007199254740992"),
            ("9007199254740993n", "9007199254740993", "9007199254740993n"),
            ("5n", "5", "5"),
            ("-Infinity", "-inf", "-Infinity"),
            ("NaN", "nan", "NaN"),
            (
                r#"'it\'s\u00e9\x41\u{1F600}\uD83D\uDE00'"#,
                "\"it's\u{e9}A\u{1f600}\u{1f600}\"",
                "\"it's\u{e9}A\u{1f600}\u{1f600}\"",
            ),
            ("`a\n$b`", r"'a\n$b'", r#""a\n$b""#),
            ("[1, [], 'a',]", "[1, [], 'a']", r#"[1, [], "a"]"#),
            ("{a: 1, 'b c': [2], 3: {}, a: 4,}", "{'a': 4, 'b c': [2], '3': {}}", r#"{"a": 4, "b c": [2], "3": {}}"#),
            ("{'': 1}", "{'': 1}", r#"{"": 1}"#),
            ("new Map([[1, 'a'], [2.5, null]])", "{1: 'a', 2.5: None}", r#"new Map([[1, "a"], [2.5, null]])"#),
            ("new Map([['a', 1]])", "{'a': 1}", r#"{"a": 1}"#),
            ("new Set([2, 1, 2])", "{1, 2}", "new Set([1, 2])"),
            ("new Set()", "set()", "new Set([])"),
            ("new Uint8Array([1, 255])", r"b'\x01\xff'", "new Uint8Array([1, 255])"),
        ] {
            let value = read(text);
            assert_eq!(value, Value::parse_repr(python).unwrap(), "{text}");
            assert_eq!(JavaScriptLiterals.write(&value), written);
            assert_eq!(read(written), value, "{written}");
        }
    }

    #[test]
    fn what_is_computed_or_does_not_cross_is_no_literal() {
        for text in [
            "", "1 + 1", "f(1)", "x", "'a", "'a\nb'", "`${1}`", "'\\1'", "'\\uD83D'", "'\\u12'", "[1", "[,1]",
            "[1,,2]", "'\\\u{2028}'", "{a}", "{a: 1", "{: 1}", "{__proto__: null}", "{'__proto__': 1}", "01", "1_000",
            "1.2.3", "0xg", "1e", "-'a'", "--1", "+1", "new Date(0)", "new Map([1])", "new Set([[1]])",
            "new Set([1, true])", "new Uint8Array([256])", "new Uint8Array([-1])", "(1)", "1;", "None", "/a/", "01n",
            "1, 2",
        ] {
            assert!(JavaScriptLiterals.read(text).is_err(), "{text}");
        }
        let nested = |depth: usize| JavaScriptLiterals.read(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        assert!(nested(EncodeCaps::DEPTH).is_ok() && nested(EncodeCaps::DEPTH + 1).is_err());
        assert!(JavaScriptLiterals.read(&" ".repeat(MAX_LITERAL_BYTES + 1)).unwrap_err().contains("bytes"));
    }

    #[test]
    fn arguments_reach_a_program_as_they_are_written() {
        let arguments =
            JavaScriptLiterals.read_arguments("[1, 2], 'a', {b: null}, new Map([[1, 2]]), 9007199254740993n").unwrap();
        let text = JavaScriptLiterals.write_arguments(&arguments);
        assert_eq!(text, r#"[1, 2], "a", {"b": null}, new Map([[1, 2]]), 9007199254740993n"#);
        assert_eq!(JavaScriptLiterals.read_arguments("1,"), Ok(vec![Value::int(1)]));
        for text in
            ["undefined", "5n", "[new Map()]", "new Map([['a', 1]])", "new Set([1])", "1 2", ",", "a = 1", "...[1]"]
        {
            assert!(JavaScriptLiterals.read_arguments(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_equal_by_type() {
        for (one, other, are_equal) in [
            ("1", "1.0", true),
            ("0", "-0", true),
            ("NaN", "NaN", true),
            ("null", "undefined", true),
            ("{a: 1, b: 2}", "{b: 2, a: 1}", true),
            ("new Set([1, 'a'])", "new Set(['a', 1])", true),
            ("new Map([[true, 1]])", "new Map([[true, 1]])", true),
            ("1", "true", false),
            ("[0]", "[false]", false),
            ("{a: 1}", "{a: true}", false),
            ("new Map([[true, 1]])", "new Map([[1, 1]])", false),
            ("new Set([true])", "new Set([1])", false),
            ("1", "'1'", false),
            ("null", "false", false),
            ("[1, 2]", "new Set([1, 2])", false),
            ("[1, 2]", "[2, 1]", false),
        ] {
            assert_eq!(JavaScriptLiterals.are_equal(&read(one), &read(other)), are_equal, "{one} {other}");
        }
    }
}
