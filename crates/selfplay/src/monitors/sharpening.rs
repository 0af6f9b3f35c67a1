//! `sharpening`: the policy solves what it solved before more often, and fewer tasks at all.
//!
//! # What it measures
//! An alarm where, in two evaluations on the validation set in a row, pass@8 is below the run's first one by more than two standard errors while
//! pass@1 is above its first one. A run without `eval.tasks_every` has no such evaluations.
//!
//! # Why
//! Training by a verdict alone moves probability to answers that the policy already gives (Yue et al. 2025, arXiv 2504.13837). pass@1 rises for a
//! while, and what could be sampled and learned from becomes less. Many runs do this to some extent. Raise `learn.entropy_bonus` or add a KL term.
//!
//! # Example
//! The first evaluation on 300 tasks has pass@1 0.30 and pass@8 0.60. Two with 0.40 and 0.50 raise the alarm.

use std::collections::BTreeMap;

use super::{Monitor, is_so_again, validated};
use crate::memory::Memory;

/// Evaluations in a row that raise an alarm.
const TIMES: f64 = 2.0;

pub(super) struct Sharpening;

impl Monitor for Sharpening {
    fn name(&self) -> &'static str {
        "sharpening"
    }

    fn watch(&self, _step: u64, numbers: &BTreeMap<String, f64>, memory: &mut Memory) -> Option<String> {
        let (pass1, pass8) = (validated(numbers, "pass1")?.value, validated(numbers, "pass8")?);
        let Some(first) = memory.get("pass1") else {
            memory.set("pass1", pass1);
            memory.set("pass8", pass8.value);
            memory.set("low", pass8.interval[0]);
            return None;
        };
        let (first8, low) = (memory.get("pass8")?, memory.get("low")?);
        is_so_again(memory, pass8.value < low && pass1 > first, TIMES).then(|| {
            let pass8 = pass8.value;
            format!("pass@8 went from {first8:.3} to {pass8:.3}, and pass@1 from {first:.3} to {pass1:.3}")
        })
    }
}
