//! Hand-written seed triplets: one Markdown file each, prose around a `python` block and one or more `input` blocks.
//!
//! Absolute Zero starts with them. A seed is not trusted: it passes the same gate as a proposal.

use std::collections::BTreeMap;

use serde::Deserialize;
use veriplay_core::{Digest, Proposal, TaskType, Value, program_hash};

use crate::CorpusError;
use crate::files::{SEEDS, TextFile, list_files};
use crate::markdown::MarkdownFile;

/// One hand-written seed.
#[derive(Debug, Clone, PartialEq)]
pub struct SeedTriplet {
    /// The file's name without its ending.
    pub name: String,
    /// The prose, blocks left out.
    pub statement: String,
    /// Source text with entry `f`, without a newline at its end.
    pub program: String,
    /// One or more argument lists.
    pub inputs: Vec<Vec<Value>>,
    /// Whether it is the zero triplet of Absolute Zero: the identity, allowed although it is trivial.
    pub zero: bool,
}

/// The keys of an optional `toml` block.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    #[serde(default)]
    zero: bool,
}

impl SeedTriplet {
    /// Its proposals: one for each input, or for induction one with all inputs.
    pub fn proposals(&self, task_type: TaskType) -> Vec<Proposal> {
        let program = || self.program.clone();
        if task_type == TaskType::Induction {
            return vec![Proposal::Inputs { program: program(), inputs: self.inputs.clone(), message: String::new() }];
        }
        let triplet = |input: &Vec<Value>| Proposal::Triplet { task_type, program: program(), input: input.clone() };
        self.inputs.iter().map(triplet).collect()
    }

    fn parse(path: &str, text: &str) -> Result<Self, CorpusError> {
        let mut file = MarkdownFile::parse(path, text, &["python", "input", "toml"])?;
        let header = file.take_header()?;
        let Options { zero } = file.parse_header(&header)?;
        let Some(block) = file.take_only(&["python"])? else {
            return Err(file.error(1, "there is no ```python block", "add one that defines `f`"));
        };
        let program = block.text.trim_end().to_owned();
        if !program.lines().any(|line| line.starts_with("def f(")) {
            return Err(file.error(block.line, "the program does not define `f`", "begin a line with `def f(`"));
        }
        let inputs = parse_inputs(&file)?;
        Ok(Self { name: file.name, statement: file.prose, program, inputs, zero })
    }
}

fn parse_inputs(file: &MarkdownFile<'_>) -> Result<Vec<Vec<Value>>, CorpusError> {
    let mut inputs = Vec::new();
    for block in &file.blocks {
        let text = block.text.trim();
        let input = Value::parse_arguments(text);
        let input = input
            .map_err(|error| file.error(block.line, format!("input `{text}`: {error}"), "write Python literals"))?;
        if inputs.contains(&input) {
            return Err(file.error(block.line, "the same input as before", "delete one"));
        }
        inputs.push(input);
    }
    match inputs.is_empty() {
        true => Err(file.error(1, "there is no ```input block", "add one with the arguments of one call of `f`")),
        false => Ok(inputs),
    }
}

/// The built-in seeds: those of `task-corpus/absolute_zero/`.
///
/// # Panics
/// Never: a test reads them all.
pub fn built_in_seeds() -> Vec<SeedTriplet> {
    parse_seeds(&list_files(&SEEDS, "md")).expect("the built-in seeds are checked by a test")
}

/// Parses seed files.
///
/// # Errors
/// When a file is incomplete, with its line, or two files have the same program.
pub fn parse_seeds(files: &[TextFile<'_>]) -> Result<Vec<SeedTriplet>, CorpusError> {
    let mut seeds = Vec::new();
    let mut first: BTreeMap<Digest, &str> = BTreeMap::new();
    for (path, text) in files {
        let seed = SeedTriplet::parse(path, text)?;
        if let Some(earlier) = first.insert(program_hash(&seed.program), path) {
            return Err(CorpusError::Duplicate { first: earlier.to_owned(), second: (*path).to_owned() });
        }
        seeds.push(seed);
    }
    Ok(seeds)
}
