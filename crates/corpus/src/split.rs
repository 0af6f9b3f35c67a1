//! The fixed split of all programs into train, validation and held-out, decided by hash alone: sets drawn from different
//! parts cannot share a program, whoever draws them and whenever.

use veriplay_core::{Digest, program_hash};

use crate::random::first_word;

/// Names this way of splitting. Changing it moves every program.
const KEY: &str = "veriplay split 1";

/// The part of the world a program belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    /// Warm-up and self-play may see it.
    Train,
    /// Only tuning may see it.
    Validation,
    /// Only the final measurement may see it.
    HeldOut,
}

/// How much of the programs training never sees; the rest is [`Split::Train`]. Chances, at most 1 together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Share of [`Split::Validation`].
    pub validation: f64,
    /// Share of [`Split::HeldOut`].
    pub held_out: f64,
}

impl Split {
    /// All three.
    pub const ALL: [Split; 3] = [Split::Train, Split::Validation, Split::HeldOut];

    /// The part `program` belongs to under `shares`: a pure function of its normalised text.
    #[must_use]
    pub fn of(program: &str, shares: Shares) -> Split {
        let place = place(program);
        match () {
            () if place < shares.held_out => Split::HeldOut,
            () if place < shares.held_out + shares.validation => Split::Validation,
            () => Split::Train,
        }
    }

    /// The word files and reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Validation => "validation",
            Split::HeldOut => "held_out",
        }
    }
}

/// Where `program` falls in [0, 1).
fn place(program: &str) -> f64 {
    let keyed = Digest::of(format!("{KEY} {}", program_hash(program)).as_bytes());
    // 53 bits: what an f64 holds exactly.
    (first_word(&keyed) >> 11) as f64 / (1_u64 << 53) as f64
}
