//! The tiny generator: small Python functions of one argument, from the data of `task-corpus/tiny/grammar.toml`.
//!
//! [`raw`] mirrors the file, [`read`] turns it into a [`Grammar`], [`generate`] draws programs and inputs, [`describe`] describes a program in words, and [`fragments`] derives literal pieces for the tokenizer.

mod describe;
mod fragments;
mod generate;
mod raw;
mod read;
mod template;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use veriplay_core::normalize_program;

use crate::{Split, SplitShares};
use raw::{Family, GrammarFile, Inputs, Loops};
use read::DEFAULT_SHARES;
use template::{Phrase, Template};

pub use generate::{GeneratedProgram, InputKind};

const TINY: &str = include_str!("../../../task-corpus/tiny/grammar.toml");

/// A grammar from which every draw succeeds.
#[derive(Debug, Clone)]
pub struct Grammar {
    /// Operations by the type they start from.
    ops: BTreeMap<String, Vec<Op>>,
    /// Operations for the body of a loop, by the type they keep; the type-keeping `ops` are among them.
    loop_ops: BTreeMap<String, Vec<Op>>,
    /// Operations that keep the type, by type.
    same_ops: BTreeMap<String, Vec<Op>>,
    conditions: BTreeMap<String, Vec<Op>>,
    inputs: Inputs,
    families: BTreeMap<String, Family>,
    mixes: BTreeMap<String, Vec<(String, f64)>>,
    shares: BTreeMap<String, SplitShares>,
    loops: Loops,
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
    /// Reads a grammar.
    ///
    /// # Errors
    /// What is wrong first: a key, a template or a type.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str::<GrammarFile>(text).map_err(|error| error.to_string())?.into_grammar()
    }

    /// The built-in grammar.
    ///
    /// # Panics
    /// Never: a test parses the file.
    pub fn built_in() -> Self {
        static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
            Grammar::parse(TINY).unwrap_or_else(|error| panic!("task-corpus/tiny/grammar.toml: {error}"))
        });
        GRAMMAR.clone()
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

    fn shares(&self, family: &str) -> SplitShares {
        *self.shares.get(family).unwrap_or_else(|| &self.shares[DEFAULT_SHARES])
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
