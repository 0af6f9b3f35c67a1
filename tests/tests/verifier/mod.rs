//! The verifier on the real sandbox: mistakes 5 to 10 of Absolute Zero's release, judges, test code, and the words of verdicts.
//!
//! Each file describes what the release does, and shows that Veriplay differs: an attack that must fail, and beside it
//! an honest program that must pass. Most cases stand in Python files, which [`cases`] reads.

mod cases;
mod exceptions;
mod failures;
mod forgeries;
mod host_faults;
mod interactors;
mod lies;
mod literal_tests;
mod nondeterminism;
mod objects;
mod ordinary;
mod parity;
mod proposals;
mod public_sets;
mod pytest_cases;
mod rows;
mod test_code;
mod truncation;

use veriplay_core::{
    Attempt, Checks, Dropped, Execute, IoPair, Limits, Problem, Proposal, ProposalVerdict, Provenance, Question,
    Status, Task, TaskType, TestCode, TestStyle, Trust, Value, Verdict,
};
use veriplay_tests::python_sandbox as python;
use veriplay_verifier::{
    AnswerRequest, InductionRules, ProbeRules, ProblemRequest, ProposalGate, ProposalRequest, judge_answer,
    judge_program, judge_proposal,
};

const LIMITS: Limits = Limits {
    fuel: 200_000_000,
    memory_bytes: 256 << 20,
    output_bytes: 1 << 20,
    file_bytes: 1 << 20,
    deadline_ns: 60_000_000_000,
};

fn gate() -> ProposalGate {
    ProposalGate {
        image: "python".to_owned(),
        second_image: None,
        limits: LIMITS,
        seeds: [1, 2],
        max_program_bytes: 2000,
        min_statements: None,
        max_statements: None,
        max_output_bytes: 200,
        probes: ProbeRules { count: 6, min_succeeded: 3, min_distinct_outputs: 3 },
        induction: InductionRules { visible: 2, hidden: 2, min_distinct_outputs: 2 },
    }
}

/// For runs of test code: an honest program never meets these.
const LONG: Limits = Limits { fuel: 2_000_000_000, deadline_ns: 300_000_000_000, ..LIMITS };

/// The verdict on a program by test code alone.
fn judge_by_tests(code: TestCode, program: &str, limits: Limits) -> Verdict {
    let problem = Problem::new("t", Checks::Tests(code));
    judge_program(python(), &ProblemRequest { limits, ..ProblemRequest::new(&problem, program) }).unwrap()
}

/// A function `check` that wants squares of `square`.
fn squares() -> TestCode {
    let source = "def check(candidate):\n    for n in range(5):\n        assert candidate(n) == n * n\n".to_owned();
    TestCode::new(Trust::Split, TestStyle::Check { source, function: "square".to_owned() })
}

/// The same tests, which are more than a list of cases by a set-up that does nothing.
fn for_the_test_runner(code: TestCode) -> TestCode {
    TestCode { setup: code.setup + "\nif True:\n    pass\n", ..code }
}

/// The verdict on a proposal of `program` with `input`.
fn propose(program: &str, input: &str) -> ProposalVerdict {
    propose_to(python(), &gate(), program, input).unwrap()
}

fn propose_to(
    execute: &dyn Execute,
    gate: &ProposalGate,
    program: &str,
    input: &str,
) -> Result<ProposalVerdict, Dropped> {
    let (task_type, input) = (TaskType::Deduction, Value::parse_arguments(input).unwrap());
    let attempt = Attempt::Proposal(Proposal::Triplet { task_type, program: program.to_owned(), input });
    judge_proposal(execute, gate, &ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed })
}

/// The executed output of a proposal that must be Valid.
fn gold(program: &str, input: &str) -> Value {
    let judged = propose(program, input);
    match judged.task.map(|task| task.question) {
        Some(Question::Deduction { pair, .. }) => pair.output,
        _ => panic!("not Valid: {:?}\n{program}", judged.verdict),
    }
}

/// The rule that refuses a proposal that must be Invalid.
fn refused_by(program: &str, input: &str) -> String {
    let ProposalVerdict { verdict, task, .. } = propose(program, input);
    assert!(verdict.status == Status::Invalid && task.is_none(), "taken, by {verdict:?}:\n{program}");
    verdict.evidence.rule
}

fn task(question: Question) -> Task {
    Task { family: "test".to_owned(), question, limits: LIMITS, provenance: Provenance::Seed }
}

fn answer(task: &Task, attempt: &Attempt) -> Verdict {
    judge_answer(python(), &AnswerRequest { task, attempt, image: "python", seed: 5, judge_shown: true }).unwrap()
}

/// The verdict on `program` as an answer to an induction task with these hidden pairs.
fn induce(program: &str, hidden: &[(&str, &str)]) -> Verdict {
    let pair = |(input, output): &(&str, &str)| IoPair {
        input: Value::parse_arguments(input).unwrap(),
        output: Value::parse_repr(output).unwrap(),
    };
    let hidden = hidden.iter().map(pair).collect();
    let question = Question::Induction { visible: vec![], hidden, message: String::new(), reference: String::new() };
    answer(&task(question), &Attempt::Program(program.to_owned()))
}

/// The verdict on an attempt at the input of `program` for `output`.
fn abduce(program: &str, output: &str, attempt: &Attempt) -> Verdict {
    let pair = IoPair { input: vec![], output: Value::parse_repr(output).unwrap() };
    answer(&task(Question::Abduction { program: program.to_owned(), pair }), attempt)
}

/// `return x + 1`: the honest program beside every attack.
const HONEST: &str = "def f(x):\n    return x + 1\n";
