//! From what a model wrote to the program, the prediction or the patch that is judged. Every door has these rules: `verify`, `eval`, the
//! service's endpoints, the games.
//!
//! # The answer
//! A byte order mark and special tokens around the response (`<|im_end|>`, `</s>` …) are left out. Thoughts (`<think>` …) are no answer: it
//! stands behind them, and a response whose thought does not end is malformed. Where there are tags (`<answer>`, `[PYTHON]` …), the answer is
//! what the last one holds.
//!
//! # The program
//! The first rule that finds one decides:
//! 1. `prefilled`: the response goes on in a block that the prompt opened, or begins with code that a fence ends: the code up to the fence.
//! 2. `whole`, `continuation`: the answer is Python by itself, or behind the task's prompt. Fences are text of its strings then.
//! 3. `block`, `unclosed_block`: of the fenced blocks the last one that defines what the task names. A script names nothing: the last one
//!    that prints when it is run, of those the last that reads its input. Else the last that parses and needs no other; else the last that parses; else
//!    the last. Blocks labelled as Python come before those without a label that means anything, and these before those of other languages,
//!    which have to define what the task names.
//! 4. `bare_code`: code between lines of prose, which is read as so many blocks. It comes before blocks that lack what the task names,
//!    which may be examples in a docstring.
//!
//! A block that needs the blocks before it gets them before it, as a cell of a notebook has them, and functions that stand in later ones alone behind it. It may
//! lack what the prompt defines beside the function: the prompt's other definitions and imports then stand before it.
//!
//! # The query, and programs in other languages
//! Of a task on databases the last block that is labelled as SQL, else the last without a label, else the answer as it is. The same holds for programs in
//! languages that the host does not parse; where tests stand behind the program, an answer without blocks continues the prompt.
//!
//! # Invariants
//! No rule looks at what the task expects, and none tries a second place where the first is wrong: what is taken depends on the response, the
//! prompt and the names that the task's tests use. The time is linear in the text.

mod bare;
mod blocks;
mod candidates;
mod frame;
mod labelled;
mod labels;
mod parsing;
mod patches;
mod predictions;
mod program;
mod query;
mod text;

use veriplay_core::{
    AppendedTests, AttemptText, Checks, EXTRACTION_RULE, Evidence, Extraction, Language, Predicted, ProblemRow, Status,
    TestCode, Verdict,
};

pub use labelled::{extract_in, extract_query};
pub use patches::extract_patch;
pub use predictions::{BegunPrediction, begun_arguments};
pub use program::{extract_program, program_of_code};
pub use query::{response_of_query, with_opened_frame};

pub(crate) use blocks::{FENCE, labelled_blocks};
pub(crate) use labels::is_python_label;
pub(crate) use parsing::complete_body;
pub(crate) use text::strip_end_tokens;

use crate::judges::finds_methods;
use crate::languages::language_named;
use crate::runner::Decision;
use blocks::open_block;
use frame::{Part, find_answer, opens_thought};
use labelled::extract_tested;

/// What a program must define.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'a> {
    /// Nothing: it is run as a script.
    Script,
    /// This function, or `Class.method`.
    Function(&'a str),
    /// The same, or a method of that name of `class Solution`.
    FunctionOrMethod(&'a str),
    /// The names that the tests use.
    Tests(&'a TestCode),
    /// The names that this source text uses and does not bind.
    Source(&'a str),
    /// The last function of the prompt.
    Prompted,
}

/// What the response goes on from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Continues {
    /// Nothing that matters.
    #[default]
    Prose,
    /// A thought that the prompt opened.
    Thought,
    /// A block of code that the prompt opened, whose fence is indented by so many columns.
    Block(usize),
}

impl Continues {
    /// What a response goes on from behind this text: the prompt, or the reply that was begun.
    #[must_use]
    pub fn after(text: &str) -> Self {
        match open_block(text) {
            Some((_, indent)) => Continues::Block(indent),
            None if opens_thought(text) => Continues::Thought,
            None => Continues::Prose,
        }
    }
}

/// What is looked for in a response.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Source text that a continuation stands behind. May be empty.
    pub prompt: &'a str,
    /// What the program must define.
    pub entry: Entry<'a>,
    /// What the response goes on from.
    pub continues: Continues,
}

/// What an attempt at a task is.
enum Sought<'a> {
    Program(Wanted<'a>),
    /// In a language that the host does not parse.
    Scanned(&'static dyn Language, &'a str, Option<&'a AppendedTests>),
    Prediction(Predicted),
    Query,
}

/// What is looked for in a completion at the task of `row`.
fn sought(row: &ProblemRow) -> Sought<'_> {
    let (prompt, entry) = match row {
        ProblemRow::Unexecuted(unexecuted) => (&unexecuted.prompt, Entry::Function(&unexecuted.checks.function)),
        ProblemRow::Ready(problem) => {
            let tests = if let Checks::Appended(tests) = &problem.checks { Some(tests) } else { None };
            if let Some(language) = problem.language.as_deref().and_then(language_named) {
                return Sought::Scanned(language, &problem.prompt, tests);
            }
            let entry = match &problem.checks {
                Checks::Calls(checks) if finds_methods(&checks.comparison) => Entry::FunctionOrMethod(&checks.function),
                Checks::Calls(checks) => Entry::Function(&checks.function),
                Checks::Tests(code) => Entry::Tests(code),
                Checks::Stdio(_) | Checks::Environment(_) | Checks::Appended(_) => Entry::Script,
                Checks::Prediction(prediction) => return Sought::Prediction(prediction.wanted),
                Checks::Sql(_) => return Sought::Query,
            };
            (&problem.prompt, entry)
        }
    };
    Sought::Program(Wanted { prompt, entry, continues: Continues::Prose })
}

/// What of an attempt is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The program, without the problem's prelude; or the prediction, or the patch.
    pub program: String,
    /// Where in a completion the program was.
    pub extraction: Option<Extraction>,
}

impl Answer {
    const fn whole(program: String) -> Self {
        Self { program, extraction: None }
    }

    /// The program, or the prediction, of an attempt at the task of `row`.
    ///
    /// # Errors
    /// The completion holds none; the reason is for people.
    pub fn at_row(row: &ProblemRow, text: AttemptText) -> Result<Self, NoAnswer> {
        let completion = match text {
            AttemptText::Program(program) => return Ok(Self::whole(program)),
            AttemptText::Completion(completion) => completion,
        };
        let ExtractedProgram { text, extraction } = match sought(row) {
            Sought::Program(wanted) => extract_program(&wanted, &completion)?,
            Sought::Scanned(language, prompt, Some(tests)) => extract_tested(language, prompt, tests, &completion)?,
            Sought::Scanned(language, prompt, None) => {
                let wanted = Wanted { prompt, entry: Entry::Script, continues: Continues::Prose };
                extract_in(language, &wanted, &completion)?
            }
            Sought::Query => extract_query(&completion)?,
            Sought::Prediction(predicted) => {
                return BegunPrediction::default().extract(&completion, predicted).map(Self::whole);
            }
        };
        Ok(Self { program: text, extraction: Some(extraction) })
    }

    /// The patch of an attempt at a bug.
    ///
    /// # Errors
    /// The completion holds none.
    pub fn at_bug(text: AttemptText) -> Result<Self, NoAnswer> {
        match text {
            AttemptText::Program(patch) => Ok(Self::whole(patch)),
            AttemptText::Completion(completion) => extract_patch(&completion).map(Self::whole),
        }
    }
}

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractedProgram {
    /// What is judged, without the problem's prelude.
    pub text: String,
    /// The rule that found it, and the bytes of the response that it was taken from.
    pub extraction: Extraction,
}

/// There is no answer in a response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoAnswer {
    /// What was looked for, and what was found.
    pub reason: String,
}

impl NoAnswer {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    /// The verdict on such a response, whatever the task is.
    #[must_use]
    pub fn into_verdict(self) -> Verdict {
        Decision::by_rule(Status::Malformed, EXTRACTION_RULE, self.reason).into_verdict(Evidence::default())
    }
}

/// The answer in a response, without what surrounds it.
fn answer_of(response: &str, continues: Continues) -> Result<Part<'_>, NoAnswer> {
    let answer = find_answer(response, continues == Continues::Thought)
        .map_err(|tag| NoAnswer::new(format!("the thought that `{tag}` opens does not end, so there is no answer")))?;
    match (answer.text.trim().is_empty(), response.trim().is_empty()) {
        (false, _) => Ok(answer),
        (true, true) => Err(NoAnswer::new("the response is empty")),
        (true, false) => Err(NoAnswer::new("nothing but a thought or special tokens is in the response")),
    }
}
