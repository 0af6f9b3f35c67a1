//! Rows of answers: what `veriplay verify --out` writes, with the reward, or the fault where there is no verdict.

use serde::Serialize;
use utoipa::ToSchema;
use veriplay_core::{RowStatus, Status, VerdictRow};
use veriplay_eval::JudgedAttempt;

use crate::answer::shortened;
use crate::queue::Unfinished;

/// Bytes of the field and of the reason of a fault that the row of a task has.
const LONGEST_FIELD: usize = 256;
const LONGEST_REASON: usize = 1024;

/// Why an attempt has no verdict. It says nothing about the attempt: a trainer must leave it out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Fault {
    /// The cause.
    pub(crate) kind: FaultKind,
    /// The cause in words.
    pub(crate) message: String,
    /// How often the service tried again.
    pub(crate) retried: u32,
    /// Path of the field in the task's row, where the row cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
}

/// Causes of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FaultKind {
    /// The sandbox or the machine failed.
    Host,
    /// The request's deadline passed first.
    Deadline,
    /// The service stopped first.
    Stopped,
    /// A bug of the service.
    Bug,
    /// The row of its task cannot be read.
    UnreadableTask,
}

impl FaultKind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Deadline => "deadline",
            Self::Stopped => "stopped",
            Self::Bug => "bug",
            Self::UnreadableTask => "unreadable_task",
        }
    }
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>, retried: u32) -> Self {
        Self { kind, message: message.into(), retried, field: None }
    }

    /// The fault of all attempts at a task whose row is wrong in `field`.
    pub(crate) fn unreadable_task(field: String, reason: String) -> Self {
        // Each attempt at the task repeats them, and they may quote the row.
        let field = Some(shortened(field, LONGEST_FIELD)).filter(|field| !field.is_empty());
        Self { field, ..Self::new(FaultKind::UnreadableTask, shortened(reason, LONGEST_REASON), 0) }
    }

    /// The fault of a host that failed each time. The cause is only for the log: it may name files of the host.
    pub(crate) fn host(retried: u32) -> Self {
        Self::new(FaultKind::Host, "the sandbox or the machine failed; the service's log has the cause", retried)
    }

    pub(crate) fn unfinished(unfinished: Unfinished) -> Self {
        let (kind, message) = match unfinished {
            Unfinished::Deadline => (FaultKind::Deadline, "the request's deadline passed first"),
            Unfinished::Stopped | Unfinished::Full(_) => (FaultKind::Stopped, "the service stopped first"),
            Unfinished::Lost => (FaultKind::Bug, "the service failed; its log has the request's id"),
        };
        Self::new(kind, message, 0)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum ServedRow {
    Judged {
        /// Index of the attempt in the request.
        index: usize,
        /// The row of `veriplay verify --out`.
        #[serde(flatten)]
        row: Box<VerdictRow>,
        /// See [`reward`].
        reward: Option<f64>,
        /// Whether the verdict was in the cache.
        cached: bool,
        fault: (),
    },
    Unmeasured {
        /// Index of the attempt in the request.
        index: usize,
        task_id: String,
        attempt_id: String,
        status: (),
        reward: (),
        fault: Fault,
    },
}

/// The reward for trainers: 1 for an accepted attempt, 0 for another, and none where the attempt was not measured.
pub(crate) fn reward(row: &VerdictRow) -> Option<f64> {
    row.counts().then(|| if row.status == RowStatus::Judged(Status::Accepted) { 1.0 } else { 0.0 })
}

impl ServedRow {
    pub(crate) const fn index(&self) -> usize {
        let (Self::Judged { index, .. } | Self::Unmeasured { index, .. }) = self;
        *index
    }

    pub(crate) fn new(index: usize, name: (&str, &str), result: Result<JudgedAttempt, Fault>) -> Self {
        match result {
            Ok(JudgedAttempt { row, cached }) => {
                let reward = reward(&row);
                Self::Judged { index, row: Box::new(row), reward, cached, fault: () }
            }
            Err(fault) => {
                let (task_id, attempt_id) = (name.0.to_owned(), name.1.to_owned());
                Self::Unmeasured { index, task_id, attempt_id, status: (), reward: (), fault }
            }
        }
    }
}
