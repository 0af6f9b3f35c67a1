//! The tokens of a program with C's comments and strings. This is a scanner: of a text in another syntax, such as a raw string or a regular
//! expression, it still gives tokens, which only identify that text.

/// The tokens of a program: words, texts in quotation marks, other signs one by one, and ends of lines, of which several are one. Comments and
/// other white space are left out.
pub(super) fn read(program: &str) -> impl Iterator<Item = &str> {
    read_with_offsets(program).map(|(_, token)| token)
}

/// The tokens, each with the bytes before it.
pub(super) fn read_with_offsets(program: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut rest, mut is_line_begun) = (program, false);
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            let at = program.len() - rest.len();
            let (token, behind) = rest.split_at(end(rest, first));
            rest = behind;
            let is_comment = token.starts_with("//") || token.starts_with("/*");
            match first {
                '\n' if std::mem::take(&mut is_line_begun) => return Some((at, token)),
                _ if first.is_whitespace() || is_comment => {}
                _ => {
                    is_line_begun = true;
                    return Some((at, token));
                }
            }
        }
    })
}

/// Bytes of the token, the comment or the blank with which a text begins.
fn end(text: &str, first: char) -> usize {
    match first {
        '/' if text.starts_with("//") => text.find('\n').unwrap_or(text.len()),
        '/' if text.starts_with("/*") => text[2..].find("*/").map_or(text.len(), |at| at + 4),
        '"' | '\'' | '`' => string_end(text, first),
        _ if is_of_word(first) => text.find(|c| !is_of_word(c)).unwrap_or(text.len()),
        _ => first.len_utf8(),
    }
}

/// Bytes of the string with which a text begins. One that is not closed in its line ends there, but for a template.
fn string_end(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if quote != '`' => return at,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

pub(super) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_$#".contains(c)
}
