//! The judgement.

use serde::{Deserialize, Serialize};

use crate::{Digest, Task};

/// The judgement in one word. Program words are an online judge's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The attempt is right.
    Accepted,
    /// It ran, and the value is another.
    WrongAnswer,
    /// It raised or trapped.
    RuntimeError,
    /// It used up its fuel.
    FuelExceeded,
    /// It asked for more memory than allowed.
    MemoryExceeded,
    /// It wrote or returned more than allowed.
    OutputExceeded,
    /// It met the wall-clock backstop twice, the second time alone: the one status outside reproducibility.
    DeadlineExceeded,
    /// The program does not parse or has no such entry.
    CompileError,
    /// Another seed and clock gave another result.
    NonDeterministic,
    /// Nothing of the wanted kind could be extracted.
    Malformed,
    /// The task or its tests cannot judge this attempt; the evidence says why. Neither right nor wrong, and no fault of the host.
    Unjudgeable,
    /// A test suite that accepts the reference and kills a wrong program.
    Sound,
    /// A test suite that rejects the reference.
    Unsound,
    /// A test suite that kills no wrong program.
    Vacuous,
    /// A proposal that passed the validity gate.
    Valid,
    /// A proposal that did not; the evidence says which rule.
    Invalid,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Digests of the jobs that were run for it, in the order they were planned.
    pub jobs: Vec<Digest>,
    /// Wasm fuel of those jobs together.
    pub fuel: u64,
    /// The rule that decided, such as `constant` or `duplicate`; empty when the status needs none.
    pub rule: String,
    /// Details for people: the first difference, the exception.
    pub detail: String,
    /// Whether a job met its wall-clock deadline, so that another run may come to another verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub met_deadline: bool,
}

/// The judgement: a pure function of (task, attempt, image, limits, seed).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// In one word.
    pub status: Status,
    /// Checks passed.
    pub passed: u32,
    /// Checks planned.
    pub total: u32,
    /// What it rests on.
    pub evidence: Evidence,
}

/// A verdict on a proposal, with the task it became when it is [`Status::Valid`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// The task, outputs executed by us. `Some` exactly when the status is [`Status::Valid`].
    pub task: Option<Task>,
}

/// An attempt that could not be judged because of a fault of ours. It is never trained on and never a reward of zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("no verdict: {why}")]
pub struct Dropped {
    /// The host fault.
    pub why: String,
}
