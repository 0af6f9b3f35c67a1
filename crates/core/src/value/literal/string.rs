//! String and bytes literals: prefixes, quotes, escapes. No f-strings, no named characters.

use super::super::Value;
use super::{LiteralError, Parser, excerpt};

impl<'a> Parser<'a> {
    /// One or more string literals side by side: all text or all bytes.
    pub(super) fn strings(&mut self) -> Result<Value, LiteralError> {
        let mut value = self.string()?;
        while self.at_string() {
            value = match (value, self.string()?) {
                (Value::Str(a), Value::Str(b)) => Value::Str(a + &b),
                (Value::Bytes(mut a), Value::Bytes(b)) => {
                    a.extend(b);
                    Value::Bytes(a)
                }
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
            _ => return self.fail(format!("`{}` is no string prefix of a literal", excerpt(&prefix))),
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
            if matches!(c, '\r' | '\0') {
                // Python reads a carriage return in source as a line end, so the value would not be what is written.
                return self.fail("a raw carriage return or NUL inside a string; write `\\r` or `\\0`");
            }
            at += c.len_utf8();
            if c == '\\' {
                at += body[at..].chars().next().filter(|next| !matches!(next, '\r' | '\0')).map_or(0, char::len_utf8);
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
