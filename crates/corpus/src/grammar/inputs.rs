//! Arguments for generated programs.

use rand::Rng;
use veriplay_core::Value;

use super::{Grammar, raw};
use crate::random::draw_weighted;

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

impl raw::Inputs {
    /// How often programs take `kind`.
    pub(crate) fn weight(&self, kind: InputKind) -> f64 {
        match kind {
            InputKind::Int => self.int.weight,
            InputKind::List => self.list.weight,
            InputKind::Str => self.str.weight,
        }
    }
}

impl Grammar {
    /// Draws the kind of a program's argument.
    pub(crate) fn input_kind(&self, rng: &mut impl Rng) -> InputKind {
        *draw_weighted(rng, &InputKind::ALL, |kind| self.inputs.weight(*kind))
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
}

/// A whole number, both ends included.
pub(crate) fn draw_in_range(rng: &mut impl Rng, [low, high]: [i64; 2]) -> i64 {
    rng.random_range(low..=high)
}
