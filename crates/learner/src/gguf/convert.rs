//! Converts a GGUF file into a model directory in Hugging Face layout, which a learner can train; or only describes it.
//!
//! The weights are those of the file, dequantised; the loss of precision remains. Config, tokenizer, end tokens and chat template come
//! from the metadata.

use std::path::Path;

use candle_core::{Device, Tensor};

use super::file::{GgufError, GgufFile, ROPE_FACTORS, gguf_name};
use super::model::split_rotary_pairs;
use super::{CHAT_TEMPLATE, end_tokens, find_tokenizer};
use crate::checkpoint::{MAX_SHARD_BYTES, SidecarFiles, TEMPLATE, write_small_files, write_weights};
use crate::config::{Architecture, Llama3Scaling, ModelConfig, RopeScaling, tensor_specs};
use crate::device::Precision;

/// Writes the model of a GGUF file to `dir` in Hugging Face layout, with weights in `precision`.
///
/// The tokenizer is the `tokenizer.json` next to the file, or else the one inside it; with neither, the model works by token ids.
pub fn convert_gguf(path: &Path, dir: &Path, precision: Precision) -> Result<(), GgufError> {
    let mut file = GgufFile::open(path)?;
    let config = model_config(&mut file)?;
    let template = file.has(CHAT_TEMPLATE).then(|| file.text(CHAT_TEMPLATE).map(str::to_owned)).transpose()?;
    let tokenizer = find_tokenizer(&mut file, None, config.vocab_size)?;
    let sidecar_files = SidecarFiles::empty(&dir.display().to_string());
    let sidecar_files =
        template.into_iter().fold(sidecar_files, |sidecar_files, text| sidecar_files.with(TEMPLATE, text));
    let specs = tensor_specs(&config);
    let tensors: Vec<Vec<f32>> =
        specs.iter().map(|spec| read_weights(&mut file, &config, &spec.name)).collect::<Result<_, _>>()?;
    let tensor = |index: usize| Tensor::new(tensors[index].as_slice(), &Device::Cpu);
    write_small_files(dir, &config, &tokenizer, &sidecar_files, precision)?;
    Ok(write_weights(dir, &specs, tensor, MAX_SHARD_BYTES, precision)?)
}

/// The shape of the model in a GGUF file.
#[derive(Debug, Clone, PartialEq)]
pub struct GgufDescription {
    /// As the `config.json` of the converted model has it.
    pub config: ModelConfig,
    /// Whether the file has a chat template.
    pub has_chat_template: bool,
}

/// Describes the model of a GGUF file. No matrix is read.
///
/// # Errors
/// A file that [`super::GgufPolicy::load`] refuses, but for its tokenizer, or a model that the learner cannot compute.
pub fn describe_gguf(path: &Path) -> Result<GgufDescription, GgufError> {
    let mut file = GgufFile::open(path)?;
    let config = model_config(&mut file)?;
    Ok(GgufDescription { config, has_chat_template: file.has(CHAT_TEMPLATE) })
}

/// The model's configuration, as its `config.json` would give it.
fn model_config(file: &mut GgufFile) -> Result<ModelConfig, GgufError> {
    let config = file.config()?;
    let token = |key: &str| Ok::<_, GgufError>(file.number_if_there(key)?.map(|id| id as u32));
    let config = ModelConfig {
        bos_token_id: token("tokenizer.ggml.bos_token_id")?,
        eos_token_id: end_tokens(file, config.vocab_size)?,
        pad_token_id: token("tokenizer.ggml.padding_token_id")?,
        rope_scaling: read_scaling(file, &config)?.map(RopeScaling::Llama3),
        ..config
    };
    config.validate().map_err(|error| file.invalid(error.to_string()))?;
    Ok(config)
}

/// The scaling of Llama 3.1 to 3.3, whose factor is in the file. A `config.json` has the numbers that the factors were computed from, and not the factors
/// themselves: those of another scaling have no place in it.
fn read_scaling(file: &mut GgufFile, plain: &ModelConfig) -> Result<Option<Llama3Scaling>, GgufError> {
    let Some(factors) = file.read_rope_factors()? else { return Ok(None) };
    let scaling = Llama3Scaling {
        factor: f64::from(factors.iter().copied().fold(1.0, f32::max)),
        low_freq_factor: 1.0,
        high_freq_factor: 4.0,
        original_max_position_embeddings: 8192,
    };
    let is_same = |(frequency, &factor): (f64, &f32)| {
        let scaled = scaling.frequency(frequency) * f64::from(factor);
        (scaled / frequency - 1.0).abs() < 1e-4
    };
    if !plain.rope_frequencies().into_iter().zip(&factors).all(is_same) {
        let problem =
            "its numbers are not those of Llama 3.1 to 3.3, which alone are converted: load the safetensors checkpoint";
        return Err(file.invalid_tensor(ROPE_FACTORS, &problem));
    }
    Ok(Some(scaling))
}

/// The weights under a name of Hugging Face's.
fn read_weights(file: &mut GgufFile, config: &ModelConfig, name: &str) -> Result<Vec<f32>, GgufError> {
    let weights = file.read_tensor(&gguf_name(name))?;
    let heads = match name {
        _ if config.model_type != Architecture::Llama => return Ok(weights),
        _ if name.ends_with("self_attn.q_proj.weight") => config.num_attention_heads,
        _ if name.ends_with("self_attn.k_proj.weight") => config.num_key_value_heads,
        _ => return Ok(weights),
    };
    Ok(split_rotary_pairs(&weights, heads, config.head_dim))
}
