//! The blocks of an answer as candidates for its program: which one counts, and what of the others belongs to it.

use std::collections::BTreeSet;

use ruff_python_ast::{Alias, Stmt};
use ruff_text_size::Ranged;
use veriplay_python::names::Names;
use veriplay_python::prelude::insert_before;
use veriplay_python::syntax::with_syntax;

use super::blocks::Block;
use super::labels::Label;
use super::parsing::{Facts, MODULE, WantedNames};

/// The blocks, in order, and what is known of each.
pub(super) struct Candidates<'a> {
    pub(super) blocks: Vec<Block<'a>>,
    facts: Vec<Facts>,
    wanted: &'a WantedNames,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(blocks: Vec<Block<'a>>, wanted: &'a WantedNames) -> Self {
        Self { facts: blocks.iter().map(|block| Facts::read(&block.code, wanted)).collect(), blocks, wanted }
    }

    /// The indices of the blocks of a rank, the last one first.
    fn of_rank(&self, rank: Rank) -> impl Iterator<Item = usize> {
        (0..self.blocks.len()).rev().filter(move |at| Rank::of(&self.blocks[*at]) == rank)
    }

    /// The last block that defines what is named.
    pub(super) fn last_defining(&self) -> Option<usize> {
        let ranks = [Rank::Python, Rank::Unlabelled, Rank::Other];
        let last = |wanted: fn(&Facts) -> bool| {
            ranks.into_iter().find_map(|rank| self.of_rank(rank).find(|at| wanted(&self.facts[*at])))
        };
        last(|facts| facts.defines).or_else(|| last(|facts| facts.binds))
    }

    /// The last block that is a program. What a program prints is often in a block without a label, too.
    pub(super) fn last_program(&self) -> Option<usize> {
        [Rank::Python, Rank::Unlabelled].into_iter().find_map(|rank| self.last_program_of(rank))
    }

    /// The last block that prints when it is run and needs no other, else the last that does so behind those before it, and of each the last that reads
    /// its input. Else the last that needs no other, else the last that is Python, else the last.
    fn last_program_of(&self, rank: Rank) -> Option<usize> {
        /// Blocks that are tried behind those before them.
        const TRIED: usize = 8;
        let facts = &self.facts;
        let is_candidate = |at: &usize| facts[*at].parses && (rank == Rank::Python || facts[*at].has_statement);
        let candidates = || self.of_rank(rank).filter(is_candidate);
        let running = candidates().filter(|at| facts[*at].runs).take(TRIED);
        let joined: Vec<(usize, Facts)> =
            running.map(|at| (at, Facts::read(&self.program_at(at), self.wanted))).collect();
        let is_whole = |facts: &Facts, reads: bool| facts.is_complete && facts.prints && (facts.reads || !reads);
        let alone = |reads: bool| candidates().find(|at| is_whole(&facts[*at], reads));
        let with_others = |reads: bool| joined.iter().find(|(_, facts)| is_whole(facts, reads)).map(|(at, _)| *at);
        [true, false]
            .into_iter()
            .find_map(|reads| alone(reads).or_else(|| with_others(reads)))
            .or_else(|| candidates().find(|at| facts[*at].is_complete))
            .or_else(|| candidates().next())
            .or_else(|| self.of_rank(rank).next())
    }

    /// The program of a block. Where it needs names that the blocks of its rank before it define, these stand before it, as the cells of a notebook do;
    /// where these only import them, the imports alone. Functions that stand in later blocks alone follow it.
    pub(super) fn program_at(&self, at: usize) -> String {
        let code = &self.blocks[at].code;
        let needed = if self.blocks.len() > 1 { self.wanted.missing_in(code) } else { BTreeSet::new() };
        if needed.is_empty() {
            return code.clone();
        }
        let rank = Rank::of(&self.blocks[at]);
        let is_like = |other: &usize| self.facts[*other].parses && Rank::of(&self.blocks[*other]) == rank;
        let before: String = (0..at).filter(is_like).map(|other| self.blocks[other].code.as_str()).collect();
        let (before, found) = context_of(&before, &needed);
        let missing: BTreeSet<&String> = needed.iter().filter(|name| !found.contains(*name)).collect();
        let later = (at + 1..self.blocks.len()).filter(is_like).map(|other| self.blocks[other].code.as_str());
        let later = later.filter(|code| !self.wanted.names.is_empty() && defines_function(code, &missing));
        let later: String = later.collect();
        let code = if later.is_empty() || code.ends_with('\n') { code.clone() } else { format!("{code}\n") };
        insert_before(&before, &format!("{code}{later}"), std::iter::empty())
    }
}

/// What stands before a program that needs these names: all of the text if it defines one of them, else the imports that bind one. With the names
/// that it binds.
fn context_of(before: &str, needed: &BTreeSet<String>) -> (String, BTreeSet<String>) {
    let read = with_syntax(before, |parsed| {
        let names = Names::read(parsed.suite());
        let found = needed.iter().filter(|name| names.of_module.contains(name.as_str())).cloned().collect();
        let imports = parsed.suite().iter().filter(|stmt| imports_any(stmt, needed));
        let imports = imports.map(|stmt| format!("{}\n", &before[stmt.range().to_std_range()]));
        let is_defined = needed.iter().any(|name| names.defined.contains(name.as_str()));
        (if is_defined { before.to_owned() } else { imports.collect() }, found)
    });
    read.unwrap_or_default()
}

/// Whether a statement imports one of the names, and not from the program itself.
fn imports_any(stmt: &Stmt, names: &BTreeSet<String>) -> bool {
    let binds = |alias: &Alias| {
        let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
        names.contains(name.split('.').next().unwrap_or(name))
    };
    match stmt {
        Stmt::Import(import) => import.names.iter().any(binds),
        Stmt::ImportFrom(import) => {
            let is_own = import.level > 0 || import.module.as_ref().is_some_and(|module| module.as_str() == MODULE);
            !is_own && import.names.iter().any(binds)
        }
        _ => false,
    }
}

/// Whether a text defines a function or class of one of the names.
fn defines_function(code: &str, names: &BTreeSet<&String>) -> bool {
    let read = with_syntax(code, |parsed| {
        let found = Names::read(parsed.suite());
        let defines = |stmt: &Stmt| match stmt {
            Stmt::FunctionDef(function) => names.iter().any(|name| **name == *function.name.as_str()),
            Stmt::ClassDef(class) => names.iter().any(|name| **name == *class.name.as_str()),
            _ => false,
        };
        parsed.suite().iter().any(defines) && names.iter().any(|name| found.defined.contains(name.as_str()))
    });
    !names.is_empty() && read.unwrap_or_default()
}

/// The order in which blocks are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    Python,
    Unlabelled,
    Other,
}

impl Rank {
    fn of(block: &Block<'_>) -> Self {
        match block.label {
            Label::Python(_) => Rank::Python,
            Label::Missing | Label::Unknown(_) if !block.is_indented => Rank::Unlabelled,
            _ => Rank::Other,
        }
    }
}
