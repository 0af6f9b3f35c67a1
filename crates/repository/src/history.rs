//! The past changes of a package's code, from the commits of its project, as `corpus add-repo --history` keeps them.
//!
//! git fetches the commits and prints their texts, and runs none of them. What is kept is data: a patch that undoes a change in the files
//! of the package, which need not be those of a commit. Nothing of a project is looked at again when a game is played.

use std::path::Path;

use veriplay_console::exit::Failure;
use veriplay_core::{Layer, SCHEMA_VERSION};
use veriplay_verifier::bugs::{Commit, History, PastChange};

use super::project::{CommitSource, cached_projects, fetch_commits, git_text, open_bare, run_git};

/// Changed lines of a change at most. Larger ones are usually moves or another layout, and a prompt shows the whole change.
const MAX_LINES: usize = 200;
/// Bytes of a file at most, as for patches. Git is asked for the size first, so that a commit cannot fill the memory.
const MAX_FILE_BYTES: usize = 8 << 20;
/// Characters of a commit's message that are kept. It is untrusted text that a prompt shows.
const MAX_SUBJECT: usize = 100;

/// The changes of the last `commits` commits, newest first, that can be undone in `package`. Of a merge it is what the merge brought.
pub fn collect_history(source: &CommitSource, commits: usize, package: &Layer) -> Result<History, Failure> {
    collect_into(&cached_projects()?, source, commits, package)
}

/// As [`collect_history`], with the commits in the repository `bare`.
fn collect_into(bare: &Path, source: &CommitSource, commits: usize, package: &Layer) -> Result<History, Failure> {
    let bare = open_bare(bare)?;
    // One commit more: the last change is a difference from the one before.
    fetch_commits(&bare, source, commits.saturating_add(1))?;
    let count = format!("--max-count={commits}");
    let log = git_text(&bare, &["log", "--first-parent", &count, "--format=%H%x09%P%x09%s", &source.commit])?;
    let texts = package.texts();
    let (mut found, mut changes) = (0, Vec::new());
    for line in log.lines() {
        let mut fields = line.splitn(3, '\t');
        let (Some(hash), Some(parents), Some(subject)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        found += 1;
        // The first commit there is changes nothing.
        let Some(parent) = parents.split(' ').next().filter(|parent| !parent.is_empty()) else { continue };
        let subject: String = subject.chars().filter(|found| !found.is_control()).take(MAX_SUBJECT).collect();
        let commit = Commit { hash, subject: &subject };
        let is_code = |path: &String| path.ends_with(".py") && texts.contains_key(path);
        for path in changed_files(&bare, parent, hash)?.into_iter().filter(is_code) {
            let texts_of_commit = (read_text(&bare, parent, &path)?, read_text(&bare, hash, &path)?);
            let (Some(before), Some(after)) = texts_of_commit else { continue };
            let change = PastChange::of_file(&texts, &path, &before, &after, &commit);
            let lines = |change: &PastChange| change.undo.changed_lines();
            changes.extend(change.filter(|change| lines(change).0 + lines(change).1 <= MAX_LINES));
        }
    }
    Ok(History {
        schema_version: SCHEMA_VERSION,
        package: package.digest().clone(),
        commit: source.commit.clone(),
        commits: found,
        changes,
    })
}

/// The text of a file of a commit. `None` where it is not UTF-8, or larger than any file of which patches are made.
fn read_text(bare: &Path, commit: &str, path: &str) -> Result<Option<String>, Failure> {
    let object = format!("{commit}:{path}");
    let size = git_text(bare, &["cat-file", "-s", &object])?;
    if !size.trim().parse::<usize>().is_ok_and(|size| size <= MAX_FILE_BYTES) {
        return Ok(None);
    }
    Ok(String::from_utf8(run_git(bare, &["cat-file", "blob", &object])?).ok())
}

/// The files that a commit changed and did not make, move or delete.
fn changed_files(bare: &Path, parent: &str, commit: &str) -> Result<Vec<String>, Failure> {
    let options = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=M", parent, commit];
    let names = git_text(bare, &options)?;
    Ok(names.split('\0').map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use veriplay_core::{Layer, TextFiles};

    use super::{MAX_FILE_BYTES, collect_into, read_text};
    use crate::project::CommitSource;
    use crate::records::{read_history, write_history};

    fn git(directory: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=one", "-c", "user.email=one@example.org", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(directory)
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(directory: &Path, files: &[(&str, &str)], subject: &str) -> String {
        for (path, text) in files {
            std::fs::write(directory.join(path), text).expect("a file is written");
        }
        git(directory, &["add", "--all"]);
        git(directory, &["commit", "--quiet", "--message", subject]);
        git(directory, &["rev-parse", "HEAD"])
    }

    #[test]
    fn the_changes_of_code_that_are_still_there_are_kept_newest_first() {
        let project = tempfile::tempdir().expect("a directory");
        let directory = project.path();
        git(directory, &["init", "--quiet"]);
        commit(directory, &[("one.py", "def one(x):\n    return x[0]\n"), ("two.py", "A = 1\n")], "First");
        let checked = "def one(x):\n    if not x:\n        return None\n    return x[0]\n";
        let second = commit(directory, &[("one.py", checked), ("notes.txt", "new\n")], "Nothing is first of nothing");
        commit(directory, &[("two.py", "A = 2\n"), ("three.py", "B = 1\n")], "Gone later");
        let newest = commit(directory, &[("notes.txt", "old\n")], "No code");
        // The release: another `two.py`, and no `three.py`.
        let files = [("one.py", format!("\"\"\"One.\"\"\"\n\n\n{checked}")), ("two.py", "A = 3\n".to_owned())];
        let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes()));
        let package = Layer::new(files).expect("a layer");
        let source: CommitSource = format!("{}@{newest}", directory.display()).parse().expect("a source");
        let bare = project.path().join("bare.git");
        let history = collect_into(&bare, &source, 3, &package).expect("a history");
        assert_eq!((history.commits, history.commit.as_str()), (3, newest.as_str()));
        let [change] = history.changes.as_slice() else { panic!("{:?}", history.changes) };
        assert_eq!((change.commit.as_str(), change.subject.as_str()), (&*second, "Nothing is first of nothing"));
        let undone: TextFiles = change.undo.apply(&package.texts()).expect("it applies");
        assert_eq!(undone["one.py"], "\"\"\"One.\"\"\"\n\n\ndef one(x):\n    return x[0]\n");
        // The change of the oldest commit that is looked at is a difference from one more.
        assert!(collect_into(&bare, &source, 2, &package).expect("a history").changes.is_empty());
        write_history(directory, Some(&history)).expect("it is written");
        assert_eq!(read_history(directory, &package).expect("it is read"), history.changes);
        let other = Layer::new([("one.py".to_owned(), b"x = 1\n".to_vec())]).expect("a layer");
        assert!(read_history(directory, &other).is_err(), "of other files");
        write_history(directory, None).expect("it is removed");
        assert!(read_history(directory, &package).expect("none is there").is_empty());
        write_history(directory, None).expect("none is there");
    }

    #[test]
    fn a_file_that_is_too_large_is_not_read() {
        let project = tempfile::tempdir().expect("a directory");
        let directory = project.path();
        git(directory, &["init", "--quiet"]);
        let (most, more) = ("#".repeat(MAX_FILE_BYTES), "#".repeat(MAX_FILE_BYTES + 1));
        let hash = commit(directory, &[("most.py", most.as_str()), ("more.py", more.as_str())], "Large");
        let read = |path: &str| read_text(&directory.join(".git"), &hash, path).expect("git reads it");
        assert!(read("most.py").is_some_and(|text| text == most));
        assert_eq!(read("more.py"), None);
    }

    #[test]
    fn a_source_is_a_commit_of_a_url_or_a_directory() {
        let hash = "a1f52d6713dd2c2713a881d4f4d86ed68ff71cab";
        let read = |text: &str| text.parse::<CommitSource>();
        assert_eq!(read(&format!("https://example.org/x@{hash}")).expect("a URL").commit, hash);
        for wrong in ["https://example.org/x", "https://example.org/x@main", "/nowhere/at/all@", hash] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        for protocol in ["http", "ssh", "file", "ext"] {
            assert!(read(&format!("{protocol}://example.org/x@{hash}")).is_err(), "{protocol}");
        }
        assert!(read(&format!("/nowhere/at/all@{hash}")).expect_err("no directory").contains("directory"));
    }
}
