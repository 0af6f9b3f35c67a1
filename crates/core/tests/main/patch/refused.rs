//! What is refused, and that the refusal says where and why.

use expect_test::{Expect, expect};
use veriplay_core::{Fuzz, Patch, TextFiles, check_path};

use super::{files, parsed};

/// The tree that patches of this file are tried on.
fn base() -> TextFiles {
    let numbered: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    files(&[("pkg/n.py", &numbered), ("pkg/open.txt", "no newline"), ("crlf.txt", "a\r\nb\r\n"), ("empty", "")])
}

/// Refused in words, by the reader or by the applier; nothing is refused without a word on where.
fn refused(text: &str, expected: Expect) {
    let error = match Patch::parse(text) {
        Err(error) => error,
        Ok(patch) => patch.apply(&base()).expect_err("a hostile patch was applied"),
    };
    expected.assert_eq(&error.to_string());
}

fn creating(name: &str) -> String {
    format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+x\n")
}

fn modifying(hunks: &str) -> String {
    format!("--- a/pkg/n.py\n+++ b/pkg/n.py\n{hunks}")
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    let outside = [
        "b//etc/passwd", "b/../x", "b/a/../../x", "b/", "b/a/", "b/..", "b/.git/config", "b/.GIT/hooks/x",
        "b/sub/.git", "b/.git./x", "b/.git /x", "b/a\\..\\x", "/etc/passwd", "b\\x", "b/a\u{0}b", "b/a\u{7}b", "b/x\r",
        "\"b/x", "\"b/\\056\\056/x\"", "\"b/a\\nb\"", "\"b/\\777\"", "\"b/\\9\"", "\"/etc/passwd\"", "b/a\"b",
    ];
    for name in outside {
        let patch = Patch::parse(&creating(name));
        assert!(patch.is_err(), "`{name:?}` was taken: {patch:?}");
    }
    assert!(Patch::parse(&creating(&format!("b/{}", "a/".repeat(70)))).is_err());
    assert!(Patch::parse(&creating(&format!("b/{}", "a".repeat(300)))).is_err());
    let inside = [
        "b/x", "b/.gitignore", "b/a b", "b/..x", "b/x.git/y", "\"b/caf\\303\\251\"", "b/é", "b/x\t2026-01-01 00:00",
        // As `--no-prefix` has it, and spellings that lead to the same file.
        "x", "a/x", "b/./x", "b/a//b",
    ];
    for name in inside {
        let patch = parsed(&creating(name));
        assert!(patch.touched().all(|(path, _)| check_path(path).is_ok()), "{name}");
    }
}

#[test]
fn a_refusal_names_the_path() {
    refused(
        &creating("b/../x"),
        expect!["patch refused, line 2 of the patch: path `../x` has the component `..`; write it plainly"],
    );
    refused(
        &creating("b//etc/x"),
        expect!["patch refused, line 2 of the patch: path `/etc/x` is absolute; name it from the root of the tree"],
    );
    refused(
        &creating("b/.git/x"),
        expect!["patch refused, line 2 of the patch: path `.git/x` leads into `.git`; a tree here has no history"],
    );
    refused(&creating("w/x"), expect!["patch refused, line 2 of the patch: file name `w/x` does not start with `b/`"]);
}

#[test]
fn renames_copies_modes_links_and_binaries_are_refused() {
    refused(
        "diff --git a/crlf.txt b/new.txt\nsimilarity index 100%\nrename from crlf.txt\nrename to new.txt\n",
        expect![
            "patch refused, line 1 of the patch: the names `a/crlf.txt b/new.txt` and `the other half of the line` differ, and renames are not taken; delete one file and create the other"
        ],
    );
    refused(
        "--- a/crlf.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-a\r\n+b\r\n",
        expect![
            "patch refused, line 2 of the patch: the names `a/crlf.txt` and `b/other.txt` differ, and renames are not taken; delete one file and create the other"
        ],
    );
    for line in [
        "rename from x",
        "copy from x",
        "similarity index 90%",
        "GIT binary patch",
        "Binary files a/x and b/x differ",
        "old mode 120000",
        "new mode 120000",
        "new file mode 120000",
        "new file mode 160000",
        "index 1234567..89abcde 120000",
        "deleted file mode 120000",
    ] {
        let text = format!("diff --git a/x b/x\n{line}\n");
        let error = Patch::parse(&text).expect_err(line).to_string();
        assert!(error.contains("is not taken"), "{line}: {error}");
    }
}

#[test]
fn counts_must_be_right() {
    let few = modifying("@@ -1,3 +1,3 @@\n line 1\n-line 2\n+LINE 2\n");
    refused(
        &few,
        expect![
            "patch refused, file `pkg/n.py`, hunk 1, line 7 of the patch: the header says 3 old and 3 new lines, and the hunk has 2 and 2"
        ],
    );
    let many = modifying("@@ -1,2 +1,2 @@\n line 1\n-line 2\n+LINE 2\n line 3\n");
    refused(
        &many,
        expect![
            "patch refused, file `pkg/n.py`, hunk 1, line 7 of the patch: the header says 2 old and 2 new lines, and the hunk has 3 and 3"
        ],
    );
    for header in [
        "@@ -0 +1 @@",
        "@@ -1,x +1 @@",
        "@@ -1 +1",
        "@@ -1,+1 @@",
        "@@ --1 +1 @@",
        "@@ -+1 +1 @@",
        "@@ -1 +1 @@x",
        "@@ 1 1 @@",
        "@@ -99999999999999999999 +1 @@",
        "@@ -1,99999999999999999999 +1 @@",
        "@@@ -1 -1 +1 @@@",
        "@@",
        "@@ -1 +1 @@\r",
    ] {
        assert!(Patch::parse(&modifying(&format!("{header}\n-line 1\n+x\n"))).is_err(), "{header}");
    }
}

#[test]
fn hunks_must_be_in_order_and_apart() {
    let overlapping = modifying("@@ -1,2 +1,2 @@\n line 1\n-line 2\n+x\n@@ -2,2 +2,2 @@\n-line 2\n+y\n line 3\n");
    refused(
        &overlapping,
        expect![
            "patch refused, file `pkg/n.py`, hunk 2, line 7 of the patch: it starts after old line 1, and the hunk before it ends after line 2"
        ],
    );
    let backwards = modifying("@@ -9 +9 @@\n-line 9\n+x\n@@ -2 +2 @@\n-line 2\n+y\n");
    refused(
        &backwards,
        expect![
            "patch refused, file `pkg/n.py`, hunk 2, line 6 of the patch: it starts after old line 1, and the hunk before it ends after line 9"
        ],
    );
    let drifting = modifying("@@ -1 +1,2 @@\n-line 1\n+x\n+y\n@@ -9 +9 @@\n-line 9\n+z\n");
    refused(
        &drifting,
        expect![
            "patch refused, file `pkg/n.py`, hunk 2, line 7 of the patch: it starts at new line 8, and by the hunks before it that is 9"
        ],
    );
    let touching = parsed(&modifying("@@ -1 +1 @@\n-line 1\n+x\n@@ -2 +2 @@\n-line 2\n+y\n"));
    assert!(touching.apply(&base()).unwrap()["pkg/n.py"].starts_with("x\ny\nline 3\n"));
}

#[test]
fn a_file_is_named_once_and_something_changes() {
    let twice = [modifying("@@ -1 +1 @@\n-line 1\n+x\n"), modifying("@@ -9 +9 @@\n-line 9\n+x\n")].concat();
    refused(&twice, expect!["patch refused, file `pkg/n.py`, line 11 of the patch: the file is named twice"]);
    refused(
        &modifying("@@ -1,2 +1,2 @@\n line 1\n line 2\n"),
        expect!["patch refused, file `pkg/n.py`, hunk 1, line 3 of the patch: it changes nothing"],
    );
    refused(
        &modifying("@@ -1 +1 @@\n-line 1\n+line 1\n"),
        expect!["patch refused, file `pkg/n.py`, hunk 1, line 3 of the patch: it changes nothing"],
    );
    refused(
        &modifying(""),
        expect!["patch refused, file `pkg/n.py`, line 3 of the patch: the patch ends; expected a hunk, `@@ -… +… @@`"],
    );
    refused(
        "diff --git a/crlf.txt b/crlf.txt\n",
        expect!["patch refused, file `crlf.txt`, line 2 of the patch: it changes nothing"],
    );
    refused("--- /dev/null\n+++ /dev/null\n", expect!["patch refused, line 2 of the patch: it changes nothing"]);
    refused(
        "Here is the patch:\n",
        expect![
            "patch refused, line 1 of the patch: `Here is the patch:` is no part of a patch; expected `diff --git a/… b/…` or `--- a/…`"
        ],
    );
}

#[test]
fn created_and_deleted_files_have_one_side() {
    refused(&creating("b/empty"), expect!["patch refused, file `empty`: `empty` is there already"]);
    refused(&creating("b/pkg"), expect!["patch refused, file `pkg`: `pkg/n.py` is there already"]);
    refused(&creating("b/empty/x"), expect!["patch refused, file `empty/x`: `empty` is there already"]);
    refused(
        &[creating("b/new"), creating("b/new/x")].concat(),
        expect!["patch refused, file `new`: `new/x` is there already"],
    );
    refused(
        "--- /dev/null\n+++ b/new\n@@ -1 +1 @@\n-a\n+b\n",
        expect![
            "patch refused, file `new`, hunk 1, line 6 of the patch: a file that is created has no old lines, and one that is deleted no new ones"
        ],
    );
    refused(
        "--- a/pkg/n.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n",
        expect!["patch refused, file `pkg/n.py`: the file is deleted, and 19 of its lines are not removed"],
    );
    refused(
        "--- a/none\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n",
        expect!["patch refused, file `none`: there is no such file"],
    );
    refused(
        "diff --git a/crlf.txt b/crlf.txt\ndeleted file mode 100644\n",
        expect!["patch refused, file `crlf.txt`: the file is deleted, and 2 of its lines are not removed"],
    );
    let emptied = parsed("diff --git a/empty b/empty\ndeleted file mode 100644\n");
    assert!(!emptied.apply(&base()).unwrap().contains_key("empty"));
    let moved = format!("{}diff --git a/empty b/empty\ndeleted file mode 100644\n", creating("b/empty/x"));
    assert_eq!(parsed(&moved).apply(&base()).unwrap()["empty/x"], "x\n");
}

#[test]
fn context_must_be_exact() {
    refused(
        &modifying("@@ -2 +2 @@\n-line 3\n+x\n"),
        expect![[
            r#"patch refused, file `pkg/n.py`, hunk 1: line 2 of the file is "line 2", and the hunk expects "line 3""#
        ]],
    );
    refused(
        &modifying("@@ -2 +2 @@\n-line 2 \n+x\n"),
        expect![[
            r#"patch refused, file `pkg/n.py`, hunk 1: line 2 of the file is "line 2", and the hunk expects "line 2 ""#
        ]],
    );
    refused(
        &modifying("@@ -30 +30 @@\n-line 2\n+x\n"),
        expect![[
            r#"patch refused, file `pkg/n.py`, hunk 1: line 30 of the file is beyond the end, and the hunk expects "line 2""#
        ]],
    );
    refused(
        "--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1 +1 @@\n-a\n+x\n",
        expect![[r#"patch refused, file `crlf.txt`, hunk 1: line 1 of the file is "a\r", and the hunk expects "a""#]],
    );
    refused(
        "--- a/pkg/open.txt\n+++ b/pkg/open.txt\n@@ -1 +1 @@\n-no newline\n+x\n",
        expect![[
            r#"patch refused, file `pkg/open.txt`, hunk 1: line 1 of the file is the same but for the newline at its end, and the hunk expects "no newline""#
        ]],
    );
}

#[test]
fn a_line_without_newline_is_the_last_one() {
    refused(
        &modifying("@@ -1,2 +1,2 @@\n-line 1\n\\ No newline at end of file\n+x\n line 2\n"),
        expect![
            "patch refused, file `pkg/n.py`, hunk 1, line 8 of the patch: a line without newline that is not the last one of the file"
        ],
    );
    refused(
        &modifying("@@ -1 +1 @@\n-line 1\n+x\n\\ No newline at end of file\n"),
        expect!["patch refused, file `pkg/n.py`, hunk 1: a line without newline that is not the last one of the file"],
    );
    refused(
        "--- a/pkg/open.txt\n+++ b/pkg/open.txt\n@@ -1,0 +2 @@\n+x\n",
        expect![
            "patch refused, file `pkg/open.txt`, hunk 1: a line without newline that is not the last one of the file"
        ],
    );
    refused(
        "--- a/pkg/open.txt\n+++ b/pkg/open.txt\n@@ -1 +1 @@\n-no newline\n\\ No newline at end of file\n+\n\\ No newline at end of file\n",
        expect![
            "patch refused, file `pkg/open.txt`, hunk 1, line 7 of the patch: an empty line without newline is no line of a file; leave it out"
        ],
    );
    refused(
        &modifying("@@ -1 +1 @@\n\\ No newline at end of file\n-line 1\n+x\n"),
        expect![
            "patch refused, file `pkg/n.py`, hunk 1, line 4 of the patch: the header says 1 old and 1 new lines, and the hunk has 0 and 0"
        ],
    );
    let patch = parsed(
        "--- a/pkg/open.txt\n+++ b/pkg/open.txt\n@@ -1 +1 @@\n-no newline\n\\ No newline at end of file\n+newline\n",
    );
    assert_eq!(patch.apply(&base()).unwrap()["pkg/open.txt"], "newline\n");
}

#[test]
fn sizes_are_capped() {
    assert!(Patch::parse(&"\n".repeat(5 << 20)).is_err());
    let many: String = (0..1001).map(|file| creating(&format!("b/f{file}"))).collect();
    assert!(Patch::parse(&many).unwrap_err().to_string().contains("1000 files"));
    let large = files(&[("x", &"a".repeat(9 << 20))]);
    assert!(Patch::make(&TextFiles::new(), &large).is_err());
    assert!(parsed("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n").apply(&large).is_err());
}

#[test]
fn nothing_is_applied_when_something_is_refused() {
    let half = format!("{}{}", modifying("@@ -1 +1 @@\n-line 1\n+x\n"), creating("b/empty"));
    let before = base();
    assert!(parsed(&half).apply(&before).is_err());
    assert_eq!(before, base());
}

#[test]
fn fuzz_is_bounded_and_never_given_unasked() {
    let moved = parsed(&modifying("@@ -2,3 +2,3 @@\n line 4\n-line 5\n+x\n line 6\n"));
    assert!(moved.apply(&base()).is_err());
    assert!(moved.apply_fuzzy(&base(), Fuzz { offset: 1, context: 0 }).is_err());
    let applied = moved.apply_fuzzy(&base(), Fuzz { offset: 2, context: 0 }).unwrap();
    assert!(applied["pkg/n.py"].contains("line 4\nx\nline 6\n"));

    let stale = parsed(&modifying("@@ -4,3 +4,3 @@\n LINE 4\n-line 5\n+x\n line 6\n"));
    assert!(stale.apply_fuzzy(&base(), Fuzz { offset: 20, context: 0 }).is_err());
    let applied = stale.apply_fuzzy(&base(), Fuzz { offset: 0, context: 1 }).unwrap();
    assert!(applied["pkg/n.py"].contains("line 4\nx\nline 6\n"), "the file's own line of context stays");

    let removed = parsed(&modifying("@@ -4,3 +4,3 @@\n line 4\n-LINE 5\n+x\n line 6\n"));
    assert!(removed.apply_fuzzy(&base(), Fuzz { offset: 20, context: 3 }).is_err(), "a removed line must be there");
}
