//! Twins: a test that only the repair's own instance can judge runs twice when the repair is graded, once as it is and once made
//! to fail. A coin that the repair cannot foresee says which comes first, so a run holds tests that must pass beside tests that
//! must not, and code that writes its own records has to tell one from the other. It cannot by how they look: both end in an
//! assertion about large numbers and compare with one of two values that large numbers choose, and the numbers are drawn anew
//! for each repair. What is compared with differs where a failing one has something else there, so that an object which says
//! that it equals anything is found out.

use std::collections::BTreeMap;

use veriplay_core::{Digest, Dropped, Execute, Value, content_hash};

use super::RepoContext;
use super::source_queries::{TextEdit, apply_edits, parse_index, query_sources};

const PROGRAM: &str = include_str!("python/inverted_tests.py");
/// Ways to make a test fail: see [`Inversion`].
pub(crate) const INVERSIONS: usize = 3;

/// The places where a test file's functions end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestEnds(Vec<TestEnd>);

/// Where one of them ends, and what it compares with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TestEnd {
    name: String,
    at: usize,
    indent: String,
    /// Tests that call one another have one; it shares a coin.
    group: String,
    /// Start and end of the operands of its first and its last comparison.
    operands: Vec<(usize, usize)>,
}

/// What is made of a function: it fails at its end (0), in its first comparison (1), in its last (2), or, without a number, does
/// what it did. One without comparisons fails at its end.
pub(crate) type Inversion = Option<usize>;

impl TestEnds {
    /// Reads the test files; one that is no Python has none.
    pub(crate) fn find(execute: &dyn Execute, repo: &RepoContext<'_>, texts: &[&str]) -> Result<Vec<Self>, Dropped> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let arguments = texts.iter().map(|text| vec![Value::str(*text)]).collect();
        let answers = query_sources(execute, repo, PROGRAM, "twins", arguments)?;
        Ok(answers
            .into_iter()
            .map(|answer| Self(answer.ok().and_then(|value| parse_ends(&value)).unwrap_or_default()))
            .collect())
    }

    /// The group of a function that can be made to fail.
    pub(crate) fn group(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|end| end.name == name).map(|end| end.group.as_str())
    }

    /// The file with the functions of some groups in their forms, all looking alike. `drawn` draws the numbers.
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

/// A number of 128 bits out of a digest.
fn draw_number(of: &impl serde::Serialize) -> u128 {
    content_hash(of).as_str().get(..32).and_then(|digits| u128::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

fn parse_ends(value: &Value) -> Option<Vec<TestEnd>> {
    let Value::List(items) = value else { return None };
    items
        .iter()
        .map(|item| {
            let Value::Tuple(parts) = item else { return None };
            let [Value::Str(name), at, Value::Str(indent), Value::Str(group), Value::List(operands)] = parts.as_slice()
            else {
                return None;
            };
            let operands = operands.iter().map(parse_span).collect::<Option<_>>()?;
            Some(TestEnd {
                name: name.clone(),
                at: parse_index(at)?,
                indent: indent.clone(),
                group: group.clone(),
                operands,
            })
        })
        .collect()
}

fn parse_span(value: &Value) -> Option<(usize, usize)> {
    let Value::Tuple(parts) = value else { return None };
    let [start, end] = parts.as_slice() else { return None };
    Some((parse_index(start)?, parse_index(end)?))
}

/// The name of the function that a test id ends in.
pub(crate) fn function_of(id: &str) -> &str {
    let id = id.split_once('[').map_or(id, |(before, _)| before);
    id.rsplit("::").next().unwrap_or(id)
}

/// Which functions fail in the first of the two runs, and how; in the second it is the others.
#[derive(Debug, Clone)]
pub(crate) struct InversionDraws(Digest);

impl InversionDraws {
    /// `of` is what nobody knows who writes a repair: a digest of the repair itself, with all it is graded against.
    pub(crate) fn seeded(of: &impl serde::Serialize) -> Self {
        Self(content_hash(of))
    }

    /// Whether the functions of `group` in `file` are made to fail in run 0 or 1.
    pub(crate) fn fails(&self, run: usize, file: &str, group: &str) -> bool {
        let digest = content_hash(&(&self.0, file, group));
        let odd = digest.as_str().as_bytes()[0] % 2 == 1;
        odd == (run == 0)
    }

    /// How they are made to fail.
    pub(crate) fn form(&self, file: &str, group: &str) -> usize {
        usize::from(content_hash(&(&self.0, file, group, "form")).as_str().as_bytes()[0]) % INVERSIONS
    }

    /// What the numbers of a file are drawn from.
    pub(crate) fn numbers(&self, run: usize, file: &str) -> Digest {
        content_hash(&(&self.0, file, run, "numbers"))
    }
}

/// Each test file's text and ends.
pub(crate) type TestFiles<'a> = BTreeMap<&'a str, (&'a str, TestEnds)>;
