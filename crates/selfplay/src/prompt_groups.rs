//! Samples and pairs with one prompt side by side, so that the learner computes the prompt once.

use std::collections::HashMap;
use std::sync::Arc;

/// Samples or pairs by prompt, prompts in the order of their first one.
pub(crate) struct PromptGroups<'a, S> {
    groups: Vec<(Arc<[u32]>, Vec<S>)>,
    index: HashMap<&'a [u32], usize>,
}

impl<S> Default for PromptGroups<'_, S> {
    fn default() -> Self {
        Self { groups: Vec::new(), index: HashMap::new() }
    }
}

impl<'a, S> PromptGroups<'a, S> {
    /// Adds to the group of a prompt what `make` makes of it; all of a group share it.
    pub(crate) fn add(&mut self, prompt: &'a [u32], make: impl FnOnce(Arc<[u32]>) -> S) {
        let next = self.groups.len();
        let index = *self.index.entry(prompt).or_insert(next);
        if index == next {
            self.groups.push((Arc::from(prompt), Vec::new()));
        }
        let (prompt, made) = &mut self.groups[index];
        made.push(make(Arc::clone(prompt)));
    }

    /// As [`PromptGroups::add`], of a later turn of an episode: it stands in the group of the first turn's prompt, behind that turn.
    pub(crate) fn add_behind(&mut self, first: &'a [u32], prompt: &[u32], make: impl FnOnce(Arc<[u32]>) -> S) {
        self.add(first, |shared| make(if first == prompt { shared } else { Arc::from(prompt) }));
    }

    pub(crate) fn finish(self) -> Vec<S> {
        self.groups.into_iter().flat_map(|(_, made)| made).collect()
    }
}
