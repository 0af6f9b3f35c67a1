//! Normalized program text, to find duplicates and to count statements.
//!
//! This is a scanner, not a parser: for text that is not Python it still gives a result, which only identifies that text. Invariants:
//! normalization does not change what the interpreter runs, and normalizing twice equals normalizing once.

use crate::Digest;

/// Columns of one level of indentation in normalised text.
const INDENT: usize = 4;

/// Removes comments, blank lines and trailing white space, and indents by four columns per level, continuation lines by none. String
/// literals, docstrings included, are untouched.
pub fn normalize_program(program: &str) -> String {
    let program = normalize_line_ends(program);
    let mut levels = vec![0];
    let mut out = String::with_capacity(program.len());
    for line in logical_lines(&program) {
        out.extend(std::iter::repeat_n(' ', normalize_indent(&mut levels, line.indent)));
        out.push_str(&line.text);
        // A string or bracket that never ends may have taken the last line end with it.
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

/// Hashes a program's normalized text: programs that differ only in comments, blank lines and indentation width share the hash.
pub fn program_hash(program: &str) -> Digest {
    Digest::of(normalize_program(program).as_bytes())
}

/// Counts the statements of `program`: its logical lines, and statements after a `;` or a header's `:` on a line. A `def` line does not
/// count.
pub fn count_statements(program: &str) -> usize {
    logical_lines(&normalize_line_ends(program)).iter().map(count_line_statements).sum()
}

/// Ends every line with `\n`, as the interpreter reads it.
fn normalize_line_ends(program: &str) -> String {
    let mut program = program.replace("\r\n", "\n").replace('\r', "\n");
    if !program.ends_with('\n') {
        program.push('\n');
    }
    program
}

/// First words of the lines whose colon opens a block.
const HEADERS: [&str; 14] = [
    "async", "case", "class", "def", "elif", "else", "except", "finally", "for", "if", "match", "try", "while", "with",
];

fn count_line_statements(line: &LogicalLine) -> usize {
    let word = line.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let is_def = line.text.starts_with("def ") || line.text.starts_with("async def ");
    let own = usize::from(!is_def);
    own + usize::from(line.inline_body && HEADERS.contains(&word)) + line.separators
}

/// The normalized indent of a line of `width` columns, given the open levels. A dedent to no open level is a syntax error and stays one.
fn normalize_indent(levels: &mut Vec<usize>, width: usize) -> usize {
    while levels.last().is_some_and(|top| *top > width) && levels.len() > 1 {
        levels.pop();
        if levels.last().is_some_and(|top| *top < width) {
            return levels.len() * INDENT - 1;
        }
    }
    if levels.last().is_some_and(|top| *top < width) {
        levels.push(width);
    }
    (levels.len() - 1) * INDENT
}

/// One logical line. A line end outside brackets and strings ends it.
#[derive(Debug, Default)]
struct LogicalLine {
    /// Columns before its first character; a tab goes to the next multiple of 8.
    indent: usize,
    /// Its text, without comments and trailing white space. It holds line ends where it continues over several lines.
    text: String,
    /// Number of semicolons that a statement follows.
    separators: usize,
    /// Whether anything follows a colon outside brackets, as in `def f(x): return x`.
    inline_body: bool,
}

/// The normalized form of a backslash that joins two lines.
const JOIN: &str = " \\\n";

/// A construct that the scanner is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// An open bracket, in which line ends are white space.
    Bracket,
    /// A string: its quote, whether it is triple-quoted, and whether `{` opens a field.
    Text { quote: char, triple: bool, fields: bool },
    /// The expression of an f-string's field, up to `:` or `}`.
    Field,
    /// The format spec after the `:` of a field: text with fields inside.
    Spec { quote: char, triple: bool },
}

/// Splits `program`, whose line ends are `\n`.
fn logical_lines(program: &str) -> Vec<LogicalLine> {
    let mut scanner = Scanner { rest: program, ..Scanner::default() };
    scanner.start_line();
    while let Some(c) = scanner.rest.chars().next() {
        scanner.step(c);
    }
    scanner.end_line();
    scanner.lines
}

#[derive(Default)]
struct Scanner<'a> {
    rest: &'a str,
    frames: Vec<Frame>,
    line: LogicalLine,
    lines: Vec<LogicalLine>,
    /// Marks outside brackets, which count once something follows them.
    semicolon: bool,
    colon: bool,
}

impl Scanner<'_> {
    /// Consumes at least one character of `rest`.
    fn step(&mut self, c: char) {
        match self.frames.last().copied() {
            Some(Frame::Text { quote, triple, fields }) => self.in_text(c, quote, triple, fields),
            Some(Frame::Spec { quote, triple }) => self.in_spec(c, quote, triple),
            Some(Frame::Field) => self.in_field(c),
            Some(Frame::Bracket) | None => self.in_code(c),
        }
    }

    fn keep(&mut self, count: usize) {
        let end = self.rest.char_indices().nth(count).map_or(self.rest.len(), |(at, _)| at);
        self.line.text.push_str(&self.rest[..end]);
        self.rest = &self.rest[end..];
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn in_code(&mut self, c: char) {
        self.mark(c);
        match c {
            '#' => self.skip(self.rest.find('\n').unwrap_or(self.rest.len())),
            '\n' if self.frames.is_empty() => self.new_line(),
            '\n' => self.continue_line(1),
            '\\' if self.rest[1..].starts_with('\n') => self.join_lines(),
            '\'' | '"' => self.open_string(c),
            '(' | '[' | '{' => self.push(Frame::Bracket),
            ')' | ']' | '}' => self.pop(),
            _ => self.keep(1),
        }
    }

    /// Notes separators and inline bodies of the logical line itself, outside brackets.
    fn mark(&mut self, c: char) {
        if c.is_whitespace() || c == '#' || !self.frames.is_empty() {
            return;
        }
        self.line.separators += usize::from(std::mem::take(&mut self.semicolon) && c != ';');
        self.line.inline_body |= self.colon;
        self.semicolon |= c == ';';
        self.colon |= c == ':';
    }

    /// The expression of a field is code that a `:` or `}` of its own ends.
    fn in_field(&mut self, c: char) {
        match c {
            '}' => self.pop(),
            ':' => {
                let (quote, triple) = self.enclosing_quote();
                self.frames.pop();
                self.push(Frame::Spec { quote, triple });
            }
            _ => self.in_code(c),
        }
    }

    fn in_text(&mut self, c: char, quote: char, triple: bool, fields: bool) {
        match c {
            '\\' => self.escape(fields),
            '\n' if !triple => self.end_broken_string(),
            '{' if fields && self.rest.starts_with("{{") => self.keep(2),
            '{' if fields => self.push(Frame::Field),
            _ if c == quote && !triple => self.pop(),
            _ if c == quote && self.rest.starts_with(&quote.to_string().repeat(3)) => {
                self.frames.pop();
                self.keep(3);
            }
            _ => self.keep(1),
        }
    }

    fn in_spec(&mut self, c: char, quote: char, triple: bool) {
        match c {
            '\\' => self.escape(true),
            '{' => self.push(Frame::Field),
            '}' => self.pop(),
            '\n' if !triple => self.end_broken_string(),
            // The string ends inside its field. That is invalid Python; the scan goes on with code.
            _ if c == quote && !triple => {
                self.frames.pop();
                self.pop();
            }
            _ => self.keep(1),
        }
    }

    /// Keeps a backslash and the escaped character. In an f-string `\{` is a backslash and then a field.
    fn escape(&mut self, fields: bool) {
        self.keep(if fields && self.rest[1..].starts_with('{') { 1 } else { 2 });
    }

    fn push(&mut self, frame: Frame) {
        self.frames.push(frame);
        self.keep(1);
    }

    fn pop(&mut self) {
        self.frames.pop();
        self.keep(1);
    }

    /// The quote of the string around the innermost field.
    fn enclosing_quote(&self) -> (char, bool) {
        let quotes = self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Text { quote, triple, .. } => Some((*quote, *triple)),
            _ => None,
        });
        quotes.unwrap_or(('"', true))
    }

    fn open_string(&mut self, quote: char) {
        let triple = self.rest.starts_with(&quote.to_string().repeat(3));
        let before = self.line.text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let prefix = self.line.text[before.len()..].to_ascii_lowercase();
        let fields = ["f", "fr", "rf", "t", "tr", "rt"].contains(&prefix.as_str());
        self.frames.push(Frame::Text { quote, triple, fields });
        self.keep(if triple { 3 } else { 1 });
    }

    /// A line end inside a single-quoted string is invalid Python. The scan goes on as if the string had ended.
    fn end_broken_string(&mut self) {
        while matches!(self.frames.last(), Some(Frame::Text { .. } | Frame::Spec { .. } | Frame::Field)) {
            self.frames.pop();
        }
        if self.frames.is_empty() { self.new_line() } else { self.continue_line(1) }
    }

    fn new_line(&mut self) {
        self.skip(1);
        self.end_line();
        self.start_line();
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        (self.semicolon, self.colon) = (false, false);
        // The white space at the end of an unterminated string belongs to the string.
        if self.frames.is_empty() {
            line.text.truncate(code_end(&line.text));
        }
        if !line.text.is_empty() {
            self.lines.push(line);
        }
    }

    fn start_line(&mut self) {
        self.line.indent = self.take_space();
    }

    /// Skips blanks and returns their width in columns.
    fn take_space(&mut self) -> usize {
        let mut width = 0;
        while let Some(c) = self.rest.chars().next().filter(|c| matches!(c, ' ' | '\t' | '\x0c')) {
            width = match c {
                ' ' => width + 1,
                '\t' => (width / 8 + 1) * 8,
                _ => 0,
            };
            self.skip(1);
        }
        width
    }

    /// Continues the logical line after a line end inside brackets. The next line's indentation has no meaning.
    fn continue_line(&mut self, bytes: usize) {
        self.skip(bytes);
        self.take_space();
        self.line.text.truncate(code_end(&self.line.text));
        self.line.text.push('\n');
    }

    /// Joins two lines at a backslash.
    fn join_lines(&mut self) {
        if !self.frames.is_empty() {
            return self.continue_line(2);
        }
        self.skip(2);
        self.take_space();
        self.line.text.truncate(code_end(&self.line.text));
        if !self.line.text.is_empty() {
            self.line.text.push_str(JOIN);
        }
    }
}

/// The end of a line's code, before trailing white space and a backslash that joins nothing.
fn code_end(text: &str) -> usize {
    text.trim_end_matches(|c: char| c.is_whitespace() || c == '\\').len()
}
