//! Names of files inside a tree: what a patch may touch and a layer may hold.
//!
//! Whoever holds a path that [`check_path`] has passed may join it to a directory: it leads nowhere else.

use thiserror::Error;

/// Bytes of a path at most.
const MAX_PATH_BYTES: usize = 4096;
/// Bytes of one component at most.
const MAX_COMPONENT_BYTES: usize = 255;
/// Components at most.
const MAX_COMPONENTS: usize = 64;

/// Why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PathError {
    /// Nothing at all.
    #[error("the path is empty")]
    Empty,
    /// Longer than any file system takes.
    #[error("path `{0}…` is too long or too deep")]
    TooLong(String),
    /// It starts at the root.
    #[error("path `{0}` is absolute; name it from the root of the tree")]
    Absolute(String),
    /// `..`, `.`, or two slashes in a row.
    #[error("path `{path}` has the component `{component}`; write it plainly")]
    Component {
        /// The whole path.
        path: String,
        /// What is no name.
        component: String,
    },
    /// A control character, a backslash or a double quote: what programs read in different ways.
    #[error("path {path:?} holds the character {found:?}")]
    Character {
        /// The whole path.
        path: String,
        /// The character.
        found: char,
    },
    /// A repository's own records.
    #[error("path `{0}` leads into `.git`; a tree here has no history")]
    Git(String),
}

/// Whether `path` names a file of a tree: relative, plain components, nothing that leads out or means two things.
///
/// # Errors
/// The first rule it breaks.
pub fn check_path(path: &str) -> Result<(), PathError> {
    if path.is_empty() {
        return Err(PathError::Empty);
    }
    if path.len() > MAX_PATH_BYTES || path.split('/').count() > MAX_COMPONENTS {
        return Err(PathError::TooLong(path.chars().take(60).collect()));
    }
    if let Some(found) = path.chars().find(|found| found.is_control() || matches!(found, '\\' | '"')) {
        return Err(PathError::Character { path: path.to_owned(), found });
    }
    if path.starts_with('/') {
        return Err(PathError::Absolute(path.to_owned()));
    }
    path.split('/').try_for_each(|component| check_component(path, component))
}

fn check_component(path: &str, component: &str) -> Result<(), PathError> {
    if matches!(component, "" | "." | "..") {
        return Err(PathError::Component { path: path.to_owned(), component: component.to_owned() });
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
