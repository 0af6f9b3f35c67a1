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
    /// Which of `statements` are known: stated before, or earlier in this batch. `None` is known to nobody.
    pub(super) fn known(&self, statements: &[Option<Digest>]) -> Vec<bool> {
        let mut seen: BTreeSet<&Digest> = self.stated.iter().collect();
        statements.iter().map(|digest| digest.as_ref().is_some_and(|digest| !seen.insert(digest))).collect()
    }

    /// Remembers statements, and forgets the oldest beyond `capacity`.
    pub(super) fn remember(&mut self, statements: impl IntoIterator<Item = Digest>, capacity: usize) {
        self.stated.extend(statements);
        let excess = self.stated.len().saturating_sub(capacity);
        self.stated.drain(..excess);
    }
}
