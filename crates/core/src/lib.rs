#![doc = include_str!("../README.md")]
//!
//! # Records
//! Records flow Task → Prompt → Rollout → Attempt → Job → Outcome → Verdict → Reward → Advantage → [`TrainBatch`] →
//! [`Update`]. An Outcome is a fact, a Verdict a judgement, a Reward an incentive: three types, never merged.
//! This crate does no IO, reads no clock, and depends on no other crate of ours.

mod comparison;
mod hash;
mod job;
mod languages;
mod layer;
mod learn;
mod limits;
mod outcome;
mod patch;
mod path;
mod policy;
mod problem;
mod program;
mod scripted;
mod sql;
mod task;
mod traits;
mod value;
mod verdict;

pub use comparison::{Comparison, Tolerance};
pub use hash::{Digest, DigestError, content_hash, mix_seed};
pub use job::{Callee, Entry, Interactor, Job, Preload, WasmModule, is_under_any};
pub use languages::{CPP, JAVASCRIPT, SCANNED, ScannedLanguage, widen_longs};
pub use layer::{Layer, LayerError, LayerMount, LayerRoot, LayerStack};
pub use learn::{LearnError, PreferenceBatch, PreferencePair, Reward, Sample, Snapshot, TrainBatch, Update};
pub use limits::{LimitKind, LimitOverrides, Limits};
pub use outcome::{
    CallResult, Compilation, Exit, GuestError, Interaction, InteractionEnd, Outcome, OutcomeError, RunReport, exit_word,
};
pub use patch::{Edits, FileChange, Fuzz, Patch, PatchError, TextFiles};
pub use path::{PathError, check_path, is_plain_relative};
pub use policy::{
    FinishReason, LengthLimit, Message, MessageRole, PLAIN_USER, PolicyError, PolicyVersion, Prompt, PromptContent,
    Role, Rollout, RolloutId, SampledTurn, Sampling,
};
pub use problem::{
    AppendedTests, CallCase, CallChecks, Checks, CodeTask, Environment, EnvironmentChecks, ExpectedResult, Predicted,
    Prediction, Problem, ProblemRow, StdioCase, StdioChecks, TestCode, TestStyle, ToolCall, Trust, UnexecutedProblem,
    WrongValueCount,
};
pub use program::{count_statements, normalize_program, program_hash};
pub use scripted::{ScriptedPolicy, ScriptedRequest};
pub use sql::{ColumnOrder, RowOrder, SqlCase, SqlChecks, SqlDatabase, SqlFile};
pub use task::{Attempt, AttemptText, IoPair, Proposal, Provenance, Question, Task, TaskType};
pub use traits::{CancellationToken, Execute, ExecuteError, Language, Learn, Literals, Policy, Trainable};
pub use value::{
    DecodeError, EncodeCaps, LiteralError, MAX_LITERAL_BYTES, NumpyType, Object, PythonClass, Value, most_text_weight,
    record_weight, text_weight,
};
pub use verdict::{
    Dropped, EXTRACTION_RULE, Evidence, Extraction, INVALID_ROW_RULE, NoVerdict, ProposalVerdict, REFERENCE_RULE,
    RowStatus, Status, UNKNOWN_TASK_RULE, Verdict, VerdictRow,
};

/// Version of every record this crate defines, written into each stored line as `schema_version`.
pub const SCHEMA_VERSION: u32 = 1;
