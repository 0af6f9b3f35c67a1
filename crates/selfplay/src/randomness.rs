//! Where randomness comes from: a generator for each (run seed, step, purpose). Called by the games and by the cli for
//! the seeds it hands to the policy. Invariant: no generator outlives the step it was made for, so nothing of it is saved.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use veriplay_core::Digest;

/// A fresh generator for one purpose of one step. Different purposes never share a stream.
pub fn generator(run_seed: u64, step: u64, purpose: &str) -> ChaCha8Rng {
    let mut seed = [0; 32];
    for (chunk, word) in seed.chunks_exact_mut(8).zip(words(run_seed, step, purpose)) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(seed)
}

/// A number for one purpose of one step, such as [`veriplay_core::Sampling::seed`].
pub fn derive_seed(run_seed: u64, step: u64, purpose: &str) -> u64 {
    words(run_seed, step, purpose)[0]
}

/// The digest of the three as four words. `purpose` comes last, so no two triples spell the same text.
fn words(run_seed: u64, step: u64, purpose: &str) -> [u64; 4] {
    Digest::of(format!("veriplay/{run_seed}/{step}/{purpose}").as_bytes()).words()
}

/// All of `items` in random order, each place in proportion to the weights of what is left (Efraimidis and Spirakis 2006: order
/// by ln(u) / w). Items of weight 0 come behind all others.
pub(crate) fn weighted_shuffle<T>(items: Vec<(T, f64)>, generator: &mut impl Rng) -> Vec<T> {
    let mut keyed: Vec<(f64, T)> = Vec::with_capacity(items.len());
    for (item, weight) in items {
        // u in (0, 1], so that ln(u) is finite.
        let u = 1.0 - generator.random::<f64>();
        keyed.push((u.ln() / weight.max(f64::MIN_POSITIVE), item));
    }
    keyed.sort_by(|a, b| b.0.total_cmp(&a.0));
    keyed.into_iter().map(|(_, item)| item).collect()
}

/// `count` of `items` without replacement, as [`weighted_shuffle`] has them: items of weight 0 are drawn only after all others.
pub fn weighted_sample<T>(items: Vec<(T, f64)>, count: usize, generator: &mut impl Rng) -> Vec<T> {
    let mut drawn = weighted_shuffle(items, generator);
    drawn.truncate(count);
    drawn
}
