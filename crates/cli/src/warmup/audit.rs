//! Which examples of warm-up hold what is measured: asked of every example before it is learned, and by `veriplay warmup --audit`.

use std::collections::{HashMap, HashSet};

use veriplay_core::Sample;
use veriplay_learner::Tokenizer;
use veriplay_selfplay::splits::{Guard, Measured};

/// The guard of splits, asked about examples in tokens.
pub(crate) struct Audit<'a> {
    guard: &'a Guard,
    tokenizer: &'a Tokenizer,
    /// Tokens that stand between the parts of an example.
    control: HashSet<u32>,
    /// Parts repeat.
    asked: HashMap<Vec<u32>, Option<&'a Measured>>,
}

impl<'a> Audit<'a> {
    pub(crate) fn new(guard: &'a Guard, tokenizer: &'a Tokenizer) -> Self {
        let ids = 0..u32::try_from(tokenizer.vocab_size()).unwrap_or(u32::MAX);
        let control = ids.filter(|id| tokenizer.is_special(*id)).collect();
        Self { guard, tokenizer, control, asked: HashMap::new() }
    }

    /// The first part of an example that is measured, as a program, by a function in it, or as a text.
    pub(crate) fn measured_in(&mut self, sample: &Sample) -> Option<(String, &'a Measured)> {
        let tokens: Vec<u32> = sample.prompt.iter().chain(sample.response.iter()).copied().collect();
        let parts = tokens.split(|id| self.control.contains(id)).filter(|part| !part.is_empty());
        for part in parts {
            let found = match self.asked.get(part) {
                Some(found) => *found,
                None => {
                    let text = self.tokenizer.decode(part);
                    let found = self.guard.find_text(&text).or_else(|| self.guard.find_program(&text));
                    self.asked.insert(part.to_vec(), found);
                    found
                }
            };
            if let Some(measured) = found {
                return Some((self.tokenizer.decode(part), measured));
            }
        }
        None
    }
}
