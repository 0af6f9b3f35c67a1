//! What surrounds the answer in a response: a byte order mark, special tokens, thoughts, tags.

use std::ops::Range;

use super::blocks::{Block, read_blocks};
use super::parsing::parses_behind;
use super::text::{Line, lines_of, strip_end_tokens, strip_start_tokens};

/// What opens a thought, in most models.
pub(super) const THOUGHT: &str = "<think>";

const THOUGHTS: [(&str, &str); 8] = [
    (THOUGHT, "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
];

/// Tags around an answer, in lower case; they may be written in any.
const ANSWERS: [(&str, &str); 6] = [
    ("<answer>", "</answer>"),
    ("<final_answer>", "</final_answer>"),
    ("<solution>", "</solution>"),
    ("[answer]", "[/answer]"),
    ("[solution]", "[/solution]"),
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
];

/// Tags around a program, in lower case. They are HTML's too, so each begins a line.
const PROGRAMS: [(&str, &str); 4] =
    [("<code>", "</code>"), ("<python>", "</python>"), ("[python]", "[/python]"), ("[code]", "[/code]")];

/// Where the final channel of gpt-oss' format begins, and what the others begin with.
const FINAL_CHANNEL: &str = "<|channel|>final<|message|>";
const CHANNEL: &str = "<|channel|>";

/// A part of a response, and where it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl<'a> Part<'a> {
    fn whole(text: &'a str) -> Self {
        Self { text, start: 0 }
    }

    pub(super) fn slice(self, range: Range<usize>) -> Self {
        Self { text: &self.text[range.clone()], start: self.start + range.start }
    }

    fn behind(self, at: usize) -> Self {
        self.slice(at..self.text.len())
    }

    fn without_tokens(self) -> Self {
        let start = self.text.len() - strip_start_tokens(self.text).len();
        let part = self.behind(start);
        part.slice(0..strip_end_tokens(part.text).len())
    }
}

/// The answer in a response: what stands behind its thoughts, without special tokens. The prompt may have opened the thought.
///
/// # Errors
/// The tag of a thought that does not end, so that there is no answer.
pub(crate) fn find_answer(response: &str, is_thinking: bool) -> Result<Part<'_>, &'static str> {
    let response = Part::whole(response).behind(response.len() - response.trim_start_matches('\u{feff}').len());
    if let Some(at) = response.text.rfind(FINAL_CHANNEL) {
        return Ok(response.behind(at + FINAL_CHANNEL.len()).without_tokens());
    }
    if is_in_channel(response.text) {
        return Err(CHANNEL);
    }
    let response = response.without_tokens();
    let mut answer = match end_of_begun_thought(response.text) {
        Some(end) => response.behind(end),
        None if is_thinking && leading_thought(response.text).is_none() => return Err(THOUGHT),
        None => response,
    };
    while let Some((inside, open, close)) = leading_thought(answer.text) {
        let found = answer.text[inside..].find(close).ok_or(open)?;
        answer = answer.behind(inside + found + close.len());
    }
    // One in the midst of the answer.
    match last_opening_tag(answer.text) {
        None => Ok(answer),
        Some((inside, open, close)) => {
            let found = answer.text[inside..].find(close).ok_or(open)?;
            Ok(answer.behind(inside + found + close.len()))
        }
    }
}

/// Whether a prompt ends in a thought that it has opened.
pub(super) fn opens_thought(prompt: &str) -> bool {
    THOUGHTS.iter().any(|(open, _)| prompt.trim_end().ends_with(open))
}

/// Whether a response is in gpt-oss' format.
fn is_in_channel(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(CHANNEL) || (text.starts_with("<|start|>") && text.contains(CHANNEL))
}

/// The thought with which a text begins: where it begins, and its tags.
fn leading_thought(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let start = text.trim_start();
    let (open, close) = THOUGHTS.iter().find(|(open, _)| start.starts_with(open))?;
    Some((text.len() - start.len() + open.len(), open, close))
}

/// The place behind the tag that ends a thought which began before the text. In a line of code the tag is code: it stands within quotation
/// marks there, or in a block.
fn end_of_begun_thought(text: &str) -> Option<usize> {
    let closing = || THOUGHTS.iter().map(|(_, close)| *close);
    if leading_thought(text).is_some() || !closing().any(|close| text.contains(close)) || is_python(text) {
        return None;
    }
    let blocks = read_blocks(text);
    let end_in = |line: Line<'_>, close: &str| {
        let at = line.text.find(close)?;
        let (before, behind) = (line.text[..at].trim(), line.text[at + close.len()..].trim());
        let is_quoted = behind.starts_with(['\'', '"', '`', ')']);
        let is_at_edge = before.is_empty() || behind.is_empty();
        let is_end = !is_quoted && (is_at_edge || !is_in_block(&blocks, line.start + at));
        is_end.then_some(line.start + at + close.len())
    };
    lines_of(text).find_map(|line| closing().find_map(|close| end_in(line, close)))
}

/// Whether a text is a program or the body of a function, so that tags are words of its strings.
fn is_python(text: &str) -> bool {
    parses_behind("", text) || parses_behind("if 1:\n", text)
}

/// The last tag that opens a thought at the beginning of a line outside of code: where the thought begins, and its tags.
fn last_opening_tag(text: &str) -> Option<(usize, &'static str, &'static str)> {
    if !THOUGHTS.iter().any(|(open, _)| text.contains(open)) || is_python(text) {
        return None;
    }
    let blocks = read_blocks(text);
    let opened = lines_of(text).filter(|line| !is_in_block(&blocks, line.start)).filter_map(|line| {
        let (inside, open, close) = leading_thought(line.text)?;
        Some((line.start + inside, open, close))
    });
    opened.last()
}

/// Whether a place is in one of the blocks, which are in order.
fn is_in_block(blocks: &[Block<'_>], at: usize) -> bool {
    let next = blocks.partition_point(|block| block.span.end <= at);
    blocks.get(next).is_some_and(|block| block.span.start <= at)
}

/// What the last tags of an answer hold; `None` without any. A tag in a block of code is code.
pub(crate) fn tagged_answer(answer: Part<'_>) -> Option<Part<'_>> {
    let inside = inside_of(answer, &ANSWERS, false);
    inside_of(inside.unwrap_or(answer), &PROGRAMS, true).or(inside)
}

/// Whether a text begins with a tag of an answer.
pub(crate) fn begins_with_tag(text: &str) -> bool {
    let start = text.trim_start().to_ascii_lowercase();
    ANSWERS.iter().chain(&PROGRAMS).any(|(open, _)| start.starts_with(open))
}

/// What the last of these tags holds, without special tokens. `begins_line`: only white space, or another tag, may stand before it in its line.
fn inside_of<'a>(answer: Part<'a>, tags: &[(&'static str, &'static str)], begins_line: bool) -> Option<Part<'a>> {
    let lower = answer.text.to_ascii_lowercase();
    if !tags.iter().any(|(open, _)| lower.contains(open)) {
        return None;
    }
    let blocks = read_blocks(answer.text);
    let is_tag = |at: usize| {
        let before = &lower[..at];
        let line = before.trim_end_matches([' ', '\t']);
        let is_quoted = before.ends_with(['"', '\'', '`', '(', '\\']);
        let is_first = line.is_empty() || line.ends_with(['\n', '>', ']']);
        !is_quoted && (is_first || !begins_line) && !is_in_block(&blocks, at)
    };
    let last_of = |&(open, close): &(&'static str, &'static str)| {
        let at = lower.match_indices(open).map(|(at, _)| at).filter(|at| is_tag(*at)).last()?;
        Some((at + open.len(), close))
    };
    let (start, close) = tags.iter().filter_map(last_of).max()?;
    let end = lower[start..].rfind(close).map_or(answer.text.len(), |end| start + end);
    let inside = answer.slice(start..end).without_tokens();
    (!inside.text.trim().is_empty()).then_some(inside)
}
