//! The policy that plays a run and learns from it: our own learner, or a trainer outside this process.

use std::collections::BTreeMap;
use std::path::Path;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_core::{Learn, Policy, Role, Update};
use veriplay_learner::{Learner, LearnerOptions};
use veriplay_selfplay::after_update::UpdatedPolicy;
use veriplay_selfplay::play::{Batch, RewardedRollout};

use super::trainer::{ExternalTrainer, Purpose};
use crate::passes::Passes;

/// The policy of a run.
pub(crate) enum Actor {
    Learner(Box<Learner>),
    /// Behind standard input and output.
    Trainer(Box<ExternalTrainer>),
}

impl Actor {
    pub(crate) fn policy(&self) -> &dyn Policy {
        match self {
            Self::Learner(learner) => &**learner,
            Self::Trainer(trainer) => &**trainer,
        }
    }

    /// The same as a script may use it behind an update.
    pub(crate) fn updated(&mut self) -> UpdatedPolicy<'_> {
        match self {
            Self::Learner(learner) => UpdatedPolicy::Learner(&mut **learner),
            Self::Trainer(trainer) => UpdatedPolicy::Sampled(&**trainer),
        }
    }

    /// The trainer outside this process, which wants to be told more than what it answers.
    pub(crate) fn trainer(&self) -> Option<&ExternalTrainer> {
        match self {
            Self::Learner(_) => None,
            Self::Trainer(trainer) => Some(trainer),
        }
    }

    /// Whether prompts may be messages. A trainer gets them both as text and as messages.
    pub(crate) fn has_chat_template(&self) -> bool {
        match self {
            Self::Learner(learner) => learner.has_chat_template(),
            Self::Trainer(_) => true,
        }
    }

    /// Says what is generated next, to a trainer that wants to know.
    pub(crate) fn set_purpose(&self, step: u64, purpose: Purpose) {
        self.trainer().into_iter().for_each(|trainer| trainer.set_purpose(step, purpose));
    }

    /// The updates of a step. A trainer makes passes of its own, and has a reference of its own.
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) fn learn(
        &mut self,
        (batches, rewarded): (&[Batch], &[RewardedRollout]),
        rate: f64,
        (passes, seed, step): (Passes, u64, u64),
        refreshes_reference: bool,
    ) -> Result<Vec<Update>, Failure> {
        let mut updates = Vec::new();
        let first_pairs = batches.iter().position(|batch| matches!(batch, Batch::Preferences(_)));
        for (place, batch) in batches.iter().enumerate() {
            // The policy as it is becomes the reference of pairs.
            if let (Self::Learner(learner), true) = (&mut *self, refreshes_reference && first_pairs == Some(place)) {
                learner.hold_reference().or_fail(ExitCode::Model)?;
            }
            match (&mut *self, batch) {
                (Self::Learner(learner), Batch::Samples(batch)) => {
                    let several = passes != Passes::ONE;
                    let scored =
                        several.then(|| learner.add_old_logprobs(batch)).transpose().or_fail(ExitCode::Model)?;
                    for part in passes.batches(scored.as_deref().unwrap_or(batch), seed, step) {
                        updates.push(learner.update(&part, rate).or_fail(ExitCode::Model)?);
                    }
                }
                (Self::Learner(learner), Batch::Preferences(batch)) => {
                    updates.push(learner.prefer(batch, rate).or_fail(ExitCode::Model)?);
                }
                (Self::Trainer(trainer), Batch::Samples(batch)) => updates.push(trainer.update(batch, rewarded, rate)?),
                (Self::Trainer(trainer), Batch::Preferences(batch)) => updates.push(trainer.prefer(batch, rate)?),
            }
        }
        Ok(updates)
    }

    /// The norms of the gradients that the roles of a step's samples give on their own, by role; supervised examples are `imitation`. A trainer
    /// outside this process tells none, and pairs have none.
    pub(crate) fn gradient_norms(&mut self, batches: &[Batch]) -> Result<BTreeMap<&'static str, f64>, Failure> {
        let (Self::Learner(learner), [Batch::Samples(batch), ..]) = (self, batches) else { return Ok(BTreeMap::new()) };
        let norms = learner.gradient_norms(batch).or_fail(ExitCode::Model)?;
        Ok(norms.into_iter().map(|(role, norm)| (role.map_or("imitation", Role::name), norm)).collect())
    }

    /// Goes on with the start model, which `open` loads, and a fresh optimizer. Where adapters train, they alone begin again, because their base is
    /// the start model. A trainer has weights of its own.
    pub(crate) fn restart(
        &mut self,
        options: &LearnerOptions,
        open: impl FnOnce() -> Result<Learner, Failure>,
    ) -> Result<(), Failure> {
        let Self::Learner(learner) = self else { return Ok(()) };
        if let Some(lora) = &options.lora {
            return learner.restart_adapters(lora).or_fail(ExitCode::Model);
        }
        // First, so that the two copies of the weights take less memory than training.
        learner.reset_optimizer();
        learner.restart_from(open()?).or_fail(ExitCode::Model)
    }

    /// Goes on with what `open` loads, the optimizer's state included. The version counts on, and the reference stays.
    pub(crate) fn restore(&mut self, open: impl FnOnce() -> Result<Learner, Failure>) -> Result<(), Failure> {
        let Self::Learner(learner) = self else { return Ok(()) };
        // First, as in a restart.
        learner.reset_optimizer();
        learner.restart_from(open()?).or_fail(ExitCode::Model)
    }

    /// Sets another coefficient of the divergence from the reference.
    pub(crate) fn set_kl_coefficient(&mut self, options: &LearnerOptions) {
        if let (Self::Learner(learner), Some(kl)) = (self, options.kl) {
            learner.set_kl_coefficient(kl.coefficient);
        }
    }

    pub(crate) fn save(&self, folder: &Path, step: u64) -> anyhow::Result<()> {
        let learner = match self {
            Self::Trainer(trainer) => return trainer.save(folder, step),
            Self::Learner(learner) => learner,
        };
        Ok(learner.save_checkpoint(folder)?)
    }
}
