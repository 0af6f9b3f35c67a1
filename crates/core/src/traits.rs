//! The three seams: where a crate's work can be swapped for another's.

use crate::{Job, LearnError, Outcome, PolicyError, PreferenceBatch, Prompt, Rollout, Sampling, TrainBatch, Update};

/// Runs one untrusted [`Job`]. Blocking, and callable from many threads.
pub trait Execute: Sync {
    /// Runs `job` from a fresh state. Everything a program can do is `Ok`. A job that met its deadline has met it twice, the
    /// second time with no other job beside it: a busy machine must not decide.
    ///
    /// # Errors
    /// Only our own faults, after one retry on a new instance.
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError>;
}

impl<E: Execute + ?Sized> Execute for &E {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        (**self).execute(job)
    }
}

/// A host fault: ours, never the program's. The attempt is Dropped.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The job names an image this executor does not have.
    #[error("image `{0}` is not loaded")]
    UnknownImage(String),
    /// The job is invalid: it has an absolute file path, for example.
    #[error("bad job: {0}")]
    BadJob(String),
    /// The engine or the host failed.
    #[error("the sandbox failed: {0}")]
    Host(String),
}

/// Generates rollouts.
pub trait Policy {
    /// `sampling.group` rollouts for each prompt, in the order of the prompts.
    ///
    /// # Errors
    /// A prompt that cannot be tokenized or does not fit, or a backend fault.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError>;
}

/// Learns from weighted samples, and from pairs.
pub trait Learn {
    /// One optimizer step at `learning_rate`, by the loss over samples.
    ///
    /// # Errors
    /// A bad batch, a cut or non-finite gradient, or a backend fault; the weights are then unchanged.
    fn update(&mut self, batch: &TrainBatch, learning_rate: f64) -> Result<Update, LearnError>;

    /// One optimizer step at `learning_rate`, by the loss over pairs.
    ///
    /// # Errors
    /// As [`Learn::update`].
    fn prefer(&mut self, batch: &PreferenceBatch, learning_rate: f64) -> Result<Update, LearnError>;
}
