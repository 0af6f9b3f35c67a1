//! Reads tasks and generates new ones: the tiny generator's [`Grammar`], the fixed train, validation and held-out [`Split`], [`streams`]
//! of unexecuted proposals, hand-written [`seeds`], tool [`environments`], readers of public [`problems`], the [`probes`] of a sandbox,
//! programs of extreme [`cost`], and [`repository`]: Python packages with their own tests.
//!
//! The crate depends only on `veriplay-core` and has no sandbox. A proposal becomes a task when the verifier has executed it. Probes run
//! through the trait [`veriplay_core::Execute`].

pub mod cost;
pub mod environments;
mod error;
mod files;
pub mod forgeries;
mod grammar;
mod markdown;
pub mod probes;
pub mod problems;
mod random;
pub mod repository;
pub mod seeds;
mod split;
pub mod streams;

pub use cost::{CostJob, CostProgram, ORDINARY_LOOP, built_in_cost_programs, parse_cost_program};
pub use environments::templates::{GeneratedTask, Novelty, TaskGenerator, TemplateTrial};
pub use environments::{
    CodeTaskRow, EnvironmentCorpus, EnvironmentFolder, HandWrittenTask, built_in_environments, environment_by_name,
    open_environment,
};
pub use error::CorpusError;
pub use files::{BUILTIN_PREFIX, TextFile, builtin_bugs, builtin_repository};
pub use forgeries::{Forgery, ForgeryCorpus, built_in_forgeries, parse_forgeries};
pub use grammar::{GeneratedProgram, Grammar, InputKind};
pub use problems::{
    AttemptRow, AttemptRows, DatabaseFolder, InvalidAttempt, InvalidRow, PROBLEM_FORMATS, ProblemFile, ProblemFormat,
    ProblemStatement, ReadOptions, RowFault, StatedTask, matching_formats, parse_attempts, parse_problem,
    parse_problems, problem_format, read_attempts, read_problems, read_statements,
};
pub use seeds::{SeedTriplet, built_in_seeds, parse_seeds};
pub use split::{Split, SplitShares};
pub use streams::{ProgramStream, ProposalStream};
