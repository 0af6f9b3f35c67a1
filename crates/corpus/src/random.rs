//! Seeded randomness: one independent ChaCha8 stream for each (seed, label), and a weighted draw.
//!
//! Everything generated depends only on these two, so it is the same on every machine.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use veriplay_core::Digest;

/// The stream of `seed` under `label`. Streams with different labels are independent.
pub(crate) fn seeded_stream(seed: u64, label: &str) -> ChaCha8Rng {
    let digest = Digest::of(format!("veriplay stream {seed} {label}").as_bytes());
    ChaCha8Rng::seed_from_u64(digest.words()[0])
}

/// Draws one of `items` in proportion to its weight. The weights must be checked: finite, none negative, sum positive.
pub(crate) fn draw_weighted<'a, T>(rng: &mut impl Rng, items: &'a [T], weight: impl Fn(&T) -> f64) -> &'a T {
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
