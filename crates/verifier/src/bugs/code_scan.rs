//! What changed code has beyond the original that is not known to be harmless: what could lead to the interpreter's inside or
//! the test runner, or make an object lie of itself; and, in an injected bug, chance and clocks. And what of the repository's
//! own names is harmless, read once.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Evidence, Execute, Limits, TextFiles, Value};

use super::RepoContext;
use super::modules::{self, Modules, module_name};
use super::paths::{is_loaded_by_itself, is_test, test_dir};
use super::source_queries::{QueryResults, query_sources, query_sources_within};
use crate::runner::{add_cost, string_list};

const PROGRAM: &str = include_str!("python/machinery.py");

/// How often the repository is read for names that reach.
const PASSES: usize = 3;
/// Bytes of a patch's text at most: a repair of a bug is short.
pub(crate) const MAX_PATCH_BYTES: usize = 1 << 20;
/// Bytes that a Python file may have more than in the original.
const MAX_GROWTH_BYTES: usize = 128 << 10;
/// Python files that may be changed.
const MAX_CHANGED_FILES: usize = 50;
/// Of a scan, whatever the repository's own limits are.
const SCAN_FUEL: u64 = 30_000_000_000;
const SCAN_MEMORY_BYTES: u64 = 1 << 30;

/// The names of a repository's own, as its code has them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnNames {
    /// What its classes define and what it stores in objects: attributes of these names are known.
    pub attributes: BTreeSet<String>,
    /// What its modules define.
    pub globals: BTreeSet<String>,
    /// Its classes.
    pub classes: BTreeSet<String>,
    /// What it has from outside, by the names it gives it.
    pub imported: BTreeSet<String>,
    /// Functions, classes and variables whose code reads, writes or runs what is named by a text, or opens the interpreter's
    /// inside. A repair may not call them anew.
    pub reaching: BTreeSet<String>,
}

impl OwnNames {
    /// Reads the sources; what is no Python has no names.
    pub(crate) fn read(execute: &dyn Execute, repo: &RepoContext<'_>) -> Result<Self, Dropped> {
        let modules = string_list(&modules_of(repo, repo.texts).code);
        let code = || repo.texts.iter().filter(|(path, _)| is_code(repo, path));
        let mut names = Self::default();
        // What is made of a name that reaches is known only once the name is.
        for _ in 0..PASSES {
            let reaching = string_list(&names.reaching);
            let arguments =
                code().map(|(path, text)| vec![file(repo, path), bytes(text), modules.clone(), reaching.clone()]);
            names.add(query_sources(execute, repo, PROGRAM, "definitions", arguments.collect())?);
            if string_list(&names.reaching) == reaching {
                break;
            }
        }
        // A name that one file defines and another has from outside may be either.
        for own in [&mut names.globals, &mut names.classes] {
            own.retain(|name| !names.imported.contains(name));
        }
        Ok(names)
    }

    fn add(&mut self, answers: Vec<Result<Value, String>>) {
        for answer in answers {
            let Ok(Value::Tuple(parts)) = answer else { continue };
            let [attributes, globals, classes, imported, reaching] = parts.as_slice() else { continue };
            self.attributes.extend(texts(attributes));
            self.globals.extend(texts(globals));
            self.classes.extend(texts(classes));
            self.imported.extend(texts(imported));
            self.reaching.extend(texts(reaching));
        }
    }
}

/// What a patch did that the scan does not let pass.
#[derive(Debug)]
pub(crate) struct ScanFinding {
    /// The rule it breaks: `machinery`, `too_large`, or `scan` where the scan itself did not come to its end.
    pub(crate) rule: &'static str,
    /// Which file, and what of it.
    pub(crate) why: String,
}

impl ScanFinding {
    fn new(rule: &'static str, why: String) -> Self {
        Self { rule, why }
    }
}

/// What the Python files of `now` reach for that those of the original do not; `strict` for an injected bug, and `buggy` what
/// a repair starts from. The first find, or nothing. What the scan costs is added to `evidence`.
pub(crate) fn scan_changes(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    buggy: &TextFiles,
    now: &TextFiles,
    strict: bool,
    evidence: &mut Evidence,
) -> Result<Option<ScanFinding>, Dropped> {
    let changed = |(path, text): &(&String, &String)| path.ends_with(".py") && repo.texts.get(*path) != Some(text);
    let changed: Vec<(&String, &String)> = now.iter().filter(changed).collect();
    if changed.is_empty() {
        return Ok(None);
    }
    if let Some(why) = too_large(repo, &changed) {
        return Ok(Some(ScanFinding::new("too_large", why)));
    }
    let modules = modules_of(repo, now);
    let starred = words_beside_stars(repo);
    let arguments = changed.iter().map(|(path, text)| {
        let before = repo.texts.get(*path).map_or("", String::as_str);
        let buggy = buggy.get(*path).map_or("", String::as_str);
        let names = names_for(&repo.map.names, &modules, &starred, text);
        vec![file(repo, path), bytes(before), bytes(buggy), bytes(text), Value::Bool(strict), names]
    });
    let limits = Limits {
        fuel: repo.limits.fuel.min(SCAN_FUEL),
        memory_bytes: repo.limits.memory_bytes.min(SCAN_MEMORY_BYTES),
        ..repo.limits
    };
    let QueryResults { answers, early_end, evidence: cost } =
        query_sources_within(execute, repo, limits, PROGRAM, "machinery", arguments.collect())?;
    add_cost(evidence, cost.jobs, cost.fuel, cost.met_deadline);
    for ((path, _), answer) in changed.iter().zip(&answers) {
        match answer {
            Ok(Value::List(found)) if found.is_empty() => {}
            Ok(Value::List(found)) => {
                return Ok(Some(ScanFinding::new("machinery", format!("`{path}`: {}", found[0]))));
            }
            Ok(_) => return Ok(Some(ScanFinding::new("scan", format!("`{path}`: the scan gave no list of uses")))),
            Err(why) => return Ok(Some(ScanFinding::new("scan", format!("`{path}`: the scan failed: {why}")))),
        }
    }
    // Whatever ended it, only the patch is new to it.
    Ok(early_end.map(|how| {
        let path = changed.get(answers.len()).map_or("", |(path, _)| path.as_str());
        ScanFinding::new("scan", format!("`{path}`: the scan did not come to its end: {how}"))
    }))
}

/// Which bound the changed files break.
fn too_large(repo: &RepoContext<'_>, changed: &[(&String, &String)]) -> Option<String> {
    if changed.len() > MAX_CHANGED_FILES {
        return Some(format!("{} Python files are changed, and {MAX_CHANGED_FILES} may be", changed.len()));
    }
    changed.iter().find_map(|(path, text)| {
        let most = repo.texts.get(*path).map_or(0, String::len) + MAX_GROWTH_BYTES;
        let size = text.len();
        (size > most)
            .then(|| format!("`{path}` has {size} bytes, and may have {most}: {MAX_GROWTH_BYTES} more than before"))
    })
}

/// What [`PROGRAM`] takes as the names of the repository. Those of its definitions that the text does not mention are left out.
fn names_for(names: &OwnNames, modules: &Modules, starred: &BTreeSet<String>, text: &str) -> Value {
    let words: HashSet<&str> = words(text).collect();
    let mentioned = |names: &BTreeSet<String>| string_list(names.iter().filter(|name| words.contains(name.as_str())));
    let entries = [
        ("modules", string_list(&modules.code)),
        ("tests", string_list(&modules.tests)),
        ("attributes", mentioned(&names.attributes)),
        ("globals", mentioned(&names.globals)),
        ("classes", mentioned(&names.classes)),
        ("imported", string_list(&names.imported)),
        ("reaching", string_list(&names.reaching)),
        ("starred", string_list(starred)),
    ];
    Value::Dict(entries.into_iter().map(|(name, value)| (Value::str(name), value)).collect())
}

/// Words of test files that import all that a module has: a new name of a module may come between any of them.
fn words_beside_stars(repo: &RepoContext<'_>) -> BTreeSet<String> {
    let is_starred = |text: &str| text.lines().any(|line| line.contains("import") && line.contains('*'));
    let tests = repo.texts.iter().filter(|(path, text)| is_test(repo, path) && is_starred(text));
    tests.flat_map(|(_, text)| words(text).map(str::to_owned)).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn texts(list: &Value) -> impl Iterator<Item = String> {
    let items = if let Value::List(items) = list { items.as_slice() } else { &[] };
    items.iter().filter_map(|item| if let Value::Str(text) = item { Some(text.clone()) } else { None })
}

/// As it lies in the tree, and as an import reads it.
fn bytes(text: &str) -> Value {
    Value::Bytes(text.as_bytes().to_vec())
}

/// The name of the module that a file is, and whether it is a package.
fn file(repo: &RepoContext<'_>, path: &str) -> Value {
    let (name, is_package) = module_name(path, &repo.baseline.roots).unwrap_or_default();
    Value::Tuple(vec![Value::str(name), Value::Bool(is_package)])
}

fn is_code(repo: &RepoContext<'_>, path: &str) -> bool {
    path.ends_with(".py") && !is_test(repo, path) && !is_loaded_by_itself(path)
}

fn modules_of(repo: &RepoContext<'_>, texts: &TextFiles) -> Modules {
    let paths: BTreeMap<&str, ()> = texts.keys().chain(repo.texts.keys()).map(|path| (path.as_str(), ())).collect();
    Modules::index(paths.into_keys(), &repo.baseline.roots, |path| is_test(repo, path))
}

/// What belongs to either side where a repository's package and its tests run in two instances.
#[derive(Debug, Clone)]
pub(crate) struct SplitLayout {
    /// The top-level modules of its code.
    pub(crate) own: Vec<String>,
    /// The files and directories of its tests.
    pub(crate) tests: Vec<String>,
}

impl SplitLayout {
    pub(crate) fn from_repo(repo: &RepoContext<'_>) -> Self {
        let test_files: Vec<String> = repo.baseline.files.iter().map(|file| file.path.clone()).collect();
        let own = modules::own_modules(repo.texts.keys().map(String::as_str), &repo.baseline.roots, &test_files);
        let tests = repo.texts.keys().filter(|path| is_test(repo, path) || path.ends_with("conftest.py"));
        // With a directory goes what is no text, which the layer alone knows.
        let tests: BTreeSet<String> = tests.map(|path| test_dir(path).unwrap_or(path).to_owned()).collect();
        Self { own, tests: tests.into_iter().collect() }
    }
}
