//! Checkpoints in Hugging Face layout, and the trainer state beside them.
//!
//! A model directory holds `config.json`, `generation_config.json`, the weights (one `model.safetensors` or shards with an index),
//! `tokenizer.json`, `tokenizer_config.json` and perhaps chat templates, as `transformers` reads and writes them;
//! `optimizer.safetensors` and `trainer_state.json` are ours. Weights may be f32, bf16 or f16 and become f32; they are saved as
//! f32. The small files are saved as they were read.
//! Every file is written beside its name, synced and renamed, so a killed process leaves whole files only.

mod adapters;
mod companions;
mod error;
mod files;
mod tensor_file;
mod trainer;
mod weights;

pub(crate) use companions::{Companions, SPECIAL_TOKENS, TEMPLATE, TOKENIZER_CONFIG};
pub use error::CheckpointError;

use std::path::Path;

use candle_core::{Device, Tensor};
use serde::Serialize;
use serde_json::Value;

use crate::config::ModelConfig;
use crate::learner::Learner;
use crate::model::Mode;
use crate::model::names::{TensorSpec, tensor_specs};
use crate::ops::slices::Slice;
use crate::options::LearnerOptions;
use crate::tokenizer::Tokenizer;
use companions::GENERATION;
use files::{make_dir, read_text, read_text_if_there, write};
pub use tensor_file::Precision;
use tensor_file::{Entry, TensorFile, write_tensors};
use weights::{WEIGHTS, read_weights, wanted, write_weights};

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";
/// Largest weight file that [`Learner::save`] writes, as in transformers 4.
const MAX_SHARD_BYTES: usize = 5_000_000_000;

/// What a directory or the program itself gives for a learner, besides weights.
struct Parts {
    place: String,
    config: ModelConfig,
    tokenizer: Tokenizer,
    companions: Companions,
}

impl Parts {
    fn new(
        place: &str,
        config: &str,
        tokenizer: Option<&str>,
        companions: Companions,
    ) -> Result<Self, CheckpointError> {
        let place = place.to_owned();
        let config =
            ModelConfig::parse(config).map_err(|source| CheckpointError::Config { place: place.clone(), source })?;
        let tokenizer = tokenizer.map_or_else(|| Ok(Tokenizer::none()), Tokenizer::from_json);
        let tokenizer = tokenizer.map_err(|source| CheckpointError::Tokenizer { place: place.clone(), source })?;
        Ok(Self { place, config, tokenizer, companions })
    }

    fn learner(self, weights: Vec<Vec<f32>>, options: LearnerOptions) -> Result<Learner, CheckpointError> {
        let Self { place, config, tokenizer, companions } = self;
        let end_tokens = companions.end_tokens()?;
        let learner = Learner::assemble(config, tokenizer, weights, options)
            .map_err(|source| CheckpointError::Config { place, source })?;
        Ok(learner.with_companions(companions, end_tokens))
    }
}

impl Learner {
    /// Loads a model directory. The optimizer starts fresh; see [`Learner::load_trainer_state`].
    ///
    /// # Errors
    /// A file that is missing or broken, or that contradicts the others; the error names the file and the tensor or key.
    pub fn load(dir: &Path, options: LearnerOptions) -> Result<Self, CheckpointError> {
        let config = read_text(&dir.join(CONFIG))?;
        let tokenizer = read_text(&dir.join(TOKENIZER))?;
        Self::load_parts(dir, &config, Some(&tokenizer), options)
    }

    /// As [`Learner::load`], but `tokenizer.json` may be missing: the learner then works by token ids alone, and what needs text
    /// is an error that says so.
    ///
    /// # Errors
    /// As [`Learner::load`].
    pub fn load_by_ids(dir: &Path, options: LearnerOptions) -> Result<Self, CheckpointError> {
        let config = read_text(&dir.join(CONFIG))?;
        let tokenizer = read_text_if_there(&dir.join(TOKENIZER))?;
        Self::load_parts(dir, &config, tokenizer.as_deref(), options)
    }

    fn load_parts(
        dir: &Path,
        config: &str,
        tokenizer: Option<&str>,
        options: LearnerOptions,
    ) -> Result<Self, CheckpointError> {
        let parts = Parts::new(&dir.display().to_string(), config, tokenizer, Companions::read(dir)?)?;
        let weights = read_weights(dir, &tensor_specs(&parts.config))?;
        parts.learner(weights, options)
    }

    /// As [`Learner::load`], from the contents of the three files: for a model that is part of the program.
    ///
    /// # Errors
    /// As [`Learner::load`].
    pub fn from_bytes(
        config_json: &str,
        tokenizer_json: &str,
        safetensors: &[u8],
        options: LearnerOptions,
    ) -> Result<Self, CheckpointError> {
        const PLACE: &str = "(embedded)";
        let parts = Parts::new(PLACE, config_json, Some(tokenizer_json), Companions::none(PLACE))?;
        let mut file = TensorFile::of_bytes(format!("{PLACE}/{WEIGHTS}"), safetensors)?;
        let weights = file.read_all(&wanted(&tensor_specs(&parts.config)))?;
        parts.learner(weights, options)
    }

    /// Writes the model directory, which is made when missing. The result loads in `transformers` as the class that
    /// `config.json` names. Weights above 5 GB are sharded.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, dir: &Path) -> Result<(), CheckpointError> {
        self.save_sharded(dir, MAX_SHARD_BYTES)
    }

    /// As [`Learner::save`], with weights in this precision.
    ///
    /// # Errors
    /// As [`Learner::save`].
    pub fn save_in(&self, dir: &Path, precision: Precision) -> Result<(), CheckpointError> {
        self.write_parts(dir, MAX_SHARD_BYTES, precision)
    }

    /// As [`Learner::save`], with weight files of `max_shard_bytes` at most (a single larger tensor has a file of its own).
    ///
    /// # Errors
    /// As [`Learner::save`].
    pub fn save_sharded(&self, dir: &Path, max_shard_bytes: usize) -> Result<(), CheckpointError> {
        self.write_parts(dir, max_shard_bytes, Precision::F32)
    }

    fn write_parts(&self, dir: &Path, max_shard_bytes: usize, precision: Precision) -> Result<(), CheckpointError> {
        make_dir(dir)?;
        write(&dir.join(CONFIG), pretty(&self.config.file(precision.torch_dtype())).as_bytes())?;
        self.companions.write(dir)?;
        if self.companions.text(GENERATION).is_none() {
            write(&dir.join(GENERATION), pretty(&self.generation_config()).as_bytes())?;
        }
        self.save_tokenizer(dir)?;
        let weights = self.weight_tensors()?;
        let weights = slices(&weights)?;
        let weights: Vec<&[f32]> = weights.iter().map(|w| &**w).collect();
        write_weights(dir, &self.specs, &weights, max_shard_bytes, precision)
    }

    fn save_tokenizer(&self, dir: &Path) -> Result<(), CheckpointError> {
        if !self.tokenizer.is_present() {
            return Ok(());
        }
        let place = dir.display().to_string();
        let tokenizer = self.tokenizer.to_json().map_err(|source| CheckpointError::Tokenizer { place, source })?;
        write(&dir.join(TOKENIZER), tokenizer.as_bytes())?;
        match self.companions.text(TOKENIZER_CONFIG) {
            Some(_) => Ok(()),
            None => write(&dir.join(TOKENIZER_CONFIG), pretty(&self.tokenizer_config()).as_bytes()),
        }
    }

    /// The weights as the model uses them: adapters are merged.
    fn weight_tensors(&self) -> Result<Vec<Tensor>, CheckpointError> {
        let weight = |spec: &TensorSpec| self.weights.tensor(&spec.name, Mode::Detached)?.to_device(&Device::Cpu);
        let weights = self.specs.iter().map(weight).collect::<Result<_, _>>();
        weights.map_err(|e| CheckpointError::Format { file: WEIGHTS.to_owned(), what: e.to_string() })
    }

    /// The bytes of `model.safetensors`: equal weights give equal bytes.
    ///
    /// # Errors
    /// The format's library refuses the tensors.
    pub fn weights_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let weights = self.weight_tensors()?;
        let weights = slices(&weights)?;
        let entries = self
            .specs
            .iter()
            .zip(&weights)
            .map(|(spec, data)| Entry { name: spec.name.clone(), shape: &spec.shape, data })
            .collect();
        let mut bytes = Vec::new();
        write_tensors(&mut bytes, entries, Precision::F32)
            .map_err(|e| CheckpointError::Format { file: WEIGHTS.to_owned(), what: e.to_string() })?;
        Ok(bytes)
    }

    /// What a checkpoint without the file is saved with.
    fn generation_config(&self) -> Value {
        let ends = &self.config.eos_token_id;
        let end = if ends.len() > 1 { Value::from(ends.as_slice()) } else { Value::from(ends.first().copied()) };
        let pad = self.config.pad_token_id.or(ends.first().copied());
        serde_json::json!({ "do_sample": true, "eos_token_id": end, "pad_token_id": pad, "temperature": 1.0 })
    }

    /// What a tokenizer without the file is saved with.
    fn tokenizer_config(&self) -> Value {
        let end = self.config.eos_token_id.first().and_then(|&id| self.tokenizer.token(id));
        serde_json::json!({
            "tokenizer_class": "PreTrainedTokenizerFast",
            "clean_up_tokenization_spaces": false,
            "model_max_length": self.config.max_position_embeddings,
            "eos_token": end,
            "pad_token": end,
        })
    }
}

/// The numbers of tensors.
fn slices(tensors: &[Tensor]) -> Result<Vec<Slice<'_>>, CheckpointError> {
    let slices = tensors.iter().map(Slice::of).collect::<Result<_, _>>();
    slices.map_err(|e| CheckpointError::Format { file: WEIGHTS.to_owned(), what: e.to_string() })
}

fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain records serialise");
    text.push('\n');
    text
}
