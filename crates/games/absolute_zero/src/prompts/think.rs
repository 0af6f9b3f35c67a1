//! `think`: the paper's prompts. The model reasons between think tags, then answers in fenced blocks between answer tags.
//!
//! # Layout
//! The structure of Absolute Zero's prompts in our own words: a frame that asks for `<think>` and `<answer>`, the request,
//! and the opened `<think>` tag. Blocks are fenced with `python`, `input`, `output` and `message`, and with `error` in references. Deduction and abduction
//! each state their own difficulty criterion; in Absolute Zero's release the two are swapped.
//!
//! # Why
//! A pretrained model knows fenced blocks, so it needs no warm-up to be understood.
//!
//! # Example
//! A deduction answer: `…</think>⏎<answer>⏎` then a block fenced as `output` that holds `3`, then `</answer>`.

use veriplay_core::{IoPair, PromptContent, Proposal, Question, Role, TaskType, Value};
use veriplay_selfplay::think_answer::{STOP, answered, block, framed};

use super::{PromptFormat, ProposerRequest};

pub(super) struct Think;

const CODE_RULES: &str = "Rules for the program:
- Its entry is a function named `f` with at least one parameter, and every path returns a value.
- Parameters and results are plain values: None, bool, int, float, str, bytes, list, tuple, set, dict.
- It is deterministic: no randomness, no clock, no files, no network, no input, no printing, and no reliance on set order.
- Imports stand at the top; helpers may be defined inside the program.
- It ends quickly.";

impl PromptFormat for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn solver_content(&self, question: &Question, _examples: &[&Question]) -> PromptContent {
        framed(&match question {
            Question::Deduction { program, pair } => deduction_request(program, &pair.input),
            Question::Abduction { program, pair } => abduction_request(program, &pair.output),
            Question::Induction { visible, message, .. } => induction_request(visible, message),
            Question::Error { program, input, .. } => exception_request(program, input),
        })
    }

    fn proposer_content(&self, request: &ProposerRequest<'_>) -> PromptContent {
        framed(&match request.task_type {
            TaskType::Deduction | TaskType::Abduction => triplet_request(request),
            TaskType::Induction => inputs_request(request),
            TaskType::Error => raising_request(request),
        })
    }

    fn stop(&self, _role: Role, _task_type: TaskType) -> &'static [&'static str] {
        STOP
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

fn deduction_request(program: &str, input: &[Value]) -> String {
    format!(
        "Work out what the program returns for the input. Follow it step by step. Answer with one block fenced as `output` \
that holds the returned value as a Python literal, strings in quotes.\n\nProgram:\n{}\nInput (the arguments of `f`):\n{}",
        block("python", program),
        input_block(input)
    )
}

fn abduction_request(program: &str, output: &Value) -> String {
    format!(
        "Find an input for which the program returns the output. Any such input is right. Answer with one block fenced as \
`input` that holds the arguments of `f` as Python literals, separated by commas, strings in quotes.\n\nProgram:\n{}\n\
Output:\n{}",
        block("python", program),
        block("output", output)
    )
}

fn exception_request(program: &str, input: &[Value]) -> String {
    format!(
        "The program raises an exception for the input. Work out which one, step by step. Answer with one block fenced as `output` \
that holds the name of its type alone, such as ValueError. For a type that is not built into Python, name the nearest built-in \
type that it derives from.\n\nProgram:\n{}\nInput (the arguments of `f`):\n{}",
        block("python", program),
        input_block(input)
    )
}

fn induction_request(visible: &[IoPair], message: &str) -> String {
    let pair_text = |pair: &IoPair| input_block(&pair.input) + &block("output", &pair.output);
    let pairs: String = visible.iter().map(pair_text).collect();
    let message = if message.is_empty() {
        String::new()
    } else {
        format!("\nA message about it:\n{}", block("message", message))
    };
    format!(
        "Write the program behind these pairs of inputs and outputs. It is judged on further pairs, so find the rule and do \
not list cases. Answer with one block fenced as `python`.\n\n{CODE_RULES}\n\nPairs:\n{pairs}{message}"
    )
}

fn triplet_request(request: &ProposerRequest<'_>) -> String {
    let (goal, difficulty) = triplet_goal(request.task_type);
    format!(
        "Invent a new Python program and one input for it. {goal}\n\n{CODE_RULES}\n\nThe input: exactly one, the arguments of \
`f` as Python literals, separated by commas, strings in quotes. It stands nowhere in the program.\n\n\
Answer with one block fenced as `python` and one fenced as \
`input`, for example:\n{}{}\nWhat counts:\n- The program runs on the input, and its result depends on the input.\n- {difficulty}\n\
- It is new, and different from every reference there is.\n\nFirst devise a plan, then write.{}{}",
        block("python", "def f(name, counts):\n    total = sum(counts)\n    return name + str(total)"),
        block("input", "'ab', [1, 2]"),
        helpers_text(request.helpers),
        references_text(&request.references),
    )
}

/// The request for a program that raises at its input.
fn raising_request(request: &ProposerRequest<'_>) -> String {
    format!(
        "Invent a new Python program and one input at which it raises a built-in exception. A solver will see the program and the \
input and must name the type of the exception without running it.\n\n{CODE_RULES}\n- What it raises at the input, it does \
not catch. At other inputs of the same kind it returns, or raises another exception.\n- It needs nothing but built-in \
functions and modules such as `math`, `re`, `json` or `collections`: no data classes, `Enum` or `ABC`, no class derived from a built-in one \
that is no exception, and no function named `main`, `evaluate` or `register`.\n\nThe input: exactly one, the \
arguments of `f` as Python literals, separated by commas, strings in quotes. It stands nowhere in the program.\n\n\
Answer with one block fenced as `python` and one fenced as `input`, for example:\n{}{}\nWhat counts:\n- The program \
raises at the input, and what it does depends on the input.\n- Working forwards from the input to the exception takes \
several steps of reasoning, and is possible.\n- It is new, and different from every reference there is.\n\n\
First devise a plan, then write.{}{}",
        block("python", "def f(name, counts):\n    total = sum(counts)\n    return name * (12 // total)"),
        block("input", "'ab', [1, -1]"),
        helpers_text(request.helpers),
        references_text(&request.references),
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
    let returned = |pair: &IoPair| input_block(&pair.input) + &block("output", &pair.output);
    let (program, call) = match question {
        Question::Deduction { program, pair } | Question::Abduction { program, pair } => (program, returned(pair)),
        Question::Induction { reference, visible, .. } => {
            (reference, visible.first().map(returned).unwrap_or_default())
        }
        Question::Error { program, input, exception } => (program, input_block(input) + &block("error", exception)),
    };
    format!("<snippet_{number}>\n{}{call}</snippet_{number}>\n", block("python", program))
}

fn inputs_request(request: &ProposerRequest<'_>) -> String {
    format!(
        "Choose {} inputs for the program below, and write a message. A solver will see some of the inputs with their outputs \
and the message, and must write the program.\n\nProgram:\n{}\nAnswer with {} blocks fenced as `input`, each holding the \
arguments of one call of `f` as Python literals, separated by commas, strings in quotes, and one block fenced as `message`, \
which may hint at the program and must not contain it.\n\nWhat counts:\n- The program runs on every input, and the inputs \
differ.\n- Together they show every case of the program, and the outputs differ.\n- Finding the program is hard and \
possible.\n\nFirst devise a plan, then write.",
        request.inputs,
        block("python", request.given_program()),
        request.inputs,
    )
}
