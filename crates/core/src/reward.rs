//! Rewards.

use serde::{Deserialize, Serialize};

/// A reward: named parts, each with a score and a weight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reward {
    /// Name, score, weight. Names are the usual ones, such as `accuracy`, `format`, `learnability`.
    pub parts: Vec<(String, f64, f64)>,
}

impl Reward {
    /// A reward of one part with weight 1.
    #[must_use]
    pub fn single(name: &str, score: f64) -> Self {
        Self { parts: vec![(name.to_owned(), score, 1.0)] }
    }

    /// Σ score · weight.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.parts.iter().map(|(_, score, weight)| score * weight).sum()
    }
}
