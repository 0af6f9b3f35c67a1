//! What an artifact's codes do, run under both seeds of the gate. ArtifactRuns alone: [`super::artifact`] judges them.

use veriplay_core::{CodeTask, Dropped, Environment, Value};

use super::artifact_gate::ArtifactGate;
use super::attempt::run_verification;
use super::jobs::{self, CodeRequest, Compiled, Failure};
use crate::runner::Runner;

/// What code left.
#[derive(PartialEq)]
pub(super) struct CaseEnd {
    pub(super) calls: usize,
    pub(super) after: Value,
    pub(super) answer: Value,
}

/// What the verification function said, under each seed.
pub(super) type VerificationResults = [Result<bool, Failure>; 2];

/// The solution or a failure case.
pub(super) struct CaseRun {
    /// For people.
    pub(super) name: String,
    /// Under each seed.
    pub(super) ends: [Result<CaseEnd, Failure>; 2],
    /// Of what the first run left, where it left anything.
    pub(super) said: Option<VerificationResults>,
}

/// Everything the rules on runs look at.
pub(super) struct ArtifactRuns {
    pub(super) solution: CaseRun,
    pub(super) failures: Vec<CaseRun>,
    /// An answer on the untouched state, and the verification of it. The first answer is none.
    pub(super) nothing: Vec<(Value, VerificationResults)>,
}

impl ArtifactRuns {
    /// The solution, then the failure cases.
    pub(super) fn cases(&self) -> impl Iterator<Item = &CaseRun> {
        std::iter::once(&self.solution).chain(&self.failures)
    }

    /// All that was said.
    pub(super) fn verification_answers(&self) -> impl Iterator<Item = (&str, &VerificationResults)> {
        let of_cases = self.cases().filter_map(|case| Some((case.name.as_str(), case.said.as_ref()?)));
        of_cases.chain(self.nothing.iter().map(|(_, said)| ("doing nothing", said)))
    }
}

/// Runs everything. The outer errors are host faults, and an environment that cannot be opened is one.
pub(super) fn run_artifact(
    runner: &mut Runner<'_>,
    gate: &ArtifactGate,
    environment: &Environment,
    task: &CodeTask,
) -> Result<ArtifactRuns, Dropped> {
    let no_environment =
        |(_, detail): Failure| Dropped { why: format!("environment `{}`: {detail}", environment.name) };
    let compiled = jobs::compile_environment(runner, environment, &gate.image, gate.limits)?.map_err(no_environment)?;
    let opened = jobs::replay_calls(runner, &compiled, &[], &gate.image, gate.limits)?;
    let (before, _) = opened.map_err(no_environment)?;
    let mut lab = Lab { runner, gate, environment, compiled, verify: &task.verify, before };
    let solution = lab.case("the solution".to_owned(), &task.solution)?;
    let numbered = task.failures.iter().zip(1..);
    let failures = numbered.map(|(code, number)| lab.case(format!("failure case {number}"), code));
    let failures = failures.collect::<Result<_, _>>()?;
    let answers = std::iter::once(&Value::None).chain(&gate.canned_answers);
    let nothing = answers.map(|answer| Ok((answer.clone(), lab.run_verification(lab.before.clone(), answer.clone())?)));
    Ok(ArtifactRuns { solution, failures, nothing: nothing.collect::<Result<_, Dropped>>()? })
}

struct Lab<'a, 'b> {
    runner: &'a mut Runner<'b>,
    gate: &'a ArtifactGate,
    environment: &'a Environment,
    compiled: Compiled,
    verify: &'a str,
    before: Value,
}

impl Lab<'_, '_> {
    fn case(&mut self, name: String, code: &str) -> Result<CaseRun, Dropped> {
        let ends = [self.end(code, self.gate.seeds[0])?, self.end(code, self.gate.seeds[1])?];
        let said = match &ends[0] {
            Ok(end) => Some(self.run_verification(end.after.clone(), end.answer.clone())?),
            Err(_) => None,
        };
        Ok(CaseRun { name, ends, said })
    }

    fn end(&mut self, code: &str, seed: u64) -> Result<Result<CaseEnd, Failure>, Dropped> {
        let ArtifactGate { image, limits, .. } = self.gate;
        let (image, limits) = (image.as_str(), *limits);
        let request = CodeRequest { environment: self.environment, history: &[], code, image, limits, seed };
        let outcome = jobs::run_compiled(self.runner, &self.compiled, &request)?;
        if let Some(failure) = outcome.failure {
            return Ok(Err(failure));
        }
        let states = jobs::replay_calls(self.runner, &self.compiled, &outcome.calls, image, limits)?;
        let answer = outcome.answer.unwrap_or(Value::None);
        Ok(states.map(|(_, after)| CaseEnd { calls: outcome.calls.len(), after, answer }))
    }

    /// A job for each seed: the function cannot tell how often it has been asked.
    fn run_verification(&mut self, after: Value, answer: Value) -> Result<VerificationResults, Dropped> {
        let [first, second] = self.gate.seeds;
        let ArtifactGate { image, limits, .. } = self.gate;
        let (arguments, runner) = ([self.before.clone(), after, answer], &mut *self.runner);
        Ok([
            run_verification(runner, self.verify, arguments.clone(), image, *limits, first)?,
            run_verification(runner, self.verify, arguments, image, *limits, second)?,
        ])
    }
}
