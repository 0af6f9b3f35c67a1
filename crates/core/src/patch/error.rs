//! Errors of patches: the line of the text, or the file and hunk, and what is wrong there.

use std::fmt;

use thiserror::Error;

use crate::path::PathError;

/// A patch that was refused. Nothing of it was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchError {
    /// The line of the patch's text, from 1, at which parsing failed.
    pub line: Option<usize>,
    /// The file.
    pub file: Option<String>,
    /// The hunk of that file, from 1.
    pub hunk: Option<usize>,
    /// What is wrong.
    pub problem: PatchProblem,
}

/// What is wrong with a patch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatchProblem {
    /// It has more bytes, files or lines than allowed.
    #[error("it is larger than the {allowed} {what} a patch may have")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        allowed: usize,
    },
    /// A file's path is invalid.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A file name lacks its prefix.
    #[error("file name `{found}` does not start with `{wanted}`")]
    Prefix {
        /// The name.
        found: String,
        /// `a/` or `b/`.
        wanted: &'static str,
    },
    /// A file has two names, and neither is `/dev/null`.
    #[error("the names `{0}` and `{1}` differ, and renames are not taken; delete one file and create the other")]
    Renamed(String, String),
    /// It changes a mode, copies a file, makes a link or is binary.
    #[error("`{0}` is not taken; a patch changes the text of plain files only")]
    Unsupported(String),
    /// A line that cannot stand there.
    #[error("`{0}` is no part of a patch; expected {1}")]
    Unexpected(String, &'static str),
    /// The text ends early.
    #[error("the patch ends; expected {0}")]
    Ended(&'static str),
    /// The same path stands twice.
    #[error("the file is named twice")]
    Twice,
    /// It has no hunks, or a hunk of only context.
    #[error("it changes nothing")]
    Nothing,
    /// A hunk's line counts differ from its header.
    #[error("the header says {old} old and {new} new lines, and the hunk has {found_old} and {found_new}")]
    Counts {
        /// Number of old lines by the header.
        old: usize,
        /// Number of new lines by the header.
        new: usize,
        /// Number of old lines in the hunk.
        found_old: usize,
        /// Number of new lines in the hunk.
        found_new: usize,
    },
    /// A hunk starts inside or above the previous one.
    #[error("it starts after old line {at}, and the hunk before it ends after line {end}")]
    Order {
        /// Number of old lines before the hunk.
        at: usize,
        /// Number of old lines before the end of the previous hunk.
        end: usize,
    },
    /// A hunk's new start does not follow from the hunks above it.
    #[error("it starts at new line {found}, and by the hunks before it that is {expected}")]
    NewStart {
        /// The start by the header.
        found: usize,
        /// The start that follows from the hunks above.
        expected: usize,
    },
    /// `\ No newline at end of file` stands before the end of the file.
    #[error("a line without newline that is not the last one of the file")]
    NoNewline,
    /// `\ No newline at end of file` follows a line without text.
    #[error("an empty line without newline is no line of a file; leave it out")]
    NoLine,
    /// A created file has old lines, or a deleted one has new lines.
    #[error("a file that is created has no old lines, and one that is deleted no new ones")]
    OneSided,
    /// The file to change does not exist.
    #[error("there is no such file")]
    Missing,
    /// The file to create exists, or clashes with a directory or a file above it.
    #[error("`{0}` is there already")]
    Exists(String),
    /// The file's lines differ from the hunk's.
    #[error("line {line} of the file is {found}, and the hunk expects {expected:?}")]
    Context {
        /// Line of the file, from 1.
        line: usize,
        /// The line by the hunk.
        expected: String,
        /// The line in the file.
        found: FoundLine,
    },
    /// With fuzz: the hunk fits nowhere within the bounds.
    #[error("its lines are nowhere within {offset} lines of line {line}, with {context} lines of context dropped")]
    NoPlace {
        /// Its expected line, from 1.
        line: usize,
        /// Bound of the search.
        offset: usize,
        /// Lines of context that need not match.
        context: usize,
    },
    /// Lines of a deleted file are left.
    #[error("the file is deleted, and {0} of its lines are not removed")]
    Left(usize),
}

/// The line that a file has in place of the expected one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundLine {
    /// Another line.
    Other(String),
    /// The same text, but with a newline where the hunk has none, or without one.
    OtherEnding,
    /// No line: the file ends before.
    End,
}

impl fmt::Display for FoundLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FoundLine::Other(text) => write!(f, "{text:?}"),
            FoundLine::OtherEnding => f.write_str("the same but for the newline at its end"),
            FoundLine::End => f.write_str("beyond the end"),
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

    pub(super) fn in_file(self, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    pub(super) fn in_hunk(self, hunk: usize) -> Self {
        Self { hunk: Some(hunk), ..self }
    }
}

/// The start of a line, for an error.
pub(super) fn quote_line(text: &str) -> String {
    text.chars().take(80).collect()
}
