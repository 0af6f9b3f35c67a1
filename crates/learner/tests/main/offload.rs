//! The optimizer on the host against the one on the device: the same bits, whatever the micro-batches, and from a checkpoint of either.

use std::path::Path;

use veriplay_core::{Learn, TrainBatch, Update};
use veriplay_learner::{
    AdamW, Architecture, DeviceSpec, Kl, KlEstimator, KlPlace, Learner, LearnerOptions, Lora, Loss, ModelConfig,
    Optimizer, PpoClip, Precision, Segments,
};

use crate::common::{tiny_config, tokenizer};
use crate::losses::common::batch;

fn options(precision: Precision, micro_tokens: usize, optimizer_offload: bool) -> LearnerOptions {
    LearnerOptions {
        optimizer: Optimizer::AdamW(AdamW { weight_decay: 0.1, ..AdamW::default() }),
        // Some steps are clipped.
        clip_norm: 0.5,
        micro_tokens,
        segments: Some(Segments { layers: 1, logit_rows: 3 }),
        loss: Loss::PpoClip(PpoClip::default()),
        kl: Some(Kl { coefficient: 0.2, estimator: KlEstimator::K3, place: KlPlace::Loss }),
        device: DeviceSpec::Portable,
        precision,
        optimizer_offload,
        ..LearnerOptions::default()
    }
}

/// A learner whose reference is its start.
fn learner(config: &ModelConfig, options: LearnerOptions) -> Learner {
    let mut learner = Learner::initialize(config.clone(), tokenizer(), 7, options).expect("valid");
    learner.hold_reference().expect("copies");
    learner
}

/// Samples that the reference has not scored yet.
fn unscored(learner: &Learner) -> TrainBatch {
    let mut batch = batch(learner, 0.4);
    batch.samples.iter_mut().for_each(|sample| sample.reference = None);
    batch
}

fn updates(learner: &mut Learner, batch: &TrainBatch, count: usize) -> Vec<Update> {
    (0..count).map(|_| learner.update(batch, 1e-2).expect("learns")).collect()
}

fn bytes(learner: &Learner) -> Vec<u8> {
    learner.weights_bytes().expect("bytes")
}

/// What the weights on the device say.
fn scores(learner: &Learner) -> Vec<Vec<f32>> {
    learner.score(&[1, 2, 3], &[vec![4, 5, 0], vec![6]]).expect("scores")
}

/// The bytes of the moments of a checkpoint.
fn moments(learner: &Learner, dir: &Path) -> Vec<u8> {
    learner.save(dir).and_then(|()| learner.save_trainer_state(dir)).expect("saves");
    std::fs::read(dir.join("optimizer/optimizer.safetensors")).expect("reads")
}

#[test]
fn adamw_on_the_host_gives_the_bits_that_it_gives_on_the_device() {
    let untied = ModelConfig { model_type: Architecture::Qwen2, tie_word_embeddings: false, ..tiny_config() };
    for config in [tiny_config(), untied] {
        for precision in [Precision::F32, Precision::Bf16] {
            for micro_tokens in [4, 12, 1 << 20] {
                let of = |offload| learner(&config, options(precision, micro_tokens, offload));
                let [mut device, mut host] = [false, true].map(of);
                let (start, samples) = (scores(&host), unscored(&device));
                assert_eq!(bytes(&host), bytes(&device), "both begin with the same weights in f32");
                assert_eq!(updates(&mut host, &samples, 3), updates(&mut device, &samples, 3), "{precision:?}");
                assert!(bytes(&host) == bytes(&device), "{precision:?}, micro-batches of {micro_tokens} tokens");
                assert_eq!(scores(&host), scores(&device));
                assert_ne!(scores(&host), start);
                let dirs = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
                assert!(moments(&host, dirs[0].path()) == moments(&device, dirs[1].path()), "moments");
            }
        }
    }
}

#[test]
fn a_run_goes_on_to_the_bit_from_a_checkpoint_on_either_side() {
    for precision in [Precision::F32, Precision::Bf16] {
        let mut whole = learner(&tiny_config(), options(precision, 12, true));
        let samples = batch(&whole, 0.4);
        updates(&mut whole, &samples, 2);
        let dir = tempfile::tempdir().expect("a directory");
        moments(&whole, dir.path());
        let want = updates(&mut whole, &samples, 2);
        for offload in [true, false] {
            let mut resumed = Learner::load(dir.path(), options(precision, 12, offload)).expect("loads");
            resumed.load_trainer_state(dir.path()).expect("loads");
            assert_eq!(updates(&mut resumed, &samples, 2), want, "{precision:?}");
            assert!(bytes(&resumed) == bytes(&whole), "{precision:?}, on the host: {offload}");
        }
    }
}

#[test]
fn updates_that_are_undone_leave_no_trace_on_the_host() {
    let of = || learner(&tiny_config(), options(Precision::Bf16, 12, true));
    let (mut plain, mut trying) = (of(), of());
    let samples = batch(&plain, 0.4);
    assert_eq!(updates(&mut plain, &samples, 1), updates(&mut trying, &samples, 1));
    let snapshot = trying.snapshot().expect("copies");
    updates(&mut trying, &samples, 2);
    assert_ne!(scores(&trying), scores(&plain));
    trying.restore(&snapshot).expect("goes back");
    assert_eq!((bytes(&trying), scores(&trying)), (bytes(&plain), scores(&plain)));
    assert_eq!(updates(&mut trying, &samples, 2), updates(&mut plain, &samples, 2));
    assert_eq!(bytes(&trying), bytes(&plain));
}

#[test]
fn merged_adapters_train_on_the_host_as_on_the_device() {
    let dir = tempfile::tempdir().expect("a directory");
    let target_modules = ["q_proj", "down_proj"].map(str::to_owned).to_vec();
    let lora = Some(Lora { rank: 3, alpha: 6.0, target_modules, seed: 1, per_role: false });
    let base = options(Precision::Bf16, 12, false);
    let mut adapted = learner(&tiny_config(), LearnerOptions { lora, ..base });
    let samples = batch(&adapted, 0.4);
    updates(&mut adapted, &samples, 2);
    adapted.save_adapters(dir.path()).expect("saves");
    let [host, device] = [true, false].map(|offload| {
        let mut learner = learner(&tiny_config(), options(Precision::Bf16, 12, offload));
        learner.merge_adapters_from(dir.path()).expect("merges");
        (updates(&mut learner, &samples, 2), bytes(&learner), scores(&learner))
    });
    assert!(host == device);
}

#[test]
fn on_the_cpu_the_option_changes_nothing() {
    let on_cpu = |offload| LearnerOptions { device: DeviceSpec::Cpu, ..options(Precision::F32, 12, offload) };
    let [mut plain, mut host] = [false, true].map(|offload| learner(&tiny_config(), on_cpu(offload)));
    let samples = batch(&plain, 0.4);
    assert_eq!(updates(&mut host, &samples, 2), updates(&mut plain, &samples, 2));
    assert_eq!(bytes(&host), bytes(&plain));
}
