//! `frontier`: a task weighs by the variance of its success, s (1 − s).
//!
//! # What it weighs
//! 4 s (1 − s) for the last solve rate s, 1 for a task that no solver attempted yet, and at least 0.01, so that nothing is given up.
//! `resample_learnable` has no part in it.
//!
//! # Why
//! The gradient of a group's policy loss grows with the variance of its rewards (arXiv 2502.12272 samples by it).
//!
//! # Example
//! A task that 4 of 8 solvers solved weighs 1, one that 1 of 8 solved 0.4375, one that all solved 0.01.

use super::Curriculum;
use crate::metrics::SolveCount;

pub(super) struct Frontier;

/// The weight of a task that nobody or everybody solved.
const LEAST: f64 = 0.01;

impl Curriculum for Frontier {
    fn name(&self) -> &'static str {
        "frontier"
    }

    fn weight(&self, last: Option<SolveCount>, _learnable_weight: f64) -> f64 {
        last.and_then(SolveCount::rate).map_or(1.0, |rate| (4.0 * rate * (1.0 - rate)).max(LEAST))
    }
}
