//! Draws programs, a header, statements that follow the type of `x`, and `return`; and arguments for them.

use std::collections::BTreeMap;

use rand::Rng;
use veriplay_core::{Value, count_statements};

use super::raw::{Family, Inputs};
use super::{Grammar, Op};
use crate::CorpusError;
use crate::random::draw_weighted;

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

/// The type of a program's one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputKind {
    /// A small whole number.
    Int,
    /// A short list of digits.
    List,
    /// A short string.
    Str,
}

impl InputKind {
    /// All three.
    pub const ALL: [InputKind; 3] = [InputKind::Int, InputKind::List, InputKind::Str];

    /// The name of the type in the grammar file.
    pub const fn name(self) -> &'static str {
        match self {
            InputKind::Int => "int",
            InputKind::List => "list",
            InputKind::Str => "str",
        }
    }
}

/// A generated program: not yet run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedProgram {
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
    pub fn program(&self, rng: &mut impl Rng, family: &str) -> Result<GeneratedProgram, CorpusError> {
        let knobs = self.families.get(family);
        let knobs = knobs.ok_or_else(|| CorpusError::unknown("family", family, self.families.keys()))?;
        Ok(self.write_program(rng, family, knobs))
    }

    /// Draws a family of `mix`, then a program of it.
    ///
    /// # Errors
    /// No such mix.
    pub fn sample(&self, rng: &mut impl Rng, mix: &str) -> Result<GeneratedProgram, CorpusError> {
        let names = self.mixes.get(mix).ok_or_else(|| CorpusError::unknown("mix", mix, self.mixes.keys()))?;
        let (family, _) = draw_weighted(rng, names, |(_, weight)| *weight);
        self.program(rng, family)
    }

    fn input_kind(&self, rng: &mut impl Rng) -> InputKind {
        let Inputs { int, list, str } = &self.inputs;
        let weights = [(InputKind::Int, int.weight), (InputKind::List, list.weight), (InputKind::Str, str.weight)];
        draw_weighted(rng, &weights, |(_, weight)| *weight).0
    }

    /// One argument list for a program that takes `kind`: always of length 1.
    pub fn input(&self, rng: &mut impl Rng, kind: InputKind) -> Vec<Value> {
        let value = match kind {
            InputKind::Int => Value::int(draw_in_range(rng, self.inputs.int.range)),
            InputKind::List => self.list(rng),
            InputKind::Str => self.string(rng),
        };
        vec![value]
    }

    /// `n` distinct argument lists, or as many as a thousand draws found where the kind has fewer.
    pub fn inputs(&self, rng: &mut impl Rng, kind: InputKind, n: usize) -> Vec<Vec<Value>> {
        let mut found: Vec<Vec<Value>> = Vec::with_capacity(n);
        for _ in 0..1000 {
            if found.len() == n {
                break;
            }
            let input = self.input(rng, kind);
            if !found.contains(&input) {
                found.push(input);
            }
        }
        found
    }

    fn list(&self, rng: &mut impl Rng) -> Value {
        let data = &self.inputs.list;
        let length = draw_in_range(rng, data.length);
        Value::List((0..length).map(|_| Value::int(draw_in_range(rng, data.range))).collect())
    }

    fn string(&self, rng: &mut impl Rng) -> Value {
        let data = &self.inputs.str;
        let letters: Vec<char> = data.letters.chars().collect();
        let length = draw_in_range(rng, data.length);
        let last = letters.len() as i64 - 1;
        Value::str((0..length).map(|_| letters[draw_in_range(rng, [0, last]) as usize]).collect::<String>())
    }

    pub(super) fn write_program(&self, rng: &mut impl Rng, family: &str, knobs: &Family) -> GeneratedProgram {
        let input_kind = self.input_kind(rng);
        let mut writer = ProgramWriter { grammar: self, knobs, program: HEADER.to_owned(), kind: input_kind.name() };
        for _ in 1..knobs.statements {
            writer.push_statement(rng);
        }
        writer.push_return(rng, RETURN);
        let statements = count_statements(&writer.program);
        GeneratedProgram { program: writer.program, input_kind, family: family.to_owned(), statements }
    }
}

/// A program being written, and the type `x` has at its end.
struct ProgramWriter<'a> {
    grammar: &'a Grammar,
    knobs: &'a Family,
    program: String,
    kind: &'a str,
}

impl<'a> ProgramWriter<'a> {
    fn push_statement(&mut self, rng: &mut impl Rng) {
        let roll: f64 = rng.random();
        let grammar = self.grammar;
        match grammar.conditions.get(self.kind) {
            Some(conditions) if roll < self.knobs.branch => self.push_branch(rng, conditions),
            _ if roll < self.knobs.branch + self.knobs.repeat && grammar.loop_ops.contains_key(self.kind) => {
                self.push_loop(rng);
            }
            _ => self.push_assignment(rng),
        }
    }

    fn push_assignment(&mut self, rng: &mut impl Rng) {
        let op = draw_op(rng, &self.grammar.ops, self.kind);
        self.push_line(rng, ASSIGN, op);
        self.kind = &op.to;
    }

    /// An early `return` of any type, or an assignment that keeps the type: both paths then agree on it.
    fn push_branch(&mut self, rng: &mut impl Rng, conditions: &'a [Op]) {
        let condition = draw_weighted(rng, conditions, |op| op.weight);
        self.push_line(rng, IF, condition);
        match self.grammar.same_ops.contains_key(self.kind) {
            true if rng.random::<f64>() >= self.grammar.loops.early_return => {
                let op = draw_op(rng, &self.grammar.same_ops, self.kind);
                self.push_line(rng, THEN_ASSIGN, op);
            }
            _ => self.push_return(rng, THEN_RETURN),
        }
    }

    fn push_loop(&mut self, rng: &mut impl Rng) {
        let count = draw_in_range(rng, self.grammar.loops.count);
        self.program.push_str(FOR);
        self.program.push_str(&count.to_string());
        let op = draw_op(rng, &self.grammar.loop_ops, self.kind);
        self.push_line(rng, LOOP_ASSIGN, op);
    }

    fn push_return(&mut self, rng: &mut impl Rng, opening: &str) {
        let op = draw_op(rng, &self.grammar.ops, self.kind);
        self.push_line(rng, opening, op);
    }

    fn push_line(&mut self, rng: &mut impl Rng, opening: &str, op: &Op) {
        self.program.push_str(opening);
        self.program.push_str(&op.template.render(rng));
    }
}

/// Draws an operation that starts from `kind`.
fn draw_op<'a>(rng: &mut impl Rng, ops: &'a BTreeMap<String, Vec<Op>>, kind: &str) -> &'a Op {
    draw_weighted(rng, &ops[kind], |op| op.weight)
}

/// A whole number, both ends included.
fn draw_in_range(rng: &mut impl Rng, [low, high]: [i64; 2]) -> i64 {
    rng.random_range(low..=high)
}
