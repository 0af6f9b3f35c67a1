//! candle-transformers' plain Qwen2, Qwen3 and Llama as a second oracle: another implementation by other people, on our weights.
//!
//! Wanted are logits within 1e-4, relative to the largest; the tests hold them to 2e-5.

use candle_core::{DType, Device, Tensor};
use candle_nn::{Activation, VarBuilder};
use candle_transformers::models::{llama, qwen2, qwen3};
use veriplay_learner::{Architecture, Learner, LearnerOptions, Llama3Scaling, ModelConfig};

use crate::common;
use crate::parity;

const LOGITS: f64 = 2e-5;

fn weights(learner: &Learner) -> VarBuilder<'static> {
    let tensor = |(spec, values): (veriplay_learner::TensorSpec, Vec<f32>)| {
        let tensor = Tensor::from_vec(values, spec.shape.as_slice(), &Device::Cpu).expect("the spec's shape");
        (spec.name, tensor)
    };
    VarBuilder::from_tensors(learner.named_weights().into_iter().map(tensor).collect(), DType::F32, &Device::Cpu)
}

/// Whether candle's model of the family can have this shape: its Qwen2 and Llama know heads of hidden / heads alone.
fn is_plain(config: &ModelConfig) -> bool {
    config.model_type == Architecture::Qwen3 || config.head_dim * config.num_attention_heads == config.hidden_size
}

/// Logits behind the last of `tokens`, by candle-transformers.
fn by_candle(learner: &Learner, tokens: &[u32]) -> Vec<f32> {
    let (config, weights) = (learner.config(), weights(learner));
    let input = Tensor::new(tokens, &Device::Cpu).and_then(|t| t.unsqueeze(0)).expect("ids");
    let logits =
        match config.model_type {
            Architecture::Qwen2 => qwen2::ModelForCausalLM::new(&qwen2_config(config), weights)
                .and_then(|mut model| model.forward(&input, 0)),
            Architecture::Qwen3 => qwen3::ModelForCausalLM::new(&qwen3_config(config), weights)
                .and_then(|mut model| model.forward(&input, 0)),
            Architecture::Llama => {
                let config = llama_config(config);
                let mut cache = llama::Cache::new(false, DType::F32, &config, &Device::Cpu).expect("tables");
                llama::Llama::load(weights, &config).and_then(|model| model.forward(&input, 0, &mut cache))
            }
        };
    logits.and_then(|t| t.flatten_all()?.to_vec1()).expect("candle computes")
}

fn qwen2_config(config: &ModelConfig) -> qwen2::Config {
    qwen2::Config {
        vocab_size: config.vocab_size,
        hidden_size: config.hidden_size,
        intermediate_size: config.intermediate_size,
        num_hidden_layers: config.num_hidden_layers,
        num_attention_heads: config.num_attention_heads,
        num_key_value_heads: config.num_key_value_heads,
        max_position_embeddings: config.max_position_embeddings,
        sliding_window: config.max_position_embeddings,
        max_window_layers: config.num_hidden_layers,
        tie_word_embeddings: config.tie_word_embeddings,
        rope_theta: config.rope_theta,
        rms_norm_eps: config.rms_norm_eps,
        use_sliding_window: false,
        hidden_act: Activation::Silu,
    }
}

fn qwen3_config(config: &ModelConfig) -> qwen3::Config {
    qwen3::Config {
        vocab_size: config.vocab_size,
        hidden_size: config.hidden_size,
        intermediate_size: config.intermediate_size,
        num_hidden_layers: config.num_hidden_layers,
        num_attention_heads: config.num_attention_heads,
        head_dim: config.head_dim,
        attention_bias: false,
        num_key_value_heads: config.num_key_value_heads,
        max_position_embeddings: config.max_position_embeddings,
        sliding_window: None,
        max_window_layers: config.num_hidden_layers,
        tie_word_embeddings: config.tie_word_embeddings,
        rope_theta: config.rope_theta,
        rms_norm_eps: config.rms_norm_eps,
        use_sliding_window: false,
        hidden_act: Activation::Silu,
    }
}

fn llama_config(config: &ModelConfig) -> llama::Config {
    let scaling = config.rope_scaling.as_ref().map(|scaling| llama::Llama3RopeConfig {
        factor: scaling.factor as f32,
        low_freq_factor: scaling.low_freq_factor as f32,
        high_freq_factor: scaling.high_freq_factor as f32,
        original_max_position_embeddings: scaling.original_max_position_embeddings,
        rope_type: llama::Llama3RopeType::Llama3,
    });
    llama::Config {
        hidden_size: config.hidden_size,
        intermediate_size: config.intermediate_size,
        vocab_size: config.vocab_size,
        num_hidden_layers: config.num_hidden_layers,
        num_attention_heads: config.num_attention_heads,
        num_key_value_heads: config.num_key_value_heads,
        use_flash_attn: false,
        rms_norm_eps: config.rms_norm_eps,
        rope_theta: config.rope_theta as f32,
        bos_token_id: None,
        eos_token_id: None,
        rope_scaling: scaling,
        max_position_embeddings: config.max_position_embeddings,
        tie_word_embeddings: config.tie_word_embeddings,
    }
}

/// The worst distance of our logits from candle's behind several prefixes, relative to candle's largest.
fn distance(learner: &Learner, tokens: &[u32]) -> f64 {
    let ours = learner.logits(tokens).expect("computes");
    let prefixes = [1, 2, tokens.len() / 2, tokens.len() - 1, tokens.len()];
    let one = |&length: &usize| parity::relative(&ours[length - 1], &by_candle(learner, &tokens[..length]));
    prefixes.iter().filter(|&&length| length > 0).map(one).fold(0.0, f64::max)
}

fn tokens(vocabulary: usize, count: usize) -> Vec<u32> {
    (0..count).map(|i| ((i * i * 31 + i * 7 + 5) % vocabulary) as u32).collect()
}

#[test]
fn logits_of_the_parity_checkpoints_are_those_of_candle_transformers() {
    let mut families = Vec::new();
    for case in parity::cases() {
        let learner = case.learner(LearnerOptions::default());
        if is_plain(learner.config()) {
            let error = distance(&learner, &tokens(learner.config().vocab_size, 60));
            assert!(error <= LOGITS, "{}: {error:e} away", case.name);
            families.push(learner.config().model_type);
        }
    }
    for family in Architecture::ALL {
        assert!(families.contains(&family), "no checkpoint of {family:?} was compared");
    }
}

#[test]
fn logits_with_scaled_positions_are_those_of_candle_transformers_and_would_show_if_they_were_not_scaled() {
    let scaling = Llama3Scaling {
        factor: 8.0,
        low_freq_factor: 1.0,
        high_freq_factor: 4.0,
        original_max_position_embeddings: 32,
    };
    let config = ModelConfig {
        model_type: Architecture::Llama,
        num_attention_heads: 6,
        num_key_value_heads: 3,
        head_dim: 6,
        rope_scaling: Some(scaling),
        tie_word_embeddings: false,
        max_position_embeddings: 256,
        ..common::tiny_config()
    };
    let long = tokens(config.vocab_size, 200);
    let (scaled, plain) =
        (common::learner(config.clone()), common::learner(ModelConfig { rope_scaling: None, ..config }));
    assert!(distance(&scaled, &long) <= LOGITS);
    let unscaled = plain.logits(&long).expect("computes").remove(199);
    assert!(parity::relative(&unscaled, &by_candle(&scaled, &long)) > 50.0 * LOGITS);
}
