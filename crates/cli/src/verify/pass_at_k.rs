//! pass@k: the chance that one of `k` attempts is right, without bias, from `n` attempts of which `c` are.

/// 1 − C(n−c, k) / C(n, k), equation 1 of arXiv 2107.03374, as the product Π (1 − k/i) over i = n−c+1 … n, which neither
/// overflows nor cancels. `None` when there are fewer than `k` attempts, or `k` is 0: then nothing can be said.
pub(super) fn pass_at_k(n: u64, c: u64, k: u64) -> Option<f64> {
    if k == 0 || n < k || c > n {
        return None;
    }
    if n - c < k {
        return Some(1.0);
    }
    let miss: f64 = (n - c + 1..=n).map(|i| 1.0 - k as f64 / i as f64).product();
    Some(1.0 - miss)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::pass_at_k;

    /// Counts, over all subsets of `k` of `n` attempts, those that hold one of the `c` right ones.
    fn brute_force(n: u64, c: u64, k: u64) -> f64 {
        let (mut hits, mut all) = (0_u64, 0_u64);
        for subset in 0_u64..1 << n {
            if u64::from(subset.count_ones()) == k {
                all += 1;
                hits += u64::from(subset & ((1 << c) - 1) != 0);
            }
        }
        hits as f64 / all as f64
    }

    #[test]
    fn it_is_the_share_of_subsets_with_a_right_attempt() {
        for n in 1..=12 {
            for c in 0..=n {
                for k in 1..=n {
                    let found = pass_at_k(n, c, k).expect("there are k attempts");
                    assert!((found - brute_force(n, c, k)).abs() < 1e-12, "n={n} c={c} k={k}: {found}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_said_without_enough_attempts() {
        assert_eq!(pass_at_k(4, 4, 5), None);
        assert_eq!(pass_at_k(0, 0, 1), None);
        assert_eq!(pass_at_k(3, 1, 0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn it_is_a_probability_that_rises_with_c_and_k(n in 1_u64..2000, c in 0_u64..2000, k in 1_u64..200) {
            let (c, k) = (c.min(n), k.min(n));
            let found = pass_at_k(n, c, k).expect("there are k attempts");
            prop_assert!((0.0..=1.0).contains(&found));
            prop_assert_eq!(found == 0.0, c == 0);
            if c < n {
                prop_assert!(pass_at_k(n, c + 1, k).expect("there are k attempts") >= found);
            }
            if k < n {
                prop_assert!(pass_at_k(n, c, k + 1).expect("there are k attempts") >= found - 1e-12);
            }
        }

        #[test]
        fn at_one_it_is_the_share_of_right_attempts(n in 1_u64..1_000_000, share in 0.0..=1.0_f64) {
            let c = (n as f64 * share) as u64;
            let found = pass_at_k(n, c, 1).expect("there is an attempt");
            prop_assert!((found - c as f64 / n as f64).abs() < 1e-9, "{found}");
        }
    }
}
