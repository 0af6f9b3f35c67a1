//! Veriplay in the benchmark: the sandbox with a fresh state for every job and fuel on; for a triplet the verifier's gate and judge.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use veriplay_core::{
    Attempt, Dropped, Execute, Exit, Job, Limits, Outcome, Proposal, Provenance, Status, TaskType, Value,
};
use veriplay_sandbox::Sandbox;
use veriplay_verifier::{AnswerRequest, ProposalGate, ProposalRequest, judge_answer, judge_proposal};

use super::jobs::{BenchJob, JobKind, numbered};
use super::worker::{Round, RoundError, Worker, time_round};

/// Fuel of a script: several times what the longest named job needs.
const FUEL: u64 = 200_000_000_000;

pub(crate) struct Veriplay {
    sandbox: Arc<Sandbox>,
    gate: ProposalGate,
    limits: Limits,
    serial: Arc<AtomicU64>,
}

impl Veriplay {
    /// A caller that judges triplets by `gate`, in the sandbox's image. Its programs are numbered by `serial`, which all workers share.
    pub(crate) fn new(sandbox: Arc<Sandbox>, gate: ProposalGate, serial: Arc<AtomicU64>) -> Self {
        let limits = Limits { fuel: FUEL, ..sandbox.image().default_limits() };
        let gate = ProposalGate { image: sandbox.image().name().to_owned(), ..gate };
        Self { sandbox, gate, limits, serial }
    }

    fn run(&self, work: &BenchJob) -> Result<u64, RoundError> {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        match &work.kind {
            JobKind::Script { text, .. } => self.script(numbered(text, serial)),
            JobKind::Triplet { program, input, output, answer } => {
                self.triplet(numbered(program, serial), serial, input, output, answer)
            }
        }
    }

    fn script(&self, program: String) -> Result<u64, RoundError> {
        let outcome = run_script(&self.sandbox, program, self.limits)?;
        match outcome.exit {
            Exit::Returned => Ok(outcome.fuel),
            exit => Err(RoundError::Wrong(format!("{exit:?}: {:?}", outcome.error))),
        }
    }

    /// Judges the proposal by the gate, which runs it twice on its input and on similar ones, then one answer to its task.
    fn triplet(&self, program: String, seed: u64, input: &str, output: &str, answer: &str) -> Result<u64, RoundError> {
        let input = arguments(input)?;
        let proposal = Proposal::Triplet { task_type: TaskType::Abduction, program, input };
        let (attempt, provenance) = (Attempt::Proposal(proposal), Provenance::Seed);
        let request = ProposalRequest { attempt: &attempt, known: false, provenance };
        let judged = judge_proposal(&*self.sandbox, &self.gate, &request).map_err(dropped)?;
        let task = judged.task.ok_or_else(|| RoundError::Wrong(format!("{:?}", judged.verdict)))?;
        let veriplay_core::Question::Abduction { pair, .. } = &task.question else {
            return Err(RoundError::Wrong("the task is not an abduction".to_owned()));
        };
        if pair.output.to_string() != output {
            return Err(RoundError::Wrong(format!("`{}` instead of `{output}`", pair.output)));
        }
        let attempt = Attempt::Arguments(arguments(answer)?);
        let request =
            AnswerRequest { task: &task, attempt: &attempt, image: &self.gate.image, seed, judge_shown: true };
        let verdict = judge_answer(&*self.sandbox, &request).map_err(dropped)?;
        match verdict.status {
            Status::Accepted => Ok(judged.verdict.evidence.fuel + verdict.evidence.fuel),
            _ => Err(RoundError::Wrong(format!("{verdict:?}"))),
        }
    }
}

impl Worker for Veriplay {
    fn round(&mut self, work: &BenchJob, span: Duration) -> Result<Round, RoundError> {
        time_round(span, || self.run(work).map(Some))
    }
}

pub(super) fn run_script(sandbox: &Sandbox, program: String, limits: Limits) -> Result<Outcome, RoundError> {
    let job = Job { image: sandbox.image().name().to_owned(), limits, ..Job::script(program) };
    sandbox.execute(&job).map_err(|error| RoundError::Failed(error.to_string()))
}

fn arguments(text: &str) -> Result<Vec<Value>, RoundError> {
    Value::parse_arguments(text).map_err(|error| RoundError::Failed(format!("`{text}`: {error}")))
}

fn dropped(dropped: Dropped) -> RoundError {
    RoundError::Failed(dropped.why)
}
