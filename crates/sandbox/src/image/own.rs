//! Images of the user's own: manifests in the directory that `VERIPLAY_IMAGES` names, each of which extends a built-in image.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::ImageError;

/// The longest manifest, in bytes.
const MAX_BYTES: u64 = 64 << 10;
/// The longest name, in bytes.
const MAX_NAME: usize = 64;

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
pub(super) fn read(directory: &Path, name: &str) -> Result<Option<(PathBuf, String)>, ImageError> {
    let fail = |path: &Path, detail: String| ImageError::OwnManifest { path: path.to_owned(), detail };
    if !directory.is_dir() {
        return Err(fail(directory, "VERIPLAY_IMAGES names it, and it is no directory".to_owned()));
    }
    if !is_name(name) {
        return Ok(None);
    }
    let path = directory.join(format!("{name}.toml"));
    // Not what never ends, such as a pipe.
    match std::fs::metadata(&path) {
        Ok(found) if found.is_file() && found.len() <= MAX_BYTES => {}
        Ok(_) => return Err(fail(&path, format!("it is no file of at most {} KiB", MAX_BYTES >> 10))),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(&path, format!("cannot read it: {error}"))),
    }
    let text = std::fs::read_to_string(&path).map_err(|error| fail(&path, format!("cannot read it: {error}")))?;
    Ok(Some((path, text)))
}

/// Whether it is the name of a module, which a guest is told to import.
pub(super) fn is_module(name: &str) -> bool {
    name.split('.').all(|part| {
        let starts = part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        starts && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Whether a directory of the cache can have this name.
fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    starts && name.len() <= MAX_NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
