//! Describes a program of the grammar in words: `reverse it, then add 3 to each`.
//!
//! A description is made from the program's text, statement by statement, by the operations whose templates match. The words come from the
//! data. Invariant: the description states what the program computes, as far as the data's words are true. The caller's random source
//! chooses among an operation's phrases.

use rand::Rng;

use super::generate::{ASSIGN, FOR, HEADER, IF, LOOP_ASSIGN, RETURN, THEN_ASSIGN, THEN_RETURN};
use super::{Grammar, InputKind, Op};
use crate::random::draw_weighted;

/// Stands between two steps.
const THEN: &str = ", then ";
const WHEN: &str = "if ";
const DO: &str = ": ";
const ANSWER: &str = " answer: ";
/// Of a loop: how often, and what `i` is.
const REPEAT: &str = " times with i from 0: ";

impl Grammar {
    /// Describes what `program` does to its argument of `kind`. `None` where the grammar cannot have generated it, or has no words for one
    /// of its operations.
    pub fn describe(&self, program: &str, kind: InputKind, rng: &mut impl Rng) -> Option<String> {
        let mut describer = Describer { grammar: self, kind: kind.name(), rest: program.strip_prefix(HEADER)? };
        let mut steps = Vec::new();
        while !describer.rest.is_empty() {
            steps.push(describer.describe_statement(rng)?);
        }
        (!steps.is_empty()).then(|| steps.join(THEN))
    }

    /// The literal phrases of descriptions: distinct, sorted, of two characters or more.
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
struct Describer<'a> {
    grammar: &'a Grammar,
    kind: &'a str,
    rest: &'a str,
}

impl<'a> Describer<'a> {
    fn describe_statement(&mut self, rng: &mut impl Rng) -> Option<String> {
        if self.skip(RETURN) {
            let (_, words) = self.describe_operation(&self.grammar.ops[self.kind], "", rng)?;
            return self.rest.is_empty().then_some(words);
        }
        if self.skip(ASSIGN) {
            let (op, words) = self.describe_operation(&self.grammar.ops[self.kind], "", rng)?;
            self.kind = &op.to;
            return Some(words);
        }
        if self.skip(IF) {
            return self.describe_branch(rng);
        }
        self.skip(FOR).then(|| self.describe_loop(rng)).flatten()
    }

    fn describe_branch(&mut self, rng: &mut impl Rng) -> Option<String> {
        let (_, condition) = self.describe_operation(self.grammar.conditions.get(self.kind)?, ":", rng)?;
        let (opening, between) = match self.rest.starts_with(THEN_RETURN) {
            true => (THEN_RETURN, ANSWER),
            false => (THEN_ASSIGN, DO),
        };
        self.skip(opening).then_some(())?;
        let (_, words) = self.describe_operation(&self.grammar.ops[self.kind], "", rng)?;
        Some(format!("{WHEN}{condition}{between}{words}"))
    }

    fn describe_loop(&mut self, rng: &mut impl Rng) -> Option<String> {
        let (count, _) = self.rest.split_once(')')?;
        self.rest = &self.rest[count.len()..];
        self.skip(LOOP_ASSIGN).then_some(())?;
        let (_, words) = self.describe_operation(self.grammar.loop_ops.get(self.kind)?, "", rng)?;
        Some(format!("{count}{REPEAT}{words}"))
    }

    fn skip(&mut self, opening: &str) -> bool {
        let rest = self.rest.strip_prefix(opening);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Finds the operation on the rest of the line, without `ending`, and describes it.
    fn describe_operation(&mut self, ops: &'a [Op], ending: &str, rng: &mut impl Rng) -> Option<(&'a Op, String)> {
        let line = self.rest.split('\n').next()?.strip_suffix(ending)?;
        let (op, values) = ops.iter().find_map(|op| op.template.match_values(line).map(|values| (op, values)))?;
        self.rest = &self.rest[line.len()..];
        let words = (!op.words.is_empty()).then(|| draw_weighted(rng, &op.words, |_| 1.0))?;
        Some((op, words.render(&values)))
    }
}
