//! Parses attempts from the responses of a policy. Each format is one file; the prompts of the same name are in `veriplay-selfplay`.
//!
//! A format is strict: it accepts what its documentation says and nothing similar, and gives the reason for a rejection. The documentation
//! of each file has the headings Layout, Why, How it can be gamed, Example.

pub mod compact;
pub mod direct;
pub mod think;

use veriplay_core::{Attempt, JAVASCRIPT, Language, Literals, Proposal, TaskType, Value};
use veriplay_python::Python;

use crate::languages::is_python;
use think::Think;

/// The proposal that a prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProposalShape<'a> {
    /// The type of the task.
    pub task_type: TaskType,
    /// The given program, for induction.
    pub given: Option<&'a str>,
    /// The number of inputs of an induction proposal.
    pub inputs: usize,
}

/// A format of responses.
pub trait Format: Sync {
    /// Its name in configurations.
    fn name(&self) -> &'static str;

    /// Parses a proposal from a response without its end token. An unreadable one is [`Attempt::Malformed`].
    fn extract_proposal(&self, shape: &ProposalShape<'_>, text: &str) -> Attempt;

    /// Parses a solver's answer from a response without its end token. An unreadable one is [`Attempt::Malformed`].
    fn extract_answer(&self, task_type: TaskType, text: &str) -> Attempt;

    /// Whether the frame around the answer is as the prompt asks. A format reward may depend on it.
    fn is_well_formed(&self, text: &str) -> bool;
}

/// All formats.
pub const FORMATS: &[&dyn Format] = &[&compact::Compact, &direct::Direct, &Think::PYTHON];

/// The format of that name.
#[must_use]
pub fn format_by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The format of that name for programs in a language. JavaScript has `think` alone, and other languages but Python none.
#[must_use]
pub fn format_in(language: &dyn Language, name: &str) -> Option<&'static dyn Format> {
    if is_python(language) {
        return format_by_name(name);
    }
    let format: &'static dyn Format = &Think::JAVASCRIPT;
    (language.names() == JAVASCRIPT.names() && format.name() == name).then_some(format)
}

/// A parsed part of a response, or why it cannot be parsed.
pub(crate) type Parsed<T> = Result<T, String>;

fn into_attempt(read: Parsed<Attempt>) -> Attempt {
    read.unwrap_or_else(|reason| Attempt::Malformed { reason })
}

fn parse_program(text: &str) -> Parsed<String> {
    if text.trim().is_empty() { Err("the program is empty".to_owned()) } else { Ok(text.to_owned()) }
}

/// Parses an argument list of at least one argument.
fn parse_inputs(text: &str) -> Parsed<Vec<Value>> {
    parse_inputs_in(&Python, text)
}

fn parse_inputs_in(literals: &dyn Literals, text: &str) -> Parsed<Vec<Value>> {
    if text.trim().is_empty() {
        return Err("the input is empty".to_owned());
    }
    literals.read_arguments(text).map_err(|error| format!("the input is no list of literals: {error}"))
}

/// Parses an output as `repr` writes it. `inf` and `nan` are outputs, although they are not literals.
fn parse_output(text: &str) -> Parsed<Value> {
    Value::parse_repr(text).map_err(|error| format!("the output is no literal: {error}"))
}

/// Parses a literal; `1, 2` is a tuple, as in Python.
fn parse_output_or_tuple(text: &str) -> Parsed<Value> {
    parse_output_in(&Python, text)
}

fn parse_output_in(literals: &dyn Literals, text: &str) -> Parsed<Value> {
    literals.read(text).map_err(|error| format!("the output is no literal: {error}"))
}

/// Parses the name of an exception's type.
fn parse_exception(text: &str) -> Parsed<String> {
    let name = text.trim();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match name.chars().next() {
        Some(first) if is_name && !first.is_ascii_digit() => Ok(name.to_owned()),
        _ => Err("the answer is no name of an exception".to_owned()),
    }
}

fn parse_triplet(task_type: TaskType, program_text: &str, input_text: &str) -> Parsed<Attempt> {
    parse_triplet_in(&Python, task_type, program_text, input_text)
}

fn parse_triplet_in(
    literals: &dyn Literals,
    task_type: TaskType,
    program_text: &str,
    input_text: &str,
) -> Parsed<Attempt> {
    let (program, input) = (parse_program(program_text)?, parse_inputs_in(literals, input_text)?);
    Ok(Attempt::Proposal(Proposal::Triplet { task_type, program, input }))
}

fn parse_input_list(shape: &ProposalShape<'_>, texts: &[&str], message: &str) -> Parsed<Attempt> {
    let given = shape.given.ok_or("no program was given to choose inputs for")?;
    let inputs = texts.iter().map(|text| parse_inputs(text)).collect::<Parsed<Vec<_>>>()?;
    Ok(Attempt::Proposal(Proposal::Inputs { program: given.to_owned(), inputs, message: message.to_owned() }))
}
