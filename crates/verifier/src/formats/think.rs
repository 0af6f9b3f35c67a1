//! `think`: think and answer tags around fenced blocks, for models that reason. The frame is Absolute Zero's (arXiv
//! 2505.03335, appendix D); the parsing is stricter than its release.
//!
//! # Layout
//! The prompt has opened the think tag: `…</think> <answer>…</answer>`, white space between the two. The answer is the last
//! `<answer>` up to its `</answer>`. In it the last block fenced as `python`, `input`, `output` or `message` counts; an
//! induction proposal's inputs are its last `inputs` blocks fenced as `input`. Fences are those of [`crate::extraction`]. Programs in
//! JavaScript and C++ are fenced by a label of the language, such as `js` or `c++`, and values of JavaScript are its literals.
//!
//! # Why
//! A pretrained model knows fenced blocks, so it needs no warm-up to be understood.
//!
//! # How it can be gamed
//! Nothing outside the answer counts, and there is no fallback to free text, so that an answer is one statement. A thought that holds a
//! whole answer gains nothing: the last answer counts, and a frame of two answers is not well-formed.
//!
//! # Example
//! A deduction answer: `…</think>⏎<answer>⏎`, a block fenced as `output` that holds `3`, `</answer>`.

use veriplay_core::{Attempt, CPP, JAVASCRIPT, Language, Literals, TaskType};
use veriplay_python::Python;

use super::{
    Format, Parsed, ProposalShape, into_attempt, parse_exception, parse_input_list, parse_inputs_in, parse_output_in,
    parse_program, parse_triplet_in,
};
use crate::extraction::{labelled_blocks, strip_end_tokens};
use crate::languages::{is_python, literals_of};

const THINK: &str = "<think>";
const THINK_END: &str = "</think>";
const ANSWER: &str = "<answer>";
const ANSWER_END: &str = "</answer>";

/// The format, for programs in one language.
#[derive(Debug, Clone, Copy)]
pub struct Think(&'static dyn Language);

impl Think {
    /// For programs in Python, of every type.
    pub const PYTHON: Self = Self(&Python);
    /// For programs in JavaScript, of deduction and abduction tasks.
    pub const JAVASCRIPT: Self = Self(&JAVASCRIPT);
    /// For programs in C++, which answer problems in words alone.
    pub(crate) const CPP: Self = Self(&CPP);

    /// The language of programs.
    pub(crate) fn language(self) -> &'static dyn Language {
        self.0
    }

    fn literals(self) -> &'static dyn Literals {
        literals_of(self.0)
    }

    fn last_program(self, answer: &str) -> Parsed<String> {
        let names = self.0.names();
        let is_own = |label: &str| match is_python(self.0) {
            true => names.contains(&label),
            false => self.0.is_label(&label.to_ascii_lowercase()),
        };
        let found = labelled_blocks(answer).into_iter().rfind(|(label, _)| is_own(label));
        found.map(|(_, program)| program).ok_or_else(|| format!("no block fenced as `{}`", names[0]))
    }
}

impl Format for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn extract_proposal(&self, shape: &ProposalShape<'_>, text: &str) -> Attempt {
        into_attempt(parse_answer(text).and_then(|answer| match shape.task_type {
            TaskType::Induction => induction_inputs(shape, answer),
            task_type => {
                let (program, input) = (self.last_program(answer)?, last_block(answer, "input")?);
                parse_triplet_in(self.literals(), task_type, &program, &input)
            }
        }))
    }

    fn extract_answer(&self, task_type: TaskType, text: &str) -> Attempt {
        into_attempt(parse_answer(text).and_then(|answer| match task_type {
            TaskType::Deduction => parse_output_in(self.literals(), &last_block(answer, "output")?).map(Attempt::Value),
            TaskType::Abduction => {
                parse_inputs_in(self.literals(), &last_block(answer, "input")?).map(Attempt::Arguments)
            }
            TaskType::Induction => parse_program(&self.last_program(answer)?).map(Attempt::Program),
            TaskType::Error => parse_exception(&last_block(answer, "output")?).map(Attempt::Exception),
        }))
    }

    /// Exactly one thought and one answer. Text after the answer is allowed: a base model may go on.
    fn is_well_formed(&self, text: &str) -> bool {
        let text = text.strip_prefix(THINK).unwrap_or(text);
        let Some((thought, rest)) = text.split_once(THINK_END) else { return false };
        let Some(inner) = rest.trim().strip_prefix(ANSWER) else { return false };
        let (inner, behind) = inner.split_once(ANSWER_END).unwrap_or((inner, ""));
        let tags = [THINK, THINK_END, ANSWER, ANSWER_END];
        [thought, inner, behind].iter().all(|part| tags.iter().all(|tag| !part.contains(tag)))
    }
}

/// Parses the text of the last answer. The end of the response closes it, too: the closing tag ends the sampling.
pub(crate) fn parse_answer(text: &str) -> Parsed<&str> {
    let (_, rest) = strip_end_tokens(text).rsplit_once(ANSWER).ok_or_else(|| format!("no `{ANSWER}`"))?;
    Ok(rest.split(ANSWER_END).next().unwrap_or(rest))
}

fn induction_inputs(shape: &ProposalShape<'_>, answer: &str) -> Parsed<Attempt> {
    let message = last_block(answer, "message")?;
    let all: Vec<String> = blocks(answer, "input");
    let from = all.len().checked_sub(shape.inputs);
    let from = from.ok_or_else(|| format!("{} blocks fenced as `input` instead of {}", all.len(), shape.inputs))?;
    let texts: Vec<&str> = all[from..].iter().map(String::as_str).collect();
    parse_input_list(shape, &texts, message.trim())
}

fn last_block(answer: &str, kind: &str) -> Parsed<String> {
    blocks(answer, kind).pop().ok_or_else(|| format!("no block fenced as `{kind}`"))
}

/// The contents of the blocks with this label, in order.
fn blocks(answer: &str, kind: &str) -> Vec<String> {
    labelled_blocks(answer).into_iter().filter(|(label, _)| label == kind).map(|(_, content)| content).collect()
}
