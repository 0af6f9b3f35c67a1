//! Which proposals count as known.

use veriplay_core::{Attempt, Proposal, TaskType, Value};
use veriplay_selfplay::games::absolute_zero::{GameState, proposal_digest};

use crate::support::{adds, config, game, malformed, proposal, seeds};

fn known(state: &GameState, proposals: &[Proposal]) -> Vec<bool> {
    let attempts: Vec<Attempt> = proposals.iter().cloned().map(Attempt::Proposal).collect();
    game(config()).known(state, &attempts)
}

fn triplet(program: &str, input: i64) -> Proposal {
    let input = vec![Value::int(input)];
    Proposal::Triplet { task_type: TaskType::Deduction, program: program.to_owned(), input }
}

#[test]
fn a_proposal_is_known_when_its_task_is_in_the_buffer_of_its_type() {
    let mut state = GameState::new();
    state.add_seeds(seeds(0..1));
    for task_type in TaskType::ALL {
        assert_eq!(known(&state, &[proposal(task_type, 0), proposal(task_type, 1)]), [true, false], "{task_type:?}");
    }
}

#[test]
fn the_second_of_two_equal_proposals_in_a_batch_is_known() {
    let deduction = proposal(TaskType::Deduction, 1);
    let abduction = proposal(TaskType::Abduction, 1);
    let batch = [deduction.clone(), abduction.clone(), deduction, abduction];
    assert_eq!(known(&GameState::new(), &batch), [false, false, true, true]);
}

#[test]
fn what_is_no_proposal_is_not_known() {
    let attempts = [malformed(), malformed(), Attempt::Program(adds(1))];
    assert_eq!(game(config()).known(&GameState::new(), &attempts), [false; 3]);
}

#[test]
fn a_digest_tells_type_program_and_inputs_apart_and_nothing_else() {
    let plain = triplet("def f(x):\n    return x + 1", 1);
    let same = triplet("def f(x):  # adds\n\n  return x + 1\n", 1);
    assert_eq!(proposal_digest(&plain), proposal_digest(&same));
    let others = [
        triplet("def f(x):\n    return x + 2", 1),
        triplet("def f(x):\n    return x + 1", 2),
        proposal(TaskType::Abduction, 1),
        proposal(TaskType::Induction, 1),
    ];
    assert!(others.iter().all(|other| proposal_digest(other) != proposal_digest(&plain)));
    let float = vec![Value::Float(1.0)];
    let float = Proposal::Triplet { task_type: TaskType::Deduction, program: adds(1), input: float };
    assert_ne!(proposal_digest(&float), proposal_digest(&plain));
}

#[test]
fn a_message_does_not_make_an_induction_proposal_new() {
    let with = |message: &str| Proposal::Inputs {
        program: adds(1),
        inputs: vec![vec![Value::int(1)], vec![Value::int(2)]],
        message: message.to_owned(),
    };
    assert_eq!(proposal_digest(&with("")), proposal_digest(&with("it adds")));
}
