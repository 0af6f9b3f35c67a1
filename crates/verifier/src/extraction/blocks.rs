//! Fenced blocks of code in what a model wrote.
//!
//! CommonMark's fences, and what models make of them: a fence behind a line of prose, a closing fence behind the last line of code, two opening
//! fences, a block that another one or the end of the text ends, end tokens behind a fence. A fence in a string of three quotes is text of the
//! program. One pass over the lines; a second one where such a string is never closed.

use std::ops::Range;

use super::labels::Label;
use super::text::{Line, lines_of, strip_end_tokens};

/// The shortest fence of backticks.
pub(crate) const FENCE: &str = "```";
/// The shortest fence of tildes.
pub(crate) const TILDES: &str = "~~~";
/// Marks that a fence has at least.
const MIN_MARKS: usize = FENCE.len();
const TAB_COLUMNS: usize = 4;
/// Columns of white space that a fence may have beyond what surrounds it: a line behind more of it is indented text.
const MAX_FENCE_INDENT: usize = 3;

/// A run of backticks or tildes in a line, and what stands around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence<'a> {
    mark: char,
    marks: usize,
    /// Columns of white space before it; 0 behind prose.
    indent: usize,
    /// The text before it, if any but white space.
    before: &'a str,
    /// The text behind it, without white space around it and without end tokens.
    behind: &'a str,
}

impl<'a> Fence<'a> {
    /// The fence with which a line begins.
    fn at_start(line: &'a str) -> Option<Self> {
        let text = line.trim_start();
        let mark = text.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
        let behind = text.trim_start_matches(mark);
        let blanks = line[..line.len() - text.len()].chars();
        let indent = blanks.map(|blank| if blank == '\t' { TAB_COLUMNS } else { 1 }).sum();
        // With backticks behind it, it is code in a line of prose.
        let is_fence = text.len() - behind.len() >= MIN_MARKS && !(mark == '`' && behind.contains('`'));
        is_fence.then(|| Self {
            mark,
            marks: text.len() - behind.len(),
            indent,
            before: "",
            behind: strip_end_tokens(behind).trim(),
        })
    }

    /// The only run of backticks of a line, behind other text.
    fn behind_text(line: &'a str) -> Option<Self> {
        let at = line.find(FENCE).filter(|at| !line[..*at].trim().is_empty())?;
        let (before, rest) = line.split_at(at);
        let behind = rest.trim_start_matches('`');
        let is_only = !behind.contains('`') && !before.contains('`');
        is_only.then(|| Self {
            mark: '`',
            marks: rest.len() - behind.len(),
            indent: 0,
            before,
            behind: strip_end_tokens(behind).trim(),
        })
    }

    fn label(&self) -> Label<'a> {
        Label::parse(self.behind)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    pub(crate) label: Label<'a>,
    /// Whether the block is one of a program's own text in a continuation: its fence is indented further than a list's item.
    pub(crate) is_indented: bool,
    /// Whether a fence closed it, and not the end of the text, or the opening fence of the next one.
    pub(crate) is_closed: bool,
    /// Its lines, each ended, without the indentation of the fence.
    pub(crate) code: String,
    /// Where its lines stand in the text.
    pub(crate) span: Range<usize>,
}

impl Block<'_> {
    fn has_code(&self) -> bool {
        !self.code.trim().is_empty()
    }
}

/// The blocks of a text, in order. Blank ones are left out.
pub(crate) fn read_blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = read_all_blocks(text, None);
    blocks.retain(Block::has_code);
    blocks
}

/// The first block of a text that goes on in one, whose fence is indented by so many columns. A blank one is left out.
pub(crate) fn first_of_open_block(text: &str, indent: usize) -> Option<Block<'_>> {
    read_all_blocks(text, Some(indent)).into_iter().find(Block::has_code)
}

fn read_all_blocks(text: &str, open: Option<usize>) -> Vec<Block<'_>> {
    let mut reader = Reader::new(text, open, true);
    let is_complete = reader.read();
    if !is_complete {
        // A fence was taken for a string's, and the string has no end.
        reader = Reader::new(text, open, false);
        reader.read();
    }
    reader.blocks
}

/// The blocks of a text, in order, each with its label (`python` for all that name it) and its content.
pub(crate) fn labelled_blocks(text: &str) -> Vec<(String, String)> {
    let content = |code: String| code.strip_suffix('\n').map(str::to_owned).unwrap_or_default();
    read_all_blocks(text, None).into_iter().map(|block| (block.label.to_string(), content(block.code))).collect()
}

/// Where the first line with a fence at the margin begins, if it has no label. Lines in a string of three quotes have none.
pub(crate) fn first_unlabelled_fence(text: &str) -> Option<usize> {
    let mut quotes = QuoteState::default();
    for line in lines_of(text) {
        let fence = Fence::at_start(line.text).filter(|fence| fence.indent <= MAX_FENCE_INDENT && !quotes.is_inside());
        if let Some(fence) = fence {
            return fence.behind.is_empty().then_some(line.start);
        }
        quotes.read_line(line.text);
    }
    None
}

/// How many lines of a text begin with a fence.
pub(crate) fn count_fences(text: &str) -> usize {
    lines_of(text).filter(|line| Fence::at_start(line.text).is_some()).count()
}

/// The block that a text leaves open, from its fence on, and the columns of that fence.
pub(crate) fn open_block(text: &str) -> Option<(&str, usize)> {
    let mut open: Option<(Fence<'_>, usize)> = None;
    for line in lines_of(text) {
        let Some(fence) = Fence::at_start(line.text) else { continue };
        open = match open {
            None => Some((fence, line.start)),
            Some((opening, _)) if closes(&fence, &opening) => None,
            opened => opened,
        };
    }
    open.map(|(fence, start)| (&text[start..], fence.indent))
}

/// A fence of its own line, with nothing behind it, that is not indented text.
fn closes(fence: &Fence<'_>, opening: &Fence<'_>) -> bool {
    fence.mark == opening.mark
        && fence.marks >= opening.marks
        && fence.indent <= opening.indent + MAX_FENCE_INDENT
        && fence.behind.is_empty()
}

/// A block that is being read.
struct OpenBlock<'a> {
    fence: Fence<'a>,
    lines: Vec<&'a str>,
    span: Range<usize>,
    quotes: QuoteState,
}

impl<'a> OpenBlock<'a> {
    fn new(fence: Fence<'a>, at: usize) -> Self {
        Self { fence, lines: Vec::new(), span: at..at, quotes: QuoteState::default() }
    }

    fn push(&mut self, text: &'a str, end: usize) {
        self.quotes.read_line(text);
        self.lines.push(text);
        self.span.end = end;
    }

    /// A line of a diff begins with a mark of its own, so that only a fence at the margin ends one.
    fn is_diff(&self) -> bool {
        matches!(self.fence.label(), Label::Other("diff" | "patch"))
    }

    /// The fence in one of its lines that may end it, or begin another.
    fn fence_in(&self, line: &'a str) -> Option<Fence<'a>> {
        let most = self.fence.indent + if self.is_diff() { 0 } else { MAX_FENCE_INDENT };
        let at_start = Fence::at_start(line).filter(|fence| fence.mark == self.fence.mark && fence.indent <= most);
        let behind_code = || Fence::behind_text(line).filter(|fence| fence.behind.is_empty() && !self.is_diff());
        at_start.or_else(behind_code)
    }

    fn is_blank(&self) -> bool {
        self.lines.iter().all(|line| line.trim().is_empty())
    }
}

struct Reader<'a> {
    text: &'a str,
    open: Option<OpenBlock<'a>>,
    blocks: Vec<Block<'a>>,
    /// Whether fences in strings of three quotes are text.
    heeds_quotes: bool,
    /// Whether a fence was taken for text of the string that is open.
    has_skipped: bool,
}

impl<'a> Reader<'a> {
    /// Reads a text that may go on in a block, whose fence is indented by so many columns.
    fn new(text: &'a str, open: Option<usize>, heeds_quotes: bool) -> Self {
        let fence = |indent| Fence { mark: '`', marks: MIN_MARKS, indent, before: "", behind: "python" };
        let open = open.map(|indent| OpenBlock::new(fence(indent), 0));
        Self { text, open, blocks: Vec::new(), heeds_quotes, has_skipped: false }
    }

    /// Reads all lines. `false` where the last string has no end, and hid a fence.
    fn read(&mut self) -> bool {
        for line in lines_of(self.text) {
            match self.open.take() {
                None => self.read_prose(line),
                Some(open) => self.read_code(open, line),
            }
        }
        let is_complete = !self.has_skipped || self.open.as_ref().is_none_or(|open| !open.quotes.is_inside());
        if let Some(open) = self.open.take() {
            self.finish(open, false);
        }
        is_complete
    }

    fn read_prose(&mut self, line: Line<'a>) {
        let behind_text = || Fence::behind_text(line.text).filter(|fence| fence.label().is_plausible());
        if let Some(fence) = Fence::at_start(line.text).or_else(behind_text) {
            self.open_block(fence, line);
        } else if let Some((label, code)) = inline_block(line.text) {
            let at = line.start + (code.as_ptr() as usize - line.text.as_ptr() as usize);
            let (code, span) = (format!("{}\n", code.trim()), at..at + code.len());
            self.blocks.push(Block { label, is_indented: false, is_closed: true, code, span });
        }
    }

    fn open_block(&mut self, fence: Fence<'a>, line: Line<'a>) {
        let mut open = OpenBlock::new(fence, line.next);
        // Code may follow the label in its line.
        if let Label::Python(code) = fence.label()
            && !code.is_empty()
        {
            open.push(code, line.next);
        }
        self.open = Some(open);
    }

    fn read_code(&mut self, mut open: OpenBlock<'a>, line: Line<'a>) {
        let Some(fence) = open.fence_in(line.text) else {
            open.push(line.text, line.next);
            self.open = Some(open);
            return;
        };
        let is_quoted = self.heeds_quotes && open.quotes.hides(fence.before);
        let label = fence.label();
        if is_quoted {
            self.has_skipped = true;
            open.push(line.text, line.next);
            self.open = Some(open);
        } else if fence.before.is_empty() && label.is_language() && opens_within(&fence, &open) {
            // The block was not closed, or holds others, or its fence stands there twice.
            self.finish(open, false);
            self.open_block(fence, line);
        } else if fence.marks >= open.fence.marks && !label.is_language() {
            if !fence.before.is_empty() {
                open.push(fence.before, line.start + fence.before.len());
            }
            self.finish(open, true);
        } else {
            open.push(line.text, line.next);
            self.open = Some(open);
        }
    }

    fn finish(&mut self, open: OpenBlock<'a>, is_closed: bool) {
        let label = open.fence.label();
        let is_nothing = open.is_blank() && !is_closed;
        if is_nothing || label == Label::Markdown {
            return;
        }
        let code = dedented(&open.lines, open.fence.indent);
        let is_indented = open.fence.indent > MAX_FENCE_INDENT;
        self.blocks.push(Block { label, is_indented, is_closed, code, span: open.span });
    }
}

/// Whether an opening fence begins a block of its own in an open one: longer fences than it hold it as text, but those of Markdown do not.
fn opens_within(fence: &Fence<'_>, open: &OpenBlock<'_>) -> bool {
    fence.marks >= open.fence.marks || open.fence.label() == Label::Markdown
}

/// A block that begins and ends in one line: the label of Python, white space, code.
fn inline_block(line: &str) -> Option<(Label<'_>, &str)> {
    let (_, opened) = line.split_once(FENCE)?;
    let (inside, _) = opened.split_once(FENCE)?;
    let (label, code) = inside.split_once(char::is_whitespace)?;
    let label = Label::parse(label);
    (label == Label::Python("") && !code.trim().is_empty()).then_some((label, code))
}

/// The lines without the indentation that they share, or `most` of it.
fn dedented(lines: &[&str], most: usize) -> String {
    let with_text = lines.iter().filter(|line| !line.trim().is_empty());
    let indents = with_text.map(|line| line.len() - line.trim_start_matches([' ', '\t']).len());
    let shared = indents.min().unwrap_or(0).min(most);
    lines.iter().map(|line| format!("{}\n", line.get(shared..).unwrap_or_default())).collect()
}

/// Where a program is behind its lines so far: within a string of three quotes, or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct QuoteState {
    /// The quotation mark whose three end the string that is open.
    open: Option<char>,
}

impl QuoteState {
    fn read_line(&mut self, line: &str) {
        *self = self.after(line).0;
    }

    /// Whether a string of three quotes is open.
    const fn is_inside(self) -> bool {
        self.open.is_some()
    }

    /// Whether what follows `before`, in the same line, is text of a string or of a comment.
    fn hides(self, before: &str) -> bool {
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
