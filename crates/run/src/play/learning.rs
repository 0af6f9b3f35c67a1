//! The updates of a step, by our own learner or a trainer outside this process. Called by the actor.

use std::collections::BTreeMap;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_core::{Learn, Role, Update};
use veriplay_learner::RoleLearners;
use veriplay_selfplay::play::{Batch, RewardedRollout};

use super::trainer::ExternalTrainer;
use crate::passes::Passes;

/// What a step gives to learn from, and how.
pub(crate) struct Learning<'a> {
    pub(crate) batches: &'a [Batch],
    /// For a trainer outside this process.
    pub(crate) rewarded: &'a [RewardedRollout],
    pub(crate) rate: f64,
    pub(crate) passes: Passes,
    pub(crate) seed: u64,
    pub(crate) step: u64,
    pub(crate) refreshes_reference: bool,
    /// Whether the gradients of each role alone are measured.
    pub(crate) measures_roles: bool,
}

/// What learning from a step has come to.
pub(crate) struct Learned {
    /// The norms of the gradients that the roles of a step's samples give on their own, by role; supervised examples are `imitation`. A trainer
    /// outside this process tells none, and pairs have none.
    pub(crate) gradient_norms: BTreeMap<&'static str, f64>,
    pub(crate) updates: Vec<Update>,
}

impl Learning<'_> {
    pub(super) fn by_learner(&self, learner: &mut RoleLearners) -> Result<Learned, Failure> {
        let gradient_norms = if self.measures_roles { self.role_norms(learner)? } else { BTreeMap::new() };
        let mut updates = Vec::new();
        let first_pairs = self.batches.iter().position(|batch| matches!(batch, Batch::Preferences(_)));
        for (place, batch) in self.batches.iter().enumerate() {
            // The policy as it is becomes the reference of pairs.
            if self.refreshes_reference && first_pairs == Some(place) {
                learner.hold_reference().or_fail(ExitCode::Model)?;
            }
            match batch {
                Batch::Samples(batch) => {
                    let several = self.passes != Passes::ONE;
                    let scored =
                        several.then(|| learner.add_old_logprobs(batch)).transpose().or_fail(ExitCode::Model)?;
                    for part in self.passes.batches(scored.as_deref().unwrap_or(batch), self.seed, self.step) {
                        updates.push(learner.update(&part, self.rate).or_fail(ExitCode::Model)?);
                    }
                }
                Batch::Preferences(batch) => updates.push(learner.prefer(batch, self.rate).or_fail(ExitCode::Model)?),
            }
        }
        Ok(Learned { gradient_norms, updates })
    }

    fn role_norms(&self, learner: &mut RoleLearners) -> Result<BTreeMap<&'static str, f64>, Failure> {
        let [Batch::Samples(batch), ..] = self.batches else { return Ok(BTreeMap::new()) };
        let norms = learner.gradient_norms(batch).or_fail(ExitCode::Model)?;
        Ok(norms.into_iter().map(|(role, norm)| (role.map_or("imitation", Role::name), norm)).collect())
    }

    /// A trainer makes passes of its own, and has a reference of its own.
    pub(super) fn by_trainer(&self, trainer: &ExternalTrainer) -> Result<Learned, Failure> {
        let updates = self.batches.iter().map(|batch| match batch {
            Batch::Samples(batch) => trainer.update(batch, self.rewarded, self.rate),
            Batch::Preferences(batch) => trainer.prefer(batch, self.rate),
        });
        Ok(Learned { gradient_norms: BTreeMap::new(), updates: updates.collect::<Result<_, _>>()? })
    }
}
