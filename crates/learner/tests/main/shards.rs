//! Weights in several files, and which files of a directory count.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use veriplay_learner::{Architecture, CheckpointError, Learner, LearnerOptions, ModelConfig, tensor_specs};

use crate::common::{edit_tensors, learner, tiny_config};
use crate::parity::cases;

const INDEX: &str = "model.safetensors.index.json";
const UP: &str = "model.layers.1.mlp.up_proj.weight";

fn sharded(max_shard_bytes: usize) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    learner(tiny_config()).save_sharded(dir.path(), max_shard_bytes).expect("saves");
    dir
}

fn load(dir: &Path) -> Result<Learner, CheckpointError> {
    Learner::load(dir, LearnerOptions::default())
}

fn refused(dir: &Path) -> String {
    load(dir).map(|_| ()).expect_err("refused").to_string()
}

fn files(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).expect("lists").flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.contains("safetensors")).collect();
    names.sort();
    names
}

type Change = fn(&mut Value);

fn edit_index(dir: &Path, change: impl FnOnce(&mut Value)) {
    let text = std::fs::read_to_string(dir.join(INDEX)).expect("reads");
    let mut index = serde_json::from_str(&text).expect("parses");
    change(&mut index);
    std::fs::write(dir.join(INDEX), index.to_string()).expect("writes");
}

#[test]
fn weights_in_shards_of_any_size_are_the_same_weights() {
    let whole = learner(tiny_config());
    let size: usize = tensor_specs(&tiny_config()).iter().map(|spec| 4 * spec.elements()).sum();
    for (limit, count) in [(size, 1), (size - 1, 2), (20_000, 6), (1, tensor_specs(&tiny_config()).len())] {
        let dir = sharded(limit);
        let names = files(dir.path());
        assert_eq!((names.len(), names.contains(&INDEX.to_owned())), (count + 1, true), "{names:?}");
        assert_eq!(load(dir.path()).expect("loads").named_weights(), whole.named_weights());
        let largest = names.iter().filter(|n| *n != INDEX).map(|n| dir.path().join(n).metadata().expect("there").len());
        let header = 4096;
        assert!(largest.max().expect("some") <= limit.max(4 * 110 * 36) as u64 + header);
    }
}

#[test]
fn saving_again_in_another_layout_leaves_no_stale_weights() {
    let dir = sharded(20_000);
    let other =
        Learner::initialize(tiny_config(), crate::common::tokenizer(), 8, LearnerOptions::default()).expect("valid");
    other.save(dir.path()).expect("saves");
    assert_eq!(files(dir.path()), ["model.safetensors", INDEX]);
    assert_eq!(load(dir.path()).expect("loads").named_weights(), other.named_weights());
    learner(tiny_config()).save_sharded(dir.path(), 30_000).expect("saves");
    assert!(!files(dir.path()).contains(&"model.safetensors".to_owned()));
    assert_eq!(load(dir.path()).expect("loads").named_weights(), learner(tiny_config()).named_weights());
}

#[test]
fn an_index_that_does_not_fit_names_the_tensor() {
    let cases: [(Change, &[&str]); 6] = [
        (|i| drop(i["weight_map"].as_object_mut().expect("a map").remove(UP)), &[INDEX, "lacks", UP]),
        (
            |i| i["weight_map"]["lm_head.weight"] = json!("model-00001-of-00006.safetensors"),
            &["model-00001-of-00006", "lacks", "lm_head.weight", "or an index, may belong to another"],
        ),
        (
            |i| i["weight_map"][UP] = json!("../model.safetensors"),
            &[INDEX, "weight_map", "../model.safetensors", "plain name"],
        ),
        (
            |i| i["weight_map"][UP] = json!("model-00009-of-00006.safetensors"),
            &[
                "model-00009-of-00006.safetensors`: the index names it, and it is missing; hint: fetch or copy it",
                INDEX,
            ],
        ),
        (
            |i| i["weight_map"]["model.norm.weight"] = json!("model-00001-of-00006.safetensors"),
            &["model-00001-of-00006", "lacks", "model.norm.weight"],
        ),
        (|i| i["weight_map"] = json!(3), &[INDEX, "cannot be read"]),
    ];
    for (change, words) in cases {
        let dir = sharded(20_000);
        edit_index(dir.path(), change);
        let message = refused(dir.path());
        assert!(words.iter().all(|w| message.contains(w)), "{message}");
    }
}

#[test]
fn a_shard_that_is_cut_short_names_the_first_tensor_it_lacks() {
    let dir = sharded(20_000);
    let name = files(dir.path()).into_iter().find(|n| n.contains("00002")).expect("a second shard");
    let path = dir.path().join(&name);
    let bytes = std::fs::read(&path).expect("reads");
    std::fs::write(&path, &bytes[..bytes.len() - 1]).expect("writes");
    let message = refused(dir.path());
    let (ends_at, size) = (bytes.len(), bytes.len() - 1);
    let words = format!("` ends at byte {ends_at}, and the file has {size}; hint");
    assert!(
        message.contains(&format!("{name}` is cut short: `model.layers.")) && message.contains(&words),
        "{message}"
    );
    std::fs::write(&path, [&bytes[..], b"more"].concat()).expect("writes");
    let message = refused(dir.path());
    assert!(message.contains(&name) && message.contains("4 bytes behind"), "{message}");
    std::fs::remove_file(&path).expect("removes");
    let message = refused(dir.path());
    assert!(message.contains(&name), "{message}");
}

#[test]
fn pickled_weights_are_recognised() {
    let dir = sharded(usize::MAX);
    std::fs::rename(dir.path().join("model.safetensors"), dir.path().join("pytorch_model.bin")).expect("renames");
    assert!(refused(dir.path()).contains("holds pickled weights alone"));
}

#[test]
fn every_fixture_of_transformers_survives_being_saved() {
    for case in cases() {
        let before = case.learner(LearnerOptions::default());
        let dir = tempfile::tempdir().expect("a directory");
        before.save_sharded(dir.path(), 30_000).expect("saves");
        let after = Learner::load_by_ids(dir.path(), LearnerOptions::default()).expect("loads");
        assert_eq!((after.config(), after.end_tokens()), (before.config(), before.end_tokens()), "{}", case.name);
        assert_eq!(after.named_weights(), before.named_weights(), "{}", case.name);
        let generation = |dir: &Path| std::fs::read(dir.join("generation_config.json")).expect("there");
        assert_eq!(generation(dir.path()), generation(&case.dir), "{}", case.name);
        assert!(!dir.path().join("tokenizer.json").exists(), "there was none");
        assert!(refused(dir.path()).contains("/tokenizer.json`: No such file"), "there is none again");
    }
}

#[test]
fn the_tensors_of_each_family_are_those_of_its_class() {
    let names = |model_type| {
        let specs = tensor_specs(&ModelConfig { model_type, tie_word_embeddings: false, ..tiny_config() });
        specs.into_iter().map(|spec| spec.name).collect::<Vec<_>>()
    };
    let count = |model_type, word: &str| names(model_type).iter().filter(|name| name.contains(word)).count();
    for (family, biases, norms) in [
        (Architecture::Qwen2, 6, 0),
        (Architecture::Qwen3, 0, 4),
        (Architecture::Llama, 0, 0),
        (Architecture::Mistral, 0, 0),
        (Architecture::SmolLm3, 0, 0),
        (Architecture::Phi3, 0, 0),
    ] {
        assert_eq!((count(family, "bias"), count(family, "_norm.weight")), (biases, norms), "{family:?}");
        let matrices = if family == Architecture::Phi3 { 4 } else { 7 };
        assert_eq!(names(family).len(), 3 + 2 * (matrices + 2) + biases + norms);
        let fresh = Learner::initialize(
            ModelConfig { model_type: family, ..tiny_config() },
            crate::common::tokenizer(),
            3,
            LearnerOptions::default(),
        );
        for (spec, values) in fresh.expect("valid").named_weights().iter().filter(|(spec, _)| spec.shape.len() == 1) {
            let want = if spec.name.ends_with("bias") { 0.0 } else { 1.0 };
            assert!(values.iter().all(|&x| x == want), "{}", spec.name);
        }
    }
}

#[test]
fn a_head_in_another_shard_than_the_embedding_that_it_is_equal_to_is_passed_over_and_another_is_refused() {
    let case = cases().into_iter().find(|case| case.name == "qwen3-stored-head").expect("a fixture");
    let dir = tempfile::tempdir().expect("a directory");
    for entry in std::fs::read_dir(&case.dir).expect("lists").flatten() {
        std::fs::copy(entry.path(), dir.path().join(entry.file_name())).expect("copies");
    }
    let load = || Learner::load_by_ids(dir.path(), LearnerOptions::default());
    assert!(load().expect("loads").named_weights().iter().all(|(spec, _)| spec.name != "lm_head.weight"));
    let path = dir.path().join("model-00002-of-00002.safetensors");
    let mut tensors = candle_core::safetensors::load(&path, &candle_core::Device::Cpu).expect("reads");
    let head = tensors["lm_head.weight"].zeros_like().expect("zeros");
    tensors.insert("lm_head.weight".to_owned(), head);
    candle_core::safetensors::save(&tensors, &path).expect("writes");
    let message = load().map(|_| ()).expect_err("refused").to_string();
    assert!(message.contains(INDEX) && message.contains("`lm_head.weight` is not"), "{message}");
}

#[test]
fn rotary_frequencies_that_old_llama_files_hold_are_passed_over() {
    let config = ModelConfig { model_type: Architecture::Llama, ..tiny_config() };
    let dir = tempfile::tempdir().expect("a directory");
    learner(config).save(dir.path()).expect("saves");
    let frequencies = candle_core::Tensor::new(&[1.0_f32, 0.5], &candle_core::Device::Cpu).expect("a tensor");
    edit_tensors(dir.path(), |tensors| {
        tensors.insert("model.layers.0.self_attn.rotary_emb.inv_freq".to_owned(), frequencies);
    });
    assert!(load(dir.path()).is_ok());
}
