//! Stop strings: text that ends a sample, wherever token boundaries fall.
//!
//! Called by the decoding loop after every token, and when a sample's text is made. The whole text is decoded each time, because a
//! token's text may depend on its neighbours (bytes of one character, spaces); next to computing a token this costs nothing.

use crate::tokenizer::Tokenizer;

/// The stop strings of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stops<'a> {
    pub(crate) texts: &'a [String],
    pub(crate) tokenizer: &'a Tokenizer,
}

impl Stops<'_> {
    /// The stop string that the text of `tokens` holds.
    pub(super) fn find_in(&self, tokens: &[u32]) -> Option<String> {
        first(&self.tokenizer.decode(tokens), self.texts).map(|stop| stop.to_owned())
    }
}

/// The stop string that begins first in `text`; of those that begin together, the one that was named first.
fn first<'s>(text: &str, stops: &'s [String]) -> Option<&'s str> {
    let at = |stop: &'s String| text.find(stop.as_str()).map(|at| (at, stop.as_str()));
    stops.iter().filter_map(at).min_by_key(|&(at, _)| at).map(|(_, stop)| stop)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Stops, first};
    use crate::tokenizer::Tokenizer;

    #[test]
    fn the_stop_string_that_begins_first_is_found_and_of_equals_the_one_named_first() {
        let stops = ["c", "bc", "bcd"].map(str::to_owned);
        assert_eq!(first("abcd", &stops), Some("bc"));
        assert_eq!(first("acbcd", &stops), Some("c"));
        assert_eq!(first("ab", &stops), None);
        assert_eq!(first("é→c", &stops), Some("c"));
    }

    #[test]
    fn a_stop_string_is_found_when_the_last_byte_of_its_last_character_is_there() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chat/plain/tokenizer.json");
        let tokenizer = Tokenizer::load(&file).expect("a byte-level tokenizer");
        let texts = ["é→".to_owned()];
        let stops = Stops { texts: &texts, tokenizer: &tokenizer };
        let tokens = tokenizer.encode("a é→ b").expect("bytes spell everything");
        let whole = (0..=tokens.len()).find(|&n| stops.find_in(&tokens[..n]).is_some()).expect("it is there");
        assert!(tokenizer.decode(&tokens[..whole]).ends_with('→'));
        assert!(tokenizer.encode("→").expect("bytes").len() > 2, "tokens cut the character");
        assert!(
            tokenizer.decode(&tokens[..whole - 1]).ends_with('\u{fffd}'),
            "the last token holds a part of a character"
        );
    }
}
