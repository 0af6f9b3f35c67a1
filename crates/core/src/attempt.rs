//! What was extracted from a rollout.

use serde::{Deserialize, Serialize};

use crate::{TaskType, Value};

/// What was extracted from a rollout. Extraction is part of judging, so the verifier makes these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    /// The value a deduction answer names.
    Value(Value),
    /// The argument list an abduction answer names.
    Arguments(Vec<Value>),
    /// A whole program.
    Program(String),
    /// A proposed task.
    Proposal(Proposal),
    /// Nothing of the wanted kind could be read.
    Malformed {
        /// What was wrong, for people.
        reason: String,
    },
}

/// A proposed task, before anything has been run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proposal {
    /// A program and one input: for deduction and abduction.
    Triplet {
        /// `Deduction` or `Abduction`.
        task_type: TaskType,
        /// Source text with entry `f`.
        program: String,
        /// Positional arguments.
        input: Vec<Value>,
    },
    /// Inputs for a given program, and a message for the solver: for induction.
    Inputs {
        /// The program that was given to the proposer.
        program: String,
        /// Argument lists.
        inputs: Vec<Vec<Value>>,
        /// A hint in words; may be empty.
        message: String,
    },
}

impl Proposal {
    /// The kind of task it proposes.
    #[must_use]
    pub const fn task_type(&self) -> TaskType {
        match self {
            Proposal::Triplet { task_type, .. } => *task_type,
            Proposal::Inputs { .. } => TaskType::Induction,
        }
    }

    /// Its program.
    #[must_use]
    pub fn program(&self) -> &str {
        match self {
            Proposal::Triplet { program, .. } | Proposal::Inputs { program, .. } => program,
        }
    }
}
