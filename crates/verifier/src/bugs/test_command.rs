//! The test command of an injector: which tests a bug is about, as a command line of pytest.
//!
//! In SSR the injector finds out how the tests of a repository are run, and writes a script and a parser. Here it writes one line, and
//! nothing runs that: it is parsed, and what it selects runs in the sandbox as every other test does, with results from records. The
//! options are those that select tests. Others could load code, change results or write files.

use serde::{Deserialize, Serialize};
use veriplay_core::check_path;

use super::RepoContext;
use super::test_runner::file_of;
use crate::repository::TestResult;

/// Options that only change what is printed.
const OUTPUT_OPTIONS: [&str; 4] = ["-q", "--quiet", "-v", "--verbose"];
/// The most bytes of a command.
const MAX_BYTES: usize = 4096;

/// A command line `pytest PATH… [--deselect ID]… [--ignore PATH]…`. It is serialized as its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TestCommand {
    text: String,
    /// Files, directories and ids of tests; `.` is everything.
    selected: Vec<String>,
    /// Beginnings of ids.
    deselected: Vec<String>,
    /// Files and directories.
    ignored: Vec<String>,
}

impl TestCommand {
    /// Parses a command line. Words are separated by white space; there is no quoting.
    ///
    /// # Errors
    /// Why it is no such command, for people and for the next prompt.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > MAX_BYTES {
            return Err(format!("a test command has at most {MAX_BYTES} bytes"));
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = match words.as_slice() {
            ["pytest", rest @ ..] | ["python", "-m", "pytest", rest @ ..] => rest,
            _ => return Err("a test command begins with `pytest`".to_owned()),
        };
        let (selected, deselected, ignored) = (Vec::new(), Vec::new(), Vec::new());
        let mut command = Self { text: text.to_owned(), selected, deselected, ignored };
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            command.add_word(word, &mut words)?;
        }
        if command.selected.is_empty() {
            return Err("a test command names the tests to run: files, directories or ids, or `.` for all".to_owned());
        }
        Ok(command)
    }

    /// Adds a word, and the next of `rest` where it is an option with a value.
    fn add_word<'a>(&mut self, word: &'a str, rest: &mut impl Iterator<Item = &'a str>) -> Result<(), String> {
        if OUTPUT_OPTIONS.contains(&word) {
            return Ok(());
        }
        if !word.starts_with('-') {
            self.selected.push(test_path(word)?);
            return Ok(());
        }
        let (option, value) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
        let list = match option {
            "--deselect" => &mut self.deselected,
            "--ignore" => &mut self.ignored,
            _ => return Err(format!("`{option}` is no option here; `--deselect ID` and `--ignore PATH` are")),
        };
        let value = value.or_else(|| rest.next()).ok_or_else(|| format!("`{option}` has no value"))?;
        list.push(test_path(value)?);
        Ok(())
    }

    /// Whether it runs the test `id`.
    #[must_use]
    pub fn selects(&self, id: &str) -> bool {
        let is_chosen = self.selected.iter().any(|name| is_named(name, id));
        is_chosen && self.runs_file(file_of(id)) && !self.deselected.iter().any(|start| id.starts_with(start.as_str()))
    }

    /// Whether it runs any test of a file, as far as names of files say.
    fn runs_file(&self, file: &str) -> bool {
        let is_chosen = self.selected.iter().any(|name| is_named(name, file) || file_of(name) == file);
        is_chosen && !self.ignored.iter().any(|name| is_named(name, file))
    }

    /// Why it is no command of a repository: every name selects tests that are known to pass, or a file that skips itself, and nothing that
    /// it selects fails.
    pub(crate) fn invalid_selection(&self, repo: &RepoContext<'_>) -> Option<String> {
        let is_known = |name: &&String| {
            let mut skipped = repo.baseline.files.iter().filter(|file| file.skips_itself());
            repo.map.tests().any(|id| is_named(name, id)) || skipped.any(|file| is_named(name, &file.path))
        };
        if let Some(name) = self.selected.iter().find(|name| !is_known(name)) {
            return Some(format!("`{name}` of the test command is no test that passes in the original"));
        }
        let mut files = repo.baseline.files.iter().filter(|file| self.runs_file(&file.path));
        files.find_map(|file| {
            let is_wrong = |result: TestResult| !matches!(result, TestResult::Skipped | TestResult::Xfailed);
            let wrong = file.unsupported.iter().find(|test| is_wrong(test.result) && self.selects(&test.id));
            match (&file.broken, wrong) {
                (Some(_), _) if !file.skips_itself() => {
                    Some(format!("the test command runs `{}`, which cannot be run in the original", file.path))
                }
                (_, Some(test)) => {
                    Some(format!("the test command runs `{}`, which does not pass in the original", test.id))
                }
                (_, None) => None,
            }
        })
    }
}

impl TryFrom<String> for TestCommand {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<TestCommand> for String {
    fn from(command: TestCommand) -> Self {
        command.text
    }
}

/// Whether `name` is the test or file `id`, or holds it: a function its cases, a class or file its tests, a directory its files. A case, whose
/// parameters may have any text, holds nothing.
fn is_named(name: &str, id: &str) -> bool {
    let below = match name.split_once("::") {
        None => "/",
        Some((_, test)) if test.contains('[') => return name == id,
        Some(_) => "[",
    };
    let is_held = |rest: &str| rest.is_empty() || rest.starts_with("::") || rest.starts_with(below);
    name == "." || id.strip_prefix(name).is_some_and(is_held)
}

/// A file, a directory or an id, as ids begin: without `./` and a last slash.
fn test_path(word: &str) -> Result<String, String> {
    if matches!(word, "." | "./") {
        return Ok(".".to_owned());
    }
    let name = word.strip_prefix("./").unwrap_or(word).trim_end_matches('/');
    check_path(file_of(name)).map_err(|error| error.to_string())?;
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::TestCommand;

    #[test]
    fn a_command_selects_by_files_directories_and_ids() {
        let ids = [
            "tests/test_a.py::test_x",
            "tests/test_a.py::T::test_y[1]",
            "tests/deep/test_b.py::test_z",
            "test_c.py::test_x",
            "test_d.py::test_w[a/b]",
            "test_d.py::test_w[a]",
        ];
        for (command, selected) in [
            ("pytest .", "012345"),
            ("pytest -q tests", "012"),
            ("python -m pytest ./tests/ --verbose", "012"),
            ("pytest tests/test_a.py", "01"),
            ("pytest tests/test_a", ""),
            ("pytest tests/test_a.py::T", "1"),
            ("pytest tests/test_a.py::T::test_y test_c.py", "13"),
            ("pytest tests/test_a.py::T::test_y[1]", "1"),
            ("pytest tests/test_a.py::T::test_", ""),
            ("pytest test_d.py::test_w", "45"),
            ("pytest test_d.py::test_w[a/b]", "4"),
            ("pytest test_d.py::test_w[a", ""),
            ("pytest test_d.py::test_w[a/", ""),
            ("pytest test_d.py::test_", ""),
            ("pytest . --ignore tests/deep --deselect=test_c.py::test_x", "0145"),
            ("pytest --ignore=tests/test_a.py . --deselect tests/deep/test_b.py::test_", "345"),
        ] {
            let parsed = TestCommand::parse(command).unwrap_or_else(|why| panic!("{command}: {why}"));
            let chosen: String =
                (0..ids.len()).filter(|at| parsed.selects(ids[*at])).map(|at| at.to_string()).collect();
            assert_eq!(chosen, selected, "{command}");
            assert_eq!(TestCommand::try_from(String::from(parsed.clone())), Ok(parsed), "{command}");
        }
    }

    #[test]
    fn whatever_else_a_command_line_could_do_is_refused() {
        for (command, why) in [
            ("", "begins with `pytest`"),
            ("make test", "begins with `pytest`"),
            ("python -c pytest", "begins with `pytest`"),
            ("pytest", "names the tests to run"),
            ("pytest -q", "names the tests to run"),
            ("pytest -p plugin tests", "`-p` is no option here"),
            ("pytest tests -x", "`-x` is no option here"),
            ("pytest tests --rootdir=/", "`--rootdir` is no option here"),
            ("pytest tests -c other.ini", "`-c` is no option here"),
            ("pytest tests -o addopts=x", "`-o` is no option here"),
            ("pytest tests --co", "`--co` is no option here"),
            ("pytest tests -k total", "`-k` is no option here"),
            ("pytest tests --deselect", "has no value"),
            ("pytest /work/tests", "absolute"),
            ("pytest ../tests", "component"),
            ("pytest tests --ignore ../x", "component"),
        ] {
            let error = TestCommand::parse(command).expect_err(command);
            assert!(error.contains(why), "{command}: {error}");
        }
        assert!(TestCommand::parse(&format!("pytest {}", "a/".repeat(4096))).is_err());
    }
}
