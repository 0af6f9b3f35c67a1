//! Every loss through the whole tiny model: its value against a formula in f64 on the f64 model, its gradient against central
//! differences of that formula. Nothing of the learner's formulas, graph or kernels is in what it is compared with.

use veriplay_core::{PreferenceBatch, PreferencePair, Sample, TrainBatch};
use veriplay_learner::{
    Cispo, Copg, Correction, Cream, Dpo, Gspo, KlEstimator, KlPlace, Learner, LearnerOptions, Loss, NamedTensor, Nft,
    PolicyGradient, PpoClip, Prdp, Preference, Rft, Scpo, Sft, Spin, Sppo,
};

use super::common::{batch, kl, learner, pairs, with_loss, with_preference};
use crate::oracle::Oracle;

/// f64 all through: at this step the truncation is about 1e-10 of the loss and the rounding about 1e-11. What is left between the two
/// is the learner's f32.
const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 2e-4;

/// One tensor of each kind, in the first and the last layer, and the embedding that is also the head.
const CHECKED: &[&str] = &[
    "model.embed_tokens.weight",
    "model.layers.0.input_layernorm.weight",
    "model.layers.0.self_attn.q_proj.weight",
    "model.layers.0.self_attn.k_norm.weight",
    "model.layers.0.mlp.up_proj.weight",
    "model.layers.1.self_attn.v_proj.weight",
    "model.layers.1.self_attn.o_proj.weight",
    "model.layers.1.mlp.down_proj.weight",
    "model.norm.weight",
];

/// Log-probabilities and entropies of one response.
type Outputs = (Vec<f64>, Vec<f64>);

#[track_caller]
fn check(learner: &Learner, (loss, gradients): (f64, Vec<NamedTensor>), slow: impl Fn(&Oracle) -> f64) {
    let oracle = Oracle::of(learner).expect("an oracle");
    let want = slow(&oracle);
    assert!((loss - want).abs() < 1e-5 * want.abs().max(1.0), "loss {loss}, want {want}");
    for name in CHECKED {
        let (_, gradient) = gradients.iter().find(|(spec, _)| spec.name == *name).expect("the tensor is there");
        let largest = gradient.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).expect("not empty");
        // The steepest element, one that is none in particular, and the scale that both are compared on.
        let scale = f64::from(largest.1.abs());
        assert!(scale > 0.0, "{name} has no gradient");
        for at in [largest.0, gradient.len() / 2] {
            let ahead = slow(&oracle.moved(name, at, STEP));
            let difference = (ahead - slow(&oracle.moved(name, at, -STEP))) / (2.0 * STEP);
            let ours = f64::from(gradient[at]);
            assert!((difference - ours).abs() < TOLERANCE * scale, "{name}[{at}]: {ours}, by differences {difference}");
        }
    }
}

/// Σ over samples of scale · Σ over tokens of `token`, divided by the normalizer. `token` sees the sample, the token's place, and
/// the outputs now and at the point where gradients are taken: what a loss holds constant comes from the latter.
fn sum(
    oracle: &Oracle,
    fixed: &[Outputs],
    batch: &TrainBatch,
    normalizer: f64,
    token: impl Fn(&Sample, usize, &Outputs, &Outputs) -> f64,
) -> f64 {
    let mut total = 0.0;
    for (sample, fixed) in batch.samples.iter().zip(fixed) {
        let now = oracle.outputs(&sample.prompt, &sample.response);
        for t in sample.masked..sample.response.len() {
            let term = match sample.imitate {
                true => -f64::from(sample.weight) * now.0[t],
                false => token(sample, t, &now, fixed),
            };
            total += f64::from(sample.scale) * term / normalizer;
        }
    }
    total
}

fn fixed(learner: &Learner, batch: &TrainBatch) -> Vec<Outputs> {
    let oracle = Oracle::of(learner).expect("an oracle");
    batch.samples.iter().map(|s| oracle.outputs(&s.prompt, &s.response)).collect()
}

fn behaviour(sample: &Sample, t: usize) -> f64 {
    f64::from(sample.behaviour.as_ref().expect("rollouts have it")[t])
}

fn reference(sample: &Sample, t: usize) -> f64 {
    f64::from(sample.reference.as_ref().expect("rollouts have it")[t])
}

/// A loss on the batch whose other policies are `away` nats away.
#[track_caller]
fn check_tokens(options: LearnerOptions, away: f32, token: impl Fn(&Sample, usize, &Outputs, &Outputs) -> f64) {
    let mut learner = learner(options);
    let batch = batch(&learner, away);
    let fixed = fixed(&learner, &batch);
    let found = learner.named_gradients(&batch).expect("gradients");
    check(&learner, found, |oracle| sum(oracle, &fixed, &batch, batch.normalizer, &token));
}

fn weight(sample: &Sample) -> f64 {
    f64::from(sample.weight)
}

#[test]
fn policy_gradient() {
    check_tokens(with_loss(PolicyGradient::default()), 0.5, |s, t, now, _| -weight(s) * now.0[t]);
}

#[test]
fn ppo_clip_with_bounds_of_its_own_on_each_side_and_a_dual_clip() {
    let loss = PpoClip { clip_low: 0.1, clip_high: 0.28, dual_clip: Some(1.4) };
    check_tokens(with_loss(loss), 0.6, |s, t, now, _| {
        let (a, ratio) = (weight(s), (now.0[t] - behaviour(s, t)).exp());
        let surrogate = (ratio * a).min(ratio.clamp(0.9, 1.28) * a);
        -if a < 0.0 { surrogate.max(1.4 * a) } else { surrogate }
    });
}

#[test]
fn truncated_importance_sampling() {
    for options in [
        with_loss(Cispo { clip_low: 1.0, clip_high: 0.2 }),
        LearnerOptions { correction: Some(Correction { cap: Some(1.2), mask: None }), ..LearnerOptions::default() },
    ] {
        check_tokens(options, 0.6, |s, t, now, fixed| {
            -(fixed.0[t] - behaviour(s, t)).exp().min(1.2) * weight(s) * now.0[t]
        });
    }
}

#[test]
fn a_correction_weighs_a_clipped_surrogate_on_ratios_to_the_old_policy_and_the_terms_that_are_added_to_it() {
    let correction = Some(Correction { cap: Some(1.2), mask: None });
    let kl = kl(KlEstimator::K3, KlPlace::Loss);
    let mut learner = learner(LearnerOptions { correction, kl, ..with_loss(PpoClip::default()) });
    let mut batch = batch(&learner, 0.6);
    for sample in batch.samples.iter_mut().filter(|sample| !sample.imitate) {
        // Between the reference and the sampler.
        let both = sample.behaviour.iter().flatten().zip(sample.reference.iter().flatten());
        sample.old = Some(both.map(|(behaviour, reference)| 0.3 * behaviour + 0.7 * reference).collect());
    }
    let fixed = fixed(&learner, &batch);
    let found = learner.named_gradients(&batch).expect("gradients");
    check(&learner, found, |oracle| {
        sum(oracle, &fixed, &batch, batch.normalizer, |s, t, now, _| {
            let old = f64::from(s.old.as_ref().expect("given")[t]);
            let (a, ratio, factor) = (weight(s), (now.0[t] - old).exp(), (old - behaviour(s, t)).exp().min(1.2));
            let log_ratio = now.0[t] - reference(s, t);
            let divergence = (-log_ratio).exp() - 1.0 + log_ratio;
            factor * (0.3 * divergence - (ratio * a).min(ratio.clamp(0.8, 1.2) * a))
        })
    });
}

#[test]
fn clipped_importance_sampling_with_bounds_on_both_sides() {
    check_tokens(with_loss(Cispo { clip_low: 0.1, clip_high: 0.28 }), 0.6, |s, t, now, fixed| {
        -(fixed.0[t] - behaviour(s, t)).exp().clamp(0.9, 1.28) * weight(s) * now.0[t]
    });
}

#[test]
fn a_clipped_surrogate_on_ratios_of_whole_responses() {
    check_tokens(with_loss(Gspo { clip_low: 0.1, clip_high: 0.28 }), 0.6, |s, _, now, _| {
        let log_ratios: f64 = now.0.iter().enumerate().map(|(u, logprob)| logprob - behaviour(s, u)).sum();
        let (a, ratio) = (weight(s), (log_ratios / now.0.len() as f64).exp());
        -(ratio * a).min(ratio.clamp(0.9, 1.28) * a)
    });
}

#[test]
fn negative_aware_fine_tuning_counts_what_has_a_solve_rate_and_bounds_a_value_but_not_its_slope() {
    check_tokens(with_loss(Nft::default()), 0.6, |s, t, now, fixed| {
        let Some(rate) = s.rate.map(f64::from) else { return 0.0 };
        let (a, argument) = (weight(s), |l: f64| (1.0 - rate * (l - behaviour(s, t)).exp()) / (1.0 - rate));
        let bounded = argument(fixed.0[t]).max(1.0);
        let moved = bounded.ln() + (argument(now.0[t]) - argument(fixed.0[t])) / bounded;
        if a > 0.0 { -a * (now.0[t] - behaviour(s, t)) } else { a * (1.0 - rate) / rate * moved }
    });
}

#[test]
fn supervised_fine_tuning() {
    let mut learner = learner(with_loss(Sft::default()));
    let mut batch = batch(&learner, 0.5);
    batch.samples.iter_mut().for_each(|s| s.weight = s.weight.abs());
    let fixed = fixed(&learner, &batch);
    let found = learner.named_gradients(&batch).expect("gradients");
    check(&learner, found, |oracle| {
        sum(oracle, &fixed, &batch, batch.normalizer, |s, t, now, _| -weight(s) * now.0[t])
    });
}

#[test]
fn rejection_sampling_fine_tuning_divides_by_what_it_keeps() {
    let mut learner = learner(with_loss(Rft::default()));
    let batch = batch(&learner, 0.5);
    let kept = |s: &&Sample| !s.imitate && s.weight > 0.0;
    let tokens: f64 = batch.samples.iter().filter(kept).map(|s| f64::from(s.scale) * s.response.len() as f64).sum();
    let fixed = fixed(&learner, &batch);
    let found = learner.named_gradients(&batch).expect("gradients");
    check(&learner, found, |oracle| {
        sum(oracle, &fixed, &batch, tokens, |s, t, now, _| if s.weight > 0.0 { -now.0[t] } else { 0.0 })
    });
}

#[test]
fn divergences_in_the_loss() {
    for estimator in [KlEstimator::K2, KlEstimator::K3] {
        let options = LearnerOptions { kl: kl(estimator, KlPlace::Loss), ..LearnerOptions::default() };
        check_tokens(options, 0.7, |s, t, now, _| {
            let log_ratio = now.0[t] - reference(s, t);
            let divergence = match estimator {
                KlEstimator::K2 => log_ratio * log_ratio / 2.0,
                _ => (-log_ratio).exp() - 1.0 + log_ratio,
            };
            0.3 * divergence - weight(s) * now.0[t]
        });
    }
}

#[test]
fn a_divergence_in_the_reward_with_a_clipped_surrogate() {
    let loss = Loss::PpoClip(PpoClip::default());
    let options = LearnerOptions { loss, kl: kl(KlEstimator::K1, KlPlace::Reward), ..LearnerOptions::default() };
    check_tokens(options, 0.5, |s, t, now, _| {
        let to_go: f64 = (t..s.response.len()).map(|u| behaviour(s, u) - reference(s, u)).sum();
        let (a, ratio) = (weight(s) - 0.3 * to_go, (now.0[t] - behaviour(s, t)).exp());
        -(ratio * a).min(ratio.clamp(0.8, 1.2) * a)
    });
}

/// Σ over tokens from this one of the difference to the reference.
fn divergence_from(sample: &Sample, from: usize) -> f64 {
    (from..sample.response.len()).map(|u| behaviour(sample, u) - reference(sample, u)).sum()
}

fn divergence_of_later_turns(batch: &TrainBatch, at: usize) -> f64 {
    let episode = batch.samples[at].episode;
    let later = batch.samples[at + 1..].iter().filter(|other| episode.is_some() && other.episode == episode);
    later.map(|other| divergence_from(other, 0)).sum()
}

#[test]
fn a_divergence_in_the_reward_of_a_turn_counts_that_of_the_later_turns_of_its_episode() {
    let mut learner = learner(LearnerOptions { kl: kl(KlEstimator::K1, KlPlace::Reward), ..LearnerOptions::default() });
    let mut batch = batch(&learner, 0.5);
    // One episode of two turns, one of three; the last rollout and the example have none.
    let episodes = [Some(4), Some(4), Some(9), Some(9), Some(9), None];
    batch.samples.iter_mut().zip(episodes).for_each(|(sample, episode)| sample.episode = episode);
    let later: Vec<f64> = (0..episodes.len()).map(|at| divergence_of_later_turns(&batch, at)).collect();
    let found = learner.named_gradients(&batch).expect("gradients");
    check(&learner, found, |oracle| {
        let mut total = 0.0;
        for (at, sample) in batch.samples.iter().enumerate() {
            let logprobs = oracle.outputs(&sample.prompt, &sample.response).0;
            for (t, logprob) in logprobs.iter().enumerate().skip(sample.masked) {
                let charge = if sample.imitate { 0.0 } else { 0.3 * (divergence_from(sample, t) + later[at]) };
                total -= f64::from(sample.scale) * (weight(sample) - charge) * logprob / batch.normalizer;
            }
        }
        total
    });
}

#[test]
fn an_entropy_bonus() {
    let options = LearnerOptions { entropy_bonus: 0.7, ..LearnerOptions::default() };
    check_tokens(options, 0.5, |s, t, now, _| -weight(s) * now.0[t] - 0.7 * now.1[t]);
}

/// A loss on pairs, from the pair and the log-ratios of its responses.
#[track_caller]
fn check_pairs(preference: Preference, slow: impl Fn(&PreferencePair, [f64; 2]) -> f64) {
    let mut learner = learner(with_preference(preference));
    let batch: PreferenceBatch = pairs(&learner, 2.0);
    let found = learner.named_preference_gradients(&batch).expect("gradients");
    check(&learner, found, |oracle| {
        let total = |prompt: &[u32], response: &[u32]| oracle.outputs(prompt, response).0.iter().sum::<f64>();
        let term = |pair: &PreferencePair| {
            let [chosen, rejected] = pair.reference.expect("given");
            let log_ratios =
                [total(&pair.prompt, &pair.chosen) - chosen, total(&pair.prompt, &pair.rejected) - rejected];
            f64::from(pair.weight) * slow(pair, log_ratios)
        };
        batch.pairs.iter().map(term).sum::<f64>() / batch.pairs.len() as f64
    });
}

fn dpo(strength: f64, [chosen, rejected]: [f64; 2]) -> f64 {
    -(1.0 / (1.0 + (-strength * (chosen - rejected)).exp())).ln()
}

/// (R⁺ − R⁻) / β.
fn gain(pair: &PreferencePair, beta: f64) -> f64 {
    let [chosen, rejected] = pair.rewards.expect("given");
    (chosen - rejected) / beta
}

#[test]
fn losses_over_the_order_of_pairs() {
    check_pairs(Preference::Dpo(Dpo { beta: 0.4 }), |_, both| dpo(0.4, both));
    check_pairs(Preference::Spin(Spin { lambda: 0.9 }), |_, both| dpo(0.9, both));
    check_pairs(Preference::Scpo(Scpo { beta: 0.4, alpha: 0.7 }), |pair, both| {
        let logprob = both[0] + pair.reference.expect("given")[0];
        dpo(0.4, both) - 0.7 * logprob / pair.chosen.len() as f64
    });
    check_pairs(Preference::Cream(Cream { beta: 0.4, consistency: 0.8 }), |_, [chosen, rejected]| {
        0.8 * dpo(0.4, [chosen, rejected]) + 0.2 * dpo(0.4, [rejected, chosen])
    });
}

#[test]
fn losses_over_shares_of_wins_and_over_rewards() {
    check_pairs(Preference::Sppo(Sppo { eta: 4.0 }), |pair, both| {
        let win = pair.win.expect("given");
        (0..2).map(|at| (both[at] - 4.0 * (win[at] - 0.5)).powi(2)).sum()
    });
    check_pairs(Preference::Copg(Copg { beta: 0.3 }), |pair, [chosen, rejected]| {
        let margin = chosen - rejected;
        0.3 * (0.5 * margin * margin - margin * gain(pair, 0.3))
    });
    check_pairs(Preference::Prdp(Prdp { beta: 0.3, clip: None }), |pair, [chosen, rejected]| {
        (chosen - rejected - gain(pair, 0.3)).powi(2)
    });
    check_pairs(Preference::Prdp(Prdp { beta: 0.3, clip: Some(1.5) }), |pair, both| {
        let error = |[chosen, rejected]: [f64; 2]| (chosen - rejected - gain(pair, 0.3)).powi(2);
        error(both).max(error(both.map(|one| one.clamp(-1.5, 1.5))))
    });
}
