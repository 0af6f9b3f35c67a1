//! Git takes our patches and we take git's, to the same bytes. The tests of this repository need git anyway.

use std::fs;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use veriplay_core::{Patch, TextFiles};

use super::laws::edited;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn git_applies_what_we_print((old, new) in edited()) {
        let patch = Patch::make(&old, &new).unwrap();
        prop_assume!(!patch.is_empty());
        let scratch = tempfile::tempdir().unwrap();
        write_tree(scratch.path(), &old);
        fs::write(scratch.path().join("the.patch"), patch.to_string()).unwrap();
        let (fine, said) = git(scratch.path(), &["apply", "--whitespace=nowarn", "the.patch"]);
        prop_assert!(fine, "{said}\n{patch}");
        fs::remove_file(scratch.path().join("the.patch")).unwrap();
        prop_assert_eq!(read_tree(scratch.path()), new);
    }

    #[test]
    fn we_apply_what_git_prints((old, new) in edited()) {
        let scratch = tempfile::tempdir().unwrap();
        for (side, tree) in [("old", &old), ("new", &new)] {
            fs::create_dir(scratch.path().join(side)).unwrap();
            write_tree(&scratch.path().join(side), tree);
        }
        let arguments = ["diff", "--no-index", "--no-renames", "--no-color", "--text", "old", "new"];
        let (_, printed) = git(scratch.path(), &arguments);
        let renamed = printed.replace("a/old/", "a/").replace("b/new/", "b/").replace("a/new/", "a/").replace("b/old/", "b/");
        let patch = Patch::parse(&renamed);
        prop_assert!(patch.is_ok(), "{:?}\n{}", patch, renamed);
        prop_assert_eq!(patch.unwrap().apply(&old).unwrap(), new);
    }
}

fn git(dir: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new("git")
        .args(["-c", "core.autocrlf=false"])
        .args(arguments)
        .current_dir(dir)
        // A repository above the scratch directory is none of ours.
        .env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).expect("git speaks UTF-8"))
}

fn write_tree(root: &Path, files: &TextFiles) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn read_tree(root: &Path) -> TextFiles {
    let mut files = TextFiles::new();
    let mut pending = vec![root.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    files
}
