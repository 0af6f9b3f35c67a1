//! Small models and batches.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use candle_core::{Device, Tensor};

use veriplay_core::{Prompt, Role, Sample};
use veriplay_learner::{Learner, LearnerOptions, ModelConfig, Tokenizer, build_tokenizer};

/// Two layers, grouped queries, and no size that is a whole vector.
pub(crate) fn tiny_config() -> ModelConfig {
    ModelConfig {
        vocab_size: 110,
        hidden_size: 36,
        num_hidden_layers: 2,
        num_attention_heads: 4,
        num_key_value_heads: 2,
        head_dim: 10,
        intermediate_size: 50,
        max_position_embeddings: 96,
        initializer_range: 0.15,
        ..ModelConfig::default()
    }
}

pub(crate) fn tokenizer() -> Tokenizer {
    build_tokenizer(
        &["<D>".to_owned(), "<A>".to_owned()],
        &["def f(x):".to_owned(), "\n    return ".to_owned(), "return".to_owned()],
    )
    .expect("the tokens are fine")
}

pub(crate) fn learner(config: ModelConfig) -> Learner {
    Learner::initialize(config, tokenizer(), 7, LearnerOptions::default()).expect("the config is fine")
}

pub(crate) fn prompt(text: &str) -> Prompt {
    Prompt::new(Role::SOLVER, text)
}

pub(crate) fn sample(prompt: &[u32], response: &[u32], weight: f32) -> Sample {
    Sample::new(Arc::from(prompt), response.to_vec(), weight)
}

pub(crate) fn edit_tensors(dir: &Path, change: impl FnOnce(&mut HashMap<String, Tensor>)) {
    let path = dir.join("model.safetensors");
    let mut tensors = candle_core::safetensors::load(&path, &Device::Cpu).expect("reads");
    change(&mut tensors);
    candle_core::safetensors::save(&tensors, &path).expect("writes");
}
