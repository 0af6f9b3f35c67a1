//! Judgements on responses and rounds, as an environment states them, whatever its tasks are.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Evidence, Status, Verdict};
use veriplay_verifier::agreement::GuardRefusal;

/// Seeds of what is executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// Of tools that episodes call.
    pub tools: u64,
    /// Of what judges run besides it.
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
pub enum Never {}

impl RoundFacts for Never {
    fn refusal(&self) -> Option<&GuardRefusal> {
        match *self {}
    }
}

/// When and where something was proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposalPosition {
    /// The step that it was proposed in.
    pub step: u64,
    /// Number of the chunk within the step.
    pub chunk: usize,
    /// Its place in the chunk.
    pub offset: usize,
}

/// The judgement on a response of a solver or of a verifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedResponse<D> {
    /// The verdict, or the host fault.
    pub verdict: Result<Verdict, Dropped>,
    /// What the game keeps of it for its numbers.
    pub detail: D,
}

/// The judgement on a round as a whole.
pub trait RoundFacts: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync {
    /// Why nothing may be learned from it; `None` when something may. The rule [`crate::splits::HELD_OUT`] says that its task is evaluated on.
    fn refusal(&self) -> Option<&GuardRefusal>;
}

/// Whether the responses to a task were judged to an end: always, where no verifiers are needed for it.
pub(crate) fn is_decided<R: RoundFacts>(rounds: &[Option<R>], task: usize) -> bool {
    rounds.get(task).is_none_or(|round| round.as_ref().is_some_and(|round| round.refusal().is_none()))
}

/// A verdict by a rule, without counts of tests.
pub fn rule_verdict(status: Status, rule: impl Into<String>, detail: impl Into<String>) -> Verdict {
    let evidence = Evidence { rule: rule.into(), detail: detail.into(), ..Evidence::default() };
    Verdict { status, passed: 0, total: 0, evidence }
}

/// An item to judge: open, or decided without running anything.
pub enum Judging<Q, R> {
    /// It has to be run.
    Open(Q),
    /// The result is known.
    Decided(R),
}

/// A host fault decides.
impl<Q, R, E> From<Result<Q, E>> for Judging<Q, Result<R, E>> {
    fn from(item: Result<Q, E>) -> Self {
        item.map_or_else(|error| Self::Decided(Err(error)), Self::Open)
    }
}

/// Gives each item its result in order: `run` gives those of all open ones at once.
pub fn run_undecided<Q, R>(items: impl IntoIterator<Item = Judging<Q, R>>, run: impl FnOnce(&[Q]) -> Vec<R>) -> Vec<R> {
    let (mut open, mut decided) = (Vec::new(), Vec::new());
    for item in items {
        decided.push(match item {
            Judging::Open(one) => {
                open.push(one);
                None
            }
            Judging::Decided(result) => Some(result),
        });
    }
    let mut results = run(&open).into_iter();
    decided.into_iter().map(|one| one.unwrap_or_else(|| results.next().expect("a result for each item"))).collect()
}
