//! `exploration`: attempts at a task that differ from each other, right or wrong.
//!
//! # What it measures
//! For an attempt 1/n − 1, where n attempts at its task give the same answer (the text of the last turn); −1 where it cannot be read. The mean over a
//! group is (number of different answers) / (size) − 1: a reward for exploring apart from correctness, as in RLSP (arXiv 2502.06773), less a
//! constant, so that nothing but a right answer has a positive reward. It is each attempt's own share: what all attempts at a task have in common
//! would be taken away with the mean of the group.
//!
//! # Why
//! Where all attempts at a task are wrong, their rewards are the same and nothing is learned. This rewards trying something else, apart from being
//! right. `game.intrinsic_steps` lets it fall to 0, because in the end only right answers should count.
//!
//! # How it can be gamed
//! By words that say nothing: what differs is the text. Under `think` nearly all texts do, and the term is nothing.
//!
//! # Example
//! Four attempts answer 7, 7, 8 and something that cannot be read: −0.5, −0.5, 0, −1.

use std::collections::BTreeMap;

use super::IntrinsicReward;
use crate::task_pool::TaskContent;

pub(super) struct Exploration;

impl IntrinsicReward for Exploration {
    fn name(&self) -> &'static str {
        "exploration"
    }

    fn value(&self, _task: &TaskContent, _others: &[&TaskContent]) -> Option<f64> {
        None
    }

    fn attempts(&self, answers: &[Option<&str>]) -> Vec<f64> {
        let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
        answers.iter().flatten().for_each(|answer| *counts.entry(*answer).or_default() += 1.0);
        answers.iter().map(|answer| answer.map_or(-1.0, |answer| 1.0 / counts[answer] - 1.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_others_give_too_is_worth_less_and_the_group_has_the_share_of_different_ones() {
        let values = Exploration.attempts(&[Some("7"), Some("7"), Some("8"), None]);
        assert_eq!(values, [-0.5, -0.5, 0.0, -1.0]);
        assert_eq!(values.iter().sum::<f64>() / 4.0, 2.0 / 4.0 - 1.0);
        assert_eq!(Exploration.attempts(&[]), [0.0; 0]);
        assert_eq!(Exploration.value(&TaskContent::default(), &[]), None);
    }
}
