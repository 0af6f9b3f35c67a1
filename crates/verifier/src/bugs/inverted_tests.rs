//! Inverted tests: a test runs beside the repair twice when the repair is graded, once unchanged and once changed so that it must fail. A
//! draw that the repair cannot predict decides which comes first, so each run mixes tests that must pass with tests that must fail, and code that forges records has to tell them apart. Their text does not help: both kinds end in an
//! assertion about large numbers, both compare with one of two values that large numbers select, and the numbers are drawn for each
//! repair. An inverted comparison has another operand, which exposes objects that claim to equal everything.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Execute, Value, content_hash};
use veriplay_image_python::programs::bugs::INVERTED_TESTS;

use super::RepoContext;
use super::source_queries::{SourceReader, TextEdit, apply_edits, parse_index};
use crate::repository::tuple;

/// The number of forms of [`Inversion`].
pub(crate) const INVERSIONS: usize = 3;

/// Where the functions of a test file end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestEnds(Vec<TestEnd>);

/// Where a function ends, and the operands of its comparisons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TestEnd {
    name: String,
    at: usize,
    indent: String,
    /// Tests that call one another are in one group, which is inverted as a whole.
    group: String,
    /// Start and end of the operands of its first and its last comparison.
    operands: Vec<(usize, usize)>,
}

/// How a function is made to fail: at its end (0), in its first comparison (1) or in its last (2). `None` keeps its behaviour. A
/// function without comparisons fails at its end.
pub(crate) type Inversion = Option<usize>;

impl TestEnds {
    /// Parses a test file. One that is not valid Python has no ends.
    pub(crate) fn find(execute: &dyn Execute, repo: &RepoContext<'_>, text: &str) -> Result<Self, Dropped> {
        let question = vec![vec![Value::str(text)]];
        let answers = SourceReader::of_repo(execute, repo).ask_all(INVERTED_TESTS, "twins", question)?;
        Ok(Self(answers.into_iter().find_map(|answer| parse_ends(&answer.ok()?)).unwrap_or_default()))
    }

    /// The group of a function that can be made to fail.
    pub(crate) fn group(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|end| end.name == name).map(|end| end.group.as_str())
    }

    /// Rewrites the functions of the groups for which `form` returns a form, so that all look alike. `drawn` seeds the numbers.
    pub(crate) fn invert(&self, text: &str, form: impl Fn(&str) -> Option<Inversion>, drawn: &Digest) -> String {
        let formed = self.0.iter().filter_map(|end| Some((end, form(&end.group)?)));
        let edits: Vec<TextEdit> = formed.flat_map(|(end, form)| end.edits(text, form, drawn)).collect();
        apply_edits(text, &edits).unwrap_or_else(|| text.to_owned())
    }
}

impl TestEnd {
    fn edits(&self, text: &str, form: Inversion, drawn: &Digest) -> Vec<TextEdit> {
        let at = |index: usize| draw_number(&(drawn, &self.name, self.at, index));
        let wrong = form.map(|form| if self.operands.is_empty() { 0 } else { form });
        let (left, right) = (at(0), at(1));
        let sum = if wrong == Some(0) { at(2) } else { left ^ right };
        let end = format!("\n{}assert {left:#x} ^ {right:#x} == {sum:#x}", self.indent);
        let mut edits = vec![TextEdit { start: self.at, end: self.at, text: end }];
        let mut operands = self.operands.clone();
        operands.dedup();
        for (index, (start, stop)) in operands.iter().copied().enumerate() {
            let Some(operand) = text.get(start..stop) else { continue };
            let is_wrong = wrong.is_some_and(|form| form > 0 && (form - 1).min(operands.len() - 1) == index);
            let (other, mask) = (at(3 + 3 * index), at(4 + 3 * index));
            let choice = mask ^ (at(5 + 3 * index) & !1 | u128::from(is_wrong));
            let chosen = format!("(({operand}), [\"{other:x}\"])[({mask:#x} ^ {choice:#x}) & 1]");
            edits.push(TextEdit { start, end: stop, text: chosen });
        }
        edits
    }
}

/// Draws a number of 128 bits.
fn draw_number(of: &impl serde::Serialize) -> u128 {
    content_hash(of).as_str().get(..32).and_then(|digits| u128::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

fn parse_ends(value: &Value) -> Option<Vec<TestEnd>> {
    let Value::List(items) = value else { return None };
    items.iter().map(parse_end).collect()
}

fn parse_end(item: &Value) -> Option<TestEnd> {
    let [Value::Str(name), at, Value::Str(indent), Value::Str(group), Value::List(operands)] = tuple(item)? else {
        return None;
    };
    let operands = operands.iter().map(parse_span).collect::<Option<_>>()?;
    let (name, indent, group) = (name.clone(), indent.clone(), group.clone());
    Some(TestEnd { name, at: parse_index(at)?, indent, group, operands })
}

fn parse_span(value: &Value) -> Option<(usize, usize)> {
    let [start, end] = tuple(value)? else { return None };
    Some((parse_index(start)?, parse_index(end)?))
}

/// The name of the function that a test id ends in.
pub(crate) fn function_of(id: &str) -> &str {
    let id = id.split_once('[').map_or(id, |(before, _)| before);
    id.rsplit("::").next().unwrap_or(id)
}

/// Draws which groups of functions are inverted in the first of the two runs, and how. The second run inverts the others.
#[derive(Debug, Clone)]
pub(crate) struct InversionDraws(Digest);

impl InversionDraws {
    /// Seeds the draws with `of`, which holds the repair itself, so that no repair can predict them.
    pub(crate) fn seeded(of: &impl serde::Serialize) -> Self {
        Self(content_hash(of))
    }

    /// Whether `group` of `file` is inverted in run 0 or 1.
    pub(crate) fn fails(&self, run: usize, file: &str, group: &str) -> bool {
        let digest = content_hash(&(&self.0, file, group));
        let odd = digest.as_str().as_bytes()[0] % 2 == 1;
        odd == (run == 0)
    }

    /// The form of the inversion of a `group` with tests that only run beside the repair.
    pub(crate) fn form(&self, file: &str, group: &str) -> usize {
        usize::from(content_hash(&(&self.0, file, group, "form")).as_str().as_bytes()[0]) % INVERSIONS
    }

    /// The seed of the numbers of `file`.
    pub(crate) fn numbers(&self, run: usize, file: &str) -> Digest {
        content_hash(&(&self.0, file, run, "numbers"))
    }
}

/// The text and the ends of each test file, by path.
pub(crate) type TestFiles<'a> = BTreeMap<&'a str, (&'a str, &'a TestEnds)>;
