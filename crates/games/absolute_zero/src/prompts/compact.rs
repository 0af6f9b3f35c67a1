//! `compact`: control tokens instead of words, for models that are trained from nothing.
//!
//! # Layout
//! Solver: deduction `<D>program<I>args<O>`, abduction `<A>program<O>output<I>`, induction `<F>` with `<I>args<O>output` for
//! each visible pair and then `<P>`, error task `<E>program<I>args<O>`. Proposer: `<R>program<I>args` for each reference, then
//! `<PD>`, `<PA>` or `<PE>`; `<PF>program` for induction. Responses are the bare output, argument list, program or name;
//! `program<I>args` for a proposed triplet, `<I>args` for each proposed input. A message for the solver has no place here and is left out.
//!
//! # Why
//! A prompt of a tiny task is some 20 tokens instead of hundreds, and prefill dominates sampling.
//!
//! # Example
//! `<D>def f(x):⏎    return x + 1<I>2<O>` is answered by `3`.

use veriplay_core::{IoPair, PromptContent, Proposal, Question, TaskType, Value};
use veriplay_verifier::formats::compact::{
    ABDUCTION, DEDUCTION, ERROR, INDUCTION, INPUT, OUTPUT, PROGRAM, PROPOSE_ABDUCTION, PROPOSE_DEDUCTION,
    PROPOSE_ERROR, PROPOSE_INDUCTION, REFERENCE,
};

use super::{PromptFormat, ProposerRequest, bare_answer};

pub(super) struct Compact;

impl PromptFormat for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn solver_content(&self, question: &Question, _examples: &[&Question]) -> PromptContent {
        solver_text_parts(question).concat().into()
    }

    fn proposer_content(&self, request: &ProposerRequest<'_>) -> PromptContent {
        let references: String = request.references.iter().map(|question| reference_text(question)).collect();
        match request.task_type {
            TaskType::Deduction => format!("{references}{PROPOSE_DEDUCTION}{}", request.begun.unwrap_or_default()),
            TaskType::Abduction => format!("{references}{PROPOSE_ABDUCTION}{}", request.begun.unwrap_or_default()),
            TaskType::Induction => format!("{PROPOSE_INDUCTION}{}", request.given_program()),
            TaskType::Error => format!("{references}{PROPOSE_ERROR}"),
        }
        .into()
    }

    fn answer_text(&self, question: &Question) -> String {
        bare_answer(self.literals(), question)
    }

    fn proposal_text(&self, proposal: &Proposal) -> String {
        match proposal {
            Proposal::Triplet { program, input, .. } => format!("{program}{}", input_text(input)),
            Proposal::Inputs { inputs, .. } => inputs.iter().map(|input| input_text(input)).collect(),
        }
    }
}

/// The prompt of a solver: what all questions about its program share, and the rest.
pub fn solver_text_parts(question: &Question) -> [String; 2] {
    match question {
        Question::Deduction { program, pair } => {
            [format!("{DEDUCTION}{program}"), format!("{}{OUTPUT}", input_text(&pair.input))]
        }
        Question::Abduction { program, pair } => {
            [format!("{ABDUCTION}{program}"), format!("{OUTPUT}{}{INPUT}", pair.output)]
        }
        Question::Induction { visible, .. } => {
            let pair_text = |pair: &IoPair| format!("{}{OUTPUT}{}", input_text(&pair.input), pair.output);
            let pairs: String = visible.iter().map(pair_text).collect();
            [format!("{INDUCTION}{pairs}{PROGRAM}"), String::new()]
        }
        Question::Error { program, input, .. } => {
            [format!("{ERROR}{program}"), format!("{}{OUTPUT}", input_text(input))]
        }
    }
}

fn input_text(input: &[Value]) -> String {
    format!("{INPUT}{}", Value::arguments_text(input))
}

/// A task as an example for a proposer. Induction tasks are none: their proposer is shown a program instead.
fn reference_text(question: &Question) -> String {
    let text = |program: &str, input: &[Value]| format!("{REFERENCE}{program}{}", input_text(input));
    match question {
        Question::Deduction { program, pair } | Question::Abduction { program, pair } => text(program, &pair.input),
        Question::Error { program, input, .. } => text(program, input),
        Question::Induction { .. } => String::new(),
    }
}
