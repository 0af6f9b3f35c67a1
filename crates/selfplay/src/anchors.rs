//! Responses of the start model that are imitated a little in each step, so that the policy stays near where it began. Called by the
//! games that learn from weighted samples.

use serde::{Deserialize, Serialize};
use veriplay_core::Rollout;

use crate::randomness::{draw, generator};

/// A response to imitate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// Tokens of the prompt.
    pub prompt_tokens: Vec<u32>,
    /// Tokens of the response, the end token included.
    pub tokens: Vec<u32>,
}

impl From<&Rollout> for Anchor {
    fn from(rollout: &Rollout) -> Self {
        Self { prompt_tokens: rollout.prompt_tokens.clone(), tokens: rollout.tokens.clone() }
    }
}

/// How a game imitates its anchors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Imitation<'a> {
    pub(crate) anchors: &'a [Anchor],
    /// Of them in each step.
    pub(crate) samples: usize,
    /// Of each of those in the loss.
    pub(crate) weight: f64,
}

impl<'a> Imitation<'a> {
    /// A step's anchors; none where they would weigh nothing.
    pub(crate) fn drawn(self, seed: u64, step: u64) -> Vec<&'a Anchor> {
        if self.weight == 0.0 {
            return Vec::new();
        }
        let all = self.anchors.iter().map(|anchor| (anchor, 1.0)).collect();
        draw(all, self.samples, &mut generator(seed, step, "anchors"))
    }
}
