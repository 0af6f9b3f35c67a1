//! What the game carries from step to step, and saves.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use veriplay_core::Digest;

/// The newest statements, by digest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolVerState {
    stated: VecDeque<Digest>,
}

impl SolVerState {
    /// Which of `statements` are known: reserved, stated before, or earlier in this batch. `None` is known to nobody.
    pub(super) fn known(&self, reserved: &BTreeSet<Digest>, statements: &[Option<Digest>]) -> Vec<bool> {
        let mut seen: BTreeSet<&Digest> = reserved.iter().chain(&self.stated).collect();
        statements.iter().map(|digest| digest.as_ref().is_some_and(|digest| !seen.insert(digest))).collect()
    }

    /// Remembers statements, and forgets the oldest beyond `capacity`.
    pub(super) fn remember(&mut self, statements: impl IntoIterator<Item = Digest>, capacity: usize) {
        self.stated.extend(statements);
        let excess = self.stated.len().saturating_sub(capacity);
        self.stated.drain(..excess);
    }
}

/// Names a statement up to case, white space and punctuation: texts that differ in nothing else state one problem.
#[must_use]
pub fn statement_digest(statement: &str) -> Digest {
    let words = statement.split(|c: char| !(c.is_alphanumeric() || "+-*/%<>=_".contains(c)));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    Digest::of(words.join(" ").as_bytes())
}
