//! Tasks for a solver, and what the verifier extracts from rollouts: attempts and proposals.

use serde::{Deserialize, Serialize};

use crate::{Digest, Limits, Value, content_hash};

/// The task types of Absolute Zero: those of arXiv 2505.03335, §3.2, and the error task of its released code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// Given a program and an input, predict the output.
    Deduction,
    /// Given a program and an output, find an input that gives it.
    Abduction,
    /// Given input-output pairs, write a program.
    Induction,
    /// Given a program and an input at which it raises, name the exception.
    Error,
}

impl TaskType {
    /// All of them, in the order reports use.
    pub const ALL: [TaskType; 4] = [TaskType::Deduction, TaskType::Abduction, TaskType::Induction, TaskType::Error];
    /// Those of the paper's runs, which a run has unless its configuration says otherwise.
    pub const STANDARD: [TaskType; 3] = [TaskType::Deduction, TaskType::Abduction, TaskType::Induction];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            TaskType::Deduction => "deduction",
            TaskType::Abduction => "abduction",
            TaskType::Induction => "induction",
            TaskType::Error => "error",
        }
    }
}

/// One argument list and what the program returned for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IoPair {
    /// Positional arguments of the call of `f`.
    pub input: Vec<Value>,
    /// The returned value, as our execution found it.
    pub output: Value,
}

/// A question, including what only the judge may see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Predict what `program` returns for `pair.input`. Only the judge sees `pair.output`.
    Deduction {
        /// Source text with entry `f`.
        program: String,
        /// The call and its executed output.
        pair: IoPair,
    },
    /// Find an input for which `program` returns `pair.output`. `pair.input` is one such input and is never compared.
    Abduction {
        /// Source text with entry `f`.
        program: String,
        /// A call that gives the output.
        pair: IoPair,
    },
    /// Write a program that agrees with `visible`. It is judged on `hidden`.
    Induction {
        /// Pairs the solver sees.
        visible: Vec<IoPair>,
        /// Pairs only the judge sees.
        hidden: Vec<IoPair>,
        /// A hint in words; empty where the game has none.
        message: String,
        /// The program that made the pairs. Only the judge sees it.
        reference: String,
    },
    /// Name the exception that `program` raises for `input`.
    Error {
        /// Source text with entry `f`.
        program: String,
        /// Positional arguments of the call of `f`.
        input: Vec<Value>,
        /// The name of the exception's nearest built-in type, as our execution found it. Only the judge sees it.
        exception: String,
    },
}

impl Question {
    /// The type of its task.
    pub const fn task_type(&self) -> TaskType {
        match self {
            Question::Deduction { .. } => TaskType::Deduction,
            Question::Abduction { .. } => TaskType::Abduction,
            Question::Induction { .. } => TaskType::Induction,
            Question::Error { .. } => TaskType::Error,
        }
    }

    /// The program it is about.
    pub fn program(&self) -> &str {
        match self {
            Question::Deduction { program, .. }
            | Question::Abduction { program, .. }
            | Question::Error { program, .. } => program,
            Question::Induction { reference, .. } => reference,
        }
    }
}

/// The origin of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// From `task-corpus/`, a generator, or a public set.
    Seed,
    /// From a proposer.
    Proposed {
        /// The step at which it was proposed.
        step: u64,
        /// Index of the proposal within the step.
        index: u64,
    },
}

/// A task for a solver. Immutable once made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its family, such as `tiny/two` or `proposed`.
    pub family: String,
    /// The language of its program, as [`crate::Problem`] names it; `None` is Python.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The question.
    pub question: Question,
    /// Limits of every job that judges it.
    pub limits: Limits,
    /// Its origin.
    pub provenance: Provenance,
}

impl Task {
    /// The hash of its question and limits. Tasks that ask the same thing have the same id.
    pub fn id(&self) -> Digest {
        content_hash(&(&self.question, &self.limits))
    }
}

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
    pub const fn task_type(&self) -> TaskType {
        match self {
            Proposal::Triplet { task_type, .. } => *task_type,
            Proposal::Inputs { .. } => TaskType::Induction,
        }
    }

    /// The program of the proposed task.
    pub fn program(&self) -> &str {
        match self {
            Proposal::Triplet { program, .. } | Proposal::Inputs { program, .. } => program,
        }
    }
}
