//! Predicted literals behind an assertion, in a tag or in a block.

use veriplay_core::Predicted;

use super::blocks::{first_of_open_block, read_blocks};
use super::frame::{Part, tagged_answer};
use super::{Continues, NoAnswer, answer_of};

/// What a response goes on from, where a prediction is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BegunPrediction {
    continues: Continues,
    /// The beginning of an assertion. Empty without one.
    assertion: String,
}

impl BegunPrediction {
    /// Looks at the end of a prompt, or of a reply that is begun.
    #[must_use]
    pub fn after(text: &str) -> Self {
        let last = text.rsplit('\n').next().unwrap_or_default();
        let assertion = if last.trim_start().starts_with("assert") { last } else { "" };
        Self { continues: Continues::after(text), assertion: assertion.to_owned() }
    }

    /// The literals that a response predicts: of `assert f(…) == …`, with or without `assert`, the output is what follows `==` and the input what
    /// stands in the brackets. An answer without such a call is taken whole.
    ///
    /// # Errors
    /// The response has no answer.
    pub fn extract(&self, response: &str, predict: Predicted) -> Result<String, NoAnswer> {
        let answer = answer_of(response, self.continues)?;
        let text = match tagged_answer(answer) {
            Some(inside) => block_or_all(inside, Continues::Prose),
            None if self.assertion.is_empty() => block_or_all(answer, self.continues),
            None => format!("{}{}", self.assertion, first_block(answer, 0)),
        };
        let text = text.trim();
        let predicted = match (split_call(text), predict) {
            (Some((_, rest)), Predicted::Output) => rest.trim_start().strip_prefix("=="),
            (Some((arguments, _)), Predicted::Input) => Some(arguments),
            (None, _) => None,
        };
        Ok(predicted.unwrap_or(text).trim().to_owned())
    }
}

/// What a block holds: the one that is open, or the last one; else the whole part.
fn block_or_all(part: Part<'_>, continues: Continues) -> String {
    match continues {
        Continues::Block(indent) => first_block(part, indent),
        Continues::Prose | Continues::Thought => {
            let blocks = read_blocks(part.text);
            blocks.last().map_or_else(|| part.text.to_owned(), |block| block.code.clone())
        }
    }
}

/// What stands before the fence that closes the open block.
fn first_block(part: Part<'_>, indent: usize) -> String {
    first_of_open_block(part.text, indent).map_or_else(String::new, |block| block.code)
}

/// The arguments of `f(…)`, with or without `assert` before it, and what follows the call.
fn split_call(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let call = text.strip_prefix("assert").map_or(text, str::trim_start);
    let inside = call.strip_prefix('f')?.trim_start().strip_prefix('(')?;
    let end = closing_bracket(inside)?;
    Some((&inside[..end], &inside[end + 1..]))
}

/// The arguments of a call that the prompt has begun: what stands before its closing bracket, or all of a response without one.
#[must_use]
pub fn begun_arguments(response: &str) -> &str {
    closing_bracket(response).map_or(response, |end| &response[..end]).trim()
}

/// Where the bracket is that closes one before `text`. Brackets in strings of Python do not count.
fn closing_bracket(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, found) in text.char_indices() {
        match (quote, found) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) => quote = quote.filter(|_| found != open),
            (None, '\'' | '"') => quote = Some(found),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')') if depth == 0 => return Some(at),
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::texts;

    #[test]
    fn a_prediction_is_what_stands_behind_the_assertion_or_what_the_call_is_given() {
        for [predicted, begun, response, found] in texts(include_str!("../../tests/main/cases/predictions.txt")) {
            let wanted = if predicted == "output" { Predicted::Output } else { Predicted::Input };
            assert_eq!(BegunPrediction::after(&begun).extract(&response, wanted), Ok(found), "{response:?}");
        }
        assert!(BegunPrediction::default().extract("<think>2", Predicted::Output).is_err());
    }

    #[test]
    fn the_arguments_of_a_begun_call_end_where_it_does() {
        for (response, found) in [
            ("1, 2) == 3", "1, 2"),
            ("'a') == 'b == c'", "'a'"),
            ("'a == b'", "'a == b'"),
            ("(1, ')'), [2]) == 3) == 4", "(1, ')'), [2]"),
            (" (1, 2)", "(1, 2)"),
        ] {
            assert_eq!(begun_arguments(response), found, "{response}");
        }
    }
}
