//! `class`: against proposals that are built alike (HRPO of Dr. Zero, arXiv 2601.07055).
//!
//! # What it computes
//! A = (r − μ) / σ with μ and σ over the rows of one role, task type and class, which is what [`super::EpisodeNotes::class`] says. A row without
//! a class, such as that of a solver or of a malformed proposal, is compared with its whole (role, task type) batch, as under `trr`.
//!
//! # Why
//! Long programs are solved less often than short ones, whatever their proposer might have made better. Within a class a proposal is compared
//! with its like, as by several proposals to one prompt, at the cost of one. A proposal that is alone in its class gets 0.
//!
//! # Example
//! Rewards 1, 0 of programs of two statements and 0.4, 0.2 of programs of five: 1, −1, 1, −1.

use super::trr::Trr;
use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, centered, scaled};

pub(super) struct Class;

impl AdvantageEstimator for Class {
    fn name(&self) -> &'static str {
        "class"
    }

    fn reads_notes(&self) -> bool {
        true
    }

    fn advantages(&self, rows: &[AdvantageRow], memory: &mut AdvantageMemory) -> Vec<f64> {
        let class = |row: &AdvantageRow| (row.batch(), row.notes.class);
        let both = scaled(rows, centered(rows, class), class).into_iter().zip(Trr.advantages(rows, memory));
        rows.iter().zip(both).map(|(row, (own, all))| if row.notes.class.is_some() { own } else { all }).collect()
    }
}
