//! `think`: think and answer tags around fenced blocks, for models that reason. The frame is Absolute Zero's (arXiv
//! 2505.03335, appendix D); the parsing is stricter than its release.
//!
//! # Layout
//! The prompt has opened the think tag: `…</think> <answer>…</answer>`, white space between the two. The answer is the last
//! `<answer>` up to its `</answer>`. In it the last block fenced as `python`, `input`, `output` or `message` counts; an
//! induction proposal's inputs are its last `inputs` blocks fenced as `input`. A fence opens and closes on lines of its own.
//!
//! # Why
//! A pretrained model knows fenced blocks, so it needs no warm-up to be understood.
//!
//! # How it can be gamed
//! Nothing outside the answer counts and there is no fallback to free text, so that an answer is one statement. A thought
//! that holds a whole answer gains nothing: the last answer counts, and the frame of two answers is not well-formed.
//!
//! # Example
//! A deduction answer: `…</think>⏎<answer>⏎`, a block fenced as `output` that holds `3`, `</answer>`.

use veriplay_core::{Attempt, TaskType};

use super::{Format, ProposalShape, Read, arguments, attempt, inputs, output_or_tuple, program, triplet};

const THINK: &str = "<think>";
const THINK_END: &str = "</think>";
const ANSWER: &str = "<answer>";
const ANSWER_END: &str = "</answer>";
const FENCE: &str = "```";

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct Think;

impl Format for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn extract_proposal(&self, shape: &ProposalShape<'_>, text: &str) -> Attempt {
        attempt(answer(text).and_then(|answer| match shape.task_type {
            TaskType::Induction => input_list(shape, answer),
            task_type => triplet(task_type, &block(answer, "python")?, &block(answer, "input")?),
        }))
    }

    fn extract_answer(&self, task_type: TaskType, text: &str) -> Attempt {
        attempt(answer(text).and_then(|answer| match task_type {
            TaskType::Deduction => output_or_tuple(&block(answer, "output")?).map(Attempt::Value),
            TaskType::Abduction => arguments(&block(answer, "input")?).map(Attempt::Arguments),
            TaskType::Induction => program(&block(answer, "python")?).map(Attempt::Program),
        }))
    }

    /// Exactly one thought and one answer. Text behind the answer is no fault: a base model may go on.
    fn is_well_formed(&self, text: &str) -> bool {
        let text = text.strip_prefix(THINK).unwrap_or(text);
        let Some((thought, rest)) = text.split_once(THINK_END) else { return false };
        let Some(inner) = rest.trim().strip_prefix(ANSWER) else { return false };
        let (inner, behind) = inner.split_once(ANSWER_END).unwrap_or((inner, ""));
        let tags = [THINK, THINK_END, ANSWER, ANSWER_END];
        [thought, inner, behind].iter().all(|part| tags.iter().all(|tag| !part.contains(tag)))
    }
}

/// The text of the last answer. The end of the response closes it, too: the closing tag ends the sampling.
fn answer(text: &str) -> Read<&str> {
    let (_, rest) = text.rsplit_once(ANSWER).ok_or_else(|| format!("no `{ANSWER}`"))?;
    Ok(rest.split(ANSWER_END).next().unwrap_or(rest))
}

fn input_list(shape: &ProposalShape<'_>, answer: &str) -> Read<Attempt> {
    let message = block(answer, "message")?;
    let all: Vec<String> = blocks(answer, "input");
    let from = all.len().checked_sub(shape.inputs);
    let from = from.ok_or_else(|| format!("{} blocks fenced as `input` instead of {}", all.len(), shape.inputs))?;
    let texts: Vec<&str> = all[from..].iter().map(String::as_str).collect();
    inputs(shape, &texts, message.trim())
}

fn block(answer: &str, kind: &str) -> Read<String> {
    blocks(answer, kind).pop().ok_or_else(|| format!("no block fenced as `{kind}`"))
}

/// The contents of the closed blocks of one kind, in order.
fn blocks(answer: &str, kind: &str) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), None);
    for line in answer.lines() {
        let fence = line.trim().strip_prefix(FENCE);
        match (&mut open, fence) {
            (None, Some(label)) => open = Some((label == kind, Vec::new())),
            (Some(_), Some("")) => {
                found.extend(open.take().filter(|(wanted, _)| *wanted).map(|(_, lines)| lines.join("\n")))
            }
            (Some((_, lines)), _) => lines.push(line),
            (None, None) => {}
        }
    }
    found
}
