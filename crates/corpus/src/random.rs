//! Seeded randomness: one independent ChaCha8 stream for each (seed, label), and a weighted draw.
//!
//! Everything generated depends on these two alone, so it is the same on every machine.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use veriplay_core::Digest;

/// The stream of `seed` under `label`: streams with different labels share nothing.
pub(crate) fn stream(seed: u64, label: &str) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(first_word(&Digest::of(format!("veriplay stream {seed} {label}").as_bytes())))
}

/// The first 64 bits of a digest.
pub(crate) fn first_word(digest: &Digest) -> u64 {
    u64::from_str_radix(&digest.as_str()[..16], 16).expect("a digest is hexadecimal")
}

/// Draws one of `items` in proportion to its weight. The weights must be checked: finite, none negative, sum positive.
pub(crate) fn weighted<'a, T>(rng: &mut impl Rng, items: &'a [T], weight: impl Fn(&T) -> f64) -> &'a T {
    let total: f64 = items.iter().map(&weight).sum();
    let mut left = rng.random::<f64>() * total;
    for item in items {
        left -= weight(item);
        if left < 0.0 {
            return item;
        }
    }
    // Rounding can leave a sliver above the last weight.
    items.iter().rev().find(|item| weight(item) > 0.0).expect("a checked list has a positive weight")
}
