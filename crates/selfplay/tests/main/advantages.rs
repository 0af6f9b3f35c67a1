//! Every advantage estimator against its formula, and what `rae` remembers.

use proptest::prelude::*;
use veriplay_core::{Role, TaskType};
use veriplay_selfplay::advantages::{
    ADVANTAGES, AdvantageEstimator, AdvantageMemory, AdvantageRow, EpisodeNotes, by_name,
};

fn row(role: Role, task_type: TaskType, reward: f64) -> AdvantageRow {
    AdvantageRow { role, kind: task_type.name(), group: 0, turn: 0, reward, notes: EpisodeNotes::default() }
}

fn solver_rows(rewards: &[f64]) -> Vec<AdvantageRow> {
    rewards.iter().map(|reward| row(Role::SOLVER, TaskType::Deduction, *reward)).collect()
}

/// What an estimator without a past says.
fn fresh(estimator: &dyn AdvantageEstimator, rows: &[AdvantageRow]) -> Vec<f64> {
    estimator.advantages(rows, &mut AdvantageMemory::default())
}

#[test]
fn estimators_give_the_numbers_of_their_examples() {
    let deviation = 0.1875_f64.sqrt();
    let scaled = [0.75 / deviation, -0.25 / deviation];
    for (name, [first, other]) in [
        ("group", scaled),
        ("trr", scaled),
        ("grpo", scaled),
        ("reinforce_plus_plus", scaled),
        ("reinforce", [0.75, -0.25]),
        ("dr_grpo", [0.75, -0.25]),
    ] {
        let found = fresh(by_name(name).unwrap(), &solver_rows(&[1.0, 0.0, 0.0, 0.0]));
        let want = [first, other, other, other];
        assert!(found.iter().zip(want).all(|(found, want)| (found - want).abs() < 1e-9), "{name}: {found:?}");
    }
}

#[test]
fn rae_follows_a_baseline_for_each_role_and_task_type_and_goes_on_where_it_was_saved() {
    let rae = by_name("rae").unwrap();
    let mut memory = AdvantageMemory::default();
    let first = [
        row(Role::SOLVER, TaskType::Deduction, 1.0),
        row(Role::SOLVER, TaskType::Deduction, 0.0),
        row(Role::PROPOSER, TaskType::Deduction, -0.5),
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
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&go_on), bits(&again));
    assert_eq!(memory, restored);
    assert!((go_on[0] - (1.0 - solver)).abs() < 1e-15);
}

#[test]
fn raes_baseline_comes_to_the_mean_of_what_it_sees() {
    let rae = by_name("rae").unwrap();
    let mut memory = AdvantageMemory::default();
    let rows = solver_rows(&[1.0, 0.0, 1.0, 1.0]);
    (0..200).for_each(|_| drop(rae.advantages(&rows, &mut memory)));
    assert!((memory.baseline(Role::SOLVER, TaskType::Deduction.name()) - 0.75).abs() < 1e-9);
}

#[test]
fn a_hundred_equal_rewards_that_no_mean_hits_exactly_give_exactly_zero() {
    for reward in [0.1, 1.0 / 3.0, -0.7] {
        let rows = solver_rows(&[reward; 100]);
        for estimator in ADVANTAGES.iter().filter(|estimator| estimator.name() != "rae") {
            assert_eq!(fresh(*estimator, &rows), vec![0.0; 100], "{}", estimator.name());
        }
    }
}

fn any_row() -> impl Strategy<Value = AdvantageRow> {
    let rewards = prop::sample::select(vec![-1.0, -0.5, -0.25, 0.0, 0.1, 0.125, 0.5, 0.875, 1.0]);
    (any::<bool>(), 0..3_usize, 0..4_usize, 0..2_usize, rewards).prop_map(|(solver, task_type, group, turn, reward)| {
        let role = if solver { Role::SOLVER } else { Role::PROPOSER };
        AdvantageRow { group, turn, ..row(role, TaskType::STANDARD[task_type], reward) }
    })
}

/// Every estimator again, from its formula, row by row: the mean and the deviation over the rows that `with` puts together.
fn slow(name: &str, rows: &[AdvantageRow], at: usize) -> f64 {
    let row = rows[at];
    let rewards = |with: &dyn Fn(&AdvantageRow) -> bool| -> Vec<f64> {
        rows.iter().filter(|other| with(other)).map(|other| other.reward).collect()
    };
    let all = rewards(&|_| true);
    let role = rewards(&|other| (other.role, other.kind) == (row.role, row.kind));
    let question = |row: &AdvantageRow| (row.role, row.kind, row.group, row.turn);
    let group = rewards(&|other| question(other) == question(&row));
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
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The formulas are finite, do not depend on the order of the rows, sum to 0 over what they are centred on, and do not change when all rewards
    /// shift: so do the estimators.
    #[test]
    fn every_estimator_is_its_formula(rows in prop::collection::vec(any_row(), 0..60)) {
        for estimator in ADVANTAGES {
            let advantages = fresh(*estimator, &rows);
            prop_assert_eq!(advantages.len(), rows.len());
            for (at, advantage) in advantages.into_iter().enumerate() {
                let want = slow(estimator.name(), &rows, at);
                prop_assert!((advantage - want).abs() < 1e-7, "{}: {} for {}", estimator.name(), advantage, want);
            }
        }
    }
}
