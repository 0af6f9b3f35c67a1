//! Losses of whole batches, for any weights and any other policies, against the formulas summed by hand.

use proptest::prelude::*;
use veriplay_core::{Sample, TrainBatch};
use veriplay_learner::{Learner, LearnerOptions, PpoClip, Tis};

use super::common::{learner, with_loss};
use crate::common::sample;

/// Response length, advantage, and how far every token's behaviour is from the policy, in nats. Among them: nothing, one token, the
/// bounds of the clip, far beyond them.
fn rollout() -> impl Strategy<Value = (usize, f32, Vec<f32>)> {
    let shift = prop_oneof![
        -1.5..1.5_f32,
        Just(0.0),
        prop::sample::select(vec![1.2_f32.ln(), 0.8_f32.ln(), 2.0_f32.ln(), 6.0, -6.0]),
    ];
    let weight = prop_oneof![-2.0..2.0_f32, Just(0.0), Just(1.0)];
    (1..6_usize, weight, prop::collection::vec(shift, 6))
}

fn batch(learner: &Learner, rollouts: &[(usize, f32, Vec<f32>)]) -> (TrainBatch, Vec<Vec<f32>>) {
    let mut samples: Vec<Sample> = Vec::new();
    let mut logprobs = Vec::new();
    for (i, (length, weight, shifts)) in rollouts.iter().enumerate() {
        let response: Vec<u32> = (0..*length as u32).map(|t| (t * 7 + i as u32) % 100).collect();
        let own = learner.score(&[5, 6], std::slice::from_ref(&response)).expect("scores").remove(0);
        let behaviour = own.iter().zip(shifts).map(|(l, shift)| l - shift).collect();
        samples.push(Sample { behaviour: Some(behaviour), ..sample(&[5, 6], &response, *weight) });
        logprobs.push(own);
    }
    (TrainBatch { samples, normalizer: 7.0 }, logprobs)
}

fn total(batch: &TrainBatch, logprobs: &[Vec<f32>], token: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let mut total = 0.0;
    for (sample, own) in batch.samples.iter().zip(logprobs) {
        let behaviour = sample.behaviour.as_ref().expect("given");
        for (&l, &b) in own.iter().zip(behaviour) {
            total += token(f64::from(sample.weight), f64::from(l), (f64::from(l) - f64::from(b)).exp());
        }
    }
    total / batch.normalizer
}

fn loss_of(options: LearnerOptions, rollouts: &[(usize, f32, Vec<f32>)]) -> (f64, TrainBatch, Vec<Vec<f32>>) {
    let mut learner = learner(options);
    let (batch, logprobs) = batch(&learner, rollouts);
    let (loss, _) = learner.named_gradients(&batch).expect("gradients");
    (loss, batch, logprobs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn policy_gradient_is_the_sum_of_its_tokens(rollouts in prop::collection::vec(rollout(), 1..5)) {
        let (loss, batch, logprobs) = loss_of(LearnerOptions::default(), &rollouts);
        let want = total(&batch, &logprobs, |a, l, _| -a * l);
        prop_assert!((loss - want).abs() < 1e-5 * (1.0 + want.abs()), "{loss} {want}");
    }

    #[test]
    fn ppo_clip_is_the_sum_of_its_tokens(rollouts in prop::collection::vec(rollout(), 1..5)) {
        let (loss, batch, logprobs) = loss_of(with_loss(PpoClip::default()), &rollouts);
        let want = total(&batch, &logprobs, |a, _, r| -f64::min(r * a, r.clamp(0.8, 1.2) * a));
        // Scores of the whole batch differ from those of one response in the last bits, and e^6 makes them more.
        prop_assert!((loss - want).abs() < 1e-3 * (1.0 + want.abs()), "{loss} {want}");
    }

    #[test]
    fn truncated_importance_sampling_is_the_sum_of_its_tokens(rollouts in prop::collection::vec(rollout(), 1..5)) {
        let (loss, batch, logprobs) = loss_of(with_loss(Tis { cap: 2.0 }), &rollouts);
        let want = total(&batch, &logprobs, |a, l, r| -r.min(2.0) * a * l);
        prop_assert!((loss - want).abs() < 1e-4 * (1.0 + want.abs()), "{loss} {want}");
    }
}
