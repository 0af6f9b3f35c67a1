//! Judgements on proposals and responses, and what became of a proposal: what an environment states, whatever its tasks are.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Status, Verdict};
use veriplay_verifier::agreement::GuardRefusal;

use crate::splits;

/// Seeds of what is executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// Of tools that episodes call.
    pub tools: u64,
    /// Of judges.
    pub judge: u64,
    /// Of which part of a task its solvers are shown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shown: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(seed: &u64) -> bool {
    *seed == 0
}

impl Seeds {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What games derive that derive nothing, and the rounds of games that have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Nothing {}

impl Round for Nothing {
    fn refusal(&self) -> Option<&GuardRefusal> {
        match *self {}
    }
}

/// When and where something was proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposed {
    /// The step.
    pub step: u64,
    /// Number of the chunk within the step.
    pub chunk: usize,
    /// Its place in the chunk.
    pub offset: usize,
}

/// The judgement on a proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedProposal<T, D> {
    /// The verdict, or the host fault.
    pub verdict: Result<Verdict, Dropped>,
    /// The task that was proposed, where one could be made of it, valid or not.
    pub task: Option<T>,
    /// Whether the pool or an earlier proposal had it already.
    pub known: bool,
    /// What the game says beside.
    pub detail: D,
}

impl<T, D> JudgedProposal<T, D> {
    /// The task, where it is valid and new.
    pub fn admitted(&self) -> Option<&T> {
        let valid = self.verdict.as_ref().is_ok_and(|verdict| verdict.status == Status::Valid);
        self.task.as_ref().filter(|_| valid && !self.known)
    }

    /// Whether it was refused for holding what is evaluated on.
    #[must_use]
    pub fn is_held_out(&self) -> bool {
        self.verdict.as_ref().is_ok_and(splits::is_refusal)
    }
}

/// The judgement on a response of a solver or of a verifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Solution<D> {
    /// The verdict, or the host fault.
    pub verdict: Result<Verdict, Dropped>,
    /// What the game says beside.
    pub detail: D,
}

/// What is said of a round as a whole.
pub trait Round: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync {
    /// Why nothing may be learned from it; `None` when something may. The rule [`splits::HELD_OUT`] says that its task is evaluated on.
    fn refusal(&self) -> Option<&GuardRefusal>;
}

/// What became of a proposal, before anybody solved it.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing<T> {
    /// It met a host fault.
    Dropped,
    /// Nothing could be read.
    Malformed,
    /// It was refused.
    Invalid,
    /// It is known already.
    Duplicate,
    /// It is valid and new.
    Valid(T),
}

impl<T: Clone> Standing<T> {
    /// By the verdict alone.
    pub fn from_judgement<D>(judged: &JudgedProposal<T, D>) -> Self {
        let Ok(verdict) = &judged.verdict else { return Self::Dropped };
        match judged.admitted() {
            Some(task) => Self::Valid(task.clone()),
            None if verdict.status == Status::Malformed => Self::Malformed,
            None if splits::is_refusal(verdict) => Self::Invalid,
            None if judged.known && judged.task.is_some() => Self::Duplicate,
            None => Self::Invalid,
        }
    }

    /// The task, where it is valid and new.
    pub const fn task(&self) -> Option<&T> {
        if let Self::Valid(task) = self { Some(task) } else { None }
    }
}
