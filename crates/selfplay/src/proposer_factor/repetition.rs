//! `repetition`: how few other proposals of the step do the same.
//!
//! # What it computes
//! 1 − (c − 1) / n, where n proposals of its kind were admitted in the step, and c of them have its behaviour; 1 where the behaviour is not known.
//!
//! # Why
//! It is the batch penalty of R-Zero (arXiv 2508.05004), which subtracts the share of a proposal's cluster by BLEU, with behaviours in place of
//! texts, and as a factor, so that a worthless task stays worthless. It tells a collapse at once, where `novelty` needs steps to see it.
//!
//! # How it can be gamed
//! As `novelty`, and by a few behaviours in turn, which `novelty` sees.
//!
//! # Example
//! Of 8 admitted proposals 4 do the same: each of the 4 earns 0.625 of its reward, the others all of it.

use super::ProposerFactor;
use crate::rewards::ProposalFacts;

pub(super) struct Repetition;

impl ProposerFactor for Repetition {
    fn name(&self) -> &'static str {
        "repetition"
    }

    fn needs_behaviours(&self) -> bool {
        true
    }

    fn factor(&self, facts: &ProposalFacts) -> f64 {
        1.0 - facts.cluster_share.unwrap_or(0.0)
    }
}
