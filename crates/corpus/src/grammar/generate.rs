//! Draws programs: a header, statements that follow the type of `x`, and `return`.

use std::collections::BTreeMap;

use rand::Rng;
use veriplay_core::count_statements;

use super::inputs::{InputKind, within};
use super::{Grammar, Op, raw};
use crate::CorpusError;
use crate::random::weighted;

/// The first line of every program.
pub(super) const HEADER: &str = "def f(x):";
/// What opens the statements of the body, and of a branch or loop.
pub(super) const ASSIGN: &str = "\n    x = ";
pub(super) const RETURN: &str = "\n    return ";
pub(super) const IF: &str = "\n    if ";
pub(super) const FOR: &str = "\n    for i in range(";
pub(super) const THEN_ASSIGN: &str = ":\n        x = ";
pub(super) const THEN_RETURN: &str = ":\n        return ";
pub(super) const LOOP_ASSIGN: &str = "):\n        x = ";

/// A generated program: not yet run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Source text with entry `f`, in normal form, without a newline at its end.
    pub program: String,
    /// What `f` takes.
    pub input_kind: InputKind,
    /// The family it was drawn from.
    pub family: String,
    /// As [`veriplay_core::count_statements`] counts: `if` or `for` and its one inner line are two.
    pub statements: usize,
}

impl Grammar {
    /// Draws a program of `family`.
    ///
    /// # Errors
    /// No such family.
    pub fn program(&self, rng: &mut impl Rng, family: &str) -> Result<Generated, CorpusError> {
        let knobs = self.families.get(family);
        let knobs = knobs.ok_or_else(|| CorpusError::unknown("family", family, self.families.keys()))?;
        Ok(self.write(rng, family, knobs))
    }

    /// Draws a family of `mix`, then a program of it.
    ///
    /// # Errors
    /// No such mix.
    pub fn sample(&self, rng: &mut impl Rng, mix: &str) -> Result<Generated, CorpusError> {
        let names = self.mixes.get(mix).ok_or_else(|| CorpusError::unknown("mix", mix, self.mixes.keys()))?;
        let (family, _) = weighted(rng, names, |(_, weight)| *weight);
        self.program(rng, family)
    }

    pub(super) fn write(&self, rng: &mut impl Rng, family: &str, knobs: &raw::Family) -> Generated {
        let input_kind = self.input_kind(rng);
        let mut writer = Writer { grammar: self, knobs, program: HEADER.to_owned(), kind: input_kind.name() };
        for _ in 1..knobs.statements {
            writer.statement(rng);
        }
        writer.give_back(rng, RETURN);
        let statements = count_statements(&writer.program);
        Generated { program: writer.program, input_kind, family: family.to_owned(), statements }
    }
}

/// A program being written, and the type `x` has at its end.
struct Writer<'a> {
    grammar: &'a Grammar,
    knobs: &'a raw::Family,
    program: String,
    kind: &'a str,
}

impl<'a> Writer<'a> {
    /// Any statement but the last.
    fn statement(&mut self, rng: &mut impl Rng) {
        let roll: f64 = rng.random();
        let grammar = self.grammar;
        match grammar.conditions.get(self.kind) {
            Some(conditions) if roll < self.knobs.branch => self.branch(rng, conditions),
            _ if roll < self.knobs.branch + self.knobs.repeat && self.can_loop() => self.repeat(rng),
            _ => self.assign(rng),
        }
    }

    fn can_loop(&self) -> bool {
        self.grammar.loop_ops.contains_key(self.kind)
    }

    fn assign(&mut self, rng: &mut impl Rng) {
        let op = choose(rng, &self.grammar.ops, self.kind);
        self.push(rng, ASSIGN, op);
        self.kind = &op.to;
    }

    /// An early `return` of any type, or an assignment that keeps the type: both paths then agree on it.
    fn branch(&mut self, rng: &mut impl Rng, conditions: &'a [Op]) {
        let condition = weighted(rng, conditions, |op| op.weight);
        self.push(rng, IF, condition);
        match self.grammar.same_ops.contains_key(self.kind) {
            true if rng.random::<f64>() >= self.grammar.loops.early_return => {
                let op = choose(rng, &self.grammar.same_ops, self.kind);
                self.push(rng, THEN_ASSIGN, op);
            }
            _ => self.give_back(rng, THEN_RETURN),
        }
    }

    fn repeat(&mut self, rng: &mut impl Rng) {
        let count = within(rng, self.grammar.loops.count);
        self.program.push_str(FOR);
        self.program.push_str(&count.to_string());
        let op = choose(rng, &self.grammar.loop_ops, self.kind);
        self.push(rng, LOOP_ASSIGN, op);
    }

    fn give_back(&mut self, rng: &mut impl Rng, opening: &str) {
        let op = choose(rng, &self.grammar.ops, self.kind);
        self.push(rng, opening, op);
    }

    fn push(&mut self, rng: &mut impl Rng, opening: &str, op: &Op) {
        self.program.push_str(opening);
        self.program.push_str(&op.template.render(rng));
    }
}

/// Draws an operation that starts from `kind`.
fn choose<'a>(rng: &mut impl Rng, ops: &'a BTreeMap<String, Vec<Op>>, kind: &str) -> &'a Op {
    weighted(rng, &ops[kind], |op| op.weight)
}
