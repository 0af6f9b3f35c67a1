//! The search for the program in a response.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;

use super::blocks::{Block, BlockEnd, FENCE, Start, TILDES, count_fences, first_unlabelled_fence, read_blocks};
use super::context::{with_definitions_of_blocks, with_definitions_of_prompt};
use super::frame::{Part, begins_with_tag, tagged_answer};
use super::labels::{Label, label_line};
use super::parsing::{
    Facts, first_beginning, indented_codes, leading_code, looks_like_code, parses_behind, script_beginnings,
    wanted_names,
};
use super::{Continues, Entry, ExtractedProgram, NoAnswer, Rule, Wanted, answer_of};

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
    let is_framed = (code.contains(FENCE) || code.contains(TILDES)) && !Facts::read(code, &BTreeSet::new()).parses;
    let found = if is_framed { extract_program(&wanted, code).ok() } else { None };
    found.map_or_else(|| code.to_owned(), |found| found.text)
}

struct Search<'w> {
    wanted: &'w Wanted<'w>,
    names: OnceCell<BTreeSet<String>>,
}

impl Search<'_> {
    /// The names that the program must bind, which are read where there is a choice.
    fn names(&self) -> &BTreeSet<String> {
        self.names.get_or_init(|| wanted_names(self.wanted.entry, self.wanted.prompt))
    }

    fn facts(&self, code: &str) -> Facts {
        Facts::read(code, self.names())
    }

    /// The rest of a block that the prompt opened.
    fn opened_block(&self, answer: Part<'_>) -> Option<ExtractedProgram> {
        let Continues::Block(indent) = self.wanted.continues else { return None };
        let first = read_blocks(answer.text, Start::InBlock(indent)).into_iter().next()?;
        (first.span.start == 0).then(|| self.take(&first.code, Rule::Prefilled, answer, first.span))
    }

    /// Code that begins the response, up to the fence that closes the block which the prompt opened.
    fn closed_by_fence(&self, answer: Part<'_>) -> Option<ExtractedProgram> {
        let end = first_unlabelled_fence(answer.text)?;
        let code = &answer.text[..end];
        let facts = self.facts(code);
        let is_body =
            !self.wanted.prompt.is_empty() && code.starts_with([' ', '\t']) && parses_behind(self.wanted.prompt, code);
        // A script names nothing: a line of prose before a block could be Python by chance, and then each fence has its other.
        let is_script = self.names().is_empty() && facts.has_statement && count_fences(answer.text) % 2 == 1;
        (facts.binds || is_body || is_script).then(|| self.take(code, Rule::Prefilled, answer, 0..end))
    }

    /// The whole of a part, by itself or behind the prompt.
    fn whole(&self, part: Part<'_>) -> Option<ExtractedProgram> {
        if begins_with_tag(part.text) {
            return None;
        }
        let (facts, prompt) = (self.facts(part.text), self.wanted.prompt);
        let is_program = facts.binds || (prompt.is_empty() && facts.has_statement);
        if is_program {
            return Some(self.take(part.text, Rule::Whole, part, 0..part.text.len()));
        }
        let continues = !prompt.is_empty() && parses_behind(prompt, part.text);
        continues.then(|| self.continuation(part, part.text))
    }

    /// A program within a part.
    fn in_part(&self, part: Part<'_>) -> Option<ExtractedProgram> {
        if let Some(found) = self.whole(part) {
            return Some(found);
        }
        let blocks = read_blocks(part.text, Start::Prose);
        let facts: Vec<Facts> = blocks.iter().map(|block| self.facts(&block.code)).collect();
        let blocks = Blocks { blocks: &blocks, facts: &facts, names: self.names() };
        let defining = blocks.last_defining().map(|at| self.take_block(&blocks, at, part));
        let last = || blocks.last_program().map(|at| self.take_block(&blocks, at, part));
        // A block that does not have what is named may be an example in a docstring.
        let others = match self.names().is_empty() {
            true => defining.or_else(last).or_else(|| self.bare_code(part)),
            false => defining.or_else(|| self.bare_code(part)).or_else(last),
        };
        others.or_else(|| self.broken(part))
    }

    fn take_block(&self, blocks: &Blocks<'_>, at: usize, part: Part<'_>) -> ExtractedProgram {
        let block = &blocks.blocks[at];
        let rule = if block.end == BlockEnd::Closed { Rule::Block } else { Rule::UnclosedBlock };
        self.take(&blocks.with_helpers(at), rule, part, block.span.clone())
    }

    /// Code among lines of prose, which defines what is named. A script names nothing, and has to print.
    fn bare_code(&self, part: Part<'_>) -> Option<ExtractedProgram> {
        let prompt = self.wanted.prompt;
        if !prompt.is_empty()
            && let Some(code) = leading_code(prompt, part.text)
        {
            return Some(self.continuation(part, code));
        }
        let starts = [Some(0), first_beginning(part.text)].into_iter().flatten();
        let mut codes = starts.filter_map(|start| Some((start, leading_code("", &part.text[start..])?)));
        let is_script = self.names().is_empty();
        let is_program = |facts: Facts| facts.binds || (is_script && facts.has_statement);
        let prints = |facts: Facts| facts.binds || (is_script && facts.has_statement && facts.prints);
        let found = codes.find(|(_, code)| is_program(self.facts(code))).or_else(|| {
            let starts = script_beginnings(part.text).filter(|_| is_script);
            let mut codes = starts.filter_map(|start| Some((start, leading_code("", &part.text[start..])?)));
            codes.find(|(_, code)| prints(self.facts(code)))
        });
        if let Some((start, code)) = found {
            return Some(self.take(code, Rule::BareCode, part, start..start + code.len()));
        }
        let (code, span) = indented_codes(part.text).into_iter().rfind(|(code, _)| prints(self.facts(code)))?;
        Some(self.take(&code, Rule::BareCode, part, span))
    }

    /// A text that was meant as a program, and is none.
    fn broken(&self, part: Part<'_>) -> Option<ExtractedProgram> {
        let span = 0..part.text.len();
        match (looks_like_code(part.text), self.wanted.prompt.is_empty()) {
            (false, _) => None,
            (true, true) => Some(self.take(part.text, Rule::Whole, part, span)),
            (true, false) => Some(self.continuation(part, part.text)),
        }
    }

    /// The code at `span` of a part: what the prompt defines stands before it where it needs it, or all of the prompt.
    fn take(&self, code: &str, rule: Rule, part: Part<'_>, span: Range<usize>) -> ExtractedProgram {
        let prompt = self.wanted.prompt;
        let span = part.start + span.start..part.start + span.end;
        let is_body = !prompt.is_empty() && !self.facts(code).parses && parses_behind(prompt, code);
        let text = match (prompt.is_empty(), is_body) {
            (true, _) => code.to_owned(),
            (false, true) => format!("{prompt}{code}"),
            (false, false) => with_definitions_of_prompt(prompt, self.names(), code),
        };
        ExtractedProgram { text, rule, span }
    }

    fn continuation(&self, part: Part<'_>, code: &str) -> ExtractedProgram {
        let span = part.start..part.start + code.len();
        ExtractedProgram { text: format!("{}{code}", self.wanted.prompt), rule: Rule::Continuation, span }
    }

    fn describe_miss(&self, answer: Part<'_>) -> NoAnswer {
        /// More of them say no more.
        const SHOWN: usize = 12;
        let names: Vec<&str> = self.names().iter().take(SHOWN).map(String::as_str).collect();
        let wanted = match names.as_slice() {
            [] => String::new(),
            names => format!(" that defines `{}`", names.join("` or `")),
        };
        let blocks = read_blocks(answer.text, Start::Prose);
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

/// The blocks of an answer, and what is known of each.
struct Blocks<'b> {
    blocks: &'b [Block<'b>],
    facts: &'b [Facts],
    /// The names that the program must bind.
    names: &'b BTreeSet<String>,
}

impl Blocks<'_> {
    /// The indices of the blocks of a rank, the last one first.
    fn of_rank(&self, rank: Rank) -> impl Iterator<Item = usize> {
        (0..self.blocks.len()).rev().filter(move |at| Rank::of(&self.blocks[*at]) == rank)
    }

    /// The last block that defines what is named.
    fn last_defining(&self) -> Option<usize> {
        let ranks = [Rank::Python, Rank::Unlabelled, Rank::Other];
        let last = |wanted: fn(&Facts) -> bool| {
            ranks.into_iter().find_map(|rank| self.of_rank(rank).find(|at| wanted(&self.facts[*at])))
        };
        last(|facts| facts.defines).or_else(|| last(|facts| facts.binds))
    }

    /// The last block that is a program by itself and may print, else the last that may print if the others define what it needs, else the last that
    /// is a program by itself, else the last that is one, else the last.
    fn last_program(&self) -> Option<usize> {
        let facts = self.facts;
        let python = || self.of_rank(Rank::Python);
        // What a program prints is often in a block without a label, too.
        let unlabelled = || self.of_rank(Rank::Unlabelled).filter(|at| facts[*at].has_statement);
        let printing = || python().filter(|at| facts[*at].parses && facts[*at].prints);
        let is_helped = |at: &usize| Facts::read(&self.with_helpers(*at), self.names).is_complete;
        printing()
            .find(|at| facts[*at].is_complete)
            .or_else(|| printing().next().filter(is_helped))
            .or_else(|| python().find(|at| facts[*at].parses && facts[*at].is_complete))
            .or_else(|| python().find(|at| facts[*at].parses))
            .or_else(|| python().next())
            .or_else(|| unlabelled().find(|at| facts[*at].is_complete))
            .or_else(|| unlabelled().next())
            .or_else(|| self.of_rank(Rank::Unlabelled).next())
    }

    /// The code of a block, behind what it needs of the others.
    fn with_helpers(&self, at: usize) -> String {
        if self.blocks.len() == 1 {
            return self.blocks[at].code.clone();
        }
        let is_helper =
            |other: &usize| *other != at && self.facts[*other].parses && Rank::of(&self.blocks[*other]) != Rank::Other;
        let others = (0..self.blocks.len()).filter(is_helper).map(|other| self.blocks[other].code.as_str());
        with_definitions_of_blocks(&others.collect::<String>(), self.names, &self.blocks[at].code)
    }
}

/// The order in which blocks are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    Python,
    Unlabelled,
    Other,
}

impl Rank {
    fn of(block: &Block<'_>) -> Self {
        match block.label {
            label if label.is_python() => Rank::Python,
            Label::Missing | Label::Unknown(_) if !block.is_indented => Rank::Unlabelled,
            _ => Rank::Other,
        }
    }
}
