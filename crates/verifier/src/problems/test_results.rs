//! What became of the tests of test code, and the decision on it.

use std::collections::HashSet;

use veriplay_core::Status;

use crate::runner::{Decision, MISSING_ENTRY, saturating_u32};

/// The rule of passed tests that use no name of the program.
pub(crate) const VACUOUS: &str = "vacuous";

/// The result of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestCodeResult {
    Passed,
    Failed,
    Error,
    Skipped,
    /// The program does not define the tested name.
    Missing,
    /// Something could not cross between the tests and the program.
    Unjudgeable,
    /// It passed, and uses no name of the program.
    Vacuous,
}

/// What became of one test.
pub(super) struct TestCodeRecord {
    pub(super) id: String,
    pub(super) result: TestCodeResult,
    pub(super) text: String,
}

/// What became of each test, or the failure of the program, or of the tests as a whole, without a report.
pub(super) type TestsReport = Result<Vec<TestCodeRecord>, Failure>;
pub(super) type Failure = (Status, String);

pub(super) fn decision(report: TestsReport, planned: Option<usize>, rule: &str) -> Decision {
    let records = match report {
        Ok(records) => records,
        Err((status, detail)) => {
            let total = saturating_u32(planned.unwrap_or(1));
            return Decision { status, passed: 0, total, rule: rule.to_owned(), detail };
        }
    };
    let (status, detail) = decide(&records, planned);
    let first = records.iter().find(|record| record.result != TestCodeResult::Passed).map(|record| record.result);
    let rule = match first {
        Some(TestCodeResult::Vacuous) => VACUOUS,
        Some(TestCodeResult::Missing) => MISSING_ENTRY,
        _ => rule,
    }
    .to_owned();
    let passed = records.iter().filter(|record| record.result == TestCodeResult::Passed).count();
    let total = planned.unwrap_or(0).max(records.len()).max(1);
    Decision { status, passed: saturating_u32(passed), total: saturating_u32(total), rule, detail }
}

/// Accepted when every planned test has passed exactly once; else the first failed test decides.
fn decide(records: &[TestCodeRecord], planned: Option<usize>) -> (Status, String) {
    let mut seen = HashSet::new();
    if let Some(twice) = records.iter().find(|record| !seen.insert(record.id.as_str())) {
        return (Status::RuntimeError, format!("test `{}` has two results", twice.id));
    }
    if let Some(record) = records.iter().find(|record| record.result != TestCodeResult::Passed) {
        let status = match record.result {
            TestCodeResult::Error | TestCodeResult::Missing => Status::RuntimeError,
            TestCodeResult::Unjudgeable | TestCodeResult::Vacuous => Status::Unjudgeable,
            _ => Status::WrongAnswer,
        };
        return (status, format!("test `{}`: {:?}: {}", record.id, record.result, record.text));
    }
    if records.is_empty() || planned.is_some_and(|planned| planned != records.len()) {
        return (Status::RuntimeError, format!("{} tests reported, {planned:?} planned", records.len()));
    }
    (Status::Accepted, String::new())
}
