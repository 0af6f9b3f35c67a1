//! Preference pairs as an objective: a formula of `losses` on the margin of every pair.
//!
//! Called by the learner's `prefer`. The two responses of a pair stay in one micro-batch: the second is bound to the first.

use std::collections::BTreeMap;

use veriplay_core::{LearnError, PreferenceBatch, PreferencePair};

use crate::losses::Preference;
use crate::model::layout::{MicroBatch, Response};
use crate::objective::{Evaluated, Objective};

/// Pairs, and what is minimised on them. Response 2i is the chosen one of pair i, and 2i + 1 the rejected one.
pub(crate) struct PairObjective<'a> {
    loss: Preference,
    pairs: &'a [PreferencePair],
    /// Of every pair, chosen minus rejected.
    references: Vec<f64>,
}

impl<'a> PairObjective<'a> {
    /// `held` gives the log-probabilities under the learner's reference; it is asked for pairs that bring none.
    pub(crate) fn new(
        loss: Preference,
        batch: &'a PreferenceBatch,
        held: &BTreeMap<usize, [f64; 2]>,
    ) -> Result<Self, LearnError> {
        let margin = |(index, pair): (usize, &PreferencePair)| {
            let missing = || LearnError::Missing {
                index,
                what: "reference log-probabilities",
                loss: loss.name(),
                hint: "hold a reference in the learner, or give them with the pair",
            };
            let found = pair.reference.or_else(|| held.get(&index).copied());
            found.map(|[chosen, rejected]| chosen - rejected).ok_or_else(missing)
        };
        let references = batch.pairs.iter().enumerate().map(margin).collect::<Result<_, _>>()?;
        Ok(Self { loss, pairs: &batch.pairs, references })
    }
}

impl Objective for PairObjective<'_> {
    fn responses(&self) -> Vec<(&[u32], Response<'_>)> {
        let mut out: Vec<(&[u32], Response<'_>)> = Vec::with_capacity(2 * self.pairs.len());
        for (i, pair) in self.pairs.iter().enumerate().filter(|(_, pair)| pair.weight != 0.0) {
            for (index, tokens, bound) in [(2 * i, &pair.chosen, false), (2 * i + 1, &pair.rejected, true)] {
                out.push((&pair.prompt, Response { index, tokens, masked: 0, bound }));
            }
        }
        out
    }

    fn evaluate(&self, batch: &MicroBatch, logprobs: &[f32], entropies: &[f32]) -> Evaluated {
        let mut margins: BTreeMap<usize, f64> = BTreeMap::new();
        for (&(index, _), &logprob) in batch.origins.iter().zip(logprobs) {
            *margins.entry(index / 2).or_insert(-self.references[index / 2]) += sign(index) * f64::from(logprob);
        }
        let mut out = Evaluated { slopes: vec![0.0; logprobs.len() + entropies.len()], ..Evaluated::default() };
        let scale = 1.0 / self.pairs.len() as f64;
        let mut slopes: BTreeMap<usize, f64> = BTreeMap::new();
        for (&pair, &margin) in &margins {
            let (term, weight) = (self.loss.formula().pair(margin), f64::from(self.pairs[pair].weight) * scale);
            out.loss += weight * term.value;
            slopes.insert(pair, weight * term.slope);
            out.metrics.add("actor/preference_margin", margin);
            out.metrics.add("actor/preference_accuracy", f64::from(u8::from(margin > 0.0)));
        }
        for (slope, &(index, _)) in out.slopes.iter_mut().zip(&batch.origins) {
            *slope = (sign(index) * slopes[&(index / 2)]) as f32;
        }
        out
    }
}

/// +1 for a chosen response, −1 for a rejected one.
const fn sign(index: usize) -> f64 {
    if index.is_multiple_of(2) { 1.0 } else { -1.0 }
}
