//! The search for the program in a response.

use std::cell::OnceCell;
use std::ops::Range;

use veriplay_core::Extraction;

use super::bare::{
    CodeSpan, bare_blocks, begins_definition, code_span, indented_blocks, leading_code, looks_like_code,
};
use super::blocks::{Block, FENCE, TILDES, count_fences, first_of_open_block, first_unlabelled_fence, read_blocks};
use super::candidates::Candidates;
use super::frame::{Part, begins_with_tag, tagged_answer};
use super::labels::label_line;
use super::parsing::{Facts, WantedNames, parses_behind, with_definitions_of_prompt, with_stripped_body};
use super::{Continues, Entry, ExtractedProgram, NoAnswer, Wanted, answer_of};

/// Finds the program in a response.
///
/// # Errors
/// No program: what was looked for and what was found, for people.
pub fn extract_program(wanted: &Wanted<'_>, response: &str) -> Result<ExtractedProgram, NoAnswer> {
    let answer = answer_of(response, wanted.continues)?;
    // The label of a fence that the prompt ended with.
    let answer = answer.slice(label_line(answer.text)..answer.text.len());
    let search = Search { wanted, names: OnceCell::new() };
    let found = search.opened_block(answer).or_else(|| search.closed_by_fence(answer)).or_else(|| search.whole(answer));
    if let Some(found) = found {
        return Ok(found);
    }
    let tagged = tagged_answer(answer).and_then(|inside| search.in_part(inside));
    tagged.or_else(|| search.in_part(answer)).ok_or_else(|| search.describe_miss(answer))
}

/// The program in a text that was sent as one: the text itself, unless it is no Python and has a program in a block.
#[must_use]
pub fn program_of_code(code: &str) -> String {
    let wanted = Wanted { prompt: "", entry: Entry::Script, continues: Continues::Prose };
    let is_framed =
        (code.contains(FENCE) || code.contains(TILDES)) && !Facts::read(code, &WantedNames::default()).parses;
    let found = if is_framed { extract_program(&wanted, code).ok() } else { None };
    found.map_or_else(|| code.to_owned(), |found| found.text)
}

struct Search<'w> {
    wanted: &'w Wanted<'w>,
    names: OnceCell<WantedNames>,
}

impl Search<'_> {
    /// The names that the program must bind, which are read where there is a choice.
    fn names(&self) -> &WantedNames {
        self.names.get_or_init(|| WantedNames::read(self.wanted.entry, self.wanted.prompt))
    }

    fn is_script(&self) -> bool {
        self.names().names.is_empty()
    }

    fn facts(&self, code: &str) -> Facts {
        Facts::read(code, self.names())
    }

    /// The rest of a block that the prompt opened.
    fn opened_block(&self, answer: Part<'_>) -> Option<ExtractedProgram> {
        let Continues::Block(indent) = self.wanted.continues else { return None };
        let first = first_of_open_block(answer.text, indent)?;
        (first.span.start == 0).then(|| self.take(&first.code, "prefilled", answer, first.span))
    }

    /// Code that begins the response, up to the fence that closes the block which the prompt opened.
    fn closed_by_fence(&self, answer: Part<'_>) -> Option<ExtractedProgram> {
        let end = first_unlabelled_fence(answer.text)?;
        let code = &answer.text[..end];
        let facts = self.facts(code);
        let is_body =
            !self.wanted.prompt.is_empty() && code.starts_with([' ', '\t']) && parses_behind(self.wanted.prompt, code);
        // A script names nothing: a line of prose before a block could be Python by chance, and then each fence has its other.
        let is_script = self.is_script() && facts.has_statement && count_fences(answer.text) % 2 == 1;
        (facts.binds || is_body || is_script).then(|| self.take(code, "prefilled", answer, 0..end))
    }

    /// The whole of a part, by itself or behind the prompt.
    fn whole(&self, part: Part<'_>) -> Option<ExtractedProgram> {
        if begins_with_tag(part.text) {
            return None;
        }
        let (facts, prompt) = (self.facts(part.text), self.wanted.prompt);
        let is_program = facts.binds || (prompt.is_empty() && facts.has_statement);
        if is_program {
            let CodeSpan { code, rest } = code_span("", part.text);
            // Behind a word in its midst more may follow.
            let is_all = rest == part.text.len() || !self.facts(&part.text[rest..]).has_statement;
            return is_all.then(|| self.take(&part.text[code.clone()], "whole", part, code));
        }
        self.body_behind_prompt(part.text, facts).map(|body| self.continuation(part, part.text, body))
    }

    /// The prompt with a text behind it that is the body of its function; `None` where it is none.
    fn body_behind_prompt(&self, code: &str, facts: Facts) -> Option<String> {
        let prompt = self.wanted.prompt;
        if prompt.is_empty() || facts.binds {
            return None;
        }
        let as_it_is = || {
            let CodeSpan { code: span, .. } = code_span(prompt, code);
            let code = &code[..span.end];
            (!code.trim().is_empty()).then(|| format!("{prompt}{code}"))
        };
        // What returns outside of a function has lost its indentation.
        let is_indented = !facts.returns || code.starts_with(char::is_whitespace);
        if is_indented && parses_behind(prompt, code) { as_it_is() } else { with_stripped_body(prompt, code) }
    }

    /// A program within a part.
    fn in_part(&self, part: Part<'_>) -> Option<ExtractedProgram> {
        if let Some(found) = self.whole(part) {
            return Some(found);
        }
        let fenced = Candidates::new(read_blocks(part.text), self.names());
        let last = || fenced.last_program().map(|at| self.take_block(&fenced, at, part));
        let has_fences = !fenced.blocks.is_empty();
        let found = match self.is_script() {
            true => last().or_else(|| self.bare_code(part, has_fences)),
            // A block that does not have what is named may be an example in a docstring.
            false => fenced
                .last_defining()
                .map(|at| self.take_block(&fenced, at, part))
                .or_else(|| self.bare_code(part, has_fences))
                .or_else(last),
        };
        found.or_else(|| self.broken(part))
    }

    fn take_block(&self, blocks: &Candidates<'_>, at: usize, part: Part<'_>) -> ExtractedProgram {
        let block = &blocks.blocks[at];
        let rule = if block.is_closed { "block" } else { "unclosed_block" };
        self.take(&blocks.program_at(at), rule, part, block.span.clone())
    }

    /// Code among lines of prose, which defines what is named. A script names nothing, and has to print.
    fn bare_code(&self, part: Part<'_>, has_fences: bool) -> Option<ExtractedProgram> {
        let prompt = self.wanted.prompt;
        if !prompt.is_empty()
            && let Some(code) = leading_code(prompt, part.text)
            && let Some(body) = self.body_behind_prompt(code, Facts::default())
        {
            return Some(self.continuation(part, code, body));
        }
        let bare = self.bare_program(bare_blocks(part.text, has_fences), part);
        match (bare, has_fences) {
            (None, false) => self.bare_program(indented_blocks(part.text), part),
            (bare, _) => bare,
        }
    }

    fn bare_program(&self, blocks: Vec<Block<'_>>, part: Part<'_>) -> Option<ExtractedProgram> {
        let candidates = Candidates::new(blocks, self.names());
        let at = if self.is_script() { candidates.last_program()? } else { candidates.last_defining()? };
        let (block, program) = (&candidates.blocks[at], candidates.program_at(at));
        let facts = self.facts(&program);
        let is_script = facts.prints || (facts.has_statement && begins_definition(&block.code));
        let is_program = facts.binds || (self.is_script() && is_script);
        is_program.then(|| self.take(&program, "bare_code", part, block.span.clone()))
    }

    /// A text that was meant as a program, and is none.
    fn broken(&self, part: Part<'_>) -> Option<ExtractedProgram> {
        let (span, prompt) = (0..part.text.len(), self.wanted.prompt);
        match (looks_like_code(part.text), prompt.is_empty()) {
            (false, _) => None,
            (true, true) => Some(self.take(part.text, "whole", part, span)),
            (true, false) => Some(self.continuation(part, part.text, format!("{prompt}{}", part.text))),
        }
    }

    /// The code at `span` of a part: what the prompt defines stands before it where it needs it, or all of the prompt.
    fn take(&self, code: &str, rule: &str, part: Part<'_>, span: Range<usize>) -> ExtractedProgram {
        let (prompt, facts) = (self.wanted.prompt, self.facts(code));
        let body = if facts.parses && !facts.returns { None } else { self.body_behind_prompt(code, facts) };
        let text = body.unwrap_or_else(|| with_definitions_of_prompt(prompt, &self.names().names, code));
        extracted(text, rule, part, span)
    }

    /// `program` is the prompt with `code` of a part behind it.
    fn continuation(&self, part: Part<'_>, code: &str, program: String) -> ExtractedProgram {
        extracted(program, "continuation", part, 0..code.len())
    }

    fn describe_miss(&self, answer: Part<'_>) -> NoAnswer {
        /// More of them say no more.
        const SHOWN: usize = 12;
        let names: Vec<&str> = self.names().names.iter().take(SHOWN).map(String::as_str).collect();
        let wanted = match names.as_slice() {
            [] => String::new(),
            names => format!(" that defines `{}`", names.join("` or `")),
        };
        let blocks = read_blocks(answer.text);
        let found = match blocks.as_slice() {
            [] => "found prose alone".to_owned(),
            blocks => {
                let labels: Vec<String> = blocks.iter().take(SHOWN).map(|block| format!("`{}`", block.label)).collect();
                format!("found blocks labelled {}", labels.join(", "))
            }
        };
        NoAnswer::new(format!(
            "no program: looked for a fenced block, a tag such as `<answer>` or bare Python{wanted}; {found}"
        ))
    }
}

pub(super) fn extracted(text: String, rule: &str, part: Part<'_>, span: Range<usize>) -> ExtractedProgram {
    let span = [part.start + span.start, part.start + span.end];
    ExtractedProgram { text, extraction: Extraction { rule: rule.to_owned(), span } }
}
