//! How attempts are read from what a policy wrote. One file a format; the prompts of the same name are selfplay's.
//!
//! A format is strict: it takes what its doc says and nothing that merely looks like it, and says why it took nothing.
//! Each file's doc has the headings Layout, Why, How it can be gamed, Example.

pub mod compact;
pub mod fenced;

use veriplay_core::{Attempt, Proposal, TaskType, Value};

/// What a proposer was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProposalShape<'a> {
    /// The kind of task.
    pub task_type: TaskType,
    /// The program that was given: for induction.
    pub given: Option<&'a str>,
    /// How many inputs an induction proposal has.
    pub inputs: usize,
}

/// One way of writing responses.
pub trait Format: Sync {
    /// Its name in configurations.
    fn name(&self) -> &'static str;

    /// Reads a proposal from a response without its end token. What cannot be read is [`Attempt::Malformed`].
    fn extract_proposal(&self, shape: &ProposalShape<'_>, text: &str) -> Attempt;

    /// Reads a solver's answer from a response without its end token. What cannot be read is [`Attempt::Malformed`].
    fn extract_answer(&self, task_type: TaskType, text: &str) -> Attempt;

    /// Whether the frame around the answer is as the prompt asked: what a format reward may be paid for.
    fn is_well_formed(&self, text: &str) -> bool;
}

/// All formats.
pub const FORMATS: &[&dyn Format] = &[&compact::Compact, &fenced::Fenced];

/// The format of that name.
#[must_use]
pub fn format_by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// A parsed part of a response, or why it cannot be parsed.
pub(crate) type Parsed<T> = Result<T, String>;

fn into_attempt(read: Parsed<Attempt>) -> Attempt {
    read.unwrap_or_else(|reason| Attempt::Malformed { reason })
}

fn parse_program(text: &str) -> Parsed<String> {
    if text.trim().is_empty() { Err("the program is empty".to_owned()) } else { Ok(text.to_owned()) }
}

/// An argument list; a call of `f` without arguments is no task.
fn parse_inputs(text: &str) -> Parsed<Vec<Value>> {
    if text.trim().is_empty() {
        return Err("the input is empty".to_owned());
    }
    Value::parse_arguments(text).map_err(|error| format!("the input is no list of literals: {error}"))
}

/// An output as `repr` writes it: `inf` and `nan` can be outputs although they are no literals.
fn parse_output(text: &str) -> Parsed<Value> {
    Value::parse_repr(text).map_err(|error| format!("the output is no literal: {error}"))
}

fn parse_triplet(task_type: TaskType, program_text: &str, input_text: &str) -> Parsed<Attempt> {
    let (program, input) = (parse_program(program_text)?, parse_inputs(input_text)?);
    Ok(Attempt::Proposal(Proposal::Triplet { task_type, program, input }))
}

fn parse_input_list(shape: &ProposalShape<'_>, texts: &[&str], message: &str) -> Parsed<Attempt> {
    let given = shape.given.ok_or("no program was given to choose inputs for")?;
    let inputs = texts.iter().map(|text| parse_inputs(text)).collect::<Parsed<Vec<_>>>()?;
    Ok(Attempt::Proposal(Proposal::Inputs { program: given.to_owned(), inputs, message: message.to_owned() }))
}
