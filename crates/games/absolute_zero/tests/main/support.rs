//! Fixtures: small tasks, rollouts made of bytes, and verdicts made by hand.

use veriplay_absolute_zero::{AbsoluteZero, AbsoluteZeroConfig, AbsoluteZeroTasks, TripletTask};
use veriplay_core::{
    Attempt, Dropped, Evidence, Execute, ExecuteError, Exit, FinishReason, IoPair, Job, LimitKind, Limits, Outcome,
    PolicyVersion, Proposal, Provenance, Question, Rollout, Status, Task, TaskType, Value, Verdict,
};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::splits::Guard;

pub(crate) const LIMITS: Limits = Limits { fuel: 1, memory_bytes: 1, output_bytes: 1, file_bytes: 1, deadline_ns: 1 };

const CONFIG: &str = concat!(
    include_str!("settings.toml"),
    r#"
format = "compact"
reward = "failure_rate"
advantage = "group"
proposer_weight = 0.5
sft_samples = 2
sft_weight = 0.25
proposals_per_type = 4
tasks_per_type = 4
references = 0
fresh_fraction = 1.0
seed_share = 0.5
induction_visible = 1
induction_hidden = 2
"#
);

pub(crate) fn config() -> AbsoluteZeroConfig {
    toml::from_str(CONFIG).unwrap()
}

/// Absolute Zero without seeds and without an evaluation.
pub(crate) fn game(config: AbsoluteZeroConfig) -> Result<AbsoluteZero, PlayError> {
    let gate = toml::from_str(include_str!("gate.toml")).unwrap();
    let seed_drafts = Box::new(|_, _| -> Box<dyn Iterator<Item = Proposal>> { Box::new(std::iter::empty()) });
    let tasks = AbsoluteZeroTasks {
        gate,
        seed_drafts,
        seeds_per_type: 0,
        sft_per_type: 4,
        examples: Vec::new(),
        evaluation: Vec::new(),
        ladder: Vec::new(),
    };
    AbsoluteZero::new(config, tasks, Guard::default())
}

/// The program that adds `n`.
pub(crate) fn adds(n: i64) -> String {
    format!("def f(x):\n    return x + {n}")
}

pub(crate) fn pair(input: i64, n: i64) -> IoPair {
    IoPair { input: vec![Value::int(input)], output: Value::int(input + n) }
}

/// The task of type `task_type` on the program that adds `n`.
pub(crate) fn task(task_type: TaskType, n: i64) -> TripletTask {
    let program = adds(n);
    let question = match task_type {
        TaskType::Deduction => Question::Deduction { program, pair: pair(1, n) },
        TaskType::Abduction => Question::Abduction { program, pair: pair(1, n) },
        TaskType::Induction => Question::Induction {
            visible: vec![pair(1, n)],
            hidden: vec![pair(2, n), pair(3, n)],
            message: String::new(),
            reference: program,
        },
        TaskType::Error => Question::Error { program, input: vec![Value::str("a")], exception: "TypeError".to_owned() },
    };
    let (family, provenance) = ("test".to_owned(), Provenance::Seed);
    TripletTask(Task { family, language: None, question, limits: LIMITS, provenance })
}

/// Seeds of every type, on the programs that add `numbers`.
pub(crate) fn seeds(numbers: std::ops::Range<i64>) -> Vec<TripletTask> {
    TaskType::STANDARD.into_iter().flat_map(|task_type| numbers.clone().map(move |n| task(task_type, n))).collect()
}

/// The proposal that makes [`task`].
pub(crate) fn proposal(task_type: TaskType, n: i64) -> Proposal {
    let program = adds(n);
    match task_type {
        TaskType::Induction => {
            let inputs = [1, 2, 3].map(|input| vec![Value::int(input)]).to_vec();
            Proposal::Inputs { program, inputs, message: String::new() }
        }
        _ => Proposal::Triplet { task_type, program, input: vec![Value::int(1)] },
    }
}

/// A rollout whose tokens are bytes, with 0 as its end token.
pub(crate) fn rollout(prompt: &str, text: &str) -> Rollout {
    let bytes = |text: &str| text.bytes().map(u32::from).collect::<Vec<u32>>();
    let mut tokens = bytes(text);
    tokens.push(0);
    Rollout {
        id: None,
        prompt_tokens: bytes(prompt),
        rendered_prompt: None,
        logprobs: vec![-1.0; tokens.len()],
        tokens,
        text: text.to_owned(),
        finish: FinishReason::Stop,
        policy: PolicyVersion(0),
    }
}

pub(crate) fn verdict(status: Status) -> Verdict {
    Verdict { status, passed: 0, total: 1, evidence: Evidence::default() }
}

pub(crate) fn dropped() -> Dropped {
    Dropped { why: "the engine failed".to_owned() }
}

pub(crate) fn malformed() -> Attempt {
    Attempt::Malformed { reason: "no program".to_owned() }
}

pub(crate) struct Nobody;

impl Execute for Nobody {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        panic!("{job:?} was to be run")
    }
}

/// A host on which every job runs out of fuel.
pub(crate) struct Exhausted;

impl Execute for Exhausted {
    fn execute(&self, _: &Job) -> Result<Outcome, ExecuteError> {
        Ok(Outcome::new(Exit::Exceeded { limit: LimitKind::Fuel, allowed: 1, used: 1 }))
    }
}
