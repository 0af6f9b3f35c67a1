//! Checkpoints in Hugging Face layout, and the trainer state beside them.
//!
//! A model directory holds `config.json`, `generation_config.json`, `model.safetensors`, `tokenizer.json` and
//! `tokenizer_config.json`, as `transformers` reads and writes them; `optimizer.safetensors` and `trainer_state.json` are ours.
//! Every file is written beside its name, synced and renamed, so a killed process leaves whole files only.

mod error;
mod files;
mod tensors;

pub use error::CheckpointError;

use std::path::Path;

use serde::{Deserialize, Serialize};
use veriplay_core::{PolicyVersion, SCHEMA_VERSION};

use crate::config::ModelConfig;
use crate::learner::{Learner, LearnerOptions};
use crate::model::names::{TensorSpec, tensor_specs};
use crate::ops::slices::Slice;
use crate::optim::{Moments, OptimizerState};
use crate::tokenizer::Tokenizer;
use files::{read, read_text, write};
use tensors::{Part, decode, encode};

const CONFIG: &str = "config.json";
const GENERATION: &str = "generation_config.json";
const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
const OPTIMIZER: &str = "optimizer.safetensors";
const TRAINER: &str = "trainer_state.json";

/// What `trainer_state.json` holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrainerState {
    schema_version: u32,
    /// Optimizer steps made.
    step: u64,
    policy_version: PolicyVersion,
}

impl Learner {
    /// Loads a model directory. The optimizer starts fresh; see [`Learner::load_trainer_state`].
    ///
    /// # Errors
    /// A file that is missing or broken, or that contradicts the others; the error names the file and the tensor or key.
    pub fn load(dir: &Path, options: LearnerOptions) -> Result<Self, CheckpointError> {
        let config = read_text(&dir.join(CONFIG))?;
        let tokenizer = read_text(&dir.join(TOKENIZER))?;
        if !dir.join(WEIGHTS).exists() && dir.join("model.safetensors.index.json").exists() {
            return Err(CheckpointError::Sharded { path: dir.to_owned() });
        }
        let weights = read(&dir.join(WEIGHTS))?;
        Self::from_parts(&dir.display().to_string(), &config, &tokenizer, &weights, options)
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
        Self::from_parts("(embedded)", config_json, tokenizer_json, safetensors, options)
    }

    fn from_parts(
        place: &str,
        config: &str,
        tokenizer: &str,
        weights: &[u8],
        options: LearnerOptions,
    ) -> Result<Self, CheckpointError> {
        let place = place.to_owned();
        let config =
            ModelConfig::parse(config).map_err(|source| CheckpointError::Config { place: place.clone(), source })?;
        let tokenizer = Tokenizer::from_json(tokenizer)
            .map_err(|source| CheckpointError::Tokenizer { place: place.clone(), source })?;
        let specs = tensor_specs(&config);
        let mut values: Vec<Vec<f32>> = specs.iter().map(|spec| vec![0.0; spec.elements()]).collect();
        let tensors = values.iter_mut().map(Vec::as_mut_slice).collect();
        decode(&format!("{place}/{WEIGHTS}"), weights, &specs, &mut [Part { prefix: "", tensors }])?;
        let config = ModelConfig { torch_dtype: "float32".to_owned(), ..config };
        Self::assemble(config, tokenizer, values, options).map_err(|source| CheckpointError::Config { place, source })
    }

    /// Writes the model directory, which is made when missing. The result loads in `transformers` as a `Qwen3ForCausalLM`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, dir: &Path) -> Result<(), CheckpointError> {
        std::fs::create_dir_all(dir).map_err(|source| CheckpointError::Io { path: dir.to_owned(), source })?;
        let tokenizer = self
            .tokenizer
            .to_json()
            .map_err(|source| CheckpointError::Tokenizer { place: dir.display().to_string(), source })?;
        write(&dir.join(CONFIG), pretty(&self.config).as_bytes())?;
        write(&dir.join(GENERATION), pretty(&self.generation_config()).as_bytes())?;
        write(&dir.join(TOKENIZER), tokenizer.as_bytes())?;
        write(&dir.join(TOKENIZER_CONFIG), pretty(&self.tokenizer_config()).as_bytes())?;
        write(&dir.join(WEIGHTS), &self.weights_bytes()?)
    }

    /// The bytes of `model.safetensors`: equal weights give equal bytes.
    ///
    /// # Errors
    /// The format's library refuses the tensors.
    pub fn weights_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let format = |e: candle_core::Error| CheckpointError::Format { file: WEIGHTS.to_owned(), what: e.to_string() };
        let weight = |spec: &TensorSpec| Slice::of(self.weights.var(&spec.name)?);
        let weights = self.specs.iter().map(weight).collect::<Result<Vec<_>, _>>().map_err(format)?;
        encode(WEIGHTS, &self.specs, &[Part { prefix: "", tensors: weights.iter().map(|w| &**w).collect() }])
    }

    fn generation_config(&self) -> serde_json::Value {
        serde_json::json!({ "do_sample": true, "eos_token_id": self.config.eos_token_id, "pad_token_id": self.config.eos_token_id, "temperature": 1.0 })
    }

    fn tokenizer_config(&self) -> serde_json::Value {
        let end = self.tokenizer.token(self.config.eos_token_id);
        serde_json::json!({
            "tokenizer_class": "PreTrainedTokenizerFast",
            "clean_up_tokenization_spaces": false,
            "model_max_length": self.config.max_position_embeddings,
            "eos_token": end,
            "pad_token": end,
        })
    }

    /// Writes the optimizer's moments and counters beside the model.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save_trainer_state(&self, dir: &Path) -> Result<(), CheckpointError> {
        std::fs::create_dir_all(dir).map_err(|source| CheckpointError::Io { path: dir.to_owned(), source })?;
        let OptimizerState { step, moments } = &self.state;
        let parts = [
            Part { prefix: "first.", tensors: moments.iter().map(|m| &*m.first).collect() },
            Part { prefix: "second.", tensors: moments.iter().map(|m| &*m.second).collect() },
        ];
        write(&dir.join(OPTIMIZER), &encode(OPTIMIZER, &self.specs, &parts)?)?;
        let state = TrainerState { schema_version: SCHEMA_VERSION, step: *step, policy_version: self.version };
        write(&dir.join(TRAINER), pretty(&state).as_bytes())
    }

    /// Restores what [`Learner::save_trainer_state`] wrote: the next update gives the same bits as if nothing had happened.
    ///
    /// # Errors
    /// A file that is missing, broken, of another schema, or of another model; the learner is then unchanged.
    pub fn load_trainer_state(&mut self, dir: &Path) -> Result<(), CheckpointError> {
        let path = dir.join(TRAINER);
        let trainer: TrainerState = serde_json::from_str(&read_text(&path)?)
            .map_err(|e| CheckpointError::Format { file: path.display().to_string(), what: e.to_string() })?;
        if trainer.schema_version != SCHEMA_VERSION {
            return Err(CheckpointError::Schema {
                file: path.display().to_string(),
                found: trainer.schema_version,
                want: SCHEMA_VERSION,
            });
        }
        let path = dir.join(OPTIMIZER);
        let mut state = OptimizerState { step: trainer.step, ..OptimizerState::new(&self.specs) };
        let (first, second) =
            state.moments.iter_mut().map(|Moments { first, second }| (&mut **first, &mut **second)).unzip();
        let mut parts = [Part { prefix: "first.", tensors: first }, Part { prefix: "second.", tensors: second }];
        decode(&path.display().to_string(), &read(&path)?, &self.specs, &mut parts)?;
        (self.state, self.version) = (state, trainer.policy_version);
        Ok(())
    }
}

fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain records serialise");
    text.push('\n');
    text
}
