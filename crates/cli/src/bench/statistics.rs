//! The few statistics a benchmark report needs.

/// The value below which a share of `percent` of all values lies, by nearest rank: always one of the values.
///
/// `None` of no values.
pub(crate) fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
}

/// The middle value, or the mean of the two in the middle. `None` of no values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, *upper))
}

/// The distance between the largest and the smallest value, as a share of the median. `None` of no values.
pub(crate) fn spread(values: &[f64]) -> Option<f64> {
    let (low, high) = (percentile(values, 0.0)?, percentile(values, 100.0)?);
    Some((high - low) / median(values)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{median, percentile, spread};

    #[test]
    fn no_values_have_no_statistics() {
        assert_eq!((median(&[]), percentile(&[], 50.0), spread(&[])), (None, None, None));
    }

    #[test]
    fn known_lists_have_known_statistics() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentile(&hundred, 99.0), Some(99.0));
        assert_eq!(percentile(&hundred, 50.0), Some(50.0));
        assert_eq!(percentile(&[7.0], 99.0), Some(7.0));
        assert_eq!(spread(&[8.0, 10.0, 12.0]), Some(0.4));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn at_least_the_share_asked_for_lies_at_or_below_a_percentile_and_less_lies_below_it(
            values in prop::collection::vec(0.0f64..1e9, 1..60), percent in 1.0f64..=100.0,
        ) {
            let found = percentile(&values, percent).unwrap();
            let share = |count: usize| count as f64 / values.len() as f64;
            prop_assert!(values.contains(&found));
            prop_assert!(share(values.iter().filter(|v| **v <= found).count()) >= percent / 100.0 - 1e-9);
            prop_assert!(share(values.iter().filter(|v| **v < found).count()) < percent / 100.0 + 1e-9);
        }

        #[test]
        fn statistics_do_not_depend_on_the_order_and_scale_with_the_values(
            values in prop::collection::vec(1.0f64..1e6, 1..40),
        ) {
            let reversed: Vec<f64> = values.iter().rev().copied().collect();
            let doubled: Vec<f64> = values.iter().map(|v| v * 2.0).collect();
            prop_assert_eq!(median(&values), median(&reversed));
            prop_assert_eq!(spread(&values), spread(&reversed));
            prop_assert_eq!(median(&doubled), median(&values).map(|m| m * 2.0));
            let (half, whole) = (percentile(&values, 50.0).unwrap(), percentile(&values, 99.0).unwrap());
            prop_assert!(half <= whole);
            // The 99th percentile of fewer than a hundred values is the largest.
            prop_assert!((percentile(&values, 0.0).unwrap()..=whole).contains(&median(&values).unwrap()));
        }
    }
}
