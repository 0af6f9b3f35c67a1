//! `novelty`: how rarely earlier proposals did the same.
//!
//! # What it computes
//! 1 − n / 100, where n of the newest 100 admitted proposals of its kind, from earlier steps, have its behaviour; 1 where the behaviour is not known.
//! In `absolute_zero` the behaviour of a triplet or an error task is the signature of its program ([`veriplay_verifier::signatures`]).
//!
//! # Why
//! A proposer that has found a task of high reward goes on writing it with other names and inputs, which are no duplicates. Papers compare texts for
//! this (R-Zero by BLEU, OpenSIR by embeddings, PasoDoble by its history), and a text can be padded; what a program does cannot.
//!
//! # How it can be gamed
//! By a program that differs at one fixed input alone, such as one that adds `x == 7`: it is new as often as there are such differences.
//!
//! # Example
//! A program whose behaviour 30 of the last 100 had earns 0.7 of its reward.

use super::ProposerFactor;
use crate::rewards::ProposalFacts;

pub(super) struct Novelty;

impl ProposerFactor for Novelty {
    fn name(&self) -> &'static str {
        "novelty"
    }

    fn needs_behaviours(&self) -> bool {
        true
    }

    fn factor(&self, facts: &ProposalFacts) -> f64 {
        facts.novelty.unwrap_or(1.0)
    }
}
