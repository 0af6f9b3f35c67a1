//! `direct`: bare answers, for pretrained models that are too small to reason.
//!
//! # Layout
//! The answer to a deduction, an abduction or an error task is one line with a literal, with arguments, or with a name. A program is a block fenced as `python`, with
//! which the response begins; what follows the block does not count. A triplet's block ends with a line that calls `f`. Inputs are one
//! call of `f` a line, the first ones that were asked for; a comment before them is the message.
//!
//! # Why
//! A model of some hundred million parameters follows answered examples, and loses its way in tags and instructions.
//!
//! # How it can be gamed
//! There is nothing around an answer that could hold a second one. The first block counts, so a response that tries several programs is
//! judged by its first.
//!
//! # Example
//! A deduction answer: `3`.

use veriplay_core::{Attempt, TaskType};

use crate::extraction::{FENCE, is_python_label, strip_end_tokens};

use super::{
    Format, Parsed, ProposalShape, into_attempt, parse_exception, parse_input_list, parse_inputs,
    parse_output_or_tuple, parse_program, parse_triplet,
};

const BLOCK_END: &str = "\n```";
const CALL: &str = "f(";

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct Direct;

impl Format for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn extract_proposal(&self, shape: &ProposalShape<'_>, text: &str) -> Attempt {
        into_attempt(match shape.task_type {
            TaskType::Induction => parse_calls(shape, text),
            task_type => split_call(text).and_then(|(program, input)| parse_triplet(task_type, program, input)),
        })
    }

    fn extract_answer(&self, task_type: TaskType, text: &str) -> Attempt {
        into_attempt(match task_type {
            TaskType::Deduction => single_line(text).and_then(parse_output_or_tuple).map(Attempt::Value),
            TaskType::Abduction => single_line(text).and_then(parse_inputs).map(Attempt::Arguments),
            TaskType::Induction => parse_code_block(text).and_then(parse_program).map(Attempt::Program),
            TaskType::Error => single_line(text).and_then(parse_exception).map(Attempt::Exception),
        })
    }

    /// There is no frame; a fence that is opened is closed, by the response or by the end of it.
    fn is_well_formed(&self, text: &str) -> bool {
        let text = text.trim();
        !text.is_empty() && (!text.contains(FENCE) || parse_code_block(text).is_ok())
    }
}

pub(crate) fn single_line(text: &str) -> Parsed<&str> {
    let text = strip_end_tokens(text).trim();
    if text.contains('\n') { Err("the answer has more than one line".to_owned()) } else { Ok(text) }
}

/// Parses the code of the block that a response begins with. The end of the response closes it, too: the closing fence ends the sampling.
///
/// # Errors
/// Why the response is malformed.
pub fn parse_code_block(text: &str) -> Result<&str, String> {
    let text = strip_end_tokens(text).trim_start();
    let begins = || "the response does not begin with a block fenced as `python`".to_owned();
    let (label, code) = text.strip_prefix(FENCE).and_then(|opened| opened.split_once('\n')).ok_or_else(begins)?;
    if !is_python_label(label) {
        return Err(begins());
    }
    match code.split(BLOCK_END).next() {
        Some(code) if !code.starts_with(FENCE) => Ok(code),
        _ => Err("the block is empty".to_owned()),
    }
}

fn split_call(text: &str) -> Parsed<(&str, &str)> {
    let code = parse_code_block(text)?.trim_end();
    let (program, call) = code.rsplit_once('\n').ok_or("the block has one line instead of a program and a call")?;
    Ok((program.trim_end(), call_arguments(call)?))
}

fn call_arguments(line: &str) -> Parsed<&str> {
    let inner = line.trim_end().strip_prefix(CALL).and_then(|rest| rest.strip_suffix(')'));
    inner.ok_or_else(|| format!("`{line}` is no call of `f`"))
}

fn parse_calls(shape: &ProposalShape<'_>, text: &str) -> Parsed<Attempt> {
    let (mut message, mut texts) = (String::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_prefix('#') {
            Some(comment) if texts.is_empty() => message = comment.trim().to_owned(),
            _ if texts.len() == shape.inputs => break,
            _ => texts.push(call_arguments(line)?),
        }
    }
    if texts.len() < shape.inputs {
        return Err(format!("{} calls of `f` instead of {}", texts.len(), shape.inputs));
    }
    parse_input_list(shape, &texts, &message)
}
