//! Runs an artifact's codes, each under both seeds of the gate. [`super::artifact`] judges what comes of them.

use veriplay_core::{CodeTask, Dropped, Environment, Value};

use super::artifact_gate::ArtifactGate;
use super::attempt::run_verification;
use super::jobs::{self, Compiled, Failure};
use crate::runner::Runner;

/// The states before and after code, and its answer.
#[derive(Debug, PartialEq)]
pub(super) struct CaseEnd {
    pub(super) calls: usize,
    pub(super) before: Value,
    pub(super) after: Value,
    pub(super) answer: Value,
}

impl CaseEnd {
    /// Whether both leave the same state and answer.
    pub(super) fn is_same_outcome(&self, other: &CaseEnd) -> bool {
        self.after == other.after && self.answer == other.answer
    }
}

/// The results of the verification function under each seed.
pub(super) type VerificationResults = [Result<bool, Failure>; 2];

/// Runs of the solution or of a failure case.
pub(super) struct CaseRun {
    pub(super) name: String,
    pub(super) ends: [Result<CaseEnd, Failure>; 2],
    /// Verification of the first run, where that came to its end.
    pub(super) verification: Option<VerificationResults>,
}

/// Everything that the rules on runs need.
pub(super) struct ArtifactRuns {
    pub(super) solution: CaseRun,
    pub(super) failures: Vec<CaseRun>,
    /// Answers on the untouched state, each with its verification: `None`, the canned ones, and the solution's where it changes the state.
    pub(super) untouched: Vec<(Value, VerificationResults)>,
}

impl ArtifactRuns {
    /// The solution, then the failure cases.
    pub(super) fn cases(&self) -> impl Iterator<Item = &CaseRun> {
        std::iter::once(&self.solution).chain(&self.failures)
    }

    /// All verifications, each with the name of what it is of.
    pub(super) fn verifications(&self) -> impl Iterator<Item = (&str, &VerificationResults)> {
        let of_cases = self.cases().filter_map(|case| Some((case.name.as_str(), case.verification.as_ref()?)));
        of_cases.chain(self.untouched.iter().map(|(_, verification)| ("doing nothing", verification)))
    }
}

/// Runs everything.
pub(super) fn run_artifact(
    runner: &mut Runner<'_>,
    gate: &ArtifactGate,
    environment: &Environment,
    task: &CodeTask,
) -> Result<ArtifactRuns, Dropped> {
    let mut codes = CodeRunner::open(runner, gate, environment)?;
    let before = codes.initial_state()?;
    let solution = codes.run_case("the solution".to_owned(), &task.solution, &task.verify, &before)?;
    let failures = task
        .failures
        .iter()
        .zip(1..)
        .map(|(code, number)| codes.run_case(format!("failure case {number}"), code, &task.verify, &before));
    let failures = failures.collect::<Result<_, _>>()?;
    let mut answers: Vec<Value> = std::iter::once(&Value::None).chain(&gate.canned_answers).cloned().collect();
    // Where there is something to do, the right answer alone is not enough.
    if let Ok(end) = &solution.ends[0]
        && end.after != before
        && !answers.contains(&end.answer)
    {
        answers.push(end.answer.clone());
    }
    let untouched = answers.into_iter().map(|answer| {
        let arguments = [before.clone(), before.clone(), answer.clone()];
        Ok((answer, codes.verify(&task.verify, arguments)?))
    });
    Ok(ArtifactRuns { solution, failures, untouched: untouched.collect::<Result<_, Dropped>>()? })
}

/// Runs codes in one environment, which is compiled once.
pub(super) struct CodeRunner<'a, 'b> {
    runner: &'a mut Runner<'b>,
    gate: &'a ArtifactGate,
    environment: &'a Environment,
    compiled: Compiled<'a>,
}

impl<'a, 'b> CodeRunner<'a, 'b> {
    pub(super) fn open(
        runner: &'a mut Runner<'b>,
        gate: &'a ArtifactGate,
        environment: &'a Environment,
    ) -> Result<Self, Dropped> {
        let compiled = jobs::compile_environment(runner, environment, &gate.image, gate.limits)?;
        let compiled = compiled.map_err(|failure| invalid_environment(environment, failure))?;
        Ok(Self { runner, gate, environment, compiled })
    }

    fn initial_state(&mut self) -> Result<Value, Dropped> {
        let states = jobs::replay_calls(self.runner, &self.compiled, &[])?;
        states.map(|(before, _)| before).map_err(|failure| invalid_environment(self.environment, failure))
    }

    /// Runs `code`, and makes its calls again in a fresh environment.
    pub(super) fn run(&mut self, code: &str, seed: u64) -> Result<Result<CaseEnd, Failure>, Dropped> {
        let outcome = jobs::run_compiled(self.runner, &self.compiled, &[], code, seed)?;
        if let Some(failure) = outcome.failure {
            return Ok(Err(failure));
        }
        let states = jobs::replay_calls(self.runner, &self.compiled, &outcome.calls)?;
        let answer = outcome.answer.unwrap_or(Value::None);
        Ok(states.map(|(before, after)| CaseEnd { calls: outcome.calls.len(), before, after, answer }))
    }

    fn run_case(&mut self, name: String, code: &str, verify: &str, before: &Value) -> Result<CaseRun, Dropped> {
        let [first, second] = self.gate.seeds;
        let ends = [self.run(code, first)?, self.run(code, second)?];
        let verification = match &ends[0] {
            Ok(end) => Some(self.verify(verify, [before.clone(), end.after.clone(), end.answer.clone()])?),
            Err(_) => None,
        };
        Ok(CaseRun { name, ends, verification })
    }

    /// Runs a job for each seed: the function cannot count its calls.
    fn verify(&mut self, verify: &str, arguments: [Value; 3]) -> Result<VerificationResults, Dropped> {
        let ArtifactGate { image, limits, seeds: [first, second], .. } = self.gate;
        Ok([
            run_verification(self.runner, verify, arguments.clone(), image, *limits, *first)?,
            run_verification(self.runner, verify, arguments, image, *limits, *second)?,
        ])
    }
}

fn invalid_environment(environment: &Environment, (_, detail): Failure) -> Dropped {
    Dropped { why: format!("environment `{}`: {detail}", environment.name) }
}
