//! Optimizers against their formulas, and the silent-cut detector.

use veriplay_core::{Learn, LearnError, TrainBatch};
use veriplay_learner::{AdamW, Learner, LearnerOptions, Optimizer};

use crate::common::{edit_tensors, sample, tiny_config, tokenizer};

fn with(optimizer: Optimizer, clip_norm: f64) -> Learner {
    let options = LearnerOptions { optimizer, clip_norm, ..LearnerOptions::default() };
    Learner::initialize(tiny_config(), tokenizer(), 7, options).expect("valid")
}

fn batch(turn: u32) -> TrainBatch {
    let samples =
        (0..6).map(|i| sample(&[1 + turn, 2, 3 + i / 3], &[4 + i, 5, 6 + turn + i, 0], 1.0 - 0.3 * i as f32)).collect();
    TrainBatch { samples, normalizer: 12.0 }
}

#[test]
fn adamw_follows_its_formula_over_three_steps() {
    let adamw = AdamW { beta1: 0.9, beta2: 0.98, eps: 1e-6, weight_decay: 0.1 };
    let mut learner = with(Optimizer::AdamW(adamw), 0.05);
    let rate = 0.01;
    let mut weights = learner.named_weights();
    let mut moments: Vec<(Vec<f64>, Vec<f64>)> =
        weights.iter().map(|(_, w)| (vec![0.0; w.len()], vec![0.0; w.len()])).collect();
    for step in 1..=3 {
        let (_, gradients) = learner.named_gradients(&batch(step)).expect("gradients");
        let norm = gradients.iter().flat_map(|(_, g)| g).map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
        let update = learner.update(&batch(step), rate).expect("learns");
        assert!((update.gradient_norm - norm).abs() < 1e-9 * norm && norm > 0.05, "the clip must bite");
        for (((spec, w), (_, g)), (m, v)) in weights.iter_mut().zip(&gradients).zip(&mut moments) {
            let decay = if spec.shape.len() == 2 { rate * adamw.weight_decay } else { 0.0 };
            for i in 0..w.len() {
                let g = f64::from(g[i]) * 0.05 / norm;
                m[i] = 0.9 * m[i] + 0.1 * g;
                v[i] = 0.98 * v[i] + 0.02 * g * g;
                let (mean, square) =
                    (m[i] / (1.0 - 0.9_f64.powi(step as i32)), v[i] / (1.0 - 0.98_f64.powi(step as i32)));
                w[i] = (f64::from(w[i]) * (1.0 - decay) - rate * mean / (square.sqrt() + adamw.eps)) as f32;
            }
        }
        for ((spec, want), (_, got)) in weights.iter_mut().zip(learner.named_weights()) {
            for (a, b) in want.iter().zip(&got) {
                assert!((a - b).abs() < 2e-5, "{}: {a} {b}", spec.name);
            }
            *want = got;
        }
    }
}

#[test]
fn muon_moves_hidden_matrices_by_a_nearly_orthogonal_step_and_the_rest_as_adamw_does() {
    let adamw = AdamW::default();
    let (mut muon, mut plain) = (with(Optimizer::muon(adamw, 5.0), 1.0), with(Optimizer::AdamW(adamw), 1.0));
    let before = muon.named_weights();
    muon.update(&batch(1), 1e-3).expect("learns");
    plain.update(&batch(1), 1e-3).expect("learns");
    for (((spec, before), (_, muon)), (_, plain)) in before.iter().zip(muon.named_weights()).zip(plain.named_weights())
    {
        if !spec.is_hidden_matrix() {
            assert_eq!(muon, plain, "{}", spec.name);
            continue;
        }
        let (rows, columns) = (spec.shape[0], spec.shape[1]);
        let scale = 5e-3 * (rows as f64 / columns as f64).max(1.0).sqrt();
        let step: Vec<f64> = before.iter().zip(&muon).map(|(a, b)| f64::from(a - b) / scale).collect();
        // The gradient of a small batch has low rank, so some singular values stay small: the mean square one is bounded above.
        let energy = step.iter().map(|x| x * x).sum::<f64>();
        let rank = rows.min(columns) as f64;
        assert!(energy > 0.1 * rank && energy < 1.5 * rank, "{}: {energy} of {rank}", spec.name);
        assert!(top_singular(&step, rows, columns) < 1.3, "{}", spec.name);
    }
}

/// The largest singular value, by power iteration.
fn top_singular(matrix: &[f64], rows: usize, columns: usize) -> f64 {
    let mut v = vec![1.0; columns];
    let mut norm = 0.0;
    for _ in 0..60 {
        let u: Vec<f64> = (0..rows).map(|i| (0..columns).map(|j| matrix[i * columns + j] * v[j]).sum()).collect();
        v = (0..columns).map(|j| (0..rows).map(|i| matrix[i * columns + j] * u[i]).sum()).collect();
        norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        v.iter_mut().for_each(|x| *x /= norm);
    }
    norm.sqrt()
}

#[test]
fn training_saved_and_resumed_ends_with_the_same_bits() {
    for optimizer in [Optimizer::default(), Optimizer::muon(AdamW { weight_decay: 0.1, ..AdamW::default() }, 5.0)] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut whole = with(optimizer, 1.0);
        for turn in 0..3 {
            whole.update(&batch(turn), 1e-2).expect("learns");
        }
        whole.save(dir.path()).expect("saves");
        whole.save_trainer_state(dir.path()).expect("saves");
        let options = whole.options().clone();
        let mut resumed = Learner::load(dir.path(), options).expect("loads");
        resumed.load_trainer_state(dir.path()).expect("loads");
        assert_eq!(resumed.version(), whole.version());
        for turn in 3..6 {
            assert_eq!(
                whole.update(&batch(turn), 1e-2).expect("learns"),
                resumed.update(&batch(turn), 1e-2).expect("learns")
            );
        }
        assert_eq!(whole.weights_bytes().expect("bytes"), resumed.weights_bytes().expect("bytes"));
    }
}

#[test]
fn updates_that_are_undone_leave_no_trace() {
    for optimizer in [Optimizer::default(), Optimizer::muon(AdamW::default(), 5.0)] {
        let (mut plain, mut trying) = (with(optimizer, 1.0), with(optimizer, 1.0));
        for turn in 0..2 {
            plain.update(&batch(turn), 1e-2).expect("learns");
            trying.update(&batch(turn), 1e-2).expect("learns");
        }
        let snapshot = trying.snapshot().expect("copies");
        for turn in 5..8 {
            trying.update(&batch(turn), 1e-1).expect("learns");
        }
        assert_ne!(plain.weights_bytes().expect("bytes"), trying.weights_bytes().expect("bytes"));
        trying.restore(&snapshot).expect("goes back");
        assert_eq!(plain.version(), trying.version());
        assert_eq!(plain.update(&batch(2), 1e-2).expect("learns"), trying.update(&batch(2), 1e-2).expect("learns"));
        assert_eq!(plain.weights_bytes().expect("bytes"), trying.weights_bytes().expect("bytes"));
        let foreign = veriplay_core::Snapshot::new(1_u64);
        assert!(trying.restore(&foreign).is_err(), "a snapshot of another learner");
    }
}

#[test]
fn a_cut_in_the_training_path_is_named_at_the_first_update() {
    // An output projection of zeros lets no gradient through to what is before it.
    let learner = with(Optimizer::default(), 1.0);
    let dir = tempfile::tempdir().expect("a directory");
    learner.save(dir.path()).expect("saves");
    edit_tensors(dir.path(), |tensors| {
        let output = tensors.get_mut("model.layers.1.self_attn.o_proj.weight").expect("there");
        *output = output.zeros_like().expect("zeros");
    });
    let mut cut = Learner::load(dir.path(), LearnerOptions::default()).expect("loads");
    let before = cut.weights_bytes().expect("bytes");
    match cut.update(&batch(1), 1e-2) {
        Err(LearnError::NoGradient { names }) => {
            let parts = [
                "input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.q_norm",
                "self_attn.k_norm",
            ];
            assert_eq!(names, parts.map(|p| format!("model.layers.1.{p}.weight")));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(before, cut.weights_bytes().expect("bytes"));
    assert_eq!(cut.version().0, 0);
}

#[test]
fn the_detector_does_not_take_a_batch_without_context_for_a_cut() {
    let mut learner = with(Optimizer::default(), 1.0);
    let without_context = TrainBatch { samples: vec![sample(&[1], &[2], 1.0)], normalizer: 1.0 };
    learner.update(&without_context, 1e-3).expect("one token of context gives queries no gradient");
    learner.update(&batch(1), 1e-3).expect("learns");
}

#[test]
fn a_gradient_that_is_not_finite_is_refused_and_leaves_the_weights_alone() {
    let mut learner = with(Optimizer::default(), 1.0);
    let before = learner.weights_bytes().expect("bytes");
    let huge = TrainBatch { samples: vec![sample(&[1, 2], &[3, 4, 0], 1e30)], normalizer: 1e-30 };
    assert!(matches!(learner.update(&huge, 1e-3), Err(LearnError::NotFinite { .. })));
    assert_eq!(before, learner.weights_bytes().expect("bytes"));
    learner.update(&batch(1), 1e-3).expect("the next batch is fine");
}

#[test]
fn entropy_of_a_model_that_knows_nothing_is_that_of_the_uniform_distribution() {
    let config = veriplay_learner::ModelConfig { initializer_range: 1e-4, ..tiny_config() };
    let mut learner = Learner::initialize(config, tokenizer(), 7, LearnerOptions::default()).expect("valid");
    let update = learner.update(&batch(1), 0.0).expect("learns");
    assert!((update.entropy - 110.0_f64.ln()).abs() < 1e-4, "{}", update.entropy);
}
