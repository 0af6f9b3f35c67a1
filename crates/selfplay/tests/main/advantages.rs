//! Every advantage estimator against its formula, and what `rae` remembers.

use std::collections::BTreeSet;

use proptest::prelude::*;
use veriplay_core::{Role, TaskType};
use veriplay_selfplay::advantages::{
    ADVANTAGES, AdvantageEstimator, AdvantageMemory, AdvantageRow, EpisodeNotes, by_name,
};
use veriplay_selfplay::statistics::{deviation, mean};

fn row(role: Role, task_type: TaskType, reward: f64) -> AdvantageRow {
    let (kind, notes) = (task_type.name(), EpisodeNotes::default());
    AdvantageRow { role, kind, group: 0, turn: 0, episode: 0, reward, notes }
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

/// Rows of one question, each with a letter for its cluster; a dot has none.
fn clustered(rewards: &[f64], clusters: &str) -> Vec<AdvantageRow> {
    let both = solver_rows(rewards).into_iter().zip(clusters.bytes());
    let notes =
        |letter: u8| EpisodeNotes { cluster: (letter != b'.').then(|| letter.into()), ..EpisodeNotes::default() };
    both.map(|(row, letter)| AdvantageRow { notes: notes(letter), ..row }).collect()
}

#[track_caller]
fn assert_close(found: &[f64], want: &[f64]) {
    let close = found.iter().zip(want).all(|(found, want)| (found - want).abs() < 5e-4);
    assert!(close && found.len() == want.len(), "{found:?} for {want:?}");
}

#[test]
fn set_level_estimators_give_the_numbers_of_their_sources() {
    const RIGHT: [f64; 4] = [1.0; 4];
    const EIGHT: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    let (most, some, few) = (-0.003_571, 0.083_929, -0.023_214);
    let pass_at_k: [(&[f64], &[f64]); 7] = [
        (&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], &[0.5, -1.0 / 14.0, -1.0 / 14.0, -1.0 / 14.0]),
        // Every set of four holds a right one.
        (&EIGHT, &[0.0; 8]),
        // Sets of two, then of one.
        (&[1.0, 0.0, 1.0, 0.0], &[1.0 / 6.0, -1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0]),
        (&[1.0, 0.0, 0.0], &[2.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0]),
        (&[1.0, 0.0], &[0.5, -0.5]),
        (&[1.0], &[0.0]),
        (&[], &[]),
    ];
    for (rewards, want) in pass_at_k {
        let found = fresh(by_name("pass_at_k").unwrap(), &solver_rows(rewards));
        let unit = if want.iter().all(|one| *one == 0.0) { 1.0 } else { deviation(rewards) };
        assert_close(&found[..want.len()], &want.iter().map(|one| one / unit).collect::<Vec<_>>());
    }
    let poly: [(&[f64], &str, &[f64]); 4] = [
        (&[1.0, 1.0, 1.0, 0.0], "AABC", &[0.0, 0.0, 1.0 / 6.0, -1.0 / 6.0]),
        (&RIGHT, "AAAB", &[-1.0 / 12.0, -1.0 / 12.0, -1.0 / 12.0, 0.25]),
        (&RIGHT, "AAAA", &[0.0; 4]),
        (&EIGHT, "AAAABCDE", &[most, most, most, most, some, few, few, few]),
    ];
    for (rewards, clusters, want) in poly {
        let rows = clustered(rewards, clusters);
        let unit = if clusters == "AAAA" { 1.0 } else { deviation(want) };
        let want: Vec<f64> = want.iter().map(|one| one / unit).collect();
        assert_close(&fresh(by_name("poly").unwrap(), &rows), &want);
        let group = fresh(by_name("group").unwrap(), &rows);
        let half: Vec<f64> = want.iter().zip(group).map(|(sets, group)| f64::midpoint(*sets, group)).collect();
        assert_close(&fresh(by_name("poly_group").unwrap(), &rows), &half);
    }
    // It is `group` without clusters, and where right answers do the same and wrong ones have no cluster. A question whose answers are all
    // alike teaches nothing beside another.
    let mut rows = solver_rows(&[1.0, 0.0, 0.0, 0.0]);
    assert_close(&fresh(by_name("poly").unwrap(), &rows), &fresh(by_name("group").unwrap(), &rows));
    let unlike = clustered(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0], "AAAAAA..");
    assert_close(&fresh(by_name("poly").unwrap(), &unlike), &fresh(by_name("group").unwrap(), &unlike));
    rows.extend(solver_rows(&[0.1; 7]).into_iter().map(|row| AdvantageRow { group: 1, ..row }));
    for name in ["pass_at_k", "poly", "poly_group"] {
        assert_eq!(fresh(by_name(name).unwrap(), &rows)[4..], [0.0; 7], "{name}");
    }
}

fn turns(role: Role, episode: usize, rewards: [f64; 3]) -> impl Iterator<Item = AdvantageRow> {
    let rows = rewards.into_iter().map(move |reward| row(role, TaskType::Deduction, reward)).enumerate();
    rows.map(move |(turn, row)| AdvantageRow { turn, episode, ..row })
}

#[test]
fn mars_sums_what_came_after_a_turn_and_mixes_no_roles() {
    let solver = turns(Role::SOLVER, 0, [0.0, 0.0, 1.0]).chain(turns(Role::SOLVER, 1, [0.0; 3]));
    let rows: Vec<AdvantageRow> = solver.chain(turns(Role::PROPOSER, 2, [9.0, -9.0, 0.0])).collect();
    let to_go = [0.5, 0.667, 0.833, -0.5, -0.333, -0.167];
    let want: Vec<f64> = to_go.iter().map(|one| (one - 1.0 / 6.0) / 0.5182).collect();
    let found = fresh(by_name("mars").unwrap(), &rows);
    assert!(found.iter().zip(&want).all(|(found, want)| (found - want).abs() < 2e-3), "{found:?} for {want:?}");
}

fn proposed(class: Option<u64>, reward: f64) -> AdvantageRow {
    let notes = EpisodeNotes { class, ..EpisodeNotes::default() };
    AdvantageRow { notes, ..row(Role::PROPOSER, TaskType::Deduction, reward) }
}

#[test]
fn a_constant_for_one_class_changes_nothing_under_class() {
    let class = by_name("class").unwrap();
    for more in [0.0, 7.0] {
        let (two, five) = ([1.0, 0.0].map(|r| proposed(Some(2), r)), [0.4, 0.2].map(|r| proposed(Some(5), r + more)));
        assert_close(&fresh(class, &[two, five].concat()), &[1.0, -1.0, 1.0, -1.0]);
    }
    // Malformed ones, which have no class, are still pushed away.
    let found =
        fresh(class, &[proposed(Some(2), 1.0), proposed(Some(2), 0.0), proposed(None, -0.5), proposed(None, -0.5)]);
    assert_close(&found, &[1.0, -1.0, -0.816, -0.816]);
}

#[test]
fn adpo_learns_less_and_clips_later_where_a_label_is_trusted_less() {
    let (adpo, rows) = (by_name("adpo").unwrap(), solver_rows(&[1.0, 0.0]));
    let cases = [(Some(0.3), 0.6, 0.1), (Some(0.5), 0.76, 0.06), (Some(0.8), 1.0, 0.0), (None, 1.0, 0.0)];
    let outside = [(Some(-1.0), 0.6, 0.1), (Some(2.0), 1.0, 0.0), (Some(f64::NAN), 0.6, 0.1)];
    for (trust, factor, clip) in cases.into_iter().chain(outside) {
        let notes = EpisodeNotes { trust, ..EpisodeNotes::default() };
        let rows: Vec<AdvantageRow> = rows.iter().map(|row| AdvantageRow { notes, ..*row }).collect();
        assert_close(&fresh(adpo, &rows), &[factor, -factor]);
        assert_close(&[adpo.wider_clip(&notes)], &[clip]);
    }
    let doubtful = EpisodeNotes { trust: Some(0.3), ..EpisodeNotes::default() };
    assert_eq!(ADVANTAGES.iter().filter(|one| one.wider_clip(&doubtful) > 0.0).count(), 1);
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
    let places = (any::<bool>(), 0..3_usize, 0..4_usize, 0..2_usize, 0..3_usize);
    let clusters = prop::option::of(0..3_u64);
    let notes = (clusters.clone(), clusters, prop::option::of(0.0..1.0_f64));
    (places, rewards, notes).prop_map(|((solver, task_type, group, turn, episode), reward, (cluster, class, trust))| {
        let role = if solver { Role::SOLVER } else { Role::PROPOSER };
        let notes = EpisodeNotes { cluster, class, trust, group: None };
        AdvantageRow { group, turn, episode, notes, ..row(role, TaskType::STANDARD[task_type], reward) }
    })
}

fn question(row: &AdvantageRow) -> (Role, &'static str, usize, usize) {
    (row.role, row.kind, row.group, row.turn)
}

/// What the sets that hold a row are worth beyond all sets of its question: half of it or four, each by name.
fn beyond_all_sets(rows: &[AdvantageRow], at: usize, worth: fn(&[AdvantageRow]) -> f64) -> f64 {
    let own: Vec<usize> = (0..rows.len()).filter(|other| question(&rows[*other]) == question(&rows[at])).collect();
    let size = (own.len() / 2).clamp(1, 4);
    let (mut all, mut holding) = (Vec::new(), Vec::new());
    for set in (0..1_u32 << own.len()).filter(|set| set.count_ones() as usize == size) {
        let places: Vec<usize> = (0..own.len()).filter(|bit| (set >> bit) & 1 == 1).map(|bit| own[bit]).collect();
        all.push(worth(&places.iter().map(|place| rows[*place]).collect::<Vec<_>>()));
        holding.extend(places.contains(&at).then(|| all[all.len() - 1]));
    }
    mean(&holding).unwrap() - mean(&all).unwrap()
}

fn largest_reward(set: &[AdvantageRow]) -> f64 {
    set.iter().map(|row| row.reward).fold(f64::NEG_INFINITY, f64::max)
}

fn colourful_reward(set: &[AdvantageRow]) -> f64 {
    let clusters = set.iter().filter_map(|row| row.notes.cluster).collect::<BTreeSet<u64>>().len().max(1);
    set.iter().map(|row| row.reward).sum::<f64>() * clusters as f64 / (set.len() * set.len()) as f64
}

/// The sum of the centred rewards of a row's episode from its turn on.
fn reward_to_go(rows: &[AdvantageRow], at: usize) -> f64 {
    let row = rows[at];
    let of_role = rows.iter().filter(|other| (other.role, other.kind) == (row.role, row.kind));
    let centre = mean(&of_role.clone().map(|other| other.reward).collect::<Vec<_>>()).unwrap();
    let later = of_role.filter(|other| other.episode == row.episode && other.turn >= row.turn);
    later.map(|other| other.reward - centre).sum()
}

/// Every estimator again, from its formula, row by row: the mean and the deviation over the rows that `with` puts together.
fn slow(name: &str, rows: &[AdvantageRow], at: usize) -> f64 {
    let row = rows[at];
    let rewards = |with: &dyn Fn(&AdvantageRow) -> bool| -> Vec<f64> {
        rows.iter().filter(|other| with(other)).map(|other| other.reward).collect()
    };
    let all = rewards(&|_| true);
    let role = rewards(&|other| (other.role, other.kind) == (row.role, row.kind));
    let group = rewards(&|other| question(other) == question(&row));
    let mean = |set: &[f64]| set.iter().sum::<f64>() / set.len() as f64;
    let of_role = (0..rows.len()).filter(|other| (rows[*other].role, rows[*other].kind) == (row.role, row.kind));
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
        "pass_at_k" => over_deviation(beyond_all_sets(rows, at, largest_reward), &role),
        "poly" => {
            let all: Vec<f64> = of_role.map(|other| beyond_all_sets(rows, other, colourful_reward)).collect();
            over_deviation(beyond_all_sets(rows, at, colourful_reward), &all)
        }
        "poly_group" => f64::midpoint(slow("poly", rows, at), slow("group", rows, at)),
        "mars" => {
            let all: Vec<f64> = of_role.map(|other| reward_to_go(rows, other)).collect();
            over_deviation(reward_to_go(rows, at) - mean(&all), &all)
        }
        "class" if row.notes.class.is_none() => slow("trr", rows, at),
        "class" => {
            let key = |row: &AdvantageRow| (row.role, row.kind, row.notes.class);
            let class = rewards(&|other| key(other) == key(&row));
            over_deviation(row.reward - mean(&class), &class)
        }
        "adpo" => slow("grpo", rows, at) * (0.6 + 0.8 * (row.notes.trust.unwrap_or(1.0) - 0.3).clamp(0.0, 0.5)),
        _ => panic!("`{name}` has no formula here"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The formulas are finite, do not depend on the order of the rows, sum to 0 over what they are centred on, and do not change when all rewards
    /// shift, but for `poly` with clusters: so do the estimators.
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
