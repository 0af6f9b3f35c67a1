//! `compact`: control tokens instead of words, for models that are trained from nothing.
//!
//! # Layout
//! Answers are bare: deduction one literal, abduction an argument list, induction a program, an error task a name. Proposals:
//! `program<I>arguments` for deduction, abduction and error tasks, `<I>arguments` for each input of induction. The end token
//! has been taken off already.
//!
//! # Why
//! A response is a handful of tokens without boilerplate.
//!
//! # How it can be gamed
//! A response that continues after its answer, in the hope that some part is right, has a misplaced control token and is refused as a
//! whole. So is a program with a control token inside a string.
//!
//! # Example
//! `def f(x):⏎    return x + 1<I>2` proposes a program and the input 2.

use veriplay_core::{Attempt, TaskType};

use super::{
    Format, Parsed, ProposalShape, into_attempt, parse_exception, parse_input_list, parse_inputs, parse_output,
    parse_program, parse_triplet,
};

/// Opens a deduction question.
pub const DEDUCTION: &str = "<D>";
/// Opens an abduction question.
pub const ABDUCTION: &str = "<A>";
/// Opens an induction question.
pub const INDUCTION: &str = "<F>";
/// Asks for a deduction proposal.
pub const PROPOSE_DEDUCTION: &str = "<PD>";
/// Asks for an abduction proposal.
pub const PROPOSE_ABDUCTION: &str = "<PA>";
/// Asks for the inputs of an induction proposal.
pub const PROPOSE_INDUCTION: &str = "<PF>";
/// Stands before an argument list.
pub const INPUT: &str = "<I>";
/// Stands before an output.
pub const OUTPUT: &str = "<O>";
/// Stands before a program.
pub const PROGRAM: &str = "<P>";
/// Stands before a reference in a proposer's prompt.
pub const REFERENCE: &str = "<R>";
/// Ends a response.
pub const END: &str = "<|end|>";

/// Opens an error question.
pub const ERROR: &str = "<E>";
/// Asks for an error proposal.
pub const PROPOSE_ERROR: &str = "<PE>";
/// The control tokens of error tasks, which the built-in models do not have: they read them letter by letter.
pub const ERROR_CONTROL: [&str; 2] = [ERROR, PROPOSE_ERROR];

/// Every control token except [`END`], which tokenizers have themselves, and those of error tasks.
pub const CONTROL: [&str; 10] = [
    DEDUCTION, ABDUCTION, INDUCTION, PROPOSE_DEDUCTION, PROPOSE_ABDUCTION, PROPOSE_INDUCTION, INPUT, OUTPUT, PROGRAM,
    REFERENCE,
];

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct Compact;

impl Format for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn extract_proposal(&self, shape: &ProposalShape<'_>, text: &str) -> Attempt {
        into_attempt(match shape.task_type {
            TaskType::Induction => induction_inputs(shape, text),
            _ => parse_program_and_input(shape.task_type, text),
        })
    }

    fn extract_answer(&self, task_type: TaskType, text: &str) -> Attempt {
        into_attempt(parse_part(text).and_then(|text| match task_type {
            TaskType::Deduction => parse_output(text).map(Attempt::Value),
            TaskType::Abduction => parse_inputs(text).map(Attempt::Arguments),
            TaskType::Induction => parse_program(text).map(Attempt::Program),
            TaskType::Error => parse_exception(text).map(Attempt::Exception),
        }))
    }

    /// There is no frame: any response with text is well-formed.
    fn is_well_formed(&self, text: &str) -> bool {
        !text.trim().is_empty()
    }
}

fn parse_program_and_input(task_type: TaskType, text: &str) -> Parsed<Attempt> {
    let (program, input) = text.split_once(INPUT).ok_or_else(|| format!("no `{INPUT}` behind the program"))?;
    let more_tokens: &[&str] = if task_type == TaskType::Error { &ERROR_CONTROL } else { &[] };
    parse_triplet(task_type, parse_part_without(program, more_tokens)?, parse_part(input)?)
}

fn induction_inputs(shape: &ProposalShape<'_>, text: &str) -> Parsed<Attempt> {
    let list = text.strip_prefix(INPUT).ok_or_else(|| format!("the first input has no `{INPUT}` before it"))?;
    let parts: Vec<&str> = list.split(INPUT).collect();
    if parts.len() != shape.inputs {
        return Err(format!("{} inputs instead of {}", parts.len(), shape.inputs));
    }
    let parts = parts.into_iter().map(parse_part).collect::<Parsed<Vec<_>>>()?;
    parse_input_list(shape, &parts, "")
}

fn parse_part(text: &str) -> Parsed<&str> {
    parse_part_without(text, &[])
}

/// Parses a part of a response, which is not empty and holds no control token, nor any of `more_tokens`.
pub(crate) fn parse_part_without<'a>(text: &'a str, more_tokens: &[&str]) -> Parsed<&'a str> {
    match CONTROL.iter().chain(more_tokens).chain([&END]).find(|token| text.contains(**token)) {
        Some(token) => Err(format!("`{token}` out of place")),
        None if text.trim().is_empty() => Err("an empty part".to_owned()),
        None => Ok(text),
    }
}
