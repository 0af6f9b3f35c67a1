//! The text files built into this crate: whole folders of the repository, so that no list can be incomplete.
//!
//! Cargo notices changed files by itself, and new ones through `build.rs`.

use std::path::Path;

use include_dir::{Dir, include_dir};

/// Path and text of a file. Errors name the path; the file's name names its content.
pub type TextFile<'a> = (&'a str, &'a str);

pub(crate) static SEEDS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../task-corpus/absolute_zero");
pub(crate) static COST_PROGRAMS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../task-corpus/cost");
pub(crate) static ENVIRONMENTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../task-corpus/environments");
pub(crate) static CHEATS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../task-corpus/environment_cheats");
pub(crate) static FORGERIES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../task-corpus/forgeries");
pub(crate) static TINY_REPOSITORIES: Dir<'static> =
    include_dir!("$CARGO_MANIFEST_DIR/../../task-corpus/tiny_repositories");
pub(crate) static PYTHON_PROBES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../task-corpus/probes");

/// The files below `dir` with this extension, sorted by path, without READMEs.
pub(crate) fn list_files(dir: &'static Dir<'static>, extension: &str) -> Vec<TextFile<'static>> {
    let wanted = |path: &Path| path.extension().is_some_and(|found| found == extension) && !path.ends_with("README.md");
    let here = dir.files().filter(|file| wanted(file.path()));
    let mut files: Vec<TextFile<'static>> = here
        .map(|file| {
            let path = file.path().to_str().expect("paths of the repository are UTF-8");
            (path, file.contents_utf8().expect("corpora are UTF-8"))
        })
        .collect();
    files.extend(dir.dirs().flat_map(|dir| list_files(dir, extension)));
    files.sort_unstable();
    files
}

/// The name of a file without its folder and its extension.
pub(crate) fn file_stem(path: &str) -> String {
    Path::new(path).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
