//! Verdicts.

use serde::{Deserialize, Serialize};

use crate::{Digest, Task};

/// The judgement in one word. The words for programs are those of online judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The attempt is correct.
    Accepted,
    /// It ran and gave a wrong value.
    WrongAnswer,
    /// It raised or trapped.
    RuntimeError,
    /// It used up its fuel.
    FuelExceeded,
    /// It asked for more memory than allowed.
    MemoryExceeded,
    /// It wrote or returned more than allowed.
    OutputExceeded,
    /// It met the wall-clock backstop twice, the second time alone. This is the one status that is not reproducible.
    DeadlineExceeded,
    /// The program does not compile, or lacks the function to call.
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

/// A verdict on a proposal, and the task it became.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposalVerdict {
    /// The verdict.
    pub verdict: Verdict,
    /// The task, with outputs from our own execution. `Some` exactly when the status is [`Status::Valid`].
    pub task: Option<Task>,
}

/// An attempt that a fault of the host left without a verdict. It is never trained on and never gets a reward of zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("no verdict: {why}")]
pub struct Dropped {
    /// The host fault.
    pub why: String,
}
