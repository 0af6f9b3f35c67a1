//! What code reaches for beyond the original: introspection, the interpreter's inside, the test runner, and, in an injected
//! bug, chance and clocks.

use std::collections::BTreeSet;

use veriplay_core::{Dropped, Execute, TextFiles, Value};

use super::Ground;
use super::guest::ask;

const PROGRAM: &str = include_str!("python/machinery.py");

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
    let own = Value::List(own_modules(ground).into_iter().map(Value::str).collect());
    let arguments = changed.iter().map(|(path, text)| {
        let before = ground.texts.get(*path).map_or("", String::as_str);
        let buggy = buggy.get(*path).map_or("", String::as_str);
        vec![Value::str(before), Value::str(buggy), Value::str(text.as_str()), Value::Bool(strict), own.clone()]
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
fn own_modules(ground: &Ground<'_>) -> BTreeSet<String> {
    let below = |path: &String, root: &String| {
        let rest = if root.is_empty() { Some(path.as_str()) } else { path.strip_prefix(root)?.strip_prefix('/') };
        let first = rest?.split('/').next()?;
        let tests = matches!(first, "tests" | "test" | "testing" | "conftest.py" | "src");
        (!tests && path.ends_with(".py")).then(|| first.trim_end_matches(".py").to_owned())
    };
    let roots = &ground.baseline.roots;
    ground.texts.keys().flat_map(|path| roots.iter().filter_map(move |root| below(path, root))).collect()
}
