//! The Python code of files, folders and packages, and the functions and classes in it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::read_whole_text;
use veriplay_core::TextFiles;
use veriplay_corpus::builtin_repository;

use super::StoredRepository;

/// The texts of a `.py` file, of a folder of them ([`read_folder`]), or of a package ([`read_package`]).
pub fn read_code(name: &str) -> Result<Vec<String>, Failure> {
    let path = Path::new(name);
    if path.is_file() {
        return Ok(vec![read_file(path)?]);
    }
    // A directory that `add-repo` wrote is a package.
    if path.is_dir() && !path.join("layer.json").exists() { read_folder(path) } else { read_package(name) }
}

/// The texts of every `.py` file in a folder and below, in the order of their paths.
pub fn read_folder(folder: &Path) -> Result<Vec<String>, Failure> {
    read_files(folder, &|name| name.ends_with(".py"))
}

/// The texts of every file of such a name in a folder and below, in the order of their paths.
pub fn read_files(folder: &Path, has_code: &dyn Fn(&str) -> bool) -> Result<Vec<String>, Failure> {
    let mut files = Vec::new();
    find_files(folder, has_code, &mut files)?;
    files.sort();
    files.iter().map(|file| read_file(file)).collect()
}

/// The texts of the code of a package that are no tests, in the order of their paths. It is named as for [`StoredRepository::open`]; the tests of a
/// built-in one are not run.
pub fn read_package(name: &str) -> Result<Vec<String>, Failure> {
    let texts: TextFiles = match builtin_repository(name) {
        Some(files) => {
            let text = |(path, bytes)| Some((path, String::from_utf8(bytes).ok()?));
            files.into_iter().filter_map(text).collect()
        }
        None => StoredRepository::open(name)?.package.texts(),
    };
    Ok(texts.into_iter().filter(|(path, _)| is_code(path)).map(|(_, text)| text).collect())
}

fn read_file(file: &Path) -> Result<String, Failure> {
    read_whole_text(file)
        .with_context(|| format!("cannot read the code of `{}`", file.display()))
        .or_fail(ExitCode::Input)
}

/// Whether a file of a package holds code that is no test.
fn is_code(path: &str) -> bool {
    path.ends_with(".py") && !path.split('/').any(|part| part.starts_with("test") || part == "conftest.py")
}

fn find_files(folder: &Path, has_code: &dyn Fn(&str) -> bool, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot list the folder of code `{}`", folder.display()))
        .or_fail(ExitCode::Input)?;
    for entry in entries {
        let path = entry.or_fail(ExitCode::Input)?.path();
        if path.is_dir() {
            find_files(&path, has_code, found)?;
        } else if path.file_name().and_then(|name| name.to_str()).is_some_and(has_code) {
            found.push(path);
        }
    }
    Ok(())
}

/// The functions and classes at the margin, decorators included. By lines: a text that is no Python may give anything.
pub fn definitions(text: &str) -> Vec<String> {
    let mut parts: Vec<Vec<&str>> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let at_margin = line.starts_with(|first: char| !first.is_whitespace() && first != '#' && first != ')');
        let begins = ["def ", "class ", "async def ", "@"].iter().any(|opening| line.starts_with(opening));
        let decorated = open && parts.last().is_some_and(|part| part.iter().all(|line| line.starts_with('@')));
        if begins && !decorated {
            parts.push(Vec::new());
        }
        open = if at_margin { begins } else { open };
        if let Some(part) = parts.last_mut().filter(|_| open) {
            part.push(line);
        }
    }
    parts.into_iter().map(|part| part.join("\n").trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_classes_at_the_margin_are_definitions() {
        let text = "import os\n\n@cache\n@other\ndef one(x):\n    return x\n\n# a remark\nLIMIT = 3\n    \nclass Two:\n    def three(self):\n        pass\n\n\nasync def four():\n    pass\nprint(1)\n";
        let found = definitions(text);
        assert_eq!(
            found,
            [
                "@cache\n@other\ndef one(x):\n    return x\n\n# a remark",
                "class Two:\n    def three(self):\n        pass",
                "async def four():\n    pass"
            ]
        );
        assert_eq!(definitions("x = 1\n"), Vec::<String>::new());
    }

    #[test]
    fn the_code_of_a_package_is_read_and_its_tests_are_not() {
        for path in ["toolz/curried/__init__.py", "src/attr/_make.py", "contest.py"] {
            assert!(is_code(path), "{path}");
        }
        for path in ["toolz/tests/helpers.py", "test_one.py", "tests/a.py", "src/conftest.py", "README.md"] {
            assert!(!is_code(path), "{path}");
        }
        let texts = read_code("builtin:tiny_repositories/train").expect("it is built in");
        assert!(texts.len() > 200 && texts.iter().all(|text| !text.contains("assert")), "{}", texts.len());
    }
}
