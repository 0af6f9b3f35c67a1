//! Unbiased sampling from logits with a counter-based random source: temperature, top-k, top-p and min-p.
//!
//! For a truncation tokens are ranked by logit, equals by id, so the result does not depend on how exponentials round. Only as many are
//! sorted as are kept: a vocabulary has 150,000 tokens, a nucleus tens.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use veriplay_core::mix_seed;
use veriplay_kernels::math::{LANES, exp, max};
use veriplay_kernels::simd::vectorized;

/// A number in (0, 1) for one token: a pure function of the seed and the token's place, with 53 random bits.
pub fn uniform(seed: u64, prompt: u64, sample: u64, position: u64) -> f64 {
    ((mix_seed(seed, &[prompt, sample, position]) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// From logits to a token: temperature, then top-k, then top-p, then min-p, in the order of transformers' processors; what each keeps
/// is renormalised before the next.
///
/// - Temperature T: p ∝ exp(logit / T). At 0 the likeliest token is taken, the first of equals.
/// - Top-k (Fan, Lewis and Dauphin 2018, "Hierarchical Neural Story Generation"): the k likeliest tokens; of equals the lower ids.
/// - Top-p, or nucleus (Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration"): the fewest likeliest tokens whose
///   probabilities sum to at least p.
/// - Min-p (Nguyen et al. 2024, "Turning Up the Heat"): the tokens at least `min_p` times as likely as the likeliest.
///
/// [`TokenSampler::draw`] returns the log-probability in the distribution that it draws from: after temperature and truncation,
/// renormalised. Rollouts and continuations keep the model's own instead, which [`crate::Learner::score`] gives too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenSampler {
    /// Softmax temperature; 0 is greedy.
    pub temperature: f32,
    /// Tokens kept; 0 is all.
    pub top_k: usize,
    /// Probability kept; 1 is all.
    pub top_p: f32,
    /// Smallest share of the likeliest token's probability; 0 keeps all.
    pub min_p: f32,
}

impl Default for TokenSampler {
    fn default() -> Self {
        Self::at(1.0)
    }
}

impl TokenSampler {
    /// At a temperature, without truncation.
    pub const fn at(temperature: f32) -> Self {
        Self { temperature, top_k: 0, top_p: 1.0, min_p: 0.0 }
    }

    /// Draws a token by inversion of the cumulative distribution at `u`, in the order of ids, summed in f64 so that rare tokens
    /// keep their probability. Returns it with its log-probability in nats. `logits` `[vocab]` are overwritten.
    pub fn draw(&self, logits: &mut [f32], u: f64) -> (u32, f32) {
        let top = max(logits);
        let inverse = 1.0 / self.temperature;
        // Also where the temperature is so small that its inverse is infinite.
        if !(inverse > 0.0 && inverse.is_finite()) {
            return (logits.iter().position(|&x| x == top).unwrap_or(0) as u32, 0.0);
        }
        let truncation = Truncation::new(self, logits);
        vectorized(
            #[inline(always)]
            || logits.iter_mut().for_each(|x| *x = exp((*x - top) * inverse)),
        );
        truncation.apply(logits);
        let total = total(logits);
        let token = invert(logits, u * total);
        (token as u32, (f64::from(logits[token]) / total).ln() as f32)
    }
}

/// The log-probability of `token` at temperature 1, as [`TokenSampler::draw`] gives it. `logits` are overwritten.
pub(super) fn log_probability(logits: &mut [f32], token: u32) -> f32 {
    let (top, own) = (max(logits), logits[token as usize]);
    vectorized(
        #[inline(always)]
        || logits.iter_mut().for_each(|x| *x = exp(*x - top)),
    );
    (f64::from(own - top) - total(logits).ln()) as f32
}

/// Σ in f64, in blocks.
fn total(weights: &[f32]) -> f64 {
    weights.chunks(LANES).map(block).sum()
}

fn block(weights: &[f32]) -> f64 {
    weights.iter().map(|&x| f64::from(x)).sum()
}

/// The first index whose cumulative weight exceeds `target`; never one of weight 0.
fn invert(weights: &[f32], target: f64) -> usize {
    let mut below = 0.0;
    let mut last = 0;
    for (b, chunk) in weights.chunks(LANES).enumerate() {
        let mass = block(chunk);
        if below + mass <= target && mass > 0.0 {
            below += mass;
            last = b * LANES + chunk.iter().rposition(|&x| x > 0.0).unwrap_or(0);
            continue;
        }
        for (i, &x) in chunk.iter().enumerate() {
            if x > 0.0 {
                last = b * LANES + i;
                below += f64::from(x);
                if below > target {
                    return last;
                }
            }
        }
    }
    last
}

const SORTED_AT_ONCE: usize = 256;

/// A truncation, prepared from the logits and applied to the weights.
struct Truncation {
    /// Logit and id of the candidates, the best `top_k` in any order; `None` where rank does not matter.
    ranked: Option<Vec<(f32, u32)>>,
    top_p: f32,
    min_p: f32,
}

impl Truncation {
    /// From the logits, which are still whole.
    fn new(sampler: &TokenSampler, logits: &[f32]) -> Self {
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
    fn apply(self, weights: &mut [f32]) {
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
