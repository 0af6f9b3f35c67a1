//! Means, deviations and similarities. Called by the rewards, the advantages and the metrics.

use std::collections::BTreeSet;

/// The mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean of a number over items; `None` of none.
pub fn mean_over<T>(items: impl IntoIterator<Item = T>, number: impl Fn(T) -> f64) -> Option<f64> {
    mean(&items.into_iter().map(number).collect::<Vec<_>>())
}

/// The median, which of an even number of values is the mean of the middle two; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { Some(sorted[middle]) } else { mean(sorted.get(middle.checked_sub(1)?..=middle)?) }
}

/// The population standard deviation (divided by n); 0 of nothing.
pub fn deviation(values: &[f64]) -> f64 {
    let Some(mean) = mean(values) else { return 0.0 };
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

/// Whether all values are the same number. Compared exactly: a mean of equal numbers may round away from them.
pub fn all_equal(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

/// `part / whole`; `None` when there is no whole.
pub fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The share of the items of either set that both have (Jaccard's index); 1 of two empty sets.
pub fn similarity<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> f64 {
    share(one.intersection(other).count(), one.union(other).count()).unwrap_or(1.0)
}
