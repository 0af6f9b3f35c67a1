//! `direct`: answers without reasoning, and answered examples before the question, for pretrained models that are too small to reason.
//!
//! # Layout
//! A conversation: an instruction, then for each example a message of the user and the assistant's answer, then the question. Deduction
//! and abduction show a program and an assertion with a `?` in place of what is asked; the answer is that literal alone. Induction shows
//! assertions; the answer is a block fenced as `python`. An error task shows a program and a call; the answer is the exception's name. A proposal is such a block whose last line calls `f`; inputs for a given program
//! are a comment and one call of `f` a line. A document stands in such a block before the request for a proposal.
//!
//! # Why
//! A small model follows examples better than instructions: SmolLM2-135M-Instruct answers 32 of 60 short CRUXEval questions in words of its
//! own when it is asked in prose, and 54 of 60 with a literal when it is shown assertions.
//!
//! # Example
//! `def f(x):⏎    return x + 1⏎assert f(2) == ?` is answered by `3`.

use veriplay_core::{IoPair, PromptContent, Proposal, Question, Role, TaskType, Value};
use veriplay_selfplay::prompt_frames::{FENCE_END, code_block, conversation};

use super::{PromptFormat, ProposerRequest};

pub(super) struct Direct;

impl PromptFormat for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn solver_content(&self, question: &Question, examples: &[&Question]) -> PromptContent {
        let instruction = match question.task_type() {
            TaskType::Deduction => "Replace the question mark. Answer with the value alone.",
            TaskType::Abduction => "Replace the question mark. Answer with the arguments alone.",
            TaskType::Induction => "Write the Python function `f` that satisfies every assertion.",
            TaskType::Error => "Replace the question mark. Answer with the name of the exception alone.",
        };
        let shown = examples.iter().map(|example| (question_text(example), self.answer_text(example)));
        conversation(instruction, shown, question_text(question))
    }

    fn proposer_content(&self, request: &ProposerRequest<'_>) -> PromptContent {
        match request.task_type {
            TaskType::Deduction | TaskType::Abduction | TaskType::Error => self.triplet_content(request),
            TaskType::Induction => self.inputs_content(request),
        }
    }

    fn answer_text(&self, question: &Question) -> String {
        match question {
            Question::Deduction { pair, .. } => pair.output.to_string(),
            Question::Abduction { pair, .. } => Value::arguments_text(&pair.input),
            Question::Induction { reference, .. } => code_block(reference),
            Question::Error { exception, .. } => exception.clone(),
        }
    }

    fn proposal_text(&self, proposal: &Proposal) -> String {
        match proposal {
            Proposal::Triplet { program, input, .. } => triplet_text(program, input),
            Proposal::Inputs { inputs, message, .. } => inputs_text(message, inputs.iter()),
        }
    }

    fn stop(&self, role: Role, task_type: TaskType) -> &'static [&'static str] {
        match (role, task_type) {
            (Role::SOLVER, TaskType::Deduction | TaskType::Abduction | TaskType::Error) => &["\n"],
            (Role::PROPOSER, TaskType::Induction) => &["\n\n"],
            _ => FENCE_END,
        }
    }
}

impl Direct {
    fn triplet_content(&self, request: &ProposerRequest<'_>) -> PromptContent {
        let goal = match request.task_type {
            TaskType::Abduction => "from the result of the call, its arguments are hard to find",
            TaskType::Error => "the call raises a built-in exception, and which one is hard to work out",
            TaskType::Deduction | TaskType::Induction => "the result of the call is hard to work out",
        };
        let ask = format!("Write another one, such that {goal}.");
        let shown = request.references.iter().filter_map(|question| {
            let (program, input) = match question {
                Question::Deduction { program, pair } | Question::Abduction { program, pair } => (program, &pair.input),
                Question::Induction { reference, visible, .. } => (reference, &visible.first()?.input),
                Question::Error { program, input, .. } => (program, input),
            };
            Some((ask.clone(), triplet_text(program, input)))
        });
        let document = request.document.map_or_else(String::new, |document| {
            format!("{}\nTake an idea of this function, and copy nothing of it. ", code_block(document))
        });
        let instruction = "Write a short Python function `f`, and call it. It must not print.";
        conversation(instruction, shown, document + &ask)
    }

    fn inputs_content(&self, request: &ProposerRequest<'_>) -> PromptContent {
        let shown = request.references.iter().filter_map(|question| match question {
            Question::Induction { reference, visible, hidden, message, .. } => {
                let inputs = visible.iter().chain(hidden).map(|pair| &pair.input);
                Some((reference.clone(), inputs_text(message, inputs)))
            }
            Question::Deduction { .. } | Question::Abduction { .. } | Question::Error { .. } => None,
        });
        let instruction = format!(
            "Call the function with {} different inputs, one call a line, after a comment that says what it does.",
            request.inputs
        );
        conversation(&instruction, shown, request.given_program().to_owned())
    }
}

fn question_text(question: &Question) -> String {
    match question {
        Question::Deduction { program, pair } => {
            format!("{program}\nassert {} == ?", call(&pair.input))
        }
        Question::Abduction { program, pair } => format!("{program}\nassert f(?) == {}", pair.output),
        Question::Induction { visible, message, .. } => {
            let assertion = |pair: &IoPair| format!("assert {} == {}", call(&pair.input), pair.output);
            let assertions: Vec<String> = visible.iter().map(assertion).collect();
            comment(message) + &assertions.join("\n")
        }
        Question::Error { program, input, .. } => format!("{program}\n{}  # raises ?", call(input)),
    }
}

fn call(input: &[Value]) -> String {
    format!("f({})", Value::arguments_text(input))
}

/// The message on a line of its own; nothing where there is none.
fn comment(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { line } else { format!("# {line}\n") }
}

fn triplet_text(program: &str, input: &[Value]) -> String {
    code_block(&format!("{}\n\n{}", program.trim_end_matches('\n'), call(input)))
}

fn inputs_text<'a>(message: &str, inputs: impl Iterator<Item = &'a Vec<Value>>) -> String {
    let calls: Vec<String> = inputs.map(|input| call(input)).collect();
    comment(message) + &calls.join("\n")
}
