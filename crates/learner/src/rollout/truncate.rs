//! Top-k, top-p and min-p: which tokens a draw may take.
//!
//! Called by [`TokenSampler::draw`]. Tokens are ranked by logit, equals by id, so the result does not depend on how exponentials
//! round. Only as many are sorted as are kept: a vocabulary has 150,000 tokens, a nucleus tens.

use std::cmp::Ordering;

use super::sampler::{TokenSampler, total};

/// Tokens sorted at a time.
const SORTED_AT_ONCE: usize = 256;

/// What is left to do once logits have become weights.
pub(super) struct Truncation {
    /// Logit and id of the candidates, the best `top_k` in any order; `None` where rank does not matter.
    ranked: Option<Vec<(f32, u32)>>,
    top_p: f32,
    min_p: f32,
}

impl Truncation {
    /// From the logits, which are still whole.
    pub(super) fn new(sampler: &TokenSampler, logits: &[f32]) -> Self {
        let TokenSampler { top_k, top_p, min_p, .. } = *sampler;
        let fewer = (1..logits.len()).contains(&top_k);
        let ranked = (fewer || top_p < 1.0).then(|| {
            let mut ranked: Vec<(f32, u32)> = logits.iter().copied().zip(0..).collect();
            if fewer {
                ranked.select_nth_unstable_by(top_k - 1, likelier_first);
                ranked.truncate(top_k);
            }
            ranked
        });
        Self { ranked, top_p, min_p }
    }

    /// Sets the weights [vocab] of all other tokens to 0. The largest weight is 1: they are relative to the likeliest token.
    pub(super) fn apply(self, weights: &mut [f32]) {
        if let Some(ranked) = self.ranked {
            let kept: Vec<(u32, f32)> = nucleus(ranked, weights, self.top_p);
            weights.fill(0.0);
            kept.into_iter().for_each(|(id, weight)| weights[id as usize] = weight);
        }
        if self.min_p > 0.0 {
            weights.iter_mut().filter(|weight| **weight < self.min_p).for_each(|weight| *weight = 0.0);
        }
    }
}

fn likelier_first(a: &(f32, u32), b: &(f32, u32)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// The fewest likeliest candidates whose weights are `top_p` of all candidates', with their weights.
fn nucleus(mut ranked: Vec<(f32, u32)>, weights: &[f32], top_p: f32) -> Vec<(u32, f32)> {
    let weight = |&(_, id): &(f32, u32)| (id, weights[id as usize]);
    if top_p >= 1.0 {
        return ranked.iter().map(weight).collect();
    }
    let target = f64::from(top_p) * mass(&mut ranked, weights);
    let (mut kept, mut below) = (Vec::new(), 0.0);
    for from in (0..ranked.len()).step_by(SORTED_AT_ONCE) {
        for (id, weight) in sort_next(&mut ranked[from..]).iter().map(weight) {
            kept.push((id, weight));
            below += f64::from(weight);
            if below >= target {
                return kept;
            }
        }
    }
    kept
}

/// Σ of the candidates' weights, in an order that does not depend on how they were selected.
fn mass(ranked: &mut [(f32, u32)], weights: &[f32]) -> f64 {
    if ranked.len() == weights.len() {
        return total(weights);
    }
    ranked.sort_unstable_by_key(|&(_, id)| id);
    ranked.iter().map(|&(_, id)| f64::from(weights[id as usize])).sum()
}

/// Moves the likeliest to the front, in order, and returns them.
fn sort_next(rest: &mut [(f32, u32)]) -> &[(f32, u32)] {
    let count = SORTED_AT_ONCE.min(rest.len());
    if count < rest.len() {
        rest.select_nth_unstable_by(count - 1, likelier_first);
    }
    rest[..count].sort_unstable_by(likelier_first);
    &rest[..count]
}
