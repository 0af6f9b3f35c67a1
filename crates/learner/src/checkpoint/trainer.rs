//! The trainer state beside a model: the optimizer's moments and the counters.

use std::path::Path;

use serde::{Deserialize, Serialize};
use veriplay_core::{PolicyVersion, SCHEMA_VERSION};

use super::files::{make_dir, read_text, write, write_with};
use super::tensor_file::{Entry, Precision, TensorFile, Wanted, write_tensors};
use super::{CheckpointError, pretty};
use crate::learner::Learner;
use crate::model::names::TensorSpec;
use crate::optim::{Moments, OptimizerState};

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

/// The two moments of a weight by name.
fn names(spec: &TensorSpec) -> [String; 2] {
    ["first", "second"].map(|moment| format!("{moment}.{}", spec.name))
}

impl Learner {
    /// Writes the optimizer's moments and counters beside the model.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save_trainer_state(&self, dir: &Path) -> Result<(), CheckpointError> {
        make_dir(dir)?;
        let moments = self
            .state
            .moments()
            .map_err(|e| CheckpointError::Format { file: OPTIMIZER.to_owned(), what: e.to_string() })?;
        let entries = self.trainable.iter().zip(&*moments).flat_map(|(spec, Moments { first, second })| {
            let [a, b] = names(spec);
            [(a, first), (b, second)].map(|(name, data)| Entry { name, shape: &spec.shape, data })
        });
        write_with(&dir.join(OPTIMIZER), |file| write_tensors(file, entries.collect(), Precision::F32))?;
        let state =
            TrainerState { schema_version: SCHEMA_VERSION, step: self.state.step, policy_version: self.version };
        write(&dir.join(TRAINER), pretty(&state).as_bytes())
    }

    /// Restores what [`Learner::save_trainer_state`] wrote: the next update gives the same bits as if nothing had happened.
    ///
    /// # Errors
    /// A file that is missing, broken, of another schema, or of another model; the learner is then unchanged.
    pub fn load_trainer_state(&mut self, dir: &Path) -> Result<(), CheckpointError> {
        let trainer = read_counters(&dir.join(TRAINER))?;
        let wanted: Vec<Wanted<'_>> = self
            .trainable
            .iter()
            .flat_map(|spec| names(spec).map(|name| Wanted { name, shape: &spec.shape }))
            .collect();
        let mut values = TensorFile::open(&dir.join(OPTIMIZER))?.read_all(&wanted)?.into_iter();
        let mut moments = Vec::with_capacity(self.trainable.len());
        while let (Some(first), Some(second)) = (values.next(), values.next()) {
            moments.push(Moments { first, second });
        }
        self.state = OptimizerState::restored(trainer.step, moments);
        self.version = trainer.policy_version;
        Ok(())
    }
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
