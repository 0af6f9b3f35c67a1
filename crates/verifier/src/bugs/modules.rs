//! The modules of a repository, of its code and of its tests.

use std::collections::BTreeSet;

use super::paths::{is_loaded_by_itself, is_test_path};

/// The modules of a repository, by qualified name. Directories of modules are modules too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Modules {
    pub(crate) code: BTreeSet<String>,
    /// Modules of its tests, and those that pytest or the interpreter loads by itself.
    pub(crate) tests: BTreeSet<String>,
}

impl Modules {
    /// Indexes the files `paths` below the directories `roots` of the search path. `is_test` selects the files that pytest gets.
    pub(crate) fn index<'a>(
        paths: impl Iterator<Item = &'a str>,
        roots: &[String],
        is_test: impl Fn(&str) -> bool,
    ) -> Self {
        let mut found = Self::default();
        for path in paths {
            let Some((name, _)) = module_name(path, roots) else { continue };
            let tests = is_test(path) || is_test_path(path) || is_loaded_by_itself(path);
            let names = if tests { &mut found.tests } else { &mut found.code };
            let above = name.match_indices('.').map(|(at, _)| name[..at].to_owned());
            names.extend(above.chain([name.clone()]));
        }
        found.tests = &found.tests - &found.code;
        found
    }

    /// The top-level modules of its code.
    pub(crate) fn top_level(&self) -> BTreeSet<String> {
        self.code.iter().filter(|name| !name.contains('.')).cloned().collect()
    }
}

/// The module name of a file, relative to the deepest of `roots` that contains it, and whether it is a package.
pub(crate) fn module_name(path: &str, roots: &[String]) -> Option<(String, bool)> {
    let below = |root: &String| match root.trim_end_matches('/') {
        "" => Some(path),
        root => path.strip_prefix(root)?.strip_prefix('/'),
    };
    let rest = roots.iter().filter_map(below).min_by_key(|rest| rest.len())?.strip_suffix(".py")?;
    let (name, is_package) = match rest.strip_suffix("/__init__") {
        Some(package) => (package, true),
        None => (rest, false),
    };
    (!name.is_empty()).then(|| (name.replace('/', "."), is_package))
}

/// The top-level modules of a repository's code, which are imported from its layer only. `test_files` are the files that pytest gets.
#[must_use]
pub fn own_modules<'a>(
    paths: impl IntoIterator<Item = &'a str>,
    roots: &[String],
    test_files: &[String],
) -> Vec<String> {
    let is_test = |path: &str| test_files.iter().any(|file| file == path);
    Modules::index(paths.into_iter(), roots, is_test).top_level().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{Modules, module_name, own_modules};

    fn roots(roots: &[&str]) -> Vec<String> {
        roots.iter().map(|root| (*root).to_owned()).collect()
    }

    #[test]
    fn a_module_is_named_from_the_deepest_root() {
        let roots = roots(&["src", ""]);
        assert_eq!(module_name("src/a/b.py", &roots), Some(("a.b".to_owned(), false)));
        assert_eq!(module_name("a/__init__.py", &roots), Some(("a".to_owned(), true)));
        assert_eq!(module_name("README.md", &roots), None);
        assert_eq!(module_name("__init__.py", &roots), Some(("__init__".to_owned(), false)));
    }

    #[test]
    fn tests_are_no_modules_of_the_code() {
        let files = [
            "one.py", "test_one.py", "setup.py", "conftest.py", "checks.py", "two/a.py", "two/tests/b.py", "tests/c.py",
        ];
        let own = own_modules(files, &roots(&[""]), &["checks.py".to_owned()]);
        assert_eq!(own, ["one", "two"]);
        let modules = Modules::index(files.into_iter(), &roots(&[""]), |_| false);
        assert!(modules.tests.contains("two.tests") && modules.code.contains("two"));
        assert!(!modules.tests.contains("two") && modules.tests.contains("test_one"));
    }
}
