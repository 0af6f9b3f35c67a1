//! What a judgement costs: the gate of a proposal, and an answer with and without a job.

use criterion::Criterion;
use veriplay_core::{Attempt, Execute, Limits, Proposal, Provenance, Status, Task, TaskType, Value};
use veriplay_sandbox::{Sandbox, SandboxOptions};
use veriplay_tests::python_image;
use veriplay_verifier::{
    AnswerRequest, InductionRules, ProbeRules, ProposalGate, ProposalRequest, judge_answer, judge_proposal,
};

const PROGRAM: &str = "def f(xs, k):
    total = 0
    for x in xs:
        total += x * k
    return total
";

fn main() {
    let sandbox = sandbox();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("verifier");
    group.bench_function("gate", |bencher| bencher.iter(|| valid(&sandbox, TaskType::Abduction)));
    for (task_type, answer) in [
        (TaskType::Deduction, Attempt::Value(Value::int(40))),
        (TaskType::Abduction, Attempt::Arguments(arguments("[8], 5"))),
    ] {
        let task = valid(&sandbox, task_type);
        let name = format!("answer, {}", task_type.name());
        group.bench_function(name, |bencher| bencher.iter(|| accepted(&sandbox, &task, &answer)));
    }
    group.finish();
    criterion.final_summary();
}

fn valid(execute: &dyn Execute, task_type: TaskType) -> Task {
    let proposal = Proposal::Triplet { task_type, program: PROGRAM.to_owned(), input: arguments("[3, 1, 4], 5") };
    let attempt = Attempt::Proposal(proposal);
    let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
    let judged = judge_proposal(execute, &gate(), &request).expect("no host fault");
    judged.task.unwrap_or_else(|| panic!("{:?}", judged.verdict))
}

fn accepted(execute: &dyn Execute, task: &Task, attempt: &Attempt) {
    let request = AnswerRequest { task, attempt, image: "python", seed: 3, judge_shown: true };
    let verdict = judge_answer(execute, &request).expect("no host fault");
    assert_eq!(verdict.status, Status::Accepted, "{verdict:?}");
}

fn arguments(text: &str) -> Vec<Value> {
    Value::parse_arguments(text).expect("a list of literals")
}

fn gate() -> ProposalGate {
    ProposalGate {
        image: "python".to_owned(),
        second_image: None,
        limits: Limits { fuel: 100_000_000, memory_bytes: 128 << 20, file_bytes: 1 << 16, ..Limits::small() },
        seeds: [1, 2],
        max_program_bytes: 400,
        min_statements: None,
        max_statements: None,
        max_output_bytes: 22,
        probes: ProbeRules { count: 8, min_succeeded: 4, min_distinct_outputs: 3 },
        induction: InductionRules { visible: 3, hidden: 3, min_distinct_outputs: 3 },
    }
}

fn sandbox() -> Sandbox {
    Sandbox::new(python_image(), SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() })
}
