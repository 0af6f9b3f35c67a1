//! What a solver is asked.

use serde::{Deserialize, Serialize};

use crate::{Digest, Limits, Value, content_hash};

/// The three kinds of reasoning of Absolute Zero (arXiv 2505.03335, §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// Given program and input, say the output.
    Deduction,
    /// Given program and output, say an input that gives it.
    Abduction,
    /// Given input-output pairs, write the program.
    Induction,
}

impl TaskType {
    /// All three, in the order reports use.
    pub const ALL: [TaskType; 3] = [TaskType::Deduction, TaskType::Abduction, TaskType::Induction];

    /// The word reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            TaskType::Deduction => "deduction",
            TaskType::Abduction => "abduction",
            TaskType::Induction => "induction",
        }
    }
}

/// One argument list and what the program returned for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IoPair {
    /// Positional arguments of the call of `f`.
    pub input: Vec<Value>,
    /// What it returned, as executed by us.
    pub output: Value,
}

/// The question, with what only the judge may see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Say what `program` returns for `pair.input`. `pair.output` is the judge's.
    Deduction {
        /// Source text with entry `f`.
        program: String,
        /// The call, and its executed output.
        pair: IoPair,
    },
    /// Say an input for which `program` returns `pair.output`. `pair.input` is one witness, never compared.
    Abduction {
        /// Source text with entry `f`.
        program: String,
        /// A witness that the output can be reached.
        pair: IoPair,
    },
    /// Write a program that agrees with `visible`; it is judged on `hidden`.
    Induction {
        /// Pairs the solver sees.
        visible: Vec<IoPair>,
        /// Pairs only the judge sees.
        hidden: Vec<IoPair>,
        /// A hint in words; empty where the game has none.
        message: String,
        /// The program that made the pairs: the judge's.
        reference: String,
    },
}

impl Question {
    /// Which of the three kinds it is.
    #[must_use]
    pub const fn task_type(&self) -> TaskType {
        match self {
            Question::Deduction { .. } => TaskType::Deduction,
            Question::Abduction { .. } => TaskType::Abduction,
            Question::Induction { .. } => TaskType::Induction,
        }
    }

    /// The program behind it.
    #[must_use]
    pub fn program(&self) -> &str {
        match self {
            Question::Deduction { program, .. } | Question::Abduction { program, .. } => program,
            Question::Induction { reference, .. } => reference,
        }
    }
}

/// Where a task comes from.
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

/// What a solver is asked: immutable once made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The family it belongs to, such as `tiny/two` or `proposed`.
    pub family: String,
    /// The question.
    pub question: Question,
    /// Limits of every job that judges it.
    pub limits: Limits,
    /// Where it comes from.
    pub provenance: Provenance,
}

impl Task {
    /// Names the task by its question and limits alone: two tasks that ask the same have the same id.
    #[must_use]
    pub fn id(&self) -> Digest {
        content_hash(&(&self.question, &self.limits))
    }
}
