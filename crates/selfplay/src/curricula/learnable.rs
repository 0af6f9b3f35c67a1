//! `learnable`: a task that some of its solvers solved and others did not weighs `resample_learnable`, any other one 1.
//!
//! # What it weighs
//! `resample_learnable` where the last solve rate was 0 < s < 1; else 1, for tasks that no solver attempted yet, too.
//!
//! # Why
//! A group of equal rewards teaches nothing under an advantage that compares it with itself. The default.
//!
//! # Example
//! With `resample_learnable = 3.0` a task that 2 of 8 solvers solved is three times as likely to be drawn next as one that all solved.

use super::Curriculum;
use crate::metrics::SolveCount;

pub(super) struct Learnable;

impl Curriculum for Learnable {
    fn name(&self) -> &'static str {
        "learnable"
    }

    fn weight(&self, last: Option<SolveCount>, learnable_weight: f64) -> f64 {
        if last.is_some_and(SolveCount::is_learnable) { learnable_weight } else { 1.0 }
    }
}
