//! Checkpoints: round trips, and every way a directory can be broken.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use candle_core::{DType, Device, Tensor};
use tempfile::TempDir;
use veriplay_core::{Learn, TrainBatch};
use veriplay_learner::{CheckpointError, GgufPolicy, Learner, LearnerOptions, ModelConfig, Precision};

use crate::common::{edit_tensors, learner, sample, tiny_config};

fn saved(learner: &Learner) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    learner.save(dir.path()).expect("saves");
    learner.save_trainer_state(dir.path()).expect("saves");
    dir
}

fn load(dir: &Path) -> Result<Learner, CheckpointError> {
    Learner::load(dir, LearnerOptions::default())
}

/// What a test does to the tensors of a saved model.
type Change = fn(&mut HashMap<String, Tensor>);

/// Saves a model, changes its tensors, and loads it.
fn load_with(change: impl FnOnce(&mut HashMap<String, Tensor>)) -> Result<Learner, CheckpointError> {
    let dir = saved(&learner(tiny_config()));
    edit_tensors(dir.path(), change);
    load(dir.path())
}

#[test]
fn a_saved_model_loads_with_the_same_bits_from_a_directory_and_from_bytes() {
    for config in [tiny_config(), ModelConfig { tie_word_embeddings: false, ..tiny_config() }] {
        let learner = learner(config);
        let dir = saved(&learner);
        let again = load(dir.path()).expect("loads");
        assert_eq!(again.named_weights(), learner.named_weights());
        assert_eq!(again.config(), learner.config());
        let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect("reads");
        let bytes = std::fs::read(dir.path().join("model.safetensors")).expect("reads");
        let embedded =
            Learner::from_bytes(&text("config.json"), &text("tokenizer.json"), &bytes, LearnerOptions::default())
                .expect("loads");
        assert_eq!(embedded.weights_bytes().expect("bytes"), bytes);
        let score = |l: &Learner| l.score(&[1, 2, 3], &[vec![4, 5, 0]]).expect("scores");
        assert_eq!(score(&again), score(&learner));
    }
}

#[test]
fn weights_saved_in_bfloat16_take_half_the_room_and_are_the_nearest_ones() {
    let learner = learner(tiny_config());
    let (whole, half) = (saved(&learner), TempDir::new().expect("a temporary directory"));
    learner.save_in(half.path(), Precision::Bf16).expect("saves");
    let size = |dir: &TempDir| std::fs::metadata(dir.path().join("model.safetensors")).expect("there").len();
    assert!(size(&half) * 100 < size(&whole) * 60, "{} of {}", size(&half), size(&whole));
    let config = std::fs::read_to_string(half.path().join("config.json")).expect("reads");
    assert!(config.contains("\"torch_dtype\": \"bfloat16\""), "{config}");
    let again = load(half.path()).expect("loads");
    for ((spec, was), (_, is)) in learner.named_weights().iter().zip(again.named_weights()) {
        let near = |(was, is): (&f32, &f32)| (was - is).abs() <= was.abs() / 256.0 && is.to_bits() & 0xffff == 0;
        assert!(was.iter().zip(&is).all(near), "{}", spec.name);
    }
}

#[test]
fn the_directory_is_what_transformers_expects() {
    let dir = saved(&learner(tiny_config()));
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(dir.path().join(name)).expect("there")).expect("json")
    };
    let config = json("config.json");
    assert_eq!(
        (config["model_type"].as_str(), config["architectures"][0].as_str()),
        (Some("qwen3"), Some("Qwen3ForCausalLM"))
    );
    assert_eq!(json("generation_config.json")["eos_token_id"], 0);
    assert_eq!(json("tokenizer_config.json")["eos_token"], "<|end|>");
    let bytes = std::fs::read(dir.path().join("model.safetensors")).expect("there");
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).expect("a header");
    assert_eq!(header.metadata().as_ref().and_then(|m| m.get("format")).map(String::as_str), Some("pt"));
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .expect("lists")
        .flatten()
        .filter(|e| e.file_name().to_string_lossy().ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn tensors_that_do_not_fit_the_config_are_named() {
    const NAME: &str = "model.layers.1.mlp.up_proj.weight";
    let message =
        |change: fn(&mut HashMap<String, Tensor>)| load_with(change).map(|_| ()).expect_err("broken").to_string();
    let cases: [(Change, &[&str]); 6] = [
        (|t| drop(t.remove(NAME)), &["lacks", NAME, "hint"]),
        (
            |t| drop(t.insert("lm_head.weight".to_owned(), Tensor::zeros(3, DType::F32, &Device::Cpu).expect("zeros"))),
            &["lm_head.weight", "[3]", "[110, 36]"],
        ),
        (
            |t| drop(t.insert("score.weight".to_owned(), Tensor::zeros(3, DType::F32, &Device::Cpu).expect("zeros"))),
            &["score.weight", "does not ask for", "model_type"],
        ),
        (
            |t| drop(t.insert(NAME.to_owned(), Tensor::zeros((36, 50), DType::F32, &Device::Cpu).expect("zeros"))),
            &[NAME, "[36, 50]", "[50, 36]"],
        ),
        (
            |t| drop(t.insert(NAME.to_owned(), Tensor::zeros((50, 36), DType::I64, &Device::Cpu).expect("zeros"))),
            &[NAME, "I64", "F32"],
        ),
        (
            |t| drop(t.insert(NAME.to_owned(), Tensor::full(f32::NAN, (50, 36), &Device::Cpu).expect("fills"))),
            &[NAME, "not finite"],
        ),
    ];
    for (change, words) in cases {
        let message = message(change);
        assert!(message.contains("model.safetensors") && words.iter().all(|w| message.contains(w)), "{message}");
    }
}

const EMBEDDING: &str = "model.embed_tokens.weight";
const HEAD: &str = "lm_head.weight";

#[test]
fn a_tied_model_that_stores_its_embedding_once_more_loads_and_is_saved_without_it() {
    let tied = learner(tiny_config());
    let loaded = load_with(|tensors| drop(tensors.insert(HEAD.to_owned(), tensors[EMBEDDING].clone())));
    let loaded = loaded.expect("loads");
    assert_eq!(loaded.named_weights(), tied.named_weights());
    assert_eq!(loaded.weights_bytes().expect("bytes"), tied.weights_bytes().expect("bytes"));
    let dir = saved(&tied);
    edit_tensors(dir.path(), |tensors| drop(tensors.insert(HEAD.to_owned(), tensors[EMBEDDING].clone())));
    let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect("reads");
    let bytes = std::fs::read(dir.path().join("model.safetensors")).expect("reads");
    let embedded =
        Learner::from_bytes(&text("config.json"), &text("tokenizer.json"), &bytes, LearnerOptions::default());
    assert_eq!(embedded.expect("loads").named_weights(), tied.named_weights());
}

#[test]
fn a_tied_model_that_stores_another_head_is_refused_and_how_far_it_differs_is_said() {
    let other = |tensors: &mut HashMap<String, Tensor>| {
        let mut head: Vec<f32> = tensors[EMBEDDING].flatten_all().and_then(|t| t.to_vec1()).expect("f32");
        head[2 * 36 + 5] += 0.25;
        head[4 * 36] -= 0.5;
        drop(tensors.insert(HEAD.to_owned(), Tensor::from_vec(head, (110, 36), &Device::Cpu).expect("a tensor")));
    };
    let message = load_with(other).map(|_| ()).expect_err("refused").to_string();
    for words in ["model.safetensors", HEAD, EMBEDDING, "2 of 3960", "row 2, column 5", "5.0e-1", "hint: set `tie_word"]
    {
        assert!(message.contains(words), "{words}: {message}");
    }
    // One that has a head of its own keeps it.
    let untied = learner(ModelConfig { tie_word_embeddings: false, ..tiny_config() });
    let dir = saved(&untied);
    assert_eq!(load(dir.path()).expect("loads").named_weights(), untied.named_weights());
}

#[test]
fn a_file_that_is_missing_or_cut_anywhere_is_an_error_that_names_it() {
    let whole = saved(&learner(tiny_config()));
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let bytes = std::fs::read(whole.path().join(name)).expect("there");
        for keep in [0, 1, 7, 9, bytes.len() / 2, bytes.len() - 2] {
            let dir = saved(&learner(tiny_config()));
            std::fs::write(dir.path().join(name), &bytes[..keep]).expect("writes");
            let message = load(dir.path()).map(|_| ()).expect_err("cut").to_string();
            assert!(message.contains(name), "{name} cut to {keep}: {message}");
        }
        let dir = saved(&learner(tiny_config()));
        std::fs::remove_file(dir.path().join(name)).expect("removes");
        let message = load(dir.path()).map(|_| ()).expect_err("missing").to_string();
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn a_broken_trainer_state_leaves_the_learner_as_it_was() {
    let batch = TrainBatch { samples: vec![sample(&[1, 2], &[3, 4, 0], 1.0)], normalizer: 3.0 };
    let mut trained = learner(tiny_config());
    trained.update(&batch, 1e-2).expect("learns");
    let cases: [(&str, &[u8]); 4] = [
        ("trainer_state.json", b"{"),
        ("trainer_state.json", b"{\"schema_version\":99,\"step\":1,\"policy_version\":1}"),
        ("trainer_state.json", b"{\"schema_version\":1,\"step\":1,\"policy_version\":1,\"more\":0}"),
        ("optimizer.safetensors", b"\x08\0\0\0\0\0\0\0{}      "),
    ];
    for (name, bytes) in cases {
        let dir = saved(&trained);
        std::fs::write(dir.path().join("optimizer").join(name), bytes).expect("writes");
        let message = trained.load_trainer_state(dir.path()).expect_err("broken").to_string();
        assert!(message.contains(name), "{message}");
        assert_eq!(trained.version().0, 1);
    }
}

#[test]
fn a_trainer_state_beside_the_model_as_earlier_versions_wrote_it_is_read() {
    let batch = TrainBatch { samples: vec![sample(&[1, 2], &[3, 4, 0], 1.0)], normalizer: 3.0 };
    let mut trained = learner(tiny_config());
    trained.update(&batch, 1e-2).expect("learns");
    let dir = saved(&trained);
    for entry in std::fs::read_dir(dir.path().join("optimizer")).expect("lists").flatten() {
        std::fs::rename(entry.path(), dir.path().join(entry.file_name())).expect("moves");
    }
    std::fs::remove_dir(dir.path().join("optimizer")).expect("removes");
    let mut resumed = load(dir.path()).expect("loads");
    resumed.load_trainer_state(dir.path()).expect("reads");
    assert_eq!(trained.update(&batch, 1e-2).expect("learns"), resumed.update(&batch, 1e-2).expect("learns"));
}

#[test]
fn a_place_that_cannot_be_written_is_an_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("file");
    std::fs::write(&file, b"").expect("writes");
    let learner = learner(tiny_config());
    for (result, path) in [(learner.save(&file), &file), (learner.save_trainer_state(&file), &file.join("optimizer"))] {
        let message = result.expect_err("it is a file").to_string();
        assert!(message.starts_with(&format!("`{}`: ", path.display())) && message.contains("os error"), "{message}");
    }
}

/// The chain of an error on one line, as the command line prints it.
fn print_chain(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", print_chain(cause)),
        None => error.to_string(),
    }
}

#[test]
fn a_cause_is_printed_once() {
    let none = Path::new("/no/such/model");
    let model = load(none).expect_err("it is missing");
    let gguf = GgufPolicy::load(none, None).expect_err("it is missing");
    let broken = saved(&learner(tiny_config()));
    std::fs::write(broken.path().join("tokenizer.json"), "{").expect("writes");
    let tokenizer = load(broken.path()).expect_err("its tokenizer is broken");
    let io = "No such file or directory";
    for (error, cause) in [(&model as &dyn Error, io), (&gguf, io), (&tokenizer, "EOF while parsing")] {
        let text = print_chain(error);
        assert_eq!(text.matches(cause).count(), 1, "{text}");
    }
}
