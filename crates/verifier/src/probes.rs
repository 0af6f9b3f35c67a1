//! Inputs like a given one: what a program is called on to see whether it does anything with its input.
//!
//! A pure function of the input: same types, other values, so that a proposal's verdict can be reproduced.

use std::collections::HashSet;

use veriplay_core::Value;

mod mutate;

use mutate::Dice;

/// Tries for each probe wanted, before it is taken that there are no more.
const TRIES: usize = 32;

/// Up to `count` argument lists of the same shape as `input`, no two equal and none equal to it. Fewer when its type has
/// fewer values: `f(True)` has one other.
#[must_use]
pub fn probes(input: &[Value], count: usize) -> Vec<Vec<Value>> {
    let own = Value::Tuple(input.to_vec());
    let mut dice = Dice::new(&own.encode());
    let mut seen = HashSet::from([own.python_key()]);
    let mut found = Vec::with_capacity(count);
    for _ in 0..count.saturating_mul(TRIES) {
        if found.len() == count {
            break;
        }
        let probe = dice.some_changed(input);
        if seen.insert(Value::Tuple(probe.clone()).python_key()) {
            found.push(probe);
        }
    }
    found
}
