//! `adpo`: `grpo`, as far as the judgement is trusted (ambiguity-dynamic policy optimisation of Agent0, arXiv 2511.16043).
//!
//! # What it computes
//! The advantage of `grpo` × (0.6 + 0.4 u) with u = (t − 0.3) / 0.5, no less than 0 and no more than 1, where t is what
//! [`super::EpisodeNotes::trust`] says; u = 1 without it. The upper clip of `ppo_clip` is 0.1 (1 − u) wider: with the usual 0.2, from 0.2 to 0.3.
//!
//! # Why
//! Where labels are votes, few votes are often wrong: less is learned from them. What is right then is rare among the samples, so that its
//! ratio may rise further before it is clipped.
//!
//! # Example
//! Trust 0.3, 0.5 and 0.8: the factors 0.6, 0.76 and 1, and clips 0.3, 0.26 and 0.2.

use super::grpo::Grpo;
use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, EpisodeNotes};

pub(super) struct Adpo;

impl AdvantageEstimator for Adpo {
    fn name(&self) -> &'static str {
        "adpo"
    }

    fn needs_groups(&self) -> bool {
        true
    }

    fn reads_notes(&self) -> bool {
        true
    }

    fn wider_clip(&self, notes: &EpisodeNotes) -> f64 {
        0.1 * (1.0 - certainty(notes))
    }

    fn advantages(&self, rows: &[AdvantageRow], memory: &mut AdvantageMemory) -> Vec<f64> {
        let advantages = Grpo.advantages(rows, memory).into_iter().zip(rows);
        advantages.map(|(advantage, row)| advantage * (0.6 + 0.4 * certainty(&row.notes))).collect()
    }
}

/// The number u, in [0, 1]; 0 of a trust that is not a number.
fn certainty(notes: &EpisodeNotes) -> f64 {
    notes.trust.map_or(1.0, |trust| ((trust.max(0.3) - 0.3) / 0.5).min(1.0))
}
