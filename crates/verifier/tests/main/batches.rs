//! Many judgements at once, and the same one twice.

use veriplay_core::{Attempt, IoPair, Proposal, Provenance, Question, Status, Task, TaskType, Value};
use veriplay_sandbox::OutcomeCache;
use veriplay_verifier::{
    AnswerRequest, ProposalRequest, judge_answer, judge_answers, judge_proposal, judge_proposals, run_distinct,
};

use crate::table::{Gives, LIMITS, Table, gate, int_of, on_int};

#[test]
fn answers_come_back_in_order_and_as_one_by_one() {
    // Squares, and a host fault for multiples of seven.
    let table = Table::of(|call| match int_of(&call.arguments[0]) {
        x if x % 7 == 0 => Gives::HostFault,
        x => Gives::Value(Value::int(x * x)),
    });
    let task = |x: i64| {
        let pair = IoPair { input: vec![Value::int(x)], output: Value::int(x * x) };
        let question = Question::Abduction { program: "p".to_owned(), pair };
        Task { family: "test".to_owned(), language: None, question, limits: LIMITS, provenance: Provenance::Seed }
    };
    let tasks: Vec<Task> = (0..50).map(task).collect();
    let attempts: Vec<Attempt> = (0..50).map(|x| Attempt::Arguments(vec![Value::int(x + x % 2)])).collect();
    let requests: Vec<AnswerRequest<'_>> = tasks
        .iter()
        .zip(&attempts)
        .map(|(task, attempt)| AnswerRequest { task, attempt, image: "python", seed: 1, judge_shown: true })
        .collect();
    let together = judge_answers(&table, &requests);
    assert_eq!(together, requests.iter().map(|request| judge_answer(&table, request)).collect::<Vec<_>>());
    let word = |x: usize| together[x].as_ref().map(|verdict| verdict.status).ok();
    assert_eq!([word(2), word(3), word(14)], [Some(Status::Accepted), Some(Status::WrongAnswer), None]);
    assert!(judge_answers(&table, &[]).is_empty());
}

fn triplet(x: i64) -> Attempt {
    let (task_type, program, input) = (TaskType::Deduction, "p".to_owned(), vec![Value::int(x)]);
    Attempt::Proposal(Proposal::Triplet { task_type, program, input })
}

fn proposal(attempt: &Attempt, known: bool) -> ProposalRequest<'_> {
    ProposalRequest { attempt, known, provenance: Provenance::Seed }
}

#[test]
fn proposals_come_back_in_order_and_as_one_by_one() {
    let table = on_int(|x| Value::int(x * x));
    let attempts: Vec<Attempt> = (0..20).map(triplet).collect();
    let requests: Vec<_> = attempts.iter().enumerate().map(|(at, attempt)| proposal(attempt, at % 3 == 0)).collect();
    let together = judge_proposals(&table, &gate(), &requests);
    assert_eq!(together, requests.iter().map(|request| judge_proposal(&table, &gate(), request)).collect::<Vec<_>>());
    let valid = together.iter().filter(|judged| judged.as_ref().unwrap().verdict.status == Status::Valid).count();
    assert_eq!(valid, 13);
}

#[test]
fn a_verdict_is_the_same_from_memory() {
    let plain = on_int(|x| Value::int(x * x));
    let cache = OutcomeCache::new(on_int(|x| Value::int(x * x)), 1000);
    for attempt in [3, 4, 3].map(triplet) {
        let request = proposal(&attempt, false);
        assert_eq!(judge_proposal(&cache, &gate(), &request), judge_proposal(&plain, &gate(), &request));
    }
    assert_eq!((cache.hits(), cache.misses()), (2, 4));
}

#[test]
fn equal_requests_are_run_once() {
    let run = |distinct: &[i32]| {
        assert_eq!(distinct, [13, 21, 5]);
        distinct.iter().map(|x| 2 * x).collect()
    };
    assert_eq!(run_distinct(&[13, 21, 3, 5, 1], |x| x % 10, run), [26, 42, 26, 10, 42]);
}
