//! The settings of the game that no other game has.

use serde::{Deserialize, Serialize};

use super::prompts;
use crate::settings::{ConfigError, GameConfig, check_counts, check_numbers};

/// `[game]` of a configuration.
pub type AbsoluteZeroConfig = GameConfig<AbsoluteZeroSettings>;

/// The game's own keys of `[game]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbsoluteZeroSettings {
    /// Proposals a step for each task type; 0 trains the solver on the buffers alone.
    pub proposals_per_type: usize,
    /// Solver tasks a step for each task type.
    pub tasks_per_type: usize,
    /// Reference tasks in a proposer prompt (K); 0 shows none, and then all proposals of a type share one prompt, in which `examples`
    /// stand in for references.
    pub references: usize,
    /// Share of a type's solver tasks that this step's proposals may fill, in [0, 1]. Valid proposals beyond it enter the
    /// buffer without a solve rate, and are not trained on.
    pub fresh_fraction: f64,
    /// Share of the other solver tasks that come from seeds, in [0, 1]; the rest are proposals accepted in earlier steps.
    pub seed_share: f64,
    /// Input-output pairs an induction solver sees.
    pub induction_visible: usize,
    /// Pairs its program is judged on.
    pub induction_hidden: usize,
}

impl AbsoluteZeroSettings {
    /// Inputs an induction proposal must have.
    pub const fn induction_inputs(&self) -> usize {
        self.induction_visible + self.induction_hidden
    }

    /// Maximum number of fresh proposals of one type that become solver tasks.
    pub(super) fn fresh_cap(&self) -> usize {
        (self.fresh_fraction * self.tasks_per_type as f64).round() as usize
    }
}

impl AbsoluteZeroConfig {
    /// Checks every key.
    ///
    /// # Errors
    /// The first one that is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let own = &self.own;
        self.shared.check(&prompts::names(), true)?;
        check_counts(&[
            ("proposals_per_type", own.proposals_per_type, 0, 65_536),
            ("tasks_per_type", own.tasks_per_type, 1, 65_536),
            ("references", own.references, 0, 64),
            ("induction_visible", own.induction_visible, 1, 64),
            ("induction_hidden", own.induction_hidden, 1, 64),
        ])?;
        check_numbers(&[("fresh_fraction", own.fresh_fraction, 0.0, 1.0), ("seed_share", own.seed_share, 0.0, 1.0)])
    }
}
