//! Code without a fence, among lines of prose.

use std::collections::HashSet;
use std::ops::Range;

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;
use veriplay_python::names::Names;
use veriplay_python::syntax::with_syntax;

use super::blocks::Block;
use super::labels::Label;
use super::parsing::{first_error, is_statement};
use super::text::lines_of;

/// Cuts of a text that are tried until the rest is Python.
const CUTS: usize = 3;
/// Beginnings of lines at which a program may begin, without white space before them.
const BEGINNINGS: [&str; 6] = ["def ", "async def ", "class ", "@", "import ", "from "];
/// Beginnings of lines that are hardly prose.
const CODE: [&str; 9] = ["def ", "async def ", "class ", "import ", "return ", "print(", "for ", "while ", "if "];
/// The same of lines that may be taken for sentences, because they end in a colon.
const CLAUSES: [&str; 6] = ["else", "elif ", "try", "except", "finally", "with "];

/// Whether a line begins a definition or an import.
pub(super) fn begins_definition(line: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

/// The pieces of code of a text, in order: from a definition or an import to the next line of prose. Where the text has no fences, any statement
/// behind a line of prose may begin a piece.
pub(super) fn bare_blocks(text: &str, has_fences: bool) -> Vec<Block<'_>> {
    const TRIED: usize = 8;
    /// More lines of prose stand before no program.
    const LINES: usize = 2000;
    let mut blocks = Vec::new();
    let (mut tried, mut end, mut before) = (0, 0, "");
    for line in lines_of(text).take(LINES) {
        let is_beginning = line.start >= end && tried < TRIED && {
            begins_definition(line.text) || (!has_fences && is_prose_or_nothing(before) && begins_script(line.text))
        };
        if is_beginning {
            tried += 1;
            if let Some(code) = leading_code("", &text[line.start..]) {
                let CodeSpan { code, rest } = code_span("", code);
                end = line.start + rest;
                let span = line.start + code.start..line.start + code.end;
                blocks.push(bare_block(text[span.clone()].to_owned(), span));
            }
        }
        if !line.text.trim().is_empty() {
            before = line.text;
        }
    }
    blocks
}

fn bare_block<'a>(code: String, span: Range<usize>) -> Block<'a> {
    Block { label: Label::Missing, is_indented: false, is_closed: true, code, span }
}

/// The runs of lines that are indented by four columns, as Markdown has blocks without fences. A line of prose stands before a run, blank lines stand
/// around it, and may stand in it.
pub(super) fn indented_blocks(text: &str) -> Vec<Block<'_>> {
    const INDENT: &str = "    ";
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut is_behind_blank, mut is_open, mut before) = (true, false, "");
    for line in lines_of(text) {
        let is_blank = line.text.trim().is_empty();
        let code = line.text.strip_prefix(INDENT).or_else(|| line.text.strip_prefix('\t'));
        match (code, blocks.last_mut().filter(|_| is_open)) {
            (Some(code), Some(block)) => {
                block.code += &format!("{code}\n");
                block.span.end = line.next;
            }
            (Some(code), None) if is_behind_blank && !is_blank && is_prose_or_nothing(before) => {
                blocks.push(bare_block(format!("{code}\n"), line.start..line.next));
                is_open = true;
            }
            (None, Some(block)) if is_blank => block.code.push('\n'),
            _ => is_open = false,
        }
        if !is_blank {
            before = line.text;
        }
        is_behind_blank = is_blank;
    }
    blocks
}

/// Whether a line that stands before code is prose, or there is none: a broken line of the program itself is no reason to leave it out.
fn is_prose_or_nothing(line: &str) -> bool {
    let line = line.trim();
    let is_code = CODE.iter().chain(&CLAUSES).chain(&BEGINNINGS).any(|beginning| line.starts_with(beginning));
    let is_sentence = line.ends_with(['.', ':', '!', '?', '…', '。', '：', '！', '？']);
    let is_heading = line.starts_with(['#', '*']) || line.chars().next().is_some_and(|c| !c.is_ascii());
    let is_word = line.starts_with(|c: char| c.is_ascii_uppercase()) && line.chars().all(char::is_alphabetic);
    let has_words = line.split_whitespace().count() > 2 && !line.contains(['=', '(', ';']);
    line.is_empty() || (!is_code && (is_sentence || is_heading || is_word || has_words))
}

/// Whether a line at the margin is a statement by itself, or the head of one.
fn begins_script(line: &str) -> bool {
    let is_candidate = line.contains(['=', '(', ':']) && !line.starts_with(char::is_whitespace);
    let line = if line.trim_end().ends_with(':') { format!("{line} pass") } else { line.to_owned() };
    is_candidate && with_syntax(&line, |parsed| parsed.suite().first().is_some_and(is_statement)).unwrap_or_default()
}

/// The start of `text` that is Python behind `prompt`, up to a line at the margin that is none. `None` where that is no start.
pub(super) fn leading_code<'a>(prompt: &str, text: &'a str) -> Option<&'a str> {
    let mut code = text;
    for _ in 0..CUTS {
        let Some(error) = first_error(&format!("{prompt}{code}"))? else { return Some(code) };
        let at = error.saturating_sub(prompt.len());
        let margins = lines_of(code).filter(|line| line.text.starts_with(|c: char| !c.is_whitespace()));
        let line = margins.take_while(|line| line.start <= at).last()?;
        code = &code[..line.start];
        if code.trim().is_empty() {
            return None;
        }
    }
    None
}

/// Where the code stands in a text that is Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeSpan {
    /// Without words of prose before and behind it.
    pub(super) code: Range<usize>,
    /// Where the text goes on behind the words that end the code.
    pub(super) rest: usize,
}

/// The code of a text that is Python behind `prompt`: a line such as `Explanation` or `[DONE]` is Python, too, but as a statement it only ends a
/// program by an error.
pub(super) fn code_span(prompt: &str, text: &str) -> CodeSpan {
    let whole = CodeSpan { code: 0..text.len(), rest: text.len() };
    let joined = format!("{prompt}{text}");
    let place = |at: usize| at.saturating_sub(prompt.len());
    with_syntax(&joined, |parsed| {
        let body = parsed.suite();
        let free: HashSet<&str> = Names::read(body).free().collect();
        let is_word = |stmt: &&Stmt| is_word(stmt, &free);
        let statements = body.iter().skip_while(|stmt| stmt.end().to_usize() <= prompt.len()).collect::<Vec<_>>();
        let words = if prompt.is_empty() { statements.iter().take_while(|stmt| is_word(stmt)).count() } else { 0 };
        let start = match words {
            0 => 0,
            words => statements.get(words).map_or(text.len(), |stmt| place(stmt.start().to_usize())),
        };
        let word = statements[words..].iter().find(|stmt| is_word(stmt));
        match word.map(|word| (place(word.start().to_usize()), place(word.end().to_usize()))) {
            Some((end, rest)) => CodeSpan { code: start..end.max(start), rest },
            None => CodeSpan { code: start..text.len(), rest: text.len() },
        }
    })
    .unwrap_or(whole)
}

/// Whether a statement is a word, or a list of words, that nothing binds.
fn is_word(stmt: &Stmt, free: &HashSet<&str>) -> bool {
    let names = Names::read(std::slice::from_ref(stmt));
    let mut used = names.used().peekable();
    stmt.is_expr_stmt() && !is_statement(stmt) && used.peek().is_some() && used.all(|name| free.contains(name))
}

/// Whether a text that is no Python was meant as such.
pub(super) fn looks_like_code(text: &str) -> bool {
    lines_of(text).any(|line| {
        let line = line.text.trim();
        let is_block = line.ends_with(':') || line.starts_with("return ") || line.contains('(');
        is_block && CODE.iter().any(|beginning| line.starts_with(beginning))
    })
}
