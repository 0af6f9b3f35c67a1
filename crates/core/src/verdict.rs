//! Verdicts.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::{Digest, SCHEMA_VERSION, Task};

/// The judgement in one word. The words for programs are those of online judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The attempt is correct.
    Accepted,
    /// It ran and gave a wrong value.
    WrongAnswer,
    /// It raised or trapped, or lacks the function to call.
    RuntimeError,
    /// It used up its fuel.
    FuelExceeded,
    /// It asked for more memory than allowed.
    MemoryExceeded,
    /// It wrote or returned more than allowed.
    OutputExceeded,
    /// It met the wall-clock backstop twice, the second time alone. This is the one status that is not reproducible.
    DeadlineExceeded,
    /// The program does not compile.
    CompileError,
    /// A run with another seed and clock gave another result.
    NonDeterministic,
    /// No attempt of the wanted kind could be extracted.
    Malformed,
    /// The task or its tests cannot judge this attempt; the evidence says why. The attempt is neither right nor wrong.
    Unjudgeable,
    /// A test suite that accepts the reference and kills a wrong program.
    Sound,
    /// A test suite that rejects the reference.
    Unsound,
    /// A test suite that kills no wrong program.
    Vacuous,
    /// A proposal that passed the validity gate.
    Valid,
    /// A proposal that the validity gate rejected; the evidence names the rule.
    Invalid,
}

impl Display for Status {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The evidence for a verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Digests of the jobs that ran for it, in planned order.
    pub jobs: Vec<Digest>,
    /// Total wasm fuel of those jobs.
    pub fuel: u64,
    /// The rule that decided, such as `constant` or `duplicate`; empty when the status needs none.
    pub rule: String,
    /// Details for people: the first difference, the exception.
    pub detail: String,
    /// Whether a job met its wall-clock deadline, so that another run may give another verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub met_deadline: bool,
    /// What of a response was judged; none where the attempt was the program itself. Boxed: most verdicts have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extraction: Option<Box<Extraction>>,
}

/// The part of a response that was taken for the attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extraction {
    /// The rule that found it, such as `block`.
    pub rule: String,
    /// The bytes of the response: where the part begins, and where it ends.
    pub span: [usize; 2],
}

/// The judgement of an attempt: a pure function of (task, attempt, image, limits, seed).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The judgement in one word.
    pub status: Status,
    /// Checks passed.
    pub passed: u32,
    /// Checks planned.
    pub total: u32,
    /// The evidence.
    pub evidence: Evidence,
}

impl Verdict {
    /// Whether it counts, for pass@k and for rewards: 1 where the status is [`Status::Accepted`], else 0. A task without a usable reference
    /// says nothing about its attempts.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.evidence.counts(self.status)
    }
}

impl Evidence {
    fn counts(&self, status: Status) -> bool {
        status != Status::Unjudgeable || self.rule != REFERENCE_RULE
    }
}

/// A verdict on a proposal, and the task it became.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposalVerdict {
    /// The verdict.
    pub verdict: Verdict,
    /// The task, with outputs from our own execution. `Some` exactly when the status is [`Status::Valid`].
    pub task: Option<Task>,
    /// The share of right answers of a solver that always gives the program's commonest output; `None` where nothing was found of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guess_rate: Option<f64>,
}

/// An attempt that a fault of the host left without a verdict. It is never trained on and never gets a reward of zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("no verdict: {why}")]
pub struct Dropped {
    /// The host fault.
    pub why: String,
}

/// A verdict on one attempt as it is written: a line of `veriplay verify --out`, and of a served answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerdictRow {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The task's name.
    pub task_id: String,
    /// The attempt's name.
    pub attempt_id: String,
    /// The verdict's status, or that there is none.
    pub status: RowStatus,
    /// Checks passed.
    pub passed: u32,
    /// Checks planned.
    pub total: u32,
    /// Wasm fuel of all jobs.
    pub fuel: u64,
    /// The evidence. The reason is in `detail` where the attempt was dropped.
    pub evidence: Evidence,
    /// Digest of everything that the verdict depends on.
    pub judged: Digest,
}

/// A verdict's status, or that the attempt was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RowStatus {
    /// The attempt has a verdict.
    Judged(Status),
    /// It has none.
    Dropped(NoVerdict),
}

impl Display for RowStatus {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The status of a row without a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoVerdict {
    /// A fault of the host.
    Dropped,
}

/// The [`Evidence::rule`] of attempts whose task has no usable reference program.
pub const REFERENCE_RULE: &str = "reference";

/// The [`Evidence::rule`] of responses that hold no answer.
pub const EXTRACTION_RULE: &str = "extraction";

/// The [`Evidence::rule`] of rows that are no attempt, such as one that is not JSON.
pub const INVALID_ROW_RULE: &str = "invalid_row";

/// The [`Evidence::rule`] of attempts at a task that is not there.
pub const UNKNOWN_TASK_RULE: &str = "unknown_task";

impl VerdictRow {
    /// Whether it is of an attempt at a task, and not of an invalid row or of an attempt at an unknown task.
    pub fn has_task(&self) -> bool {
        ![INVALID_ROW_RULE, UNKNOWN_TASK_RULE].contains(&self.evidence.rule.as_str())
    }

    /// Whether it counts, for pass@k and for rewards. A dropped attempt does not, nor one without a task or whose task has no usable
    /// reference. Any other that is unjudgeable counts as not accepted: what the attempt contains may have made it so.
    pub fn counts(&self) -> bool {
        match self.status {
            RowStatus::Judged(status) => self.has_task() && self.evidence.counts(status),
            RowStatus::Dropped(_) => false,
        }
    }

    /// The row of an attempt. `judged` is the digest of everything that the verdict depends on.
    pub fn new(task_id: String, attempt_id: String, judged: Digest, verdict: Result<Verdict, Dropped>) -> Self {
        let none = || Evidence::default();
        let (status, passed, total, evidence) = match verdict {
            Ok(verdict) => (RowStatus::Judged(verdict.status), verdict.passed, verdict.total, verdict.evidence),
            Err(dropped) => (RowStatus::Dropped(NoVerdict::Dropped), 0, 0, Evidence { detail: dropped.why, ..none() }),
        };
        let fuel = evidence.fuel;
        Self { schema_version: SCHEMA_VERSION, task_id, attempt_id, status, passed, total, fuel, evidence, judged }
    }
}
