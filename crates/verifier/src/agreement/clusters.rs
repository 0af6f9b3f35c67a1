//! Clusters codes by their outputs and by the tests they pass. Pure.

use std::collections::BTreeSet;

use veriplay_core::{Status, Value};

/// The output of a code at an input.
#[derive(Debug, Clone, PartialEq)]
pub enum CodeOutput {
    /// A plain value.
    Value(Value),
    /// No value: the failure, and a description.
    Failed(Status, String),
}

impl CodeOutput {
    /// The value; `None` for a failure.
    #[must_use]
    pub const fn value(&self) -> Option<&Value> {
        match self {
            CodeOutput::Value(value) => Some(value),
            CodeOutput::Failed(..) => None,
        }
    }

    /// Whether both are values, and equal. A failure equals nothing.
    #[must_use]
    pub fn agrees(&self, other: &CodeOutput) -> bool {
        matches!((self, other), (CodeOutput::Value(one), CodeOutput::Value(other)) if one == other)
    }
}

/// A code with a vote.
#[derive(Debug, Clone, PartialEq)]
pub struct Voter {
    /// The index of the code.
    pub code: usize,
    /// Its weight: 0 for a repeated text, where texts are counted.
    pub weight: usize,
    /// Its output at each input, in one order for all voters.
    pub outputs: Vec<CodeOutput>,
    /// Whether it passes each assertion, in one order for all voters.
    pub passed: Vec<bool>,
}

/// Codes that agree at all inputs that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The codes, ascending.
    pub codes: Vec<usize>,
    /// The sum of their weights.
    pub weight: usize,
    /// The number of tests they pass: distinct tests, summed over the suites.
    pub tests: usize,
}

impl Cluster {
    /// CodeT's score: codes × tests (arXiv 2207.10397, equation 2).
    #[must_use]
    pub const fn score(&self) -> usize {
        self.weight * self.tests
    }
}

/// The result of [`find_agreement`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// Whether each input counts.
    pub counts: Vec<bool>,
    /// The clusters, by descending score and then by their first code.
    pub clusters: Vec<Cluster>,
}

impl Agreement {
    /// Whether the two best clusters have the same score.
    #[must_use]
    pub fn is_tie(&self) -> bool {
        matches!(self.clusters.as_slice(), [best, second, ..] if best.score() == second.score())
    }
}

/// Clusters `voters`, each with outputs at `inputs` inputs. `tests` returns how many tests a voter passes at the inputs that count; it is the
/// same for all members of a cluster.
pub fn find_agreement(voters: &[Voter], inputs: usize, tests: impl Fn(&Voter, &[bool]) -> usize) -> Agreement {
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
