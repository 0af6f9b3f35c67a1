//! Properties of every advantage estimator: shift, scale, order, finiteness.

use proptest::prelude::*;
use veriplay_core::{Role, TaskType};
use veriplay_selfplay::advantages::{
    ADVANTAGES, AdvantageEstimator, AdvantageMemory, AdvantageRow, EpisodeNotes, by_name,
};

fn row(role: Role, task_type: TaskType, group: usize, reward: f64) -> AdvantageRow {
    AdvantageRow { role, kind: task_type.name(), group, turn: 0, reward, notes: EpisodeNotes::default() }
}

/// What an estimator without a past says.
fn fresh(estimator: &dyn AdvantageEstimator, rows: &[AdvantageRow]) -> Vec<f64> {
    estimator.advantages(rows, &mut AdvantageMemory::default())
}

fn named(name: &str, rows: &[AdvantageRow]) -> Vec<f64> {
    fresh(by_name(name).unwrap(), rows)
}

fn without_memory() -> impl Iterator<Item = &'static dyn AdvantageEstimator> {
    ADVANTAGES.iter().copied().filter(|estimator| estimator.name() != "rae")
}

fn solver_rows(rewards: &[(usize, f64)]) -> Vec<AdvantageRow> {
    rewards.iter().map(|(group, reward)| row(Role::SOLVER, TaskType::Deduction, *group, *reward)).collect()
}

#[track_caller]
fn check(name: &str, rows: &[AdvantageRow], expected: &[f64]) {
    let advantages = named(name, rows);
    assert_eq!(advantages.len(), expected.len());
    for (got, wanted) in advantages.iter().zip(expected) {
        assert!((got - wanted).abs() < 1e-9, "{name}: {advantages:?} instead of {expected:?}");
    }
}

/// Group 0: one of two solved. Group 1: both solved. Mean 0.75, variance 0.1875.
fn two_groups() -> Vec<AdvantageRow> {
    solver_rows(&[(0, 1.0), (0, 0.0), (1, 1.0), (1, 1.0)])
}

#[test]
fn group_centres_on_the_group_and_scales_by_the_batch() {
    let deviation = 0.1875_f64.sqrt();
    check("group", &two_groups(), &[0.5 / deviation, -0.5 / deviation, 0.0, 0.0]);
}

#[test]
fn trr_centres_and_scales_by_role_and_task_type() {
    let deviation = 0.1875_f64.sqrt();
    let mut rows = two_groups();
    // Another role and another type shift nothing.
    rows.push(row(Role::PROPOSER, TaskType::Deduction, 0, -7.0));
    rows.push(row(Role::SOLVER, TaskType::Abduction, 0, 9.0));
    let quarter = 0.25 / deviation;
    check("trr", &rows, &[quarter, -0.75 / deviation, quarter, quarter, 0.0, 0.0]);
}

#[test]
fn reinforce_centres_on_the_whole_batch_and_does_not_scale() {
    let mut rows = two_groups();
    rows.push(row(Role::PROPOSER, TaskType::Induction, 0, -0.5));
    check("reinforce", &rows, &[0.5, -0.5, 0.5, 0.5, -1.0]);
}

#[test]
fn reinforce_plus_plus_scales_by_the_whole_batch() {
    let mut rows = two_groups();
    rows.push(row(Role::PROPOSER, TaskType::Induction, 0, -0.5));
    // Mean 0.5, mean square 3.25 / 5.
    let deviation = (0.65_f64 - 0.25).sqrt();
    check("reinforce_plus_plus", &rows, &[0.5, -0.5, 0.5, 0.5, -1.0].map(|a| a / deviation));
}

#[test]
fn grpo_scales_by_the_group_and_dr_grpo_does_not() {
    let rows = solver_rows(&[(0, 1.0), (0, 0.0), (0, 0.0), (0, 0.0), (1, 1.0), (1, 0.0), (2, 1.0), (2, 1.0)]);
    let deviation = 0.1875_f64.sqrt();
    check(
        "grpo",
        &rows,
        &[0.75 / deviation, -0.25 / deviation, -0.25 / deviation, -0.25 / deviation, 1.0, -1.0, 0.0, 0.0],
    );
    check("dr_grpo", &rows, &[0.75, -0.25, -0.25, -0.25, 0.5, -0.5, 0.0, 0.0]);
}

#[test]
fn rae_follows_a_baseline_for_each_role_and_task_type_and_goes_on_where_it_was_saved() {
    let rae = by_name("rae").unwrap();
    let mut memory = AdvantageMemory::default();
    let first = [
        row(Role::SOLVER, TaskType::Deduction, 0, 1.0),
        row(Role::SOLVER, TaskType::Deduction, 0, 0.0),
        row(Role::PROPOSER, TaskType::Deduction, 0, -0.5),
    ];
    assert_eq!(rae.advantages(&first, &mut memory), [1.0, 0.0, -0.5]);
    // Two updates with the mean, one by one.
    let solver = (0..2).fold(0.0, |b, _| 0.95 * b + 0.05 * 0.5);
    assert!((memory.baseline(Role::SOLVER, TaskType::Deduction.name()) - solver).abs() < 1e-15);
    assert!((memory.baseline(Role::PROPOSER, TaskType::Deduction.name()) + 0.025).abs() < 1e-15);
    assert_eq!(memory.baseline(Role::SOLVER, TaskType::Abduction.name()), 0.0);

    let saved = serde_json::to_string(&memory).unwrap();
    let mut restored: AdvantageMemory = serde_json::from_str(&saved).unwrap();
    let (go_on, again) = (rae.advantages(&first, &mut memory), rae.advantages(&first, &mut restored));
    assert_eq!(
        go_on.iter().map(|a| a.to_bits()).collect::<Vec<_>>(),
        again.iter().map(|a| a.to_bits()).collect::<Vec<_>>()
    );
    assert_eq!(memory, restored);
    assert!((go_on[0] - (1.0 - solver)).abs() < 1e-15);
}

#[test]
fn raes_baseline_comes_to_the_mean_of_what_it_sees() {
    let rae = by_name("rae").unwrap();
    let mut memory = AdvantageMemory::default();
    let rows = solver_rows(&[(0, 1.0), (0, 0.0), (0, 1.0), (0, 1.0)]);
    (0..200).for_each(|_| drop(rae.advantages(&rows, &mut memory)));
    assert!((memory.baseline(Role::SOLVER, TaskType::Deduction.name()) - 0.75).abs() < 1e-9);
}

#[test]
fn a_hundred_equal_rewards_that_no_mean_hits_exactly_give_exactly_zero() {
    for reward in [0.1, 1.0 / 3.0, -0.7] {
        let rows = solver_rows(&vec![(0, reward); 100]);
        for estimator in without_memory() {
            assert_eq!(fresh(estimator, &rows), vec![0.0; 100], "{}", estimator.name());
        }
    }
}

#[test]
fn an_empty_batch_gives_nothing() {
    for estimator in ADVANTAGES {
        assert!(fresh(*estimator, &[]).is_empty(), "{}", estimator.name());
    }
}

#[test]
fn the_same_group_number_in_two_task_types_is_two_groups() {
    let rows = [row(Role::SOLVER, TaskType::Deduction, 0, 1.0), row(Role::SOLVER, TaskType::Abduction, 0, 0.0)];
    check("group", &rows, &[0.0, 0.0]);
}

fn any_row() -> impl Strategy<Value = AdvantageRow> {
    let rewards = prop::sample::select(vec![-1.0, -0.5, -0.25, 0.0, 0.1, 0.125, 0.5, 0.875, 1.0]);
    (any::<bool>(), 0..3_usize, 0..4_usize, rewards).prop_map(|(solver, task_type, group, reward)| {
        row(if solver { Role::SOLVER } else { Role::PROPOSER }, TaskType::STANDARD[task_type], group, reward)
    })
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6)
}

fn batch(rows: &[AdvantageRow], values: &[f64], index: usize) -> Vec<f64> {
    let same = |row: &AdvantageRow| (row.role, row.kind) == (rows[index].role, rows[index].kind);
    rows.iter().zip(values).filter(|(row, _)| same(row)).map(|(_, value)| *value).collect()
}

/// Every estimator again, from its formula, row by row: the mean and the deviation over the rows that `with` puts together.
fn slow(name: &str, rows: &[AdvantageRow], at: usize) -> f64 {
    let row = rows[at];
    let rewards = |with: &dyn Fn(&AdvantageRow) -> bool| -> Vec<f64> {
        rows.iter().filter(|other| with(other)).map(|other| other.reward).collect()
    };
    let all = rewards(&|_| true);
    let role = rewards(&|other| (other.role, other.kind) == (row.role, row.kind));
    let group = rewards(&|other| (other.role, other.kind, other.group) == (row.role, row.kind, row.group));
    let mean = |set: &[f64]| set.iter().sum::<f64>() / set.len() as f64;
    let over_deviation = |value: f64, set: &[f64]| {
        let variance = set.iter().map(|r| (r - mean(set)) * (r - mean(set))).sum::<f64>() / set.len() as f64;
        if variance < 1e-18 { 0.0 } else { value / variance.sqrt() }
    };
    match name {
        "group" => over_deviation(row.reward - mean(&group), &role),
        "trr" => over_deviation(row.reward - mean(&role), &role),
        "reinforce" => row.reward - mean(&all),
        "reinforce_plus_plus" => over_deviation(row.reward - mean(&all), &all),
        "grpo" => over_deviation(row.reward - mean(&group), &group),
        "dr_grpo" => row.reward - mean(&group),
        "rae" => row.reward,
        _ => panic!("`{name}` has no formula here"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn advantages_are_finite_and_bounded(rows in prop::collection::vec(any_row(), 0..60)) {
        for estimator in ADVANTAGES {
            for advantage in fresh(*estimator, &rows) {
                // |r - batch mean| <= sigma sqrt(n - 1), and a group mean is no further away than its members.
                prop_assert!(advantage.is_finite());
                prop_assert!(advantage.abs() <= 2.0 * (rows.len() as f64).sqrt(), "{} of {}", advantage, estimator.name());
            }
        }
    }

    #[test]
    fn every_estimator_is_its_formula(rows in prop::collection::vec(any_row(), 1..40)) {
        for estimator in ADVANTAGES {
            for (at, advantage) in fresh(*estimator, &rows).into_iter().enumerate() {
                let want = slow(estimator.name(), &rows, at);
                prop_assert!((advantage - want).abs() < 1e-7, "{}: {} for {}", estimator.name(), advantage, want);
            }
        }
    }

    #[test]
    fn shifting_all_rewards_changes_nothing(rows in prop::collection::vec(any_row(), 0..60), shift in -5.0..5.0_f64) {
        let shifted: Vec<AdvantageRow> =
            rows.iter().map(|row| AdvantageRow { reward: row.reward + shift, ..*row }).collect();
        for estimator in without_memory() {
            prop_assert!(close(&fresh(estimator, &rows), &fresh(estimator, &shifted)), "{}", estimator.name());
        }
    }

    #[test]
    fn the_order_of_the_rows_does_not_matter(
        (rows, order) in prop::collection::vec(any_row(), 0..60).prop_flat_map(|rows| {
            let order = Just((0..rows.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(rows), order)
        })
    ) {
        let moved: Vec<AdvantageRow> = order.iter().map(|index| rows[*index]).collect();
        for estimator in ADVANTAGES {
            let advantages = fresh(*estimator, &rows);
            let expected: Vec<f64> = order.iter().map(|index| advantages[*index]).collect();
            prop_assert!(close(&fresh(*estimator, &moved), &expected), "{}", estimator.name());
        }
    }

    #[test]
    fn advantages_of_a_batch_sum_to_zero(rows in prop::collection::vec(any_row(), 1..60)) {
        for name in ["group", "trr", "grpo", "dr_grpo"] {
            let advantages = named(name, &rows);
            for index in 0..rows.len() {
                prop_assert!(batch(&rows, &advantages, index).iter().sum::<f64>().abs() < 1e-6, "{}", name);
            }
        }
        prop_assert!(named("reinforce", &rows).iter().sum::<f64>().abs() < 1e-6);
    }

    #[test]
    fn trr_has_unit_deviation_where_rewards_differ(rows in prop::collection::vec(any_row(), 1..60)) {
        let advantages = named("trr", &rows);
        let rewards: Vec<f64> = rows.iter().map(|row| row.reward).collect();
        for index in 0..rows.len() {
            let differ = batch(&rows, &rewards, index).windows(2).any(|pair| pair[0] != pair[1]);
            let of_batch = batch(&rows, &advantages, index);
            let variance = of_batch.iter().map(|a| a * a).sum::<f64>() / of_batch.len() as f64;
            prop_assert!((variance - f64::from(u8::from(differ))).abs() < 1e-6, "{variance}");
        }
    }
}
