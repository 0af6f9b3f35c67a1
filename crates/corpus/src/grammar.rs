//! The tiny generator: small Python functions of one argument, from the data of `task-corpus/tiny/grammar.toml`.
//!
//! [`raw`] mirrors the file, [`check`] turns it into a [`Grammar`] from which every draw succeeds, [`generate`] draws programs and inputs,
//! [`describe`] describes a program in words, and [`fragments`] derives literal pieces for the tokenizer.

mod check;
mod describe;
mod fragments;
mod generate;
mod inputs;
mod raw;
mod template;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use veriplay_core::normalize_program;

use crate::{CorpusError, Split, SplitShares};
use template::{Phrase, Template};

pub use generate::GeneratedProgram;
pub use inputs::InputKind;

/// The built-in grammar: `task-corpus/tiny/grammar.toml`.
const TINY: &str = include_str!("../../../task-corpus/tiny/grammar.toml");

/// A checked grammar. Every draw from it succeeds.
#[derive(Debug, Clone)]
pub struct Grammar {
    /// Operations by the type they start from.
    ops: BTreeMap<String, Vec<Op>>,
    /// Operations for the body of a loop, by the type they keep; the type-keeping `ops` are among them.
    loop_ops: BTreeMap<String, Vec<Op>>,
    /// Operations that keep the type, by type.
    same_ops: BTreeMap<String, Vec<Op>>,
    conditions: BTreeMap<String, Vec<Op>>,
    inputs: raw::Inputs,
    families: BTreeMap<String, raw::Family>,
    mixes: BTreeMap<String, Vec<(String, f64)>>,
    shares: BTreeMap<String, SplitShares>,
    loops: raw::Loops,
    fragments: Vec<String>,
}

/// One operation: a template, and the type of its result.
#[derive(Debug, Clone)]
struct Op {
    template: Template,
    /// Ways to describe it; empty where it cannot be described.
    words: Vec<Phrase>,
    to: String,
    weight: f64,
}

impl Grammar {
    /// Reads and checks a grammar; `origin` names the text in errors.
    ///
    /// # Errors
    /// [`CorpusError::Grammar`] at the first thing that is wrong: its line, column and key, and what to do.
    pub fn parse(text: &str, origin: &str) -> Result<Self, CorpusError> {
        check::check_grammar(text, origin)
    }

    /// The built-in grammar.
    ///
    /// # Panics
    /// Never: a test parses the file.
    pub fn built_in() -> Self {
        static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
            Grammar::parse(TINY, "task-corpus/tiny/grammar.toml").expect("the built-in grammar is checked by a test")
        });
        GRAMMAR.clone()
    }

    /// The names of the families, sorted.
    pub fn families(&self) -> impl Iterator<Item = &str> {
        self.families.keys().map(String::as_str)
    }

    /// The names of the mixes, sorted.
    pub fn mixes(&self) -> impl Iterator<Item = &str> {
        self.mixes.keys().map(String::as_str)
    }

    /// The family of any program, by its number of statements: the smallest that holds it, else the largest.
    pub fn family_of(&self, program: &str) -> &str {
        let statements = body_statements(program);
        let by_size = |name: &&String| self.families[*name].statements;
        let fitting =
            self.families.keys().filter(|name| self.families[*name].statements >= statements).min_by_key(by_size);
        fitting.or_else(|| self.families.keys().max_by_key(by_size)).expect("a checked grammar has a family")
    }

    /// The split of `program`: a pure function of its normalized text and the shares in the data. The game refuses proposals outside
    /// [`Split::Train`].
    pub fn split_of(&self, program: &str) -> Split {
        Split::of_program(program, self.shares(self.family_of(program)))
    }

    /// The shares of `family`.
    fn shares(&self, family: &str) -> SplitShares {
        *self.shares.get(family).unwrap_or_else(|| &self.shares[check::DEFAULT_SHARES])
    }

    /// The tokenizer's literal pieces: distinct, most valuable first, fewer than a hundred. Greedy leftmost-longest
    /// matching cuts generated programs into few of them.
    pub fn fragments(&self) -> &[String] {
        &self.fragments
    }
}

/// Counts the statements of the function's own body; an `if` with its branch is one. It counts on the normalized text, so that a comment
/// or a blank line cannot change a program's shares.
fn body_statements(program: &str) -> usize {
    let normal = normalize_program(program);
    let indents = normal.lines().skip(1).map(|line| line.len() - line.trim_start().len());
    let own = indents.clone().min().unwrap_or(0);
    indents.filter(|indent| *indent == own).count()
}
