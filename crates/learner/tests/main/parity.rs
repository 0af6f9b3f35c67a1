//! Parity with transformers: the fixtures of `tests/parity`, which `scripts/parity.py` made.
//!
//! Wanted are logits within 1e-4 and gradients within 1e-3, relative to the largest number of the tensor, in f32; the tests hold them
//! to 2e-5 and 5e-5, and log-probabilities to 5e-5, half of it for training and half for sampling (measured on an AVX-512 machine against
//! transformers 5.23 and torch 2.15: 2.4e-6, 4.7e-6 and 1.5e-5 at worst). Greedy continuations are identical.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use candle_core::{Device, Tensor};
use serde::Deserialize;
use veriplay_core::{FinishReason, Sample, TrainBatch};
use veriplay_learner::{Architecture, Learner, LearnerOptions, NamedTensor, SamplingRequest, TokenSampler};

use crate::common::edit_tensors;

const LOGITS: f64 = 2e-5;
const GRADIENTS: f64 = 5e-5;
const LOGPROBS: f64 = 5e-5;

#[derive(Deserialize)]
struct Sequence {
    prompt: Vec<u32>,
    response: Vec<u32>,
    weight: f32,
}

#[derive(Deserialize)]
struct Greedy {
    prompt: Vec<u32>,
    continuation: Vec<u32>,
}

#[derive(Deserialize)]
struct Expected {
    loss: f64,
    normalizer: f64,
    eos: Vec<u32>,
    max_tokens: usize,
    sequences: Vec<Sequence>,
    greedy: Vec<Greedy>,
}

/// One fixture: a checkpoint, and what transformers made of it.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) dir: PathBuf,
    expected: Expected,
    tensors: HashMap<String, Tensor>,
}

pub(crate) fn cases() -> Vec<Case> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/parity");
    let mut dirs: Vec<PathBuf> = std::fs::read_dir(root).expect("fixtures").flatten().map(|e| e.path()).collect();
    dirs.retain(|dir| dir.join("expected.json").exists());
    dirs.sort();
    dirs.into_iter().map(Case::read).collect()
}

/// One thread and all in one micro-batch; three threads and micro-batches smaller than some sequences.
fn layouts() -> [LearnerOptions; 2] {
    [
        LearnerOptions { data_parallel: 1, micro_tokens: 4096, ..LearnerOptions::default() },
        LearnerOptions { data_parallel: 3, micro_tokens: 24, rollout_rows: 3, ..LearnerOptions::default() },
    ]
}

impl Case {
    fn read(dir: PathBuf) -> Self {
        let text = std::fs::read_to_string(dir.join("expected.json")).expect("reads");
        Self {
            name: dir.file_name().expect("a name").to_string_lossy().into_owned(),
            expected: serde_json::from_str(&text).expect("parses"),
            tensors: candle_core::safetensors::load(dir.join("expected.safetensors"), &Device::Cpu).expect("reads"),
            dir,
        }
    }

    pub(crate) fn learner(&self, options: LearnerOptions) -> Learner {
        Learner::load_by_ids(&self.dir, options).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    fn tensor(&self, name: &str) -> Vec<f32> {
        self.tensors[name].flatten_all().and_then(|t| t.to_vec1()).expect("f32")
    }

    /// Sequences with one prompt side by side: the learner computes the prompt once. As they come, it computes it twice.
    fn batch(&self, side_by_side: bool) -> TrainBatch {
        let mut sequences: Vec<&Sequence> = self.expected.sequences.iter().collect();
        if side_by_side {
            sequences.sort_by(|a, b| a.prompt.cmp(&b.prompt));
        }
        let sample = |s: &Sequence| {
            let (prompt, response) = (Arc::from(s.prompt.as_slice()), s.response.clone());
            Sample::new(prompt, response, s.weight)
        };
        TrainBatch { samples: sequences.into_iter().map(sample).collect(), normalizer: self.expected.normalizer }
    }

    fn check_gradients(&self, (loss, gradients): (f64, Vec<NamedTensor>)) {
        let want = self.expected.loss;
        assert!((loss - want).abs() <= LOGPROBS * want.abs().max(1.0), "{}: loss {loss}, want {want}", self.name);
        let named = self.tensors.keys().filter(|name| name.starts_with("grad.")).count();
        assert_eq!(gradients.len(), named, "{}: every parameter, and no other", self.name);
        for (spec, gradient) in gradients {
            let error = relative(&gradient, &self.tensor(&format!("grad.{}", spec.name)));
            assert!(error <= GRADIENTS, "{}: {} is {error:e} away", self.name, spec.name);
        }
    }
}

/// The largest difference, over the largest number wanted.
pub(crate) fn relative(got: &[f32], want: &[f32]) -> f64 {
    assert_eq!(got.len(), want.len());
    let scale = want.iter().fold(0.0_f64, |m, &x| m.max(f64::from(x.abs())));
    assert!(scale > 0.0, "transformers has a gradient for every parameter");
    difference(got, want) / scale
}

fn difference(got: &[f32], want: &[f32]) -> f64 {
    assert_eq!(got.len(), want.len());
    got.iter().zip(want).map(|(&a, &b)| (f64::from(a) - f64::from(b)).abs()).fold(0.0, f64::max)
}

#[test]
fn there_is_a_case_of_every_architecture_tied_and_untied() {
    let learners: Vec<Learner> = cases().iter().map(|case| case.learner(LearnerOptions::default())).collect();
    for architecture in Architecture::ALL {
        for tied in [false, true] {
            let found = learners.iter().any(|learner| {
                let config = learner.config();
                config.model_type == architecture
                    && config.tie_word_embeddings == tied
                    && config.num_key_value_heads <= config.num_attention_heads
            });
            assert!(found, "{architecture:?} {tied}");
        }
    }
    assert!(learners.iter().filter(|learner| learner.config().rope_scaling.is_some()).count() >= 2);
}

#[test]
fn logits_are_those_of_transformers() {
    for case in cases() {
        let learner = case.learner(LearnerOptions::default());
        for (i, sequence) in case.expected.sequences.iter().enumerate() {
            let tokens = [&sequence.prompt[..], &sequence.response].concat();
            let want = case.tensor(&format!("logits.{i}"));
            let logits: Vec<f32> = learner.logits(&tokens).expect("computes").concat();
            let error = relative(&logits[logits.len() - want.len()..], &want);
            assert!(error <= LOGITS, "{}: logits of sequence {i} are {error:e} away", case.name);
        }
    }
}

#[test]
fn every_gradient_is_that_of_transformers_on_the_padded_batch() {
    for case in cases() {
        for options in layouts() {
            for side_by_side in [false, true] {
                let mut learner = case.learner(options.clone());
                let got = learner.named_gradients(&case.batch(side_by_side)).expect("computes");
                case.check_gradients(got);
            }
        }
    }
}

#[test]
fn log_probabilities_of_training_are_those_of_transformers_and_sampling_keeps_the_same() {
    for case in cases() {
        for options in layouts() {
            let learner = case.learner(options);
            let score = |prompt: &[u32], response: &[u32]| {
                learner.score(prompt, std::slice::from_ref(&response.to_vec())).expect("computes").remove(0)
            };
            for (i, Sequence { prompt, response, .. }) in case.expected.sequences.iter().enumerate() {
                let error = difference(&score(prompt, response), &case.tensor(&format!("logprobs.{i}")));
                assert!(error <= LOGPROBS / 2.0, "{}: sequence {i} is {error:e} away", case.name);
                let request = SamplingRequest { samples: 3, ..SamplingRequest::new(prompt.clone(), response.len()) };
                for sample in learner.complete(&[request]).expect("samples").remove(0) {
                    let error = difference(&sample.logprobs, &score(prompt, &sample.tokens));
                    assert!(error <= LOGPROBS / 2.0, "{}: a sample behind prompt {i} is {error:e} away", case.name);
                }
            }
        }
    }
}

#[test]
fn greedy_continuations_are_those_of_generate_on_the_padded_batch_with_every_number_of_slots() {
    for case in cases() {
        let Expected { eos, max_tokens, greedy, .. } = &case.expected;
        let slots = |rollout_rows| LearnerOptions { data_parallel: 1, rollout_rows, ..LearnerOptions::default() };
        let request = |greedy: &Greedy| SamplingRequest {
            sampler: TokenSampler::at(0.0),
            ..SamplingRequest::new(greedy.prompt.clone(), *max_tokens)
        };
        let requests: Vec<SamplingRequest> = greedy.iter().map(request).collect();
        for options in layouts().into_iter().chain((1..=greedy.len()).map(slots)) {
            let learner = case.learner(options);
            assert_eq!(learner.end_tokens(), eos, "{}: generation_config.json names them", case.name);
            for (got, want) in learner.complete(&requests).expect("samples").iter().zip(greedy) {
                assert_eq!(got[0].tokens, want.continuation, "{}", case.name);
                let ended = want.continuation.last().is_some_and(|last| eos.contains(last));
                assert_eq!(got[0].finish(), if ended { FinishReason::Stop } else { FinishReason::Length });
            }
        }
        let ends_early = greedy.iter().any(|g| g.continuation.len() < *max_tokens);
        assert!(ends_early, "{}: some continuation ends early", case.name);
    }
}

/// How far the logits are from the wanted ones after a change to the checkpoint's files.
fn changed(case: &Case, change: impl FnOnce(&mut serde_json::Value, &mut HashMap<String, Tensor>)) -> f64 {
    let dir = tempfile::tempdir().expect("a directory");
    case.learner(LearnerOptions::default()).save(dir.path()).expect("saves");
    let config = dir.path().join("config.json");
    let mut value = serde_json::from_slice(&std::fs::read(&config).expect("reads")).expect("parses");
    edit_tensors(dir.path(), |tensors| change(&mut value, tensors));
    std::fs::write(config, value.to_string()).expect("writes");
    let learner = Learner::load_by_ids(dir.path(), LearnerOptions::default()).expect("loads");
    let sequence = &case.expected.sequences[1];
    let logits = learner.logits(&[&sequence.prompt[..], &sequence.response].concat()).expect("computes").concat();
    let want = case.tensor("logits.1");
    relative(&logits[logits.len() - want.len()..], &want)
}

#[test]
fn each_option_that_sets_the_families_apart_would_show_if_it_were_lost() {
    let find = |name: &str| cases().into_iter().find(|case| case.name == name).expect("there");
    assert!(changed(&find("llama-scaled"), |_, _| ()) <= LOGITS);
    let losses = [
        changed(&find("llama-scaled"), |config, _| config["rope_scaling"] = serde_json::Value::Null),
        changed(&find("llama-scaled-new"), |config, _| config["rope_scaling"]["factor"] = 8.into()),
        changed(&find("qwen3-tied"), |config, _| config["rope_theta"] = 10_000.into()),
        changed(&find("phi3-tied"), |config, _| config["rope_scaling"]["short_factor"] = [1.0, 1.0, 1.0].into()),
        changed(&find("phi3-tied"), |config, _| config["max_position_embeddings"] = 80.into()),
        changed(&find("smollm3-tied"), |config, _| config["no_rope_layers"] = [1, 1].into()),
        changed(&find("qwen2-sharded"), |config, _| config["rms_norm_eps"] = 0.01.into()),
        changed(&find("qwen2-sharded"), |_, tensors| {
            let bias = tensors.get_mut("model.layers.0.self_attn.q_proj.bias").expect("there");
            *bias = bias.zeros_like().expect("zeros");
        }),
        changed(&find("qwen3-untied"), |_, tensors| {
            let gain = tensors.get_mut("model.layers.1.self_attn.k_norm.weight").expect("there");
            *gain = gain.ones_like().expect("ones");
        }),
    ];
    for (i, loss) in losses.into_iter().enumerate() {
        assert!(loss > 50.0 * LOGITS, "change {i} moves logits by {loss:e} alone");
    }
}
