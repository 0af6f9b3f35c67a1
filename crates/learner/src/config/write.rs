//! From a [`ModelConfig`] to a `config.json`, in the layout of transformers 4: version 5 reads it too, and so do other programs.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Architecture, Llama3Scaling, LongRope, ModelConfig, RopeScaling};

struct ConfigFile<'a> {
    config: &'a ModelConfig,
    torch_dtype: &'static str,
}

#[derive(Serialize)]
struct Llama3File<'a> {
    rope_type: &'static str,
    #[serde(flatten)]
    scaling: &'a Llama3Scaling,
}

/// Version 4 wants these keys and no other.
#[derive(Serialize)]
struct LongRopeFile<'a> {
    r#type: &'static str,
    short_factor: &'a [f64],
    long_factor: &'a [f64],
}

impl ModelConfig {
    /// The contents of `config.json` next to weights of this type, as torch names it.
    pub(crate) fn file(&self, torch_dtype: &'static str) -> impl Serialize {
        ConfigFile { config: self, torch_dtype }
    }
}

/// As next to weights in float32.
impl Serialize for ModelConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.file("float32").serialize(serializer)
    }
}

impl Serialize for ConfigFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { config: c, torch_dtype } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("architectures", &[c.model_type.class()])?;
        map.serialize_entry("model_type", &c.model_type)?;
        map.serialize_entry("vocab_size", &c.vocab_size)?;
        map.serialize_entry("hidden_size", &c.hidden_size)?;
        map.serialize_entry("num_hidden_layers", &c.num_hidden_layers)?;
        map.serialize_entry("num_attention_heads", &c.num_attention_heads)?;
        map.serialize_entry("num_key_value_heads", &c.num_key_value_heads)?;
        map.serialize_entry("head_dim", &c.head_dim)?;
        map.serialize_entry("intermediate_size", &c.intermediate_size)?;
        map.serialize_entry("rms_norm_eps", &c.rms_norm_eps)?;
        map.serialize_entry("rope_theta", &c.rope_theta)?;
        map.serialize_entry("tie_word_embeddings", &c.tie_word_embeddings)?;
        map.serialize_entry("max_position_embeddings", &c.max_position_embeddings)?;
        map.serialize_entry("bos_token_id", &c.bos_token_id)?;
        // One id alone, as most files have it, or a list.
        match &c.eos_token_id[..] {
            ids @ ([] | [_]) => map.serialize_entry("eos_token_id", &ids.first())?,
            ids => map.serialize_entry("eos_token_id", ids)?,
        }
        // Without the key these have their class's, which must be in the vocabulary.
        if c.pad_token_id.is_some() || matches!(c.model_type, Architecture::SmolLm3 | Architecture::Phi3) {
            map.serialize_entry("pad_token_id", &c.pad_token_id)?;
        }
        map.serialize_entry("hidden_act", "silu")?;
        // Others have no such key: Qwen2's biases are part of the architecture, and Mistral has none.
        if matches!(c.model_type, Architecture::Qwen3 | Architecture::Llama | Architecture::SmolLm3) {
            map.serialize_entry("attention_bias", &false)?;
        }
        map.serialize_entry("attention_dropout", &0.0)?;
        map.serialize_entry("initializer_range", &c.initializer_range)?;
        match &c.rope_scaling {
            None => map.serialize_entry("rope_scaling", &None::<()>)?,
            Some(RopeScaling::Llama3(scaling)) => {
                map.serialize_entry("rope_scaling", &Llama3File { rope_type: "llama3", scaling })?;
            }
            Some(RopeScaling::LongRope(scaling)) => {
                let LongRope { short_factor, long_factor, original_max_position_embeddings } = scaling;
                let table = LongRopeFile { r#type: "longrope", short_factor, long_factor };
                map.serialize_entry("rope_scaling", &table)?;
                map.serialize_entry("original_max_position_embeddings", original_max_position_embeddings)?;
            }
        }
        match c.model_type {
            Architecture::Qwen2 | Architecture::Qwen3 => map.serialize_entry("use_sliding_window", &false)?,
            Architecture::SmolLm3 => {
                let rotates = |layer| u8::from(c.no_rope_layers.get(layer) != Some(&0));
                map.serialize_entry("no_rope_layers", &(0..c.num_hidden_layers).map(rotates).collect::<Vec<u8>>())?;
                map.serialize_entry("use_sliding_window", &false)?;
            }
            // Without the key its class has one.
            Architecture::Mistral => map.serialize_entry("sliding_window", &None::<usize>)?,
            Architecture::Phi3 => {
                map.serialize_entry("partial_rotary_factor", &c.partial_rotary_factor)?;
                map.serialize_entry("sliding_window", &None::<usize>)?;
            }
            Architecture::Llama => {}
        }
        map.serialize_entry("torch_dtype", torch_dtype)?;
        map.end()
    }
}
