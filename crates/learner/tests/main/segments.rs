//! Backward by segments against the plain one, and what it leaves alone.

use veriplay_core::{Learn, TrainBatch};
use veriplay_learner::{
    Kl, KlEstimator, KlPlace, Learner, LearnerOptions, Loss, ModelConfig, NamedTensor, PpoClip, Segments,
};

use crate::common::{tiny_config, tokenizer};
use crate::losses::common::{batch, pairs};

fn deep() -> ModelConfig {
    ModelConfig { num_hidden_layers: 5, ..tiny_config() }
}

fn learner(config: &ModelConfig, segments: Option<Segments>) -> Learner {
    let loss = Loss::PpoClip(PpoClip::default());
    let kl = Some(Kl { coefficient: 0.2, estimator: KlEstimator::K3, place: KlPlace::Loss });
    let options =
        LearnerOptions { segments, loss, kl, entropy_bonus: 0.1, micro_tokens: 24, ..LearnerOptions::default() };
    Learner::initialize(config.clone(), tokenizer(), 7, options).expect("valid")
}

fn of(config: &ModelConfig, segments: Option<Segments>) -> (f64, Vec<NamedTensor>) {
    let mut learner = learner(config, segments);
    let batch: TrainBatch = batch(&learner, 0.4);
    learner.named_gradients(&batch).expect("gradients")
}

const ALL: usize = 1 << 20;

#[test]
fn segments_of_any_size_give_the_plain_gradients_to_the_bit() {
    for config in [deep(), ModelConfig { tie_word_embeddings: false, ..deep() }] {
        let plain = of(&config, None);
        for layers in [1, 2, 3, 5, 9] {
            let found = of(&config, Some(Segments { layers, logit_rows: ALL }));
            assert!(found == plain, "segments of {layers} layers");
        }
    }
}

#[test]
fn chunks_of_logits_give_the_same_loss_and_gradients_but_for_the_order_of_sums() {
    let (loss, plain) = of(&deep(), None);
    for logit_rows in [1, 3, 7] {
        let (found, gradients) = of(&deep(), Some(Segments { layers: 2, logit_rows }));
        assert!((found - loss).abs() < 1e-9 * loss.abs(), "{found} {loss}");
        for ((spec, a), (_, b)) in gradients.iter().zip(&plain) {
            let scale = b.iter().fold(0.0_f32, |m, x| m.max(x.abs()));
            let error = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(error <= 2e-6 * scale, "{} in chunks of {logit_rows}: {error} of {scale}", spec.name);
        }
    }
}

#[test]
fn pairs_learn_alike_with_and_without_segments() {
    let after = |segments| {
        let mut learner = learner(&deep(), segments);
        let batch = pairs(&learner, 1.0);
        let losses: Vec<f64> = (0..4).map(|_| learner.prefer(&batch, 1e-3).expect("learns").loss).collect();
        (losses, learner.weights_bytes().expect("bytes"))
    };
    assert!(after(None) == after(Some(Segments { layers: 1, logit_rows: ALL })));
}
