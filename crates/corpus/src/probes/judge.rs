//! Judges the runs of a probe: contained, escaped or unclear, with the evidence.
//!
//! [`super::run`] calls it for our own sandbox, the command line for other sandboxes. Facts of the host come first: an outcome beyond its
//! limits, or a host that failed, is an escape whatever the program reports. `Unclear` is a failure too, because a probe that could not
//! run shows nothing.

use serde::Serialize;
use veriplay_core::{Exit, LimitKind, Limits, Outcome};

use super::{Probe, ProbeExpectation, RunEnd};

const EVIDENCE: usize = 300;

/// The finding about a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The finding in one word.
    pub verdict: Containment,
    /// The evidence, in one line.
    pub evidence: String,
}

/// Whether a sandbox contained a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Containment {
    /// The probe got nowhere.
    Contained,
    /// The probe broke out, or got further than allowed.
    Escaped,
    /// Neither is certain.
    Unclear,
}

impl Containment {
    /// Its name in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Containment::Contained => "contained",
            Containment::Escaped => "escaped",
            Containment::Unclear => "unclear",
        }
    }
}

impl Finding {
    /// A finding, with its evidence on one line, without control characters and cut to a fixed length.
    pub fn new(verdict: Containment, evidence: &str) -> Self {
        let line = evidence.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ");
        let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        Self { verdict, evidence: line.chars().map(shown).take(EVIDENCE).collect() }
    }

    /// Whether the probe escaped.
    pub fn is_escape(&self) -> bool {
        self.verdict == Containment::Escaped
    }

    /// The finding that the probe escaped.
    pub fn escaped(evidence: &str) -> Self {
        Self::new(Containment::Escaped, evidence)
    }
}

/// The result of one run in our sandbox.
#[derive(Debug, Clone, PartialEq)]
pub enum SandboxRun {
    /// The outcome of the job.
    Outcome(Box<Outcome>),
    /// The host failed.
    Fault(String),
    /// The host refused to load the module.
    Refused(String),
}

/// The result of one run of a Python file in another sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalRun {
    /// Its standard output, as far as it was read.
    pub stdout: String,
    /// The end of its standard error, for people.
    pub stderr: String,
    /// How it ended.
    pub ended: ExternalExit,
}

/// How a run in another sandbox ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExternalExit {
    /// It ended with this exit code.
    Exited(i32),
    /// It was stopped from outside or by a signal; the text describes how.
    Stopped(String),
    /// It was still running after this many seconds.
    StillRunning(u64),
    /// It could not be run.
    Failed(String),
}

/// The end of a run, from the exit of its job.
pub fn end_of(exit: &Exit) -> RunEnd {
    match exit {
        Exit::Returned => RunEnd::Returned,
        Exit::Raised | Exit::CompileError | Exit::MissingEntry => RunEnd::Raised,
        Exit::Trapped => RunEnd::Trapped,
        Exit::Exceeded { limit, .. } => match limit {
            LimitKind::Fuel => RunEnd::FuelExhausted,
            LimitKind::MemoryBytes => RunEnd::MemoryExceeded,
            LimitKind::OutputBytes => RunEnd::OutputExceeded,
            LimitKind::FileBytes => RunEnd::FilesExceeded,
            LimitKind::DeadlineNs => RunEnd::DeadlineExceeded,
        },
    }
}

/// Judges the runs of `probe`, in their order.
pub fn judge_sandbox_runs(probe: &Probe, runs: &[SandboxRun]) -> Finding {
    escalate_if_honest(probe, judge_runs(probe, runs))
}

/// Turns an unclear result into an escape where the last program is honest.
fn escalate_if_honest(probe: &Probe, finding: Finding) -> Finding {
    if probe.honest && finding.verdict == Containment::Unclear {
        return Finding::escaped(&format!("an honest program after it did not end as it must: {}", finding.evidence));
    }
    finding
}

fn judge_runs(probe: &Probe, runs: &[SandboxRun]) -> Finding {
    if let Some(finding) = runs.iter().find_map(|run| find_escape(probe, run)) {
        return finding;
    }
    let Some(last) = runs.last() else { return Finding::new(Containment::Unclear, "nothing was run") };
    let outcome = match (last, &probe.expect) {
        (SandboxRun::Refused(why), ProbeExpectation::Ends(RunEnd::Refused, _)) => {
            return Finding::new(Containment::Contained, why);
        }
        (SandboxRun::Refused(why), _) => {
            return Finding::new(Containment::Unclear, &format!("the host does not load it: {why}"));
        }
        (SandboxRun::Fault(why), _) => return Finding::escaped(why),
        (SandboxRun::Outcome(outcome), _) => outcome,
    };
    match &probe.expect {
        ProbeExpectation::SaysContained => judge_all_clear(runs, outcome),
        ProbeExpectation::SameOutput => compare_outputs(runs),
        ProbeExpectation::Stopped if outcome.exit == Exit::Returned => {
            Finding::new(Containment::Unclear, &describe_outcome(outcome))
        }
        ProbeExpectation::Stopped => Finding::new(Containment::Contained, &describe_outcome(outcome)),
        ProbeExpectation::Ends(end, kind) => judge_end(*end, kind.as_deref(), outcome),
    }
}

/// Finds the line by which a program reports that it escaped.
fn find_confession(stdout: &str) -> Option<&str> {
    stdout.lines().find(|line| line.starts_with("escaped:"))
}

/// Finds the line by which a program reports that it was contained: its last.
fn find_all_clear(stdout: &str) -> Option<&str> {
    stdout.lines().rfind(|line| !line.trim().is_empty()).filter(|line| line.starts_with("contained:"))
}

fn find_escape(probe: &Probe, run: &SandboxRun) -> Option<Finding> {
    match run {
        SandboxRun::Fault(why) => Some(Finding::escaped(&format!("a program made the host fail: {why}"))),
        SandboxRun::Refused(_) => None,
        SandboxRun::Outcome(outcome) => {
            let stdout = String::from_utf8_lossy(&outcome.stdout);
            let said = find_confession(&stdout).map(Finding::escaped);
            said.or_else(|| find_excess(&probe.limits, outcome).map(|what| Finding::escaped(&what)))
        }
    }
}

/// Finds a limit that an outcome exceeds.
fn find_excess(limits: &Limits, outcome: &Outcome) -> Option<String> {
    let output = outcome.stdout.len().max(outcome.stderr.len()) as u64;
    let over = |what, used: u64, allowed: u64| {
        (used > allowed).then(|| format!("{used} of {what}, and {allowed} are allowed"))
    };
    over("fuel", outcome.fuel, limits.fuel)
        .or_else(|| over("memory", outcome.peak_memory_bytes, limits.memory_bytes))
        .or_else(|| over("output", output, limits.output_bytes))
}

fn judge_all_clear(runs: &[SandboxRun], last: &Outcome) -> Finding {
    let clear = |run: &SandboxRun| match run {
        SandboxRun::Outcome(outcome) => find_all_clear(&String::from_utf8_lossy(&outcome.stdout)).map(str::to_owned),
        SandboxRun::Fault(_) | SandboxRun::Refused(_) => None,
    };
    match runs.last().and_then(clear) {
        Some(line) if last.exit == Exit::Returned => Finding::new(Containment::Contained, &line),
        _ => Finding::new(Containment::Unclear, &describe_outcome(last)),
    }
}

fn compare_outputs(runs: &[SandboxRun]) -> Finding {
    let text = |run: &SandboxRun| match run {
        SandboxRun::Outcome(outcome) if outcome.exit == Exit::Returned && !outcome.stdout.is_empty() => {
            Some(String::from_utf8_lossy(&outcome.stdout).into_owned())
        }
        _ => None,
    };
    compare_texts(&runs.iter().map(text).collect::<Vec<_>>())
}

fn compare_texts(texts: &[Option<String>]) -> Finding {
    let mut all = texts.iter();
    let Some(Some(first)) = all.next() else {
        return Finding::new(Containment::Unclear, "the first run printed nothing to compare");
    };
    for other in all {
        match other {
            Some(other) if other == first => {}
            Some(other) => {
                return Finding::escaped(&format!("two runs differ: `{}` and `{}`", first.trim(), other.trim()));
            }
            None => return Finding::new(Containment::Unclear, "a later run printed nothing to compare"),
        }
    }
    Finding::new(Containment::Contained, &format!("{} runs print the same: `{}`", texts.len(), first.trim()))
}

fn judge_end(end: RunEnd, kind: Option<&str>, outcome: &Outcome) -> Finding {
    let own = outcome.error.as_ref().map(|error| error.kind.as_str());
    let right = end_of(&outcome.exit) == end && (kind.is_none() || kind == own);
    let verdict = if right { Containment::Contained } else { Containment::Unclear };
    let wanted = if right { String::new() } else { format!("{end} expected; ") };
    Finding::new(verdict, &format!("{wanted}{}", describe_outcome(outcome)))
}

/// Describes how a run ended, for people.
fn describe_outcome(outcome: &Outcome) -> String {
    let mut described = end_of(&outcome.exit).to_string();
    if let Some(error) = &outcome.error {
        described += &format!(" ({}: {})", error.kind, error.message);
    }
    let stdout = String::from_utf8_lossy(&outcome.stdout);
    if let Some(line) = stdout.lines().rfind(|line| !line.trim().is_empty()) {
        described += &format!("; it printed `{}`", line.chars().take(120).collect::<String>());
    }
    described
}

/// Judges the runs of a language-level `probe` in another sandbox.
pub fn judge_external_runs(probe: &Probe, runs: &[ExternalRun]) -> Finding {
    if let Some(line) = runs.iter().find_map(|run| find_confession(&run.stdout)) {
        return Finding::escaped(line);
    }
    if let Some(seconds) = runs.iter().find_map(|run| match run.ended {
        ExternalExit::StillRunning(seconds) => Some(seconds),
        _ => None,
    }) {
        // A target that hangs says nothing of what the program reached. What computes without end was to be stopped.
        let was_to_be_stopped =
            matches!(probe.expect, ProbeExpectation::Ends(RunEnd::FuelExhausted | RunEnd::DeadlineExceeded, _));
        let verdict = if was_to_be_stopped { Containment::Escaped } else { Containment::Unclear };
        return Finding::new(verdict, &format!("it was still running after {seconds} s"));
    }
    let Some(last) = runs.last() else { return Finding::new(Containment::Unclear, "nothing was run") };
    match (&probe.expect, &last.ended) {
        (_, ExternalExit::Failed(why)) => Finding::new(Containment::Unclear, why),
        (ProbeExpectation::SameOutput, _) => {
            let text = |run: &ExternalRun| {
                (run.ended == ExternalExit::Exited(0) && !run.stdout.is_empty()).then(|| run.stdout.clone())
            };
            compare_texts(&runs.iter().map(text).collect::<Vec<_>>())
        }
        (ProbeExpectation::SaysContained, ExternalExit::Exited(0)) => match find_all_clear(&last.stdout) {
            Some(line) => Finding::new(Containment::Contained, line),
            None => Finding::new(Containment::Unclear, &format!("it printed `{}`", last.stdout.trim())),
        },
        (ProbeExpectation::SaysContained, ended) => Finding::new(Containment::Unclear, &describe_exit(ended)),
        // A program that was to meet a limit did not say that it got past it: something ended it.
        (ProbeExpectation::Ends(RunEnd::Returned, _), ExternalExit::Exited(0)) => {
            Finding::new(Containment::Contained, "it ran to its end")
        }
        (ProbeExpectation::Ends(..) | ProbeExpectation::Stopped, ExternalExit::Exited(0)) => {
            match find_all_clear(&last.stdout) {
                Some(line) => Finding::new(Containment::Contained, line),
                None => Finding::new(Containment::Unclear, "it ended by itself and does not say how far it got"),
            }
        }
        (ProbeExpectation::Ends(..) | ProbeExpectation::Stopped, ended) => {
            Finding::new(Containment::Contained, &describe_exit(ended))
        }
    }
}

fn describe_exit(ended: &ExternalExit) -> String {
    match ended {
        ExternalExit::Exited(code) => format!("it ended with exit code {code}"),
        ExternalExit::Stopped(how) => format!("it was stopped: {how}"),
        ExternalExit::StillRunning(seconds) => format!("it was still running after {seconds} s"),
        ExternalExit::Failed(why) => why.clone(),
    }
}
