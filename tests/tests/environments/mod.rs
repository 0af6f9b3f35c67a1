//! Code-as-Task on the real sandbox: environments, artifacts, executors' code, and attempts to cheat.

mod artifacts;
mod attempts;
mod episodes;
mod generated;
mod play;

use std::sync::OnceLock;

use veriplay_core::{
    Checks, CodeTask, Environment, EnvironmentChecks, Execute, Limits, Problem, ToolCall, Value, Verdict,
};
use veriplay_corpus::{EnvironmentCorpus, built_in_environments};
use veriplay_sandbox::{OutcomeCache, Sandbox};
use veriplay_tests::python_sandbox as python;
use veriplay_verifier::environments::{
    ArtifactGate, ArtifactReport, ArtifactRequest, CodeOutcome, CodeRequest, EpisodeRequest, examine_artifact,
    judge_episode, run_code,
};
use veriplay_verifier::{ProblemRequest, judge_program};

const LIMITS: Limits =
    Limits { fuel: 200_000_000, output_bytes: 1 << 20, deadline_ns: 300_000_000_000, ..Limits::small() };

fn gate() -> ArtifactGate {
    toml::from_str(include_str!("gate.toml")).unwrap()
}

fn corpus() -> &'static [EnvironmentCorpus] {
    static CORPUS: OnceLock<Vec<EnvironmentCorpus>> = OnceLock::new();
    CORPUS.get_or_init(built_in_environments)
}

fn environment(name: &str) -> &'static Environment {
    &corpus().iter().find(|one| one.environment.name == name).expect("an embedded environment").environment
}

fn task(task_id: &str) -> &'static CodeTask {
    let mut all = corpus().iter().flat_map(|one| &one.tasks);
    &all.find(|hand| hand.task.task_id == task_id).expect("an embedded task").task
}

/// What becomes of code in an environment, behind the calls of earlier code.
fn ran_in(environment: &Environment, history: &[ToolCall], code: &str, seed: u64) -> CodeOutcome {
    run_code(python(), &CodeRequest { environment, history, code, image: "python", limits: LIMITS, seed }).unwrap()
}

/// The verdict of a verification function on an episode.
fn episode(environment: &Environment, verify: &str, calls: &[ToolCall], answer: Option<&Value>) -> Verdict {
    let request = EpisodeRequest { environment, verify, calls, answer, image: "python", limits: LIMITS, seed: 3 };
    judge_episode(python(), &request).unwrap()
}

/// The verdict on an executor's code.
fn judged(execute: &dyn Execute, task: &CodeTask, code: &str) -> Verdict {
    let (environment, verify) = (environment(&task.environment).clone(), task.verify.clone());
    let checks = EnvironmentChecks { environment, verify, solution: None };
    let problem = Problem { limits: LIMITS.into(), ..Problem::new(&task.task_id, Checks::Environment(checks)) };
    let request = ProblemRequest { seed: 3, ..ProblemRequest::new(&problem, code) };
    judge_program(execute, &request).unwrap()
}

fn examined(gate: &ArtifactGate, task: &CodeTask) -> ArtifactReport {
    let request = ArtifactRequest { environment: environment(&task.environment), task, known: false };
    examine_artifact(remembered(), gate, &request).unwrap()
}

/// Jobs of these tests, each run once.
pub(crate) fn remembered() -> &'static OutcomeCache<&'static Sandbox> {
    static MEMO: OnceLock<OutcomeCache<&'static Sandbox>> = OnceLock::new();
    MEMO.get_or_init(|| OutcomeCache::new(python(), 100_000))
}
