//! Top-k, top-p and min-p: held to a plain implementation in f64, and drawn as often as they say.

use proptest::prelude::*;

use veriplay_learner::{TokenSampler, uniform};

/// The distribution, by the definitions: sort, cut, renormalise, three times.
fn oracle(sampler: &TokenSampler, logits: &[f32]) -> Vec<f64> {
    let mut ranked: Vec<usize> = (0..logits.len()).collect();
    ranked.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]).then(a.cmp(&b)));
    let top = f64::from(logits[ranked[0]]);
    let weight = |&i: &usize| ((f64::from(logits[i]) - top) / f64::from(sampler.temperature)).exp();
    if sampler.top_k > 0 {
        ranked.truncate(sampler.top_k);
    }
    if sampler.top_p < 1.0 {
        let total: f64 = ranked.iter().map(weight).sum();
        let mut below = 0.0;
        let enough = ranked.iter().position(|i| {
            below += weight(i);
            below >= f64::from(sampler.top_p) * total
        });
        ranked.truncate(enough.map_or(ranked.len(), |at| at + 1));
    }
    ranked.retain(|i| weight(i) >= f64::from(sampler.min_p));
    let total: f64 = ranked.iter().map(weight).sum();
    let mut shares = vec![0.0; logits.len()];
    ranked.iter().for_each(|i| shares[*i] = weight(i) / total);
    shares
}

/// The distribution, by drawing: the log-probability of every token that comes up on a fine grid.
fn drawn(sampler: &TokenSampler, logits: &[f32]) -> Vec<f64> {
    let mut shares = vec![0.0; logits.len()];
    for i in 0..4000 {
        let (token, logprob) = sampler.draw(&mut logits.to_vec(), (f64::from(i) + 0.5) / 4000.0);
        shares[token as usize] = f64::from(logprob).exp();
    }
    shares
}

fn samplers() -> impl Strategy<Value = TokenSampler> {
    let top_k = prop_oneof![Just(0_usize), 1_usize..12, Just(40), Just(100)];
    let top_p = prop_oneof![Just(1.0_f32), 0.01_f32..0.999];
    let min_p = prop_oneof![Just(0.0_f32), 0.001_f32..1.0];
    (0.3_f32..3.0, top_k, top_p, min_p).prop_map(|(temperature, top_k, top_p, min_p)| TokenSampler {
        temperature,
        top_k,
        top_p,
        min_p,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Logits are whole numbers, so that there are equals. A token that the oracle gives less than the grid's step may not come up.
    #[test]
    fn every_token_has_the_probability_that_the_definitions_give_it(
        sampler in samplers(),
        logits in prop::collection::vec(-4_i8..4, 1..40),
    ) {
        let logits: Vec<f32> = logits.into_iter().map(f32::from).collect();
        let (want, got) = (oracle(&sampler, &logits), drawn(&sampler, &logits));
        for (token, (want, got)) in want.iter().zip(&got).enumerate() {
            let close = (want - got).abs() <= 1e-4 * want || (*got == 0.0 && *want < 1.0 / 2000.0);
            prop_assert!(close, "token {token}: {got}, want {want}");
        }
    }
}

#[test]
fn a_nucleus_larger_than_what_is_sorted_at_once_is_whole() {
    let logits: Vec<f32> = (0..1000_u32).map(|i| ((i * 617) % 1000) as f32 * 1e-3).collect();
    for top_p in [0.1, 0.256, 0.5, 0.9] {
        let sampler = TokenSampler { top_p, ..TokenSampler::default() };
        let (want, got) = (oracle(&sampler, &logits), drawn(&sampler, &logits));
        assert!(want.iter().filter(|&&p| p > 0.0).count() > 60);
        for (token, (want, got)) in want.iter().zip(&got).enumerate() {
            assert!((want - got).abs() <= 1e-4 * want, "top_p {top_p}, token {token}: {got}, want {want}");
        }
    }
}

#[test]
fn draws_come_as_often_as_they_should_rare_ones_too_and_those_that_are_cut_off_never() {
    let logits: Vec<f32> = (0..30_u32).map(|i| ((i * 7) % 30) as f32 * 0.2).collect();
    let plain = TokenSampler::at(0.8);
    let truncated = [
        plain,
        TokenSampler { top_k: 8, ..plain },
        TokenSampler { top_p: 0.9, ..plain },
        TokenSampler { min_p: 0.05, ..plain },
        TokenSampler { top_k: 20, top_p: 0.95, min_p: 0.02, ..plain },
    ];
    // Probabilities from 1/2 down to 1e-4, in an order that puts rare tokens first, in the middle and last.
    let rare = [1e-4_f32, 0.3, 1e-3, 0.5, 4e-4, 0.15, 0.0483, 2e-4];
    let at = |temperature: f32| {
        let logits = rare.iter().map(|share| share.ln() * temperature + 3.0).collect();
        (logits, TokenSampler::at(temperature))
    };
    let cases = truncated.map(|sampler| (logits.clone(), sampler)).into_iter().chain([1.0, 0.5, 2.0].map(at));
    let draws = 400_000_u64;
    for (logits, sampler) in cases {
        let shares = oracle(&sampler, &logits);
        let mut counts = vec![0_u64; logits.len()];
        for i in 0..draws {
            counts[sampler.draw(&mut logits.clone(), uniform(3, i % 89, i / 89, 2)).0 as usize] += 1;
        }
        let mut statistic = 0.0;
        for (&count, &share) in counts.iter().zip(&shares) {
            assert!(share > 0.0 || count == 0, "{sampler:?} draws what it cut off");
            if share > 0.0 {
                let expected = share * draws as f64;
                statistic += (count as f64 - expected).powi(2) / expected;
            }
        }
        let freedom = (shares.iter().filter(|&&p| p > 0.0).count() - 1) as f64;
        // Wilson and Hilferty's approximation of the quantile that is exceeded once in 10,000.
        let spread = 2.0 / (9.0 * freedom);
        let bound = freedom * (1.0 - spread + 3.719 * spread.sqrt()).powi(3);
        assert!(statistic < bound, "{sampler:?}: {statistic}, want below {bound}");
    }
}

#[test]
fn one_candidate_is_the_greedy_one_whatever_keeps_it_alone() {
    let logits = [0.5_f32, 2.0, -1.0, 2.0, f32::NEG_INFINITY];
    let plain = TokenSampler::at(1.5);
    let alone = [
        TokenSampler::at(0.0),
        TokenSampler::at(1e-42),
        TokenSampler { top_k: 1, ..plain },
        TokenSampler { top_p: 1e-6, ..plain },
    ];
    for sampler in alone {
        for u in [1e-12, 0.3, 1.0 - 1e-12] {
            assert_eq!(sampler.draw(&mut logits.clone(), u), (1, 0.0), "{sampler:?}");
        }
    }
    let equals = TokenSampler { min_p: 1.0, ..plain };
    assert_eq!((equals.draw(&mut logits.clone(), 0.4).0, equals.draw(&mut logits.clone(), 0.6).0), (1, 3));
}
