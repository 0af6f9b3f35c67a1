//! What a method keeps from step to step, saved with the game's state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Numbers by name, exact through JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Memory {
    /// Bits instead of numbers: JSON then gives back exactly what was saved.
    bits: BTreeMap<String, u64>,
}

impl Memory {
    /// Whether nothing was kept yet.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// The number of that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.bits.get(name).map(|bits| f64::from_bits(*bits))
    }

    /// Sets the number of that name.
    pub fn set(&mut self, name: &str, number: f64) {
        self.bits.insert(name.to_owned(), number.to_bits());
    }

    /// Adds to the number of that name, which is 0 at first. Returns the sum.
    pub fn add(&mut self, name: &str, number: f64) -> f64 {
        let sum = self.get(name).unwrap_or_default() + number;
        self.set(name, sum);
        sum
    }

    /// Changes every number, and forgets it where `change` gives nothing.
    pub fn update(&mut self, change: impl Fn(f64) -> Option<f64>) {
        self.bits.retain(|_, bits| {
            let changed = change(f64::from_bits(*bits));
            *bits = changed.map_or(*bits, f64::to_bits);
            changed.is_some()
        });
    }
}
