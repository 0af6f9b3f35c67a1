//! The forward pass of quantised models: against candle-transformers on the same files, and against our own decoder where that has limits
//! (factors of the rotary frequencies, more than 4,096 positions, heads of another width).
//!
//! Where weights are not quantised, logits are wanted within 1e-4, relative to the largest. What quantised weights are multiplied with is
//! rounded to 8 bits, and a number half-way between two steps may fall to one in our pass and to the other in candle-transformers'; then the
//! row is off by as much as rounding is. So most rows are wanted within 1e-4, and all within 5 %.

use std::f64::consts::TAU;
use std::fs::File;
use std::path::Path;

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::{Device, Result as CandleResult, Tensor};
use candle_transformers::models::{quantized_llama, quantized_qwen2, quantized_qwen3};
use serde_json::json;
use veriplay_learner::{
    Architecture, GgufPolicy, Learner, LearnerOptions, Llama3Scaling, RopeScaling, SamplingRequest, TokenSampler,
    describe_gguf,
};

use crate::parity::relative;
use crate::policies_gguf::{F16, Parts, folder, noise, quantised, tokens, wide};

/// Relative to the largest logit.
const NEAR: f64 = 1e-4;
/// A row in which a number was rounded the other way.
const ROUNDED: f64 = 5e-2;

const QUANTISED: [GgmlDType; 7] =
    [GgmlDType::Q4_0, GgmlDType::Q8_0, GgmlDType::Q2K, GgmlDType::Q3K, GgmlDType::Q4K, GgmlDType::Q5K, GgmlDType::Q6K];

type Forward = Box<dyn FnMut(&Tensor, usize) -> CandleResult<Tensor>>;

/// A model of candle-transformers, and how much of a sequence it holds.
struct Oracle {
    forward: Forward,
    position: usize,
}

impl Oracle {
    fn open(family: Architecture, path: &Path) -> Self {
        let mut file = File::open(path).expect("opens");
        let mut content = Content::read(&mut file).expect("reads");
        // Its Qwen3 makes rotary tables in 16 bits otherwise.
        content.metadata.insert("general.dtype".to_owned(), Value::U32(0));
        let cpu = &Device::Cpu;
        let forward: Forward = match family {
            Architecture::Qwen2 => {
                let mut model = quantized_qwen2::ModelWeights::from_gguf(content, &mut file, cpu).expect("reads");
                Box::new(move |tokens: &Tensor, position| model.forward(tokens, position))
            }
            Architecture::Qwen3 => {
                let mut model = quantized_qwen3::ModelWeights::from_gguf(content, &mut file, cpu).expect("reads");
                Box::new(move |tokens: &Tensor, position| model.forward(tokens, position))
            }
            Architecture::Llama | Architecture::Mistral => {
                let mut model = quantized_llama::ModelWeights::from_gguf(content, &mut file, cpu).expect("reads");
                Box::new(move |tokens: &Tensor, position| model.forward(tokens, position))
            }
            other => panic!("no GGUF file names {other:?}"),
        };
        Self { forward, position: 0 }
    }

    /// Puts tokens behind those that there are. Returns the logits behind the last.
    fn extend(&mut self, tokens: &[u32]) -> Vec<f32> {
        let input = Tensor::new(tokens, &Device::Cpu).and_then(|tokens| tokens.unsqueeze(0)).expect("a row");
        let logits = (self.forward)(&input, self.position).and_then(|logits| logits.squeeze(0)?.to_vec1());
        self.position += tokens.len();
        logits.expect("computes")
    }
}

/// How far our pass is from candle-transformers': logits behind prompts that are computed in one go, and log-probabilities of tokens that are
/// computed one by one behind a prompt.
fn errors(family: Architecture, path: &Path) -> Vec<f64> {
    let policy = GgufPolicy::load(path, None).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let prompt = tokens(40);
    let whole = [1, 2, 17, 40].map(|length| {
        let want = Oracle::open(family, path).extend(&prompt[..length]);
        relative(&policy.logits(&prompt[..length]).expect("computes"), &want)
    });
    let request = SamplingRequest { seed: 5, ignore_end: true, ..SamplingRequest::new(tokens(9), 40) };
    let continuation = policy.complete(&[request]).expect("samples").swap_remove(0).swap_remove(0);
    let mut oracle = Oracle::open(family, path);
    let mut logits = oracle.extend(&tokens(9));
    let mut errors = whole.to_vec();
    for (&token, &logprob) in continuation.tokens.iter().zip(&continuation.logprobs) {
        errors.push((log_probability(&logits, token) - f64::from(logprob)).abs());
        logits = oracle.extend(&[token]);
    }
    assert_eq!(errors.len(), 44);
    errors
}

fn log_probability(logits: &[f32], token: u32) -> f64 {
    let total: f64 = logits.iter().map(|&x| f64::from(x).exp()).sum();
    f64::from(logits[token as usize]) - total.ln()
}

/// As [`errors`], of a model of one layer.
fn errors_of_kind(family: Architecture, kind: GgmlDType) -> Vec<f64> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("model.gguf");
    wide(family, kind).0.write(&path);
    errors(family, &path)
}

#[test]
fn a_model_has_the_logits_that_candle_transformers_computes() {
    for family in Architecture::GGUF {
        for kind in [GgmlDType::F32, GgmlDType::F16] {
            let worst = errors_of_kind(family, kind).into_iter().fold(0.0, f64::max);
            assert!(worst <= NEAR, "{family:?}, {kind:?}: {worst:e} away");
        }
        let of_kinds = QUANTISED.map(|kind| (format!("{kind:?}"), errors_of_kind(family, kind)));
        let of_file = ("two layers".to_owned(), errors(family, &folder(family).join("q8_0.gguf")));
        for (kind, errors) in of_kinds.into_iter().chain([of_file]) {
            let near = errors.iter().filter(|&&error| error <= NEAR).count();
            assert!(2 * near > errors.len(), "{family:?}, {kind}: {errors:?}");
            assert!(errors.iter().all(|&error| error <= ROUNDED), "{family:?}, {kind}: {errors:?}");
        }
    }
}

/// The context of the first training of the models with scaled positions.
const PUBLISHED: usize = 8192;

/// Of the fixture's Llama: the base of its rotary frequencies, and pairs in a head.
const BASE: f64 = 5e5;
const PAIRS: usize = 4;

/// What llama.cpp's converter writes for `factor` 8, `low_freq_factor` 1 and `high_freq_factor` 4.
fn factors(original: usize) -> Vec<f32> {
    let original = original as f64;
    let factor = |pair: usize| {
        let wavelength = TAU * BASE.powf(pair as f64 / PAIRS as f64);
        if wavelength < original / 4.0 {
            1.0
        } else if wavelength > original {
            8.0
        } else {
            let smooth = (original / wavelength - 1.0) / (4.0 - 1.0);
            1.0 / ((1.0 - smooth) / 8.0 + smooth)
        }
    };
    (0..PAIRS).map(|pair| factor(pair) as f32).collect()
}

/// The fixture's Llama with scaled positions: as a file, and as a checkpoint in our decoder.
fn scaled(original: usize) -> (Parts, Learner) {
    let mut parts = Parts::of(Architecture::Llama);
    parts.put_values("rope_freqs.weight", factors(original), PAIRS, GgmlDType::F32);
    let (hf, dir) = (folder(Architecture::Llama).join("hf"), tempfile::tempdir().expect("a directory"));
    for name in ["generation_config.json", "model.safetensors"] {
        std::fs::copy(hf.join(name), dir.path().join(name)).expect("copies");
    }
    let config = std::fs::read(hf.join("config.json")).expect("reads");
    let mut config: serde_json::Value = serde_json::from_slice(&config).expect("parses");
    config["rope_parameters"] = json!({
        "rope_type": "llama3",
        "rope_theta": BASE,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": original,
    });
    std::fs::write(dir.path().join("config.json"), config.to_string()).expect("writes");
    (parts, Learner::load_by_ids(dir.path(), LearnerOptions::default()).expect("the same weights"))
}

#[test]
fn factors_of_rotary_frequencies_scale_positions_as_our_decoder_does() {
    let tokens = tokens(300);
    for original in [64, PUBLISHED] {
        let (parts, learner) = scaled(original);
        let policy = parts.load().unwrap_or_else(|e| panic!("{e}"));
        let want = learner.logits(&tokens).expect("computes");
        for length in [1, 2, 17, 129, 300] {
            let error = relative(&policy.logits(&tokens[..length]).expect("computes"), &want[length - 1]);
            assert!(error <= F16, "{original}, behind {length} tokens: {error:e} away");
        }
        let greedy = TokenSampler::at(0.0);
        let request = SamplingRequest { sampler: greedy, ignore_end: true, ..SamplingRequest::new(tokens.clone(), 30) };
        let requests = [request];
        let (got, want) = (policy.complete(&requests).expect("samples"), learner.complete(&requests).expect("samples"));
        assert_eq!(got[0][0].tokens, want[0][0].tokens, "{original}");
    }
    let plain = quantised(Architecture::Llama, "f16.gguf").logits(&tokens).expect("computes");
    let scaled = scaled(64).0.load().expect("loads").logits(&tokens).expect("computes");
    assert!(relative(&scaled, &plain) > 1e-3, "the factors change the logits");
}

#[test]
fn the_published_scaling_is_converted_and_another_one_is_refused() {
    let (parts, learner) = scaled(PUBLISHED);
    let got = parts.convert().expect("it is that of Llama 3.1").logits(&tokens(300)).expect("computes");
    let error = relative(&got.concat(), &learner.logits(&tokens(300)).expect("computes").concat());
    assert!(error <= F16, "{error:e} away");
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("model.gguf");
    parts.write(&path);
    let want = Llama3Scaling {
        factor: 8.0,
        low_freq_factor: 1.0,
        high_freq_factor: 4.0,
        original_max_position_embeddings: PUBLISHED,
    };
    assert_eq!(describe_gguf(&path).expect("reads").config.rope_scaling, Some(RopeScaling::Llama3(want)));
    let refused = scaled(64).0.convert().map(drop).expect_err("a config.json cannot say it");
    assert!(refused.contains("`rope_freqs.weight`: ") && refused.contains("false there"), "{refused}");
}

#[test]
fn a_llama_has_as_many_positions_as_its_file_says() {
    let mut parts = Parts::of(Architecture::Llama);
    parts.set("llama.context_length", Value::U32(5000));
    let policy = parts.load().expect("loads");
    assert_eq!(policy.context(), 5000);
    let tokens = tokens(4300);
    let want = parts.convert().expect("converts").logits(&tokens).expect("computes");
    let error = relative(&policy.logits(&tokens).expect("computes"), &want[4299]);
    assert!(error <= NEAR, "{error:e} away");
    parts.set("llama.context_length", Value::U32(u32::MAX));
    assert_eq!(parts.load().expect("loads").context(), 1 << 18, "tables of positions are bounded");
}

#[test]
fn heads_may_be_wider_than_their_share_of_the_stream() {
    let mut parts = Parts::of(Architecture::Llama);
    for key in ["attention.key_length", "attention.value_length", "rope.dimension_count"] {
        parts.set(&format!("llama.{key}"), Value::U32(16));
    }
    let (queries, keys, hidden) = (64, 32, 32);
    for layer in 0..2 {
        for (name, shape) in [
            ("attn_q", (queries, hidden)),
            ("attn_k", (keys, hidden)),
            ("attn_v", (keys, hidden)),
            ("attn_output", (hidden, queries)),
        ] {
            let values = noise(shape.0 * shape.1, 40 + layer).into_iter().map(|x| 5.0 * x).collect();
            parts.put_values(&format!("blk.{layer}.{name}.weight"), values, shape, GgmlDType::F32);
        }
    }
    let tokens = tokens(40);
    let want = parts.convert().expect("converts").logits(&tokens).expect("computes");
    let error = relative(&parts.load().expect("loads").logits(&tokens).expect("computes"), &want[39]);
    assert!(error <= F16, "{error:e} away");
}
