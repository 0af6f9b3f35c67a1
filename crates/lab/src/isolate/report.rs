//! The report of a run, as data, as a table and as JUnit's XML.

use std::fmt::Write;

use anyhow::Context;
use quick_junit::{NonSuccessKind, Report as JunitReport, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;
use veriplay_console::progress::counted;
use veriplay_core::SCHEMA_VERSION;
use veriplay_corpus::probes::Severity;
use veriplay_corpus::probes::judge::Containment;

use super::catalog::{classes, find_class};
use super::selection::{NotTried, SkippedProbes, UntriedProbe};
use super::{ProbeResult, SuiteEnd, forgeries};

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct IsolationReport<'a> {
    schema_version: u32,
    target: String,
    seconds: f64,
    /// Whether a signal stopped the suite before it had tried all that was selected.
    stopped: bool,
    #[serde(flatten)]
    counts: ContainmentCounts,
    classes: Vec<ClassReport>,
    /// The verifier's forgeries, counted apart; `null` where they were not run.
    forgeries: Option<ContainmentCounts>,
    probes: &'a [ProbeResult],
    /// Probes that were not run, and why.
    not_tried: Vec<SkippedProbes>,
    /// What of the allow-list is out of date.
    allow_list: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ContainmentCounts {
    /// Probes that did not get what they tried.
    pub(crate) contained: usize,
    /// Probes that got what they tried.
    pub(crate) escaped: usize,
    /// Probes whose runs do not say which.
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

impl<'a> IsolationReport<'a> {
    /// The report of these probes, for `--json` and for people.
    pub fn new(tried: &'a [ProbeResult], not_tried: &NotTried, allow_list: Vec<String>, end: &SuiteEnd<'_>) -> Self {
        let own = || tried.iter().filter(|one| one.class != forgeries::CLASS);
        let forgeries = ContainmentCounts::count(tried.iter().filter(|one| one.class == forgeries::CLASS));
        let of_class = |name: &'static str| ContainmentCounts::count(tried.iter().filter(move |one| one.class == name));
        let classes = classes().map(|class| ClassReport {
            class: class.name.to_owned(),
            tries: class.tries,
            severity: class.severity,
            counts: of_class(class.name),
        });
        Self {
            schema_version: SCHEMA_VERSION,
            target: end.target.to_owned(),
            seconds: end.took.as_secs_f64(),
            stopped: end.stopped,
            counts: ContainmentCounts::count(own()),
            classes: classes.filter(|class| class.counts.total() > 0).collect(),
            forgeries: (forgeries.total() > 0).then_some(forgeries),
            probes: tried,
            not_tried: not_tried.groups.clone(),
            allow_list,
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut out = format!("isolation of {}: {} in {:.1} s\n\n", self.target, self.tried(), self.seconds);
        write_line(&mut out, "", HEADINGS.map(str::to_owned));
        self.rows().for_each(|(name, counts)| write_line(&mut out, name, counts.cells()));
        self.not_contained().for_each(|probe| describe(&mut out, probe));
        for left in &self.not_tried {
            let _ = write!(out, "\nnot tried: {} ({}): {}", left.what, left.count, left.why);
        }
        for note in &self.allow_list {
            let _ = write!(out, "\nallow-list: {note}");
        }
        if self.stopped {
            let _ = write!(out, "\n{STOPPED}");
        }
        out
    }

    fn tried(&self) -> String {
        let probes = counted(self.counts.total(), "probe");
        match self.forgeries.map(|forgeries| counted(forgeries.total(), "forgery")) {
            None => probes,
            Some(forgeries) if self.counts.total() == 0 => forgeries,
            Some(forgeries) => format!("{probes} and {forgeries}"),
        }
    }

    /// For the summary page of a CI run.
    pub fn markdown(&self) -> String {
        let mut out = format!("## Isolation of {}\n\n| class | {} |\n|---|", self.target, HEADINGS.join(" | "));
        out += &"---:|".repeat(HEADINGS.len());
        for (name, counts) in self.rows() {
            let _ = write!(out, "\n| {name} | {} |", counts.cells().join(" | "));
        }
        out += "\n";
        for probe in self.not_contained() {
            let reason = probe.allowed.as_ref().map_or_else(String::new, |reason| format!(" Allowed: {reason}"));
            let (verdict, evidence) = (probe.finding.verdict.word(), probe.finding.evidence.replace('`', "'"));
            let _ = write!(out, "\n- **{verdict}** `{}`: {}. `{evidence}`{reason}", probe.id(), probe.title);
        }
        for left in &self.not_tried {
            let _ = write!(out, "\n- Not tried: {} ({}): {}", left.what, left.count, left.why);
        }
        for note in &self.allow_list {
            let _ = write!(out, "\n- Allow-list: {note}");
        }
        if self.stopped {
            let _ = write!(out, "\n\n**{STOPPED}**");
        }
        out + "\n"
    }

    fn not_contained(&self) -> impl Iterator<Item = &ProbeResult> {
        self.probes.iter().filter(|probe| probe.finding.verdict != Containment::Contained)
    }

    fn rows(&self) -> impl Iterator<Item = (&str, ContainmentCounts)> {
        let classes = self.classes.iter().map(|class| (class.class.as_str(), class.counts));
        classes.chain([("all", self.counts)]).chain(self.forgeries.map(|counts| (forgeries::CLASS, counts)))
    }
}

/// What a report of a suite that was stopped says.
const STOPPED: &str = "A signal stopped the suite: this report is not complete.";

const HEADINGS: [&str; 4] = ["contained", "escaped", "unclear", "of these allowed"];

fn write_line(out: &mut String, name: &str, cells: [String; 4]) {
    let [contained, escaped, unclear, allowed] = cells;
    let _ = writeln!(out, "{name:<20}{contained:>10}{escaped:>10}{unclear:>10}{allowed:>18}");
}

/// A probe that was not contained, for people.
fn describe(out: &mut String, probe: &ProbeResult) {
    let (verdict, evidence) = (probe.finding.verdict, &probe.finding.evidence);
    let last = match &probe.allowed {
        Some(reason) => format!("allowed: {reason}"),
        None => format!("hint: {}", advice(verdict, &probe.class)),
    };
    let _ = write!(out, "\n{}: {}: {}\n  {evidence}\n  {last}\n", verdict.word(), probe.id(), probe.title);
}

/// What an unclear probe asks for: nothing is known to have escaped.
const UNCLEAR: &str =
    "it shows neither; run the programs that `veriplay isolate --explain CLASS/NAME` prints on the target by hand";

/// Advice about a probe of this class with this verdict.
fn advice(verdict: Containment, class: &str) -> &'static str {
    if verdict == Containment::Unclear { UNCLEAR } else { hint(class) }
}

pub(crate) fn hint(name: &str) -> &'static str {
    find_class(name).map_or("a wrong program was judged right: see task-corpus/forgeries", |class| class.hint)
}

/// The report as JUnit XML for a CI: a suite for each class, a case for each probe that was selected. An escape is a failure, an unclear probe an
/// error; GitHub and GitLab show both in red, with the evidence. What is allowed is skipped, with the reason, and so is what was not tried. A suite
/// that was stopped is an error too.
pub(crate) fn junit_xml(tried: &[ProbeResult], not_tried: &NotTried, end: &SuiteEnd<'_>) -> anyhow::Result<String> {
    let mut report = JunitReport::new(format!("veriplay isolate: {}", end.target));
    report.set_time(end.took);
    let tried_cases = tried.iter().map(|one| (one.class.as_str(), junit_case(one)));
    let untried_cases = not_tried.selected.iter().map(|one| (one.class.as_str(), untried_case(one)));
    let mut classes: Vec<(&str, Vec<TestCase>)> = Vec::new();
    for (class, case) in tried_cases.chain(untried_cases) {
        match classes.iter_mut().find(|(name, _)| *name == class) {
            Some((_, cases)) => cases.push(case),
            None => classes.push((class, vec![case])),
        }
    }
    for (class, cases) in classes {
        let mut suite = TestSuite::new(format!("isolation.{class}"));
        suite.set_time(tried.iter().filter(|one| one.class == class).map(|one| one.took).sum());
        suite.add_test_cases(cases);
        report.add_test_suite(suite);
    }
    if end.stopped {
        let mut suite = TestSuite::new("isolation");
        suite.add_test_case(stopped_case(not_tried.unreached()));
        report.add_test_suite(suite);
    }
    report.to_string().context("the report cannot be written as XML")
}

fn untried_case(untried: &UntriedProbe) -> TestCase {
    let mut status = TestCaseStatus::skipped();
    status.set_message(format!("not tried: {}", untried.why));
    let mut case = TestCase::new(untried.name.as_str(), status);
    case.set_classname(format!("isolation.{}", untried.class));
    case
}

fn stopped_case(unreached: usize) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type("stopped");
    status.set_message(format!("a signal stopped the suite, {unreached} selected probes were not tried"));
    let mut case = TestCase::new("the suite ran to its end", status);
    case.set_classname("isolation");
    case
}

fn junit_case(tried: &ProbeResult) -> TestCase {
    let finding = &tried.finding;
    let failed = |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(finding.verdict.word());
        status.set_message(finding.evidence.as_str());
        let advice = advice(finding.verdict, &tried.class);
        status.set_description(format!("{}\n{}\nhint: {advice}", tried.title, finding.evidence));
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
