//! `mars`: what came after each turn, turn by turn and role by role (MARS, arXiv 2510.15414).
//!
//! # What it computes
//! With r the rewards of turns less their mean over the (role, task type) batch, a turn has R = the sum of r from it to the end of its episode.
//! A = (R − μ) / σ with μ and σ over the R of the batch. An episode that is rewarded as a whole is one turn. The released code first
//! subtracts the mean of a player's distinct values, and takes μ and σ over the tokens of both players; as no role is mixed with another here, what is
//! subtracted first changes nothing.
//!
//! # Why
//! A turn is not to blame for what was rewarded before it, and each role has rewards of its own size. Centring comes before the sum, or early
//! turns, which sum over more of the others, would be rewarded for being early.
//!
//! # Example
//! Turns with the rewards 0, 0, 1 and 0, 0, 0: mean 0.167, so that R is 0.5, 0.667, 0.833 and −0.5, −0.333, −0.167. μ 0.167 and σ 0.518, so
//! that A is 0.64, 0.97, 1.29 and −1.29, −0.97, −0.64.

use super::{AdvantageEstimator, AdvantageMemory, AdvantageRow, centered, revalued, scaled};

pub(super) struct Mars;

impl AdvantageEstimator for Mars {
    fn name(&self) -> &'static str {
        "mars"
    }

    fn advantages(&self, rows: &[AdvantageRow], _: &mut AdvantageMemory) -> Vec<f64> {
        let centred = centered(rows, AdvantageRow::batch).into_iter().zip(rows);
        let centred: Vec<AdvantageRow> = centred.map(|(reward, row)| AdvantageRow { reward, ..*row }).collect();
        let to_go = revalued(&centred, |row| (row.batch(), row.episode), rewards_to_go);
        scaled(&to_go, centered(&to_go, AdvantageRow::batch), AdvantageRow::batch)
    }
}

/// For each turn of an episode the sum of the rewards from it on.
fn rewards_to_go(turns: &[AdvantageRow]) -> Vec<f64> {
    let from = |first: usize| turns.iter().filter(move |row| row.turn >= first).map(|row| row.reward).sum();
    turns.iter().map(|row| from(row.turn)).collect()
}
