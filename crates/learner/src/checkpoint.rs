//! Checkpoints in Hugging Face layout, and the trainer state next to them: files in and out, without a model in memory.
//!
//! A model directory holds `config.json`, `generation_config.json`, the weights (one `model.safetensors` or shards, with an index),
//! `tokenizer.json`, `tokenizer_config.json` and perhaps chat templates, as `transformers`, vLLM and SGLang read them; the folder
//! `optimizer` is ours. Weights may be f32, bf16 or f16. The small files are saved as they were read. A directory of adapters has
//! `adapter_config.json`, which names their base, and `adapter_model.safetensors` in place of the weights.
//! Every file is written under another name, synced and renamed, so a killed process leaves whole files only.

mod files;
mod sidecar_files;
mod tensor_file;
mod training;
mod weight_files;

use std::path::Path;

use serde_json::Value;

pub use files::CheckpointError;
pub(crate) use sidecar_files::{SPECIAL_TOKENS, SidecarFiles, TEMPLATE, TOKENIZER_CONFIG};
pub(crate) use training::{TrainerState, read_adapters, read_trainer_state, write_adapters, write_trainer_state};
pub(crate) use weight_files::{TakeTensor, WEIGHTS, encode_weights, read_weights, write_weights};

use crate::config::{ModelConfig, TensorSpec};
use crate::device::Precision;
use crate::lora::AdapterCheckpoint;
use crate::tokenizer::Tokenizer;
use files::{make_dir, read_text, read_text_if_there, to_pretty_json, write_file};
use sidecar_files::GENERATION;
use training::{describe_adapters, has_adapters};
use weight_files::{decode_weights, has_weights};

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";
/// Largest weight file that is written, as in transformers 4.
pub(crate) const MAX_SHARD_BYTES: usize = 5_000_000_000;
/// How errors name a model that is part of the program.
const BUILT_IN: &str = "(built-in)";

/// The files of a model besides its weights, from a directory or from the program itself.
pub(crate) struct ModelFiles {
    /// How errors name the directory.
    pub(crate) origin: String,
    pub(crate) config: ModelConfig,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) sidecar_files: SidecarFiles,
}

impl ModelFiles {
    /// Reads the small files of a model directory. `tokenizer.json` may be missing unless it is needed.
    pub(crate) fn read(dir: &Path, needs_tokenizer: bool) -> Result<Self, CheckpointError> {
        let config = read_text(&dir.join(CONFIG))?;
        let tokenizer = dir.join(TOKENIZER);
        let tokenizer = if needs_tokenizer { Some(read_text(&tokenizer)?) } else { read_text_if_there(&tokenizer)? };
        Self::new(&dir.display().to_string(), &config, tokenizer.as_deref(), SidecarFiles::read(dir)?)
    }

    /// Parses the files of a model that is part of the program.
    pub(crate) fn built_in(config: &str, tokenizer: &str) -> Result<Self, CheckpointError> {
        Self::new(BUILT_IN, config, Some(tokenizer), SidecarFiles::empty(BUILT_IN))
    }

    fn new(
        origin: &str,
        config: &str,
        tokenizer: Option<&str>,
        sidecar_files: SidecarFiles,
    ) -> Result<Self, CheckpointError> {
        let config = ModelConfig::parse(config).map_err(|error| CheckpointError::invalid(origin, error))?;
        let tokenizer = tokenizer.map_or_else(|| Ok(Tokenizer::missing()), Tokenizer::from_json);
        let tokenizer = tokenizer.map_err(|error| CheckpointError::invalid(origin, error))?;
        Ok(Self { origin: origin.to_owned(), config, tokenizer, sidecar_files })
    }
}

/// As [`read_weights`], from the bytes of a `model.safetensors` that is part of the program.
pub(crate) fn read_built_in_weights(
    safetensors: &[u8],
    specs: &[TensorSpec],
    take: &mut TakeTensor<'_>,
) -> Result<String, CheckpointError> {
    decode_weights(format!("{BUILT_IN}/{WEIGHTS}"), safetensors, specs, take)
}

/// The adapters of a directory that has no weights of its own, and their base; `None` for any other directory.
///
/// # Errors
/// Adapters that this learner cannot use; the error names the file and the key.
pub fn find_adapters(dir: &Path) -> Result<Option<AdapterCheckpoint>, CheckpointError> {
    if has_adapters(dir) && !has_weights(dir) { describe_adapters(dir).map(Some) } else { Ok(None) }
}

/// Writes everything of a model directory but its weights; the directory is made when missing.
pub(crate) fn write_small_files(
    dir: &Path,
    config: &ModelConfig,
    tokenizer: &Tokenizer,
    sidecar_files: &SidecarFiles,
    precision: Precision,
) -> Result<(), CheckpointError> {
    make_dir(dir)?;
    write_file(&dir.join(CONFIG), to_pretty_json(&config.file(precision.torch_dtype())).as_bytes())?;
    sidecar_files.write(dir)?;
    if sidecar_files.text(GENERATION).is_none() {
        write_file(&dir.join(GENERATION), to_pretty_json(&generation_config(config)).as_bytes())?;
    }
    if !tokenizer.is_present() {
        return Ok(());
    }
    let invalid = |error| CheckpointError::invalid(&dir.display().to_string(), error);
    let json = tokenizer.to_json().map_err(invalid)?;
    write_file(&dir.join(TOKENIZER), json.as_bytes())?;
    match sidecar_files.text(TOKENIZER_CONFIG) {
        Some(_) => Ok(()),
        None => {
            write_file(&dir.join(TOKENIZER_CONFIG), to_pretty_json(&tokenizer_config(config, tokenizer)).as_bytes())
        }
    }
}

/// The `generation_config.json` of a checkpoint that came without one.
fn generation_config(config: &ModelConfig) -> Value {
    let ends = &config.eos_token_id;
    let end = if ends.len() > 1 { Value::from(ends.as_slice()) } else { Value::from(ends.first().copied()) };
    let pad = config.pad_token_id.or(ends.first().copied());
    let mut file =
        serde_json::json!({ "do_sample": true, "eos_token_id": end, "pad_token_id": pad, "temperature": 1.0 });
    if let Some(begin) = config.bos_token_id {
        file["bos_token_id"] = Value::from(begin);
    }
    file
}

/// The `tokenizer_config.json` of a tokenizer that came without one.
fn tokenizer_config(config: &ModelConfig, tokenizer: &Tokenizer) -> Value {
    let end = config.eos_token_id.first().and_then(|&id| tokenizer.token(id));
    let mut file = serde_json::json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": false,
        "model_max_length": config.max_position_embeddings,
        "eos_token": end,
        "pad_token": end,
    });
    if let Some(begin) = config.bos_token_id.and_then(|id| tokenizer.token(id)) {
        file["bos_token"] = Value::from(begin);
    }
    file
}
