//! Agreement as a function of what codes gave: no sandbox.

use proptest::prelude::*;
use veriplay_core::{Status, Value};
use veriplay_verifier::agreement::{Agreement, CodeOutput, Voter, find_agreement};

const INPUTS: usize = 3;

fn answer() -> impl Strategy<Value = CodeOutput> {
    prop_oneof![
        4 => (0i64..3).prop_map(|value| CodeOutput::Value(Value::int(value))),
        1 => Just(CodeOutput::Failed(Status::RuntimeError, "it raised".to_owned())),
    ]
}

fn voters() -> impl Strategy<Value = Vec<Voter>> {
    let one = (proptest::collection::vec(answer(), INPUTS), proptest::collection::vec(any::<bool>(), 2));
    proptest::collection::vec(one, 0..7).prop_map(|rows| {
        let voter = |(code, (outputs, passed))| Voter { code, weight: 1, outputs, passed };
        rows.into_iter().enumerate().map(voter).collect()
    })
}

/// As many tests as inputs that count with the value 1.
fn ones(voter: &Voter, counts: &[bool]) -> usize {
    let is_one = |(answer, counts): &(&CodeOutput, &bool)| **counts && answer.value() == Some(&Value::int(1));
    voter.outputs.iter().zip(counts).filter(is_one).count() + voter.passed.iter().filter(|passed| **passed).count()
}

fn agreed(voters: &[Voter]) -> Agreement {
    find_agreement(voters, INPUTS, ones)
}

/// The clusters without their order.
fn sorted(agreed: &Agreement) -> Vec<(Vec<usize>, usize)> {
    let mut clusters: Vec<_> = agreed.clusters.iter().map(|one| (one.codes.clone(), one.score())).collect();
    clusters.sort();
    clusters
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_codes_changes_nothing(voters in voters(), turn in 0usize..7) {
        let mut turned = voters.clone();
        turned.rotate_left(if voters.is_empty() { 0 } else { turn % voters.len() });
        let (one, other) = (agreed(&voters), agreed(&turned));
        prop_assert_eq!(&one.clusters, &other.clusters);
        prop_assert_eq!(one.counts, other.counts);
    }

    #[test]
    fn the_order_of_inputs_changes_nothing(voters in voters(), turn in 0usize..INPUTS) {
        let turned = |voter: &Voter| {
            let mut voter = voter.clone();
            voter.outputs.rotate_left(turn);
            voter
        };
        let other: Vec<Voter> = voters.iter().map(turned).collect();
        prop_assert_eq!(sorted(&agreed(&voters)), sorted(&agreed(&other)));
    }

    #[test]
    fn codes_share_a_cluster_exactly_when_they_give_equal_values_wherever_it_counts(voters in voters()) {
        let agreed = agreed(&voters);
        let cluster = |code: usize| agreed.clusters.iter().position(|one| one.codes.contains(&code));
        let counting = |voter: &Voter| -> Vec<CodeOutput> {
            voter.outputs.iter().zip(&agreed.counts).filter(|(_, counts)| **counts).map(|(answer, _)| answer.clone()).collect()
        };
        for (one, other) in voters.iter().flat_map(|one| voters.iter().map(move |other| (one, other))) {
            let (a, b) = (counting(one), counting(other));
            let equal = a.iter().zip(&b).all(|(a, b)| a.agrees(b)) && one.passed == other.passed;
            let together = cluster(one.code).is_some() && cluster(one.code) == cluster(other.code);
            prop_assert_eq!(equal, together);
        }
    }

    #[test]
    fn an_input_counts_when_more_than_half_of_the_codes_that_return_anywhere_return_there(voters in voters()) {
        let able = voters.iter().filter(|voter| voter.outputs.iter().any(|answer| answer.value().is_some())).count();
        for (place, counts) in agreed(&voters).counts.into_iter().enumerate() {
            let returned = voters.iter().filter(|voter| voter.outputs[place].value().is_some()).count();
            prop_assert_eq!(counts, 2 * returned > able);
        }
    }

    #[test]
    fn the_best_cluster_is_first_and_a_tie_is_told(voters in voters()) {
        let agreed = agreed(&voters);
        let scores: Vec<usize> = agreed.clusters.iter().map(|one| one.score()).collect();
        prop_assert!(scores.is_sorted_by(|a, b| a >= b));
        let best = scores.first().copied();
        prop_assert_eq!(agreed.is_tie(), scores.iter().filter(|score| Some(**score) == best).count() > 1);
    }
}

#[test]
fn a_failure_is_equal_to_nothing() {
    let failed = CodeOutput::Failed(Status::FuelExceeded, String::new());
    assert!(!failed.agrees(&failed) && !failed.agrees(&CodeOutput::Value(Value::None)));
    let (one, nan) = (CodeOutput::Value(Value::int(1)), CodeOutput::Value(Value::Float(f64::NAN)));
    assert!(one.agrees(&one) && nan.agrees(&nan) && !one.agrees(&CodeOutput::Value(Value::Float(1.0))));
}

#[test]
fn nothing_to_agree_on_is_no_agreement() {
    let voter = |code| Voter { code, weight: 1, outputs: Vec::new(), passed: Vec::new() };
    assert!(find_agreement(&[voter(0), voter(1)], 0, ones).clusters.is_empty());
}
