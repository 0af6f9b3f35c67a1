//! `uniform`: every task weighs 1.
//!
//! # What it weighs
//! 1, whatever became of the task before. `resample_learnable` has no part in it.
//!
//! # Why
//! It is what other curricula are compared with.
//!
//! # Example
//! A task that all of its solvers solved is as likely to be drawn as one that half of them did.

use super::Curriculum;

pub(super) struct Uniform;

impl Curriculum for Uniform {
    fn name(&self) -> &'static str {
        "uniform"
    }
}
