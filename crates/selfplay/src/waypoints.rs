//! Waypoint credit: how much of a reference's way a wrong answer went, by the values of the trace that its text shows.
//!
//! # Example
//! Of the values `[1, 3]`, `12` and `-4`, and `12` in the prompt already, the text "so x is [1, 3]" shows 1 of 2.

/// The share of the values that the response shows, of those that the prompt does not show; `None` where it shows them all.
pub(crate) fn coverage(values: &[String], prompt: &str, response: &str) -> Option<f64> {
    let hidden: Vec<&String> = values.iter().filter(|value| !shows(prompt, value)).collect();
    let shown = hidden.iter().filter(|value| shows(response, value)).count();
    (!hidden.is_empty()).then(|| shown as f64 / hidden.len() as f64)
}

/// Whether a text has a value as a whole: no part of a longer number or word.
fn shows(text: &str, value: &str) -> bool {
    text.match_indices(value).any(|(at, _)| {
        let (before, mut after) = (text[..at].chars().next_back(), text[at + value.len()..].chars());
        let begins_in_word = value.starts_with(is_word) && before.is_some_and(|c| is_word(c) || c == '.' || c == '-');
        let ends_in_word = value.ends_with(is_word)
            && match (after.next(), after.next()) {
                // The end of a sentence is no decimal point.
                (Some('.'), Some(next)) => next.is_ascii_digit(),
                (next, _) => next.is_some_and(is_word),
            };
        !begins_in_word && !ends_in_word
    })
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_is_the_share_of_hidden_values_that_a_text_shows_as_wholes() {
        let values = ["[1, 3]", "12", "-4", "'ab'", "2.5"].map(str::to_owned);
        let cases = [
            ("f(12)", "so x is [1, 3], then 2.5.", Some(0.5)),
            ("f(12)", "12", Some(0.0)),
            ("", "12. -4 'ab'", Some(0.6)),
            ("", "112 -40 'ab'c 2.55 x12", Some(0.2)),
            ("", "0.12 12.5 -12 7-4", Some(0.2)),
            ("[1, 3] 12 -4 'ab' 2.5", "12", None),
        ];
        for (prompt, response, want) in cases {
            assert_eq!(coverage(&values, prompt, response), want, "{response}");
        }
        assert_eq!(coverage(&[], "", "12"), None);
    }
}
