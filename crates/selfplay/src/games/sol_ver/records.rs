//! What the log keeps of each proposed problem: all that its verdicts were made of.

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Rollout};
use veriplay_verifier::agreement::{Judgement, Refusal};

use crate::splits::HELD_OUT;

/// One proposed problem and what was written for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolVerRecord {
    /// The step.
    pub step: u64,
    /// Its place among the step's problems.
    pub index: usize,
    /// The program it was made from.
    pub snippet: String,
    /// What the proposer wrote.
    pub proposal: Rollout,
    /// Its text; `None` when none could be read.
    pub statement: Option<String>,
    /// Whether it had been stated before.
    pub known: bool,
    /// Why nobody was asked it: a guard on statements, or `malformed`.
    pub refused: Option<Refusal>,
    /// What the solver wrote. Empty for a problem that nobody was asked.
    pub codes: Vec<Rollout>,
    /// What the verifier wrote.
    pub suites: Vec<SuiteRollout>,
    /// What came of the round; `None` for a problem that nobody was asked.
    pub judged: Option<Result<Judgement, Dropped>>,
}

/// What the verifier wrote for one code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteRollout {
    /// The code, an index into the record's codes.
    pub candidate: usize,
    /// The response.
    pub rollout: Rollout,
}

impl SolVerRecord {
    /// Whether it was refused because what it states or what was trusted of it is measured.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        let of_round = self.judgement().and_then(|judgement| judgement.refused.as_ref());
        [self.refused.as_ref(), of_round].into_iter().flatten().any(|refusal| refusal.rule == HELD_OUT)
    }

    /// What came of the round, where there was one and it was not dropped.
    #[must_use]
    pub fn judgement(&self) -> Option<&Judgement> {
        self.judged.as_ref()?.as_ref().ok()
    }
}
