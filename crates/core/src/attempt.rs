//! Attempts and proposals: what the verifier extracts from a rollout.

use serde::{Deserialize, Serialize};

use crate::{TaskType, Value};

/// The text of an attempt at a task, as it comes from a file or a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptText {
    /// A model's response: a continuation of the prompt, or prose with a fenced block of code.
    Completion(String),
    /// A whole program.
    Program(String),
}

/// The content extracted from a rollout's text. Extraction is part of judging, so the verifier does it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    /// The predicted value of a deduction task.
    Value(Value),
    /// The argument list given for an abduction task.
    Arguments(Vec<Value>),
    /// A whole program.
    Program(String),
    /// The name given for the exception of an error task.
    Exception(String),
    /// A proposed task.
    Proposal(Proposal),
    /// The text holds no attempt of the wanted kind.
    Malformed {
        /// Why, for people.
        reason: String,
    },
}

/// A proposed task, not executed yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proposal {
    /// A program and one input, for deduction, abduction and error tasks.
    Triplet {
        /// `Deduction`, `Abduction` or `Error`.
        task_type: TaskType,
        /// Source text with entry `f`.
        program: String,
        /// Positional arguments.
        input: Vec<Value>,
    },
    /// Inputs for a given program and a message for the solver, for induction.
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
    /// The type of the proposed task.
    #[must_use]
    pub const fn task_type(&self) -> TaskType {
        match self {
            Proposal::Triplet { task_type, .. } => *task_type,
            Proposal::Inputs { .. } => TaskType::Induction,
        }
    }

    /// The program of the proposed task.
    #[must_use]
    pub fn program(&self) -> &str {
        match self {
            Proposal::Triplet { program, .. } | Proposal::Inputs { program, .. } => program,
        }
    }
}
