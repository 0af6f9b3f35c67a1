//! Which files a patch may touch. A repair and an injected bug: code that is there already, or a new module beside it. A
//! weakening: the test files it names.
//!
//! What pytest or the interpreter loads by itself is out of reach for everybody: `conftest.py`, their configuration, path
//! files, start-up modules, and new top-level modules, which could stand in for one of the library's.

use veriplay_core::{FileChange, Patch, TextFiles};

use super::RepoContext;

const LOADED_BY_NAME: [&str; 4] = ["conftest.py", "sitecustomize.py", "usercustomize.py", "__main__.py"];
const CONFIGURATION: [&str; 9] = [
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "setup.cfg",
    "setup.py",
    "pyproject.toml",
    "pyvenv.cfg",
];
const LOADED_BY_ENDING: [&str; 7] = [".pth", ".pyc", ".pyo", ".so", ".pyd", ".egg-link", ".zip"];
const TEST_DIRS: [&str; 3] = ["tests", "test", "testing"];

/// What a patch is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose<'a> {
    /// Code: a bug, or its repair.
    Code,
    /// These test files.
    Weaken(&'a [String]),
}

/// The first path that the patch may not touch so, and why.
pub(crate) fn refused(repo: &RepoContext<'_>, patch: &Patch, purpose: Purpose<'_>) -> Option<String> {
    patch.touched().find_map(|(path, change)| {
        let why = match purpose {
            Purpose::Code => refused_code(repo, path, change),
            Purpose::Weaken(files) => refused_test(path, change, files),
        };
        why.map(|why| format!("`{path}` {why}"))
    })
}

fn refused_code(repo: &RepoContext<'_>, path: &str, change: FileChange) -> Option<&'static str> {
    if is_loaded_by_itself(path) {
        return Some("is read by pytest or the interpreter without being asked for");
    }
    if is_test(repo, path) {
        return Some("belongs to the tests");
    }
    match change {
        // Without it another directory would be on the search path, or another copy of the package be found.
        FileChange::Deleted if path.ends_with("/__init__.py") => {
            Some("makes a package of its directory, and is deleted")
        }
        FileChange::Created if !may_be_new(repo, path) => Some("is new, and not a module of a package that is there"),
        _ => None,
    }
}

fn refused_test(path: &str, change: FileChange, files: &[String]) -> Option<&'static str> {
    match (is_loaded_by_itself(path), files.iter().any(|file| file == path), change) {
        (true, _, _) => Some("is read by pytest or the interpreter without being asked for"),
        (_, false, _) => Some("is not in the list of test files"),
        (_, _, FileChange::Created) => Some("is new, and weakening adds no tests"),
        _ => None,
    }
}

/// Whether tests are made of it. Whole test directories count: helpers of tests decide what tests see.
pub(crate) fn is_test(repo: &RepoContext<'_>, path: &str) -> bool {
    repo.baseline.files.iter().any(|file| file.path == path || is_beside(repo, path, &file.path)) || is_test_path(path)
}

/// Whether `path` is in the directory of a test file, or below it, which is no place of code: no package, and not searched for modules
/// by itself.
fn is_beside(repo: &RepoContext<'_>, path: &str, test: &str) -> bool {
    let Some((dir, _)) = test.rsplit_once('/') else { return false };
    let is_root = repo.baseline.roots.iter().any(|root| root.trim_end_matches('/') == dir);
    let is_package = repo.texts.contains_key(&format!("{dir}/__init__.py"));
    !is_root && !is_package && path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a file belongs to tests by where it is or what it is called.
pub(crate) fn is_test_path(path: &str) -> bool {
    let (dirs, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.strip_suffix(".py").unwrap_or_default();
    dirs.split('/').any(|dir| TEST_DIRS.contains(&dir.to_ascii_lowercase().as_str()))
        || stem.starts_with("test_")
        || stem.ends_with("_test")
}

/// The outermost directory of tests that `path` is in.
pub(crate) fn test_dir(path: &str) -> Option<&str> {
    let ends = path.match_indices('/').map(|(end, _)| &path[..end]);
    let is_named =
        |dir: &&str| TEST_DIRS.contains(&dir.rsplit('/').next().unwrap_or(dir).to_ascii_lowercase().as_str());
    ends.into_iter().find(is_named)
}

/// Whether pytest or the interpreter reads it without being asked to.
pub(crate) fn is_loaded_by_itself(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    LOADED_BY_NAME.contains(&name)
        || CONFIGURATION.contains(&name)
        || LOADED_BY_ENDING.iter().any(|ending| lower.ends_with(ending))
        || lower
            .split('/')
            .any(|part| part == "__pycache__" || part.ends_with(".dist-info") || part.ends_with(".egg-info"))
}

/// Whether a file may be where the original may have none: one of the original's own, or a module deeper in a package of
/// the original's.
fn may_be_new(repo: &RepoContext<'_>, path: &str) -> bool {
    let Some((dir, name)) = path.rsplit_once('/') else { return repo.texts.contains_key(path) };
    let is_root = repo.baseline.roots.iter().any(|root| root.trim_end_matches('/') == dir);
    let package = format!("{dir}/__init__.py");
    repo.texts.contains_key(path) || (!is_root && name.ends_with(".py") && has(repo.texts, &package))
}

fn has(files: &TextFiles, path: &str) -> bool {
    files.contains_key(path)
}
