//! Many judgements at once.

use veriplay_core::{Attempt, IoPair, Proposal, Provenance, Question, Status, Task, TaskType, Value};
use veriplay_verifier::{AnswerRequest, ProposalRequest, judge_answer, judge_answers, judge_proposal, judge_proposals};

use crate::table::{Gives, LIMITS, Table, gate, int_of, on_int};

/// Squares, and a host fault for multiples of seven.
fn squares() -> Table {
    Table::of(|call| match int_of(&call.arguments[0]) {
        x if x % 7 == 0 => Gives::HostFault,
        x => Gives::Value(Value::int(x * x)),
    })
}

fn task(x: i64) -> Task {
    let pair = IoPair { input: vec![Value::int(x)], output: Value::int(x * x) };
    let question = Question::Abduction { program: "p".to_owned(), pair };
    Task { family: "test".to_owned(), question, limits: LIMITS, provenance: Provenance::Seed }
}

#[test]
fn answers_come_back_in_order_and_as_one_by_one() {
    let table = squares();
    let tasks: Vec<Task> = (0..50).map(task).collect();
    let attempts: Vec<Attempt> = (0..50).map(|x| Attempt::Arguments(vec![Value::int(x + x % 2)])).collect();
    let requests: Vec<AnswerRequest<'_>> = tasks
        .iter()
        .zip(&attempts)
        .map(|(task, attempt)| AnswerRequest { task, attempt, image: "python", seed: 1, judge_shown: true })
        .collect();
    let together = judge_answers(&table, &requests);
    let alone: Vec<_> = requests.iter().map(|request| judge_answer(&table, request)).collect();
    assert_eq!(together, alone);
    let word = |x: usize| together[x].as_ref().map(|verdict| verdict.status).ok();
    assert_eq!(
        (word(2), word(3), word(7), word(14)),
        (Some(Status::Accepted), Some(Status::WrongAnswer), Some(Status::WrongAnswer), None)
    );
    assert!(judge_answers(&table, &[]).is_empty());
}

#[test]
fn proposals_come_back_in_order_and_as_one_by_one() {
    let table = on_int(|x| Value::int(x * x));
    let attempts: Vec<Attempt> = (0..20)
        .map(|x| {
            let input = vec![Value::int(x)];
            Attempt::Proposal(Proposal::Triplet { task_type: TaskType::Deduction, program: "p".to_owned(), input })
        })
        .collect();
    let requests: Vec<ProposalRequest<'_>> = attempts
        .iter()
        .zip(0..)
        .map(|(attempt, index)| ProposalRequest {
            attempt,
            known: index % 3 == 0,
            provenance: Provenance::Proposed { step: 1, index },
        })
        .collect();
    let together = judge_proposals(&table, &gate(), &requests);
    let alone: Vec<_> = requests.iter().map(|request| judge_proposal(&table, &gate(), request)).collect();
    assert_eq!(together, alone);
    let valid = together.iter().filter(|judged| judged.as_ref().unwrap().verdict.status == Status::Valid).count();
    assert_eq!(valid, 13);
}
