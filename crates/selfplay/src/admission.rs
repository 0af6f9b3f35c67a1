//! Admission: whether a proposal becomes a task of the pool.
//!
//! A proposal is admitted when it can be read, holds nothing that the policy is evaluated on ([`crate::splits`]), is unknown to the pool
//! and to the step, and passes the checks of its game. A game states these facts ([`JudgedProposal`]); what follows from them is decided
//! here, for rewards, for counts and for the pool, which then drops its oldest proposals where it has no room
//! ([`crate::task_pool::TaskPool::admit`]).

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Status, Verdict};

use crate::play::OutcomeCounts;
use crate::rewards::{ProposalFacts, ProposalOutcome};
use crate::splits;

/// Whether the pool or an earlier proposal has a task's key; the first argument is the proposal's place in its batch. A game calls it once for
/// each readable proposal, in order.
pub type IsKnown<'a> = dyn FnMut(usize, &Digest) -> bool + 'a;

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
    /// How often a guess at its task would be right, where that counts ([`crate::rewards::EpisodeFacts::guess_rate`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guess_rate: Option<f64>,
    /// What the game keeps of it for its numbers.
    pub detail: D,
}

impl<T, D> JudgedProposal<T, D> {
    /// The task, where it is valid and new.
    pub fn admitted(&self) -> Option<&T> {
        let valid = self.verdict.as_ref().is_ok_and(|verdict| verdict.status == Status::Valid);
        self.task.as_ref().filter(|_| valid && !self.known)
    }
}

/// The admission of a proposal, before any solver attempts its task.
#[derive(Debug, Clone, PartialEq)]
pub enum Admission<T> {
    /// It met a host fault.
    Dropped,
    /// Nothing could be read from the response.
    Malformed,
    /// A rule of the game or the guard refused it.
    Invalid,
    /// The pool or the step has it already.
    Duplicate,
    /// It is valid and new.
    Admitted(T),
}

impl<T: Clone> Admission<T> {
    /// The admission that a judgement states by itself.
    pub fn from_judgement<D>(judged: &JudgedProposal<T, D>) -> Self {
        let Ok(verdict) = &judged.verdict else { return Self::Dropped };
        match judged.admitted() {
            Some(task) => Self::Admitted(task.clone()),
            None if verdict.status == Status::Malformed => Self::Malformed,
            None if splits::is_refusal(verdict) => Self::Invalid,
            None if judged.known && judged.task.is_some() => Self::Duplicate,
            None => Self::Invalid,
        }
    }

    /// The task, where it is admitted.
    pub const fn task(&self) -> Option<&T> {
        if let Self::Admitted(task) = self { Some(task) } else { None }
    }

    /// What a reward may know of the proposal, with the facts that it has where it is admitted; `None` where it was dropped.
    pub(crate) const fn outcome(&self, facts: ProposalFacts) -> Option<ProposalOutcome> {
        Some(match self {
            Self::Dropped => return None,
            Self::Malformed => ProposalOutcome::Malformed,
            Self::Invalid => ProposalOutcome::Invalid,
            Self::Duplicate => ProposalOutcome::Duplicate,
            Self::Admitted(_) if facts.judged > 0 => ProposalOutcome::Solved(facts),
            Self::Admitted(_) => ProposalOutcome::Unrated(facts),
        })
    }
}

impl OutcomeCounts {
    pub(crate) fn add_proposal<T, D>(&mut self, judged: &JudgedProposal<T, D>) {
        let Ok(verdict) = &judged.verdict else {
            self.dropped += 1;
            return;
        };
        self.proposals += 1;
        self.valid_proposals += u64::from(judged.admitted().is_some());
        self.proposals_in_held_out += u64::from(splits::is_refusal(verdict));
    }
}
