//! What changed code has beyond the original that is not known to be harmless: what could lead to the interpreter's inside or
//! the test runner, or make an object lie of itself; and, in an injected bug, chance and clocks. And what of the repository's
//! own names is harmless, read once.

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Execute, TextFiles, Value};

use super::Ground;
use super::guest::ask;
use super::paths::is_test;

const PROGRAM: &str = include_str!("python/machinery.py");

/// The names of a repository's own, as its code has them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnNames {
    /// What its code defines, and its modules: attributes of these names are known.
    pub defined: BTreeSet<String>,
    /// Functions, classes and variables whose code reads, writes or runs what is named by a text, or opens the interpreter's
    /// inside. A repair may not call them anew.
    pub reaching: BTreeSet<String>,
}

impl OwnNames {
    /// Reads the sources; what is no Python has no names.
    pub(crate) fn read(execute: &dyn Execute, ground: &Ground<'_>) -> Result<Self, Dropped> {
        let own = own_modules(ground);
        let is_code = |(path, _): &(&String, &String)| path.ends_with(".py") && !is_test(ground, path);
        let code: Vec<(&String, &String)> = ground.texts.iter().filter(is_code).collect();
        let own_list = Value::List(own.iter().map(Value::str).collect());
        let arguments = code.iter().map(|(_, text)| vec![Value::str(text.as_str()), own_list.clone()]).collect();
        let (mut names, mut imported) = (Self::default(), BTreeSet::new());
        for answer in ask(execute, ground, PROGRAM, "definitions", arguments)? {
            let Ok(Value::Tuple(parts)) = answer else { continue };
            let [defined, outside, reaching] = parts.as_slice() else { continue };
            names.defined.extend(texts(defined));
            imported.extend(texts(outside));
            names.reaching.extend(texts(reaching));
        }
        let modules = code.iter().flat_map(|(path, _)| path.trim_end_matches(".py").split('/').map(str::to_owned));
        names.defined.extend(modules);
        // A name that one file defines and another has from outside may be either.
        names.defined.retain(|name| !imported.contains(name));
        Ok(names)
    }
}

fn texts(list: &Value) -> impl Iterator<Item = String> {
    let items = if let Value::List(items) = list { items.as_slice() } else { &[] };
    items.iter().filter_map(|item| if let Value::Str(text) = item { Some(text.clone()) } else { None })
}

/// Those of `names` that are words of `text`.
fn mentioned(names: &BTreeSet<String>, words: &HashSet<&str>) -> Value {
    Value::List(names.iter().filter(|name| words.contains(name.as_str())).map(Value::str).collect())
}

/// What the Python files of `now` reach for that those of the original do not; `strict` for an injected bug, and `buggy` what
/// a repair starts from. The first find with its file, or nothing.
pub(crate) fn reached(
    execute: &dyn Execute,
    ground: &Ground<'_>,
    buggy: &TextFiles,
    now: &TextFiles,
    strict: bool,
) -> Result<Option<String>, Dropped> {
    let changed = |(path, text): &(&String, &String)| path.ends_with(".py") && ground.texts.get(*path) != Some(text);
    let changed: Vec<(&String, &String)> = now.iter().filter(changed).collect();
    if changed.is_empty() {
        return Ok(None);
    }
    let own = Value::List(own_modules(ground).iter().map(Value::str).collect());
    let reaching = Value::List(ground.map.names.reaching.iter().map(Value::str).collect());
    let arguments = changed.iter().map(|(path, text)| {
        let before = ground.texts.get(*path).map_or("", String::as_str);
        let buggy = buggy.get(*path).map_or("", String::as_str);
        let words: HashSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let defined = mentioned(&ground.map.names.defined, &words);
        let texts = [before, buggy, text].map(Value::str);
        texts.into_iter().chain([Value::Bool(strict), own.clone(), defined, reaching.clone()]).collect()
    });
    let answers = ask(execute, ground, PROGRAM, "machinery", arguments.collect())?;
    for ((path, _), answer) in changed.iter().zip(answers) {
        match answer {
            Ok(Value::List(found)) if found.is_empty() => {}
            Ok(Value::List(found)) => return Ok(Some(format!("`{path}`: {}", found[0]))),
            Ok(other) => return Err(Dropped { why: format!("`{path}`: `{other}` is no list of uses") }),
            Err(why) => return Ok(Some(format!("`{path}`: cannot be read: {why}"))),
        }
    }
    Ok(None)
}

/// The top-level packages and modules of the repository: importing them is its own business.
pub(crate) fn own_modules(ground: &Ground<'_>) -> BTreeSet<String> {
    let below = |path: &String, root: &String| {
        let rest = if root.is_empty() { Some(path.as_str()) } else { path.strip_prefix(root)?.strip_prefix('/') };
        let first = rest?.split('/').next()?;
        let tests = matches!(first, "tests" | "test" | "testing" | "conftest.py" | "src");
        (!tests && path.ends_with(".py")).then(|| first.trim_end_matches(".py").to_owned())
    };
    let roots = &ground.baseline.roots;
    ground.texts.keys().flat_map(|path| roots.iter().filter_map(move |root| below(path, root))).collect()
}
