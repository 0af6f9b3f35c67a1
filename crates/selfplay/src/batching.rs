//! Samples for the learner, those of one prompt side by side. Called by the games that learn from weighted samples.

use std::collections::HashMap;
use std::sync::Arc;

use veriplay_core::Sample;

/// Samples by prompt, prompts in the order of their first sample.
#[derive(Default)]
pub(crate) struct PromptGroups<'a> {
    groups: Vec<(Arc<[u32]>, Vec<Sample>)>,
    index: HashMap<&'a [u32], usize>,
}

impl<'a> PromptGroups<'a> {
    /// Adds what `make` makes of the prompt and the response. A response whose tokens are not told cannot be learned from.
    pub(crate) fn add(
        &mut self,
        prompt: &'a [u32],
        response: &[u32],
        make: impl FnOnce(Arc<[u32]>, Vec<u32>) -> Sample,
    ) {
        if response.is_empty() {
            return;
        }
        let next = self.groups.len();
        let index = *self.index.entry(prompt).or_insert(next);
        if index == next {
            self.groups.push((Arc::from(prompt), Vec::new()));
        }
        let (prompt, samples) = &mut self.groups[index];
        samples.push(make(Arc::clone(prompt), response.to_vec()));
    }

    /// All of them.
    pub(crate) fn finish(self) -> Vec<Sample> {
        self.groups.into_iter().flat_map(|(_, samples)| samples).collect()
    }
}
