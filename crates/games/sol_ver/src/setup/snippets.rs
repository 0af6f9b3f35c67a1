//! The pool of code that proposers start from: generated programs, functions and classes of Python files, or whole files in another language.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_core::Language;
use veriplay_corpus::{Grammar, ProgramStream, Split};
use veriplay_repository::{definitions, read_files, read_folder, read_package};

use veriplay_run::named_files::NamedFile;
use veriplay_verifier::languages::is_python;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum SnippetSource {
    /// The tiny generator.
    Generator {
        /// The mix of families, as the grammar names it.
        mix: String,
        /// How many, all different.
        count: usize,
        /// Seeds them: the same for every run.
        seed: u64,
    },
    /// Every function and class at the margin of every `.py` file in a folder and below. In C++ every `.cpp`, `.cc` and `.cxx` file as it is.
    Folder {
        /// The folder.
        path: PathBuf,
        /// Minimum characters of a snippet.
        min_chars: usize,
        /// Maximum characters of a snippet.
        max_chars: usize,
    },
    /// The same of packages that `veriplay corpus add-repo` has fetched, without their tests.
    Packages {
        /// `NAME==VERSION`, or directories, as for `repositories.training` of `bug_repair`.
        names: Vec<String>,
        /// Minimum characters of a snippet.
        min_chars: usize,
        /// Maximum characters of a snippet.
        max_chars: usize,
    },
}

impl SnippetSource {
    /// The value of its key `from`.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Generator { .. } => "generator",
            Self::Folder { .. } => "folder",
            Self::Packages { .. } => "packages",
        }
    }

    /// What it names that is not part of the program.
    pub(super) fn named_files(&self) -> Result<Vec<NamedFile>, Failure> {
        match self {
            Self::Generator { .. } => Ok(Vec::new()),
            Self::Folder { path, .. } => {
                let advice = "put files of programs there, or name another folder".to_owned();
                Ok(vec![NamedFile::new("tasks.snippets.path", path, advice)])
            }
            Self::Packages { names, .. } => NamedFile::repositories("tasks.snippets.names", names),
        }
    }

    /// The pool, in a fixed order, no two alike.
    pub(super) fn pool(&self, language: &dyn Language) -> Result<Vec<String>, Failure> {
        match self {
            Self::Generator { mix, count, seed } => generated(mix, *count, *seed),
            Self::Folder { path, min_chars, max_chars } => in_folder(language, path, *min_chars..=*max_chars),
            Self::Packages { names, min_chars, max_chars } => in_packages(names, *min_chars, *max_chars),
        }
    }
}

fn generated(mix: &str, count: usize, seed: u64) -> Result<Vec<String>, Failure> {
    let grammar = Grammar::built_in();
    let programs = ProgramStream::new(&grammar, Split::Train, mix, seed).or_fail(ExitCode::Input)?;
    let mut seen = HashSet::new();
    // A small mix repeats itself for ever: so many draws find what there is.
    let drawn = programs.map(|generated| generated.program).take(50 * count);
    let pool: Vec<String> = drawn.filter(|program| seen.insert(program.clone())).take(count).collect();
    check_enough(pool.len(), count, "snippets").map(|()| pool)
}

fn in_folder(language: &dyn Language, folder: &Path, chars: RangeInclusive<usize>) -> Result<Vec<String>, Failure> {
    let source = folder.display().to_string();
    if is_python(language) {
        let hint =
            "`tasks.snippets.path` names a folder with `.py` files; paths are relative to where the command runs";
        return distinct_definitions(&read_folder(folder)?, chars, &source, hint);
    }
    let files = read_files(folder, &|name| language.is_label(&name.to_ascii_lowercase()))?;
    let hint = "`tasks.snippets.path` names a folder with files in `game.language`; paths are relative to where the command runs";
    distinct(files.into_iter(), "file", chars, &source, hint)
}

fn in_packages(names: &[String], min_chars: usize, max_chars: usize) -> Result<Vec<String>, Failure> {
    let texts = names.iter().map(|name| read_package(name)).collect::<Result<Vec<_>, _>>()?.concat();
    let hint = "`tasks.snippets.names` lists packages that `veriplay corpus add-repo` has fetched";
    distinct_definitions(&texts, min_chars..=max_chars, &names.join("`, `"), hint)
}

/// The definitions of these lengths, each once, in the order of the texts.
fn distinct_definitions(
    texts: &[String],
    chars: RangeInclusive<usize>,
    source: &str,
    hint: &'static str,
) -> Result<Vec<String>, Failure> {
    distinct(texts.iter().flat_map(|text| definitions(text)), "function or class", chars, source, hint)
}

/// The parts of these lengths, each once.
fn distinct(
    parts: impl Iterator<Item = String>,
    what: &str,
    chars: RangeInclusive<usize>,
    source: &str,
    hint: &'static str,
) -> Result<Vec<String>, Failure> {
    let mut seen = HashSet::new();
    let fitting = parts.filter(|part| chars.contains(&part.chars().count()));
    let pool: Vec<String> = fitting.filter(|part| seen.insert(part.clone())).collect();
    if pool.is_empty() {
        let what = format!("there is no {what} of {} to {} characters in `{source}`", chars.start(), chars.end());
        return Err(Failure::message(ExitCode::Input, what).hint(hint));
    }
    Ok(pool)
}

/// Refuses a source that gives fewer than are wanted.
pub(super) fn check_enough(found: usize, wanted: usize, what: &str) -> Result<(), Failure> {
    if found >= wanted {
        return Ok(());
    }
    let what = format!("there are only {found} of {wanted} {what}");
    Err(Failure::message(ExitCode::Input, what)
        .hint("ask for fewer in `[tasks]` and `[eval]`, or name a larger source"))
}

#[cfg(test)]
mod tests {
    use veriplay_core::CPP;
    use veriplay_verifier::languages::language_in_image;

    use super::*;

    #[test]
    fn a_package_that_is_not_fetched_is_refused() {
        let unknown = in_packages(&["no-such-package==0.0.1".to_owned()], 80, 4_000).expect_err("it is not fetched");
        assert!(unknown.to_string().contains("no-such-package"), "{unknown}");
    }

    #[test]
    fn a_folder_gives_its_snippets_in_one_order_and_an_empty_one_is_refused() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../task-corpus/environments");
        let read = |language: &dyn Language, chars| in_folder(language, &folder, chars);
        let python = language_in_image("python");
        let pool = read(python, 80..=4_000).expect("there is code");
        assert!(pool.len() > 20, "{}", pool.len());
        assert_eq!(read(python, 80..=4_000).expect("there is code"), pool);
        let refused = read(&CPP, 1..=4_000).expect_err("it has no file in C++").to_string();
        assert!(refused.contains("no file of 1 to 4000 characters"), "{refused}");
        let refused = read(python, 1 << 20..=1 << 21).expect_err("none is so long").to_string();
        assert!(refused.contains("environments") && refused.contains("hint:"), "{refused}");
    }
}
