//! Four questions, six expressions, and their verdicts.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use veriplay_core::{Attempt, IoPair, Limits, Provenance, Question, Status, Task, Value};
use veriplay_learner::Learner;
use veriplay_tests::python_sandbox;
use veriplay_verifier::{AnswerRequest, judge_answer};

pub(super) const QUESTIONS: &[&str] = &["a?", "b?", "c?", "d?"];

pub(super) const CANDIDATES: &[&str] = &["x+1", "x+2", "x*2", "x*x", "x//2", "1-"];

/// What the right program does with the hidden inputs 3, 5 and −4.
fn expected(question: &str) -> [i64; 3] {
    match question {
        "a?" => [5, 7, -2],
        "b?" => [9, 25, 16],
        "c?" => [1, 2, -2],
        _ => [6, 10, -8],
    }
}

/// What became of an expression as the body of a program. The verdict is a pure function of the two, so it is kept.
pub(super) fn verdict(question: &str, expression: &str) -> Status {
    static KNOWN: Mutex<BTreeMap<(String, String), Status>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (question.to_owned(), expression.to_owned());
    if let Some(status) = known().get(&key) {
        return *status;
    }
    let attempt = Attempt::Program(format!("def f(x):\n    return {expression}"));
    let task = task(question);
    let request = AnswerRequest { task: &task, attempt: &attempt, image: "python", seed: 5, judge_shown: true };
    let status = judge_answer(python_sandbox(), &request).expect("the sandbox works").status;
    known().insert(key, status);
    status
}

fn task(question: &str) -> Task {
    let pair = |(input, output): (i64, i64)| IoPair { input: vec![Value::int(input)], output: Value::int(output) };
    let hidden = [3, 5, -4].into_iter().zip(expected(question)).map(pair).collect();
    let limits = Limits {
        fuel: 100_000_000,
        memory_bytes: 128 << 20,
        output_bytes: 1 << 16,
        file_bytes: 1 << 16,
        deadline_ns: 60_000_000_000,
    };
    let (message, reference) = (String::new(), String::new());
    let question = Question::Induction { visible: Vec::new(), hidden, message, reference };
    Task { family: "learning".to_owned(), question, limits, provenance: Provenance::Seed }
}

pub(super) fn accepted(question: &str) -> impl Iterator<Item = &'static str> {
    CANDIDATES.iter().copied().filter(move |candidate| verdict(question, candidate) == Status::Accepted)
}

pub(super) fn prompt(learner: &Learner, question: &str) -> Vec<u32> {
    learner.tokenizer().encode(question).expect("ascii")
}

#[test]
fn the_sandbox_tells_right_expressions_from_wrong_ones_and_from_broken_ones() {
    let right: Vec<Vec<&str>> = QUESTIONS.iter().map(|question| accepted(question).collect()).collect();
    assert_eq!(right, [vec!["x+2"], vec!["x*x"], vec!["x//2"], vec!["x*2"]]);
    assert_eq!(verdict("a?", "x+1"), Status::WrongAnswer);
    assert_eq!(verdict("a?", "1-"), Status::CompileError);
}
