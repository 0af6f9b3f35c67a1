//! The files built into this crate: whole folders of the repository, so that no list can be incomplete.
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
pub(crate) static PROBES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../task-corpus/probes");

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

/// The prefix of the names of built-in repositories, such as `builtin:tiny_repositories/train`: small ones of generated functions, and bugs in them.
pub const BUILTIN_PREFIX: &str = "builtin:tiny_repositories/";

/// The files of a built-in repository by their paths in it, sorted; `None` where `name` names none.
#[must_use]
pub fn builtin_repository(name: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let folder = TINY_REPOSITORIES.get_dir(name.strip_prefix(BUILTIN_PREFIX)?)?;
    let mut files = Vec::new();
    collect_files(folder, folder, &mut files);
    files.sort_unstable();
    Some(files)
}

/// A built-in file of bugs, such as `builtin:tiny_repositories/train.jsonl.zst`; `None` where `name` names none.
#[must_use]
pub fn builtin_bugs(name: &str) -> Option<&'static [u8]> {
    TINY_REPOSITORIES.get_file(name.strip_prefix(BUILTIN_PREFIX)?).map(include_dir::File::contents)
}

fn collect_files(root: &Dir<'_>, folder: &Dir<'_>, files: &mut Vec<(String, Vec<u8>)>) {
    for file in folder.files() {
        let path = file.path().strip_prefix(root.path()).unwrap_or(file.path());
        files.push((path.to_string_lossy().into_owned(), file.contents().to_vec()));
    }
    folder.dirs().for_each(|inner| collect_files(root, inner, files));
}
