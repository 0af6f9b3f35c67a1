//! Hand-written seed triplets: one Markdown file each, prose around a `python` block and one or more `input` blocks.
//!
//! Absolute Zero starts with them. A seed is not trusted: it passes the same gate as a proposal.

use std::collections::BTreeMap;

use serde::Deserialize;
use veriplay_core::{Digest, Proposal, TaskType, Value, program_hash};

use crate::CorpusError;
use crate::files::{SEEDS, TextFile, file_stem, list_files};
use crate::markdown::{self, MarkdownBlock};

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
#[derive(Debug, Default, Deserialize)]
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

    /// Reads one file's text; `path` names it in errors.
    fn parse(path: &str, text: &str) -> Result<Self, CorpusError> {
        let source = Source { path };
        let (statement, blocks) = markdown::parse_blocks(text)
            .map_err(|(line, problem)| source.error(line, problem, "close it with a line of three backquotes"))?;
        let zero = source.options(&blocks)?.zero;
        let program = source.program(&blocks)?;
        let inputs = source.inputs(&blocks)?;
        Ok(Self { name: file_stem(path), statement, program, inputs, zero })
    }
}

/// Where errors point.
struct Source<'a> {
    path: &'a str,
}

impl Source<'_> {
    fn error(&self, line: usize, problem: impl Into<String>, hint: &str) -> CorpusError {
        CorpusError::invalid_file(self.path, line, problem, hint)
    }

    /// The one `python` block.
    fn program(&self, blocks: &[MarkdownBlock]) -> Result<String, CorpusError> {
        let mut found = blocks.iter().filter(|block| block.language == "python");
        let Some(block) = found.next() else {
            return Err(self.error(1, "there is no ```python block", "add one that defines `f`"));
        };
        if let Some(second) = found.next() {
            return Err(self.error(second.line, "a second ```python block", "one file holds one program"));
        }
        let program = block.text.trim_end();
        match program.lines().any(|line| line.starts_with("def f(")) {
            true => Ok(program.to_owned()),
            false => Err(self.error(block.line, "the program does not define `f`", "begin a line with `def f(`")),
        }
    }

    fn inputs(&self, blocks: &[MarkdownBlock]) -> Result<Vec<Vec<Value>>, CorpusError> {
        let found: Vec<&MarkdownBlock> = blocks.iter().filter(|block| block.language == "input").collect();
        if found.is_empty() {
            return Err(self.error(1, "there is no ```input block", "add one with the arguments of one call of `f`"));
        }
        let mut inputs = Vec::new();
        for block in found {
            let input = Value::parse_arguments(block.text.trim()).map_err(|error| {
                self.error(block.line, format!("input `{}`: {error}", block.text.trim()), "write Python literals")
            })?;
            if inputs.contains(&input) {
                return Err(self.error(block.line, "the same input as before", "delete one"));
            }
            inputs.push(input);
        }
        Ok(inputs)
    }

    fn options(&self, blocks: &[MarkdownBlock]) -> Result<Options, CorpusError> {
        let known = ["python", "input", "toml"];
        if let Some(block) = blocks.iter().find(|block| !known.contains(&block.language.as_str())) {
            let problem = format!("a block of kind `{}`", block.language);
            return Err(self.error(block.line, problem, "a seed has `python`, `input` and `toml` blocks"));
        }
        let Some(block) = blocks.iter().find(|block| block.language == "toml") else { return Ok(Options::default()) };
        block.parse_toml().map_err(|(line, problem)| self.error(line, problem, "the one key is `zero = true`"))
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
