//! The state of the game: buffers, anchors, and an exact round trip.

use proptest::prelude::*;
use veriplay_core::TaskType;
use veriplay_selfplay::anchors::Anchor;
use veriplay_selfplay::games::absolute_zero::{GameConfig, GameState};

use crate::step::{Script, play_step};
use crate::support::{config, game, rollout, seeds};

fn round_trip(state: &GameState) -> GameState {
    serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()
}

/// A state with everything in it: seeds, anchors, admitted proposals and solve rates.
fn full_state(steps: u64) -> GameState {
    let mut state = GameState::new();
    state.add_seeds(seeds(0..5));
    state.add_anchors([Anchor::from(&rollout("<PD>", "x")), Anchor::from(&rollout("<PA>", "y"))]);
    let game = game(config());
    for step in 0..steps {
        play_step(&game, &mut state, 1, step, &Script::fresh(step));
    }
    state
}

#[test]
fn json_gives_the_state_back_exactly() {
    let state = full_state(3);
    assert!(TaskType::ALL.into_iter().all(|task_type| state.buffer(task_type).entries().len() > 5));
    assert_eq!(round_trip(&state), state);
    assert_eq!(serde_json::to_string(&round_trip(&state)).unwrap(), serde_json::to_string(&state).unwrap());
}

#[test]
fn a_state_with_an_unknown_key_is_refused() {
    let text = serde_json::to_string(&GameState::new()).unwrap();
    assert!(serde_json::from_str::<GameState>(&text).is_ok());
    assert!(serde_json::from_str::<GameState>(&text.replacen('{', "{\"x\":1,", 1)).is_err());
}

#[test]
fn a_saved_state_continues_as_the_live_one() {
    let game = game(config());
    let mut live = full_state(2);
    let mut saved = round_trip(&live);
    let a = play_step(&game, &mut live, 1, 2, &Script::fresh(2));
    let b = play_step(&game, &mut saved, 1, 2, &Script::fresh(2));
    assert_eq!((a.scored, a.batch), (b.scored, b.batch));
    assert_eq!(live, saved);
}

#[test]
fn equal_seeds_are_kept_once() {
    let mut state = GameState::new();
    state.add_seeds(seeds(0..3));
    state.add_seeds(seeds(1..4));
    for task_type in TaskType::ALL {
        assert_eq!(state.buffer(task_type).entries().len(), 4);
        assert!(state.buffer(task_type).entries().iter().all(|entry| entry.seed));
    }
}

#[test]
fn over_capacity_the_newest_proposals_and_all_seeds_are_kept() {
    let game = game(GameConfig { buffer_capacity: 6, ..config() });
    let mut state = GameState::new();
    state.add_seeds(seeds(0..2));
    for step in 0..5 {
        play_step(&game, &mut state, 1, step, &Script::fresh(step));
        // Before step 1 nothing is over the capacity.
        let entries = state.buffer(TaskType::Deduction).entries();
        assert_eq!(entries.iter().filter(|entry| entry.seed).count(), 2);
        assert_eq!(entries.iter().filter(|entry| !entry.seed).count(), if step == 0 { 4 } else { 6 });
    }
    let steps: Vec<u64> = state.buffer(TaskType::Deduction).entries().iter().map(|entry| entry.step).collect();
    assert_eq!(steps, [0, 0, 3, 3, 4, 4, 4, 4]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn buffers_never_hold_a_task_or_a_proposal_twice(steps in prop::collection::vec(0..3_u64, 1..6)) {
        let game = game(GameConfig { buffer_capacity: 7, ..config() });
        let mut state = GameState::new();
        state.add_seeds(seeds(0..2));
        for (step, script) in (0..).zip(steps) {
            play_step(&game, &mut state, 1, step, &Script::fresh(script));
            for task_type in TaskType::ALL {
                let entries = state.buffer(task_type).entries();
                let ids: std::collections::BTreeSet<_> = entries.iter().map(|entry| &entry.id).collect();
                let digests: std::collections::BTreeSet<_> = entries.iter().map(|entry| &entry.digest).collect();
                prop_assert_eq!(ids.len(), entries.len());
                prop_assert_eq!(digests.len(), entries.len());
                prop_assert!(entries.iter().filter(|entry| !entry.seed).count() <= 7);
            }
        }
    }
}
