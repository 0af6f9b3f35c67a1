//! `answer_diversity`: how rare the task's answer is.
//!
//! # What it measures
//! 1 − the share of the newest 64 other tasks of its kind in the pool whose answer is the same: the output of a deduction task, the input of an
//! abduction task. As in Absolute Zero Reasoner, but over recent tasks instead of all.
//!
//! # Why
//! A solver can guess an answer that most tasks have, such as `True` or `[]`.
//!
//! # How it can be gamed
//! By answers of many digits. Whether they can be found is the solve rate's matter.
//!
//! # Example
//! Of 64 earlier tasks 16 have the output `0`: a task with that output has the value 0.75.

use super::IntrinsicReward;
use crate::task_pool::TaskContent;

pub(super) struct AnswerDiversity;

impl IntrinsicReward for AnswerDiversity {
    fn name(&self) -> &'static str {
        "answer_diversity"
    }

    fn value(&self, task: &TaskContent, others: &[&TaskContent]) -> Option<f64> {
        let answer = task.answer.as_ref()?;
        let same = others.iter().filter(|other| other.answer.as_ref() == Some(answer)).count();
        Some(1.0 - same as f64 / others.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_answer_is_worth_less_than_a_rare_one() {
        let content = |answer: &str| TaskContent::new("pass", Some(answer.to_owned()));
        let others = ["0", "0", "0", "7"].map(content);
        let others: Vec<&TaskContent> = others.iter().collect();
        let value = |answer: &str| AnswerDiversity.value(&content(answer), &others);
        assert_eq!((value("0"), value("7"), value("'a'")), (Some(0.25), Some(0.75), Some(1.0)));
        assert_eq!(AnswerDiversity.value(&content("0"), &[]), Some(1.0));
        assert_eq!(AnswerDiversity.value(&TaskContent::new("pass", None), &others), None);
    }
}
