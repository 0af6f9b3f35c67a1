//! Judges whether an artifact, a proposed Code-as-Task, is a useful task. [`rules`] lists what can be wrong with it.
//!
//! Rules on the text come first and run no job. Then all codes run once under each seed, and every further rule is a function of the
//! results. Rules do not mask one another, so each rule's yield can be reported.

use std::collections::HashSet;

use veriplay_core::{CodeTask, Digest, Dropped, Environment, Evidence, Execute, Status, Verdict, program_hash};

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

/// A violated rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleViolation {
    /// The rule's name, one of [`rules::RULES`].
    pub rule: &'static str,
    /// For people.
    pub detail: String,
}

/// A verdict on an artifact, and all rules that it violates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactReport {
    /// Valid, or Invalid with the first rule that refuses it in `evidence.rule`.
    pub verdict: Verdict,
    /// The names of all violated rules, in the order of [`rules::RULES`].
    pub rules: Vec<&'static str>,
}

/// Judges an artifact: Valid, or Invalid with the first rule that refuses it in `evidence.rule`.
///
/// # Errors
/// A host fault, or an environment that cannot be opened.
pub fn judge_artifact(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    request: &ArtifactRequest<'_>,
) -> Result<Verdict, Dropped> {
    examine_artifact(execute, gate, request).map(|examined| examined.verdict)
}

/// As [`judge_artifact`], with all violated rules.
///
/// # Errors
/// As [`judge_artifact`].
pub(super) fn examine_artifact(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    request: &ArtifactRequest<'_>,
) -> Result<ArtifactReport, Dropped> {
    let (findings, evidence) = collect_findings(execute, gate, request)?;
    let rules = findings.iter().map(|finding| finding.rule).collect();
    let verdict = match findings.into_iter().next() {
        None => Verdict { status: Status::Valid, passed: 1, total: 1, evidence },
        Some(RuleViolation { rule, detail }) => Decision::by_rule(Status::Invalid, rule, detail).into_verdict(evidence),
    };
    Ok(ArtifactReport { verdict, rules })
}

/// All violations of an artifact, in the order of [`rules::RULES`]; empty for a Valid one. When a rule on the text is violated, nothing
/// runs.
///
/// # Errors
/// As [`judge_artifact`].
pub fn inspect_artifact(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    request: &ArtifactRequest<'_>,
) -> Result<Vec<RuleViolation>, Dropped> {
    collect_findings(execute, gate, request).map(|(findings, _)| findings)
}

fn collect_findings(
    execute: &dyn Execute,
    gate: &ArtifactGate,
    request: &ArtifactRequest<'_>,
) -> Result<(Vec<RuleViolation>, Evidence), Dropped> {
    let ArtifactRequest { environment, task, known } = *request;
    if task.environment != environment.name {
        let why = format!("the artifact is about environment `{}`, not `{}`", task.environment, environment.name);
        return Err(Dropped { why });
    }
    let known = known.then(|| RuleViolation::new(rules::DUPLICATE, "the same artifact has been made before"));
    let findings: Vec<_> = known.into_iter().chain(TEXT_RULES.iter().filter_map(|rule| rule(gate, task))).collect();
    if !findings.is_empty() {
        return Ok((findings, Evidence::default()));
    }
    let mut runner = Runner::new(execute);
    let facts = run_artifact(&mut runner, gate, environment, task)?;
    let findings = RUN_RULES.iter().filter_map(|rule| rule(gate, task, &facts)).collect();
    Ok((findings, runner.evidence))
}

impl RuleViolation {
    fn new(rule: &'static str, detail: impl Into<String>) -> Self {
        Self { rule, detail: detail.into() }
    }
}

type TextRule = fn(&ArtifactGate, &CodeTask) -> Option<RuleViolation>;
type RunRule = fn(&ArtifactGate, &CodeTask, &ArtifactRuns) -> Option<RuleViolation>;

const TEXT_RULES: [TextRule; 5] = [length, failure_count, leak, repeated_case, distant_case];

const RUN_RULES: [RunRule; 10] = [
    |_, _, facts| runs(rules::SOLUTION_RUNS, std::slice::from_ref(&facts.solution)),
    |_, _, facts| runs(rules::FAILURE_RUNS, &facts.failures),
    |_, _, facts| case_nondeterministic(facts),
    |gate, _, facts| too_few_calls(gate, facts),
    |_, _, facts| verifier_runs(facts),
    |_, _, facts| verifier_nondeterministic(facts),
    |_, _, facts| solution_refused(facts),
    |_, _, facts| failure_accepted(facts),
    |_, _, facts| nothing_accepted(facts),
    same_outcome,
];

fn length(gate: &ArtifactGate, task: &CodeTask) -> Option<RuleViolation> {
    let chars = task.instruction.trim().chars().count();
    if chars == 0 || chars > gate.max_instruction_chars {
        let allowed = gate.max_instruction_chars;
        return Some(RuleViolation::new(
            rules::LENGTH,
            format!("an instruction of {chars} characters, {allowed} allowed"),
        ));
    }
    let bad = |code: &&String| code.trim().is_empty() || code.len() > gate.max_code_bytes;
    let code = [&task.verify, &task.solution].into_iter().chain(&task.failures).find(bad)?;
    Some(RuleViolation::new(rules::LENGTH, format!("a code of {} bytes, {} allowed", code.len(), gate.max_code_bytes)))
}

fn failure_count(gate: &ArtifactGate, task: &CodeTask) -> Option<RuleViolation> {
    let (count, wanted) = (task.failures.len(), gate.failures);
    (count != wanted)
        .then(|| RuleViolation::new(rules::FAILURE_COUNT, format!("{count} failure cases instead of {wanted}")))
}

/// An instruction must quote neither the solution nor the verification function, however it is spaced.
fn leak(_: &ArtifactGate, task: &CodeTask) -> Option<RuleViolation> {
    let codes = [task.solution.as_str(), task.verify.as_str()];
    let parts = codes.into_iter().flat_map(str::lines).chain(codes).map(str::trim);
    let quoted = find_quote(&task.instruction, parts.filter(|part| part.chars().count() >= LEAK_CHARS));
    quoted.map(|part| RuleViolation::new(rules::LEAK, format!("the instruction quotes `{}`", truncate_detail(part))))
}

fn repeated_case(_: &ArtifactGate, task: &CodeTask) -> Option<RuleViolation> {
    let mut seen: HashSet<Digest> = HashSet::new();
    let codes = std::iter::once(&task.solution).chain(&task.failures);
    let repeated = codes.enumerate().find(|(_, code)| !seen.insert(program_hash(code)));
    repeated.map(|(at, _)| RuleViolation::new(rules::REPEATED_CASE, format!("failure case {at} has been there before")))
}

fn distant_case(gate: &ArtifactGate, task: &CodeTask) -> Option<RuleViolation> {
    let allowed = gate.max_changed_lines?;
    let changed = task.failures.iter().map(|code| changed_lines(&task.solution, code));
    let (count, number) = changed.zip(1..).find(|(count, _)| *count > allowed)?;
    let detail = format!("failure case {number} differs from the solution in {count} lines, {allowed} allowed");
    Some(RuleViolation::new(rules::DISTANT_CASE, detail))
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

fn runs(rule: &'static str, cases: &[CaseRun]) -> Option<RuleViolation> {
    let failed = cases.iter().find_map(|case| Some((case, case.ends.iter().find_map(|end| end.as_ref().err())?)));
    failed.map(|(case, (status, detail))| RuleViolation::new(rule, format!("{}: {status:?}: {detail}", case.name)))
}

/// The rules on runs cover cases that complete under one seed only.
fn case_nondeterministic(facts: &ArtifactRuns) -> Option<RuleViolation> {
    let differs = |case: &&CaseRun| matches!(&case.ends, [Ok(first), Ok(second)] if first != second);
    let detail = |case: &CaseRun| format!("{} leaves another state or answer under another seed", case.name);
    facts.cases().find(differs).map(|case| RuleViolation::new(rules::CASE_NONDETERMINISTIC, detail(case)))
}

fn too_few_calls(gate: &ArtifactGate, facts: &ArtifactRuns) -> Option<RuleViolation> {
    let calls = facts.solution.ends[0].as_ref().ok()?.calls;
    let detail = || format!("the solution calls {calls} tools, {} asked for", gate.min_calls);
    (calls < gate.min_calls).then(|| RuleViolation::new(rules::TOO_FEW_CALLS, detail()))
}

fn verifier_runs(facts: &ArtifactRuns) -> Option<RuleViolation> {
    let failed = facts
        .verifications()
        .find_map(|(name, results)| Some((name, results.iter().find_map(|result| result.as_ref().err())?)));
    failed.map(|(name, (status, detail))| {
        RuleViolation::new(rules::VERIFIER_RUNS, format!("on {name}: {status:?}: {detail}"))
    })
}

fn verifier_nondeterministic(facts: &ArtifactRuns) -> Option<RuleViolation> {
    let differs =
        |(_, results): &(&str, &[Result<bool, _>; 2])| matches!(results, [Ok(first), Ok(second)] if first != second);
    let found = facts.verifications().find(differs);
    found.map(|(name, _)| RuleViolation::new(rules::VERIFIER_NONDETERMINISTIC, format!("it says otherwise on {name}")))
}

/// The result of the verification function on a case under the first seed, if it has one.
fn first_verification(case: &CaseRun) -> Option<bool> {
    case.verification.as_ref().and_then(|results| results[0].as_ref().ok()).copied()
}

fn solution_refused(facts: &ArtifactRuns) -> Option<RuleViolation> {
    let refused = first_verification(&facts.solution) == Some(false);
    refused.then(|| RuleViolation::new(rules::SOLUTION_REFUSED, "the verification function refuses the solution"))
}

fn failure_accepted(facts: &ArtifactRuns) -> Option<RuleViolation> {
    let accepted = facts.failures.iter().find(|case| first_verification(case) == Some(true));
    accepted.map(|case| RuleViolation::new(rules::FAILURE_ACCEPTED, format!("{} is accepted", case.name)))
}

fn nothing_accepted(facts: &ArtifactRuns) -> Option<RuleViolation> {
    let (answer, _) = facts.untouched.iter().find(|(_, results)| matches!(results[0], Ok(true)))?;
    Some(RuleViolation::new(
        rules::NOTHING_ACCEPTED,
        format!("the answer `{answer}` on the untouched state is accepted"),
    ))
}

/// Failure cases with equal states and answers are one case in different words. A failure case that leaves what the solution leaves is for
/// the verification function to detect.
fn same_outcome(gate: &ArtifactGate, _: &CodeTask, facts: &ArtifactRuns) -> Option<RuleViolation> {
    let ends: Vec<_> = facts.failures.iter().filter_map(|case| Some((case, case.ends[0].as_ref().ok()?))).collect();
    let is_same = |first: &&(&CaseRun, &CaseEnd), (_, end): &(&CaseRun, &CaseEnd)| first.1.is_same_outcome(end);
    let pair = ends.iter().enumerate().find_map(|(at, second)| {
        let first = ends[..at].iter().find(|first| is_same(first, second))?;
        Some((first.0, second.0))
    });
    let (first, second) = pair.filter(|_| gate.distinct_outcomes)?;
    let detail = format!("{} and {} leave the same state and answer", first.name, second.name);
    Some(RuleViolation::new(rules::SAME_OUTCOME, detail))
}
