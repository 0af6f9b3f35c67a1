//! pass@k against enumeration, and solve rates.

use proptest::prelude::*;
use veriplay_selfplay::metrics::{SolveCount, mean_pass_at_k, pass_at_k};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// Over all subsets of k of n samples of which the first c are right: the share with a right one.
fn by_enumeration(n: u32, c: u32, k: u32) -> f64 {
    let subsets = || (0_u32..1 << n).filter(|subset| subset.count_ones() == k);
    let with_success = subsets().filter(|subset| subset & ((1 << c) - 1) != 0).count();
    with_success as f64 / subsets().count() as f64
}

#[test]
fn pass_at_k_equals_the_share_of_subsets_with_a_success() {
    for n in 1..=9 {
        for c in 0..=n {
            for k in 1..=n {
                let estimate = pass_at_k(n, c, k).unwrap();
                assert!(close(estimate, by_enumeration(n, c, k)), "n {n}, c {c}, k {k}: {estimate}");
            }
        }
    }
}

#[test]
fn pass_at_k_is_not_made_up_from_too_few_samples() {
    assert_eq!(pass_at_k(7, 7, 8), None);
    assert_eq!(pass_at_k(8, 9, 8), None);
    assert_eq!(pass_at_k(8, 3, 0), None);
    assert_eq!(mean_pass_at_k(&[], 1), None);
    let enough = SolveCount { solved: 1, judged: 8 };
    assert_eq!(mean_pass_at_k(&[enough, SolveCount { solved: 0, judged: 4 }], 8), None);
    assert_eq!(mean_pass_at_k(&[enough, SolveCount { solved: 0, judged: 8 }], 8), Some(0.5));
}

#[test]
fn pass_at_k_of_many_samples_does_not_overflow() {
    let estimate = pass_at_k(100_000, 10, 100).unwrap();
    assert!((estimate - (1.0 - 0.999_f64.powi(10))).abs() < 1e-4, "{estimate}");
}

#[test]
fn a_solve_rate_counts_judged_rollouts_only() {
    assert_eq!(SolveCount::default().rate(), None);
    let mut count = SolveCount::default();
    [true, false, false, true].into_iter().for_each(|solved| count.add(solved));
    assert_eq!(count.rate(), Some(0.5));
    assert!(count.is_learnable());
    assert!(!SolveCount { solved: 4, judged: 4 }.is_learnable());
    assert!(!SolveCount { solved: 0, judged: 4 }.is_learnable());
    assert!(!SolveCount::default().is_learnable());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pass_at_k_lies_between_the_rate_and_one_and_rises_with_k(n in 1..200_u32, c in 0..200_u32, k in 1..200_u32) {
        prop_assume!(c <= n && k < n);
        let (here, next) = (pass_at_k(n, c, k).unwrap(), pass_at_k(n, c, k + 1).unwrap());
        prop_assert!(close(pass_at_k(n, c, 1).unwrap(), f64::from(c) / f64::from(n)));
        prop_assert!(here <= next + 1e-12 && (0.0..=1.0 + 1e-12).contains(&next));
    }
}
