//! The train, validation and held-out split of everything this crate generates.
//!
//! A program's split depends on the hash of its normalized text and on nothing else. Sets drawn from different splits can therefore
//! share no program, whoever draws them and whenever. Tasks of environments are split in the same way, see
//! [`crate::environments::templates`].

use veriplay_core::{Digest, program_hash};

/// Names this way of splitting. Changing it moves every program.
const KEY: &str = "veriplay split 1";

/// A split of generated programs and tasks, as in Hugging Face datasets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    /// For warm-up and self-play.
    Train,
    /// For tuning. Never trained on.
    Validation,
    /// For the final measurement. Never trained on and never tuned with.
    HeldOut,
}

/// The shares of [`Split::Validation`] and [`Split::HeldOut`]; the rest is [`Split::Train`]. At most 1 together.
#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitShares {
    /// Share of [`Split::Validation`].
    pub validation: f64,
    /// Share of [`Split::HeldOut`].
    pub held_out: f64,
}

impl SplitShares {
    /// The split of a digest: uniform digests fall into each split in proportion to its share.
    pub(crate) fn assign(self, digest: &Digest) -> Split {
        let place = digest.fraction();
        match () {
            () if place < self.held_out => Split::HeldOut,
            () if place < self.held_out + self.validation => Split::Validation,
            () => Split::Train,
        }
    }
}

impl Split {
    /// All three.
    pub const ALL: [Split; 3] = [Split::Train, Split::Validation, Split::HeldOut];

    /// The split of `program` under `shares`: a pure function of its normalized text.
    pub fn of_program(program: &str, shares: SplitShares) -> Split {
        shares.assign(&Digest::of(format!("{KEY} {}", program_hash(program)).as_bytes()))
    }

    /// Its name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Validation => "validation",
            Split::HeldOut => "held_out",
        }
    }
}
