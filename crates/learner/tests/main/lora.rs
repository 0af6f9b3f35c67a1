//! Adapters: what trains, what stays, what is saved.

use std::path::Path;

use serde_json::{Value, json};
use veriplay_core::{Learn, Policy, Sampling, TrainBatch};
use veriplay_learner::{
    Architecture, ConfigError, DeviceSpec, Kl, KlEstimator, KlPlace, Learner, LearnerOptions, Lora, ModelConfig,
    NamedTensor, Precision, Segments, find_adapters,
};

use crate::common::{prompt, sample, tiny_config, tokenizer};

pub(crate) fn lora(modules: &[&str]) -> Lora {
    Lora {
        rank: 3,
        alpha: 6.0,
        target_modules: modules.iter().map(|m| (*m).to_owned()).collect(),
        seed: 11,
        per_role: false,
    }
}

pub(crate) const EVERYWHERE: &[&str] = &["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

fn options(lora: Option<Lora>) -> LearnerOptions {
    LearnerOptions { lora, ..LearnerOptions::default() }
}

fn learner(lora: Option<Lora>) -> Learner {
    Learner::initialize(tiny_config(), tokenizer(), 7, options(lora)).expect("valid")
}

pub(crate) fn batch(turn: u32) -> TrainBatch {
    let one = |i: u32| sample(&[1 + turn, 2, 3 + i / 3], &[4 + i, 5, 6 + turn + i, 0], 1.0 - 0.3 * i as f32);
    TrainBatch { samples: (0..6).map(one).collect(), normalizer: 12.0 }
}

/// A learner of some shape with adapters of these modules, where it has them.
fn adapted(config: &ModelConfig, modules: &[&str]) -> Result<Learner, ConfigError> {
    Learner::initialize(config.clone(), tokenizer(), 7, options(Some(lora(modules))))
}

/// Updates until every adapter has a gradient.
fn trained(lora: Lora) -> Learner {
    let mut learner = learner(Some(lora));
    (0..4).for_each(|turn| drop(learner.update(&batch(turn), 1e-2).expect("learns")));
    learner
}

fn find<'a>(tensors: &'a [NamedTensor], name: &str) -> &'a NamedTensor {
    tensors.iter().find(|(spec, _)| spec.name == name).unwrap_or_else(|| panic!("no `{name}`"))
}

#[test]
fn a_learner_with_new_adapters_is_its_base_to_the_bit() {
    let (plain, adapted) = (learner(None), learner(Some(lora(EVERYWHERE))));
    assert_eq!(plain.weights_bytes().expect("bytes"), adapted.weights_bytes().expect("bytes"));
    let score = |learner: &Learner| learner.score(&[1, 2], &[vec![3, 4, 5]]).expect("scores");
    assert_eq!(score(&plain), score(&adapted));
    let sizes: usize =
        [(40, 36), (20, 36), (20, 36), (36, 40), (50, 36), (50, 36), (36, 50)].map(|(o, i)| 3 * (o + i)).iter().sum();
    assert_eq!((adapted.trainable_count(), adapted.parameter_count()), (2 * sizes, plain.trainable_count()));
}

#[test]
fn restarted_adapters_learn_as_new_ones_on_the_same_base() {
    let (mut new, mut again) = (learner(Some(lora(EVERYWHERE))), trained(lora(EVERYWHERE)));
    let bytes = |learner: &Learner| learner.weights_bytes().expect("bytes");
    assert_ne!(bytes(&again), bytes(&new));
    // The file of adapters has no seed.
    let dir = tempfile::tempdir().expect("a directory");
    again.save_adapters(dir.path()).expect("saves");
    again.load_adapters(dir.path()).expect("loads");
    again.restart_adapters(&lora(EVERYWHERE)).expect("restarts");
    assert_eq!((bytes(&again), again.version().0), (bytes(&new), 4));
    for turn in 0..3 {
        let (one, other) =
            (new.update(&batch(turn), 1e-2).expect("learns"), again.update(&batch(turn), 1e-2).expect("learns"));
        assert_eq!((one.loss, one.gradient_norm), (other.loss, other.gradient_norm));
    }
    assert_eq!(bytes(&again), bytes(&new));
}

/// The gradients of A and B by the chain rule from those of the merged matrices: dB = α/r · dW·Aᵀ and dA = α/r · Bᵀ·dW.
#[test]
fn gradients_of_adapters_follow_from_those_of_the_matrices_they_are_added_to() {
    let mut adapted = trained(lora(EVERYWHERE));
    let dir = tempfile::tempdir().expect("a directory");
    adapted.save_adapters(dir.path()).expect("saves");
    let adapters =
        candle_core::safetensors::load(dir.path().join("adapter_model.safetensors"), &candle_core::Device::Cpu);
    let adapters = adapters.expect("loads");
    let values = |name: &str| adapters[name].flatten_all().and_then(|t| t.to_vec1::<f32>()).expect("f32");
    let (_, gradients) = adapted.named_gradients(&batch(9)).expect("gradients");
    adapted.merge_adapters().expect("merges");
    let (_, full) = adapted.named_gradients(&batch(9)).expect("gradients");
    assert_eq!(gradients.len(), 2 * 2 * EVERYWHERE.len());
    for (spec, gradient) in &gradients {
        let (module, part) =
            spec.name.strip_prefix("base_model.model.").and_then(|n| n.split_once(".lora_")).expect("PEFT's");
        let (of_weight, dw) = find(&full, &format!("{module}.weight"));
        let (outputs, inputs) = (of_weight.shape[0], of_weight.shape[1]);
        let is_a = part == "A.weight";
        let other = values(&format!("base_model.model.{module}.lora_{}.weight", if is_a { "B" } else { "A" }));
        let want = |at: usize| -> f64 {
            let (row, column) = (at / spec.shape[1], at % spec.shape[1]);
            let sum: f64 = match is_a {
                true => (0..outputs).map(|o| f64::from(other[o * 3 + row]) * f64::from(dw[o * inputs + column])).sum(),
                false => {
                    (0..inputs).map(|i| f64::from(dw[row * inputs + i]) * f64::from(other[column * inputs + i])).sum()
                }
            };
            2.0 * sum
        };
        let scale = gradient.iter().fold(0.0_f64, |m, g| m.max(f64::from(g.abs())));
        assert!(scale > 0.0, "{} has no gradient", spec.name);
        for (at, &g) in gradient.iter().enumerate() {
            assert!((f64::from(g) - want(at)).abs() < 2e-5 * scale, "{}[{at}]: {g}, want {}", spec.name, want(at));
        }
    }
}

#[test]
fn adapters_of_joined_projections_train_and_those_of_modules_that_a_model_lacks_are_refused() {
    let phi3 = ModelConfig { model_type: Architecture::Phi3, ..tiny_config() };
    let mut learner = adapted(&phi3, &["qkv_proj", "gate_up_proj"]).expect("valid");
    assert_eq!(learner.trainable_count(), 2 * 3 * (80 + 36 + 100 + 36));
    learner.update(&batch(0), 1e-2).expect("learns");
    let dir = tempfile::tempdir().expect("a directory");
    learner.save_adapters(dir.path()).expect("saves");
    let other = adapted(&tiny_config(), &["q_proj"]).expect("valid").load_adapters(dir.path()).expect_err("refused");
    assert!(other.to_string().contains("`target_modules` is `qkv_proj`"), "{other}");
    let refused = adapted(&phi3, &["o_proj", "q_proj"]).map(|_| ()).expect_err("refused").to_string();
    let want = "`learn.lora.target_modules` is `q_proj`: it must be some of o_proj, down_proj, qkv_proj, gate_up_proj,";
    assert!(refused.contains(want), "{refused}");
}

#[test]
fn only_the_adapters_train_and_only_where_they_are() {
    let before = learner(None).named_weights();
    let after = trained(lora(&["v_proj", "down_proj"])).named_weights();
    for ((spec, before), (_, after)) in before.iter().zip(&after) {
        let moved = before != after;
        assert_eq!(moved, spec.name.contains("v_proj") || spec.name.contains("down_proj"), "{}", spec.name);
    }
}

#[test]
fn the_detector_of_cuts_accepts_zero_gradients_of_fresh_adapters_and_of_no_others() {
    let mut learner = learner(Some(lora(EVERYWHERE)));
    let (_, gradients) = learner.named_gradients(&batch(0)).expect("gradients");
    for (spec, gradient) in &gradients {
        let is_zero = gradient.iter().all(|g| *g == 0.0);
        assert_eq!(is_zero, spec.name.ends_with("lora_A.weight"), "{}", spec.name);
    }
    (0..3).for_each(|turn| drop(learner.update(&batch(turn), 1e-2).expect("no cut")));
    let (_, gradients) = learner.named_gradients(&batch(0)).expect("gradients");
    assert!(gradients.iter().all(|(_, g)| g.iter().any(|g| *g != 0.0)), "all have gradients");
    // A single token of context gives queries and keys no gradient; behind enough of it, a cut would be named.
    let without_context = TrainBatch { samples: vec![sample(&[1], &[2], 1.0)], normalizer: 1.0 };
    assert!(trained(lora(EVERYWHERE)).update(&without_context, 1e-3).is_ok());
}

#[test]
fn a_saved_run_of_adapters_goes_on_to_the_bit() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut whole = trained(lora(EVERYWHERE));
    whole.save_adapters(dir.path()).expect("saves");
    whole.save_trainer_state(dir.path()).expect("saves");
    let mut resumed = learner(Some(lora(EVERYWHERE)));
    resumed.load_adapters(dir.path()).expect("loads");
    resumed.load_trainer_state(dir.path()).expect("loads");
    for turn in 10..13 {
        let (a, b) =
            (whole.update(&batch(turn), 1e-2).expect("learns"), resumed.update(&batch(turn), 1e-2).expect("learns"));
        assert_eq!(a, b);
    }
    assert_eq!(whole.weights_bytes().expect("bytes"), resumed.weights_bytes().expect("bytes"));
}

#[test]
fn what_save_writes_is_the_merged_model() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut adapted = trained(lora(&["q_proj", "up_proj"]));
    adapted.save(dir.path()).expect("saves");
    let loaded = Learner::load(dir.path(), LearnerOptions::default()).expect("loads");
    let score = |learner: &Learner| learner.score(&[1, 2], &[vec![3, 4, 5]]).expect("scores");
    assert_eq!(score(&adapted), score(&loaded));
    adapted.merge_adapters().expect("merges");
    assert_eq!((score(&adapted), adapted.trainable_count()), (score(&loaded), adapted.parameter_count()));
}

/// The largest difference between the weights of two learners.
fn distance(one: &Learner, other: &Learner) -> f32 {
    let all =
        |learner: &Learner| learner.named_weights().into_iter().flat_map(|(_, values)| values).collect::<Vec<_>>();
    all(one).iter().zip(&all(other)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn adapters_are_merged_into_the_numbers_of_the_file_in_whatever_precision_the_rest_computes() {
    let folders = tempfile::tempdir().expect("a directory");
    let (base, saved) = (folders.path().join("base"), folders.path().join("saved"));
    learner(None).save(&base).expect("saves");
    let mut whole = Learner::load(&base, options(Some(lora(&["q_proj"])))).expect("loads");
    (0..4).for_each(|turn| drop(whole.update(&batch(turn), 1e-2).expect("learns")));
    whole.save_adapters(&saved).expect("saves");
    let bf16 = LearnerOptions { device: DeviceSpec::Portable, precision: Precision::Bf16, ..options(None) };
    let mut merged = Learner::load(&base, bf16.clone()).expect("loads");
    merged.merge_adapters_from(&saved).expect("merges");
    assert!(distance(&merged, &whole) < 1e-6, "{}", distance(&merged, &whole));
    assert_eq!(merged.trainable_count(), merged.parameter_count());
    // Beside the adapters the base is rounded, and stays so.
    let mut rounded = Learner::load(&base, bf16).expect("loads");
    rounded.load_adapters(&saved).expect("loads");
    rounded.merge_adapters().expect("merges");
    assert!(distance(&rounded, &whole) > 1e-5, "{}", distance(&rounded, &whole));
}

#[test]
fn a_checkpoint_of_adapters_has_no_weights_and_knows_its_base_in_whatever_files_that_is() {
    let folders = tempfile::tempdir().expect("a directory");
    let folder = |name: &str| folders.path().join(name);
    let (base, shards, saved) = (folder("base"), folder("shards"), folder("saved"));
    learner(None).save(&base).expect("saves");
    learner(None).save_sharded(&shards, 20_000).expect("saves");
    let open = |base: &Path| Learner::load(base, options(Some(lora(EVERYWHERE)))).expect("loads");
    let mut whole = open(&base);
    (0..3).for_each(|turn| drop(whole.update(&batch(turn), 1e-2).expect("learns")));
    whole.save_checkpoint(&saved).expect("saves");
    let files = ["adapter_config.json", "adapter_model.safetensors", "config.json", "tokenizer.json"];
    assert!(files.iter().all(|name| saved.join(name).is_file()) && !saved.join("model.safetensors").exists());
    let found = find_adapters(&saved).expect("valid").expect("adapters alone");
    assert_eq!(
        (found.base.name, found.lora.rank),
        (Some(base.canonicalize().expect("there").display().to_string()), 3)
    );
    assert_eq!(find_adapters(&base).expect("a model"), None);

    let mut again = open(&shards);
    again.load_adapters(&saved).expect("the same weights");
    again.load_trainer_state(&saved).expect("loads");
    assert_eq!(whole.update(&batch(9), 1e-2).expect("learns"), again.update(&batch(9), 1e-2).expect("learns"));

    let other = folder("other");
    Learner::initialize(tiny_config(), tokenizer(), 8, options(None)).expect("valid").save(&other).expect("saves");
    let mut other = open(&other);
    let before = other.weights_bytes().expect("bytes");
    let refused = other.load_adapters(&saved).expect_err("another base").to_string();
    let digests = config(&saved)["base_model_digest"].as_str().map(str::to_owned).expect("a digest");
    let words = [
        "adapter_config.json",
        "belong to the base `",
        "/base`",
        digests.as_str(),
        "/other` have",
        "hint: use the base",
    ];
    assert!(words.iter().all(|word| refused.contains(word)), "{refused}");
    assert_eq!(other.weights_bytes().expect("bytes"), before);
    // Weights that have trained are no base that a file can name, nor that of adapters that know theirs.
    let mut trained = Learner::load(&base, options(None)).expect("loads");
    trained.update(&batch(0), 1e-2).expect("learns");
    let refused = trained.load_adapters(&saved).expect_err("the base has trained").to_string();
    assert!(refused.contains(&digests) && refused.contains("have none: they have trained"), "{refused}");
    trained.restart_adapters(&lora(EVERYWHERE)).expect("restarts");
    trained.save_adapters(&folder("of no file")).expect("saves");
    assert_eq!(config(&folder("of no file"))["base_model_name_or_path"], Value::Null);

    let alone = Learner::load(&saved, options(None)).map(|_| ()).expect_err("no weights").to_string();
    assert!(alone.contains("holds adapters alone") && alone.contains("veriplay model merge"), "{alone}");
}

#[test]
fn segments_and_adapters_work_together() {
    let gradients = |segments| {
        let options = LearnerOptions { segments, ..options(Some(lora(EVERYWHERE))) };
        let mut learner = Learner::initialize(tiny_config(), tokenizer(), 7, options).expect("valid");
        (0..3).for_each(|turn| drop(learner.update(&batch(turn), 1e-2).expect("learns")));
        learner.named_gradients(&batch(5)).expect("gradients")
    };
    assert!(gradients(None) == gradients(Some(Segments { layers: 1, logit_rows: 1 << 20 })));
}

#[test]
fn a_frozen_policy_samples_what_its_learner_did_whatever_that_has_learned_since() {
    for lora in [None, Some(lora(&["q_proj", "down_proj"]))] {
        let mut learner = learner(lora);
        learner.update(&batch(1), 3e-2).expect("learns");
        let (prompts, sampling) = ([prompt("<D>def f(x):")], Sampling { group: 8, seed: 3, ..Sampling::new(24) });
        let before = learner.generate(&prompts, &sampling).expect("samples");
        let frozen = learner.freeze().expect("a copy");
        learner.update(&batch(2), 3e-2).expect("learns");
        let after = learner.generate(&prompts, &sampling).expect("samples");
        assert_ne!(after[0][0].logprobs, before[0][0].logprobs, "the update has changed nothing");
        assert_eq!(frozen.generate(&prompts, &sampling).expect("samples"), before);
    }
}

#[test]
fn a_reference_under_adapters_is_the_policy_as_it_was() {
    let kl = Some(Kl { coefficient: 0.3, estimator: KlEstimator::K2, place: KlPlace::Loss });
    let options = LearnerOptions { kl, ..options(Some(lora(EVERYWHERE))) };
    let mut learner = Learner::initialize(tiny_config(), tokenizer(), 7, options).expect("valid");
    learner.hold_reference().expect("holds");
    let score = |learner: &Learner| learner.score(&[1, 2], &[vec![3, 4, 5]]).expect("scores");
    let before = score(&learner);
    (0..3).for_each(|turn| drop(learner.update(&batch(turn), 1e-2).expect("learns")));
    assert_ne!(score(&learner), before);
    let held = TrainBatch { samples: vec![sample(&[1, 2], &[3, 4, 5], 1.0)], normalizer: 3.0 };
    let mut given = held.clone();
    given.samples[0].reference = Some(before[0].clone());
    assert_eq!(learner.named_gradients(&held).expect("gradients"), learner.named_gradients(&given).expect("gradients"));
}

fn config(dir: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(dir.join("adapter_config.json")).expect("reads")).expect("JSON")
}

#[test]
fn files_have_pefts_names_and_what_this_learner_cannot_do_is_refused_by_key() {
    let dir = tempfile::tempdir().expect("a directory");
    trained(lora(&["q_proj"])).save_adapters(dir.path()).expect("saves");
    let good = config(dir.path());
    assert_eq!((&good["peft_type"], &good["task_type"]), (&json!("LORA"), &json!("CAUSAL_LM")));
    assert_eq!(
        (&good["r"], &good["lora_alpha"], &good["target_modules"]),
        (&json!(3), &json!(6.0), &json!(["q_proj"]))
    );
    let tensors =
        candle_core::safetensors::load(dir.path().join("adapter_model.safetensors"), &candle_core::Device::Cpu);
    let mut names: Vec<String> = tensors.expect("loads").into_keys().collect();
    names.sort();
    let name =
        |layer: usize, part: &str| format!("base_model.model.model.layers.{layer}.self_attn.q_proj.lora_{part}.weight");
    assert_eq!(names, [name(0, "A"), name(0, "B"), name(1, "A"), name(1, "B")]);

    let mut learner = learner(None);
    let before = learner.weights_bytes().expect("bytes");
    for (key, value) in [
        ("use_dora", json!(true)),
        ("use_rslora", json!(true)),
        ("modules_to_save", json!(["lm_head"])),
        ("rank_pattern", json!({ "q_proj": 4 })),
        ("bias", json!("all")),
        ("peft_type", json!("IA3")),
        ("target_modules", json!("all-linear")),
        ("target_modules", json!(["embed_tokens"])),
        ("r", json!(0)),
        ("r", Value::Null),
        ("lora_alpha", json!(-1.0)),
    ] {
        let mut bad = good.clone();
        bad[key] = value;
        std::fs::write(dir.path().join("adapter_config.json"), bad.to_string()).expect("writes");
        let error = learner.load_adapters(dir.path()).expect_err(key).to_string();
        // The learner's own words for two of them.
        let own_name = [("r", "rank"), ("lora_alpha", "alpha")]
            .iter()
            .find(|(k, _)| *k == key)
            .map_or(key, |(_, own_name)| own_name);
        assert!(
            error.contains(&format!("`{key}`")) || error.contains(&format!("`{own_name}`")),
            "`{error}` does not say `{key}`"
        );
    }
    let mut larger = good.clone();
    larger["r"] = json!(5);
    std::fs::write(dir.path().join("adapter_config.json"), larger.to_string()).expect("writes");
    assert!(learner.load_adapters(dir.path()).expect_err("a wrong shape").to_string().contains("lora_A"));
    assert_eq!(
        (before, learner.trainable_count()),
        (learner.weights_bytes().expect("bytes"), learner.parameter_count())
    );
    std::fs::write(dir.path().join("adapter_config.json"), good.to_string()).expect("writes");
    learner.load_adapters(dir.path()).expect("loads");
    assert!(learner.save_adapters(dir.path()).is_ok());
    assert!(
        self::learner(None).save_adapters(dir.path()).expect_err("nothing to save").to_string().contains("no adapters")
    );
}
