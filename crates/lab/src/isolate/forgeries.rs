//! Probes of the verifier: wrong programs that try to be judged correct, each against its problem, by that problem's own judge. An accepted
//! forgery has escaped. Some forgeries are known to be accepted where program and tests share an instance (see docs/verifying.md), so that
//! judging is left out here.

use std::time::Instant;

use veriplay_core::{Checks, Execute, Limits, Problem, Status, Trust};
use veriplay_corpus::built_in_forgeries;
use veriplay_corpus::forgeries::{ExpectedEnding, ForgeryEnding, ForgeryTarget, JudgingMode};
use veriplay_corpus::probes::judge::{Containment, Finding};
use veriplay_verifier::{ProblemRequest, judge_programs};

use super::ProbeResult;
use super::catalog::NamedProbe;

/// The class they are counted under.
pub const CLASS: &str = "forgeries";

/// A forgery and the problem that it attacks.
pub struct PlannedForgery {
    /// The file's name without its ending.
    file: String,
    /// The file and the problem.
    name: String,
    title: String,
    program: String,
    problem: Problem,
    expected: ExpectedEnding,
}

/// All forgeries, each against its problems.
pub fn planned_forgeries() -> Vec<PlannedForgery> {
    let corpus = built_in_forgeries();
    let mut planned = Vec::new();
    for forgery in &corpus.forgeries {
        for expected in forgery.expected.iter().filter(|one| one.judging != JudgingMode::Shared) {
            let problem = split_problem(&corpus.targets[&expected.problem]);
            if is_right_by_rule(&problem, expected) {
                continue;
            }
            let (file, name) = (forgery.name.clone(), format!("{} against {}", forgery.name, expected.problem));
            let title = forgery.statement.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
            let (program, expected) = (forgery.attempt.clone(), expected.clone());
            planned.push(PlannedForgery { file, name, title, program, problem, expected });
        }
    }
    planned
}

pub(crate) fn is_forgery(id: &str) -> bool {
    id.starts_with(CLASS) && planned_forgeries().iter().any(|forgery| forgery.is_called(id))
}

/// What the forgery `CLASS/NAME` tries, with its program or its answer; `None` where it is none.
pub fn explain(id: &str) -> Option<String> {
    let (CLASS, file) = id.split_once('/')? else { return None };
    let forgery = built_in_forgeries().forgeries.into_iter().find(|forgery| forgery.name == file)?;
    Some(format!("{}\n\n```\n{}\n```", forgery.statement.trim(), forgery.attempt.trim_end()))
}

impl PlannedForgery {
    /// Its file as `CLASS/NAME`, which stands for it against each of its problems.
    pub fn file_id(&self) -> String {
        format!("{CLASS}/{}", self.file)
    }

    /// Judges it.
    pub fn judge(&self, execute: &dyn Execute, image: &str) -> ProbeResult {
        let started = Instant::now();
        let finding = judge_forgery(execute, image, &self.problem, &self.program, &self.expected);
        ProbeResult::new(CLASS, &self.name, &self.title, finding, started)
    }
}

impl NamedProbe for PlannedForgery {
    fn class(&self) -> &'static str {
        CLASS
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn is_called(&self, id: &str) -> bool {
        id == self.file_id() || id == self.id()
    }
}

fn split_problem(target: &ForgeryTarget) -> Problem {
    let mut problem = target.problem.clone();
    if let Checks::Tests(code) = &mut problem.checks {
        code.trust = Trust::Split;
    }
    problem
}

/// Whether the problem's own judge accepts the forgery by the rules of the public set that it reproduces.
fn is_right_by_rule(problem: &Problem, expected: &ExpectedEnding) -> bool {
    let own = match &problem.checks {
        Checks::Calls(checks) => &checks.comparison.judge,
        Checks::Stdio(checks) => &checks.comparison.judge,
        Checks::Tests(_) | Checks::Prediction(_) | Checks::Environment(_) | Checks::Sql(_) | Checks::Appended(_) => {
            return false;
        }
    };
    expected.by_rule.contains(own)
}

fn judge_forgery(
    execute: &dyn Execute,
    image: &str,
    problem: &Problem,
    program: &str,
    expected: &ExpectedEnding,
) -> Finding {
    // The limits that the corpus is tested with: far more than any honest attempt needs.
    let limits = Limits {
        fuel: 1_000_000_000,
        memory_bytes: 256 << 20,
        output_bytes: 1 << 20,
        file_bytes: 1 << 20,
        deadline_ns: 300_000_000_000,
    };
    let request = ProblemRequest { problem, program, image, limits, seed: 11, early_stop: false };
    let verdict = judge_programs(execute, &[request]).pop();
    match (verdict, expected.ending) {
        (Some(Ok(verdict)), _) if verdict.status == Status::Accepted => {
            Finding::escaped(&format!("it was accepted ({} of {})", verdict.passed, verdict.total))
        }
        (Some(Ok(verdict)), ForgeryEnding::Status(status)) if verdict.status == status => {
            Finding::new(Containment::Contained, &format!("{:?}: {}", verdict.status, verdict.evidence.detail))
        }
        (Some(Err(dropped)), ForgeryEnding::Dropped) => Finding::new(Containment::Contained, &dropped.why),
        (Some(Ok(verdict)), ending) => {
            Finding::new(Containment::Unclear, &format!("{ending:?} expected, got {:?}", verdict.status))
        }
        (Some(Err(dropped)), _) => Finding::new(Containment::Unclear, &dropped.why),
        (None, _) => Finding::new(Containment::Unclear, "there is no verdict"),
    }
}
