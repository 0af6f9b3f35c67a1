//! `think`: think and answer tags around fenced blocks, for models that can read.
//!
//! # Layout
//! As in [`crate::formats::think`]: the prompt has opened the think tag, and the last `<answer>` up to its `</answer>` counts. A problem is its one block fenced as `problem`; a code is its last block fenced as `python`. A suite is the
//! answer's blocks in order: one fenced as `input` with the arguments of a call and behind it one fenced as `output` for each
//! case, and any number fenced as `assert`, whose lines are assertions. A line is one test. In C++ the two blocks of a case are standard input and
//! standard output, and there are no assertions.
//!
//! # Why
//! A pretrained model knows fenced blocks and `assert`, so it needs no warm-up to be understood.
//!
//! # How it can be gamed
//! An assertion is code. It runs in another instance than the program, and other lines than `assert` are refused, so it cannot import or
//! define anything. [`crate::agreement::GUARDS`] cover what it can still do.
//!
//! # Example
//! A block fenced as `input` that holds `[1, 2]`, one fenced as `output` that holds `3`, and one fenced as `assert` that holds
//! `assert f([]) == 0`.

use super::{AgreementFormat, non_empty_suite, parse_assertion, parse_case, program_in};
use crate::agreement::{SuiteTest, TestSuite, stream_case};
use crate::extraction::labelled_blocks;
use crate::formats::think::{self, parse_answer};
use crate::languages::is_python;

/// The format, for codes in one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Think(think::Think);

impl Think {
    pub(super) const PYTHON: Self = Self(think::Think::PYTHON);
    pub(super) const CPP: Self = Self(think::Think::CPP);

    fn is_python(self) -> bool {
        is_python(self.0.language())
    }
}

impl AgreementFormat for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn read_problem(&self, text: &str) -> Result<String, String> {
        match labelled_blocks(parse_answer(text)?).as_slice() {
            [(kind, text)] if kind == "problem" && !text.trim().is_empty() => Ok(text.trim().to_owned()),
            _ => Err("the answer is not one block fenced as `problem`".to_owned()),
        }
    }

    fn read_program(&self, text: &str) -> Result<String, String> {
        program_in(&self.0, text)
    }

    fn read_suite(&self, text: &str) -> Result<TestSuite, String> {
        let (mut tests, mut input): (Vec<SuiteTest>, Option<String>) = (Vec::new(), None);
        for (kind, text) in labelled_blocks(parse_answer(text)?) {
            match (kind.as_str(), input.take()) {
                ("input", None) => input = Some(text),
                ("output", Some(input)) if self.is_python() => tests.push(parse_case(&input, &text)?),
                ("output", Some(input)) => tests.push(parse_streams(&input, &text)?),
                ("assert", None) if self.is_python() => tests.extend(parse_asserts(&text)?),
                (kind, _) => return Err(format!("a block fenced as `{kind}` out of place")),
            }
        }
        if input.is_some() { Err("an input without an output".to_owned()) } else { non_empty_suite(tests) }
    }
}

/// A case of streams, whose input ends with its last line's end.
fn parse_streams(input: &str, output: &str) -> Result<SuiteTest, String> {
    match input.trim() {
        "" => Err("an input is empty".to_owned()),
        _ => Ok(SuiteTest::Case(stream_case(format!("{input}\n"), output))),
    }
}

fn parse_asserts(text: &str) -> Result<Vec<SuiteTest>, String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(parse_assertion).collect()
}
