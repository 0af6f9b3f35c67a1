//! Paths of files inside a tree, for patches and layers.
//!
//! A path that [`check_path`] has accepted can be joined to a directory and stays inside it.

use thiserror::Error;

/// The most bytes of a path.
const MAX_PATH_BYTES: usize = 4096;
/// The most bytes of one component.
const MAX_COMPONENT_BYTES: usize = 255;
/// The most components of a path.
const MAX_COMPONENTS: usize = 64;

/// Why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PathError {
    /// The path is empty.
    #[error("the path is empty")]
    Empty,
    /// It is longer or deeper than file systems allow.
    #[error("path `{0}…` is too long or too deep")]
    TooLong(String),
    /// It starts at the root.
    #[error("path `{0}` is absolute; name it from the root of the tree")]
    Absolute(String),
    /// `..`, `.`, or two slashes in a row.
    #[error("path `{0}` has the component `{1}`; write it plainly")]
    Component(String, String),
    /// A control character, a backslash or a double quote, which programs read in different ways.
    #[error("path {0:?} holds the character {1:?}")]
    Character(String, char),
    /// It leads into `.git`.
    #[error("path `{0}` leads into `.git`; a tree here has no history")]
    Git(String),
}

/// Whether `path` can name a file of a job's working directory. What other programs make of it is no matter there, so less is refused than by
/// [`check_path`].
pub fn is_plain_relative(path: &str) -> bool {
    let plain = |part: &str| !matches!(part, "" | "." | "..") && part.len() <= MAX_COMPONENT_BYTES;
    path.len() <= MAX_PATH_BYTES
        && !path.contains('\0')
        && path.split('/').all(plain)
        && path.split('/').count() <= MAX_COMPONENTS
}

/// Checks that `path` names a file inside a tree: it is relative, has plain components, and means the same to every program. The error is the
/// first rule that it breaks.
pub fn check_path(path: &str) -> Result<(), PathError> {
    if path.is_empty() {
        return Err(PathError::Empty);
    }
    if path.len() > MAX_PATH_BYTES || path.split('/').count() > MAX_COMPONENTS {
        return Err(PathError::TooLong(path.chars().take(60).collect()));
    }
    if let Some(found) = path.chars().find(|found| found.is_control() || matches!(found, '\\' | '"')) {
        return Err(PathError::Character(path.to_owned(), found));
    }
    if path.starts_with('/') {
        return Err(PathError::Absolute(path.to_owned()));
    }
    path.split('/').try_for_each(|component| check_component(path, component))
}

fn check_component(path: &str, component: &str) -> Result<(), PathError> {
    if matches!(component, "" | "." | "..") {
        return Err(PathError::Component(path.to_owned(), component.to_owned()));
    }
    if component.len() > MAX_COMPONENT_BYTES {
        return Err(PathError::TooLong(path.chars().take(60).collect()));
    }
    // Some file systems fold case and drop trailing dots and spaces: the same directory there.
    if component.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git") {
        return Err(PathError::Git(path.to_owned()));
    }
    Ok(())
}
