//! Judges whether an artifact, a proposed Code-as-Task, is a useful task. [`rules`] lists what can be wrong with it.
//!
//! Rules on the text come first and run no job. Then all codes run once under each seed, and every further rule is a function of the
//! results. Rules do not mask one another, so each rule's yield can be reported.

use std::collections::HashSet;

use veriplay_core::{CodeTask, Digest, Dropped, Environment, Execute, Status, Verdict, program_hash};

use super::artifact_gate::ArtifactGate;
use super::case_runs::{ArtifactRuns, CaseEnd, CaseRun, run_artifact};
use super::rules;
use crate::runner::{Decision, Runner, truncate_detail};
use crate::spaces::find_quote;

/// Shorter lines can be in an instruction by chance.
const LEAK_CHARS: usize = 20;

/// One artifact to judge.
#[derive(Debug, Clone, Copy)]
pub struct ArtifactRequest<'a> {
    /// The environment it names.
    pub environment: &'a Environment,
    /// The artifact.
    pub task: &'a CodeTask,
    /// Whether the caller has the same artifact already.
    pub known: bool,
}

/// A verdict on an artifact, and all rules that it violates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactReport {
    /// Valid, or Invalid with the first rule that refuses it in `evidence.rule`.
    pub verdict: Verdict,
    /// The names of all violated rules, in the order of [`rules::RULES`]. When a rule on the text is violated, nothing runs.
    pub rules: Vec<&'static str>,
}

/// Judges an artifact by all rules.
pub fn examine_artifact(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    request: &ArtifactRequest<'_>,
) -> Result<ArtifactReport, Dropped> {
    let ArtifactRequest { environment, task, known } = *request;
    if task.environment != environment.name {
        let why = format!("the artifact is about environment `{}`, not `{}`", task.environment, environment.name);
        return Err(Dropped { why });
    }
    let mut runner = Runner::new(execute);
    let mut found: Vec<(&'static str, String)> = Vec::new();
    if known {
        found.push((rules::DUPLICATE, "the same artifact has been made before".to_owned()));
    }
    found.extend(TEXT_RULES.iter().filter_map(|(rule, holds)| Some((*rule, holds(gate, task)?))));
    if found.is_empty() {
        let facts = run_artifact(&mut runner, gate, environment, task)?;
        found.extend(RUN_RULES.iter().filter_map(|(rule, holds)| Some((*rule, holds(gate, &facts)?))));
    }
    let violated = found.iter().map(|(rule, _)| *rule).collect();
    let decision = match found.into_iter().next() {
        None => Decision { passed: 1, ..Decision::on_one(Status::Valid, "") },
        Some((rule, detail)) => Decision::by_rule(Status::Invalid, rule, detail),
    };
    Ok(ArtifactReport { verdict: decision.into_verdict(runner.evidence), rules: violated })
}

/// Says how a rule is violated, if it is.
type TextRule = fn(&ArtifactGate, &CodeTask) -> Option<String>;
type RunRule = fn(&ArtifactGate, &ArtifactRuns) -> Option<String>;

const TEXT_RULES: [(&str, TextRule); 5] = [
    (rules::LENGTH, length),
    (rules::FAILURE_COUNT, failure_count),
    (rules::LEAK, leak),
    (rules::REPEATED_CASE, repeated_case),
    (rules::DISTANT_CASE, distant_case),
];

const RUN_RULES: [(&str, RunRule); 10] = [
    (rules::SOLUTION_RUNS, |_, facts| not_run(std::slice::from_ref(&facts.solution))),
    (rules::FAILURE_RUNS, |_, facts| not_run(&facts.failures)),
    (rules::CASE_NONDETERMINISTIC, case_nondeterministic),
    (rules::TOO_FEW_CALLS, too_few_calls),
    (rules::VERIFIER_RUNS, verifier_runs),
    (rules::VERIFIER_NONDETERMINISTIC, verifier_nondeterministic),
    (rules::SOLUTION_REFUSED, solution_refused),
    (rules::FAILURE_ACCEPTED, failure_accepted),
    (rules::NOTHING_ACCEPTED, nothing_accepted),
    (rules::SAME_OUTCOME, same_outcome),
];

fn length(gate: &ArtifactGate, task: &CodeTask) -> Option<String> {
    let (chars, most) = (task.instruction.trim().chars().count(), gate.max_instruction_chars);
    if chars == 0 || chars > most {
        return Some(format!("an instruction of {chars} characters, {most} allowed"));
    }
    let bad = |code: &&String| code.trim().is_empty() || code.len() > gate.max_code_bytes;
    let code = [&task.verify, &task.solution].into_iter().chain(&task.failures).find(bad)?;
    Some(format!("a code of {} bytes, {} allowed", code.len(), gate.max_code_bytes))
}

fn failure_count(gate: &ArtifactGate, task: &CodeTask) -> Option<String> {
    let (count, wanted) = (task.failures.len(), gate.failures);
    (count != wanted).then(|| format!("{count} failure cases instead of {wanted}"))
}

/// An instruction must quote neither the solution nor the verification function, however it is spaced.
fn leak(_: &ArtifactGate, task: &CodeTask) -> Option<String> {
    let codes = [task.solution.as_str(), task.verify.as_str()];
    let parts = codes.into_iter().flat_map(str::lines).chain(codes).map(str::trim);
    let quoted = find_quote(&task.instruction, parts.filter(|part| part.chars().count() >= LEAK_CHARS))?;
    Some(format!("the instruction quotes `{}`", truncate_detail(quoted)))
}

fn repeated_case(_: &ArtifactGate, task: &CodeTask) -> Option<String> {
    let mut seen: HashSet<Digest> = HashSet::new();
    let codes = std::iter::once(&task.solution).chain(&task.failures);
    let (at, _) = codes.enumerate().find(|(_, code)| !seen.insert(program_hash(code)))?;
    Some(format!("failure case {at} has been there before"))
}

fn distant_case(gate: &ArtifactGate, task: &CodeTask) -> Option<String> {
    let allowed = gate.max_changed_lines?;
    let changed = task.failures.iter().map(|code| changed_lines(&task.solution, code));
    let (count, number) = changed.zip(1..).find(|(count, _)| *count > allowed)?;
    Some(format!("failure case {number} differs from the solution in {count} lines, {allowed} allowed"))
}

/// Counts the lines that are in one text only, by the longest common subsequence. The gate bounds the lengths of both.
fn changed_lines(old: &str, new: &str) -> usize {
    let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    let (old, new) = (lines(old), lines(new));
    let mut row = vec![0_usize; new.len() + 1];
    for line in &old {
        let mut diagonal = 0;
        for (at, other) in new.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if line == other { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    old.len() + new.len() - 2 * row[new.len()]
}

fn not_run(cases: &[CaseRun]) -> Option<String> {
    cases.iter().find_map(|case| {
        let (status, detail) = case.ends.iter().find_map(|end| end.as_ref().err())?;
        Some(format!("{}: {status:?}: {detail}", case.name))
    })
}

/// The rules on runs cover cases that complete under one seed only.
fn case_nondeterministic(_: &ArtifactGate, facts: &ArtifactRuns) -> Option<String> {
    let differs = |case: &&CaseRun| matches!(&case.ends, [Ok(first), Ok(second)] if first != second);
    let case = facts.cases().find(differs)?;
    Some(format!("{} leaves another state or answer under another seed", case.name))
}

fn too_few_calls(gate: &ArtifactGate, facts: &ArtifactRuns) -> Option<String> {
    let calls = facts.solution.ends[0].as_ref().ok()?.calls;
    (calls < gate.min_calls).then(|| format!("the solution calls {calls} tools, {} asked for", gate.min_calls))
}

fn verifier_runs(_: &ArtifactGate, facts: &ArtifactRuns) -> Option<String> {
    facts.verifications().find_map(|(name, results)| {
        let (status, detail) = results.iter().find_map(|result| result.as_ref().err())?;
        Some(format!("on {name}: {status:?}: {detail}"))
    })
}

fn verifier_nondeterministic(_: &ArtifactGate, facts: &ArtifactRuns) -> Option<String> {
    facts.verifications().find_map(|(name, results)| match results {
        [Ok(first), Ok(second)] if first != second => Some(format!("it says otherwise on {name}")),
        _ => None,
    })
}

/// The result of the verification function on a case under the first seed, if it has one.
fn first_verification(case: &CaseRun) -> Option<bool> {
    case.verification.as_ref().and_then(|results| results[0].as_ref().ok()).copied()
}

fn solution_refused(_: &ArtifactGate, facts: &ArtifactRuns) -> Option<String> {
    let is_refused = first_verification(&facts.solution) == Some(false);
    is_refused.then(|| "the verification function refuses the solution".to_owned())
}

fn failure_accepted(_: &ArtifactGate, facts: &ArtifactRuns) -> Option<String> {
    let accepted = facts.failures.iter().find(|case| first_verification(case) == Some(true))?;
    Some(format!("{} is accepted", accepted.name))
}

fn nothing_accepted(_: &ArtifactGate, facts: &ArtifactRuns) -> Option<String> {
    let (answer, _) = facts.untouched.iter().find(|(_, results)| matches!(results[0], Ok(true)))?;
    Some(format!("the answer `{answer}` on the untouched state is accepted"))
}

/// Failure cases with equal states and answers are one case in different words. A failure case that leaves what the solution leaves is for
/// the verification function to detect.
fn same_outcome(gate: &ArtifactGate, facts: &ArtifactRuns) -> Option<String> {
    let ends: Vec<(&CaseRun, &CaseEnd)> =
        facts.failures.iter().filter_map(|case| Some((case, case.ends[0].as_ref().ok()?))).collect();
    let (first, second) =
        ends.iter().enumerate().filter(|_| gate.distinct_outcomes).find_map(|(at, (second, end))| {
            let (first, _) = ends[..at].iter().find(|(_, earlier)| earlier.is_same_outcome(end))?;
            Some((first, second))
        })?;
    Some(format!("{} and {} leave the same state and answer", first.name, second.name))
}
