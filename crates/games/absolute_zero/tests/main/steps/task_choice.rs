//! Which tasks a step asks solvers.

use super::*;

/// Tasks of one type: fresh ones, seeds, and earlier proposals.
fn mix(played: &Played) -> [usize; 3] {
    let of_type = || played.tasks.iter().filter(|task| task.task.question.task_type() == TaskType::Deduction);
    [Source::Fresh, Source::Seed, Source::Pool].map(|source| of_type().filter(|task| task.source == source).count())
}

#[test]
fn fresh_proposals_come_first_and_up_to_their_share() {
    let game =
        table(config().with(|c| (c.own.tasks_per_type, c.own.fresh_fraction, c.own.seed_share) = (8, 0.25, 0.5)));
    let mut state = seeded(0..9);
    // Nothing earlier yet: seeds fill the rest.
    assert_eq!(mix(&play(&game, &mut state, 1, 0, &Script::fresh(0))), [2, 6, 0]);
    // Four proposals were admitted at step 0.
    assert_eq!(mix(&play(&game, &mut state, 1, 1, &Script::fresh(1))), [2, 3, 3]);
}

#[test]
fn where_seeds_are_few_earlier_proposals_fill_the_rest_and_what_is_missing_is_left_out() {
    let game = table(config().with(|c| (c.own.tasks_per_type, c.own.seed_share) = (12, 1.0)));
    let mut state = seeded(0..2);
    let mut next = |step| mix(&play(&game, &mut state, 1, step, &Script::fresh(step)));
    assert_eq!([next(0), next(1), next(2)], [[4, 2, 0], [4, 2, 4], [4, 2, 6]]);
}

#[test]
fn no_task_is_asked_twice_in_a_step() {
    let game = table(config().with(|c| (c.own.tasks_per_type, c.own.fresh_fraction) = (12, 0.2)));
    let mut state = seeded(0..4);
    for step in 0..6 {
        let played = play(&game, &mut state, 3, step, &Script::fresh(step));
        let ids: BTreeSet<_> = played.tasks.iter().map(|task| task.task.id()).collect();
        assert_eq!(ids.len(), played.tasks.len());
    }
}

/// Half of the seeds are learnable after step 0; how often step 1 draws those, over many run seeds.
fn learnable_draws(weight: f64) -> usize {
    let all = config().with(|c| {
        c.own.proposals_per_type = 0;
        c.shared.resample_learnable = weight;
        c.own.tasks_per_type = 20;
    });
    let mut state = seeded(0..20);
    play(&table(all.clone()), &mut state, 1, 0, &Script::half_learnable());
    let few = table(all.with(|c| c.own.tasks_per_type = 4));
    let is_learnable = |task: &Solved| {
        let entry = state.pool.entries().iter().find(|entry| entry.id == task.task.id());
        entry.unwrap().last.unwrap().is_learnable()
    };
    let draws = |seed| play(&few, &mut state.clone(), seed, 1, &Script::half_learnable());
    (0..50).map(|seed| draws(seed).tasks.iter().filter(|task| is_learnable(task)).count()).sum()
}

#[test]
fn learnable_tasks_are_drawn_in_proportion_to_their_weight() {
    // 600 draws of tasks half of which are learnable.
    let (none, even, often) = (learnable_draws(0.0), learnable_draws(1.0), learnable_draws(9.0));
    assert_eq!(none, 0);
    assert!((240..=360).contains(&even), "{even}");
    assert!((480..=590).contains(&often), "{often}");
}
