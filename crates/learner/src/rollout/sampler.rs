//! Unbiased sampling from logits with a counter-based random source.

use crate::kernels::math::{LANES, exp, max};
use crate::kernels::simd::wide;

/// A number in (0, 1) for one token: a pure function of the seed and the token's place, with 53 random bits.
///
/// The mixer is SplitMix64's finaliser (Steele, Lea and Flood 2014), applied once for every coordinate.
#[must_use]
pub fn uniform(seed: u64, prompt: u64, sample: u64, position: u64) -> f64 {
    let state = [prompt, sample, position].iter().fold(mix(seed), |state, &x| mix(state ^ mix(x)));
    ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Draws a token from softmax(`logits` / `temperature`) by inversion of the cumulative distribution at `u`, summed in f64 so
/// that rare tokens keep their probability. Returns it with its log-probability. Temperature 0 is the argmax (the first of
/// equals), whose probability is 1. `logits` are overwritten.
#[must_use]
pub fn draw(logits: &mut [f32], temperature: f32, u: f64) -> (u32, f32) {
    let top = max(logits);
    if temperature <= 0.0 {
        return (logits.iter().position(|&x| x == top).unwrap_or(0) as u32, 0.0);
    }
    let inverse = 1.0 / temperature;
    wide(
        #[inline(always)]
        || logits.iter_mut().for_each(|x| *x = exp((*x - top) * inverse)),
    );
    let total = total(logits);
    let token = invert(logits, u * total);
    (token as u32, (f64::from(logits[token]) / total).ln() as f32)
}

/// The log-probability of `token` at temperature 1, as [`draw`] gives it. `logits` are overwritten.
pub(super) fn log_probability(logits: &mut [f32], token: u32) -> f32 {
    let (top, own) = (max(logits), logits[token as usize]);
    wide(
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
