//! Answers inside the responses to prompts of the user's own: a program in a fenced block, a predicted literal behind an assertion.
//!
//! Each rule takes one place of a response, whatever stands there, and the judge decides: no rule looks at what the task expects, and none
//! tries a second place where the first is wrong. docs/evaluating.md has the rules.

use veriplay_core::Predicted;
use veriplay_verifier::fences::{Fence, MAX_FENCE_INDENT, after_thought, read_fences};

/// How the text ends that a response continues.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Continued {
    /// In an open block of code, whose fence is indented by so many columns.
    in_block: Option<usize>,
    /// With this beginning of an assertion. Empty where it does not.
    assertion: String,
}

impl Continued {
    /// Looks at the end of a prompt, or of a reply that is begun.
    pub(super) fn after(text: &str) -> Self {
        let in_block = read_fences(text).unclosed.map(|fence| fence.indent);
        let last = text.rsplit('\n').next().unwrap_or_default();
        let assertion = if last.trim_start().starts_with("assert") { last } else { "" };
        Self { in_block, assertion: assertion.to_owned() }
    }

    /// The program in a response: the rest of an open block, else the last complete block behind the thought, else the whole response.
    pub(super) fn program(&self, response: &str) -> String {
        match self.in_block {
            Some(indent) => before_fence(response, indent).to_owned(),
            None => last_block(after_thought(response)).unwrap_or_else(|| response.to_owned()),
        }
    }

    /// The literals that a response predicts.
    pub(super) fn prediction(&self, response: &str, predict: Predicted) -> String {
        let answer = self.answer(response);
        let predicted = match (split_call(&answer), predict) {
            (Some((_, rest)), Predicted::Output) => rest.trim_start().strip_prefix("=="),
            (Some((arguments, _)), Predicted::Input) => Some(arguments),
            (None, _) => None,
        };
        predicted.unwrap_or(&answer).trim().to_owned()
    }

    /// A response without what surrounds its answer: a thought, tags, and a block of code.
    fn answer(&self, response: &str) -> String {
        let response = after_thought(response);
        let tagged = response.split_once("[ANSWER]").map(|(_, rest)| rest);
        let text = tagged.unwrap_or(response);
        let text = text.split_once("[/ANSWER]").map_or(text, |(answer, _)| answer);
        if tagged.is_none() && !self.assertion.is_empty() {
            return format!("{}{}", self.assertion, before_fence(text, self.in_block.unwrap_or(0)));
        }
        self.program(text).trim().to_owned()
    }
}

/// The text before the first line with a fence that can end a block whose own fence is indented by `indent` columns.
fn before_fence(text: &str, indent: usize) -> &str {
    let ends = |line: &str| Fence::parse(line).is_some_and(|fence| fence.indent <= indent + MAX_FENCE_INDENT);
    lines_with_offsets(text).find(|(_, line)| ends(line)).map_or(text, |(at, _)| &text[..at])
}

/// What stands in the last block that is closed.
fn last_block(text: &str) -> Option<String> {
    read_fences(text).blocks.pop().map(|block| block.code)
}

/// The lines with their ends, each with the place where it begins.
fn lines_with_offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |next, line| {
        let at = *next;
        *next += line.len();
        Some((at, line))
    })
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
pub(super) fn begun_arguments(response: &str) -> &str {
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
    use veriplay_core::Predicted;

    use super::{Continued, begun_arguments};

    fn program(continued: &str, response: &str) -> String {
        Continued::after(continued).program(response)
    }

    #[test]
    fn a_program_is_the_rest_of_an_open_block_or_the_last_block_or_everything() {
        let talk = "First:\n```python\nx = 1\n```\nBetter:\n```\nx = 2\n```\nDone.";
        for (continued, response, found) in [
            ("", talk, "x = 2\n"),
            ("Explain.", "```python\nx = 1\n```\nand\n```python\nx = 2", "x = 1\n"),
            ("", "x = 1\n", "x = 1\n"),
            ("", "  ```py\n  x = 1\n  ```", "x = 1\n"),
            // The fences of a docstring are text.
            ("", "```py\nx(\n    ```\n    ```\n)\n```", "x(\n    ```\n    ```\n)\n"),
            ("```python\n", "x(\n    ```\n    ```\n)\n```\nDone.", "x(\n    ```\n    ```\n)\n"),
            ("", "<think>\n```\nx = 1\n```\n</think>\n```\nx = 2\n```", "x = 2\n"),
            ("", "<think>\n```\nx = 1\n```\n</think>\nNo.", "<think>\n```\nx = 1\n```\n</think>\nNo."),
            ("Here it is:\n```python\n", "x = 1\n```\nDone.\n```\nx = 2\n```", "x = 1\n"),
            ("Here it is:\n```python\n", "x = 1", "x = 1"),
            ("```\nstub\n```\n[BEGIN]\n", "x = 1\n", "x = 1\n"),
            ("", "", ""),
        ] {
            assert_eq!(program(continued, response), found, "{continued:?} {response:?}");
        }
    }

    #[test]
    fn a_predicted_output_is_what_stands_behind_the_assertion() {
        for (continued, response, found) in [
            ("[ANSWER]\n", "assert f(\"a == b)\", [1]) == 'c == d'\n", "'c == d'"),
            ("", "[THOUGHT]\nf(1) == 3?\n[/THOUGHT]\n[ANSWER]\nassert f(1) == 2\n[/ANSWER]\n[ANSWER]\n3", "2"),
            ("", "[ANSWER]\n```python\nassert f(1) == 2\n```\n[/ANSWER]", "2"),
            ("", "```python\nassert f(1) == 2\n```", "2"),
            ("```python\nassert f(1) ==", " 2\n```", "2"),
            ("assert f(1)", " == 2", "2"),
            ("assert f(1) ==", "Let me see. [ANSWER]2[/ANSWER]", "2"),
            ("", "2", "2"),
            ("", "<think>[ANSWER]3[/ANSWER]?</think>\n[ANSWER]2[/ANSWER]", "2"),
            ("", "'</think>'", "'</think>'"),
            // These are not literals, so that the judge finds them malformed.
            ("", "The output is 2.", "The output is 2."),
            ("", "assert f(1) == 2 or assert f(1) == 3", "2 or assert f(1) == 3"),
            ("", "assert f(1", "assert f(1"),
            ("", "assert f(1) != 2", "assert f(1) != 2"),
        ] {
            assert_eq!(Continued::after(continued).prediction(response, Predicted::Output), found, "{response:?}");
        }
    }

    #[test]
    fn a_predicted_input_is_what_the_call_is_given() {
        for (continued, response, found) in [
            ("[ANSWER]\n", "assert f('(', [1, (2)]) == 3\n", "'(', [1, (2)]"),
            ("", "[ANSWER]f(1)[/ANSWER]", "1"),
            ("assert f(", "'it\\'s)', 2) == 3", "'it\\'s)', 2"),
            ("", "1, 2", "1, 2"),
            ("", "assert g(1) == 2", "assert g(1) == 2"),
        ] {
            assert_eq!(Continued::after(continued).prediction(response, Predicted::Input), found, "{response:?}");
        }
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
