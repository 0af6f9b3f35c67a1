//! Which lines of a program stand in strings of three quotes.

/// Where a program is behind its lines so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct QuoteState {
    /// The quotation mark whose three end the string that is open.
    open: Option<char>,
}

impl QuoteState {
    /// Reads a line.
    pub(super) fn read_line(&mut self, line: &str) {
        *self = self.after(line).0;
    }

    /// Whether a string of three quotes is open.
    pub(super) const fn is_inside(self) -> bool {
        self.open.is_some()
    }

    /// Whether what follows `before`, in the same line, is text of a string or of a comment.
    pub(super) fn hides(self, before: &str) -> bool {
        let (state, ends_hidden) = self.after(before);
        state.is_inside() || ends_hidden
    }

    /// The state behind a part of a line, and whether the part ends in a string of one quote or in a comment.
    fn after(self, part: &str) -> (Self, bool) {
        let (mut open, mut rest) = (self.open, part);
        loop {
            match open {
                Some(mark) => match behind_triple(rest, mark) {
                    Some(behind) => (open, rest) = (None, behind),
                    None => return (Self { open }, false),
                },
                None => {
                    let Some(at) = rest.find(['#', '\'', '"']) else { return (Self { open }, false) };
                    let found = &rest[at..];
                    let mark = found.chars().next().expect("it was found");
                    if mark == '#' {
                        return (Self { open }, true);
                    }
                    let behind = &found[1..];
                    if let Some(inside) = behind.strip_prefix(mark).and_then(|behind| behind.strip_prefix(mark)) {
                        (open, rest) = (Some(mark), inside);
                    } else if let Some(behind) = behind_mark(behind, mark) {
                        rest = behind;
                    } else {
                        return (Self { open }, true);
                    }
                }
            }
        }
    }
}

/// What follows the first three marks that no backslash escapes.
fn behind_triple(text: &str, mark: char) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = behind_mark(rest, mark)?;
        if let Some(behind) = rest.strip_prefix(mark).and_then(|rest| rest.strip_prefix(mark)) {
            return Some(behind);
        }
    }
}

/// What follows the first mark that no backslash escapes.
fn behind_mark(text: &str, mark: char) -> Option<&str> {
    let mut escaped = false;
    for (at, found) in text.char_indices() {
        match found {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            found if found == mark => return Some(&text[at + found.len_utf8()..]),
            _ => {}
        }
    }
    None
}
