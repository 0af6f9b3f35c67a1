//! The small repositories of generated functions, and the bugs in them, that are built into the program: `task-corpus/tiny_repositories`.

use include_dir::Dir;

use crate::files::TINY_REPOSITORIES;

/// The prefix of their names, as in `builtin:tiny_repositories/train`.
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
