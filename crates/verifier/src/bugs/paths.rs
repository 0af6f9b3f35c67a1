//! Decides which files a patch or a tool may touch. Repairs and bugs may change, make and delete code files; a weakening may change and
//! delete the test files that it names.
//!
//! No patch may touch what pytest or the interpreter loads by itself: `conftest.py`, configuration, path files, start-up modules, and new
//! top-level modules, which could shadow a library's. What decides is where a new module lies, not its name: a module of a package is found
//! through the package alone, so one called `pytest` or `json` there stands in for nobody's. A module lies in a package when each directory
//! down from a package of the original is new, and none is on the search path. An existing directory without `__init__.py` is not entered:
//! pytest puts such a directory of a test on the search path.
//!
//! # Invariants
//! No state has a file below another file, whichever files of the original are restored: a new path is never a directory of the original,
//! never below one of its files, and its new directories have importable names, which no `NAME.py` is. The sandbox refuses such a tree, and
//! a patch could make an attempt a host fault by it.

use veriplay_core::{FileChange, Patch, TextFiles};

use super::RepoContext;

const LOADED_BY_NAME: [&str; 4] = ["conftest.py", "sitecustomize.py", "usercustomize.py", "__main__.py"];
const CONFIGURATION: [&str; 9] = [
    "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "setup.py", "pyproject.toml",
    "pyvenv.cfg",
];
const LOADED_BY_ENDING: [&str; 7] = [".pth", ".pyc", ".pyo", ".so", ".pyd", ".egg-link", ".zip"];
const LOADED: &str = "is read by pytest or the interpreter without being asked for";
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
        return Some(LOADED);
    }
    if is_test(repo, path) {
        return Some("belongs to the tests");
    }
    match change {
        FileChange::Deleted if has(repo.texts, path) && !may_go(repo, path) => Some(
            "makes a package of its directory, which is a top-level one, or has tests or a `conftest.py`, and is deleted",
        ),
        FileChange::Created if !may_be_new(repo, path) => Some("is new, and not a module of a package that is there"),
        FileChange::Created if stands_for_tests(repo, path) => {
            Some("is new, and would be imported in place of tests, or of what pytest or the interpreter loads")
        }
        _ => None,
    }
}

fn forbidden_test_change(path: &str, change: FileChange, files: &[String]) -> Option<&'static str> {
    match (is_loaded_by_itself(path), files.iter().any(|file| file == path), change) {
        (true, _, _) => Some(LOADED),
        (_, false, _) => Some("is not in the list of test files"),
        (_, _, FileChange::Created) => Some("is new, and weakening adds no tests"),
        _ => None,
    }
}

/// Why a tool may not make, change or delete the file. Test files are restored before judging, so they may be changed and deleted, but not
/// added to the original's.
pub(crate) fn forbidden_to_tools(repo: &RepoContext<'_>, path: &str, change: FileChange) -> Option<&'static str> {
    match change {
        FileChange::Created if is_test(repo, path) && !has(repo.texts, path) => {
            Some("is new, and no tests can be added")
        }
        FileChange::Modified => is_loaded_by_itself(path).then_some(LOADED),
        _ if is_test(repo, path) && !is_loaded_by_itself(path) => None,
        _ => forbidden_code_change(repo, path, change),
    }
}

/// Whether a file belongs to the tests. Whole test directories do, because helpers decide what tests see.
pub(crate) fn is_test(repo: &RepoContext<'_>, path: &str) -> bool {
    repo.baseline.files.iter().any(|file| file.path == path || is_beside(repo, path, &file.path)) || is_test_path(path)
}

/// Whether `path` is in or below the directory of a test file, where that directory is neither a package nor a root of the search path.
fn is_beside(repo: &RepoContext<'_>, path: &str, test: &str) -> bool {
    let Some((dir, _)) = test.rsplit_once('/') else { return false };
    let is_package = has(repo.texts, &format!("{dir}/__init__.py"));
    !is_root(repo, dir) && !is_package && path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
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
    let module = path.strip_suffix(".py").and_then(|module| module.rsplit_once('/'));
    let is_new_module = |(dir, name): (&str, &str)| is_importable(name) && is_in_package(repo, dir);
    has(repo.texts, path) || (!clashes(repo, path) && module.is_some_and(is_new_module))
}

/// Whether the original has a file at the path, above it or below it. It may be gone now, and is restored where a repair is judged.
fn clashes(repo: &RepoContext<'_>, path: &str) -> bool {
    let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
    is_file(repo, path) || above.any(|dir| is_file(repo, dir)) || files_below(repo, path).next().is_some()
}

/// Whether an import statement can name a module so.
fn is_importable(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(is_letter) && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

/// Whether modules of the directory are found through a package of the original alone. Directories between the two are new.
fn is_in_package(repo: &RepoContext<'_>, dir: &str) -> bool {
    let mut dir = dir;
    loop {
        if is_root(repo, dir) {
            return false;
        }
        if has(repo.texts, &format!("{dir}/__init__.py")) {
            return true;
        }
        match dir.rsplit_once('/') {
            Some((above, name)) if is_importable(name) && files_below(repo, dir).next().is_none() => dir = above,
            _ => return false,
        }
    }
}

/// Whether a new module would be imported in place of the original's tests, or of what pytest or the interpreter loads: a module before a
/// directory without `__init__.py`, and a package before a module. A new directory may not even have the name of such a module.
fn stands_for_tests(repo: &RepoContext<'_>, path: &str) -> bool {
    if has(repo.texts, path) {
        return false;
    }
    let name = path.strip_suffix(".py").unwrap_or(path);
    let mut dirs = path.match_indices('/').map(|(end, _)| &path[..end]);
    let stands_for_module = |dir: &str| {
        let module = format!("{dir}.py");
        let is_new = files_below(repo, dir).next().is_none();
        (is_new || is_file(repo, &module)) && is_kept_from_code(repo, &module)
    };
    files_below(repo, name).any(|file| is_kept_from_code(repo, file)) || dirs.any(stands_for_module)
}

/// Whether no patch of code may touch the file.
fn is_kept_from_code(repo: &RepoContext<'_>, path: &str) -> bool {
    is_loaded_by_itself(path) || is_test(repo, path)
}

/// Whether a file of the original may go. A directory may stop being a package where it is in another one, through which alone it is found,
/// and has no tests and no `conftest.py`. Of a top-level package Python could find another copy, and pytest would put another directory of its
/// tests on the search path.
fn may_go(repo: &RepoContext<'_>, path: &str) -> bool {
    let Some(dir) = path.strip_suffix("/__init__.py") else { return true };
    let is_inner = dir.rsplit_once('/').is_some_and(|(above, _)| has(repo.texts, &format!("{above}/__init__.py")));
    let has_tests = || files_below(repo, dir).any(|file| is_test(repo, file) || file.ends_with("/conftest.py"));
    is_inner && !is_root(repo, dir) && !has_tests()
}

/// Whether a directory is on the search path.
fn is_root(repo: &RepoContext<'_>, dir: &str) -> bool {
    repo.baseline.roots.iter().any(|root| root.trim_end_matches('/') == dir)
}

/// The original's files in or below a directory.
fn files_below<'a>(repo: &RepoContext<'a>, dir: &str) -> impl Iterator<Item = &'a str> {
    let start = format!("{dir}/");
    let texts = repo.texts.range(start.clone()..).map(|(path, _)| path.as_str());
    let binaries = repo.binaries.range(start.clone()..).map(String::as_str);
    let is_below = move |path: &&str| path.starts_with(&start);
    texts.take_while(is_below.clone()).chain(binaries.take_while(is_below))
}

/// Whether the original has the file, as a text or not.
fn is_file(repo: &RepoContext<'_>, path: &str) -> bool {
    has(repo.texts, path) || repo.binaries.contains(path)
}

fn has(files: &TextFiles, path: &str) -> bool {
    files.contains_key(path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use veriplay_core::{Digest, FileChange, Limits, SCHEMA_VERSION, TextFiles, Trust, is_under_any};

    use super::super::code_scan::SplitLayout;
    use super::super::{RepoContext, TestMap};
    use super::{forbidden_code_change, forbidden_to_tools};
    use crate::repository::{Baseline, FileBaseline, PytestSettings};

    /// A package with packages and plain directories inside, under the root `src`; `src/app/vendored` is on the search path too.
    const FILES: [&str; 22] = [
        "conftest.py",
        "src/app/conftest.py",
        "src/app/hooked/__init__.py",
        "src/app/hooked/conftest.py",
        "src/app/hooks/conftest.py",
        "src/app/setup/__init__.py",
        "src/app/LICENSE",
        "src/app/py.typed",
        "src/app/quoted/__init__.py",
        "src/flat.py",
        "src/app/__init__.py",
        "src/app/core.py",
        "src/app/data/names.txt",
        "src/app/inner/__init__.py",
        "src/app/inner/one.py",
        "src/app/tested/__init__.py",
        "src/app/tested/test_two.py",
        "src/app/plain/deep/__init__.py",
        "src/app/plain/deep/test_three.py",
        "src/app/checks/test_four.py",
        "src/app/vendored/lib.py",
        "tests/test_core.py",
    ];

    /// Files that are not UTF-8: of the package, a test, and what lies beside a test.
    const BINARIES: [&str; 6] = [
        "src/old.py", "src/app/Europe", "src/app/icon.png", "src/app/latin.py", "src/app/quoted/test_latin.py",
        "src/app/checks/figures.bin",
    ];

    /// Asks about the repository of these files.
    fn with_repo<T>(ask: impl FnOnce(&RepoContext<'_>) -> T) -> T {
        let (none, limits) = (Digest::of(b""), Limits::small());
        let texts: TextFiles = FILES.iter().map(|path| ((*path).to_owned(), String::new())).collect();
        let binaries: BTreeSet<String> = BINARIES.into_iter().map(str::to_owned).collect();
        let tests = FILES.iter().chain(&BINARIES).filter(|path| path.contains("/test_"));
        let baseline = Baseline {
            schema_version: SCHEMA_VERSION,
            name: String::new(),
            version: String::new(),
            package: none.clone(),
            pytest: none.clone(),
            image: none.clone(),
            limits,
            seeds: [1, 2],
            dependencies: None,
            roots: vec!["src".to_owned(), "src/app/vendored/".to_owned(), String::new()],
            settings: PytestSettings::default(),
            library: Vec::new(),
            notes: Vec::new(),
            files: tests.map(|path| FileBaseline { path: (*path).to_owned(), ..FileBaseline::default() }).collect(),
        };
        ask(&RepoContext {
            image: "",
            split_image: "",
            pytest: &none,
            texts: &texts,
            binaries: &binaries,
            baseline: &baseline,
            map: &TestMap::unmeasured(none.clone()),
            limits,
            max_jobs: 0,
            trust: Trust::Split,
        })
    }

    #[test]
    fn a_patch_and_a_tool_may_do_to_a_file_what_its_line_says() {
        for line in include_str!("paths.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let [change, patch, tool, path] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let change = if change == "made" { FileChange::Created } else { FileChange::Deleted };
            with_repo(|repo| {
                assert_eq!(forbidden_code_change(repo, path, change).is_none(), patch == "yes", "{line}");
                assert_eq!(forbidden_to_tools(repo, path, change).is_none(), tool == "yes", "{line}");
            });
        }
    }

    #[test]
    fn what_is_not_utf_8_is_one_of_the_tests_or_of_the_package_as_any_other_file() {
        let SplitLayout { own, tests } = with_repo(SplitLayout::from_repo);
        assert_eq!(own, ["app", "flat", "lib", "old"]);
        for (path, is_hidden) in [
            ("src/app/quoted/test_latin.py", true),
            ("src/app/checks/figures.bin", true),
            ("src/app/latin.py", false),
            ("src/app/icon.png", false),
        ] {
            assert_eq!(is_under_any(&tests, path), is_hidden, "{path} in {tests:?}");
        }
    }
}
