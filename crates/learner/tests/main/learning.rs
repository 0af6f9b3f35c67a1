//! What updates do.

use veriplay_core::{Learn, LearnError, Policy, Sampling, TrainBatch};
use veriplay_learner::{Learner, LearnerOptions, ModelConfig};

use crate::common::{learner, prompt, sample, tiny_config, tokenizer};
use crate::losses::common::pairs;

#[test]
fn a_tiny_model_memorises_eight_answers() {
    let config = tiny_config();
    let mut learner = Learner::initialize(config, tokenizer(), 3, LearnerOptions::default()).expect("valid");
    let pairs: Vec<(String, String)> = (0..8).map(|i| (format!("<D>q{i}?"), format!("a{}b{}", 7 - i, i * i))).collect();
    let samples: Vec<_> = pairs
        .iter()
        .map(|(q, a)| {
            let mut response = learner.tokenizer().encode(a).expect("ascii");
            response.push(0);
            sample(&learner.tokenizer().encode(q).expect("ascii"), &response, 1.0)
        })
        .collect();
    let normalizer = samples.iter().map(|s| s.response.len() as f64).sum();
    let batch = TrainBatch { samples, normalizer };
    let first = learner.update(&batch, 3e-3).expect("learns").loss;
    let last = (0..150).map(|_| learner.update(&batch, 3e-3).expect("learns").loss).last().expect("ran");
    assert!(last < 0.05 * first, "loss went from {first} to {last}");
    let prompts: Vec<_> = pairs.iter().map(|(q, _)| prompt(q)).collect();
    let greedy = Sampling { temperature: 0.0, ..Sampling::new(12) };
    let answers: Vec<String> =
        learner.generate(&prompts, &greedy).expect("samples").into_iter().map(|g| g[0].text.clone()).collect();
    assert_eq!(answers, pairs.into_iter().map(|(_, a)| a).collect::<Vec<_>>());
}

#[test]
fn a_batch_of_zero_weights_changes_nothing_but_the_version() {
    let mut learner = learner(tiny_config());
    let before = learner.weights_bytes().expect("bytes");
    let batch = TrainBatch { samples: vec![sample(&[1, 2], &[3, 0], 0.0)], normalizer: 1.0 };
    let update = learner.update(&batch, 0.1).expect("a no-op");
    assert_eq!((update.policy.0, update.tokens), (1, 0));
    assert_eq!(before, learner.weights_bytes().expect("bytes"));
}

#[test]
fn a_restarted_learner_learns_as_a_new_one_and_counts_its_versions_on() {
    let batch = TrainBatch { samples: vec![sample(&[1, 2], &[3, 0], 1.0)], normalizer: 2.0 };
    let mut new = learner(tiny_config());
    let start = new.weights_bytes().expect("bytes");
    let mut again = learner(tiny_config());
    again.hold_reference().expect("holds");
    for _ in 0..3 {
        again.update(&batch, 1e-2).expect("learns");
    }
    assert_ne!(again.weights_bytes().expect("bytes"), start);
    again.reset_optimizer();
    again.restart_from(learner(tiny_config())).expect("the same shape");
    assert_eq!((again.weights_bytes().expect("bytes"), again.version().0), (start, 3));
    let mut wanting = pairs(&again, 1.0);
    wanting.pairs.iter_mut().for_each(|pair| pair.reference = None);
    assert!(again.named_preference_gradients(&wanting).is_ok(), "the reference stays");
    for _ in 0..2 {
        let (one, other) = (new.update(&batch, 1e-2).expect("learns"), again.update(&batch, 1e-2).expect("learns"));
        assert_eq!((one.loss, one.gradient_norm), (other.loss, other.gradient_norm));
    }
    assert_eq!(new.weights_bytes().expect("bytes"), again.weights_bytes().expect("bytes"));
    assert_eq!((new.version().0, again.version().0), (2, 5));
    let other = ModelConfig { num_hidden_layers: 1, ..tiny_config() };
    assert!(again.restart_from(learner(other)).is_err());
    assert_eq!(again.version().0, 5);
}

#[test]
fn a_reset_optimizer_leaves_the_weights_and_steps_as_a_fresh_one() {
    let batch = TrainBatch { samples: vec![sample(&[1, 2], &[3, 0], 1.0)], normalizer: 2.0 };
    let dir = tempfile::tempdir().expect("a directory");
    let mut reset = learner(tiny_config());
    reset.update(&batch, 1e-2).expect("learns");
    reset.save(dir.path()).expect("saves");
    let mut fresh = Learner::load(dir.path(), LearnerOptions::default()).expect("loads");
    reset.reset_optimizer();
    assert_eq!(reset.weights_bytes().expect("bytes"), fresh.weights_bytes().expect("bytes"));
    for learner in [&mut reset, &mut fresh] {
        learner.update(&batch, 1e-2).expect("learns");
    }
    assert_eq!(reset.weights_bytes().expect("bytes"), fresh.weights_bytes().expect("bytes"));
}

#[test]
fn bad_batches_are_refused_and_leave_the_weights_alone() {
    let mut learner = learner(tiny_config());
    let before = learner.weights_bytes().expect("bytes");
    let good = || sample(&[1, 2], &[3, 0], 1.0);
    let corpus = [
        (TrainBatch { samples: vec![good()], normalizer: 0.0 }, 0.1, "normalizer"),
        (TrainBatch { samples: vec![good()], normalizer: f64::NAN }, 0.1, "normalizer"),
        (TrainBatch { samples: vec![sample(&[], &[1], 1.0)], normalizer: 1.0 }, 0.1, "empty"),
        (TrainBatch { samples: vec![sample(&[1], &[], 1.0)], normalizer: 1.0 }, 0.1, "empty"),
        (TrainBatch { samples: vec![veriplay_core::Sample { masked: 2, ..good() }], normalizer: 1.0 }, 0.1, "masks"),
        (TrainBatch { samples: vec![sample(&[1], &[110], 1.0)], normalizer: 1.0 }, 0.1, "token 110"),
        (TrainBatch { samples: vec![sample(&[1], &[1; 96], 1.0)], normalizer: 1.0 }, 0.1, "context"),
        (TrainBatch { samples: vec![sample(&[1], &[1], f32::INFINITY)], normalizer: 1.0 }, 0.1, "weight"),
        (TrainBatch { samples: vec![good()], normalizer: 1.0 }, f64::NAN, "learning rate"),
    ];
    for (batch, rate, word) in corpus {
        match learner.update(&batch, rate) {
            Err(LearnError::BadBatch(message)) => assert!(message.contains(word), "{message}"),
            other => panic!("`{word}`: {other:?}"),
        }
    }
    assert_eq!(before, learner.weights_bytes().expect("bytes"));
}

#[test]
fn a_batch_keeps_to_the_length_that_memory_is_planned_for() {
    let options = LearnerOptions { max_length: Some(4), ..LearnerOptions::default() };
    let mut bounded = Learner::initialize(tiny_config(), tokenizer(), 7, options).expect("valid");
    let mut update = |response: &[u32]| {
        bounded.update(&TrainBatch { samples: vec![sample(&[1, 2], response, 1.0)], normalizer: 1.0 }, 1e-3)
    };
    update(&[3, 0]).expect("it just fits");
    let want =
        "sample 0 has 2 tokens in its prompt and 3 in its response, and `learn.options.max_length` allows 4 together";
    match update(&[3, 4, 0]) {
        Err(LearnError::BadBatch(message)) => assert!(message.starts_with(want), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_learner_can_be_shared_and_sent_between_threads() {
    const fn threads<T: Send + Sync>() {}
    threads::<Learner>();
}
