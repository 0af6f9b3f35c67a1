//! `reward_truth_gap`: the game accepts more and more, and the validation set says otherwise.
//!
//! # What it measures
//! An alarm where, in three evaluations on the validation set in a row, pass@1 is below its best one by more than two standard errors, and the share
//! of attempts that the game accepts (`play/accepted_share`, over the steps since the evaluation before) is above that of the best one by more than 5
//! points. A run without `eval.tasks_every` has no such evaluations.
//!
//! # Why
//! A policy that is rewarded by a proxy, such as the majority's vote, learns to please it: the reward climbs to its maximum while the policy gets worse
//! (SRT, arXiv 2505.21444). The bounds are ours.
//!
//! # Example
//! At its best pass@1 is 0.40 on 300 tasks, and 50 % are accepted. Three evaluations with 0.30 and 60 % raise the alarm.

use std::collections::BTreeMap;

use super::{Monitor, is_so_again, validated};
use crate::memory::Memory;

const ACCEPTED: &str = "play/accepted_share";
/// How much more is accepted than at the best evaluation.
const RISE: f64 = 0.05;
/// Evaluations in a row that raise an alarm.
const TIMES: f64 = 3.0;

pub(super) struct RewardTruthGap;

impl Monitor for RewardTruthGap {
    fn name(&self) -> &'static str {
        "reward_truth_gap"
    }

    fn watch(&self, _step: u64, numbers: &BTreeMap<String, f64>, memory: &mut Memory) -> Option<String> {
        if let Some(accepted) = numbers.get(ACCEPTED).filter(|accepted| accepted.is_finite()) {
            memory.add("steps", 1.0);
            memory.add("sum", *accepted);
        }
        let truth = validated(numbers, "pass1")?;
        let accepted = memory.get("sum")? / memory.get("steps").filter(|steps| *steps > 0.0)?;
        memory.set("steps", 0.0);
        memory.set("sum", 0.0);
        if memory.get("best").is_none_or(|best| truth.value >= best) {
            memory.set("best", truth.value);
            memory.set("low", truth.interval[0]);
            memory.set("accepted", accepted);
        }
        let (best, low, earlier) = (memory.get("best")?, memory.get("low")?, memory.get("accepted")?);
        is_so_again(memory, truth.value < low && accepted > earlier + RISE, TIMES).then(|| {
            let truth = truth.value;
            format!("`{ACCEPTED}` went from {earlier:.3} to {accepted:.3}, and pass@1 from {best:.3} to {truth:.3}")
        })
    }
}
