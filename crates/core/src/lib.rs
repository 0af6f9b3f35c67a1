#![doc = include_str!("../README.md")]
//!
//! # Records
//! They flow Task → Prompt → Rollout → Attempt → Job → Outcome → Verdict → Reward → Advantage → [`TrainBatch`] →
//! [`Update`]. An Outcome is a fact, a Verdict a judgement, a Reward an incentive: three types, never merged.
//! This crate does no IO, reads no clock, and depends on no other crate of ours.

mod attempt;
mod code_task;
mod hash;
mod job;
mod layer;
mod learn;
mod limits;
mod outcome;
mod patch;
mod path;
mod policy;
mod problem;
mod program;
mod reward;
mod scripted;
mod seams;
mod task;
mod value;
mod verdict;

pub use attempt::{Attempt, Proposal};
pub use code_task::{CodeTask, Environment, EnvironmentChecks, ToolCall};
pub use hash::{Digest, content_hash};
pub use job::{Callee, Entry, Job, is_among};
pub use layer::{Base, Layer, LayerError, LayerRoot, Mounted};
pub use learn::{LearnError, PreferenceBatch, PreferencePair, Sample, TrainBatch, Update};
pub use limits::{LimitKind, Limits};
pub use outcome::{CallResult, Exit, GuestError, Outcome, OutcomeError};
pub use patch::{Change, Edits, Fuzz, Patch, PatchError, PatchProblem, TextFiles};
pub use path::{PathError, check_path};
pub use policy::{
    Finish, Message, MessageRole, PLAIN_USER, PolicyError, PolicyVersion, Prompt, PromptContent, Role, Rollout,
    Sampling,
};
pub use problem::{
    CallCase, CallChecks, Checks, Comparison, Predicted, Prediction, Problem, StdioCase, StdioChecks, TestCode,
    TestStyle, Tolerance, Trust,
};
pub use program::{count_statements, normalize_program, program_hash};
pub use reward::Reward;
pub use scripted::{Scripted, Turn};
pub use seams::{Execute, ExecuteError, Learn, Policy};
pub use task::{IoPair, Provenance, Question, Task, TaskType};
pub use value::{Class, DecodeError, EncodeCaps, LiteralError, MAX_LITERAL_BYTES, NumpyType, Object, Value};
pub use verdict::{Dropped, Evidence, Judged, Status, Verdict};

/// Version of every record this crate defines, written into each stored line as `schema_version`.
pub const SCHEMA_VERSION: u32 = 1;
