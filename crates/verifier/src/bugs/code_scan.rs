//! Scans changed code for anything beyond the original that is not known to be harmless: ways into the interpreter or the test runner,
//! objects that lie about themselves and, in injected bugs, randomness and clocks. Also collects the repository's own harmless names, and scans
//! programs that belong to no repository.

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Evidence, Execute, Job, Limits, Preload, TextFiles, Value};
use veriplay_image_python::programs::bugs::MACHINERY;

use super::RepoContext;
use super::modules::{self, Modules, module_name};
use super::paths::{is_loaded_by_itself, is_test, test_dir};
use super::source_queries::{QueryResults, SourceReader};
use crate::runner::{Runner, configure_job, decode_call, early_end, string_list};

/// Passes over the repository that collect [`OwnNames::reaching`].
const PASSES: usize = 3;
/// The maximum size of a patch's text in bytes.
pub(crate) const MAX_PATCH_BYTES: usize = 1 << 20;
/// The maximum growth of a Python file in bytes.
const MAX_GROWTH_BYTES: usize = 128 << 10;
/// The maximum number of changed Python files.
pub(super) const MAX_CHANGED_FILES: usize = 50;
/// Upper bounds of a scan's limits.
const SCAN_FUEL: u64 = 30_000_000_000;
const SCAN_MEMORY_BYTES: u64 = 1 << 30;
/// Limits of the scan of a program that belongs to no repository.
const PROGRAM_SCAN_LIMITS: Limits = Limits::large();
/// Seeds that scan, which draws nothing.
const PROGRAM_SCAN_SEED: u64 = 0;

/// The names that a repository's code defines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnNames {
    /// Attributes that its classes define or that it stores in objects.
    pub attributes: BTreeSet<String>,
    /// Names that its modules define.
    pub globals: BTreeSet<String>,
    /// Its classes.
    pub classes: BTreeSet<String>,
    /// Names of what it imports from elsewhere.
    pub imported: BTreeSet<String>,
    /// Functions, classes and variables whose code accesses or runs something by a name in a string, or reaches into the interpreter. A
    /// repair may not add calls of them.
    pub reaching: BTreeSet<String>,
}

impl OwnNames {
    /// Collects the names. A file that is not valid Python has none.
    pub(crate) fn collect(execute: &dyn Execute, repo: &RepoContext<'_>) -> Result<Self, Dropped> {
        let modules = string_list(&modules_of(repo, repo.texts).code);
        let code = || repo.texts.iter().filter(|(path, _)| is_code(repo, path));
        let mut names = Self::default();
        // Code that uses a reaching name reaches too, which the next pass finds.
        for _ in 0..PASSES {
            let reaching = string_list(&names.reaching);
            let arguments = code().map(|(path, text)| {
                vec![module_argument(repo, path), source_bytes(text), modules.clone(), reaching.clone()]
            });
            let reader = SourceReader::of_repo(execute, repo);
            names.add(reader.ask_all(MACHINERY, "definitions", arguments.collect())?);
            if string_list(&names.reaching) == reaching {
                break;
            }
        }
        // A name that one file defines and another one imports from elsewhere is ambiguous.
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

/// Why the scan refuses changed code.
#[derive(Debug)]
pub(crate) struct ScanFinding {
    /// The violated rule: `machinery`, `too_large`, or `scan` where the scan itself did not complete.
    pub(crate) rule: &'static str,
    /// The file, and the use in it.
    pub(crate) why: String,
}

impl ScanFinding {
    fn new(rule: &'static str, why: String) -> Self {
        Self { rule, why }
    }
}

/// Scans the changed Python files of `now` and returns the first finding. `strict` is for injected bugs; `buggy` is the state that a repair
/// starts from. Adds the cost of the scan to `evidence`.
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
    if let Some(why) = exceeded_bound(repo, &changed) {
        return Ok(Some(ScanFinding::new("too_large", why)));
    }
    let modules = modules_of(repo, now);
    let starred = words_beside_star_imports(repo);
    let arguments = changed.iter().map(|(path, text)| {
        let before = repo.texts.get(*path).map_or("", String::as_str);
        let buggy = buggy.get(*path).map_or("", String::as_str);
        let names = names_argument(&repo.map.names, &modules, &starred, text);
        vec![
            module_argument(repo, path),
            source_bytes(before),
            source_bytes(buggy),
            source_bytes(text),
            Value::Bool(strict),
            names,
        ]
    });
    let limits = Limits {
        fuel: repo.limits.fuel.min(SCAN_FUEL),
        memory_bytes: repo.limits.memory_bytes.min(SCAN_MEMORY_BYTES),
        ..repo.limits
    };
    let reader = SourceReader { limits, ..SourceReader::of_repo(execute, repo) };
    let QueryResults { answers, early_end } = reader.ask(MACHINERY, "machinery", arguments.collect(), evidence)?;
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
    // The original's code completes a scan, so the patch is what ended this one.
    Ok(early_end.map(|how| {
        let path = changed.get(answers.len()).map_or("", |(path, _)| path.as_str());
        ScanFinding::new("scan", format!("`{path}`: the scan did not come to its end: {how}"))
    }))
}

/// Returns the first use in `program`, which belongs to no repository, that is not known to be harmless: what could lead from plain values into the
/// interpreter. The job reads the text and never runs it.
pub(crate) fn scan_program(runner: &mut Runner<'_>, image: &str, program: &str) -> Result<Option<String>, Dropped> {
    let preload = Some(Preload { program: MACHINERY.to_owned(), function: "keep".to_owned(), arguments: Vec::new() });
    let job = Job { preload, ..Job::call("from machinery import alone", "alone", [source_bytes(program)]) };
    let outcome = runner.run(&configure_job(image, PROGRAM_SCAN_LIMITS, PROGRAM_SCAN_SEED, job))?;
    let Some(call) = outcome.calls.first() else {
        let how = early_end(&outcome).unwrap_or_else(|| format!("{:?}", outcome.exit));
        return Ok(Some(format!("the scan did not come to its end: {how}")));
    };
    Ok(match decode_call(call, &PROGRAM_SCAN_LIMITS) {
        Ok(found @ Value::List(_)) => texts(&found).next(),
        Ok(_) => Some("the scan gave no list of uses".to_owned()),
        Err(why) => Some(format!("the scan failed: {}", why.text())),
    })
}

/// Says which bound the changed files exceed.
fn exceeded_bound(repo: &RepoContext<'_>, changed: &[(&String, &String)]) -> Option<String> {
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

/// The names of the repository as [`MACHINERY`] takes them, without definitions that the text does not mention.
fn names_argument(names: &OwnNames, modules: &Modules, starred: &BTreeSet<String>, text: &str) -> Value {
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

/// The words of test files with a `from … import *`, where a new name of a module may shadow any of them.
fn words_beside_star_imports(repo: &RepoContext<'_>) -> BTreeSet<String> {
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

/// A source as an import reads it: bytes.
fn source_bytes(text: &str) -> Value {
    Value::Bytes(text.as_bytes().to_vec())
}

/// The name of a file's module, and whether it is a package.
fn module_argument(repo: &RepoContext<'_>, path: &str) -> Value {
    let (name, is_package) = module_name(path, &repo.baseline.roots).unwrap_or_default();
    Value::Tuple(vec![Value::str(name), Value::Bool(is_package)])
}

fn is_code(repo: &RepoContext<'_>, path: &str) -> bool {
    path.ends_with(".py") && !is_test(repo, path) && !is_loaded_by_itself(path)
}

fn modules_of(repo: &RepoContext<'_>, texts: &TextFiles) -> Modules {
    let paths: BTreeSet<&str> =
        texts.keys().chain(repo.texts.keys()).chain(repo.binaries).map(String::as_str).collect();
    Modules::index(paths.into_iter(), &repo.baseline.roots, |path| is_test(repo, path))
}

/// Which modules and files go to which instance when a repository's package and its tests run in two.
#[derive(Debug, Clone)]
pub(crate) struct SplitLayout {
    /// The top-level modules of the package.
    pub(crate) own: Vec<String>,
    /// The files and directories of the tests.
    pub(crate) tests: Vec<String>,
}

impl SplitLayout {
    pub(crate) fn from_repo(repo: &RepoContext<'_>) -> Self {
        let test_files: Vec<String> = repo.baseline.files.iter().map(|file| file.path.clone()).collect();
        // A file that is not UTF-8 is one of the package's or of the tests' as others are.
        let paths = || repo.texts.keys().chain(repo.binaries).map(String::as_str);
        let own = modules::own_modules(paths(), &repo.baseline.roots, &test_files);
        let tests = paths().filter(|path| is_test(repo, path) || path.ends_with("conftest.py"));
        let tests: BTreeSet<String> = tests.map(|path| test_dir(path).unwrap_or(path).to_owned()).collect();
        Self { own, tests: tests.into_iter().collect() }
    }
}
