//! What a task is made of, as far as intrinsic rewards look at it. Stated by the games, read by [`crate::intrinsic`].

use std::cell::OnceCell;
use std::collections::BTreeSet;

/// The parts of a task.
#[derive(Debug, Clone, Default)]
pub struct TaskContent {
    /// The code that it is about, or that does it.
    pub code: Option<String>,
    /// What a solver must find, where one thing was proposed.
    pub answer: Option<String>,
    shape: OnceCell<BTreeSet<Trigram>>,
}

/// Kinds of three tokens in a row.
pub(crate) type Trigram = [u8; 3];

impl TaskContent {
    /// Of a task with this code and this answer.
    pub fn new(code: impl Into<String>, answer: Option<String>) -> Self {
        Self { code: Some(code.into()), answer, shape: OnceCell::new() }
    }

    /// The trigrams of the code, computed once; `None` without code.
    pub(crate) fn shape(&self, trigrams: impl FnOnce(&str) -> BTreeSet<Trigram>) -> Option<&BTreeSet<Trigram>> {
        let code = self.code.as_deref()?;
        Some(self.shape.get_or_init(|| trigrams(code)))
    }
}
