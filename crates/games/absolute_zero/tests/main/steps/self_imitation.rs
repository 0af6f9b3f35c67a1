//! Attempts of earlier steps that are trained on again.

use veriplay_selfplay::settings::{LearnFrom, SelfImitationSettings};

use super::*;

fn imitating(change: impl Fn(&mut SelfImitationSettings)) -> SelfPlay<Table> {
    let mut own = SelfImitationSettings { min_advantage: 0.5, warmup_steps: 2, ..SelfImitationSettings::default() };
    change(&mut own);
    table(config().with(|c| c.shared.self_imitation = Some(own)))
}

/// A step in which every second answer is right, or all are.
fn step(game: &SelfPlay<Table>, state: &mut State, step: u64, all_right: bool) -> Output<Table> {
    let mut script = Script::fresh(step);
    if all_right {
        script.answer = |_, _| "right";
    }
    game.step(&context(&script.policy()), state, step).unwrap()
}

fn counted(output: &Output<Table>) -> [f64; 2] {
    ["self_imitation_attempts", "self_imitation_signal"].map(|name| output.numbers[name])
}

#[test]
fn good_attempts_are_trained_on_again_with_their_old_log_probabilities_until_most_attempts_are_good() {
    let (game, mut state) = (imitating(|own| own.baseline_groups = 4), seeded(0..9));
    let first = step(&game, &mut state, 0, false);
    assert_eq!(counted(&first), [0.0, 0.0], "nothing is kept yet");
    let good: Vec<&Sample> = samples(&first).iter().filter(|sample| sample.weight == 1.0).collect();
    assert_eq!(good.len(), 24, "two of four attempts at each of twelve tasks");
    let second = step(&game, &mut state, 1, false);
    // (1 − 0.5) times half of the coefficient, beside 48 attempts of weight 1 and −1.
    let again: Vec<&Sample> = samples(&second).iter().filter(|sample| sample.weight == 0.25).collect();
    assert_eq!((again.len(), samples(&second).len()), (24, 72));
    for (again, good) in again.iter().zip(&good) {
        let as_then = Sample { weight: 0.25, rate: None, ..(*good).clone() };
        assert_eq!((*again, again.behaviour.is_some()), (&as_then, true));
    }
    let [count, signal] = counted(&second);
    assert!(count == 24.0 && (signal - 1.0 / 9.0).abs() < 1e-9, "{signal}");
    assert_eq!(samples(&step(&game, &mut state, 2, true)).len(), 0, "the newest groups are all right");
}

#[test]
fn beside_fewer_attempts_of_its_own_a_step_takes_a_mean_over_the_earlier_ones() {
    let (game, mut state) = (imitating(|_| {}), seeded(0..9));
    step(&game, &mut state, 0, false);
    let script = Script { answer: |_, sample| ["wrong", "lost", "lost", "lost"][sample], ..Script::fresh(1) };
    let output = game.step(&context(&script.policy()), &mut state, 1).unwrap();
    let solvers = samples(&output).iter().filter(|sample| sample.role == Some(Role::SOLVER));
    let found: Vec<(f32, f32)> = solvers.map(|sample| (sample.weight, sample.scale)).collect();
    // Beside twelve own attempts each of 24 counts half, with (1 − 0.25) times half of the coefficient.
    assert_eq!(found, [(0.375, 0.5); 24]);
}

/// The divisor of the second step's loss.
fn normalizer(game: &SelfPlay<Table>) -> f64 {
    let mut state = seeded(0..9);
    step(game, &mut state, 0, false);
    let Some(Batch::Samples(batch)) = step(game, &mut state, 1, false).batches.pop() else { panic!("no samples") };
    batch.normalizer
}

#[test]
fn the_loss_is_a_mean_over_the_attempts_of_the_step_alone() {
    assert_eq!(normalizer(&imitating(|_| {})), normalizer(&table(config())));
}

#[test]
fn a_step_that_trains_on_nothing_again_is_that_of_a_run_without() {
    let (with, without) = (imitating(|own| own.min_advantage = 1.5), table(config()));
    let (mut one, mut other) = (seeded(0..9), seeded(0..9));
    for number in 0..3 {
        assert_eq!(step(&with, &mut one, number, false).batches, step(&without, &mut other, number, false).batches);
    }
    let saved = |state: &State| serde_json::to_string(state).unwrap();
    assert!(saved(&one).contains("kept_attempts") && !saved(&other).contains("kept_attempts"));
}

#[test]
fn a_saved_state_trains_on_the_same_attempts_again() {
    let (game, mut live) = (imitating(|own| own.capacity = 30), seeded(0..9));
    (0..2).for_each(|number| drop(step(&game, &mut live, number, false)));
    let mut saved: State = serde_json::from_str(&serde_json::to_string(&live).unwrap()).unwrap();
    let (kept, resumed) = (step(&game, &mut live, 2, false), step(&game, &mut saved, 2, false));
    assert_eq!(counted(&kept)[0], 30.0);
    assert_eq!((&kept.batches, &kept.numbers), (&resumed.batches, &resumed.numbers));
    assert_eq!(serde_json::to_string(&live).unwrap(), serde_json::to_string(&saved).unwrap());
}

#[test]
fn it_is_refused_where_advantages_weigh_nothing() {
    let own = Some(SelfImitationSettings::default());
    for (learn_from, name) in [(LearnFrom::Successes, "successes"), (LearnFrom::Pairs, "pairs")] {
        let config = config().with(|c| (c.shared.self_imitation, c.shared.learn_from) = (own, learn_from));
        let error = game(config).err().unwrap().to_string();
        assert!(error.starts_with(&format!("`learn_from` is `{name}`: use `advantages`")), "{error}");
    }
    let config = config().with(|c| (c.shared.self_imitation, c.shared.solver_weight) = (own, 0.0));
    let error = game(config).err().unwrap().to_string();
    assert!(error.starts_with("`solver_weight` is `0`: use a weight above `0`"), "{error}");
}
