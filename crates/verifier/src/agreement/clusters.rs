//! Who agrees with whom: clusters of codes by what they return, and the tests they pass. Pure; called by the judge of rounds.

use std::collections::BTreeSet;

use veriplay_core::{Status, Value};

/// What one code gives at one input.
#[derive(Debug, Clone, PartialEq)]
pub enum CodeOutput {
    /// A plain value.
    Value(Value),
    /// None: how it failed, and how in words.
    Failed(Status, String),
}

impl CodeOutput {
    /// The value, where there is one.
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

/// A code that may agree.
#[derive(Debug, Clone, PartialEq)]
pub struct Voter {
    /// Which code it is.
    pub code: usize,
    /// What it counts: 0 for one whose text is counted already.
    pub weight: usize,
    /// What it gives at each input, in one order for all voters.
    pub outputs: Vec<CodeOutput>,
    /// Which assertions it passes, in one order for all voters.
    pub passed: Vec<bool>,
}

/// Codes that agree on all inputs that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The codes, ascending.
    pub codes: Vec<usize>,
    /// Their weights together.
    pub weight: usize,
    /// Tests they pass: every suite's different tests.
    pub tests: usize,
}

impl Cluster {
    /// Codes × tests: CodeT's score (arXiv 2207.10397, equation 2).
    #[must_use]
    pub const fn score(&self) -> usize {
        self.weight * self.tests
    }
}

/// What became of the votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// Which inputs count.
    pub counts: Vec<bool>,
    /// The clusters: the best score first, equals by their first code.
    pub clusters: Vec<Cluster>,
}

impl Agreement {
    /// Whether the best cluster shares its score with another one.
    #[must_use]
    pub fn is_tie(&self) -> bool {
        matches!(self.clusters.as_slice(), [best, second, ..] if best.score() == second.score())
    }
}

/// Clusters `voters`, whose answers are to `inputs` inputs. `tests` says how many tests a code passes, when all that counts
/// are the inputs it is given; every member of a cluster passes the same.
pub fn find_agreement(voters: &[Voter], inputs: usize, tests: impl Fn(&Voter, &[bool]) -> usize) -> Agreement {
    let counts: Vec<bool> = (0..inputs).map(|input| is_counted(voters, input)).collect();
    let able = |voter: &&Voter| {
        let answers = voter.outputs.iter().zip(&counts);
        answers.filter(|(_, counts)| **counts).all(|(answer, _)| answer.value().is_some())
    };
    let mut groups: Vec<Vec<&Voter>> = Vec::new();
    // Nothing that counts and no assertion: there is nothing to agree on.
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

/// Whether more than half of the voters that return a value anywhere return one there.
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
