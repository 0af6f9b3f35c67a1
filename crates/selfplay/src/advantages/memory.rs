//! What `rae` keeps from batch to batch: a `memory` of baselines, saved with the game's state.

use serde::{Deserialize, Serialize};
use veriplay_core::Role;

/// A baseline for each role and kind of task; 0 where no reward was seen yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdvantageMemory {
    baselines: Vec<Baseline>,
}

/// Bits instead of a number: JSON then gives back exactly what was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Baseline {
    role: String,
    kind: String,
    bits: u64,
}

impl AdvantageMemory {
    /// Whether nothing was kept yet.
    pub const fn is_empty(&self) -> bool {
        self.baselines.is_empty()
    }

    /// The baseline of a role and kind of task.
    pub fn baseline(&self, role: Role, kind: &str) -> f64 {
        let found = self.baselines.iter().find(|b| b.role == role.name() && b.kind == kind);
        found.map_or(0.0, |b| f64::from_bits(b.bits))
    }

    pub(super) fn set(&mut self, role: Role, kind: &str, value: f64) {
        let bits = value.to_bits();
        match self.baselines.iter_mut().find(|b| b.role == role.name() && b.kind == kind) {
            Some(baseline) => baseline.bits = bits,
            None => self.baselines.push(Baseline { role: role.name().to_owned(), kind: kind.to_owned(), bits }),
        }
    }
}
