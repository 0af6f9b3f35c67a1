//! Says in words what a program of the grammar does: `reverse it, then add 3 to each`.
//!
//! A description is made from the program's text, statement by statement, by the operations whose templates match it; the words are
//! the data's own. Called by games whose problems are sentences. Invariant: the description computes what the program computes, as
//! far as the data's words are true; which of an operation's words are taken is the caller's randomness.

use rand::Rng;

use super::generate::{ASSIGN, FOR, HEADER, IF, LOOP_ASSIGN, RETURN, THEN_ASSIGN, THEN_RETURN};
use super::{Grammar, InputKind, Op};
use crate::random::weighted;

/// Stands between two steps.
const THEN: &str = ", then ";
/// Opens a condition; the comma after it, or what returns at once.
const WHEN: &str = "if ";
const DO: &str = ": ";
const ANSWER: &str = " answer: ";
/// Of a loop: how often, and what `i` is.
const REPEAT: &str = " times with i from 0: ";

impl Grammar {
    /// In words, what `program` does to its argument, which is of `kind`. `None` where the grammar has not written it, or has no
    /// words for one of its operations.
    pub fn describe(&self, program: &str, kind: InputKind, rng: &mut impl Rng) -> Option<String> {
        let mut teller = Teller { grammar: self, kind: kind.name(), rest: program.strip_prefix(HEADER)? };
        let mut steps = Vec::new();
        while !teller.rest.is_empty() {
            steps.push(teller.step(rng)?);
        }
        (!steps.is_empty()).then(|| steps.join(THEN))
    }

    /// What descriptions are made of, besides numbers and letters: distinct, sorted, of two characters or more.
    #[must_use]
    pub fn phrases(&self) -> Vec<String> {
        let lists = self.ops.values().chain(self.loop_ops.values()).chain(self.conditions.values());
        let words = lists.flatten().flat_map(|op| &op.words).flat_map(|words| words.literals());
        let mut phrases: Vec<String> = words.map(str::to_owned).collect();
        phrases.extend([THEN, WHEN, DO, ANSWER, REPEAT].map(str::to_owned));
        phrases.retain(|phrase| phrase.len() > 1);
        phrases.sort();
        phrases.dedup();
        phrases
    }
}

/// A program being described, and the type `x` has where `rest` begins.
struct Teller<'a> {
    grammar: &'a Grammar,
    kind: &'a str,
    rest: &'a str,
}

impl<'a> Teller<'a> {
    fn step(&mut self, rng: &mut impl Rng) -> Option<String> {
        if self.take(RETURN) {
            let (_, words) = self.operation(&self.grammar.ops[self.kind], "", rng)?;
            return self.rest.is_empty().then_some(words);
        }
        if self.take(ASSIGN) {
            let (op, words) = self.operation(&self.grammar.ops[self.kind], "", rng)?;
            self.kind = &op.to;
            return Some(words);
        }
        if self.take(IF) {
            return self.branch(rng);
        }
        self.take(FOR).then(|| self.repeat(rng)).flatten()
    }

    fn branch(&mut self, rng: &mut impl Rng) -> Option<String> {
        let (_, condition) = self.operation(self.grammar.conditions.get(self.kind)?, ":", rng)?;
        let (opening, between) = match self.rest.starts_with(THEN_RETURN) {
            true => (THEN_RETURN, ANSWER),
            false => (THEN_ASSIGN, DO),
        };
        self.take(opening).then_some(())?;
        let (_, words) = self.operation(&self.grammar.ops[self.kind], "", rng)?;
        Some(format!("{WHEN}{condition}{between}{words}"))
    }

    fn repeat(&mut self, rng: &mut impl Rng) -> Option<String> {
        let (count, _) = self.rest.split_once(')')?;
        self.rest = &self.rest[count.len()..];
        self.take(LOOP_ASSIGN).then_some(())?;
        let (_, words) = self.operation(self.grammar.loop_ops.get(self.kind)?, "", rng)?;
        Some(format!("{count}{REPEAT}{words}"))
    }

    fn take(&mut self, opening: &str) -> bool {
        let rest = self.rest.strip_prefix(opening);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The operation that is the rest of the line but for `ending`, and words for it.
    fn operation(&mut self, ops: &'a [Op], ending: &str, rng: &mut impl Rng) -> Option<(&'a Op, String)> {
        let line = self.rest.split('\n').next()?.strip_suffix(ending)?;
        let (op, values) = ops.iter().find_map(|op| op.template.values_in(line).map(|values| (op, values)))?;
        self.rest = &self.rest[line.len()..];
        let words = (!op.words.is_empty()).then(|| weighted(rng, &op.words, |_| 1.0))?;
        Some((op, words.fill(&values)))
    }
}
