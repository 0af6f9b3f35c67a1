//! `entropy_collapse`: the policy hardly varies its answers any more.
//!
//! # What it measures
//! An alarm where the mean entropy at the response tokens (`actor/entropy`) of a step is below 0.3 times that of the run's first ten steps
//! (EVOL-RL, arXiv 2509.15194, reports the collapse; the bound is ours). It is raised once, and again after the entropy has recovered.
//!
//! # Why
//! A policy without entropy samples one answer: groups have no variance, advantages are 0, pass@k falls to pass@1, and no later step mends it.
//! Raise `learn.entropy_bonus`, add a KL term, or go back to an earlier checkpoint.
//!
//! # Example
//! The first ten steps have 0.9 nats on average; a step with 0.26 raises the alarm.

use std::collections::BTreeMap;

use super::Monitor;
use crate::memory::Memory;

/// The key of the log of events.
const ENTROPY: &str = "actor/entropy";
/// Steps that the bound is computed from.
const FIRST: f64 = 10.0;
/// The share of their mean below which there is an alarm.
const BOUND: f64 = 0.3;

pub(super) struct EntropyCollapse;

impl Monitor for EntropyCollapse {
    fn name(&self) -> &'static str {
        "entropy_collapse"
    }

    fn watch(&self, _step: u64, numbers: &BTreeMap<String, f64>, memory: &mut Memory) -> Option<String> {
        let entropy = *numbers.get(ENTROPY)?;
        let (count, sum) = (memory.get("steps").unwrap_or(0.0), memory.get("sum").unwrap_or(0.0));
        if count < FIRST {
            memory.set("steps", count + 1.0);
            memory.set("sum", sum + entropy);
            return None;
        }
        let start = sum / count;
        let is_low = entropy < BOUND * start;
        let was_low = memory.get("low") == Some(1.0);
        memory.set("low", f64::from(u8::from(is_low)));
        (is_low && !was_low).then(|| {
            format!("`{ENTROPY}` is {entropy:.3}, less than {BOUND} times the {start:.3} of the run's first steps")
        })
    }
}
