//! The lines of a text, with where they stand in it.

/// A line without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// Where the next line begins.
    pub(super) next: usize,
}

/// The lines of a text, ended by a newline, with or without a carriage return before it, or by the text's end.
pub(super) fn lines_of(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split_inclusive('\n').scan(0, |at, whole| {
        let start = *at;
        *at += whole.len();
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        let line = line.strip_suffix('\r').unwrap_or(line);
        Some(Line { text: line, start, next: *at })
    })
}
