//! Decides which files a patch may touch. Repairs and bugs may change code files and add modules beside them; a weakening may change the
//! test files that it names.
//!
//! No patch may touch what pytest or the interpreter loads by itself: `conftest.py`, configuration, path files, start-up modules, and new
//! top-level modules, which could shadow a library's.

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

/// The purpose of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchPurpose<'a> {
    /// Code: a bug, or its repair.
    Code,
    /// A weakening of these test files.
    Weaken(&'a [String]),
}

/// The first path that the patch may not touch, and why.
pub(crate) fn forbidden_change(repo: &RepoContext<'_>, patch: &Patch, purpose: PatchPurpose<'_>) -> Option<String> {
    patch.touched().find_map(|(path, change)| {
        let why = match purpose {
            PatchPurpose::Code => forbidden_code_change(repo, path, change),
            PatchPurpose::Weaken(files) => forbidden_test_change(path, change, files),
        };
        why.map(|why| format!("`{path}` {why}"))
    })
}

fn forbidden_code_change(repo: &RepoContext<'_>, path: &str, change: FileChange) -> Option<&'static str> {
    if is_loaded_by_itself(path) {
        return Some("is read by pytest or the interpreter without being asked for");
    }
    if is_test(repo, path) {
        return Some("belongs to the tests");
    }
    match change {
        // Without it Python would search another directory, or find another copy of the package.
        FileChange::Deleted if path.ends_with("/__init__.py") => {
            Some("makes a package of its directory, and is deleted")
        }
        FileChange::Created if !may_be_new(repo, path) => Some("is new, and not a module of a package that is there"),
        _ => None,
    }
}

fn forbidden_test_change(path: &str, change: FileChange, files: &[String]) -> Option<&'static str> {
    match (is_loaded_by_itself(path), files.iter().any(|file| file == path), change) {
        (true, _, _) => Some("is read by pytest or the interpreter without being asked for"),
        (_, false, _) => Some("is not in the list of test files"),
        (_, _, FileChange::Created) => Some("is new, and weakening adds no tests"),
        _ => None,
    }
}

/// Whether a file belongs to the tests. Whole test directories do, because helpers decide what tests see.
pub(crate) fn is_test(repo: &RepoContext<'_>, path: &str) -> bool {
    repo.baseline.files.iter().any(|file| file.path == path || is_beside(repo, path, &file.path)) || is_test_path(path)
}

/// Whether `path` is in or below the directory of a test file, where that directory is neither a package nor a root of the search path.
fn is_beside(repo: &RepoContext<'_>, path: &str, test: &str) -> bool {
    let Some((dir, _)) = test.rsplit_once('/') else { return false };
    let is_root = repo.baseline.roots.iter().any(|root| root.trim_end_matches('/') == dir);
    let is_package = repo.texts.contains_key(&format!("{dir}/__init__.py"));
    !is_root && !is_package && path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a file belongs to the tests by its directory or its name.
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

/// Whether pytest or the interpreter loads the file without an import.
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

/// Whether a patch may create the file: it is in the original, or a module in a package of the original.
fn may_be_new(repo: &RepoContext<'_>, path: &str) -> bool {
    let Some((dir, name)) = path.rsplit_once('/') else { return repo.texts.contains_key(path) };
    let is_root = repo.baseline.roots.iter().any(|root| root.trim_end_matches('/') == dir);
    let package = format!("{dir}/__init__.py");
    repo.texts.contains_key(path) || (!is_root && name.ends_with(".py") && has(repo.texts, &package))
}

fn has(files: &TextFiles, path: &str) -> bool {
    files.contains_key(path)
}
