//! The verifier on the real sandbox: mistakes 5 to 10 of Absolute Zero's release, judges, test code, and the words of verdicts.
//!
//! Each file describes what the release does, and shows that Veriplay differs: an attack that must fail, and beside it
//! an honest program that must pass. Most cases stand in Python files, which [`cases`] reads.

mod cases;
mod embedding;
mod forgeries;
mod literal_tests;
mod objects;
mod other_languages;
mod parity;
mod proposals;
mod public_sets;
mod sql;
mod stdio;
mod test_code;

use veriplay_core::{
    Attempt, Checks, IoPair, Limits, Problem, Proposal, ProposalVerdict, Provenance, Question, Task, TaskType,
    TestCode, TestStyle, Trust, Value, Verdict,
};
use veriplay_tests::python_sandbox as python;
use veriplay_verifier::{
    AnswerRequest, ProblemRequest, ProposalGate, ProposalRequest, judge_answer, judge_program, judge_proposal,
};

const LIMITS: Limits = Limits { fuel: 200_000_000, output_bytes: 1 << 20, ..Limits::small() };

fn gate() -> ProposalGate {
    toml::from_str(include_str!("gate.toml")).unwrap()
}

/// For runs of test code: an honest program never meets these.
const LONG: Limits = Limits { fuel: 2_000_000_000, deadline_ns: 300_000_000_000, ..LIMITS };

/// The verdict on a program by the checks of a problem.
fn judge(problem: &Problem, program: &str, limits: Limits) -> Verdict {
    judge_program(python(), &ProblemRequest { limits, ..ProblemRequest::new(problem, program) }).unwrap()
}

/// The verdict on a program by test code alone.
fn judge_by_tests(code: TestCode, program: &str, limits: Limits) -> Verdict {
    judge(&Problem::new("t", Checks::Tests(code)), program, limits)
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
fn propose(gate: &ProposalGate, program: &str, input: &str) -> ProposalVerdict {
    let (task_type, input) = (TaskType::Deduction, Value::parse_arguments(input).unwrap());
    let attempt = Attempt::Proposal(Proposal::Triplet { task_type, program: program.to_owned(), input });
    let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
    judge_proposal(python(), gate, &request).unwrap()
}

fn task(question: Question) -> Task {
    Task { family: "test".to_owned(), language: None, question, limits: LIMITS, provenance: Provenance::Seed }
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
