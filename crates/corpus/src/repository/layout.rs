//! Finds the package and the tests of a source distribution.

use std::collections::BTreeSet;

/// Directories without tests of the package, unless its configuration names them.
const NO_TESTS: [&str; 7] = ["docs", "doc", "build", "dist", "examples", "examplefiles", "node_modules"];

/// The import roots and the test files of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryLayout {
    /// Directories of the search path, relative to the root, which is "".
    pub roots: Vec<String>,
    /// The files for pytest, in order.
    pub test_files: Vec<String>,
    /// Whether `test_paths` and `file_patterns` matched no test, so that the whole tree was searched by pytest's default names.
    pub ignored_selection: bool,
}

/// A package's configuration of its tests. Empty lists stand for pytest's defaults.
#[derive(Debug, Clone, Copy, Default)]
pub struct TestSelection<'a> {
    /// Directories and files, as shell patterns.
    pub test_paths: &'a [String],
    /// Patterns of file names.
    pub file_patterns: &'a [String],
    /// Additional directories of the search path.
    pub python_path: &'a [String],
}

impl RepositoryLayout {
    /// Detects the layout from the names of the files.
    pub fn detect<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        Self::detect_with(paths, TestSelection::default())
    }

    /// As [`Self::detect`], with the package's configuration. A configuration that matches no test is meant for files that were not
    /// distributed, and is ignored.
    pub fn detect_with<'a>(paths: impl IntoIterator<Item = &'a str>, selection: TestSelection<'_>) -> Self {
        let paths: BTreeSet<&str> = paths.into_iter().collect();
        let found = |selection: TestSelection<'_>| -> Vec<String> {
            paths.iter().filter(|path| is_selected(path, selection)).map(|path| (*path).to_owned()).collect()
        };
        let (named, roots) = (found(selection), roots(&paths, selection.python_path));
        if !named.is_empty() {
            return Self { roots, test_files: named, ignored_selection: false };
        }
        let test_files = found(TestSelection::default());
        Self { roots, ignored_selection: !test_files.is_empty(), test_files }
    }
}

/// The import roots: `src` or `lib` where the package is there, those of the configuration, and the root, from which tests import helpers.
fn roots(paths: &BTreeSet<&str>, python_path: &[String]) -> Vec<String> {
    let has_code = |folder: &str| {
        let below = |path: &&&str| path.starts_with(folder) && path[folder.len()..].starts_with('/');
        paths.iter().filter(below).any(|path| path.ends_with(".py"))
    };
    let is_package = |folder: &str| paths.contains(format!("{folder}/__init__.py").as_str());
    let mut roots: Vec<String> = Vec::new();
    roots.extend(["src", "lib"].into_iter().filter(|dir| has_code(dir) && !is_package(dir)).map(str::to_owned));
    let named = python_path.iter().map(|path| normalize_dir(path)).filter(|path| has_code(path));
    roots.extend(named.map(str::to_owned));
    roots.push(String::new());
    let mut seen = BTreeSet::new();
    roots.retain(|root| seen.insert(root.clone()));
    roots
}

fn is_selected(path: &str, selection: TestSelection<'_>) -> bool {
    let (dirs, name) = path.rsplit_once('/').unwrap_or(("", path));
    if !name.ends_with(".py") || name == "conftest.py" || dirs.split('/').any(|dir| dir.starts_with('.')) {
        return false;
    }
    let named = match selection.file_patterns {
        [] => is_named_by_default(name),
        patterns => {
            patterns.iter().any(|pattern| matches_pattern(pattern, if pattern.contains('/') { path } else { name }))
        }
    };
    let placed = match selection.test_paths {
        [] => !dirs.split('/').any(|dir| NO_TESTS.contains(&dir)),
        places => places.iter().any(|place| is_below(path, normalize_dir(place))),
    };
    named && placed
}

/// Whether a name matches pytest's own patterns, `test_*.py` and `*_test.py`, or is `test.py` or `tests.py`.
fn is_named_by_default(name: &str) -> bool {
    let stem = name.trim_end_matches(".py");
    stem.starts_with("test_") || stem.ends_with("_test") || matches!(stem, "tests" | "test")
}

/// Whether `path`, or a directory above it, matches `place`.
fn is_below(path: &str, place: &str) -> bool {
    let above = path.match_indices('/').map(|(at, _)| &path[..at]);
    place.is_empty() || above.chain([path]).any(|above| matches_pattern(place, above))
}

/// `./tests/` is `tests`, and `.` is the root.
fn normalize_dir(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    if path == "." { "" } else { path.trim_start_matches("./") }
}

/// Whether `pattern` matches the whole of `text`: with `*`, `?` and `[…]` as Python's `fnmatch` has them, case included. Python lets `*` match
/// `/`, so two in a row say no more than one; a pattern with a bracket that is not closed matches nothing but itself.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut single = pattern.to_owned();
    while single.contains("**") {
        single = single.replace("**", "*");
    }
    glob::Pattern::new(&single).map_or(pattern == text, |pattern| pattern.matches(text))
}
