//! Why a patch is refused: where in its text, or in which file and hunk, and what is wrong there.

use std::fmt;

use thiserror::Error;

use crate::path::PathError;

/// A patch that was refused. Nothing of it was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchError {
    /// The line of the patch's text, from 1, where it was being read.
    pub line: Option<usize>,
    /// The file it is about.
    pub file: Option<String>,
    /// The hunk of that file, from 1.
    pub hunk: Option<usize>,
    /// What is wrong.
    pub problem: PatchProblem,
}

/// What is wrong with a patch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatchProblem {
    /// More bytes, files or lines than are read.
    #[error("it is larger than the {allowed} {what} a patch may have")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        allowed: usize,
    },
    /// The path of a file.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A file name without its prefix.
    #[error("file name `{found}` does not start with `{wanted}`")]
    Prefix {
        /// The name.
        found: String,
        /// `a/` or `b/`.
        wanted: &'static str,
    },
    /// Two names for one file, and neither is `/dev/null`.
    #[error("the names `{0}` and `{1}` differ, and renames are not taken; delete one file and create the other")]
    Renamed(String, String),
    /// Modes, copies, links, binary patches.
    #[error("`{0}` is not taken; a patch changes the text of plain files only")]
    Unsupported(String),
    /// Text that is no part of a patch.
    #[error("`{0}` is no part of a patch; expected {1}")]
    Unexpected(String, &'static str),
    /// The text stops early.
    #[error("the patch ends; expected {0}")]
    Ended(&'static str),
    /// The same path twice.
    #[error("the file is named twice")]
    Twice,
    /// No hunks, or a hunk of context alone.
    #[error("it changes nothing")]
    Nothing,
    /// A hunk with other counts than it says.
    #[error("the header says {old} old and {new} new lines, and the hunk has {found_old} and {found_new}")]
    Counts {
        /// Old lines by the header.
        old: usize,
        /// New lines by the header.
        new: usize,
        /// Old lines there are.
        found_old: usize,
        /// New lines there are.
        found_new: usize,
    },
    /// A hunk that starts inside or above the one before it.
    #[error("it starts after old line {at}, and the hunk before it ends after line {end}")]
    Order {
        /// Old lines before the hunk.
        at: usize,
        /// Old lines before the end of the last one.
        end: usize,
    },
    /// A hunk whose new line does not follow from what is above it.
    #[error("it starts at new line {found}, and by the hunks before it that is {expected}")]
    NewStart {
        /// As the header says.
        found: usize,
        /// As it follows.
        expected: usize,
    },
    /// `\ No newline at end of file` where no file ends.
    #[error("a line without newline that is not the last one of the file")]
    NoNewline,
    /// `\ No newline at end of file` behind a line without text.
    #[error("an empty line without newline is no line of a file; leave it out")]
    NoLine,
    /// A created file with old lines, or a deleted one with new ones.
    #[error("a file that is created has no old lines, and one that is deleted no new ones")]
    OneSided,
    /// The file to change is not there.
    #[error("there is no such file")]
    Missing,
    /// The file to create is there, or a directory of that name, or a file where a directory is needed.
    #[error("`{0}` is there already")]
    Exists(String),
    /// The file has other lines.
    #[error("line {line} of the file is {found}, and the hunk expects {expected:?}")]
    Context {
        /// Line of the file, from 1.
        line: usize,
        /// What the hunk says.
        expected: String,
        /// What is there.
        found: Found,
    },
    /// With fuzz: no place for the hunk within the bound.
    #[error("its lines are nowhere within {offset} lines of line {line}, with {context} lines of context dropped")]
    NoPlace {
        /// Where it should have been, from 1.
        line: usize,
        /// Bound of the search.
        offset: usize,
        /// Lines of context given up.
        context: usize,
    },
    /// A deleted file of which lines are left.
    #[error("the file is deleted, and {0} of its lines are not removed")]
    Left(usize),
}

/// What a file has at a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Another line.
    Line(String),
    /// The same text, with or without a newline behind it where the hunk has it the other way.
    OtherEnding,
    /// Nothing: the file ends before.
    End,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Line(text) => write!(f, "{text:?}"),
            Found::OtherEnding => f.write_str("the same but for the newline at its end"),
            Found::End => f.write_str("beyond the end"),
        }
    }
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("patch refused")?;
        if let Some(file) = &self.file {
            write!(f, ", file `{file}`")?;
        }
        if let Some(hunk) = self.hunk {
            write!(f, ", hunk {hunk}")?;
        }
        if let Some(line) = self.line {
            write!(f, ", line {line} of the patch")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for PatchError {}

impl PatchError {
    pub(super) fn new(problem: impl Into<PatchProblem>) -> Self {
        Self { line: None, file: None, hunk: None, problem: problem.into() }
    }

    pub(super) fn file(self, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    pub(super) fn hunk(self, hunk: usize) -> Self {
        Self { hunk: Some(hunk), ..self }
    }
}

/// A piece of text as an error shows it.
pub(super) fn quote_line(text: &str) -> String {
    text.chars().take(80).collect()
}
