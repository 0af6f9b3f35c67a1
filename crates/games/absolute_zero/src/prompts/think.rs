//! `think`: the paper's prompts. The model reasons between think tags, then answers in fenced blocks between answer tags.
//!
//! # Layout
//! The structure of Absolute Zero's prompts in our own words: a frame that asks for `<think>` and `<answer>`, the request,
//! and the opened `<think>` tag. Blocks are fenced with `python`, `input`, `output` and `message`, and with `error` in references. Deduction and abduction
//! each state their own difficulty criterion; in Absolute Zero's release the two are swapped. A document stands behind the request for a program.
//!
//! # Why
//! A pretrained model knows fenced blocks, so it needs no warm-up to be understood.
//!
//! # Example
//! A deduction answer: `…</think>⏎<answer>⏎` then a block fenced as `output` that holds `3`, then `</answer>`.

use veriplay_core::{IoPair, PromptContent, Proposal, Question, Role, TaskType, Value};
use veriplay_selfplay::prompt_frames::{ANSWER_END, answered, block, framed};

use super::{PromptFormat, ProposerRequest};

pub(super) struct Think;

const CODE_RULES: &str = include_str!("think/rules.txt");

impl PromptFormat for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn solver_content(&self, question: &Question, _examples: &[&Question]) -> PromptContent {
        framed(&match question {
            Question::Deduction { program, pair } => format!(
                include_str!("think/deduction.txt"),
                program = block("python", program),
                input = input_block(&pair.input)
            ),
            Question::Abduction { program, pair } => format!(
                include_str!("think/abduction.txt"),
                program = block("python", program),
                output = block("output", &pair.output)
            ),
            Question::Induction { visible, message, .. } => induction_request(visible, message),
            Question::Error { program, input, .. } => format!(
                include_str!("think/exception.txt"),
                program = block("python", program),
                input = input_block(input)
            ),
        })
    }

    fn proposer_content(&self, request: &ProposerRequest<'_>) -> PromptContent {
        framed(&match request.task_type {
            TaskType::Deduction | TaskType::Abduction => triplet_request(request),
            TaskType::Induction => format!(
                include_str!("think/inputs.txt"),
                count = request.inputs,
                program = block("python", request.given_program())
            ),
            TaskType::Error => format!(
                include_str!("think/raising.txt"),
                rules = CODE_RULES.trim_end(),
                helpers = helpers_text(request.helpers) + &document_text(request.document),
                references = references_text(&request.references)
            ),
        })
    }

    fn stop(&self, _role: Role, _task_type: TaskType) -> &'static [&'static str] {
        ANSWER_END
    }

    fn answer_text(&self, question: &Question) -> String {
        match question {
            Question::Deduction { pair, .. } => {
                answered("I run the program on the input.", &block("output", &pair.output))
            }
            Question::Abduction { pair, .. } => {
                answered("I look for an input with this output.", &input_block(&pair.input))
            }
            Question::Induction { reference, .. } => {
                answered("I look for a program that agrees with every pair.", &block("python", reference))
            }
            Question::Error { exception, .. } => {
                answered("I run the program on the input until it raises.", &block("output", exception))
            }
        }
    }

    fn proposal_text(&self, proposal: &Proposal) -> String {
        match proposal {
            Proposal::Triplet { program, input, .. } => {
                answered("I devise a program and an input.", &(block("python", program) + &input_block(input)))
            }
            Proposal::Inputs { inputs, message, .. } => {
                let inputs: String = inputs.iter().map(|input| input_block(input)).collect();
                answered("I choose inputs that tell the program apart.", &(inputs + &block("message", message)))
            }
        }
    }
}

fn input_block(input: &[Value]) -> String {
    block("input", Value::arguments_text(input))
}

fn pair_blocks(pair: &IoPair) -> String {
    input_block(&pair.input) + &block("output", &pair.output)
}

fn induction_request(visible: &[IoPair], message: &str) -> String {
    let pairs: String = visible.iter().map(pair_blocks).collect();
    let message = if message.is_empty() {
        String::new()
    } else {
        format!("\nA message about it:\n{}", block("message", message))
    };
    let rules = CODE_RULES.trim_end();
    format!(include_str!("think/induction.txt"), rules = rules, pairs = pairs, message = message)
}

fn triplet_request(request: &ProposerRequest<'_>) -> String {
    let (goal, difficulty) = triplet_goal(request.task_type);
    format!(
        include_str!("think/triplet.txt"),
        goal = goal,
        rules = CODE_RULES.trim_end(),
        difficulty = difficulty,
        helpers = helpers_text(request.helpers) + &document_text(request.document),
        references = references_text(&request.references)
    )
}

fn helpers_text(helpers: &[String]) -> String {
    if helpers.is_empty() {
        return String::new();
    }
    let functions: String = helpers.iter().map(|helper| block("python", helper)).collect();
    format!(
        "\n\nThese functions are there already. `f` calls every one of them, with what it has computed, and the program defines \
none of them:\n{functions}"
    )
}

fn document_text(document: Option<&str>) -> String {
    let Some(document) = document else { return String::new() };
    format!(
        "\n\nRead this function of a library, and take from it what your program is about. The solver never sees it: no eight words or signs in \
a row of it stand in your program.\n{}",
        block("python", document)
    )
}

/// The goal, and the difficulty criterion that belongs to it.
fn triplet_goal(task_type: TaskType) -> (&'static str, &'static str) {
    match task_type {
        TaskType::Abduction => (
            "A solver will see the program and its output and must find an input that gives it.",
            "Working backwards from the output to an input takes careful reasoning, and is possible.",
        ),
        TaskType::Deduction | TaskType::Induction | TaskType::Error => (
            "A solver will see the program and the input and must work out the output without running it.",
            "Working forwards from the input to the output takes several steps of reasoning, and is possible.",
        ),
    }
}

fn references_text(references: &[&Question]) -> String {
    if references.is_empty() {
        return String::new();
    }
    let texts = references.iter().zip(1..).map(|(question, number)| reference_text(question, number));
    format!("\n\nReferences:\n{}", texts.collect::<String>())
}

fn reference_text(question: &Question, number: usize) -> String {
    let (program, call) = match question {
        Question::Deduction { program, pair } | Question::Abduction { program, pair } => (program, pair_blocks(pair)),
        Question::Induction { reference, visible, .. } => {
            (reference, visible.first().map(pair_blocks).unwrap_or_default())
        }
        Question::Error { program, input, exception } => (program, input_block(input) + &block("error", exception)),
    };
    format!("<snippet_{number}>\n{}{call}</snippet_{number}>\n", block("python", program))
}
