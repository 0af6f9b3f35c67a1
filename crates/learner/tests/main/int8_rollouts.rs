//! Rollouts in 8-bit integers: the policy that samples is the trained one, quantised.

use veriplay_core::{Learn, TrainBatch};
use veriplay_learner::{DeviceSpec, Learner, LearnerOptions, RolloutPrecision, SamplingRequest};

use crate::common::{sample, tiny_config, tokenizer};
use crate::lora::lora;

fn options() -> LearnerOptions {
    LearnerOptions { rollout_precision: Some(RolloutPrecision::Int8), ..LearnerOptions::default() }
}

/// The mean and the largest difference of samples' log-probabilities to those that the learner computes of its weights.
fn differences(learner: &Learner) -> [f64; 2] {
    let vocabulary = learner.config().vocab_size as u32;
    let request = |i: u32| {
        let prompt = (0..10 + 3 * i).map(|at| (1 + i * 31 + at * 7 + at * at) % vocabulary).collect();
        SamplingRequest { samples: 4, seed: u64::from(i), ..SamplingRequest::new(prompt, 40) }
    };
    let requests: Vec<SamplingRequest> = (0..16).map(request).collect();
    let groups = learner.complete(&requests).expect("samples");
    let mut apart = Vec::new();
    for (request, group) in requests.iter().zip(groups) {
        for sample in group {
            let scores = learner.score(&request.prompt, &[sample.tokens]).expect("scores").remove(0);
            apart.extend(scores.iter().zip(&sample.logprobs).map(|(score, told)| f64::from((score - told).abs())));
        }
    }
    assert!(apart.len() > 200, "{} tokens are too few", apart.len());
    [apart.iter().sum::<f64>() / apart.len() as f64, apart.into_iter().fold(0.0, f64::max)]
}

/// How far the log-probabilities of a learner's quantised self are from its own in the mean, at most.
///
/// A number is rounded by Δ/√12 in the mean square, and Δ is the largest of its group over 127, which is 3 times the group's mean square for numbers
/// that are normal: a relative error of 3/(127·√12) = 0.7 %, of both sides of a product together 1 %. A decoder has four products a layer and the
/// head, n in all, whose errors add like the steps of a random walk: √n % of logits. Where these deviate by s, that of a token and that of its
/// normaliser make √2·√n %·s in a log-probability, of which the mean magnitude is √(2/π) as much.
fn bound(learner: &Learner) -> f64 {
    let logits = learner.logits(&[1, 2, 3, 4, 5, 6, 7, 8]).expect("logits");
    let deviation = logits.iter().map(|row| deviation(row)).fold(0.0, f64::max);
    let products = 4 * learner.config().num_hidden_layers + 1;
    0.01 * (2.0 * products as f64 * std::f64::consts::FRAC_2_PI).sqrt() * deviation
}

/// Of numbers around their mean.
fn deviation(numbers: &[f32]) -> f64 {
    let mean = numbers.iter().map(|x| f64::from(*x)).sum::<f64>() / numbers.len() as f64;
    (numbers.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / numbers.len() as f64).sqrt()
}

#[track_caller]
fn is_near_its_quantised_self(learner: &Learner) {
    let ([mean, most], bound) = (differences(learner), bound(learner));
    assert!(mean < bound, "{mean} in the mean, and {bound} is the bound");
    assert!(mean > 1e-3, "it is quantised: {mean} in the mean, {most} at most");
}

#[test]
fn samples_have_the_log_probabilities_of_the_quantised_policy_near_those_of_the_trained_one() {
    let adapters = lora(&["q_proj", "o_proj", "up_proj", "down_proj"]);
    let batch =
        TrainBatch { samples: (1..7).map(|i| sample(&[1, 2, i], &[4 + i, 5, 6, 0], 1.0)).collect(), normalizer: 24.0 };
    for lora in [None, Some(adapters)] {
        let with = |options| Learner::initialize(tiny_config(), tokenizer(), 7, options).expect("valid");
        let mut learner = with(LearnerOptions { lora: lora.clone(), ..options() });
        // Before and behind an update, after which what was quantised before is far off.
        for is_trained in [false, true] {
            if is_trained {
                (0..30).for_each(|_| drop(learner.update(&batch, 1e-2).expect("learns")));
            }
            is_near_its_quantised_self(&learner);
        }
        let exact = with(LearnerOptions { lora, ..LearnerOptions::default() });
        assert!(differences(&exact)[1] < 1e-4, "without the key the two are one");
    }
}

#[test]
fn a_trained_model_is_near_its_quantised_self() {
    is_near_its_quantised_self(&Learner::load(super::TINY_MODEL.as_ref(), options()).expect("the tiny model"));
}

/// A request whose prompt, length and seed depend on its number.
fn request_of_tokens(i: usize) -> SamplingRequest {
    let prompt = (0..20 + 7 * i % 30).map(|t| ((i * 31 + t * 7) % 110) as u32).collect();
    SamplingRequest { samples: 3, seed: i as u64, ignore_end: true, ..SamplingRequest::new(prompt, 9 + i % 3) }
}

#[test]
fn a_quantised_sample_depends_on_its_request_alone() {
    let requests: Vec<SamplingRequest> = (0..9).map(request_of_tokens).collect();
    let samples = |data_parallel, rollout_rows| {
        let options = LearnerOptions { data_parallel, rollout_rows, ..options() };
        let learner = Learner::initialize(tiny_config(), tokenizer(), 7, options).expect("valid");
        learner.complete(&requests).expect("samples")
    };
    let alone = samples(1, 1);
    for (data_parallel, rollout_rows) in [(1, 1), (1, 64), (2, 5), (3, 64)] {
        assert_eq!(alone, samples(data_parallel, rollout_rows));
    }
}

#[test]
fn a_device_without_these_products_is_refused() {
    let options = LearnerOptions { device: DeviceSpec::Portable, ..options() };
    let error = options.validate().expect_err("its products are candle's").to_string();
    assert!(
        ["`learn.rollout_precision`", "`int8`", "`cpu-portable`"].iter().all(|part| error.contains(part)),
        "{error}"
    );
}
