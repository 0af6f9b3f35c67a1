//! Clusters codes by their outputs and by the tests they pass. Pure.

use std::collections::BTreeSet;

use veriplay_core::{Status, Value};

/// The output of a code at an input.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CodeOutput {
    Value(Value),
    Failed(Status, String),
}

impl CodeOutput {
    pub(super) const fn value(&self) -> Option<&Value> {
        match self {
            CodeOutput::Value(value) => Some(value),
            CodeOutput::Failed(..) => None,
        }
    }

    /// Whether both are values, and equal. A failure equals nothing.
    pub(super) fn agrees(&self, other: &CodeOutput) -> bool {
        matches!((self, other), (CodeOutput::Value(one), CodeOutput::Value(other)) if one == other)
    }
}

/// A code with a vote.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Voter {
    pub(super) code: usize,
    /// Its weight: 0 for a repeated text, where texts are counted.
    pub(super) weight: usize,
    /// Its output at each input, in one order for all voters.
    pub(super) outputs: Vec<CodeOutput>,
    /// Whether it passes each assertion, in one order for all voters.
    pub(super) passed: Vec<bool>,
}

/// Codes that agree at all inputs that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cluster {
    pub(super) codes: Vec<usize>,
    pub(super) weight: usize,
    /// The number of tests they pass: distinct tests, summed over the suites.
    pub(super) tests: usize,
}

impl Cluster {
    /// CodeT's score: codes × tests (arXiv 2207.10397, equation 2).
    pub(super) const fn score(&self) -> usize {
        self.weight * self.tests
    }
}

/// The result of [`find_agreement`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agreement {
    pub(super) counts: Vec<bool>,
    /// The clusters, by descending score and then by their first code.
    pub(super) clusters: Vec<Cluster>,
}

impl Agreement {
    /// Whether the two best clusters have the same score.
    pub(super) fn is_tie(&self) -> bool {
        matches!(self.clusters.as_slice(), [best, second, ..] if best.score() == second.score())
    }
}

/// Clusters `voters`, each with outputs at `inputs` inputs. `tests` returns how many tests a voter passes at the inputs that count; it is the
/// same for all members of a cluster.
pub(super) fn find_agreement(voters: &[Voter], inputs: usize, tests: impl Fn(&Voter, &[bool]) -> usize) -> Agreement {
    let counts: Vec<bool> = (0..inputs).map(|input| is_counted(voters, input)).collect();
    let able = |voter: &&Voter| {
        let answers = voter.outputs.iter().zip(&counts);
        answers.filter(|(_, counts)| **counts).all(|(answer, _)| answer.value().is_some())
    };
    let mut groups: Vec<Vec<&Voter>> = Vec::new();
    // Without an input that counts and without assertions there is nothing to agree on.
    if counts.contains(&true) || voters.iter().any(|voter| !voter.passed.is_empty()) {
        for voter in voters.iter().filter(able) {
            match groups.iter_mut().find(|group| is_same_cluster(group[0], voter, &counts)) {
                Some(group) => group.push(voter),
                None => groups.push(vec![voter]),
            }
        }
    }
    let cluster = |group: &Vec<&Voter>| Cluster {
        codes: group.iter().map(|voter| voter.code).collect::<BTreeSet<_>>().into_iter().collect(),
        weight: group.iter().map(|voter| voter.weight).sum(),
        tests: tests(group[0], &counts),
    };
    let mut clusters: Vec<Cluster> = groups.iter().map(cluster).collect();
    clusters.sort_by(|a, b| b.score().cmp(&a.score()).then_with(|| a.codes.cmp(&b.codes)));
    Agreement { counts, clusters }
}

/// Whether more than half of the voters that return a value anywhere return one at `input`.
fn is_counted(voters: &[Voter], input: usize) -> bool {
    let weight = |wanted: &dyn Fn(&Voter) -> bool| {
        voters.iter().filter(|voter| wanted(voter)).map(|voter| voter.weight).sum::<usize>()
    };
    let returned = weight(&|voter| voter.outputs[input].value().is_some());
    2 * returned > weight(&|voter| voter.outputs.iter().any(|answer| answer.value().is_some()))
}

fn is_same_cluster(one: &Voter, other: &Voter, counts: &[bool]) -> bool {
    let answers = one.outputs.iter().zip(&other.outputs).zip(counts);
    one.passed == other.passed && answers.filter(|(_, counts)| **counts).all(|((one, other), _)| one.agrees(other))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            let (one, other) = (find_agreement(&voters, INPUTS, ones), find_agreement(&turned, INPUTS, ones));
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
            prop_assert_eq!(sorted(&find_agreement(&voters, INPUTS, ones)), sorted(&find_agreement(&other, INPUTS, ones)));
        }

        #[test]
        fn codes_share_a_cluster_exactly_when_they_give_equal_values_wherever_it_counts(voters in voters()) {
            let agreed = find_agreement(&voters, INPUTS, ones);
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
            for (place, counts) in find_agreement(&voters, INPUTS, ones).counts.into_iter().enumerate() {
                let returned = voters.iter().filter(|voter| voter.outputs[place].value().is_some()).count();
                prop_assert_eq!(counts, 2 * returned > able);
            }
        }

        #[test]
        fn the_best_cluster_is_first_and_a_tie_is_told(voters in voters()) {
            let agreed = find_agreement(&voters, INPUTS, ones);
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
}
