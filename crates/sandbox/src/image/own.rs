//! Images of the user's own: manifests in the directory that `VERIPLAY_IMAGES` names, each of which extends a built-in image.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::ImageError;

/// The directory, where one is named.
pub(super) fn directory() -> Option<PathBuf> {
    std::env::var_os("VERIPLAY_IMAGES").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The names of the manifests in `directory`; none where it cannot be read.
pub(super) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let mut names: Vec<String> =
        paths.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).filter(|name| is_name(name)).collect();
    names.sort();
    names
}

/// Path and text of the manifest of this name; `None` where there is none.
///
/// # Errors
/// When it cannot be read.
pub(super) fn read(directory: &Path, name: &str) -> Result<Option<(PathBuf, String)>, ImageError> {
    if !is_name(name) {
        return Ok(None);
    }
    let path = directory.join(format!("{name}.toml"));
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ImageError::OwnManifest { path, detail: format!("cannot read it: {error}") }),
    }
}

/// Whether a directory of the cache can have this name.
fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
