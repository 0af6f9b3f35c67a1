//! Turns a byte offset of the grammar file into an error with file, line, column and key.

use std::ops::Range;

use crate::CorpusError;

/// The text being read and its name.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) origin: &'a str,
}

impl Source<'_> {
    /// An error about `key`, whose value stands at `span`.
    pub(crate) fn error(&self, span: &Range<usize>, key: &str, problem: impl Into<String>, hint: &str) -> CorpusError {
        let (line, column) = position(self.text, span.start);
        CorpusError::Grammar {
            origin: self.origin.to_owned(),
            line,
            column,
            key: key.to_owned(),
            problem: problem.into(),
            hint: hint.to_owned(),
        }
    }

    /// The reader's own error: bad syntax, a wrong type, an unknown or missing key.
    pub(crate) fn syntax(&self, mut error: toml::de::Error) -> CorpusError {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().replace('\n', "; ");
        // Without its input the error shows the dotted path of the key instead of an excerpt.
        error.set_input(None);
        let shown = error.to_string();
        let path = shown.lines().find_map(|line| line.strip_prefix("in `")?.strip_suffix('`').map(str::to_owned));
        let key = path.unwrap_or_else(|| key_on_line(self.text, span.start));
        self.error(&span, &key, message, "compare with task-corpus/tiny/grammar.toml, which shows every key")
    }
}

/// Line and column (in characters) of byte `at`, both from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// What stands before `=` on the line of byte `at`.
fn key_on_line(text: &str, at: usize) -> String {
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    line.split('=').next().unwrap_or_default().trim().to_owned()
}
