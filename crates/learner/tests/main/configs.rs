//! `config.json`: what is accepted, and what is refused with which words.

use serde_json::{Value, json};
use veriplay_learner::{ConfigError, Learner, LearnerOptions, ModelConfig};

use crate::common::{tiny_config, tokenizer};

fn with(changes: &[(&str, Value)]) -> String {
    let mut value = serde_json::to_value(tiny_config()).expect("serialises");
    for (key, new) in changes {
        value[*key] = new.clone();
    }
    value.to_string()
}

#[test]
fn a_config_survives_a_round_trip_and_unknown_keys_of_newer_files_are_ignored() {
    assert_eq!(ModelConfig::parse(&with(&[])), Ok(tiny_config()));
    assert_eq!(
        ModelConfig::parse(&with(&[("use_cache", json!(true)), ("transformers_version", json!("5.1.0"))])),
        Ok(tiny_config())
    );
    assert_eq!(ModelConfig::default().validate(), Ok(()));
}

#[test]
fn every_wrong_value_is_named_with_its_key() {
    let corpus: [(&str, Value); 15] = [
        ("vocab_size", json!(0)),
        ("hidden_size", json!(1_u64 << 40)),
        ("num_hidden_layers", json!(0)),
        ("max_position_embeddings", json!(1 << 20)),
        ("num_key_value_heads", json!(3)),
        ("head_dim", json!(7)),
        ("rms_norm_eps", json!(0.0)),
        ("rope_theta", json!(-1.0)),
        ("initializer_range", json!(0.0)),
        ("eos_token_id", json!(110)),
        ("hidden_act", json!("gelu")),
        ("attention_bias", json!(true)),
        ("rope_scaling", json!({"rope_type": "yarn"})),
        ("use_sliding_window", json!(true)),
        ("torch_dtype", json!("int8")),
    ];
    for (key, value) in corpus {
        match ModelConfig::parse(&with(&[(key, value)])) {
            Err(ConfigError::Value { key: named, .. }) => assert_eq!(named, key),
            other => panic!("{key}: {other:?}"),
        }
    }
}

#[test]
fn another_architecture_and_broken_text_are_refused() {
    assert_eq!(
        ModelConfig::parse(&with(&[("model_type", json!("llama"))])),
        Err(ConfigError::ModelType("llama".to_owned()))
    );
    for text in ["", "{", "[]", "{}", "{\"model_type\": 3}", &with(&[("hidden_size", json!("wide"))])] {
        assert!(matches!(ModelConfig::parse(text), Err(ConfigError::Parse(_))), "{text}");
    }
}

#[test]
fn options_and_vocabularies_that_cannot_work_are_refused() {
    let start =
        |config: ModelConfig, options: LearnerOptions| Learner::initialize(config, tokenizer(), 1, options).map(|_| ());
    let fine = LearnerOptions::default;
    assert_eq!(start(tiny_config(), fine()), Ok(()));
    for options in [
        LearnerOptions { shards: 0, ..fine() },
        LearnerOptions { micro_tokens: 0, ..fine() },
        LearnerOptions { rollout_rows: 0, ..fine() },
        LearnerOptions { clip_norm: 0.0, ..fine() },
        LearnerOptions { clip_norm: f64::NAN, ..fine() },
    ] {
        assert!(matches!(start(tiny_config(), options.clone()), Err(ConfigError::Value { .. })), "{options:?}");
    }
    let small = ModelConfig { vocab_size: 50, ..tiny_config() };
    assert!(matches!(start(small, fine()), Err(ConfigError::Value { key: "vocab_size", .. })));
}
