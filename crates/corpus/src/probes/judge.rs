//! What a run of a probe means: contained, escaped, or unclear, with the evidence.
//!
//! Called by [`super::run`] for our own sandbox, and by the command line for other people's. Host facts come first: an
//! outcome that went beyond its limits, or a host that failed, is an escape whatever the program reports. `Unclear` is a
//! failure too: a probe that could not be run shows nothing.

use serde::Serialize;
use veriplay_core::{Exit, LimitKind, Limits, Outcome};

use super::{End, Expect, Probe};

/// Characters of evidence that are kept.
const EVIDENCE: usize = 300;

/// What became of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// In one word.
    pub verdict: Containment,
    /// What it rests on, one line.
    pub evidence: String,
}

/// Whether a probe was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Containment {
    /// It got nowhere.
    Contained,
    /// It got out, or further than allowed.
    Escaped,
    /// It neither got out nor was seen to be held.
    Unclear,
}

impl Containment {
    /// The word reports use.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Containment::Contained => "contained",
            Containment::Escaped => "escaped",
            Containment::Unclear => "unclear",
        }
    }
}

impl Finding {
    /// A finding, its evidence made fit to be shown: one line, no control characters, not long.
    #[must_use]
    pub fn new(verdict: Containment, evidence: &str) -> Self {
        let line = evidence.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ");
        let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        Self { verdict, evidence: line.chars().map(shown).take(EVIDENCE).collect() }
    }

    /// It got out.
    #[must_use]
    pub fn escaped(evidence: &str) -> Self {
        Self::new(Containment::Escaped, evidence)
    }
}

/// What one run in our sandbox came to: an outcome, a host fault, or a module the host would not load.
#[derive(Debug, Clone, PartialEq)]
pub enum Ran {
    /// A fact.
    Outcome(Box<Outcome>),
    /// The host failed.
    Fault(String),
    /// The host would not load it.
    Refused(String),
}

/// What one run of a Python file elsewhere came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Its standard output, as far as it was read.
    pub stdout: String,
    /// How it ended.
    pub ended: Ended,
}

/// How a run elsewhere ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit code.
    Exited(i32),
    /// Stopped from outside, or by a signal: in the words of who did it.
    Stopped(String),
    /// It was still running when we gave up, after this many seconds.
    StillRunning(u64),
    /// It could not be run at all.
    Failed(String),
}

/// How a probe ended, from the exit of its job.
#[must_use]
pub fn end_of(exit: &Exit) -> End {
    match exit {
        Exit::Returned => End::Returned,
        Exit::Raised | Exit::CompileError | Exit::MissingEntry => End::Raised,
        Exit::Trapped => End::Trapped,
        Exit::Exceeded { limit, .. } => match limit {
            LimitKind::Fuel => End::FuelExhausted,
            LimitKind::MemoryBytes => End::MemoryExceeded,
            LimitKind::OutputBytes => End::OutputExceeded,
            LimitKind::FileBytes => End::FilesExceeded,
            LimitKind::DeadlineNs => End::DeadlineExceeded,
        },
    }
}

/// What the runs of `probe`, in their order, mean.
#[must_use]
pub fn of_outcomes(probe: &Probe, runs: &[Ran]) -> Finding {
    harmed(probe, of_runs(probe, runs))
}

/// An unclear result is an escape where an honest program was harmed.
fn harmed(probe: &Probe, finding: Finding) -> Finding {
    if probe.honest && finding.verdict == Containment::Unclear {
        return Finding::escaped(&format!("an honest program after it did not end as it must: {}", finding.evidence));
    }
    finding
}

fn of_runs(probe: &Probe, runs: &[Ran]) -> Finding {
    if let Some(finding) = runs.iter().find_map(|run| escape(probe, run)) {
        return finding;
    }
    let Some(last) = runs.last() else { return Finding::new(Containment::Unclear, "nothing was run") };
    let outcome = match (last, &probe.expect) {
        (Ran::Refused(why), Expect::Ends(End::Refused, _)) => return Finding::new(Containment::Contained, why),
        (Ran::Refused(why), _) => {
            return Finding::new(Containment::Unclear, &format!("the host does not load it: {why}"));
        }
        (Ran::Fault(why), _) => return Finding::escaped(why),
        (Ran::Outcome(outcome), _) => outcome,
    };
    match &probe.expect {
        Expect::Says => judge_all_clear(runs, outcome),
        Expect::Same => same(runs),
        Expect::Stops if outcome.exit == Exit::Returned => Finding::new(Containment::Unclear, &story(outcome)),
        Expect::Stops => Finding::new(Containment::Contained, &story(outcome)),
        Expect::Ends(end, kind) => judge_end(*end, kind.as_deref(), outcome),
    }
}

/// The line by which a program says that it got out.
fn confession(stdout: &str) -> Option<&str> {
    stdout.lines().find(|line| line.starts_with("escaped:"))
}

/// The line by which a program says that it did not: its last.
fn all_clear(stdout: &str) -> Option<&str> {
    stdout.lines().rfind(|line| !line.trim().is_empty()).filter(|line| line.starts_with("contained:"))
}

fn escape(probe: &Probe, run: &Ran) -> Option<Finding> {
    match run {
        Ran::Fault(why) => Some(Finding::escaped(&format!("a program made the host fail: {why}"))),
        Ran::Refused(_) => None,
        Ran::Outcome(outcome) => {
            let stdout = String::from_utf8_lossy(&outcome.stdout);
            let said = confession(&stdout).map(Finding::escaped);
            said.or_else(|| beyond(&probe.limits, outcome).map(|what| Finding::escaped(&what)))
        }
    }
}

/// What an outcome shows beyond the limits it was under.
fn beyond(limits: &Limits, outcome: &Outcome) -> Option<String> {
    let output = outcome.stdout.len().max(outcome.stderr.len()) as u64;
    let over = |what, used: u64, allowed: u64| {
        (used > allowed).then(|| format!("{used} of {what}, and {allowed} are allowed"))
    };
    over("fuel", outcome.fuel, limits.fuel)
        .or_else(|| over("memory", outcome.peak_memory_bytes, limits.memory_bytes))
        .or_else(|| over("output", output, limits.output_bytes))
}

fn judge_all_clear(runs: &[Ran], last: &Outcome) -> Finding {
    let clear = |run: &Ran| match run {
        Ran::Outcome(outcome) => all_clear(&String::from_utf8_lossy(&outcome.stdout)).map(str::to_owned),
        Ran::Fault(_) | Ran::Refused(_) => None,
    };
    match runs.last().and_then(clear) {
        Some(line) if last.exit == Exit::Returned => Finding::new(Containment::Contained, &line),
        _ => Finding::new(Containment::Unclear, &story(last)),
    }
}

fn same(runs: &[Ran]) -> Finding {
    let text = |run: &Ran| match run {
        Ran::Outcome(outcome) if outcome.exit == Exit::Returned && !outcome.stdout.is_empty() => {
            Some(String::from_utf8_lossy(&outcome.stdout).into_owned())
        }
        _ => None,
    };
    same_texts(&runs.iter().map(text).collect::<Vec<_>>())
}

fn same_texts(texts: &[Option<String>]) -> Finding {
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

fn judge_end(end: End, kind: Option<&str>, outcome: &Outcome) -> Finding {
    let own = outcome.error.as_ref().map(|error| error.kind.as_str());
    let right = end_of(&outcome.exit) == end && (kind.is_none() || kind == own);
    let verdict = if right { Containment::Contained } else { Containment::Unclear };
    let wanted = if right { String::new() } else { format!("{} expected; ", end.word()) };
    Finding::new(verdict, &format!("{wanted}{}", story(outcome)))
}

/// How a run ended, for people.
fn story(outcome: &Outcome) -> String {
    let mut story = end_of(&outcome.exit).word().to_owned();
    if let Some(error) = &outcome.error {
        story += &format!(" ({}: {})", error.kind, error.message);
    }
    let stdout = String::from_utf8_lossy(&outcome.stdout);
    if let Some(line) = stdout.lines().rfind(|line| !line.trim().is_empty()) {
        story += &format!("; it printed `{}`", line.chars().take(120).collect::<String>());
    }
    story
}

/// What the runs of a language-level `probe` elsewhere mean.
#[must_use]
pub fn of_texts(probe: &Probe, runs: &[Text]) -> Finding {
    if let Some(line) = runs.iter().find_map(|run| confession(&run.stdout)) {
        return Finding::escaped(line);
    }
    if let Some(seconds) = runs.iter().find_map(|run| match run.ended {
        Ended::StillRunning(seconds) => Some(seconds),
        _ => None,
    }) {
        return Finding::escaped(&format!("it was still running after {seconds} s"));
    }
    let Some(last) = runs.last() else { return Finding::new(Containment::Unclear, "nothing was run") };
    match (&probe.expect, &last.ended) {
        (_, Ended::Failed(why)) => Finding::new(Containment::Unclear, why),
        (Expect::Same, _) => {
            let text =
                |run: &Text| (run.ended == Ended::Exited(0) && !run.stdout.is_empty()).then(|| run.stdout.clone());
            same_texts(&runs.iter().map(text).collect::<Vec<_>>())
        }
        (Expect::Says, Ended::Exited(0)) => match all_clear(&last.stdout) {
            Some(line) => Finding::new(Containment::Contained, line),
            None => Finding::new(Containment::Unclear, &format!("it printed `{}`", last.stdout.trim())),
        },
        (Expect::Says, ended) => Finding::new(Containment::Unclear, &how(ended)),
        // A program that was to meet a limit did not say that it got past it: something ended it.
        (Expect::Ends(End::Returned, _), Ended::Exited(0)) => Finding::new(Containment::Contained, "it ran to its end"),
        (Expect::Ends(..) | Expect::Stops, Ended::Exited(0)) => match all_clear(&last.stdout) {
            Some(line) => Finding::new(Containment::Contained, line),
            None => Finding::new(Containment::Unclear, "it ended by itself and does not say how far it got"),
        },
        (Expect::Ends(..) | Expect::Stops, ended) => Finding::new(Containment::Contained, &how(ended)),
    }
}

fn how(ended: &Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("it ended with exit code {code}"),
        Ended::Stopped(how) => format!("it was stopped: {how}"),
        Ended::StillRunning(seconds) => format!("it was still running after {seconds} s"),
        Ended::Failed(why) => why.clone(),
    }
}
