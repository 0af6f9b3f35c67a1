//! Quantised models: the files of `tests/gguf`, which `scripts/quantised.py` made of random checkpoints, against our own decoder on
//! the checkpoints themselves; and every way a file can be broken.
//!
//! With weights of 16 bits both compute with the same numbers, and logits are wanted within 1e-5, relative to the largest (measured:
//! 2.7e-6 at worst). Of weights in fewer bits candle rounds what they are multiplied with to 8 bits, too: the root mean square is wanted within
//! 10 % of that of the logits.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{self, Content, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Shape, Tensor};
use tempfile::TempDir;
use veriplay_core::{FinishReason, Policy, PolicyError, PolicyVersion, Sampling};
use veriplay_learner::{
    Architecture, GgufError, GgufPolicy, Learner, LearnerOptions, Precision, RequestError, SamplingRequest, StopReason,
    TokenSampler, convert_gguf,
};

use crate::common::{prompt, tokenizer};
use crate::parity::relative;

pub(crate) const F16: f64 = 1e-5;
const Q8_0: f64 = 0.1;

pub(crate) fn folder(family: Architecture) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gguf").join(family.name())
}

pub(crate) fn quantised(family: Architecture, kind: &str) -> GgufPolicy {
    GgufPolicy::load(&folder(family).join(kind), None).unwrap_or_else(|e| panic!("{e}"))
}

fn ours(family: Architecture) -> Learner {
    Learner::load_by_ids(&folder(family).join("hf"), LearnerOptions::default()).expect("the same weights")
}

pub(crate) fn tokens(count: usize) -> Vec<u32> {
    (0..count).map(|i| ((i * i * 17 + i * 5 + 3) % 104) as u32).collect()
}

/// Prompts of one token, of some, and of more than are computed at a time.
const LENGTHS: [usize; 6] = [1, 2, 17, 128, 129, 300];

#[test]
fn logits_are_those_of_our_decoder_on_the_same_weights() {
    let tokens = tokens(300);
    for family in Architecture::GGUF {
        let (policy, want) = (quantised(family, "f16.gguf"), ours(family).logits(&tokens).expect("computes"));
        for length in LENGTHS {
            let error = relative(&policy.logits(&tokens[..length]).expect("computes"), &want[length - 1]);
            assert!(error <= F16, "{family:?} behind {length} tokens: {error:e} away");
        }
    }
}

/// The root mean square of the difference, relative to that of `want`.
fn off_by(got: &[f32], want: &[f32]) -> f64 {
    let square = |values: &mut dyn Iterator<Item = f32>| values.map(|x| f64::from(x).powi(2)).sum::<f64>();
    let off = square(&mut got.iter().zip(want).map(|(a, b)| a - b));
    (off / square(&mut want.iter().copied())).sqrt()
}

#[test]
fn greedy_and_sampled_continuations_are_those_of_our_decoder_with_the_same_seeds() {
    for family in Architecture::GGUF {
        let (policy, learner) = (quantised(family, "f16.gguf"), ours(family));
        let plain = SamplingRequest { samples: 3, seed: 11, ..SamplingRequest::new(tokens(9), 30) };
        let greedy = SamplingRequest { sampler: TokenSampler::at(0.0), samples: 1, ..plain.clone() };
        let narrow = SamplingRequest { sampler: TokenSampler { top_k: 7, ..TokenSampler::at(0.8) }, ..plain.clone() };
        let long = SamplingRequest { ignore_end: true, ..SamplingRequest::new(tokens(200), 12) };
        let requests = [plain, greedy, narrow, long];
        let (got, want) = (policy.complete(&requests).expect("samples"), learner.complete(&requests).expect("samples"));
        for (got, want) in got.iter().flatten().zip(want.iter().flatten()) {
            assert_eq!((&got.tokens, &got.end), (&want.tokens, &want.end), "{family:?}");
            assert!(got.logprobs.iter().zip(&want.logprobs).all(|(a, b)| (a - b).abs() < 1e-4), "{family:?}");
        }
        assert_eq!(got.iter().map(Vec::len).collect::<Vec<_>>(), [3, 1, 3, 1]);
        assert_ne!(got[0][0].tokens, got[0][1].tokens, "samples of one prompt differ");
    }
}

#[test]
fn a_sample_depends_on_its_request_alone_and_not_on_the_batch() {
    for family in Architecture::GGUF {
        let policy = quantised(family, "q8_0.gguf");
        let request = |count, seed| SamplingRequest { samples: 2, seed, ..SamplingRequest::new(tokens(count), 14) };
        let requests = [request(5, 1), request(140, 2), request(1, 3)];
        let together = policy.complete(&requests).expect("samples");
        for (request, want) in requests.iter().zip(&together).rev() {
            assert_eq!(&policy.complete(std::slice::from_ref(request)).expect("samples")[0], want, "{family:?}");
        }
        let more = SamplingRequest { samples: 5, ..requests[1].clone() };
        assert_eq!(policy.complete(&[more]).expect("samples")[0][..2], together[1]);
    }
}

/// A directory with a model and a tokenizer beside it.
fn with_tokenizer(family: Architecture) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::copy(folder(family).join("f16.gguf"), dir.path().join("model.gguf")).expect("copies");
    let json = tokenizer().to_json().expect("serialises");
    std::fs::write(dir.path().join("tokenizer.json"), json).expect("writes");
    dir
}

#[test]
fn it_is_a_policy_whose_rollouts_have_text_tokens_and_log_probabilities() {
    let dir = with_tokenizer(Architecture::Llama);
    let policy = GgufPolicy::load(&dir.path().join("model.gguf"), None).expect("loads");
    assert_eq!(policy.end_tokens(), [0]);
    let sampling = Sampling { group: 12, seed: 4, ..Sampling::new(40) };
    let prompts = [prompt("def f(x):"), prompt("<D>1 + 1")];
    let groups = policy.generate(&prompts, &sampling).expect("samples");
    assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [12, 12]);
    let mut ended = 0;
    for (rollout, asked) in groups.iter().zip(&prompts).flat_map(|(group, p)| group.iter().map(move |r| (r, p))) {
        assert_eq!(policy.tokenizer().decode(&rollout.prompt_tokens), asked.text());
        let is_ended = rollout.finish == FinishReason::Stop;
        assert_eq!(is_ended, rollout.tokens.last() == Some(&0));
        let own = &rollout.tokens[..rollout.tokens.len() - usize::from(is_ended)];
        assert_eq!((rollout.text.as_str(), rollout.policy), (&*policy.tokenizer().decode(own), PolicyVersion(0)));
        assert_eq!(rollout.logprobs.len(), rollout.tokens.len());
        ended += usize::from(is_ended);
    }
    assert!((1..24).contains(&ended), "{ended} of 24 ended by themselves");
    assert_eq!(groups, policy.generate(&prompts, &sampling).expect("samples"), "the same seed, the same rollouts");
    let later = policy.generate(&prompts[1..], &sampling).expect("samples");
    assert_ne!(groups[1], later[0], "the place in the call is part of the seed");
}

#[test]
fn a_tokenizer_can_be_named_and_without_one_only_ids_work() {
    let dir = with_tokenizer(Architecture::Qwen2);
    std::fs::rename(dir.path().join("tokenizer.json"), dir.path().join("other.json")).expect("moves");
    let path = dir.path().join("model.gguf").display().to_string();
    assert!(GgufPolicy::open(&format!("{path}#other.json")).expect("loads").tokenizer().is_present());
    let without = GgufPolicy::open(&path).expect("loads");
    assert_eq!(without.complete(&[SamplingRequest::new(vec![1, 2], 3)]).expect("samples")[0].len(), 1);
    let sampling = Sampling::new(4);
    let error = without.generate(&[prompt("x")], &sampling);
    assert!(matches!(error, Err(PolicyError::Tokenize { index: 0, .. })), "{error:?}");
    let error = GgufPolicy::open(&format!("{path}#none.json")).expect_err("it is not there").to_string();
    assert!(error.starts_with("the tokenizer of `") && error.contains("none.json"), "{error}");
}

#[test]
fn requests_that_cannot_be_done_are_refused_as_by_our_own_model() {
    let policy = quantised(Architecture::Qwen3, "f16.gguf");
    let refused = |request| policy.complete(&[request]).expect_err("refused");
    assert!(matches!(refused(SamplingRequest::new(vec![], 1)), RequestError::Option { key: "prompt", .. }));
    assert!(matches!(refused(SamplingRequest::new(vec![104], 1)), RequestError::Vocabulary { token: 104, .. }));
    let long = refused(SamplingRequest::new(tokens(500), 13));
    let want = "request 0 has a prompt of 500 tokens and asks for 13 new ones, and the model's context holds 512 together: shorten the \
                prompt or the response to 12 tokens at most";
    assert_eq!(long.to_string(), want);
    let stopping = SamplingRequest { stop: vec!["x".to_owned()], ..SamplingRequest::new(vec![1], 1) };
    assert!(matches!(refused(stopping), RequestError::NoTokenizer { .. }));
    let whole = policy
        .complete(&[SamplingRequest { ignore_end: true, ..SamplingRequest::new(tokens(500), 12) }])
        .expect("it just fits");
    assert_eq!((whole[0][0].tokens.len(), &whole[0][0].end), (12, &StopReason::Length));
}

pub(crate) struct Parts {
    pub(crate) metadata: HashMap<String, Value>,
    pub(crate) tensors: HashMap<String, QTensor>,
}

impl Parts {
    pub(crate) fn of(family: Architecture) -> Self {
        let mut file = File::open(folder(family).join("f16.gguf")).expect("opens");
        let content = Content::read(&mut file).expect("reads");
        let names = content.tensor_infos.keys();
        let tensors = names.map(|name| (name.clone(), content.tensor(&mut file, name, &Device::Cpu).expect("reads")));
        Self { tensors: tensors.collect(), metadata: content.metadata }
    }

    pub(crate) fn set(&mut self, key: &str, value: Value) {
        self.metadata.insert(key.to_owned(), value);
    }

    fn put(&mut self, name: &str, shape: (usize, usize)) {
        self.put_values(name, vec![0.0; shape.0 * shape.1], shape, GgmlDType::F32);
    }

    /// `without NAME`, `KEY u32 NUMBER`, `KEY f32 NUMBER`, `KEY text TEXT`, `TENSOR shape ROWS COLUMNS` or `TENSOR values NUMBERS`.
    fn change(&mut self, change: &str) {
        let number = |text: &str| text.parse::<f64>().expect(change);
        match change.split(' ').collect::<Vec<_>>().as_slice() {
            ["without", name] => {
                let found = self.metadata.remove(*name).is_some() | self.tensors.remove(*name).is_some();
                assert!(found, "{change}");
            }
            [key, "u32", value] => self.set(key, Value::U32(number(value) as u32)),
            [key, "f32", value] => self.set(key, Value::F32(number(value) as f32)),
            [key, "text", text] => self.set(key, Value::String((*text).to_owned())),
            [name, "shape", rows, columns] => self.put(name, (number(rows) as usize, number(columns) as usize)),
            [name, "values", values @ ..] => {
                let values: Vec<f32> = values.iter().map(|value| number(value) as f32).collect();
                let count = values.len();
                self.put_values(name, values, count, GgmlDType::F32);
            }
            _ => panic!("{change}"),
        }
    }

    pub(crate) fn put_values(&mut self, name: &str, values: Vec<f32>, shape: impl Into<Shape>, kind: GgmlDType) {
        let shape: Shape = shape.into();
        let tensor = Tensor::from_vec(values, shape, &Device::Cpu).expect("as many numbers");
        self.tensors.insert(name.to_owned(), QTensor::quantize(&tensor, kind).expect("quantises"));
    }

    pub(crate) fn load(&self) -> Result<GgufPolicy, GgufError> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("model.gguf");
        self.write(&path);
        GgufPolicy::load(&path, None)
    }

    /// What it is converted to, or why it is not and whether something was written.
    pub(crate) fn convert(&self) -> Result<Learner, String> {
        let dir = tempfile::tempdir().expect("a directory");
        let (path, out) = (dir.path().join("model.gguf"), dir.path().join("converted"));
        self.write(&path);
        convert_gguf(&path, &out, Precision::F32).map_err(|e| format!("{e} ({} there)", out.exists()))?;
        Ok(Learner::load_by_ids(&out, LearnerOptions::default()).expect("loads"))
    }

    pub(crate) fn write(&self, path: &Path) {
        let metadata: Vec<_> = self.metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
        let tensors: Vec<_> = self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        gguf_file::write(&mut File::create(path).expect("creates"), &metadata, &tensors).expect("writes");
    }
}

/// Linear scaling of Llama's positions as a file may have it, and whether it scales.
const LINEAR_SCALING: [(&str, f32, bool); 5] = [
    ("llama.rope.scaling.factor", 4.0, true),
    ("llama.rope.scale_linear", 2.0, true),
    ("llama.rope.scale_linear", 0.25, true),
    ("llama.rope.scaling.factor", 1.0, false),
    ("llama.rope.scale_linear", 0.0, false),
];

#[test]
fn a_file_that_scales_positions_without_naming_how_is_neither_run_nor_converted() {
    for (key, factor, scales) in LINEAR_SCALING {
        let mut parts = Parts::of(Architecture::Llama);
        parts.set(key, Value::F32(factor));
        let loaded = parts.load().map(drop).map_err(|e| e.to_string());
        for result in [loaded, parts.convert().map(drop)] {
            let said = result.err().unwrap_or_default();
            assert_eq!(said.contains(&format!("`{key}` is `{factor}`, and positions")), scales, "{said}");
            assert_eq!(said.is_empty(), !scales, "{said}");
        }
        // As llama.cpp has it: the factor is for a type.
        parts.set("llama.rope.scaling.type", Value::String("none".to_owned()));
        assert!(parts.load().is_ok(), "{key}");
    }
}

/// What becomes of a file after a change.
fn changed(family: Architecture, change: impl FnOnce(&mut Parts)) -> String {
    let mut parts = Parts::of(family);
    change(&mut parts);
    parts.load().map_or_else(|e| e.to_string(), |_| "it loads".to_owned())
}

/// Each line of the file is a family, what is changed in its file, and words of the refusal.
#[test]
fn a_file_that_cannot_be_computed_is_refused_and_the_key_or_tensor_is_named() {
    assert_eq!(changed(Architecture::Qwen2, |_| ()), "it loads");
    for line in include_str!("../gguf/refused.txt").lines() {
        let [family, change, want] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let family = Architecture::GGUF.into_iter().find(|known| known.name() == family).expect(line);
        let got = changed(family, |parts| parts.change(change));
        assert!(got.contains(want), "want {want}: {got}");
    }
}

#[test]
fn a_file_cut_off_anywhere_is_an_error() {
    let bytes = std::fs::read(folder(Architecture::Qwen2).join("q8_0.gguf")).expect("reads");
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("model.gguf");
    let load = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("writes");
        GgufPolicy::load(&path, None).map_err(|error| error.to_string())
    };
    let mut inside = 0;
    for length in (0..bytes.len()).step_by(997) {
        let error = load(&bytes[..length]).expect_err("it is cut off");
        if error.contains("is cut off: tensor `") {
            inside += 1;
        } else {
            assert!(error.contains("cannot be read as GGUF") && inside == 0, "the header comes first: {error}");
        }
    }
    assert!(inside > 10, "cut inside tensors {inside} times");
    assert!(load(b"not a model").expect_err("no model").contains("cannot be read as GGUF"));
    assert!(load(&bytes).is_ok());
    let error = GgufPolicy::load(&dir.path().join("none.gguf"), None).expect_err("it is not there").to_string();
    assert!(error.contains("none.gguf`: No such file"), "{error}");
}

/// A product of sizes that overflows would be a small one.
#[test]
fn a_tensor_of_more_numbers_than_can_be_counted_is_cut_off() {
    let mut bytes = std::fs::read(folder(Architecture::Qwen2).join("f16.gguf")).expect("reads");
    let name = b"token_embd.weight";
    let at = bytes.windows(name.len()).position(|window| window == name).expect("the header names it") + name.len();
    // Behind the name: the number of dimensions, the width of a row, and the number of rows.
    assert_eq!(bytes[at..at + 4], 2_u32.to_le_bytes());
    assert_eq!(bytes[at + 4..at + 20], [32_u64.to_le_bytes(), 104_u64.to_le_bytes()].concat());
    for rows in [1_u64 << 59, (1 << 59) + 104, u64::MAX, 0] {
        bytes[at + 12..at + 20].copy_from_slice(&rows.to_le_bytes());
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("model.gguf");
        std::fs::write(&path, &bytes).expect("writes");
        let error = GgufPolicy::load(&path, None).expect_err("it cannot be whole").to_string();
        let cut_off = format!("is cut off: tensor `token_embd.weight` ends at byte {}", u64::MAX);
        assert!(error.contains(if rows == 0 { "has no row" } else { &cut_off }), "{rows} rows: {error}");
    }
}

#[test]
fn a_tokenizer_with_more_tokens_than_the_model_is_refused() {
    let json = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chat/plain/tokenizer.json");
    let refused = "has a vocabulary of 104 tokens, and its tokenizer has ";
    let error =
        GgufPolicy::load(&folder(Architecture::Qwen2).join("f16.gguf"), Some(&json)).expect_err("another model's");
    assert!(error.to_string().contains(refused), "{error}");
    let dir = with_tokenizer(Architecture::Qwen2);
    std::fs::copy(&json, dir.path().join("tokenizer.json")).expect("copies");
    let error = convert_gguf(&dir.path().join("model.gguf"), &dir.path().join("converted"), Precision::F32);
    assert!(error.expect_err("another model's").to_string().contains(refused));
    assert!(!dir.path().join("converted").exists(), "nothing is written of a file that is refused");
}

/// The metadata of a byte-level tokenizer: those of `tests/chat/plain`.
fn bytes_inside(parts: &mut Parts, kind: &str) -> usize {
    let json = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chat/plain/tokenizer.json");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(json).expect("reads")).expect("parses");
    let mut tokens: Vec<(u64, String)> = Vec::new();
    for (token, id) in json["model"]["vocab"].as_object().expect("a vocabulary") {
        tokens.push((id.as_u64().expect("an id"), token.clone()));
    }
    for added in json["added_tokens"].as_array().expect("a list") {
        let id = added["id"].as_u64().expect("an id");
        if tokens.iter().all(|(known, _)| *known != id) {
            tokens.push((id, added["content"].as_str().expect("text").to_owned()));
        }
    }
    tokens.sort();
    let strings = |list: Vec<String>| Value::Array(list.into_iter().map(Value::String).collect());
    let count = tokens.len();
    assert_eq!(tokens.last().map(|last| last.0 as usize + 1), Some(count), "ids have no holes");
    parts.set("tokenizer.ggml.model", Value::String("gpt2".to_owned()));
    parts.set("tokenizer.ggml.pre", Value::String(kind.to_owned()));
    parts.set("tokenizer.ggml.tokens", strings(tokens.into_iter().map(|(_, token)| token).collect()));
    let merges = json["model"]["merges"].as_array().expect("a list");
    let pair = |merge: &serde_json::Value| match merge.as_array() {
        Some(pair) => format!("{} {}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap()),
        None => merge.as_str().expect("a pair").to_owned(),
    };
    parts.set("tokenizer.ggml.merges", strings(merges.iter().map(pair).collect()));
    parts.put("token_embd.weight", (count, 32));
    count
}

/// Adds the token that is made of two others.
fn add_merge(parts: &mut Parts, first: &str, second: &str) {
    let mut push = |key: &str, text: String| match parts.metadata.get_mut(key) {
        Some(Value::Array(list)) => {
            list.push(Value::String(text));
            list.len()
        }
        other => panic!("{key}: {other:?}"),
    };
    push("tokenizer.ggml.merges", format!("{first} {second}"));
    let count = push("tokenizer.ggml.tokens", format!("{first}{second}"));
    parts.put("token_embd.weight", (count, 32));
}

/// A kind of tokenizer, and how many tokens it makes of `12` and of two ends of lines.
const KINDS: [(&str, usize, usize); 11] = [
    ("qwen2", 2, 1),
    ("llama-bpe", 1, 1),
    ("gpt-2", 1, 1),
    ("smollm", 2, 1),
    ("starcoder", 2, 1),
    ("refact", 2, 1),
    ("deepseek-coder", 2, 2),
    ("deepseek-llm", 2, 2),
    ("deepseek-r1-qwen", 2, 1),
    ("tekken", 2, 1),
    ("seed-coder", 2, 1),
];

#[test]
fn the_tokenizer_inside_a_file_is_read_and_splits_digits_and_lines_where_its_kind_is_known() {
    for (kind, digits, lines) in KINDS {
        let mut parts = Parts::of(Architecture::Qwen2);
        let count = bytes_inside(&mut parts, kind);
        // There is a token of `12` already.
        add_merge(&mut parts, "Ċ", "Ċ");
        let policy = parts.load().unwrap_or_else(|e| panic!("{kind}: {e}"));
        assert_eq!(policy.tokenizer().vocab_size(), count + 1);
        let encoded = |text: &str| policy.tokenizer().encode(text).expect("bytes spell everything");
        assert_eq!((encoded("12").len(), encoded("\n\n").len()), (digits, lines), "{kind}");
        for text in ["def f(x):\n    return x + 12", " a é→ b", "  two  spaces\r\n\n", "可以, 한 1️⃣ 2024!"] {
            assert_eq!(policy.tokenizer().decode(&encoded(text)), text, "{kind}");
        }
    }
    let refused = changed(Architecture::Qwen2, |parts| {
        bytes_inside(parts, "falcon");
    });
    assert!(refused.contains("kind `gpt2, falcon`") && refused.contains("tokenizer.json"), "{refused}");
}

#[test]
fn a_begin_token_is_added_to_documents_of_every_kind_where_the_file_asks_for_it() {
    const BEGIN: u32 = 1;
    for (kind, ..) in KINDS {
        for (asked, added) in [(None, &[][..]), (Some(false), &[][..]), (Some(true), &[BEGIN][..])] {
            let mut parts = Parts::of(Architecture::Qwen2);
            bytes_inside(&mut parts, kind);
            parts.set("tokenizer.ggml.bos_token_id", Value::U32(BEGIN));
            if let Some(asked) = asked {
                parts.set("tokenizer.ggml.add_bos_token", Value::Bool(asked));
            }
            let policy = parts.load().unwrap_or_else(|e| panic!("{kind}: {e}"));
            let text = "def f(x):\n    return 12";
            let plain = policy.tokenizer().encode(text).expect("bytes spell everything");
            let document = policy.tokenizer().encode_document(text).expect("bytes spell everything");
            assert_eq!(document, [added, &plain].concat(), "{kind}, {asked:?}");
        }
    }
}

pub(crate) fn noise(count: usize, seed: u64) -> Vec<f32> {
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(((*state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5) * 0.2)
    };
    std::iter::repeat(()).scan(seed, |state, ()| next(state)).take(count).collect()
}

/// A model of one layer with matrices in blocks of this kind, which may be 256 numbers wide, and the numbers of its embedding.
pub(crate) fn wide(family: Architecture, kind: GgmlDType) -> (Parts, Vec<f32>) {
    let mut parts = Parts::of(family);
    parts.tensors.clear();
    for (key, number) in [
        ("embedding_length", 256),
        ("feed_forward_length", 256),
        ("block_count", 1),
        ("attention.head_count", 4),
        ("attention.head_count_kv", 2),
        ("attention.key_length", 64),
        ("attention.value_length", 64),
        ("rope.dimension_count", 64),
    ] {
        parts.set(&format!("{}.{key}", family.name()), Value::U32(number));
    }
    let matrices = [
        ("token_embd", 104),
        ("blk.0.attn_q", 256),
        ("blk.0.attn_k", 128),
        ("blk.0.attn_v", 128),
        ("blk.0.attn_output", 256),
        ("blk.0.ffn_gate", 256),
        ("blk.0.ffn_up", 256),
        ("blk.0.ffn_down", 256),
    ];
    for ((name, rows), seed) in matrices.into_iter().zip(1..) {
        parts.put_values(&format!("{name}.weight"), noise(rows * 256, seed), (rows, 256), kind);
    }
    for name in ["blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"] {
        parts.put_values(&format!("{name}.weight"), vec![1.0; 256], 256, GgmlDType::F32);
    }
    if family.qkv_bias() {
        for (name, width) in [("attn_q", 256), ("attn_k", 128), ("attn_v", 128)] {
            parts.put_values(&format!("blk.0.{name}.bias"), noise(width, 20), width, GgmlDType::F32);
        }
    }
    if family.qk_norm() {
        for (name, seed) in [("attn_q_norm", 30), ("attn_k_norm", 31)] {
            let gains = noise(64, seed).into_iter().map(|x| 1.0 + x).collect();
            parts.put_values(&format!("blk.0.{name}.weight"), gains, 64, GgmlDType::F32);
        }
    }
    (parts, noise(104 * 256, 1))
}

#[test]
fn weights_in_k_quants_are_nearer_the_more_bits_they_have_and_train_as_they_sample() {
    let kinds = [GgmlDType::Q2K, GgmlDType::Q3K, GgmlDType::Q4K, GgmlDType::Q5K, GgmlDType::Q6K];
    let mut errors = Vec::new();
    for kind in kinds {
        let (parts, embedding) = wide(Architecture::Llama, kind);
        let policy = parts.load().unwrap_or_else(|e| panic!("{kind:?}: {e}"));
        let converted = parts.convert().unwrap_or_else(|e| panic!("{kind:?}: {e}"));
        let weights = converted.named_weights();
        let found = weights.iter().find(|(spec, _)| spec.name == "model.embed_tokens.weight").expect("an embedding");
        errors.push(off_by(&found.1, &embedding));
        let tokens = tokens(40);
        let (got, want) = (policy.logits(&tokens).expect("computes"), converted.logits(&tokens).expect("computes"));
        // candle rounds what it multiplies with to 8 bits.
        let error = off_by(&got, want.last().expect("a row"));
        assert!(error <= Q8_0, "{kind:?}: {error:e} away");
    }
    assert!(errors.is_sorted_by(|one, next| one > next), "{errors:?}");
    assert!(errors[0] < 0.5 && errors[4] < 0.05, "{errors:?}");
}

#[test]
fn a_converted_file_is_the_checkpoint_that_it_was_made_of() {
    for family in Architecture::GGUF {
        let dir = tempfile::tempdir().expect("a directory");
        convert_gguf(&folder(family).join("f16.gguf"), dir.path(), Precision::F32).unwrap_or_else(|e| panic!("{e}"));
        let (converted, original) =
            (Learner::load_by_ids(dir.path(), LearnerOptions::default()).expect("loads"), ours(family));
        let (got, want) = (converted.named_weights(), original.named_weights());
        assert_eq!(got.len(), want.len(), "{family:?}");
        assert!(got.iter().zip(&want).all(|(a, b)| a == b), "{family:?}: the same names, shapes and bits");
        let (got, want) =
            (converted.logits(&tokens(40)).expect("computes"), original.logits(&tokens(40)).expect("computes"));
        assert_eq!(got, want, "{family:?}");
        assert_eq!(converted.end_tokens(), quantised(family, "f16.gguf").end_tokens());
    }
}
