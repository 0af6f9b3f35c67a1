//! The search for an answer in a language that the host does not parse: labels and fences decide alone. The last block that is labelled as the
//! language, else the last one without a label, else the answer as it is.

use veriplay_core::{AppendedTests, Language};

use super::blocks::{Block, read_blocks};
use super::frame::{Part, tagged_answer};
use super::labels::Label;
use super::program::{extract_program, extracted};
use super::{Continues, ExtractedProgram, NoAnswer, Wanted, answer_of};
use crate::languages::is_python;
use crate::sql::Sql;

/// Finds the query in a response.
///
/// # Errors
/// The answer has blocks of other languages alone, or there is none.
pub fn extract_query(response: &str) -> Result<ExtractedProgram, NoAnswer> {
    let part = part_of(response)?;
    Ok(last_block(&Sql, "query", part)?.unwrap_or_else(|| whole(part)))
}

/// Finds the program in a response, in any language. What the program must define matters in Python alone.
///
/// # Errors
/// Those of [`extract_program`]; or the answer has blocks of other languages alone, or there is none.
pub fn extract_in(language: &dyn Language, wanted: &Wanted<'_>, response: &str) -> Result<ExtractedProgram, NoAnswer> {
    if is_python(language) {
        return extract_program(wanted, response);
    }
    let part = part_of(response)?;
    Ok(last_block(language, "program", part)?.unwrap_or_else(|| whole(part)))
}

/// Finds the program that tests stand behind: a block is a whole one, which may lack the prompt's includes; a text without blocks continues
/// the prompt, up to what ends it.
///
/// # Errors
/// As [`extract_in`].
pub(super) fn extract_tested(
    language: &dyn Language,
    prompt: &str,
    tests: &AppendedTests,
    response: &str,
) -> Result<ExtractedProgram, NoAnswer> {
    let part = part_of(response)?;
    if let Some(found) = last_block(language, "program", part)? {
        let head = if found.text.contains(prompt.trim()) { String::new() } else { includes_of(prompt) };
        return Ok(ExtractedProgram { text: format!("{head}{}", found.text), ..found });
    }
    let end = tests.stop.iter().filter_map(|stop| part.text.find(stop.as_str())).min().unwrap_or(part.text.len());
    Ok(extracted(format!("{prompt}{}", &part.text[..end]), "continuation", part, 0..end))
}

fn part_of(response: &str) -> Result<Part<'_>, NoAnswer> {
    let answer = answer_of(response, Continues::Prose)?;
    Ok(tagged_answer(answer).unwrap_or(answer))
}

fn whole(part: Part<'_>) -> ExtractedProgram {
    extracted(part.text.trim().to_owned(), "whole", part, 0..part.text.len())
}

/// The last block that counts; `None` where there are no blocks. `what` it is, for people.
fn last_block(language: &dyn Language, what: &str, part: Part<'_>) -> Result<Option<ExtractedProgram>, NoAnswer> {
    let blocks = read_blocks(part.text);
    let labelled = blocks.iter().rev().find(|block| is_labelled(language, block));
    let found = labelled.or_else(|| blocks.iter().rev().find(|block| block.label == Label::Missing));
    match (found, blocks.last()) {
        (Some(block), _) => {
            let rule = if block.is_closed { "block" } else { "unclosed_block" };
            Ok(Some(extracted(block.code.clone(), rule, part, block.span.clone())))
        }
        (None, None) => Ok(None),
        (None, Some(block)) => Err(NoAnswer::new(format!(
            "no {what}: looked for a fenced block labelled `{}`, or one without a label; the last one is labelled `{}`",
            language.names()[0],
            block.label
        ))),
    }
}

/// Whether the first word of a block's label is of the language.
fn is_labelled(language: &dyn Language, block: &Block<'_>) -> bool {
    let label = block.label.to_string().to_ascii_lowercase();
    language.is_label(label.split([' ', '\t', ',', '{', ':']).next().unwrap_or_default())
}

/// The lines of a prompt without which its types have no names.
fn includes_of(prompt: &str) -> String {
    let lines = prompt.lines().filter(|line| line.starts_with('#') || line.starts_with("using "));
    lines.flat_map(|line| [line, "\n"]).collect()
}
