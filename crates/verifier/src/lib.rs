#![doc = include_str!("../README.md")]
//!
//! # Invariants
//! Every judgement is a pure function over an [`Execute`](veriplay_core::Execute): no clock, no files, no randomness, no rewards.
//! - An expected value never enters a job whose program could read it. Test code is a job of its own, and the program is its callee.
//! - Every comparison happens on the host, on decoded plain values.
//! - Text of a policy is parsed, never evaluated or spliced into a program.
//! - A host fault becomes [`Dropped`](veriplay_core::Dropped) and never a verdict.

pub mod agreement;
pub mod bugs;
#[cfg(test)]
#[path = "../tests/main/cases.rs"]
mod cases;
pub mod environments;
pub mod extraction;
pub mod formats;
pub mod judges;
pub mod languages;
mod plain;
mod prelude;
mod probes;
pub mod problems;
pub mod repository;
mod runner;
mod signature;
mod spaces;
pub mod sql;
pub mod tasks;
mod testlib;
pub mod triplets;
mod verifier;

pub use formats::{FORMATS, Format, ProposalShape, format_by_name, format_in};
pub use judges::{JUDGES, Judge, judge_by_name};
pub use probes::probes;
pub use problems::{
    OpenImage, ProblemError, ProblemRequest, check_checker_images, check_image, check_memory, check_prediction,
    check_problem, checker_images, digest_with_checkers, judge_program, judge_programs,
};
pub use runner::{on_all_cores, run_distinct, truncate_output};
pub use signature::{SignatureRequest, signatures};
pub use tasks::{ChosenJudge, JudgeConditions, LoadedTask, TaskContext, TaskOverrides, UselessOverride, check_row};
pub use triplets::{
    AnswerRequest, InductionRules, ProbeRules, ProposalGate, ProposalGateError, ProposalRequest, judge_answer,
    judge_answers, judge_proposal, judge_proposals, waypoints,
};
pub use verifier::Verifier;
