//! What the gate asks of the text of a program in JavaScript, which the host does not parse.
//!
//! The two runs are what decides whether a program is deterministic. The words that are forbidden here are those by which a model would ask for a
//! date or for chance, and this is no defence: who computes a name gets by it.

use veriplay_core::ScannedLanguage;

use super::rules::{self, ProposalError};
use crate::runner::ENTRY;

/// As names of anything: of variables and properties, too.
const FORBIDDEN: [&str; 14] = [
    "Date", "Function", "console", "crypto", "eval", "export", "globalThis", "import", "performance", "process",
    "random", "require", "setInterval", "setTimeout",
];

/// Refuses a program that does not say `function f(`, or that says a forbidden word outside of comments and strings. A template is read whole.
pub(super) fn check(program: &str) -> Result<(), ProposalError> {
    let tokens: Vec<&str> = ScannedLanguage::tokens(program).filter(|token| *token != "\n").collect();
    if let Some(word) = tokens.iter().find_map(|token| forbidden_word(token)) {
        return Err(ProposalError::refused(rules::FORBIDDEN, format!("the program says `{word}`")));
    }
    match tokens.windows(3).any(|three| three == ["function", ENTRY, "("]) {
        true => Ok(()),
        false => Err(ProposalError::refused(rules::ENTRY, format!("the program has no `function {ENTRY}(`"))),
    }
}

fn forbidden_word(token: &str) -> Option<&'static str> {
    if token.starts_with(['"', '\'']) {
        return None;
    }
    let mut words = token.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    words.find_map(|word| FORBIDDEN.into_iter().find(|forbidden| *forbidden == word))
}
