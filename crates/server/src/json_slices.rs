//! Cuts JSON into the texts of its members, without reading them: the row of a task must reach its parser unchanged, because the order of
//! keys may matter and Python writes `NaN`.
//!
//! What is cut out is not checked; whoever reads it does. Any bytes give slices or an error.

/// The text is no array, or no object, at its outermost level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub(crate) struct SliceError {
    what: &'static str,
    at: usize,
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

pub(crate) fn array_items(text: &str) -> Result<Vec<&str>, SliceError> {
    let mut cursor = Cursor { text, at: 0 };
    let mut items = Vec::new();
    cursor.expect(b'[', "expected an array")?;
    if !cursor.closes(b']') {
        loop {
            items.push(cursor.value()?);
            if cursor.ends(b']', "expected `,` or `]`")? {
                break;
            }
        }
    }
    cursor.finish()?;
    Ok(items)
}

/// The members of an object, each with its key as it is written, quotes included.
pub(crate) fn object_members(text: &str) -> Result<Vec<(&str, &str)>, SliceError> {
    let mut cursor = Cursor { text, at: 0 };
    let mut members = Vec::new();
    cursor.expect(b'{', "expected an object")?;
    if !cursor.closes(b'}') {
        loop {
            cursor.skip_blanks();
            if cursor.peek() != Some(b'"') {
                return Err(cursor.error("expected a key"));
            }
            let key = cursor.value()?;
            cursor.expect(b':', "expected `:`")?;
            members.push((key, cursor.value()?));
            if cursor.ends(b'}', "expected `,` or `}`")? {
                break;
            }
        }
    }
    cursor.finish()?;
    Ok(members)
}

impl<'a> Cursor<'a> {
    fn error(&self, what: &'static str) -> SliceError {
        SliceError { what, at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), SliceError> {
        self.skip_blanks();
        if self.peek() != Some(byte) {
            return Err(self.error(what));
        }
        self.at += 1;
        Ok(())
    }

    /// Whether the container ends here, before its first member.
    fn closes(&mut self, close: u8) -> bool {
        self.expect(close, "").is_ok()
    }

    /// Passes a comma, or the end of the container.
    fn ends(&mut self, close: u8, what: &'static str) -> Result<bool, SliceError> {
        self.skip_blanks();
        let found = self.peek();
        if found != Some(b',') && found != Some(close) {
            return Err(self.error(what));
        }
        self.at += 1;
        Ok(found == Some(close))
    }

    fn finish(&mut self) -> Result<(), SliceError> {
        self.skip_blanks();
        if self.at == self.text.len() { Ok(()) } else { Err(self.error("text follows the end")) }
    }

    fn value(&mut self) -> Result<&'a str, SliceError> {
        self.skip_blanks();
        let start = self.at;
        match self.peek() {
            Some(b'"') => self.skip_string()?,
            Some(b'[' | b'{') => self.skip_container()?,
            Some(_) => self.skip_word(),
            None => {}
        }
        if self.at == start { Err(self.error("expected a value")) } else { Ok(&self.text[start..self.at]) }
    }

    fn skip_string(&mut self) -> Result<(), SliceError> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => return Ok(()),
                // What is escaped is one byte, or begins with one.
                b'\\' if self.at < bytes.len() && self.text.is_char_boundary(self.at + 1) => self.at += 1,
                _ => {}
            }
        }
        Err(self.error("a string does not end"))
    }

    fn skip_container(&mut self) -> Result<(), SliceError> {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        Err(self.error("an array or object does not end"))
    }

    /// A number, `true`, `false`, `null`, or what Python writes in addition to them.
    fn skip_word(&mut self) {
        while let Some(byte) = self.peek() {
            if !(byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
                return;
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_cut_and_left_as_they_are() {
        let text = r#" {"a" : [1, {"b]": "}\"\\"}] ,"b":NaN,"é\u0041": "x, y" } "#;
        let members = object_members(text).expect("an object");
        assert_eq!(members, [(r#""a""#, r#"[1, {"b]": "}\"\\"}]"#), (r#""b""#, "NaN"), (r#""é\u0041""#, r#""x, y""#)]);
        assert_eq!(array_items(members[0].1), Ok(vec!["1", r#"{"b]": "}\"\\"}"#]));
        assert_eq!((array_items("[]"), object_members(" { }")), (Ok(vec![]), Ok(vec![])));
    }

    #[test]
    fn what_is_no_container_is_an_error() {
        for text in ["", "1", "{}", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1] x", "[\"a]", "[[1]", "[\"\\"] {
            assert!(array_items(text).is_err(), "{text}");
        }
        for text in ["[]", "{", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{1:2}"] {
            assert!(object_members(text).is_err(), "{text}");
        }
    }

    #[test]
    fn any_cut_of_a_text_is_an_error_and_no_panic() {
        let text = r#"[{"é": "\é\\"}, [["]"], {}], -1.5e3, "\u00e9"]"#;
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert!(array_items(&text[..end]).is_err(), "{}", &text[..end]);
        }
        assert_eq!(array_items(text).map(|items| items.len()), Ok(4));
    }
}
