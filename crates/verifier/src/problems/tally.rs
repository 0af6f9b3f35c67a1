//! Counts cases: how many are passed, and what the first that is not was.

use veriplay_core::{Dropped, Status};

use super::Decision;
use crate::judges::Finding;

/// What became of one case: nothing when it is passed, else a status and a detail.
pub(super) type CaseResult = Option<(Status, String)>;

/// What a judge's finding means for a case.
pub(super) fn case_result(finding: Result<Finding, Dropped>) -> Result<CaseResult, Dropped> {
    Ok(match finding? {
        Finding::Right => None,
        Finding::Wrong(detail) => Some((Status::WrongAnswer, detail)),
    })
}

/// The cases of one attempt, in order.
pub(super) struct Tally {
    total: usize,
    seen: usize,
    passed: usize,
    first: CaseResult,
}

impl Tally {
    pub(super) const fn of(total: usize) -> Self {
        Self { total, seen: 0, passed: 0, first: None }
    }

    pub(super) fn add(&mut self, result: CaseResult) {
        match result {
            None => self.passed += 1,
            Some((status, detail)) if self.first.is_none() => {
                self.first = Some((status, format!("case {}: {detail}", self.seen)));
            }
            Some(_) => {}
        }
        self.seen += 1;
    }

    pub(super) const fn has_failed(&self) -> bool {
        self.first.is_some()
    }

    pub(super) fn decision(self) -> Decision {
        let (status, detail) = match self.first {
            Some(first) => first,
            None if self.passed == self.total && self.total > 0 => (Status::Accepted, String::new()),
            None => (Status::RuntimeError, "results are missing".to_owned()),
        };
        let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
        Decision { status, passed: count(self.passed), total: count(self.total), rule: String::new(), detail }
    }
}
