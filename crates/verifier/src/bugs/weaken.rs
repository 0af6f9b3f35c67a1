//! The weakening that hides a bug: the failing tests, taken out of their files.

use std::collections::{BTreeMap, BTreeSet};

use veriplay_core::{Dropped, Execute, Patch, Value};

use super::RepoContext;
use super::bench::file_of;
use super::guest::{ask, edits, spliced};

const PROGRAM: &str = include_str!("python/weaken.py");

/// The patch that removes the functions of the tests `failing` from the original's test files. `None` when a function is not
/// to be found by its name, as one that a class inherits.
///
/// # Errors
/// A fault of the host's.
pub fn weakening(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    failing: &BTreeSet<String>,
) -> Result<Option<Patch>, Dropped> {
    let mut functions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for id in failing {
        functions.entry(file_of(id)).or_default().insert(name_of(id));
    }
    let text = |file: &str| repo.texts.get(file).map_or("", String::as_str);
    let arguments = functions.iter().map(|(file, names)| {
        vec![Value::str(text(file)), Value::List(names.iter().map(|name| Value::str(*name)).collect())]
    });
    let answers = ask(execute, repo, PROGRAM, "weaken", arguments.collect())?;
    let mut after = repo.texts.clone();
    for (file, answer) in functions.keys().zip(answers) {
        let edits = answer.ok().and_then(|value| edits(&value)).unwrap_or_default();
        match spliced(text(file), &edits) {
            Some(weakened) => after.insert((*file).to_owned(), weakened),
            None => return Ok(None),
        };
    }
    Ok(Patch::make(repo.texts, &after).ok().filter(|patch| !patch.is_empty()))
}

/// `Class::function` of a test id.
fn name_of(id: &str) -> &str {
    let names = id.split_once("::").map_or("", |(_, names)| names);
    names.split_once('[').map_or(names, |(name, _)| name)
}
