//! Batches, and a learner for each loss.

use veriplay_core::{PreferenceBatch, PreferencePair, Sample, TrainBatch};
use veriplay_learner::{Kl, KlEstimator, KlPlace, Learner, LearnerOptions, Loss, Preference};

use crate::common::{sample, tiny_config, tokenizer};

pub(crate) fn learner(options: LearnerOptions) -> Learner {
    Learner::initialize(tiny_config(), tokenizer(), 7, options).expect("the options are fine")
}

pub(crate) fn with_loss(loss: impl Into<Loss>) -> LearnerOptions {
    LearnerOptions { loss: loss.into(), ..LearnerOptions::default() }
}

pub(crate) fn with_preference(preference: Preference) -> LearnerOptions {
    LearnerOptions { preference, ..LearnerOptions::default() }
}

pub(crate) const fn kl(estimator: KlEstimator, place: KlPlace) -> Option<Kl> {
    Some(Kl { coefficient: 0.3, estimator, place })
}

/// Responses of one token and of several, two prompts, weights of both signs; log-probabilities of other policies that are
/// `away` from those of `learner` by up to that much, on both sides of it; solve rates, but not of all.
pub(crate) fn batch(learner: &Learner, away: f32) -> TrainBatch {
    let prompts: [&[u32]; 2] = [&[5, 6, 7], &[9]];
    let mut samples: Vec<Sample> = Vec::new();
    for (p, prompt) in prompts.into_iter().enumerate() {
        for (g, length) in [1_u32, 4, 2].into_iter().enumerate() {
            let response: Vec<u32> = (0..length).map(|t| (t * 11 + g as u32 * 5 + p as u32 * 3 + 1) % 100).collect();
            let logprobs = learner.score(prompt, std::slice::from_ref(&response)).expect("scores").remove(0);
            let moved = |phase: usize| {
                let shift = move |t: usize| away * ((t * 7 + g * 3 + p * 5 + phase) as f32).sin();
                Some(logprobs.iter().enumerate().map(|(t, l)| l + shift(t)).collect())
            };
            let weight = [1.0, -0.7, 0.4][(g + p) % 3];
            let scale = [1.0, 0.5, 0.25][g];
            let (behaviour, reference, rate) = (moved(0), moved(2), [Some(0.25), Some(0.5), None][(g + 2 * p) % 3]);
            samples.push(Sample { scale, behaviour, reference, rate, ..sample(prompt, &response, weight) });
        }
    }
    samples.push(Sample { masked: 1, ..Sample::example([9].into(), vec![3, 4, 0], 0.5) });
    TrainBatch { samples, normalizer: 5.0 }
}

/// Pairs of one token and of several, one of weight 0.
pub(crate) fn pairs(learner: &Learner, away: f64) -> PreferenceBatch {
    let pair = |prompt: &[u32], chosen: &[u32], rejected: &[u32], weight: f32, shift: f64| {
        let sums = learner.score(prompt, &[chosen.to_vec(), rejected.to_vec()]).expect("scores");
        let sum = |at: usize| sums[at].iter().map(|&l| f64::from(l)).sum::<f64>();
        let reference = Some([sum(0) + shift * away, sum(1) - 0.5 * shift * away]);
        PreferencePair {
            prompt: prompt.into(),
            chosen: chosen.to_vec(),
            rejected: rejected.to_vec(),
            weight,
            reference,
            rollouts: None,
            win: Some([0.8, 0.3]),
            rewards: Some([1.0, 0.25]),
        }
    };
    PreferenceBatch {
        pairs: vec![
            pair(&[5, 6, 7], &[1], &[2], 1.0, 1.0),
            pair(&[5, 6, 7], &[3, 4, 0], &[8, 0], 0.5, -2.0),
            pair(&[9], &[10, 11], &[12, 13, 14, 0], 1.0, 3.0),
            pair(&[9], &[1, 2], &[3], 0.0, 1.0),
        ],
    }
}
