//! Where a source distribution has its package and its tests.

use std::collections::BTreeSet;

use super::pattern::matches;

/// Directories whose files are no tests of the package, whatever their names, unless its configuration names them.
const NO_TESTS: [&str; 7] = ["docs", "doc", "build", "dist", "examples", "examplefiles", "node_modules"];

/// What is imported from where, and what is tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Directories of the search path, relative to the root, which is "".
    pub roots: Vec<String>,
    /// Files that pytest is given, in order.
    pub test_files: Vec<String>,
    /// Where `test_paths` and `file_patterns` find no test, so that the whole tree was looked at by pytest's own names.
    pub ignored_selection: bool,
}

/// What a package's configuration says of its tests. Empty lists leave pytest's default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// Directories and files, with `*` as in a shell.
    pub test_paths: &'a [String],
    /// Patterns of file names.
    pub file_patterns: &'a [String],
    /// More directories of the search path.
    pub python_path: &'a [String],
}

impl Layout {
    /// Looks at the names of the files alone.
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        Self::selected(paths, Selection::default())
    }

    /// As [`Self::of`], with what the package's configuration says. A configuration that names no test at all is one for
    /// files that were not distributed, and is left aside.
    pub fn selected<'a>(paths: impl IntoIterator<Item = &'a str>, selection: Selection<'_>) -> Self {
        let paths: BTreeSet<&str> = paths.into_iter().collect();
        let found = |selection: Selection<'_>| -> Vec<String> {
            paths.iter().filter(|path| is_selected(path, selection)).map(|path| (*path).to_owned()).collect()
        };
        let (named, roots) = (found(selection), roots(&paths, selection.python_path));
        if !named.is_empty() {
            return Self { roots, test_files: named, ignored_selection: false };
        }
        let test_files = found(Selection::default());
        Self { roots, ignored_selection: !test_files.is_empty(), test_files }
    }

    /// The shape in words, for a table.
    #[must_use]
    pub fn shape(&self) -> String {
        let package = match self.roots.first() {
            Some(root) if !root.is_empty() => root.as_str(),
            _ => "flat",
        };
        let folders: BTreeSet<&str> = self
            .test_files
            .iter()
            .map(|path| match path.split_once('/') {
                None => "the root",
                Some((top, _)) if matches!(top, "tests" | "test" | "testing") => top,
                Some(_) => "the package",
            })
            .collect();
        format!("{package}, tests in {}", folders.into_iter().collect::<Vec<_>>().join(" and "))
    }
}

/// `src` or `lib` where the package is there, what the configuration names, and the root, which tests import their helpers from.
fn roots(paths: &BTreeSet<&str>, python_path: &[String]) -> Vec<String> {
    let has_code = |folder: &str| {
        let below = |path: &&&str| path.starts_with(folder) && path[folder.len()..].starts_with('/');
        paths.iter().filter(below).any(|path| path.ends_with(".py"))
    };
    let is_package = |folder: &str| paths.contains(format!("{folder}/__init__.py").as_str());
    let mut roots: Vec<String> = Vec::new();
    roots.extend(["src", "lib"].into_iter().filter(|dir| has_code(dir) && !is_package(dir)).map(str::to_owned));
    let named = python_path.iter().map(|path| plain(path)).filter(|path| has_code(path));
    roots.extend(named.map(str::to_owned));
    roots.push(String::new());
    let mut seen = BTreeSet::new();
    roots.retain(|root| seen.insert(root.clone()));
    roots
}

fn is_selected(path: &str, selection: Selection<'_>) -> bool {
    let (dirs, name) = path.rsplit_once('/').unwrap_or(("", path));
    if !name.ends_with(".py") || name == "conftest.py" || dirs.split('/').any(|dir| dir.starts_with('.')) {
        return false;
    }
    let named = match selection.file_patterns {
        [] => is_named_by_default(name),
        patterns => patterns.iter().any(|pattern| matches(pattern, if pattern.contains('/') { path } else { name })),
    };
    let placed = match selection.test_paths {
        [] => !dirs.split('/').any(|dir| NO_TESTS.contains(&dir)),
        places => places.iter().any(|place| is_below(path, plain(place))),
    };
    named && placed
}

/// pytest's own patterns, `test_*.py` and `*_test.py`, and the plain names.
fn is_named_by_default(name: &str) -> bool {
    let stem = name.trim_end_matches(".py");
    stem.starts_with("test_") || stem.ends_with("_test") || matches!(stem, "tests" | "test")
}

/// Whether `path`, or a directory above it, is what `place` names.
fn is_below(path: &str, place: &str) -> bool {
    let above = path.match_indices('/').map(|(at, _)| &path[..at]);
    place.is_empty() || above.chain([path]).any(|above| matches(place, above))
}

/// `./tests/` is `tests`, and `.` is the root.
fn plain(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    if path == "." { "" } else { path.trim_start_matches("./") }
}
