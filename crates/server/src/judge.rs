//! The seam to what judges: [`ServedJudge`](crate::ServedJudge) in a service, and a scripted judge in tests of the queue and of connections.

use std::sync::Arc;

use veriplay_core::{
    AttemptText, CancellationToken, Comparison, Digest, ExecuteError, Job, Language, LimitOverrides, Limits, Outcome,
    Predicted,
};
use veriplay_eval::JudgedAttempt;
use veriplay_verifier::OpenImage;
use veriplay_verifier::languages::is_python;

use crate::answer::shortened;

/// Judges attempts and runs jobs. All functions block, and are called from many threads at once.
pub(crate) trait Judge: Send + Sync + 'static {
    fn facts(&self) -> &JudgeFacts;

    /// Opens a task, keeps its row for later requests by digest, and returns what judges attempts at it under `options`.
    fn open_task(self: Arc<Self>, source: &TaskSource, options: &JudgeOptions) -> Result<Arc<dyn OpenTask>, TaskError>;

    /// Runs one job, unless it is cancelled.
    ///
    /// # Errors
    /// An invalid job, a fault of the host, or [`ExecuteError::Cancelled`].
    fn run(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, ExecuteError>;

    /// Stores what is not stored yet: the service ends.
    fn flush(&self) {}
}

/// A task, ready to judge attempts under fixed options.
pub(crate) trait OpenTask: Send + Sync {
    /// Its name in its set.
    fn task_id(&self) -> &str;

    /// The digest under which its row is kept.
    fn digest(&self) -> &Digest;

    /// Judges one attempt. Equal calls give equal rows, unless the host fails. An attempt that is cancelled meanwhile may be dropped.
    fn judge(&self, attempt_id: &str, text: &AttemptText, cancellation: &CancellationToken) -> JudgedAttempt;
}

#[derive(Debug, Clone)]
pub(crate) struct JudgeFacts {
    pub(crate) version: String,
    pub(crate) image: String,
    /// Its digest. Verdicts depend on it.
    pub(crate) image_digest: Digest,
    /// Bytes of memory that the image itself needs; no job may have less.
    pub(crate) image_memory_bytes: u64,
    /// Limits of a job without its own.
    pub(crate) limits: Limits,
    /// The most that a request or a task may ask for. Its deadline is not compared: fuel bounds the time.
    pub(crate) most: Limits,
    /// Names of the formats of task rows.
    pub(crate) formats: Vec<&'static str>,
    /// The images of other languages.
    pub(crate) other_images: Vec<OpenImage>,
}

impl JudgeFacts {
    /// The image in which programs of the language run, and the bytes of memory that it itself needs.
    pub(crate) fn image_of(&self, language: &dyn Language) -> (&str, u64) {
        let other = self.other_images.iter().find(|other| !is_python(language) && other.name == language.image());
        other.map_or((self.image.as_str(), self.image_memory_bytes), |other| (other.name.as_str(), other.memory_bytes))
    }

    /// Refuses limits that are more than a client may ask for, and fuel with which no program begins.
    ///
    /// # Errors
    /// The field of the first such limit, and why it is refused.
    pub(crate) fn check_limits(&self, asked: &Limits) -> Result<(), (&'static str, String)> {
        Limits::check_fuel(asked.fuel).map_err(|why| ("limits.fuel", why))?;
        let Limits { fuel, memory_bytes, output_bytes, file_bytes, .. } = self.most;
        let limits = [
            ("limits.fuel", "units of fuel", asked.fuel, fuel),
            ("limits.memory_bytes", "bytes of memory", asked.memory_bytes, memory_bytes),
            ("limits.output_bytes", "bytes of output", asked.output_bytes, output_bytes),
            ("limits.file_bytes", "bytes of files", asked.file_bytes, file_bytes),
        ];
        match limits.into_iter().find(|(_, _, asked, most)| asked > most) {
            None => Ok(()),
            Some((field, what, asked, most)) => {
                Err((field, format!("this service allows {most} {what}, and {asked} are asked for")))
            }
        }
    }
}

/// The format of rows whose shape says what they are: what trainers carry beside a completion. Every judge has it.
pub(crate) const AUTO_FORMAT: &str = "auto";

/// Where a task comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TaskSource {
    /// A row of a public set, or of our own, as it is published.
    Row {
        format: String,
        /// The row's JSON text, unchanged: the order of keys may matter.
        row: String,
        /// What attempts at a `cruxeval` row predict.
        predict: Predicted,
        /// The task's name, instead of the one in the row.
        name: Option<String>,
    },
    /// A row that was sent before.
    Digest(Digest),
}

/// Conditions of a verdict that the request sets.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct JudgeOptions {
    /// The judge of tasks whose rows name none.
    pub(crate) judge: Option<Comparison>,
    /// Limits of each job, instead of the tasks' and the image's own.
    pub(crate) limits: LimitOverrides,
    pub(crate) seed: u64,
    /// Whether an attempt ends at its first failed case.
    pub(crate) early_stop: bool,
}

/// Why a task cannot be opened. The fault is the request's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TaskError {
    /// No row of that digest is kept: it was never sent, or was dropped for others.
    #[error("no task of digest `{0}` is kept")]
    UnknownDigest(Digest),
    /// No format has that name.
    #[error("{0}")]
    UnknownFormat(String),
    #[error("{reason}")]
    Invalid {
        /// Path of the field in the row; empty for the row as a whole.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The options do not fit.
    #[error("{reason}")]
    Options {
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl TaskError {
    /// What is wrong, with the field by its path in a request that has the row at `outer`.
    pub(crate) fn describe(&self, outer: &str) -> String {
        let field = match self {
            Self::Invalid { field, .. } => field,
            Self::Options { field, .. } => *field,
            Self::UnknownDigest(_) | Self::UnknownFormat(_) => "",
        };
        shortened(format!("`{}`: {self}", join_path(outer, field)), LONGEST_DESCRIPTION)
    }
}

/// Bytes of a description: it may quote the row, and stands in the answer for each attempt.
const LONGEST_DESCRIPTION: usize = 2048;

/// The path of `field` inside `outer`.
fn join_path(outer: &str, field: &str) -> String {
    let joint = if outer.is_empty() || field.is_empty() || field.starts_with('[') { "" } else { "." };
    format!("{outer}{joint}{field}")
}
