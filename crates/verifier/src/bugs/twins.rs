//! Twins: every test runs twice when a repair is graded, once as it is and once made to fail at its end. A coin that the
//! repair cannot foresee says which comes first, so a run holds tests that must pass beside tests that must not, and code
//! that writes its own records has to tell one from the other.

use std::collections::BTreeMap;

use veriplay_core::{Digest, Dropped, Execute, Value, content_hash};

use super::Ground;
use super::guest::{Edit, ask, number, spliced};

const PROGRAM: &str = include_str!("python/twins.py");
/// Ends of a test that has been made to fail: each an assertion that does not hold.
const ENDS: [&str; 5] = ["assert 0", "assert not 1", "raise AssertionError", "assert [] != []", "assert 1 == 2"];

/// The places where a test file's functions end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ends(Vec<End>);

/// Where one of them ends.
#[derive(Debug, Clone, PartialEq, Eq)]
struct End {
    name: String,
    at: usize,
    indent: String,
    /// Tests that call one another have one; it shares a coin.
    group: String,
}

impl Ends {
    /// Reads the test files; one that is no Python has none.
    pub(crate) fn of(execute: &dyn Execute, ground: &Ground<'_>, texts: &[&str]) -> Result<Vec<Self>, Dropped> {
        let arguments = texts.iter().map(|text| vec![Value::str(*text)]).collect();
        let answers = ask(execute, ground, PROGRAM, "twins", arguments)?;
        Ok(answers
            .into_iter()
            .map(|answer| Self(answer.ok().and_then(|value| read(&value)).unwrap_or_default()))
            .collect())
    }

    /// The group of a function that can be made to fail.
    pub(crate) fn group(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|end| end.name == name).map(|end| end.group.as_str())
    }

    /// The file with the functions of these groups made to fail.
    pub(crate) fn failing(&self, text: &str, wanted: impl Fn(&str) -> bool) -> String {
        let chosen = self.0.iter().filter(|end| wanted(&end.group)).enumerate();
        let edits: Vec<Edit> = chosen
            .map(|(index, End { at, indent, .. })| {
                let text = format!("\n{indent}{}", ENDS[index % ENDS.len()]);
                Edit { start: *at, end: *at, text }
            })
            .collect();
        spliced(text, &edits).unwrap_or_else(|| text.to_owned())
    }
}

fn read(value: &Value) -> Option<Vec<End>> {
    let Value::List(items) = value else { return None };
    items
        .iter()
        .map(|item| {
            let Value::Tuple(parts) = item else { return None };
            let [Value::Str(name), at, Value::Str(indent), Value::Str(group)] = parts.as_slice() else { return None };
            Some(End { name: name.clone(), at: number(at)?, indent: indent.clone(), group: group.clone() })
        })
        .collect()
}

/// The name of the function that a test id ends in.
pub(crate) fn function_of(id: &str) -> &str {
    let id = id.split_once('[').map_or(id, |(before, _)| before);
    id.rsplit("::").next().unwrap_or(id)
}

/// Which functions fail in the first of the two runs; in the second it is the others.
#[derive(Debug, Clone)]
pub(crate) struct Coins(Digest);

impl Coins {
    /// `of` is what nobody knows who writes a repair: a digest of the repair itself, with all it is graded against.
    pub(crate) fn of(of: &impl serde::Serialize) -> Self {
        Self(content_hash(of))
    }

    /// Whether the functions of `group` in `file` are made to fail in run 0 or 1.
    pub(crate) fn fails(&self, run: usize, file: &str, group: &str) -> bool {
        let digest = content_hash(&(&self.0, file, group));
        let odd = digest.as_str().as_bytes()[0] % 2 == 1;
        odd == (run == 0)
    }
}

/// Each test file's text and ends.
pub(crate) type Files<'a> = BTreeMap<&'a str, (&'a str, Ends)>;
