//! Which prompts a step draws.

use std::collections::BTreeSet;

use veriplay_core::{Role, TaskType};
use veriplay_selfplay::games::absolute_zero::{AbsoluteZero, GameConfig, GameState, Origin, ProposerTurn, SolverTurn};
use veriplay_selfplay::splits::Guard;

use crate::step::{Script, play_step, propose};
use crate::support::{config, game, seeds};

fn seeded(numbers: std::ops::Range<i64>) -> GameState {
    let mut state = GameState::new();
    state.add_seeds(seeds(numbers));
    state
}

fn of(turns: &[ProposerTurn], task_type: TaskType) -> Vec<&ProposerTurn> {
    turns.iter().filter(|turn| turn.task_type == task_type).collect()
}

#[test]
fn without_references_the_proposals_of_a_type_share_one_prompt() {
    let turns = game(config()).proposer_turns(&seeded(0..9), 1, 0);
    for (task_type, text) in [(TaskType::Deduction, "<PD>"), (TaskType::Abduction, "<PA>")] {
        let of_type = of(&turns, task_type);
        assert_eq!((of_type.len(), of_type[0].rollouts, of_type[0].prompt.text.as_str()), (1, 4, text));
        assert_eq!(of_type[0].given, None);
    }
}

#[test]
fn each_induction_proposal_is_given_another_program() {
    let turns = game(config()).proposer_turns(&seeded(0..9), 1, 0);
    let of_type = of(&turns, TaskType::Induction);
    let given: BTreeSet<&String> = of_type.iter().map(|turn| turn.given.as_ref().unwrap()).collect();
    assert_eq!((of_type.len(), given.len()), (4, 4));
    assert!(of_type.iter().all(|turn| turn.rollouts == 1 && turn.prompt.text.contains(turn.given.as_ref().unwrap())));
}

#[test]
fn few_programs_are_asked_for_several_times_and_none_not_at_all() {
    let game = game(config());
    assert_eq!(of(&game.proposer_turns(&seeded(0..1), 1, 0), TaskType::Induction).len(), 4);
    let turns = game.proposer_turns(&GameState::new(), 1, 0);
    assert_eq!(turns.len(), 2);
    assert!(of(&turns, TaskType::Induction).is_empty());
}

#[test]
fn each_proposal_has_its_own_references_while_there_are_any() {
    let game = game(GameConfig { references: 3, ..config() });
    let turns = game.proposer_turns(&seeded(0..20), 1, 0);
    let of_type = of(&turns, TaskType::Deduction);
    let prompts: BTreeSet<&str> = of_type.iter().map(|turn| turn.prompt.text.as_str()).collect();
    assert_eq!(prompts.len(), 4);
    assert!(of_type.iter().all(|turn| turn.rollouts == 1 && turn.prompt.text.matches("<R>").count() == 3));
    let few = game.proposer_turns(&seeded(0..2), 1, 0);
    assert!(of(&few, TaskType::Abduction).iter().all(|turn| turn.prompt.text.matches("<R>").count() == 2));
    let none = game.proposer_turns(&GameState::new(), 1, 0);
    assert_eq!(of(&none, TaskType::Abduction)[0].prompt.text, "<PA>");
}

#[test]
fn turns_are_a_function_of_seed_and_step() {
    let game = game(GameConfig { references: 3, ..config() });
    let state = seeded(0..30);
    let turns = game.proposer_turns(&state, 1, 0);
    assert_eq!(turns, game.proposer_turns(&state, 1, 0));
    assert_ne!(turns, game.proposer_turns(&state, 2, 0));
    assert_ne!(turns, game.proposer_turns(&state, 1, 1));
    assert_ne!(turns, game.bootstrap_turns(&state, 1, 0, 4));
    let sampling = |role, rollouts, seed, step| game.sampling(role, rollouts, seed, step).seed;
    let seeds = [
        sampling(Role::Solver, 4, 1, 0),
        sampling(Role::Proposer, 4, 1, 0),
        sampling(Role::Solver, 4, 2, 0),
        sampling(Role::Solver, 4, 1, 1),
        sampling(Role::Solver, 3, 1, 0),
    ];
    assert_eq!(seeds.iter().collect::<BTreeSet<_>>().len(), 5);
}

#[test]
fn no_proposals_are_asked_for_where_the_config_says_none() {
    let game = game(GameConfig { proposals_per_type: 0, ..config() });
    assert!(game.proposer_turns(&seeded(0..9), 1, 0).is_empty());
    let turns = game.solver_turns(&mut seeded(0..9), 1, 0, &[]);
    assert_eq!(turns.len(), 12);
    assert!(turns.iter().all(|turn| turn.origin == Origin::Buffer { seed: true }));
}

#[test]
fn bootstrapped_proposals_become_seeds_and_anchors() {
    let game = game(config());
    let mut state = GameState::new();
    for round in 0..2 {
        let turns = game.bootstrap_turns(&state, 1, round, 4);
        let records = propose(&game, &state, &turns, &Script::fresh(0));
        game.admit_seeds(&mut state, &records);
    }
    // Round 1 repeats round 0, and only then there are programs to find inputs for.
    for task_type in TaskType::ALL {
        assert_eq!(state.buffer(task_type).entries().len(), 4);
        assert!(state.buffer(task_type).entries().iter().all(|entry| entry.seed));
    }
    assert_eq!(state.anchors().len(), 12);
}

fn deductions(game: &AbsoluteZero, state: &mut GameState, step: u64) -> Vec<SolverTurn> {
    let played = play_step(game, state, 1, step, &Script::fresh(step));
    played.turns.into_iter().filter(|turn| turn.task_type() == TaskType::Deduction).collect()
}

/// Counts of fresh, seed and earlier tasks among deduction turns.
fn mix(turns: &[SolverTurn]) -> [usize; 3] {
    let count = |is: fn(&Origin) -> bool| turns.iter().filter(|turn| is(&turn.origin)).count();
    [
        count(|origin| matches!(origin, Origin::Fresh { .. })),
        count(|origin| *origin == Origin::Buffer { seed: true }),
        count(|origin| *origin == Origin::Buffer { seed: false }),
    ]
}

#[test]
fn fresh_proposals_come_first_and_up_to_their_share() {
    let game = game(GameConfig { tasks_per_type: 8, fresh_fraction: 0.25, seed_share: 0.5, ..config() });
    let mut state = seeded(0..9);
    // Nothing earlier yet: seeds fill the rest.
    assert_eq!(mix(&deductions(&game, &mut state, 0)), [2, 6, 0]);
    // Four proposals were admitted at step 0.
    assert_eq!(mix(&deductions(&game, &mut state, 1)), [2, 3, 3]);
}

#[test]
fn where_seeds_are_few_earlier_proposals_fill_the_rest_and_what_is_missing_is_left_out() {
    let game = game(GameConfig { tasks_per_type: 12, seed_share: 1.0, ..config() });
    let mut state = seeded(0..2);
    assert_eq!(mix(&deductions(&game, &mut state, 0)), [4, 2, 0]);
    assert_eq!(mix(&deductions(&game, &mut state, 1)), [4, 2, 4]);
    assert_eq!(mix(&deductions(&game, &mut state, 2)), [4, 2, 6]);
}

#[test]
fn no_task_is_asked_twice_in_a_step() {
    let game = game(GameConfig { tasks_per_type: 12, fresh_fraction: 0.2, ..config() });
    let mut state = seeded(0..4);
    for step in 0..6 {
        let turns = play_step(&game, &mut state, 3, step, &Script::fresh(step)).turns;
        let ids: BTreeSet<_> = turns.iter().map(|turn| turn.task.id()).collect();
        assert_eq!(ids.len(), turns.len());
    }
}

/// Half of the seeds are learnable after step 0; how often step 1 draws those, over many run seeds.
fn learnable_draws(weight: f64) -> usize {
    let resample_learnable = Some(weight);
    let game = game(GameConfig { proposals_per_type: 0, resample_learnable, tasks_per_type: 20, ..config() });
    let again = AbsoluteZero::new(GameConfig { tasks_per_type: 4, ..game.config().clone() }, Guard::default()).unwrap();
    let mut state = seeded(0..20);
    play_step(&game, &mut state, 1, 0, &Script::half_learnable());
    let draws = |seed| again.solver_turns(&mut state.clone(), seed, 1, &[]);
    let learnable = |turn: &SolverTurn| {
        let entries = state.buffer(turn.task_type()).entries();
        entries.iter().any(|entry| entry.id == turn.task.id() && entry.last.unwrap().is_learnable())
    };
    (0..50).map(|seed| draws(seed).iter().filter(|turn| learnable(turn)).count()).sum()
}

#[test]
fn learnable_tasks_are_drawn_in_proportion_to_their_weight() {
    // 600 draws of tasks half of which are learnable.
    let (none, even, often) = (learnable_draws(0.0), learnable_draws(1.0), learnable_draws(9.0));
    assert_eq!(none, 0);
    assert!((240..=360).contains(&even), "{even}");
    assert!((480..=590).contains(&often), "{often}");
}
