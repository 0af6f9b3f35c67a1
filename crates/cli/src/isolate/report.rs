//! The report of a run, as data, as a table and as JUnit's XML.

use std::fmt::Write;
use std::time::Duration;

use anyhow::Context;
use quick_junit::{NonSuccessKind, Report as JunitReport, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;
use veriplay_core::SCHEMA_VERSION;
use veriplay_corpus::probes::Severity;
use veriplay_corpus::probes::judge::Containment;

use super::catalog::{classes, find_class};
use super::{ProbeResult, forgeries};

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct IsolationReport {
    schema_version: u32,
    /// What was attacked.
    target: String,
    seconds: f64,
    #[serde(flatten)]
    counts: ContainmentCounts,
    classes: Vec<ClassReport>,
    /// The verifier's forgeries, counted apart; `null` where they were not run.
    verifier: Option<ContainmentCounts>,
    probes: Vec<ProbeReport>,
    /// Probes that were not run, and why.
    not_tried: Vec<SkippedProbes>,
    /// What of the allow-list is out of date.
    allow_list: Vec<String>,
}

/// Probes by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ContainmentCounts {
    pub(crate) contained: usize,
    pub(crate) escaped: usize,
    pub(crate) unclear: usize,
    /// Of these, those that the allow-list names.
    pub(crate) allowed: usize,
}

impl ContainmentCounts {
    fn count<'a>(tried: impl Iterator<Item = &'a ProbeResult>) -> Self {
        tried.fold(Self::default(), |mut counts, one| {
            match one.finding.verdict {
                Containment::Contained => counts.contained += 1,
                Containment::Escaped => counts.escaped += 1,
                Containment::Unclear => counts.unclear += 1,
            }
            counts.allowed += usize::from(one.allowed.is_some());
            counts
        })
    }

    fn total(self) -> usize {
        self.contained + self.escaped + self.unclear
    }

    fn cells(self) -> [String; 4] {
        [self.contained, self.escaped, self.unclear, self.allowed].map(|count| count.to_string())
    }
}

#[derive(Debug, Serialize)]
struct ClassReport {
    class: String,
    tries: &'static str,
    severity: Severity,
    #[serde(flatten)]
    counts: ContainmentCounts,
}

#[derive(Debug, Serialize)]
struct ProbeReport {
    class: String,
    name: String,
    title: String,
    verdict: Containment,
    evidence: String,
    /// The reason that the allow-list gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<String>,
    seconds: f64,
}

/// Probes that were not run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SkippedProbes {
    pub(crate) what: String,
    pub(crate) count: usize,
    pub(crate) why: String,
}

impl IsolationReport {
    pub(crate) fn new(
        target: String,
        tried: &[ProbeResult],
        not_tried: Vec<SkippedProbes>,
        allow_list: Vec<String>,
        took: Duration,
    ) -> Self {
        let own = || tried.iter().filter(|one| one.class != forgeries::CLASS);
        let verifier = ContainmentCounts::count(tried.iter().filter(|one| one.class == forgeries::CLASS));
        let of_class = |name: &'static str| ContainmentCounts::count(tried.iter().filter(move |one| one.class == name));
        let classes = classes().map(|class| ClassReport {
            class: class.name.to_owned(),
            tries: class.tries,
            severity: class.severity,
            counts: of_class(class.name),
        });
        Self {
            schema_version: SCHEMA_VERSION,
            target,
            seconds: took.as_secs_f64(),
            counts: ContainmentCounts::count(own()),
            classes: classes.filter(|class| class.counts.total() > 0).collect(),
            verifier: (verifier.total() > 0).then_some(verifier),
            probes: tried.iter().map(ProbeReport::new).collect(),
            not_tried,
            allow_list,
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut out =
            format!("isolation of {}: {} probes in {:.1} s\n\n", self.target, self.counts.total(), self.seconds);
        write_line(&mut out, "", HEADINGS.map(str::to_owned));
        self.rows().for_each(|(name, counts)| write_line(&mut out, name, counts.cells()));
        for probe in self.probes.iter().filter(|probe| probe.verdict != Containment::Contained) {
            probe.describe(&mut out);
        }
        for left in &self.not_tried {
            let _ = write!(out, "\nnot tried: {} ({}): {}", left.what, left.count, left.why);
        }
        for note in &self.allow_list {
            let _ = write!(out, "\nallow-list: {note}");
        }
        out
    }

    /// For the summary page of a CI run.
    pub(crate) fn markdown(&self) -> String {
        let mut out = format!("## Isolation of {}\n\n| class | {} |\n|---|", self.target, HEADINGS.join(" | "));
        out += &"---:|".repeat(HEADINGS.len());
        for (name, counts) in self.rows() {
            let _ = write!(out, "\n| {name} | {} |", counts.cells().join(" | "));
        }
        out += "\n";
        for probe in self.probes.iter().filter(|probe| probe.verdict != Containment::Contained) {
            let reason = probe.allowed.as_ref().map_or_else(String::new, |reason| format!(" Allowed: {reason}"));
            let (class, name, title, evidence) = (&probe.class, &probe.name, &probe.title, &probe.evidence);
            let evidence = evidence.replace('`', "'");
            let _ = write!(out, "\n- **{}** `{class}/{name}`: {title}. `{evidence}`{reason}", probe.verdict.word());
        }
        for note in &self.allow_list {
            let _ = write!(out, "\n- Allow-list: {note}");
        }
        out + "\n"
    }

    fn rows(&self) -> impl Iterator<Item = (&str, ContainmentCounts)> {
        let classes = self.classes.iter().map(|class| (class.class.as_str(), class.counts));
        classes.chain([("all", self.counts)]).chain(self.verifier.map(|counts| ("forgeries", counts)))
    }
}

const HEADINGS: [&str; 4] = ["contained", "escaped", "unclear", "allowed"];

fn write_line(out: &mut String, name: &str, cells: [String; 4]) {
    let [contained, escaped, unclear, allowed] = cells;
    let _ = writeln!(out, "{name:<20}{contained:>10}{escaped:>10}{unclear:>10}{allowed:>10}");
}

impl ProbeReport {
    fn new(tried: &ProbeResult) -> Self {
        Self {
            class: tried.class.clone(),
            name: tried.name.clone(),
            title: tried.title.clone(),
            verdict: tried.finding.verdict,
            evidence: tried.finding.evidence.clone(),
            allowed: tried.allowed.clone(),
            seconds: tried.took.as_secs_f64(),
        }
    }

    fn describe(&self, out: &mut String) {
        let Self { class, name, title, verdict, evidence, .. } = self;
        let last = match &self.allowed {
            Some(reason) => format!("allowed: {reason}"),
            None => format!("hint: {}", hint(class)),
        };
        let _ = write!(out, "\n{}: {class}/{name}: {title}\n  {evidence}\n  {last}\n", verdict.word());
    }
}

/// Advice where a probe of this class was not contained.
pub(crate) fn hint(name: &str) -> &'static str {
    find_class(name).map_or("a wrong program was judged right: see task-corpus/forgeries", |class| class.hint)
}

/// The report as JUnit XML for a CI: a suite for each class, a case for each probe. An escape is a failure, an unclear probe an error;
/// GitHub and GitLab show both in red, with the evidence. What is allowed is skipped, with the reason.
pub(crate) fn junit_xml(target: &str, tried: &[ProbeResult], took: Duration) -> anyhow::Result<String> {
    let mut report = JunitReport::new(format!("veriplay isolate: {target}"));
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
        suite.add_test_cases(own().map(junit_case));
        report.add_test_suite(suite);
    }
    report.to_string().context("the report cannot be written as XML")
}

fn junit_case(tried: &ProbeResult) -> TestCase {
    let finding = &tried.finding;
    let failed = |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(finding.verdict.word());
        status.set_message(finding.evidence.as_str());
        status.set_description(format!("{}\n{}\nhint: {}", tried.title, finding.evidence, hint(&tried.class)));
        status
    };
    let status = match finding.verdict {
        _ if tried.allowed.is_some() => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("{} ({})", tried.allowed.clone().unwrap_or_default(), finding.evidence));
            status
        }
        Containment::Contained => TestCaseStatus::success(),
        Containment::Escaped => failed(NonSuccessKind::Failure),
        Containment::Unclear => failed(NonSuccessKind::Error),
    };
    let mut case = TestCase::new(tried.name.as_str(), status);
    case.set_classname(format!("isolation.{}", tried.class));
    case.set_time(tried.took);
    case
}
