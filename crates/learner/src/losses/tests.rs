//! Formulas against slow ones written here from the papers, their slopes against differences, the KL estimators against sums over a
//! whole distribution.

use proptest::prelude::*;

use super::*;

/// log π, log π_behaviour and A: ratios inside, outside and exactly at the clips' bounds, advantages of both signs and zero.
fn token() -> impl Strategy<Value = (f64, f64, f64)> {
    let ratio = prop_oneof![
        0.01..20.0_f64,
        prop::sample::select(vec![1.0, 0.8, 1.2, 1.28, 2.0, 3.0, 0.8 + 1e-9, 1.2 - 1e-9, 1e-6, 1e6]),
    ];
    let advantage = prop_oneof![-3.0..3.0_f64, Just(0.0), Just(1.0), Just(-1.0)];
    (-8.0..0.0_f64, ratio, advantage).prop_map(|(logprob, ratio, a)| (logprob, logprob - ratio.ln(), a))
}

fn seen(logprob: f64, behaviour: f64, weight: f64) -> TokenView {
    TokenView { logprob, weight, ratio: (logprob - behaviour).exp(), rate: None, wider_clip: 0.0 }
}

/// The slope by a central difference of `value` in log π.
fn slope(value: impl Fn(f64) -> f64, logprob: f64) -> f64 {
    const STEP: f64 = 1e-6;
    (value(logprob + STEP) - value(logprob - STEP)) / (2.0 * STEP)
}

/// A pair with these log-ratios: its chosen response has 4 tokens and log ref −8, and win shares and rewards are not the extreme ones.
fn pair(log_ratios: [f64; 2]) -> PairView {
    let [chosen, rejected] = log_ratios;
    let (margin, logprob) = (chosen - rejected, chosen - 8.0);
    PairView { margin, log_ratios, logprob, tokens: 4.0, win: [0.9, 0.1], rewards: [1.0, 0.25] }
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{a} is not {b}");
}

/// Equation 7 of the PPO paper with separate bounds on the two sides, and the dual clip, as printed.
fn slow_ppo(ratio: f64, a: f64, low: f64, high: f64, dual: Option<f64>) -> f64 {
    let clip = if ratio < 1.0 - low {
        1.0 - low
    } else if ratio > 1.0 + high {
        1.0 + high
    } else {
        ratio
    };
    let surrogate = if ratio * a < clip * a { ratio * a } else { clip * a };
    match dual {
        Some(c) if a < 0.0 => -f64::max(surrogate, c * a),
        _ => -surrogate,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ppo_clip_is_its_formula((logprob, behaviour, a) in token(), dual in prop::option::of(1.5..4.0_f64)) {
        let loss = PpoClip { clip_low: 0.2, clip_high: 0.28, dual_clip: dual };
        let value = |l: f64| slow_ppo((l - behaviour).exp(), a, 0.2, 0.28, dual);
        let term = loss.token(seen(logprob, behaviour, a));
        close(term.value, value(logprob));
        let ratio = (logprob - behaviour).exp();
        let corners = [0.8, 1.28, dual.unwrap_or(0.8)];
        if corners.iter().all(|c| (ratio / c - 1.0).abs() > 1e-5) {
            close(term.slope, slope(value, logprob));
        }
        prop_assert_eq!(term.clipped, term.slope == 0.0 && a != 0.0);
    }

    #[test]
    fn clipped_importance_sampling_is_its_formula((logprob, behaviour, a) in token(), low in 0.0..1.0_f64, high in 0.0..4.0_f64) {
        // The factor is a constant: the value is differentiated with it held.
        let factor = f64::max(f64::min((logprob - behaviour).exp(), 1.0 + high), 1.0 - low);
        let term = Cispo { clip_low: low, clip_high: high }.token(seen(logprob, behaviour, a));
        close(term.value, -factor * a * logprob);
        close(term.slope, slope(|l| -factor * a * l, logprob));
    }

    #[test]
    fn losses_on_log_probabilities_alone_are_minus_weight_times_log_p((logprob, behaviour, a) in token()) {
        let losses: [&dyn TokenLoss; 3] = [&PolicyGradient::default(), &Sft::default(), &Rft::default()];
        for loss in losses {
            let term = loss.token(seen(logprob, behaviour, a));
            close(term.value, -a * logprob);
            close(term.slope, -a);
        }
    }

    #[test]
    fn pairs_cost_the_negative_log_of_the_odds_that_the_chosen_one_wins(margin in -2000.0..2000.0_f64, strength in 0.01..2.0_f64) {
        let losses: [&dyn PairLoss; 2] = [&Dpo { beta: strength }, &Spin { lambda: strength }];
        for loss in losses {
            let term = loss.pair(&pair([margin, 0.0]));
            let [chosen, rejected] = term.slopes;
            prop_assert!(term.value.is_finite() && chosen <= 0.0 && chosen >= -strength && rejected == -chosen);
            if (strength * margin).abs() < 30.0 {
                close(term.value, -(1.0 / (1.0 + (-strength * margin).exp())).ln());
                close(chosen, slope(|m| loss.pair(&pair([m, 0.0])).value, margin));
            }
        }
    }

    #[test]
    fn divergences_are_their_formulas(logprob in -8.0..0.0_f64, reference in -8.0..0.0_f64) {
        let ratio = (logprob - reference).exp();
        for (estimator, value) in [
            (KlEstimator::K1, ratio.ln()),
            (KlEstimator::K2, 0.5 * ratio.ln() * ratio.ln()),
            (KlEstimator::K3, 1.0 / ratio - 1.0 + ratio.ln()),
        ] {
            let term = Kl::token(estimator, logprob, reference);
            close(term.value, value);
            close(term.slope, slope(|l| Kl::token(estimator, l, reference).value, logprob));
            prop_assert!(estimator == KlEstimator::K1 || term.value >= 0.0);
        }
    }
}

#[test]
fn exactly_at_a_bound_the_unclipped_side_decides() {
    let loss = PpoClip { clip_low: 0.25, clip_high: 0.5, dual_clip: None };
    for (ratio, a) in [(1.5, 1.0), (0.75, -1.0), (0.75, 1.0), (1.5, -1.0)] {
        let term = loss.token(TokenView { logprob: -1.0, weight: a, ratio, rate: None, wider_clip: 0.0 });
        assert_eq!((term.value, term.slope, term.clipped), (-ratio * a, -ratio * a, false));
    }
    let view = TokenView { logprob: -1.0, weight: 1.0, ratio: 1.5 + 1e-9, rate: None, wider_clip: 0.0 };
    let beyond = loss.token(view);
    assert_eq!((beyond.value, beyond.slope, beyond.clipped), (-1.5, 0.0, true));
    assert!(!loss.token(TokenView { wider_clip: 0.0625, ..view }).clipped);
}

#[test]
fn slopes_of_pairs_are_differences_of_the_value_in_each_log_ratio() {
    let (clipped, beta) = (Prdp { beta: 0.5, clip: Some(0.5) }, 0.1);
    let losses: [&dyn PairLoss; 8] = [
        &Dpo::default(),
        &Spin::default(),
        &Sppo::default(),
        &Scpo { beta, alpha: 0.7 },
        &Cream { beta, consistency: 0.7 },
        &Copg::default(),
        &Prdp::default(),
        &clipped,
    ];
    for (index, loss) in losses.into_iter().enumerate() {
        for [chosen, rejected] in [[0.0, 0.0], [1.5, -0.4], [-2.0, 1.0], [0.3, 0.2], [6.0, -3.0]] {
            let term = loss.pair(&pair([chosen, rejected]));
            let found = [
                slope(|moved| loss.pair(&pair([moved, rejected])).value, chosen),
                slope(|moved| loss.pair(&pair([chosen, moved])).value, rejected),
            ];
            for (slope, found) in term.slopes.into_iter().zip(found) {
                assert!((slope - found).abs() < 1e-5 * (1.0 + found.abs()), "loss {index}: {slope} is not {found}");
            }
        }
    }
}

#[test]
fn pairs_of_the_docs_cost_what_they_say() {
    let ln_2 = std::f64::consts::LN_2;
    let hard = |log_ratios| PairView { rewards: [1.0, 0.0], ..pair(log_ratios) };
    let cases: [(&dyn PairLoss, PairView, f64, [f64; 2]); 7] = [
        (&Sppo::default(), pair([0.0, 0.0]), 320_000.0, [-800.0, 800.0]),
        (&Scpo::default(), pair([0.0, 0.0]), ln_2 + 2.0, [-0.3, 0.05]),
        (&Cream { beta: 0.1, consistency: 0.8 }, pair([0.0, 0.0]), ln_2, [-0.03, 0.03]),
        (&Copg::default(), hard([0.0, 0.0]), 0.0, [-1.0, 1.0]),
        (&Copg::default(), hard([4.0, -6.0]), -5.0, [0.0, 0.0]),
        (&Prdp { beta: 0.5, clip: None }, hard([0.0, 0.0]), 4.0, [-4.0, 4.0]),
        (&Prdp { beta: 0.5, clip: Some(0.5) }, hard([1.0, 0.0]), 2.25, [0.0, 3.0]),
    ];
    for (loss, seen, value, slopes) in cases {
        let term = loss.pair(&seen);
        close(term.value, value);
        term.slopes.into_iter().zip(slopes).for_each(|(found, want)| close(found, want));
    }
}

#[test]
fn negative_aware_fine_tuning_is_the_policy_gradient_on_policy_and_its_formula_off_policy() {
    let term = |weight, ratio: f64, rate| {
        Nft {}.token(TokenView { logprob: ratio.ln() - 1.0, weight, ratio, rate, wider_clip: 0.0 })
    };
    for rate in [0.125, 0.3, 0.5, 0.75, 0.875] {
        for weight in [1.0 - rate, -rate] {
            let plain = PolicyGradient {}.token(seen(-1.0, -1.0, weight));
            assert!((term(weight, 1.0, Some(rate)).slope - plain.slope).abs() < 1e-9);
            for ratio in [0.1_f64, 0.5, 0.9, 1.5, 4.0] {
                let found = term(weight, ratio, Some(rate));
                if weight < 0.0 && ratio > 1.0 {
                    // The bound decides the value, and the slope is that of −(1 − s) · argument.
                    close(found.value, 0.0);
                    close(found.slope, rate * ratio);
                } else {
                    close(found.slope, slope(|l| term(weight, l.exp(), Some(rate)).value, ratio.ln()));
                }
            }
        }
    }
    let found = term(-0.25, 0.5, Some(0.25));
    close(found.value, -0.75 * (7.0_f64 / 6.0).ln());
    close(found.slope, 3.0 / 28.0);
    assert_eq!(term(-0.5, 1.0, Some(0.0)), term(-0.5, 1.0, Some(0.02)), "held to the least rate");
    assert_eq!((term(1.0, 2.0, None).value, term(1.0, 2.0, None).slope), (0.0, 0.0));
}

#[test]
fn a_policy_is_no_nat_from_itself() {
    for estimator in [KlEstimator::K1, KlEstimator::K2, KlEstimator::K3] {
        let term = Kl::token(estimator, -1.25, -1.25);
        assert_eq!(term.value, 0.0);
        assert_eq!(term.slope, if estimator == KlEstimator::K1 { 1.0 } else { 0.0 });
    }
}

#[test]
fn an_advantage_is_lowered_by_the_divergence_still_to_come() {
    assert_eq!(Kl::to_go(&[-1.0, -2.0, -0.5], &[-1.5, -1.0, -0.5]), [-0.5, -1.0, 0.0]);
    assert_eq!(Kl::to_go(&[-1.0], &[-3.0]), [2.0]);
}

const LOGITS: [f64; 4] = [0.3, -1.0, 1.7, 0.2];
const REFERENCE: [f64; 4] = [0.1, 0.2, 0.3, 0.4];

fn softmax(logits: &[f64; 4]) -> [f64; 4] {
    let total: f64 = logits.iter().map(|z| z.exp()).sum();
    logits.map(|z| z.exp() / total)
}

/// Σ p · ln(p / q).
fn divergence(p: &[f64; 4], q: &[f64; 4]) -> f64 {
    p.iter().zip(q).map(|(p, q)| p * (p / q).ln()).sum()
}

/// The gradient of `value` in the logits, by central differences.
fn gradient(value: impl Fn(&[f64; 4]) -> f64) -> [f64; 4] {
    std::array::from_fn(|i| {
        let moved = |step: f64| {
            let mut logits = LOGITS;
            logits[i] += step;
            value(&logits)
        };
        (moved(1e-5) - moved(-1e-5)) / 2e-5
    })
}

/// The mean of an estimator over all draws: its value, and its gradient as a loss, in which the draws are given.
fn expected(estimator: KlEstimator) -> (f64, [f64; 4]) {
    let p = softmax(&LOGITS);
    let terms: Vec<TokenTerm> = (0..4).map(|t| Kl::token(estimator, p[t].ln(), REFERENCE[t].ln())).collect();
    let value = (0..4).map(|t| p[t] * terms[t].value).sum();
    // d ln p(t) / d logit(i) = [t = i] − p(i)
    let slope = |i: usize| (0..4).map(|t| p[t] * terms[t].slope * (f64::from(u8::from(t == i)) - p[i])).sum();
    (value, std::array::from_fn(slope))
}

#[test]
fn k1_and_k3_are_unbiased_in_value_k2_in_the_gradient_and_k3s_gradient_is_that_of_the_forward_divergence() {
    let reverse = divergence(&softmax(&LOGITS), &REFERENCE);
    let of_reverse = gradient(|logits| divergence(&softmax(logits), &REFERENCE));
    let of_forward = gradient(|logits| divergence(&REFERENCE, &softmax(logits)));
    let [k1, k2, k3] = [KlEstimator::K1, KlEstimator::K2, KlEstimator::K3].map(expected);
    close(k1.0, reverse);
    close(k3.0, reverse);
    assert!((k2.0 - reverse).abs() > 0.01, "k2 is biased in value");
    for i in 0..4 {
        close(k1.1[i], 0.0);
        close(k2.1[i], of_reverse[i]);
        close(k3.1[i], of_forward[i]);
    }
    assert!((0..4).any(|i| (k3.1[i] - of_reverse[i]).abs() > 0.01), "k3's gradient is another one");
}

#[test]
fn the_penalty_in_the_reward_has_the_gradient_of_the_reverse_divergence() {
    // One token: the advantage is −k1, and the score-function gradient of the loss is k1 · ∇log π on average.
    let p = softmax(&LOGITS);
    let of_reverse = gradient(|logits| divergence(&softmax(logits), &REFERENCE));
    for i in 0..4 {
        let score = |t: usize| f64::from(u8::from(t == i)) - p[i];
        let mean: f64 = (0..4)
            .map(|t| {
                let shift = Kl::to_go(&[p[t].ln() as f32], &[REFERENCE[t].ln() as f32])[0];
                p[t] * PolicyGradient::default().token(seen(p[t].ln(), p[t].ln(), -shift)).slope * score(t)
            })
            .sum();
        close(mean, of_reverse[i]);
    }
}
