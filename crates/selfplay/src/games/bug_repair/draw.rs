//! Draws of the game.

use rand::Rng;

/// All of `items` in random order, each place in proportion to the weights of what is left (Efraimidis and Spirakis 2006: order
/// by ln(u) / w). Items of weight 0 come behind all others.
pub(super) fn ordered<T>(items: Vec<(T, f64)>, generator: &mut impl Rng) -> Vec<T> {
    let mut keyed: Vec<(f64, T)> = Vec::with_capacity(items.len());
    for (item, weight) in items {
        // u in (0, 1], so that ln(u) is finite.
        let u = 1.0 - generator.random::<f64>();
        keyed.push((u.ln() / weight.max(f64::MIN_POSITIVE), item));
    }
    keyed.sort_by(|a, b| b.0.total_cmp(&a.0));
    keyed.into_iter().map(|(_, item)| item).collect()
}
