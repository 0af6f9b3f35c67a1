//! Tasks on disk, and making new ones: the tiny generator's [`Grammar`], the fixed train, validation and held-out [`Split`], unexecuted
//! [`drafts`], hand-written [`seeds`], tool [`environments`], the readers of public [`problems`], the [`probes`] of a sandbox, programs of
//! extreme [`cost`], and [`repository`]: a Python package with its own tests.
//!
//! The command line calls this crate; it depends on `veriplay-core` alone, and has no sandbox. A draft becomes a task only
//! when the verifier has executed it; probes and the tests of a repository go through the seam [`veriplay_core::Execute`].

pub mod cost;
pub mod drafts;
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

pub use cost::{CostJob, CostProgram, ORDINARY_LOOP, built_in_cost_programs, parse_cost_program};
pub use drafts::{Drafts, Programs, held_out, validation, warmup};
pub use environments::templates::{GeneratedTask, Novelty, TaskGenerator};
pub use environments::{CodeTaskRow, EnvironmentCorpus, HandTask, built_in_environments, environment_by_name};
pub use error::CorpusError;
pub use files::TextFile;
pub use forgeries::{Forgery, ForgeryCorpus, built_in_forgeries, parse_forgeries};
pub use grammar::{Generated, Grammar, InputKind};
pub use problems::{
    AttemptBody, AttemptRow, AttemptRows, BadRow, Expects, PROBLEM_FORMATS, ProblemFile, ProblemFormat, ProblemRow,
    ReadOptions, Unexecuted, WrongCount, parse_attempts, parse_problems, problem_format, read_attempts, read_problems,
};
pub use seeds::{SeedTriplet, built_in_seeds, parse_seeds};
pub use split::{Shares, Split};
