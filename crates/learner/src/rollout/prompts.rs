//! Prompts in flight: their caches, kept until the last of their samples ends, and the samples that wait for a slot.

use std::collections::VecDeque;

use veriplay_kernels::attention::KvCache;

/// A prompt that has been computed.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) ask: usize,
    pub(super) cache: KvCache,
    /// Of the first token [vocab]; taken by the last sample that starts.
    pub(super) logits: Vec<f32>,
    /// Samples of it, how many have started, and how many have ended.
    pub(super) samples: usize,
    pub(super) started: usize,
    pub(super) ended: usize,
}

/// A sample that may start now.
#[derive(Debug)]
pub(super) struct Start {
    /// Where its prompt is.
    pub(super) prompt: usize,
    pub(super) ask: usize,
    pub(super) sample: usize,
    pub(super) logits: Vec<f32>,
}

/// The prompts of one loop. A place is used again when its prompt is done.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    places: Vec<Option<Prompt>>,
    /// Places of prompts whose samples have not all started.
    waiting: VecDeque<usize>,
}

impl Prompts {
    pub(super) fn keep(&mut self, prompt: Prompt) {
        let free = self.places.iter().position(Option::is_none).unwrap_or(self.places.len());
        if free == self.places.len() {
            self.places.push(None);
        }
        self.places[free] = Some(prompt);
        self.waiting.push_back(free);
    }

    /// The next sample to start: those of one prompt one after the other.
    pub(super) fn start(&mut self) -> Option<Start> {
        let &at = self.waiting.front()?;
        let prompt = self.places[at].as_mut()?;
        let sample = prompt.started;
        prompt.started += 1;
        let last = prompt.started == prompt.samples;
        let logits = if last { std::mem::take(&mut prompt.logits) } else { prompt.logits.clone() };
        let start = Start { prompt: at, ask: prompt.ask, sample, logits };
        if last {
            self.waiting.pop_front();
        }
        Some(start)
    }

    /// One sample of the prompt has ended.
    pub(super) fn end(&mut self, at: usize) {
        if let Some(prompt) = &mut self.places[at] {
            prompt.ended += 1;
            if prompt.ended == prompt.samples {
                self.places[at] = None;
            }
        }
    }

    /// The cache of a prompt whose samples have not all ended.
    pub(super) fn cache(&self, at: usize) -> &KvCache {
        &self.places[at].as_ref().expect("a prompt is kept until its last sample ends").cache
    }
}
