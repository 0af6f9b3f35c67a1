//! The policy that plays a run and learns from it: our own learner, or a trainer outside this process.

use std::path::Path;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_core::{Policy, PolicyVersion};
use veriplay_learner::{Learner, LearnerOptions, RoleLearners};
use veriplay_selfplay::after_update::UpdatedPolicy;

use super::learning::{Learned, Learning};
use super::trainer::{ExternalTrainer, Purpose};

/// The policy of a run.
pub(crate) enum Actor {
    Learner(Box<RoleLearners>),
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

    /// The number of its updates so far; 0 of a trainer, which counts its own.
    pub(crate) fn version(&self) -> PolicyVersion {
        match self {
            Self::Learner(learner) => learner.version(),
            Self::Trainer(_) => PolicyVersion::default(),
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

    /// The updates of a step.
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) fn learn(&mut self, learning: &Learning<'_>) -> Result<Learned, Failure> {
        match self {
            Self::Learner(learner) => learning.by_learner(learner),
            Self::Trainer(trainer) => learning.by_trainer(trainer),
        }
    }

    /// The same, while `play` samples beside it from the policy as it was before them. A trainer outside this process has no time for both, and `play`
    /// is not called.
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) fn learn_beside<T>(
        &mut self,
        learning: &Learning<'_>,
        play: impl FnOnce(&dyn Policy) -> T,
    ) -> Result<(Learned, Option<T>), Failure> {
        let Self::Learner(learner) = self else { return Ok((self.learn(learning)?, None)) };
        let frozen = learner.freeze().or_fail(ExitCode::Model)?;
        let (learned, played) = std::thread::scope(|scope| {
            let learning = scope.spawn(|| learning.by_learner(learner));
            let played = play(&frozen);
            (learning.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), played)
        });
        Ok((learned?, Some(played)))
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
        let start = RoleLearners::new(open()?).or_fail(ExitCode::Model)?;
        learner.restart_from(start).or_fail(ExitCode::Model)
    }

    /// Goes on with what `open` loads, the optimizer's state included. The version counts on, and the reference stays.
    pub(crate) fn restore(&mut self, open: impl FnOnce() -> Result<RoleLearners, Failure>) -> Result<(), Failure> {
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
