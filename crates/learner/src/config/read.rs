//! From a `config.json` to a [`ModelConfig`]: the layouts of transformers 4 and 5, and the options that are rejected.
//!
//! Absent keys have the defaults of the class in transformers. Keys that do not change the computation are not looked at.

use serde_json::{Map, Value};

use super::{Architecture, ConfigError, Llama3Scaling, LongRope, MAX_LAYERS, ModelConfig, RopeScaling, check};

/// The keys that are looked at.
const KEYS: [&str; 36] = [
    "architectures", "attention_bias", "attention_dropout", "bos_token_id", "dtype", "embd_pdrop", "eos_token_id",
    "head_dim", "hidden_act", "hidden_size", "initializer_range", "intermediate_size", "layer_types",
    "max_position_embeddings", "max_window_layers", "mlp_bias", "model_type", "no_rope_layer_interval",
    "no_rope_layers", "num_attention_heads", "num_hidden_layers", "num_key_value_heads", ORIGINAL_CONTEXT,
    "pad_token_id", "partial_rotary_factor", "quantization_config", "resid_pdrop", "rms_norm_eps", ROPE_TABLES[0],
    ROPE_TABLES[1], "rope_theta", "sliding_window", "tie_word_embeddings", "torch_dtype", "use_sliding_window",
    "vocab_size",
];
/// The tables of rotary positions.
const ROPE_TABLES: [&str; 2] = ["rope_parameters", "rope_scaling"];
/// Their keys that are looked at.
const ROPE_KEYS: [&str; 11] = [
    "attention_factor", "factor", "high_freq_factor", "long_factor", "low_freq_factor", ORIGINAL_CONTEXT,
    "partial_rotary_factor", "rope_theta", "rope_type", "short_factor", "type",
];
/// Of a table, or of a Phi-3's file itself.
const ORIGINAL_CONTEXT: &str = "original_max_position_embeddings";

impl ModelConfig {
    /// The first key of a `config.json` that reading it ignores, such as a misspelt one.
    pub fn ignored_key(value: &Value) -> Option<String> {
        if let Some(key) = unknown_key(value, &KEYS) {
            return Some(key.to_owned());
        }
        ROPE_TABLES.into_iter().find_map(|table| {
            let key = unknown_key(value.get(table)?, &ROPE_KEYS)?;
            Some(format!("{table}.{key}"))
        })
    }
}

fn unknown_key<'a>(object: &'a Value, known: &[&str]) -> Option<&'a str> {
    object.as_object()?.keys().map(String::as_str).find(|key| !known.contains(key))
}

pub(super) fn read_config(value: &Value) -> Result<ModelConfig, ConfigError> {
    let keys = ConfigKeys::from_value(value)?;
    let model_type = read_architecture(&keys)?;
    reject_unsupported(&keys, model_type)?;
    let of_class = ClassDefaults::new(model_type);
    let Rope { theta, scaling, share } = read_rope(&keys, model_type)?;
    let num_attention_heads = keys.required_size("num_attention_heads")?;
    let hidden_size = keys.required_size("hidden_size")?;
    Ok(ModelConfig {
        model_type,
        vocab_size: keys.required_size("vocab_size")?,
        hidden_size,
        num_hidden_layers: keys.required_size("num_hidden_layers")?,
        num_attention_heads,
        num_key_value_heads: match keys.size("num_key_value_heads")? {
            Some(given) => given,
            None => of_class.kv_heads.unwrap_or(num_attention_heads),
        },
        head_dim: read_head_dim(&keys, &of_class, hidden_size, num_attention_heads)?,
        intermediate_size: keys.required_size("intermediate_size")?,
        rms_norm_eps: keys.number("rms_norm_eps")?.unwrap_or(of_class.eps),
        rope_theta: theta.unwrap_or(of_class.theta),
        rope_scaling: scaling,
        partial_rotary_factor: share,
        no_rope_layers: read_no_rope_layers(&keys, model_type)?,
        tie_word_embeddings: keys.flag_or("tie_word_embeddings", of_class.tied)?,
        max_position_embeddings: keys.required_size("max_position_embeddings")?,
        bos_token_id: keys.token("bos_token_id")?,
        eos_token_id: keys.tokens("eos_token_id")?,
        pad_token_id: keys.token("pad_token_id")?,
        initializer_range: keys.number("initializer_range")?.unwrap_or(0.02),
    })
}

/// What a file that lacks a key means: the values of the class in transformers.
struct ClassDefaults {
    /// `None`: as many as query heads.
    kv_heads: Option<usize>,
    /// `None`: the width of the stream, shared by the query heads.
    head_dim: Option<usize>,
    eps: f64,
    theta: f64,
    tied: bool,
}

impl ClassDefaults {
    const fn new(model_type: Architecture) -> Self {
        let plain = Self { kv_heads: None, head_dim: None, eps: 1e-6, theta: 1e4, tied: false };
        match model_type {
            Architecture::Qwen2 | Architecture::Llama => plain,
            Architecture::Qwen3 => Self { head_dim: Some(128), ..plain },
            Architecture::Mistral => Self { kv_heads: Some(8), ..plain },
            Architecture::SmolLm3 => Self { kv_heads: Some(4), theta: 2e6, tied: true, ..plain },
            Architecture::Phi3 => Self { eps: 1e-5, ..plain },
        }
    }
}

fn read_architecture(keys: &ConfigKeys<'_>) -> Result<Architecture, ConfigError> {
    let name = keys.text("model_type")?.ok_or_else(|| ConfigError::Missing("model_type".to_owned()))?;
    let known = Architecture::ALL.into_iter().find(|architecture| architecture.name() == name);
    let known = known.ok_or_else(|| ConfigError::ModelType(name.to_owned()))?;
    let want = format!("only `{}` of this model_type is supported: save the model as one", known.class());
    let fine = |v: &Value| v.as_array().is_some_and(|a| a.is_empty() || a.iter().any(|c| c == known.class()));
    keys.reject_unless("architectures", &want, fine)?;
    Ok(known)
}

/// What a file of another `model_type` is told: the models that are supported, and the nearest of them.
pub(super) fn supported_models(model_type: &str) -> String {
    let names = Architecture::ALL.map(|architecture| format!("`{}`", architecture.name())).join(", ");
    let hint = match model_type {
        "mixtral" | "qwen2_moe" | "qwen3_moe" | "phimoe" | "gpt_oss" | "deepseek_v3" => {
            "there are no mixtures of experts, use a dense model"
        }
        "qwen2_vl" | "qwen2_5_vl" | "qwen3_vl" | "mistral3" | "mllama" => {
            "there is no vision, use a model of text alone"
        }
        _ => "`eval` and `generate` can use any model behind a server, see `openai:URL#MODEL`",
    };
    format!("want {names}; hint: {hint}")
}

/// A SmolLM3 rotates nothing in every fourth layer, or in those whose entry of `no_rope_layers` is 0.
fn read_no_rope_layers(keys: &ConfigKeys<'_>, model_type: Architecture) -> Result<Vec<u8>, ConfigError> {
    if model_type != Architecture::SmolLm3 {
        return Ok(Vec::new());
    }
    let layers = keys.required_size("num_hidden_layers")?;
    check("num_hidden_layers", layers, layers <= MAX_LAYERS, || format!("want 1 to {MAX_LAYERS}"))?;
    let interval = keys.size("no_rope_layer_interval")?.unwrap_or(4);
    check("no_rope_layer_interval", interval, interval > 0, || "want at least 1".to_owned())?;
    let want = format!("want 0 or 1 for each of {layers} layers");
    let flag = |v: &Value| v.as_u64().filter(|&flag| flag <= 1).map(|flag| flag as u8);
    let flags = |v: &Value| v.as_array()?.get(..layers)?.iter().map(flag).collect::<Option<Vec<u8>>>();
    let every = || (1..=layers).map(|number| u8::from(!number.is_multiple_of(interval))).collect();
    Ok(keys.optional("no_rope_layers", &want, flags)?.unwrap_or_else(every))
}

fn read_head_dim(
    keys: &ConfigKeys<'_>,
    of_class: &ClassDefaults,
    hidden: usize,
    heads: usize,
) -> Result<usize, ConfigError> {
    if let Some(given) = keys.size("head_dim")?.or(of_class.head_dim) {
        return Ok(given);
    }
    hidden.checked_div(heads).filter(|_| hidden.is_multiple_of(heads)).ok_or_else(|| {
        let want = format!("want a divisor of hidden_size = {hidden}, or an explicit head_dim");
        ConfigError::Value { key: "num_attention_heads".to_owned(), value: heads.to_string(), want }
    })
}

/// Refuses options that this learner does not compute.
fn reject_unsupported(keys: &ConfigKeys<'_>, model_type: Architecture) -> Result<(), ConfigError> {
    keys.reject_unless("hidden_act", "only `silu` is supported: use another checkpoint", |v| v == "silu")?;
    let convert = "biases here are not supported: use a checkpoint without them";
    // Qwen2's biases are part of the architecture; its code reads no such key.
    if model_type != Architecture::Qwen2 {
        keys.reject_unless("attention_bias", convert, |v| v == false)?;
    }
    keys.reject_unless("mlp_bias", convert, |v| v == false)?;
    keys.reject_unless("attention_dropout", NO_DROPOUT, |v| v.as_f64() == Some(0.0))?;
    keys.reject_unless(
        "quantization_config",
        "quantised weights cannot be trained: dequantise the checkpoint",
        |_| false,
    )?;
    for key in ["torch_dtype", "dtype"] {
        let known = |v: &Value| v.as_str().is_some_and(|t| matches!(t, "float32" | "bfloat16" | "float16"));
        keys.reject_unless(key, "want `float32`, `bfloat16` or `float16`: convert the checkpoint", known)?;
    }
    match model_type {
        Architecture::Mistral => reject_mistral_window(keys),
        Architecture::SmolLm3 => reject_smollm3_window(keys),
        Architecture::Phi3 => reject_phi3_options(keys),
        Architecture::Qwen2 | Architecture::Qwen3 | Architecture::Llama => reject_sliding_windows(keys),
    }
}

/// Refuses a window that is shorter than the context. All layers of a Mistral have it, and a file that does not say has the class's.
fn reject_mistral_window(keys: &ConfigKeys<'_>) -> Result<(), ConfigError> {
    let context = keys.required_size("max_position_embeddings")?;
    let of_class = (!keys.has("sliding_window")).then_some(4096);
    match keys.size("sliding_window")?.or(of_class) {
        Some(window) if window < context => {
            let want = format!("{SLIDING}, or set it to null for contexts up to the window");
            Err(keys.invalid_value("sliding_window", &Value::from(window), &want))
        }
        _ => Ok(()),
    }
}

/// Refuses a window that is shorter than the context. The layers that rotate nothing have it, where it is switched on.
fn reject_smollm3_window(keys: &ConfigKeys<'_>) -> Result<(), ConfigError> {
    keys.reject_unless("layer_types", SLIDING, all_full)?;
    if !keys.flag("use_sliding_window")? {
        return Ok(());
    }
    let context = keys.required_size("max_position_embeddings")? as u64;
    keys.reject_unless("sliding_window", SLIDING, |v| v.as_u64().is_some_and(|window| window >= context))
}

/// Refuses dropout, and a window that is shorter than the context, which that of a LongRoPE is not the file's.
fn reject_phi3_options(keys: &ConfigKeys<'_>) -> Result<(), ConfigError> {
    for key in ["embd_pdrop", "resid_pdrop"] {
        keys.reject_unless(key, NO_DROPOUT, |v| v.as_f64() == Some(0.0))?;
    }
    let context = keys.required_size("max_position_embeddings")?;
    let context = match read_rope(keys, Architecture::Phi3)?.scaling {
        Some(RopeScaling::LongRope(scaling)) => scaling.original_max_position_embeddings.min(context),
        _ => context,
    };
    let want = format!("{SLIDING}, or lower max_position_embeddings to the window");
    keys.reject_unless("sliding_window", &want, |v| v.as_u64().is_some_and(|window| window >= context as u64))
}

const NO_DROPOUT: &str = "want 0: this learner has no dropout";

fn all_full(layer_types: &Value) -> bool {
    layer_types.as_array().is_some_and(|types| types.iter().all(|t| t == "full_attention"))
}

const SLIDING: &str = "sliding windows are not supported: use a checkpoint with full attention in every layer";

/// Refuses a sliding window that some layer uses and that is shorter than the context. Qwen files carry the keys switched off.
fn reject_sliding_windows(keys: &ConfigKeys<'_>) -> Result<(), ConfigError> {
    if keys.get("layer_types").is_some() {
        return keys.reject_unless("layer_types", SLIDING, all_full);
    }
    if !keys.flag("use_sliding_window")? {
        return Ok(());
    }
    let first = keys.size("max_window_layers")?.unwrap_or(28);
    let context = keys.required_size("max_position_embeddings")?;
    let some_layer = first < keys.required_size("num_hidden_layers")?;
    if !keys.has("sliding_window") {
        return keys.reject_unless("use_sliding_window", SLIDING, |_| !some_layer);
    }
    keys.reject_unless("sliding_window", SLIDING, |v| !some_layer || v.as_u64().is_some_and(|w| w >= context as u64))
}

/// The keys of an object. `path` goes before a key's name in errors, such as `rope_parameters.`.
#[derive(Debug, Clone, Copy)]
struct ConfigKeys<'a> {
    map: &'a Map<String, Value>,
    path: &'static str,
}

impl<'a> ConfigKeys<'a> {
    fn from_value(value: &'a Value) -> Result<Self, ConfigError> {
        let map = value.as_object().ok_or_else(|| ConfigError::Parse("it is not a JSON object".to_owned()))?;
        Ok(Self { map, path: "" })
    }

    /// The object under `key`, whose keys go by `path` in errors. `None` when the key is absent or null.
    fn object(&self, key: &str, path: &'static str) -> Result<Option<ConfigKeys<'a>>, ConfigError> {
        let object = |value: &'a Value| value.as_object().map(|map| ConfigKeys { map, path });
        self.optional(key, "want an object", object)
    }

    /// The value under `key`; null is absent.
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Whether the key is there, be it null.
    fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// The value under `key`, as `read` has it.
    fn optional<T>(
        &self,
        key: &str,
        want: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        self.get(key).map(|value| read(value).ok_or_else(|| self.invalid_value(key, value, want))).transpose()
    }

    fn size(&self, key: &str) -> Result<Option<usize>, ConfigError> {
        self.optional(key, "want a whole number", |v| v.as_u64().and_then(|n| usize::try_from(n).ok()))
    }

    fn required_size(&self, key: &str) -> Result<usize, ConfigError> {
        self.size(key)?.ok_or_else(|| self.missing(key))
    }

    fn number(&self, key: &str) -> Result<Option<f64>, ConfigError> {
        self.optional(key, "want a number", Value::as_f64)
    }

    fn required_number(&self, key: &str) -> Result<f64, ConfigError> {
        self.number(key)?.ok_or_else(|| self.missing(key))
    }

    fn required_numbers(&self, key: &str) -> Result<Vec<f64>, ConfigError> {
        let numbers = |v: &Value| v.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>();
        self.optional(key, "want a list of numbers", numbers)?.ok_or_else(|| self.missing(key))
    }

    /// A flag; absent is false.
    fn flag(&self, key: &str) -> Result<bool, ConfigError> {
        self.flag_or(key, false)
    }

    fn flag_or(&self, key: &str, absent: bool) -> Result<bool, ConfigError> {
        Ok(self.optional(key, "want true or false", Value::as_bool)?.unwrap_or(absent))
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, ConfigError> {
        self.optional(key, "want a string", Value::as_str)
    }

    /// One token id, if there is one. Some files say −1 for none.
    fn token(&self, key: &str) -> Result<Option<u32>, ConfigError> {
        let read = |v: &Value| if v.as_i64() == Some(-1) { Some(None) } else { token(v).map(Some) };
        Ok(self.optional(key, "want a token id", read)?.flatten())
    }

    /// One token id, or a list of them, or none.
    fn tokens(&self, key: &str) -> Result<Vec<u32>, ConfigError> {
        let read = |v: &Value| match v {
            Value::Array(list) => list.iter().map(token).collect(),
            one => Some(vec![token(one)?]),
        };
        Ok(self.optional(key, "want a token id or a list of them", read)?.unwrap_or_default())
    }

    /// The error for a value that cannot be used.
    fn invalid_value(&self, key: &str, value: &Value, want: &str) -> ConfigError {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        ConfigError::Value { key: format!("{}{key}", self.path), value, want: want.to_owned() }
    }

    /// Fails with [`ConfigKeys::invalid_value`] when the key is there and `fine` says no.
    fn reject_unless(&self, key: &str, want: &str, fine: impl FnOnce(&Value) -> bool) -> Result<(), ConfigError> {
        match self.get(key) {
            Some(value) if !fine(value) => Err(self.invalid_value(key, value, want)),
            _ => Ok(()),
        }
    }

    /// The error for a key that must be there.
    fn missing(&self, key: &str) -> ConfigError {
        ConfigError::Missing(format!("{}{key}", self.path))
    }
}

fn token(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|id| u32::try_from(id).ok())
}

/// The end tokens that a `generation_config.json` names: one, several or none.
pub(crate) fn end_tokens(generation_config: &Value) -> Result<Vec<u32>, ConfigError> {
    ConfigKeys::from_value(generation_config)?.tokens("eos_token_id")
}

struct Rope {
    theta: Option<f64>,
    scaling: Option<RopeScaling>,
    /// Of the numbers of a head, those that are rotated.
    share: f64,
}

fn read_rope(keys: &ConfigKeys<'_>, model_type: Architecture) -> Result<Rope, ConfigError> {
    let new = keys.object("rope_parameters", "rope_parameters.")?;
    let inside = new.or(keys.object("rope_scaling", "rope_scaling.")?);
    let share = number_of_either(inside, keys, "partial_rotary_factor")?.unwrap_or(1.0);
    if model_type != Architecture::Phi3 {
        reject_partial_rotation(keys)?;
        inside.iter().try_for_each(reject_partial_rotation)?;
    }
    let scaling = inside.map(|table| read_scaling(keys, table, model_type)).transpose()?.flatten();
    Ok(Rope { theta: number_of_either(inside, keys, "rope_theta")?, scaling, share })
}

/// A number in the table of rotary positions, where version 5 has it, or else beside it.
fn number_of_either(
    table: Option<ConfigKeys<'_>>,
    file: &ConfigKeys<'_>,
    key: &str,
) -> Result<Option<f64>, ConfigError> {
    let inside = table.map(|table| table.number(key)).transpose()?.flatten();
    inside.map_or_else(|| file.number(key), |number| Ok(Some(number)))
}

/// The scaling that a table of rotary positions describes; `file` has the keys beside it.
fn read_scaling(
    file: &ConfigKeys<'_>,
    keys: ConfigKeys<'_>,
    model_type: Architecture,
) -> Result<Option<RopeScaling>, ConfigError> {
    let key = if keys.get("rope_type").is_some() { "rope_type" } else { "type" };
    match keys.text(key)? {
        None | Some("default") => Ok(None),
        Some("llama3") if model_type != Architecture::Phi3 => Ok(Some(RopeScaling::Llama3(Llama3Scaling {
            factor: keys.required_number("factor")?,
            low_freq_factor: keys.required_number("low_freq_factor")?,
            high_freq_factor: keys.required_number("high_freq_factor")?,
            original_max_position_embeddings: keys.required_size(ORIGINAL_CONTEXT)?,
        }))),
        // By its older names, too.
        Some("longrope" | "su") if model_type == Architecture::Phi3 => read_long_rope(file, keys).map(Some),
        Some(other) => Err(keys.invalid_value(
            key,
            &Value::from(other),
            "only `default`, `llama3`, and of a `phi3` `longrope`, are supported: remove it for short contexts",
        )),
    }
}

fn read_long_rope(file: &ConfigKeys<'_>, keys: ConfigKeys<'_>) -> Result<RopeScaling, ConfigError> {
    for key in ["attention_factor", "factor"] {
        keys.reject_unless(key, "want none: it follows from the two contexts", |_| false)?;
    }
    let original = match keys.size(ORIGINAL_CONTEXT)? {
        Some(length) => length,
        None => file.required_size(ORIGINAL_CONTEXT)?,
    };
    Ok(RopeScaling::LongRope(LongRope {
        short_factor: keys.required_numbers("short_factor")?,
        long_factor: keys.required_numbers("long_factor")?,
        original_max_position_embeddings: original,
    }))
}

fn reject_partial_rotation(keys: &ConfigKeys<'_>) -> Result<(), ConfigError> {
    let want = "want 1: heads are rotated in part in a `phi3` alone";
    keys.reject_unless("partial_rotary_factor", want, |v| v.as_f64() == Some(1.0))
}
