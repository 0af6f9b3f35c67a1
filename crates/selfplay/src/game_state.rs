//! What a game carries from step to step.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::advantages::AdvantageMemory;
use crate::behaviours::Behaviours;
use crate::memory::Memory;
use crate::preferences::TrainingData;
use crate::rollout::Part;
use crate::scoring::SftExample;
use crate::self_imitation::KeptAttempts;
use crate::task_pool::{PoolTask, TaskPool};

/// What is carried from step to step and saved with every checkpoint. It holds no floating point number but those that are kept as bits, and what a
/// script defers, so JSON gives it back exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "T: PoolTask")]
pub struct GameState<T> {
    /// The tasks that steps draw from.
    pub pool: TaskPool<T>,
    /// The start model's own valid responses: examples of the SFT regulariser.
    pub sft_examples: Vec<SftExample>,
    /// What the curriculum remembers, where it does.
    #[serde(default, skip_serializing_if = "Memory::is_empty")]
    pub curriculum: Memory,
    /// What the search for a temperature remembers, where there is one.
    #[serde(default, skip_serializing_if = "Memory::is_empty")]
    pub temperatures: Memory,
    /// What monitors remember, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub monitors: BTreeMap<String, Memory>,
    /// The parts that nothing is learned of any more, because an alarm has frozen them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub frozen: BTreeSet<Part>,
    /// What the newest admitted proposals do, where a proposer factor asks for it.
    #[serde(default, skip_serializing_if = "Behaviours::is_empty")]
    pub behaviours: Behaviours,
    /// What a step left for later ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deferred: BTreeMap<String, Value>,
    /// What the advantage estimator remembers, where it does.
    #[serde(default, skip_serializing_if = "AdvantageMemory::is_empty")]
    pub memory: AdvantageMemory,
    /// Attempts that later steps train on again, where they do.
    #[serde(default, skip_serializing_if = "KeptAttempts::is_empty")]
    pub kept_attempts: KeptAttempts,
    /// What earlier steps have made to learn from, where each step trains the start model anew.
    #[serde(default, skip_serializing_if = "TrainingData::is_empty")]
    pub training_data: TrainingData,
}

impl<T> Default for GameState<T> {
    fn default() -> Self {
        Self {
            pool: TaskPool::default(),
            sft_examples: Vec::new(),
            curriculum: Memory::default(),
            temperatures: Memory::default(),
            monitors: BTreeMap::new(),
            frozen: BTreeSet::new(),
            behaviours: Behaviours::default(),
            deferred: BTreeMap::new(),
            memory: AdvantageMemory::default(),
            kept_attempts: KeptAttempts::default(),
            training_data: TrainingData::default(),
        }
    }
}
