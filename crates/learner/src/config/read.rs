//! From a `config.json` to a [`ModelConfig`]: the layouts of transformers 4 and 5, and what is refused.
//!
//! Absent keys have the defaults of the class in transformers. Keys that do not change the computation are not looked at.

use serde_json::Value;

use super::keys::Keys;
use super::rope::{Rope, read_rope};
use super::{Architecture, ConfigError, ModelConfig};

pub(super) fn read(value: &Value) -> Result<ModelConfig, ConfigError> {
    let keys = Keys::of(value)?;
    let model_type = architecture(&keys)?;
    refuse(&keys, model_type)?;
    let Rope { theta, scaling } = read_rope(&keys)?;
    let num_attention_heads = keys.required_size("num_attention_heads")?;
    let hidden_size = keys.required_size("hidden_size")?;
    Ok(ModelConfig {
        model_type,
        vocab_size: keys.required_size("vocab_size")?,
        hidden_size,
        num_hidden_layers: keys.required_size("num_hidden_layers")?,
        num_attention_heads,
        num_key_value_heads: keys.size("num_key_value_heads")?.unwrap_or(num_attention_heads),
        head_dim: head_dim(&keys, model_type, hidden_size, num_attention_heads)?,
        intermediate_size: keys.required_size("intermediate_size")?,
        rms_norm_eps: keys.number("rms_norm_eps")?.unwrap_or(1e-6),
        rope_theta: theta,
        rope_scaling: scaling,
        tie_word_embeddings: keys.flag("tie_word_embeddings")?,
        max_position_embeddings: keys.required_size("max_position_embeddings")?,
        bos_token_id: keys.token("bos_token_id")?,
        eos_token_id: keys.tokens("eos_token_id")?,
        pad_token_id: keys.token("pad_token_id")?,
        initializer_range: keys.number("initializer_range")?.unwrap_or(0.02),
    })
}

fn architecture(keys: &Keys<'_>) -> Result<Architecture, ConfigError> {
    let name = keys.text("model_type")?.ok_or_else(|| ConfigError::Missing("model_type".to_owned()))?;
    let known = Architecture::ALL.into_iter().find(|architecture| architecture.name() == name);
    let known = known.ok_or_else(|| ConfigError::ModelType(name.to_owned()))?;
    let want = format!("only `{}` of this model_type is supported: save the model as one", known.class());
    let fine = |v: &Value| v.as_array().is_some_and(|a| a.is_empty() || a.iter().any(|c| c == known.class()));
    keys.refuse_unless("architectures", &want, fine)?;
    Ok(known)
}

fn head_dim(keys: &Keys<'_>, model_type: Architecture, hidden: usize, heads: usize) -> Result<usize, ConfigError> {
    if let Some(given) = keys.size("head_dim")?.or(model_type.default_head_dim()) {
        return Ok(given);
    }
    hidden.checked_div(heads).filter(|_| hidden.is_multiple_of(heads)).ok_or_else(|| {
        let want = format!("want a divisor of hidden_size = {hidden}, or an explicit head_dim");
        ConfigError::Value { key: "num_attention_heads".to_owned(), value: heads.to_string(), want }
    })
}

/// Refuses options that this learner does not compute.
fn refuse(keys: &Keys<'_>, model_type: Architecture) -> Result<(), ConfigError> {
    keys.refuse_unless("hidden_act", "only `silu` is supported: use another checkpoint", |v| v == "silu")?;
    let convert = "biases here are not supported: use a checkpoint without them";
    // Qwen2's biases are part of the architecture; its code reads no such key.
    if model_type != Architecture::Qwen2 {
        keys.refuse_unless("attention_bias", convert, |v| v == false)?;
    }
    keys.refuse_unless("mlp_bias", convert, |v| v == false)?;
    keys.refuse_unless("attention_dropout", "want 0: this learner has no dropout", |v| v.as_f64() == Some(0.0))?;
    keys.refuse_unless(
        "quantization_config",
        "quantised weights cannot be trained: dequantise the checkpoint",
        |_| false,
    )?;
    for key in ["torch_dtype", "dtype"] {
        let known = |v: &Value| v.as_str().is_some_and(|t| matches!(t, "float32" | "bfloat16" | "float16"));
        keys.refuse_unless(key, "want `float32`, `bfloat16` or `float16`: convert the checkpoint", known)?;
    }
    refuse_windows(keys)
}

/// Refuses a sliding window that some layer uses and that is shorter than the context. Qwen files carry the keys switched off.
fn refuse_windows(keys: &Keys<'_>) -> Result<(), ConfigError> {
    const WANT: &str = "sliding windows are not supported: use a checkpoint with full attention in every layer";
    let full = |v: &Value| v.as_array().is_some_and(|types| types.iter().all(|t| t == "full_attention"));
    if keys.get("layer_types").is_some() {
        return keys.refuse_unless("layer_types", WANT, full);
    }
    if !keys.flag("use_sliding_window")? {
        return Ok(());
    }
    let first = keys.size("max_window_layers")?.unwrap_or(28);
    let context = keys.required_size("max_position_embeddings")?;
    let some_layer = first < keys.required_size("num_hidden_layers")?;
    if !keys.has("sliding_window") {
        return keys.refuse_unless("use_sliding_window", WANT, |_| !some_layer);
    }
    keys.refuse_unless("sliding_window", WANT, |v| !some_layer || v.as_u64().is_some_and(|w| w >= context as u64))
}
