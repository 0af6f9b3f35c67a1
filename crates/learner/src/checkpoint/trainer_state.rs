//! The trainer state beside a model: the optimizer's moments and the counters.

use std::path::Path;

use serde::{Deserialize, Serialize};
use veriplay_core::{PolicyVersion, SCHEMA_VERSION};

use super::error::CheckpointError;
use super::files::{make_dir, pretty, read_text, write, write_with};
use super::tensor_file::{Entry, TensorFile, Wanted, write_tensors};
use crate::config::TensorSpec;
use crate::device::Precision;

const OPTIMIZER: &str = "optimizer.safetensors";
const TRAINER: &str = "trainer_state.json";

/// What `trainer_state.json` holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrainerState {
    schema_version: u32,
    /// Optimizer steps made.
    pub(crate) step: u64,
    pub(crate) policy_version: PolicyVersion,
}

impl TrainerState {
    pub(crate) const fn new(step: u64, policy_version: PolicyVersion) -> Self {
        Self { schema_version: SCHEMA_VERSION, step, policy_version }
    }
}

/// The two moments of a weight by name.
fn names(spec: &TensorSpec) -> [String; 2] {
    ["first", "second"].map(|moment| format!("{moment}.{}", spec.name))
}

/// Writes the counters, and the first and second moments of every weight that trains, in the order of `specs`.
pub(crate) fn write_trainer_state<'a>(
    dir: &Path,
    state: &TrainerState,
    specs: &'a [TensorSpec],
    moments: impl Iterator<Item = [&'a [f32]; 2]>,
) -> Result<(), CheckpointError> {
    make_dir(dir)?;
    let entries = specs.iter().zip(moments).flat_map(|(spec, [first, second])| {
        let [a, b] = names(spec);
        [(a, first), (b, second)].map(|(name, data)| Entry { name, shape: &spec.shape, data })
    });
    let entries = entries.collect();
    write_with(&dir.join(OPTIMIZER), |file| write_tensors(file, entries, Precision::F32))?;
    write(&dir.join(TRAINER), pretty(state).as_bytes())
}

/// Reads what [`write_trainer_state`] wrote: the counters, and the first and second moments in turn.
pub(crate) fn read_trainer_state(
    dir: &Path,
    specs: &[TensorSpec],
) -> Result<(TrainerState, Vec<Vec<f32>>), CheckpointError> {
    let state = read_counters(&dir.join(TRAINER))?;
    let wanted = specs.iter().flat_map(|spec| names(spec).map(|name| Wanted { name, shape: &spec.shape }));
    let wanted: Vec<Wanted<'_>> = wanted.collect();
    let values = TensorFile::open(&dir.join(OPTIMIZER))?.read_all(&wanted)?;
    Ok((state, values))
}

fn read_counters(path: &Path) -> Result<TrainerState, CheckpointError> {
    let file = path.display().to_string();
    let trainer: TrainerState = serde_json::from_str(&read_text(path)?)
        .map_err(|e| CheckpointError::Format { file: file.clone(), what: e.to_string() })?;
    match trainer.schema_version {
        SCHEMA_VERSION => Ok(trainer),
        found => Err(CheckpointError::Schema { file, found, want: SCHEMA_VERSION }),
    }
}
