//! The files that training adds to a model: the trainer state (the optimizer's moments and the counters), in a folder of its own where no engine
//! takes it for weights, and adapters in PEFT's layout,
//! `adapter_model.safetensors` and `adapter_config.json`, as `peft.PeftModel` reads and writes them.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use veriplay_core::{PolicyVersion, SCHEMA_VERSION};

use super::files::{CheckpointError, make_dir, read_text, to_pretty_json, write_file, write_with};
use super::tensor_file::{TensorFile, write_tensors};
use crate::config::TensorSpec;
use crate::device::Precision;
use crate::lora::{AdapterCheckpoint, BaseModel, Lora};

/// The folder of the next two.
const STATE: &str = "optimizer";
const OPTIMIZER: &str = "optimizer.safetensors";
const TRAINER: &str = "trainer_state.json";

/// The contents of `trainer_state.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrainerState {
    schema_version: u32,
    pub(crate) step: u64,
    pub(crate) policy_version: PolicyVersion,
}

impl TrainerState {
    pub(crate) const fn new(step: u64, policy_version: PolicyVersion) -> Self {
        Self { schema_version: SCHEMA_VERSION, step, policy_version }
    }
}

/// Names and shapes of both moments of every weight, in turn.
fn moment_specs(specs: &[TensorSpec]) -> Vec<TensorSpec> {
    let pair = |spec: &TensorSpec| {
        ["first", "second"]
            .map(|moment| TensorSpec { name: format!("{moment}.{}", spec.name), shape: spec.shape.clone() })
    };
    specs.iter().flat_map(pair).collect()
}

/// Writes the counters, and the first and second moments in turn of every weight that trains, in the order of `specs`, into a folder of `dir`.
pub(crate) fn write_trainer_state<'a>(
    dir: &Path,
    state: &TrainerState,
    specs: &[TensorSpec],
    moments: impl Iterator<Item = &'a [f32]>,
) -> Result<(), CheckpointError> {
    let dir = dir.join(STATE);
    make_dir(&dir)?;
    let specs = moment_specs(specs);
    write_with(&dir.join(OPTIMIZER), |file| write_tensors(file, specs.iter().zip(moments), Precision::F32))?;
    write_file(&dir.join(TRAINER), to_pretty_json(state).as_bytes())
}

/// Reads what [`write_trainer_state`] wrote, or an earlier version beside the model.
pub(crate) fn read_trainer_state(
    dir: &Path,
    specs: &[TensorSpec],
) -> Result<(TrainerState, Vec<Vec<f32>>), CheckpointError> {
    let folder = dir.join(STATE);
    let dir = if folder.is_dir() { &folder } else { dir };
    let state = read_counters(&dir.join(TRAINER))?;
    let values = TensorFile::open(&dir.join(OPTIMIZER))?.read_all(&moment_specs(specs))?;
    Ok((state, values))
}

fn read_counters(path: &Path) -> Result<TrainerState, CheckpointError> {
    let file = path.display().to_string();
    let trainer: TrainerState =
        serde_json::from_str(&read_text(path)?).map_err(|e| CheckpointError::unreadable(&file, e))?;
    match trainer.schema_version {
        SCHEMA_VERSION => Ok(trainer),
        found => {
            let problem = format!("it has schema_version `{found}`, and this program reads `{SCHEMA_VERSION}`");
            Err(CheckpointError::invalid(&file, problem))
        }
    }
}

const TENSORS: &str = "adapter_model.safetensors";
const CONFIG: &str = "adapter_config.json";
/// The key of the base's digest, which PEFT, vLLM and SGLang pass over.
const DIGEST: &str = "base_model_digest";

/// Options of PEFT that this learner lacks: a file may only switch them off.
const OFF: &[&str] = &[
    "use_dora", "use_rslora", "fan_in_fan_out", "modules_to_save", "rank_pattern", "alpha_pattern",
    "layers_to_transform", "layers_pattern", "lora_bias", "target_parameters", "trainable_token_indices",
    "exclude_modules",
];

/// Whether a directory has adapters.
pub(crate) fn has_adapters(dir: &Path) -> bool {
    dir.join(CONFIG).exists()
}

/// Writes adapters, and of their base the name and the digest, into a directory, which is made when missing. `values` are in the order of `specs`.
pub(crate) fn write_adapters(
    dir: &Path,
    adapters: &AdapterCheckpoint,
    specs: &[TensorSpec],
    values: &[Vec<f32>],
) -> Result<(), CheckpointError> {
    make_dir(dir)?;
    write_file(&dir.join(CONFIG), to_pretty_json(&adapter_config(adapters)).as_bytes())?;
    let tensors = specs.iter().zip(values.iter().map(Vec::as_slice));
    write_with(&dir.join(TENSORS), |file| write_tensors(file, tensors, Precision::F32))
}

/// Reads the adapters of a directory for a base with these tensors: their description, and their values in the order of
/// [`Lora::specs`].
pub(crate) fn read_adapters(
    dir: &Path,
    base: &[TensorSpec],
) -> Result<(AdapterCheckpoint, Vec<Vec<f32>>), CheckpointError> {
    let adapters = describe_adapters(dir)?;
    if let Some((module, own)) = adapters.lora.missing_module(base) {
        let problem = format!("`target_modules` is `{module}`: it must be some of {own}, which this model has");
        return Err(CheckpointError::unreadable(&dir.join(CONFIG).display().to_string(), problem));
    }
    let values = TensorFile::open(&dir.join(TENSORS))?.read_all(&adapters.lora.specs(base))?;
    Ok((adapters, values))
}

/// What the adapters of a directory are, and of which base. No tensor is read.
pub(crate) fn describe_adapters(dir: &Path) -> Result<AdapterCheckpoint, CheckpointError> {
    let path = dir.join(CONFIG);
    let unreadable = |what: String| CheckpointError::unreadable(&path.display().to_string(), what);
    let adapters = parse_adapter_config(&read_text(&path)?).map_err(unreadable)?;
    match adapters.lora.invalid_option() {
        None => Ok(adapters),
        Some((key, value, want)) => Err(unreadable(format!("`{key}` is `{value}`: it must be {want}"))),
    }
}

fn adapter_config(AdapterCheckpoint { lora, base }: &AdapterCheckpoint) -> Value {
    let mut file = json!({
        "base_model_name_or_path": base.name,
        "bias": "none",
        "fan_in_fan_out": false,
        "inference_mode": true,
        "init_lora_weights": true,
        "lora_alpha": lora.alpha,
        "lora_dropout": 0.0,
        "modules_to_save": null,
        "peft_type": "LORA",
        "r": lora.rank,
        "target_modules": lora.target_modules,
        "task_type": "CAUSAL_LM",
        "use_dora": false,
        "use_rslora": false,
    });
    if let Some(digest) = &base.digest {
        file[DIGEST] = Value::from(digest.as_str());
    }
    file
}

/// The adapters that the file describes, or why this learner cannot train them.
fn parse_adapter_config(text: &str) -> Result<AdapterCheckpoint, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let kind = value.get("peft_type").and_then(Value::as_str).unwrap_or_default();
    if kind != "LORA" {
        return Err(format!("`peft_type` is `{kind}`, want `LORA`"));
    }
    if let Some(bias) = value.get("bias").and_then(Value::as_str).filter(|bias| *bias != "none") {
        return Err(format!("`bias` is `{bias}`, want `none`: this learner trains no biases beside adapters"));
    }
    for key in OFF {
        let on = value.get(key).filter(|option| !is_off(option));
        if let Some(option) = on {
            return Err(format!("`{key}` is `{option}`: this learner does not have it"));
        }
    }
    let rank = value.get("r").and_then(Value::as_u64).ok_or("`r` is missing or no whole number")?;
    let alpha = value.get("lora_alpha").and_then(Value::as_f64).ok_or("`lora_alpha` is missing or no number")?;
    let modules = value.get("target_modules").and_then(Value::as_array);
    let modules = modules.ok_or("`target_modules` is missing or no list of names")?;
    let name = |module: &Value| {
        module.as_str().map(str::to_owned).ok_or("`target_modules` contains something other than names")
    };
    let target_modules = modules.iter().map(name).collect::<Result<_, _>>()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let base = BaseModel { name: text("base_model_name_or_path"), digest: text(DIGEST) };
    Ok(AdapterCheckpoint { lora: Lora { rank: rank as usize, alpha, target_modules, seed: 0, per_role: false }, base })
}

fn is_off(option: &Value) -> bool {
    match option {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(items) => items.is_empty(),
        _ => false,
    }
}
