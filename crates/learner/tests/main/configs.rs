//! `config.json`: what is accepted, and what is refused with which words.

use serde_json::{Value, json};
use veriplay_learner::{
    AdamW, Architecture, Cispo, ConfigError, Copg, Correction, Cream, Dpo, Gspo, Kl, KlEstimator, KlPlace, LayerKind,
    LayerType, Learner, LearnerOptions, Llama3Scaling, LongRope, Lora, ModelConfig, Optimizer, PpoClip, Prdp,
    Preference, RopeScaling, Scpo, Segments, SequenceMask, SequenceRatio, Spin, Sppo,
};

use crate::common::{tiny_config, tokenizer};

fn with(changes: &[(&str, Value)]) -> String {
    of(&tiny_config(), changes)
}

/// The file of `config` after some changes; a change to `"-"` takes the key out.
fn of(config: &ModelConfig, changes: &[(&str, Value)]) -> String {
    let mut value = serde_json::to_value(config).expect("serialises");
    for (key, new) in changes {
        match new {
            Value::String(s) if s == "-" => drop(value.as_object_mut().expect("an object").remove(*key)),
            new => value[*key] = new.clone(),
        }
    }
    value.to_string()
}

fn llama() -> ModelConfig {
    ModelConfig { model_type: Architecture::Llama, hidden_size: 40, eos_token_id: vec![1, 2], ..tiny_config() }
}

const SCALING: RopeScaling = RopeScaling::Llama3(Llama3Scaling {
    factor: 8.0,
    low_freq_factor: 1.0,
    high_freq_factor: 4.0,
    original_max_position_embeddings: 8192,
});

/// Half of each head of 10 numbers is rotated, in two pairs; a context of 96 that was 24 at first.
fn phi3() -> ModelConfig {
    let scaling =
        LongRope { short_factor: vec![1.0, 1.25], long_factor: vec![1.5, 16.0], original_max_position_embeddings: 24 };
    ModelConfig {
        model_type: Architecture::Phi3,
        partial_rotary_factor: 0.4,
        rope_scaling: Some(RopeScaling::LongRope(scaling)),
        ..llama()
    }
}

#[test]
fn a_config_survives_a_round_trip_and_unknown_keys_of_newer_files_are_ignored() {
    let scaled = ModelConfig { rope_scaling: Some(SCALING), pad_token_id: Some(3), ..llama() };
    let qwen2 = ModelConfig { model_type: Architecture::Qwen2, eos_token_id: vec![], ..tiny_config() };
    let mistral = ModelConfig { model_type: Architecture::Mistral, ..llama() };
    let smollm3 = ModelConfig { model_type: Architecture::SmolLm3, no_rope_layers: vec![1, 0], ..llama() };
    for config in [tiny_config(), llama(), scaled, qwen2, mistral, smollm3, phi3(), gemma3()] {
        let more = [("use_cache", json!(true)), ("transformers_version", json!("5.1.0"))];
        assert_eq!(ModelConfig::parse(&of(&config, &more)), Ok(config.clone()));
        let written = serde_json::to_value(&config).expect("serialises");
        assert_eq!(ModelConfig::ignored_key(&written), None);
    }
    let misspelt = |key: &str, value: Value| {
        let mut written = serde_json::to_value(tiny_config()).expect("serialises");
        written[key] = value;
        ModelConfig::ignored_key(&written)
    };
    assert_eq!(misspelt("head_dims", json!(4)).as_deref(), Some("head_dims"));
    assert_eq!(misspelt("rope_scaling", json!({"factr": 8.0})).as_deref(), Some("rope_scaling.factr"));
    assert_eq!(ModelConfig::default().validate(), Ok(()));
}

#[test]
fn the_file_of_the_built_in_model_is_written_as_it_was_read() {
    let text = include_str!("../../../../models/tiny/config.json");
    let config = ModelConfig::parse(text).expect("fine");
    assert_eq!(serde_json::to_string_pretty(&config).expect("serialises"), text.trim_end());
}

#[test]
fn rotary_keys_are_read_where_transformers_4_and_5_put_them() {
    let llama3 = json!({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192});
    let mut new = llama3.clone();
    new["rope_theta"] = json!(5e5);
    let mut older = llama3.clone();
    older["type"] = older["rope_type"].take();
    let gone = || json!("-");
    let scaled = ModelConfig { rope_theta: 5e5, rope_scaling: Some(SCALING), ..llama() };
    let corpus: [(&[(&str, Value)], ModelConfig); 5] = [
        (&[("rope_theta", json!(5e5)), ("rope_scaling", llama3)], scaled.clone()),
        (&[("rope_theta", json!(5e5)), ("rope_scaling", older)], scaled.clone()),
        (&[("rope_theta", gone()), ("rope_scaling", gone()), ("rope_parameters", new)], scaled),
        (
            &[("rope_theta", gone()), ("rope_parameters", json!({"rope_type": "default", "rope_theta": 1e6}))],
            ModelConfig { rope_theta: 1e6, ..llama() },
        ),
        (&[("rope_theta", gone())], ModelConfig { rope_theta: 1e4, ..llama() }),
    ];
    for (changes, want) in corpus {
        assert_eq!(ModelConfig::parse(&of(&llama(), changes)), Ok(want), "{changes:?}");
    }
}

#[test]
fn stretched_frequencies_are_those_of_the_formula_in_each_of_its_three_ranges() {
    let config = ModelConfig { rope_scaling: Some(SCALING), rope_theta: 5e5, head_dim: 128, ..llama() };
    let plain = ModelConfig { rope_scaling: None, ..config.clone() }.rope_frequencies();
    let (mut same, mut slowed, mut between) = (0, 0, 0);
    for (scaled, f) in config.rope_frequencies().into_iter().zip(plain) {
        let wavelength = std::f64::consts::TAU / f;
        let want = if wavelength < 8192.0 / 4.0 {
            same += 1;
            f
        } else if wavelength > 8192.0 {
            slowed += 1;
            f / 8.0
        } else {
            between += 1;
            let smooth = (8192.0 / wavelength - 1.0) / 3.0;
            (1.0 - smooth) * f / 8.0 + smooth * f
        };
        assert!((scaled - want).abs() <= 1e-12 * f, "{scaled} {want}");
    }
    assert!(same > 20 && slowed > 20 && between > 2, "{same} {slowed} {between}");
}

#[test]
fn absent_keys_have_the_defaults_of_their_class() {
    let gone = |keys: &[&'static str]| keys.iter().map(|&key| (key, json!("-"))).collect::<Vec<_>>();
    let absent = gone(&[
        "head_dim", "num_key_value_heads", "rms_norm_eps", "tie_word_embeddings", "eos_token_id", "torch_dtype",
    ]);
    let want = ModelConfig {
        head_dim: 10,
        num_key_value_heads: 4,
        tie_word_embeddings: false,
        eos_token_id: vec![],
        ..llama()
    };
    assert_eq!(ModelConfig::parse(&of(&llama(), &absent)), Ok(want));
    let qwen3 = ModelConfig::parse(&with(&gone(&["head_dim"]))).expect("fine");
    assert_eq!(qwen3.head_dim, 128);
    for key in [
        "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
        "max_position_embeddings", "model_type",
    ] {
        assert_eq!(ModelConfig::parse(&with(&gone(&[key]))), Err(ConfigError::Missing(key.to_owned())));
    }
}

#[test]
fn every_wrong_value_is_named_with_its_key() {
    let corpus: [(&str, Value); 29] = [
        ("vocab_size", json!(0)),
        ("vocab_size", json!("wide")),
        ("vocab_size", json!(-1)),
        ("hidden_size", json!(1_u64 << 40)),
        ("num_hidden_layers", json!(0)),
        ("num_hidden_layers", json!(1025)),
        ("head_dim", json!(1 << 24)),
        ("max_position_embeddings", json!(1 << 20)),
        ("num_key_value_heads", json!(3)),
        ("head_dim", json!(7)),
        ("rms_norm_eps", json!(0.0)),
        ("rope_theta", json!(-1.0)),
        ("initializer_range", json!(0.0)),
        ("eos_token_id", json!(110)),
        ("eos_token_id", json!([1, 110])),
        ("eos_token_id", json!("<|end|>")),
        ("bos_token_id", json!(110)),
        ("tie_word_embeddings", json!("yes")),
        ("architectures", json!(["Qwen3ForSequenceClassification"])),
        ("hidden_act", json!("gelu")),
        ("attention_bias", json!(true)),
        ("attention_dropout", json!(0.1)),
        ("mlp_bias", json!(true)),
        ("partial_rotary_factor", json!(0.5)),
        ("quantization_config", json!({"quant_method": "gptq"})),
        ("layer_types", json!(["full_attention", "sliding_attention"])),
        ("torch_dtype", json!("int8")),
        ("dtype", json!("float8_e4m3fn")),
        ("rope_scaling", json!("linear")),
    ];
    for (key, value) in corpus {
        match ModelConfig::parse(&with(&[(key, value)])) {
            Err(ConfigError::Value { key: named, want, .. }) => assert!(named == key && !want.is_empty(), "{named}"),
            other => panic!("{key}: {other:?}"),
        }
    }
}

#[test]
fn rotary_options_that_are_not_computed_are_named_inside_their_object() {
    let llama3 = |key: &str, value: Value| {
        let mut rope = json!({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192});
        rope[key] = value;
        rope
    };
    let corpus = [
        ("rope_scaling", json!({"rope_type": "yarn", "factor": 4.0}), "`rope_scaling.rope_type` is `yarn`"),
        ("rope_scaling", json!({"type": "linear", "factor": 4.0}), "`rope_scaling.type` is `linear`"),
        ("rope_parameters", json!({"rope_type": "dynamic"}), "`rope_parameters.rope_type` is `dynamic`"),
        (
            "rope_parameters",
            json!({"partial_rotary_factor": 0.25}),
            "`rope_parameters.partial_rotary_factor` is `0.25`",
        ),
        ("rope_scaling", llama3("factor", json!(null)), "lacks `rope_scaling.factor`"),
        ("rope_scaling", llama3("factor", json!(0.5)), "`rope_scaling.factor` is `0.5`"),
        ("rope_scaling", llama3("low_freq_factor", json!(0)), "`rope_scaling.low_freq_factor` is `0`"),
        ("rope_scaling", llama3("high_freq_factor", json!(1)), "`rope_scaling.high_freq_factor` is `1`"),
        (
            "rope_scaling",
            llama3("original_max_position_embeddings", json!("x")),
            "original_max_position_embeddings` is `x`",
        ),
    ];
    for (key, value, words) in corpus {
        let message = ModelConfig::parse(&with(&[(key, value)])).expect_err("refused").to_string();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_sliding_window_is_refused_where_it_is_used_and_ignored_where_it_is_not() {
    let window = |on: bool, size: Value, first: u64| {
        with(&[("use_sliding_window", json!(on)), ("sliding_window", size), ("max_window_layers", json!(first))])
    };
    // The model has 2 layers and a context of 96.
    for text in [
        window(false, json!(32), 0),
        window(true, json!(null), 0),
        window(true, json!(96), 0),
        window(true, json!(32), 2),
        with(&[("layer_types", json!(["full_attention", "full_attention"])), ("sliding_window", json!(32))]),
        with(&[("use_sliding_window", json!(true))]),
    ] {
        assert_eq!(ModelConfig::parse(&text), Ok(tiny_config()), "{text}");
    }
    for (text, key) in [
        (window(true, json!(95), 1), "sliding_window"),
        (with(&[("use_sliding_window", json!(true)), ("max_window_layers", json!(0))]), "use_sliding_window"),
    ] {
        match ModelConfig::parse(&text) {
            Err(ConfigError::Value { key: named, .. }) => assert_eq!(named, key),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_mistral_has_the_defaults_of_its_class_and_no_window_shorter_than_its_context() {
    let mistral =
        ModelConfig { model_type: Architecture::Mistral, num_attention_heads: 16, num_key_value_heads: 8, ..llama() };
    let file = |changes: &[(&str, Value)]| ModelConfig::parse(&of(&mistral, changes));
    assert_eq!(file(&[("num_key_value_heads", json!("-"))]), Ok(mistral.clone()));
    // The context is 96.
    for window in [json!(null), json!(96), json!(4096)] {
        assert_eq!(file(&[("sliding_window", window.clone())]), Ok(mistral.clone()), "{window}");
    }
    // What its class has where the file does not say.
    let long = |context: usize| [("sliding_window", json!("-")), ("max_position_embeddings", json!(context))];
    assert_eq!(file(&long(4096)), Ok(ModelConfig { max_position_embeddings: 4096, ..mistral.clone() }));
    for (changes, value) in [(&long(4097)[..], "4096"), (&[("sliding_window", json!(95))][..], "95")] {
        let message = file(changes).expect_err("refused").to_string();
        assert!(message.contains(&format!("`sliding_window` is `{value}`: sliding windows")), "{message}");
        assert!(message.contains("null"), "{message}");
    }
    let named = [("architectures", json!(["LlamaForCausalLM"]))];
    assert!(file(&named).expect_err("refused").to_string().contains("MistralForCausalLM"));
}

#[test]
fn a_smollm3_rotates_nothing_in_every_fourth_layer_or_in_those_that_are_listed() {
    let smollm3 = ModelConfig {
        model_type: Architecture::SmolLm3,
        num_hidden_layers: 5,
        num_key_value_heads: 4,
        no_rope_layers: vec![1, 1, 1, 0, 1],
        rope_theta: 2e6,
        ..llama()
    };
    let file = |changes: &[(&str, Value)]| ModelConfig::parse(&of(&smollm3, changes));
    let absent =
        ["no_rope_layers", "rope_theta", "num_key_value_heads", "tie_word_embeddings"].map(|key| (key, json!("-")));
    assert_eq!(file(&absent), Ok(ModelConfig { tie_word_embeddings: true, ..smollm3.clone() }));
    for (key, value, want) in [
        ("no_rope_layers", json!([0, 1, 1, 1, 0, 1, 1]), [0_u8, 1, 1, 1, 0]),
        ("no_rope_layer_interval", json!(2), [1, 0, 1, 0, 1]),
    ] {
        let config = file(&[("no_rope_layers", json!("-")), (key, value)]).expect("fine");
        assert_eq!(config.no_rope_layers, want);
        let unrotated = (0..5).filter(|&layer| config.layer_kind(layer) == LayerKind::Unrotated).collect::<Vec<_>>();
        assert_eq!(unrotated, (0..5).filter(|&layer| want[layer] == 0).collect::<Vec<_>>());
    }
    for (key, value) in [
        ("no_rope_layers", json!([1, 0])),
        ("no_rope_layers", json!([1, 1, 1, 2, 1])),
        ("no_rope_layer_interval", json!(0)),
        ("layer_types", json!(["sliding_attention"])),
    ] {
        match file(&[(key, value)]) {
            Err(ConfigError::Value { key: named, .. }) => assert_eq!(named, key),
            other => panic!("{key}: {other:?}"),
        }
    }
    let window = |size: u64| file(&[("use_sliding_window", json!(true)), ("sliding_window", json!(size))]);
    assert_eq!(window(96), Ok(smollm3.clone()));
    assert!(window(95).expect_err("refused").to_string().contains("`sliding_window` is `95`"));
}

fn gemma3() -> ModelConfig {
    ModelConfig {
        model_type: Architecture::Gemma3,
        layer_types: vec![LayerType::FullAttention, LayerType::SlidingAttention],
        sliding_window: 24,
        rope_theta: 5e5,
        rope_local_base_freq: 2e4,
        query_pre_attn_scalar: Some(16),
        ..llama()
    }
}

#[test]
fn a_gemma3_has_windows_where_its_file_or_its_class_says() {
    let file = |changes: &[(&str, Value)]| ModelConfig::parse(&of(&gemma3(), changes));
    let kinds = |config: ModelConfig| (0..config.num_hidden_layers).map(|at| config.layer_kind(at)).collect::<Vec<_>>();
    assert_eq!(kinds(gemma3()), [LayerKind::Rotated, LayerKind::Sliding]);
    let gone = [
        "layer_types", "sliding_window", "rope_theta", "rope_local_base_freq", "query_pre_attn_scalar", "head_dim",
        "num_key_value_heads", "tie_word_embeddings",
    ];
    let mut changes: Vec<(&str, Value)> = gone.map(|key| (key, json!("-"))).to_vec();
    changes.push(("num_hidden_layers", json!(7)));
    let absent = file(&changes).expect("fine");
    let of_class = ModelConfig {
        num_hidden_layers: 7,
        layer_types: [
            vec![LayerType::SlidingAttention; 5],
            vec![LayerType::FullAttention, LayerType::SlidingAttention],
        ]
        .concat(),
        sliding_window: 4096,
        rope_theta: 1e6,
        rope_local_base_freq: 1e4,
        query_pre_attn_scalar: Some(256),
        head_dim: 256,
        num_key_value_heads: 4,
        tie_word_embeddings: true,
        ..gemma3()
    };
    assert_eq!(absent, of_class);
    let every_second = file(&[("layer_types", json!("-")), ("sliding_window_pattern", json!(2))]).expect("fine");
    assert_eq!(kinds(every_second), [LayerKind::Sliding, LayerKind::Rotated]);
    // As version 5 has it: a table for each type of layer.
    let tables = json!({"full_attention": {"rope_type": "default", "rope_theta": 5e5},
        "sliding_attention": {"rope_type": "default", "rope_theta": 2e4}});
    let gone = ["rope_scaling", "rope_theta", "rope_local_base_freq"].map(|key| (key, json!("-")));
    let changes = [&gone[..], &[("rope_parameters", tables)][..]].concat();
    assert_eq!(file(&changes), Ok(gemma3()));
    for (key, value) in [
        ("layer_types", json!(["full_attention"])),
        ("layer_types", json!(["full_attention", "chunked_attention"])),
        ("sliding_window", json!(0)),
        ("query_pre_attn_scalar", json!(0)),
        ("rope_local_base_freq", json!(-1.0)),
        ("hidden_activation", json!("silu")),
        ("final_logit_softcapping", json!(30.0)),
        ("attn_logit_softcapping", json!(50.0)),
        ("use_bidirectional_attention", json!(true)),
    ] {
        match file(&[(key, value)]) {
            Err(ConfigError::Value { key: named, want, .. }) => assert!(named == key && !want.is_empty(), "{named}"),
            other => panic!("{key}: {other:?}"),
        }
    }
    let linear = file(&[("rope_scaling", json!({"rope_type": "linear", "factor": 8.0}))]);
    assert!(linear.expect_err("refused").to_string().contains("`rope_scaling.rope_type` is `linear`"));
    assert_eq!(file(&[("sliding_window", json!(null))]), Err(ConfigError::Missing("sliding_window".to_owned())));
}

/// The table of [`phi3`] after a change.
fn longrope(key: &str, value: Value) -> [(&'static str, Value); 1] {
    let mut table = json!({"type": "longrope", "short_factor": [1.0, 1.25], "long_factor": [1.5, 16.0]});
    table[key] = value;
    [("rope_scaling", table)]
}

#[test]
fn a_phi3_stretches_its_first_context_by_short_factors_and_has_no_other() {
    let config = phi3();
    assert_eq!((config.context(), llama().context()), (24, 96));
    let plain = ModelConfig { rope_scaling: None, ..phi3() };
    assert_eq!((plain.context(), plain.rope_frequencies().len()), (96, 2));
    for (frequency, (f, factor)) in config.rope_frequencies().into_iter().zip([(1.0, 1.0), (0.01, 1.25)]) {
        assert!((frequency - f / factor).abs() < 1e-15, "{frequency}");
    }
    let file = |changes: &[(&str, Value)]| ModelConfig::parse(&of(&phi3(), changes));
    // As version 5 has it: all in one table.
    let table = json!({"rope_type": "longrope", "rope_theta": 1e4, "partial_rotary_factor": 0.4,
        "short_factor": [1.0, 1.25], "long_factor": [1.5, 16.0], "original_max_position_embeddings": 24});
    let gone = ["rope_scaling", "rope_theta", "partial_rotary_factor", "original_max_position_embeddings"];
    let mut changes: Vec<(&str, Value)> = gone.map(|key| (key, json!("-"))).to_vec();
    changes.push(("rope_parameters", table));
    assert_eq!(file(&changes), Ok(phi3()));
    assert_eq!(file(&[("rms_norm_eps", json!("-"))]).expect("fine").rms_norm_eps, 1e-5);
    assert_eq!(file(&[("sliding_window", json!(24))]), Ok(phi3()));
    for (changes, named) in [
        (longrope("short_factor", json!([1.0])), "rope_scaling.short_factor"),
        (longrope("long_factor", json!([1.0, 0.0])), "rope_scaling.long_factor"),
        (longrope("factor", json!(4.0)), "rope_scaling.factor"),
        (longrope("type", json!("yarn")), "rope_scaling.type"),
        ([("sliding_window", json!(23))], "sliding_window"),
        ([("partial_rotary_factor", json!(0.3))], "partial_rotary_factor"),
        ([("partial_rotary_factor", json!(1.5))], "partial_rotary_factor"),
        ([("resid_pdrop", json!(0.1))], "resid_pdrop"),
    ] {
        match file(&changes) {
            Err(ConfigError::Value { key, want, .. }) => assert!(key == named && !want.is_empty(), "{key}: {want}"),
            other => panic!("{named}: {other:?}"),
        }
    }
}

#[test]
fn another_architecture_and_broken_text_are_refused() {
    for (name, nearest) in [
        ("mixtral", "dense"),
        ("qwen3_moe", "dense"),
        ("qwen2_vl", "text alone"),
        ("gemma3", "text alone"),
        ("gemma2", "Gemma 3"),
        ("gpt2", "openai:"),
    ] {
        let error = ModelConfig::parse(&with(&[("model_type", json!(name))])).expect_err("unknown");
        assert_eq!(error, ConfigError::ModelType(name.to_owned()));
        assert!(error.to_string().contains("llama") && error.to_string().contains(nearest), "{error}");
    }
    for text in ["", "{", "[]", "7"] {
        assert!(matches!(ModelConfig::parse(text), Err(ConfigError::Parse(_))), "{text}");
    }
}

/// A change that makes options invalid, and the key that is named.
type Invalid = (fn(&mut LearnerOptions), &'static str);

const INVALID: [Invalid; 47] = [
    (|o| o.data_parallel = 0, "options.data_parallel"),
    (|o| o.micro_tokens = 0, "options.micro_tokens"),
    (|o| o.max_length = Some(0), "options.max_length"),
    (|o| o.rollout_rows = 0, "options.rollout_rows"),
    (|o| o.clip_norm = 0.0, "options.clip_norm"),
    (|o| o.clip_norm = f64::NAN, "options.clip_norm"),
    (|o| o.segments = Some(Segments { layers: 0, logit_rows: 1 }), "options.segments.layers"),
    (|o| o.segments = Some(Segments { layers: 1, logit_rows: 0 }), "options.segments.logit_rows"),
    (|o| o.optimizer = adamw(|a| a.beta1 = 1.5), "options.optimizer.beta1"),
    (|o| o.optimizer = adamw(|a| a.beta2 = 1.0), "options.optimizer.beta2"),
    (|o| o.optimizer = adamw(|a| a.eps = 0.0), "options.optimizer.eps"),
    (|o| o.optimizer = adamw(|a| a.weight_decay = -0.1), "options.optimizer.weight_decay"),
    (|o| o.optimizer = muon(f64::NAN, 5.0, 0.95), "options.optimizer.adamw.beta1"),
    (|o| o.optimizer = muon(0.9, f64::INFINITY, 0.95), "options.optimizer.ratio"),
    (|o| o.optimizer = muon(0.9, 5.0, 1.0), "options.optimizer.momentum"),
    (|o| o.loss = PpoClip { clip_low: 1.5, ..PpoClip::default() }.into(), "loss.clip_low"),
    (|o| o.loss = PpoClip { clip_low: -0.1, ..PpoClip::default() }.into(), "loss.clip_low"),
    (|o| o.loss = PpoClip { clip_high: f64::NAN, ..PpoClip::default() }.into(), "loss.clip_high"),
    (|o| o.loss = PpoClip { dual_clip: Some(1.0), ..PpoClip::default() }.into(), "loss.dual_clip"),
    (|o| o.loss = Cispo { clip_high: -0.1, ..Cispo::default() }.into(), "loss.clip_high"),
    (|o| o.loss = Gspo { clip_low: 1.5, ..Gspo::default() }.into(), "loss.clip_low"),
    (|o| o.preference = Preference::Dpo(Dpo { beta: 0.0 }), "preference.beta"),
    (|o| o.preference = Preference::Dpo(Dpo { beta: -0.1 }), "preference.beta"),
    (|o| o.preference = Preference::Spin(Spin { lambda: f64::INFINITY }), "preference.lambda"),
    (|o| o.preference = Preference::Sppo(Sppo { eta: 0.0 }), "preference.eta"),
    (|o| o.preference = Preference::Scpo(Scpo { alpha: -1.0, ..Scpo::default() }), "preference.alpha"),
    (|o| o.preference = Preference::Cream(Cream { consistency: 1.5, ..Cream::default() }), "preference.consistency"),
    (|o| o.preference = Preference::Copg(Copg { beta: f64::NAN }), "preference.beta"),
    (|o| o.preference = Preference::Prdp(Prdp { beta: 0.0, clip: None }), "preference.beta"),
    (|o| o.preference = Preference::Prdp(Prdp { beta: 0.1, clip: Some(0.0) }), "preference.clip"),
    (|o| o.kl = kl(0.0, KlEstimator::K3, KlPlace::Loss), "kl.coefficient"),
    (|o| o.kl = kl(0.1, KlEstimator::K1, KlPlace::Loss), "kl.estimator"),
    (|o| o.kl = kl(0.1, KlEstimator::K3, KlPlace::Reward), "kl.estimator"),
    (|o| o.correction = correction(0.0, 0.5, 2.0), "correction.cap"),
    (|o| o.correction = correction(2.0, 1.5, 2.0), "correction.mask.low"),
    (|o| o.correction = correction(2.0, 0.5, 0.9), "correction.mask.high"),
    (|o| o.entropy_bonus = -1.0, "entropy_bonus"),
    (|o| o.entropy_bonus = f64::NAN, "entropy_bonus"),
    (|o| o.lora = lora(0, 6.0, &["q_proj"]), "lora.rank"),
    (|o| o.lora = lora(3, 0.0, &["q_proj"]), "lora.alpha"),
    (|o| o.lora = lora(3, 6.0, &[]), "lora.target_modules"),
    (|o| o.lora = lora(3, 6.0, &["q_proj", "lm_head"]), "lora.target_modules"),
    (|o| o.chat_date = Some("2023-02-29".to_owned()), "options.chat_date"),
    (|o| o.turn_cache_mib = usize::MAX, "options.turn_cache_mib"),
    (|o| *o = offload(|o| o.segments = None), "options.optimizer_offload"),
    (|o| *o = offload(|o| o.lora = lora(3, 6.0, &["q_proj"])), "options.optimizer_offload"),
    (|o| *o = offload(|o| o.optimizer = muon(0.9, 5.0, 0.95)), "options.optimizer_offload"),
];

/// Options for an optimizer on the host, but for a change.
fn offload(change: fn(&mut LearnerOptions)) -> LearnerOptions {
    let segments = Some(Segments { layers: 1, logit_rows: 1 });
    let mut options = LearnerOptions { segments, optimizer_offload: true, ..LearnerOptions::default() };
    change(&mut options);
    options
}

const fn correction(cap: f64, low: f64, high: f64) -> Option<Correction> {
    Some(Correction { cap: Some(cap), mask: Some(SequenceMask { ratio: SequenceRatio::Geometric, low, high }) })
}

fn adamw(change: fn(&mut AdamW)) -> Optimizer {
    let mut adamw = AdamW::default();
    change(&mut adamw);
    Optimizer::AdamW(adamw)
}

fn muon(beta1: f64, ratio: f64, momentum: f64) -> Optimizer {
    Optimizer::Muon { adamw: AdamW { beta1, ..AdamW::default() }, ratio, momentum }
}

const fn kl(coefficient: f64, estimator: KlEstimator, place: KlPlace) -> Option<Kl> {
    Some(Kl { coefficient, estimator, place })
}

fn lora(rank: usize, alpha: f64, modules: &[&str]) -> Option<Lora> {
    Some(Lora {
        rank,
        alpha,
        target_modules: modules.iter().map(|&module| module.to_owned()).collect(),
        seed: 0,
        per_role: false,
    })
}

#[test]
fn options_and_vocabularies_that_cannot_work_are_refused() {
    let start =
        |config: ModelConfig, options: LearnerOptions| Learner::initialize(config, tokenizer(), 1, options).map(|_| ());
    assert_eq!(start(tiny_config(), LearnerOptions::default()), Ok(()));
    let in_reward = LearnerOptions { kl: kl(0.1, KlEstimator::K1, KlPlace::Reward), ..LearnerOptions::default() };
    assert_eq!(start(tiny_config(), in_reward), Ok(()));
    for (spoil, want) in INVALID {
        let mut options = LearnerOptions::default();
        spoil(&mut options);
        match start(tiny_config(), options) {
            Err(error @ ConfigError::Option { .. }) => {
                let said = error.to_string();
                assert!(said.starts_with(&format!("configuration key `learn.{want}` is `")), "{said}");
            }
            other => panic!("{want}: {other:?}"),
        }
    }
    match start(ModelConfig { vocab_size: 50, ..tiny_config() }, LearnerOptions::default()) {
        Err(ConfigError::Value { key, .. }) => assert_eq!(key, "vocab_size"),
        other => panic!("{other:?}"),
    }
}
