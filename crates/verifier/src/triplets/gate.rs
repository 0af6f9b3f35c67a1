//! The validity gate: its rules as data, and the checks that triplets and induction inputs share.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{CallResult, Exit, Limits, Outcome, Value, count_statements};

use super::rules::{self, ProposalError};
use crate::runner::{EXCERPT_CHARS, NoValue, decode_call, job_failure};

/// When a proposal is a task worth asking. There is no default: a run says what it lets through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposalGate {
    /// Name of the image programs run in.
    pub image: String,
    /// An image that differs from `image` in its hash seed alone, for the second job: it finds outputs that depend on the
    /// order of a set of strings. Without one that order is the same in every job and such programs pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_image: Option<String>,
    /// What each job may use; becomes the task's limits.
    pub limits: Limits,
    /// Seeds of the two jobs: random source and clock. They must differ.
    pub seeds: [u64; 2],
    /// Bytes of a program at most.
    pub max_program_bytes: usize,
    /// Statements of a program at least, as [`veriplay_core::count_statements`] counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_statements: Option<usize>,
    /// Statements of a program at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_statements: Option<usize>,
    /// Bytes of an output's `repr` at most.
    pub max_output_bytes: usize,
    /// What a triplet's program must do on inputs like the proposed one.
    pub probes: ProbeRules,
    /// What the inputs of an induction proposal must be.
    pub induction: InductionRules,
}

/// What a triplet's program must do on inputs like the proposed one (see [`crate::probes`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeRules {
    /// Inputs made from the proposed one.
    pub count: usize,
    /// On how many of them it must return a plain value. Those on which it raises are otherwise ignored.
    pub min_succeeded: usize,
    /// Distinct outputs at least, the proposed input's own included. 2 refuses constants only.
    pub min_distinct_outputs: usize,
}

/// What the inputs of an induction proposal must be. No two may be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InductionRules {
    /// The first so many pairs are shown.
    pub visible: usize,
    /// The others are judged on.
    pub hidden: usize,
    /// Distinct outputs at least, over all inputs.
    pub min_distinct_outputs: usize,
}

/// Why a gate cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProposalGateError {
    /// One seed twice finds no randomness.
    #[error("`seeds` are both `{0}`: they must differ")]
    SameSeeds(u64),
    /// More is asked for than there is.
    #[error("`{key}` is `{value}`: it must be from `{from}` to `{to}`")]
    OutOfRange {
        /// The key, below the gate's.
        key: &'static str,
        /// Its value.
        value: usize,
        /// The least it may be.
        from: usize,
        /// The most it may be.
        to: usize,
    },
}

impl ProposalGate {
    /// Checks what types cannot. Call it once, where the gate is read.
    ///
    /// # Errors
    /// The first value that has no meaning.
    pub fn check(&self) -> Result<(), ProposalGateError> {
        if self.seeds[0] == self.seeds[1] {
            return Err(ProposalGateError::SameSeeds(self.seeds[0]));
        }
        let InductionRules { visible, hidden, min_distinct_outputs } = self.induction;
        within("probes.min_succeeded", self.probes.min_succeeded, 0, self.probes.count)?;
        within("probes.min_distinct_outputs", self.probes.min_distinct_outputs, 1, self.probes.count + 1)?;
        within("induction.visible", visible, 1, usize::MAX)?;
        within("induction.hidden", hidden, 1, usize::MAX)?;
        within("induction.min_distinct_outputs", min_distinct_outputs, 1, visible.saturating_add(hidden))?;
        let most = self.max_statements.unwrap_or(usize::MAX);
        within("min_statements", self.min_statements.unwrap_or(0), 0, most)
    }

    pub(super) fn second_image(&self) -> &str {
        self.second_image.as_deref().unwrap_or(&self.image)
    }

    /// The rules on a program's text.
    pub(super) fn check_program(&self, program: &str) -> Result<(), ProposalError> {
        let bytes = program.len();
        if bytes > self.max_program_bytes {
            let detail = format!("{bytes} bytes, {} allowed", self.max_program_bytes);
            return Err(ProposalError::refused(rules::PROGRAM_LENGTH, detail));
        }
        if self.min_statements.is_none() && self.max_statements.is_none() {
            return Ok(());
        }
        let count = count_statements(program);
        if count < self.min_statements.unwrap_or(0) || count > self.max_statements.unwrap_or(usize::MAX) {
            return Err(ProposalError::refused(rules::STATEMENTS, format!("{count} statements")));
        }
        Ok(())
    }

    /// The rules on one output that a task would ask for.
    pub(super) fn output(&self, call: &CallResult) -> Result<Value, ProposalError> {
        let output = decode_call(call, &self.limits).map_err(|no_value| match no_value {
            NoValue::Raised(detail) => ProposalError::refused(rules::RAISES, detail),
            NoValue::NoPlainValue(detail) => ProposalError::refused(rules::UNENCODABLE, detail),
        })?;
        if output == Value::None {
            return Err(ProposalError::refused(rules::NONE, "the output is `None`"));
        }
        if !self.is_short(call, &output) {
            let detail = format!("the output's `repr` is longer than {} bytes", self.max_output_bytes);
            return Err(ProposalError::refused(rules::OUTPUT_LENGTH, detail));
        }
        Ok(output)
    }

    /// Whether the output's `repr` is short enough. An encoding is at most a few times its `repr`, so that most of what is
    /// too long is found without writing it: an int of a megabyte takes long to write in decimal.
    fn is_short(&self, call: &CallResult, output: &Value) -> bool {
        let encoded = match call {
            CallResult::Returned(bytes) => bytes.len(),
            CallResult::Raised(_) | CallResult::Unencodable(_) => 0,
        };
        encoded <= self.max_output_bytes.saturating_mul(8) && output.to_string().len() <= self.max_output_bytes
    }
}

fn within(key: &'static str, value: usize, from: usize, to: usize) -> Result<(), ProposalGateError> {
    if (from..=to).contains(&value) { Ok(()) } else { Err(ProposalGateError::OutOfRange { key, value, from, to }) }
}

/// Refuses an outcome that did not come to its end.
pub(super) fn check_exit(outcome: &Outcome) -> Result<(), ProposalError> {
    let Some((_, detail)) = job_failure(outcome) else { return Ok(()) };
    let rule = match &outcome.exit {
        Exit::Exceeded { .. } => rules::LIMITS,
        Exit::Trapped => rules::TRAPPED,
        Exit::CompileError => rules::COMPILES,
        Exit::MissingEntry => rules::ENTRY,
        Exit::Raised | Exit::Returned => rules::RAISES,
    };
    Err(ProposalError::refused(rule, detail))
}

/// Compares the outputs of the second job with those of the first.
pub(super) fn check_repeats(first: &[Value], second: &[CallResult], limits: &Limits) -> Result<(), ProposalError> {
    if first.len() != second.len() {
        let detail = format!("{} results the first time, {} the second", first.len(), second.len());
        return Err(ProposalError::refused(rules::NONDETERMINISTIC, detail));
    }
    for (expected, call) in first.iter().zip(second) {
        let again = decode_call(call, limits)
            .map_err(|no_value| ProposalError::refused(rules::NONDETERMINISTIC, no_value.text()))?;
        if again != *expected {
            let (first, second) = (expected.excerpt(EXCERPT_CHARS), again.excerpt(EXCERPT_CHARS));
            let detail = format!("`{first}` the first time, `{second}` the second");
            return Err(ProposalError::refused(rules::NONDETERMINISTIC, detail));
        }
    }
    Ok(())
}

/// Refuses outputs of which too few are distinct.
pub(super) fn check_distinct(outputs: &[Value], at_least: usize) -> Result<(), ProposalError> {
    let distinct: HashSet<Vec<u8>> = outputs.iter().map(Value::python_key).collect();
    if distinct.len() >= at_least {
        return Ok(());
    }
    let detail = format!("{} distinct outputs of {}, {at_least} wanted", distinct.len(), outputs.len());
    Err(ProposalError::refused(rules::CONSTANT, detail))
}
