//! The search for the query in a response: the last block that is labelled as SQL, else the last one without a label, else the answer as it is.

use veriplay_core::Language;

use super::blocks::{Block, read_blocks};
use super::frame::tagged_answer;
use super::labels::Label;
use super::program::extracted;
use super::{Continues, ExtractedProgram, NoAnswer, answer_of};
use crate::sql::Sql;

/// Finds the query in a response.
///
/// # Errors
/// The answer has blocks of other languages alone, or there is none.
pub fn extract_query(response: &str) -> Result<ExtractedProgram, NoAnswer> {
    let answer = answer_of(response, Continues::Prose)?;
    let part = tagged_answer(answer).unwrap_or(answer);
    let blocks = read_blocks(part.text);
    let last = |is_wanted: fn(&Block<'_>) -> bool| blocks.iter().rev().find(|block| is_wanted(block));
    match (last(is_query).or_else(|| last(is_unlabelled)), blocks.last()) {
        (Some(block), _) => {
            let rule = if block.is_closed { "block" } else { "unclosed_block" };
            Ok(extracted(block.code.clone(), rule, part, block.span.clone()))
        }
        (None, None) => Ok(extracted(part.text.trim().to_owned(), "whole", part, 0..part.text.len())),
        (None, Some(block)) => Err(NoAnswer::new(format!(
            "no query: looked for a fenced block labelled `sql`, or one without a label; the last one is labelled `{}`",
            block.label
        ))),
    }
}

fn is_query(block: &Block<'_>) -> bool {
    Sql.is_label(&block.label.to_string().to_ascii_lowercase())
}

fn is_unlabelled(block: &Block<'_>) -> bool {
    block.label == Label::Missing
}
