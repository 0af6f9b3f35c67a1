//! Where a source distribution has its package and its tests.

/// Directories whose files are no tests of the package, whatever their names.
const NO_TESTS: [&str; 6] = ["docs", "doc", "build", "dist", "examples", "node_modules"];

/// What is imported from where, and what is tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Directories of the search path, relative to the root, which is "".
    pub roots: Vec<String>,
    /// Files that pytest is given, in order.
    pub test_files: Vec<String>,
}

impl Layout {
    /// Looks at the names of the files alone.
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let paths: Vec<&str> = paths.into_iter().collect();
        let in_src = paths.iter().any(|path| path.starts_with("src/") && path.ends_with(".py"));
        let roots = if in_src { vec!["src".to_owned(), String::new()] } else { vec![String::new()] };
        let mut test_files: Vec<String> =
            paths.iter().filter(|path| is_test(path)).map(|path| (*path).to_owned()).collect();
        test_files.sort();
        Self { roots, test_files }
    }
}

/// pytest's own patterns, `test_*.py` and `*_test.py`, and the plain names.
fn is_test(path: &str) -> bool {
    let (dirs, name) = path.rsplit_once('/').unwrap_or(("", path));
    let Some(stem) = name.strip_suffix(".py") else { return false };
    let named = stem.starts_with("test_") || stem.ends_with("_test") || matches!(stem, "tests" | "test");
    named && !dirs.split('/').any(|dir| NO_TESTS.contains(&dir) || dir.starts_with('.'))
}
