//! `kl_jump`: the policy leaves its reference all at once.
//!
//! # What it measures
//! An alarm where the divergence from the reference (`loss_terms/actor/kl_loss`, of a run with `[learn.kl]`) is above five times its median over the
//! twenty steps before, and above 0.05 nats a token, in three steps in a row. The bounds are ours.
//!
//! # Why
//! A divergence grows slowly in a run that goes well. One that jumps says that the policy has found other text altogether, such as a hacked reward's.
//!
//! # Example
//! The median is 0.02 nats. Three steps with 0.12 raise the alarm.

use std::collections::BTreeMap;

use super::{Monitor, is_so_again};
use crate::memory::Memory;

const KL: &str = "loss_terms/actor/kl_loss";
/// Steps that the median is over.
const WINDOW: f64 = 20.0;
/// Steps before which there is no median.
const LEAST: usize = 10;
const FACTOR: f64 = 5.0;
/// Nats a token that every policy may be away.
const FLOOR: f64 = 0.05;
const STEPS: f64 = 3.0;

pub(super) struct KlJump;

impl Monitor for KlJump {
    fn name(&self) -> &'static str {
        "kl_jump"
    }

    fn watch(&self, _step: u64, numbers: &BTreeMap<String, f64>, memory: &mut Memory) -> Option<String> {
        let kl = numbers.get(KL).copied().filter(|kl| kl.is_finite())?;
        let mut before: Vec<f64> = (0..WINDOW as u64).filter_map(|place| memory.get(&place.to_string())).collect();
        before.sort_by(f64::total_cmp);
        let count = memory.get("steps").unwrap_or(0.0);
        memory.set("steps", count + 1.0);
        memory.set(&(count % WINDOW).to_string(), kl);
        let median = *before.get(before.len() / 2).filter(|_| before.len() >= LEAST)?;
        is_so_again(memory, kl > FLOOR.max(FACTOR * median), STEPS)
            .then(|| format!("`{KL}` is {kl:.3}, and its median over the steps before is {median:.3}"))
    }
}
