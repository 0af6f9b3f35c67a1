#![doc = include_str!("../README.md")]
//!
//! # Invariants
//! Called by the games' loop in the cli, by `verify`, `replay` and `eval`. Everything here is a pure function over an
//! [`veriplay_core::Execute`]: no clock, no files, no randomness, no wasm, and no rewards. Invariants: an expected value
//! never enters a Job whose program could read it (test code is a job of its own, and the program is its callee); every
//! comparison is made here, on decoded plain values; text of a policy is parsed, never evaluated or spliced into a program;
//! a host fault becomes [`veriplay_core::Dropped`] and never a verdict.

pub mod agreement;
mod batch;
pub mod bugs;
mod cache;
pub mod environments;
pub mod formats;
pub mod judges;
mod matrix;
mod probes;
pub mod problems;
pub mod repository;
mod run;
pub mod triplets;

pub use batch::{AnswerRequest, ProposalRequest, judge_answers, judge_proposals};
pub use cache::OutcomeCache;
pub use formats::{FORMATS, Format, ProposalShape, format_by_name};
pub use judges::{JUDGES, Judge, judge_by_name};
pub use matrix::{Cell, Matrix, MatrixRequest, judge_matrix};
pub use probes::probes;
pub use problems::{ProblemError, ProblemRequest, check_prediction, check_problem, judge_program, judge_programs};
pub use triplets::{Gate, GateError, InductionRules, ProbeRules, judge_answer, judge_proposal};
