//! `think`: the paper's prompts. The model reasons between think tags, then answers in fenced blocks between answer tags.
//!
//! # Layout
//! The structure of Absolute Zero's prompts in our own words: a frame that asks for `<think>` and `<answer>`, the request,
//! and the opened `<think>` tag. Blocks are fenced with `python`, `input`, `output` and `message`, and with `error` in references. Deduction and abduction
//! each state their own difficulty criterion; in Absolute Zero's release the two are swapped. A document stands behind the request for a program. In
//! JavaScript, which has these two alone, programs are fenced as `javascript`, with rules and an example of their own.
//!
//! # Why
//! A pretrained model knows fenced blocks, so it needs no warm-up to be understood.
//!
//! # Example
//! A deduction answer: `…</think>⏎<answer>⏎` then a block fenced as `output` that holds `3`, then `</answer>`.

use veriplay_core::{IoPair, JAVASCRIPT, Language, Literals, PromptContent, Proposal, Question, Role, TaskType, Value};
use veriplay_python::Python;
use veriplay_selfplay::prompt_frames::{ANSWER_END, answered, block, framed};
use veriplay_verifier::languages::literals_of;

use super::{PromptFormat, ProposerRequest};

/// The format, for programs in one language.
pub(super) struct Think {
    language: &'static dyn Language,
    /// What prompts call the language.
    title: &'static str,
    rules: &'static str,
    example: &'static str,
}

impl Think {
    pub(super) const PYTHON: Self = Self {
        language: &Python,
        title: "Python",
        rules: include_str!("think/rules.txt"),
        example: include_str!("think/example.txt"),
    };
    pub(super) const JAVASCRIPT: Self = Self {
        language: &JAVASCRIPT,
        title: "JavaScript",
        rules: include_str!("think/javascript/rules.txt"),
        example: include_str!("think/javascript/example.txt"),
    };
}

impl PromptFormat for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn literals(&self) -> &'static dyn Literals {
        literals_of(self.language)
    }

    fn solver_content(&self, question: &Question, _examples: &[&Question]) -> PromptContent {
        framed(&match question {
            Question::Deduction { program, pair } => format!(
                include_str!("think/deduction.txt"),
                language = self.title,
                program = self.program_block(program),
                input = self.input_block(&pair.input)
            ),
            Question::Abduction { program, pair } => format!(
                include_str!("think/abduction.txt"),
                language = self.title,
                program = self.program_block(program),
                output = self.output_block(&pair.output)
            ),
            Question::Induction { visible, message, .. } => self.induction_request(visible, message),
            Question::Error { program, input, .. } => format!(
                include_str!("think/exception.txt"),
                program = self.program_block(program),
                input = self.input_block(input)
            ),
        })
    }

    fn proposer_content(&self, request: &ProposerRequest<'_>) -> PromptContent {
        framed(&match request.task_type {
            TaskType::Deduction | TaskType::Abduction => self.triplet_request(request),
            TaskType::Induction => format!(
                include_str!("think/inputs.txt"),
                count = request.inputs,
                program = self.program_block(request.given_program())
            ),
            TaskType::Error => format!(
                include_str!("think/raising.txt"),
                rules = self.rules.trim_end(),
                helpers = self.helpers_text(request.helpers) + &document_text(request.document),
                references = self.references_text(&request.references)
            ),
        })
    }

    fn stop(&self, _role: Role, _task_type: TaskType) -> &'static [&'static str] {
        ANSWER_END
    }

    fn answer_text(&self, question: &Question) -> String {
        match question {
            Question::Deduction { pair, .. } => {
                answered("I run the program on the input.", &self.output_block(&pair.output))
            }
            Question::Abduction { pair, .. } => {
                answered("I look for an input with this output.", &self.input_block(&pair.input))
            }
            Question::Induction { reference, .. } => {
                answered("I look for a program that agrees with every pair.", &self.program_block(reference))
            }
            Question::Error { exception, .. } => {
                answered("I run the program on the input until it raises.", &block("output", exception))
            }
        }
    }

    fn proposal_text(&self, proposal: &Proposal) -> String {
        match proposal {
            Proposal::Triplet { program, input, .. } => {
                let blocks = self.program_block(program) + &self.input_block(input);
                answered("I devise a program and an input.", &blocks)
            }
            Proposal::Inputs { inputs, message, .. } => {
                let inputs: String = inputs.iter().map(|input| self.input_block(input)).collect();
                answered("I choose inputs that tell the program apart.", &(inputs + &block("message", message)))
            }
        }
    }
}

impl Think {
    fn program_block(&self, program: &str) -> String {
        block(self.language.names()[0], program)
    }

    fn input_block(&self, input: &[Value]) -> String {
        block("input", self.literals().write_arguments(input))
    }

    fn output_block(&self, output: &Value) -> String {
        block("output", self.literals().write(output))
    }

    fn pair_blocks(&self, pair: &IoPair) -> String {
        self.input_block(&pair.input) + &self.output_block(&pair.output)
    }

    fn induction_request(&self, visible: &[IoPair], message: &str) -> String {
        let pairs: String = visible.iter().map(|pair| self.pair_blocks(pair)).collect();
        let message = if message.is_empty() {
            String::new()
        } else {
            format!("\nA message about it:\n{}", block("message", message))
        };
        let rules = self.rules.trim_end();
        format!(include_str!("think/induction.txt"), rules = rules, pairs = pairs, message = message)
    }

    fn triplet_request(&self, request: &ProposerRequest<'_>) -> String {
        let (goal, difficulty) = triplet_goal(request.task_type);
        format!(
            include_str!("think/triplet.txt"),
            language = self.title,
            label = self.language.names()[0],
            goal = goal,
            rules = self.rules.trim_end(),
            example = self.example.trim_end(),
            difficulty = difficulty,
            helpers = self.helpers_text(request.helpers) + &document_text(request.document),
            references = self.references_text(&request.references)
        )
    }

    fn helpers_text(&self, helpers: &[String]) -> String {
        if helpers.is_empty() {
            return String::new();
        }
        let functions: String = helpers.iter().map(|helper| self.program_block(helper)).collect();
        format!(
            "\n\nThese functions are there already. `f` calls every one of them, with what it has computed, and the program defines \
none of them:\n{functions}"
        )
    }

    fn references_text(&self, references: &[&Question]) -> String {
        if references.is_empty() {
            return String::new();
        }
        let texts = references.iter().zip(1..).map(|(question, number)| self.reference_text(question, number));
        format!("\n\nReferences:\n{}", texts.collect::<String>())
    }

    fn reference_text(&self, question: &Question, number: usize) -> String {
        let (program, call) = match question {
            Question::Deduction { program, pair } | Question::Abduction { program, pair } => {
                (program, self.pair_blocks(pair))
            }
            Question::Induction { reference, visible, .. } => {
                (reference, visible.first().map(|pair| self.pair_blocks(pair)).unwrap_or_default())
            }
            Question::Error { program, input, exception } => {
                (program, self.input_block(input) + &block("error", exception))
            }
        };
        format!("<snippet_{number}>\n{}{call}</snippet_{number}>\n", self.program_block(program))
    }
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
