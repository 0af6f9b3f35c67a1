//! The settings of [`crate::self_imitation`].

use serde::{Deserialize, Serialize};

use super::{ConfigError, check_counts, check_numbers};

/// Which attempts later steps train on again, and how much ([`crate::self_imitation`]).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelfImitationSettings {
    /// The most attempts that are kept, the newest.
    pub capacity: usize,
    /// The most steps that an attempt is kept for.
    pub max_age: usize,
    /// Attempts with an advantage above this are kept.
    pub min_advantage: f64,
    /// The newest group means of a kind of task that the median is over.
    pub baseline_groups: usize,
    /// Multiplies the advantages of earlier attempts.
    pub coefficient: f64,
    /// The step in which the coefficient, which rises from 0 along half a cosine, has its value.
    pub warmup_steps: usize,
}

impl Default for SelfImitationSettings {
    /// Values from the configurations of SPEAR.
    fn default() -> Self {
        Self {
            capacity: 2_048,
            max_age: 10,
            min_advantage: 1.0,
            baseline_groups: 10_240,
            coefficient: 1.0,
            warmup_steps: 100,
        }
    }
}

impl SelfImitationSettings {
    /// Refuses limits that make no sense.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_counts(&[
            ("self_imitation.capacity", self.capacity, 1, 1 << 20),
            ("self_imitation.max_age", self.max_age, 1, 1 << 30),
            ("self_imitation.baseline_groups", self.baseline_groups, 1, 1 << 20),
            ("self_imitation.warmup_steps", self.warmup_steps, 1, 1 << 30),
        ])?;
        check_numbers(&[
            ("self_imitation.min_advantage", self.min_advantage, 0.0, 1_000.0),
            ("self_imitation.coefficient", self.coefficient, 0.001, 1_000.0),
        ])
    }

    /// The coefficient in step `step`.
    pub(crate) fn coefficient_at(&self, step: u64) -> f64 {
        let done = (step as f64 / self.warmup_steps as f64).min(1.0);
        self.coefficient * (1.0 - (std::f64::consts::PI * done).cos()) / 2.0
    }
}
