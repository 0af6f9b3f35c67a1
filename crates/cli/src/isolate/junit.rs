//! The report a CI renders: JUnit's XML, a suite for each class, a case for each probe.
//!
//! An escape is a failure, and what is unclear an error: GitHub and GitLab show both in red, with the evidence.

use std::time::Duration;

use anyhow::Context;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use veriplay_corpus::probes::judge::Containment;

use super::Tried;
use super::report::hint;

/// The XML.
pub(crate) fn xml(target: &str, tried: &[Tried], took: Duration) -> anyhow::Result<String> {
    let mut report = Report::new(format!("veriplay isolate: {target}"));
    report.set_time(took);
    let mut classes: Vec<&str> = Vec::new();
    for one in tried {
        if !classes.contains(&one.class.as_str()) {
            classes.push(&one.class);
        }
    }
    for class in classes {
        let own = || tried.iter().filter(|one| one.class == class);
        let mut suite = TestSuite::new(format!("isolation.{class}"));
        suite.set_time(own().map(|one| one.took).sum());
        suite.add_test_cases(own().map(case));
        report.add_test_suite(suite);
    }
    report.to_string().context("the report cannot be written as XML")
}

fn case(tried: &Tried) -> TestCase {
    let finding = &tried.finding;
    let failed = |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(finding.verdict.word());
        status.set_message(finding.evidence.as_str());
        status.set_description(format!("{}\n{}\nhint: {}", tried.title, finding.evidence, hint(&tried.class)));
        status
    };
    let status = match finding.verdict {
        Containment::Contained => TestCaseStatus::success(),
        Containment::Escaped => failed(NonSuccessKind::Failure),
        Containment::Unclear => failed(NonSuccessKind::Error),
    };
    let mut case = TestCase::new(tried.name.as_str(), status);
    case.set_classname(format!("isolation.{}", tried.class));
    case.set_time(tried.took);
    case
}
