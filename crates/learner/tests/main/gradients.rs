//! Kernels against the oracle.

use veriplay_core::{Sample, TrainBatch};
use veriplay_learner::{Learner, LearnerOptions, ModelConfig};

use crate::common::{sample, tiny_config, tokenizer};
use crate::oracle::Oracle;

/// Groups with shared prompts of several lengths, one-token prompts and answers, weights of both signs and of zero.
fn batch(vocab: u32) -> TrainBatch {
    let mut samples: Vec<Sample> = Vec::new();
    for (p, prompt_len) in [17_u32, 1, 5, 33, 2].into_iter().enumerate() {
        let prompt: Vec<u32> = (0..prompt_len).map(|t| (t * 7 + p as u32 * 13) % vocab).collect();
        for (g, len) in [3_u32, 1, 19, 2].into_iter().enumerate() {
            let response: Vec<u32> = (0..len).map(|t| (t * 5 + g as u32 * 3 + p as u32) % vocab).collect();
            let masked = [0, 0, 4, 1][g];
            samples.push(Sample { masked, ..sample(&prompt, &response, [1.0, -0.7, 0.25, 0.0][(g + p) % 4]) });
        }
    }
    TrainBatch { samples, normalizer: 31.0 }
}

fn shapes() -> Vec<ModelConfig> {
    let tiny = tiny_config();
    vec![
        tiny.clone(),
        ModelConfig { tie_word_embeddings: false, num_key_value_heads: 4, ..tiny.clone() },
        ModelConfig {
            head_dim: 32,
            num_attention_heads: 6,
            hidden_size: 64,
            intermediate_size: 96,
            vocab_size: 192,
            ..tiny.clone()
        },
        ModelConfig { head_dim: 80, num_attention_heads: 3, num_key_value_heads: 1, hidden_size: 300, ..tiny },
    ]
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |m, x| m.max(x.abs()))
}

#[test]
fn loss_gradients_and_log_probabilities_agree_with_a_plain_f64_model() {
    for config in shapes() {
        for options in [
            LearnerOptions::default(),
            LearnerOptions { data_parallel: 3, micro_tokens: 20, ..LearnerOptions::default() },
        ] {
            let mut learner = Learner::initialize(config.clone(), tokenizer(), 5, options).expect("valid");
            let batch = batch(config.vocab_size as u32);
            let (loss, gradients) = learner.named_gradients(&batch).expect("gradients");
            let oracle = Oracle::of(&learner).expect("oracle");
            let (want_loss, want) = oracle.gradients(&batch).expect("backward");
            assert!((loss - want_loss).abs() < 1e-5 * want_loss.abs().max(1.0), "{loss} {want_loss}");
            assert_eq!(gradients.len(), want.len());
            for (spec, gradient) in gradients {
                let want = &want[&spec.name];
                let scale = largest(want.iter().copied());
                let error = largest(gradient.iter().zip(want).map(|(&a, b)| f64::from(a) - b));
                assert!(scale > 0.0 && error <= 2e-5 * scale, "{}: error {error} of {scale}", spec.name);
            }
            let responses: Vec<Vec<u32>> =
                (1..9_u32).map(|len| (0..len).map(|t| (t * 11 + len) % 100).collect()).collect();
            let scores = learner.score(&[5, 6, 7], &responses).expect("scores");
            for (response, scores) in responses.iter().zip(scores) {
                let (want, _) = oracle.outputs(&[5, 6, 7], response);
                let error = largest(scores.iter().zip(want).map(|(&a, b)| f64::from(a) - b));
                assert!(error < 2e-5, "{response:?}: {error}");
            }
        }
    }
}
