//! What is refused, and that the refusal says where and why.

use expect_test::expect_file;
use veriplay_core::{Fuzz, Patch, TextFiles, check_path};

use super::{files, parsed};

/// The tree that patches of this file are tried on.
fn base() -> TextFiles {
    let numbered: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    files(&[("pkg/n.py", &numbered), ("pkg/open.txt", "no newline"), ("crlf.txt", "a\r\nb\r\n"), ("empty", "")])
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

/// Patches that are refused in words, by the reader or by the applier. `␍` stands for a carriage return, `␠` for a space at the end of a line.
const REFUSED: &str = include_str!("refused.txt");

#[test]
fn a_refusal_says_where_and_why() {
    let mut found = Vec::new();
    for (patch, _) in REFUSED.split("\n\n").filter_map(|case| case.split_once("=> ")) {
        let error = match Patch::parse(&patch.replace('␍', "\r").replace('␠', " ")) {
            Err(error) => error,
            Ok(patch) => patch.apply(&base()).expect_err("a hostile patch was applied"),
        };
        found.push(format!("{patch}=> {error}\n"));
    }
    expect_file!["refused.txt"].assert_eq(&found.join("\n"));
}

#[test]
fn renames_copies_modes_links_and_binaries_are_refused() {
    for line in [
        "rename from x", "copy from x", "similarity index 90%", "GIT binary patch", "Binary files x and y differ",
        "old mode 120000", "new mode 120000", "new file mode 120000", "new file mode 160000",
        "deleted file mode 120000", "index 123456..89abcd 120000",
    ] {
        let error = Patch::parse(&format!("diff --git a/x b/x\n{line}\n")).expect_err(line).to_string();
        assert!(error.contains("is not taken"), "{line}: {error}");
    }
}

#[test]
fn a_header_of_a_hunk_has_one_form() {
    let changing = |header: &str| Patch::parse(&modifying(&format!("{header}\n-line 1\n+x\n")));
    for header in [
        "@@ -0 +1 @@", "@@ -1,x +1 @@", "@@ -1 +1", "@@ -1,+1 @@", "@@ --1 +1 @@", "@@ -+1 +1 @@", "@@ -1 +1 @@x",
        "@@ 1 1 @@", "@@@ -1 -1 +1 @@@", "@@", "@@ -1 +1 @@\r",
    ] {
        assert!(changing(header).is_err(), "{header}");
    }
    let many = "9".repeat(20);
    assert!(changing(&format!("@@ -{many} +1 @@")).is_err() && changing(&format!("@@ -1,{many} +1 @@")).is_err());
    assert!(changing("@@ -1 +1 @@ section").is_ok());
}

#[test]
fn hunks_may_touch_and_files_without_lines_and_newlines_change() {
    let changed = |patch: &str| parsed(patch).apply(&base()).unwrap();
    let touching = modifying("@@ -1 +1 @@\n-line 1\n+x\n@@ -2 +2 @@\n-line 2\n+y\n");
    assert!(changed(&touching)["pkg/n.py"].starts_with("x\ny\nline 3\n"));
    let emptied = "diff --git a/empty b/empty\ndeleted file mode 100644\n";
    assert!(!changed(emptied).contains_key("empty"));
    assert_eq!(changed(&format!("{}{emptied}", creating("b/empty/x")))["empty/x"], "x\n");
    let ended =
        "--- a/pkg/open.txt\n+++ b/pkg/open.txt\n@@ -1 +1 @@\n-no newline\n\\ No newline at end of file\n+newline\n";
    assert_eq!(changed(ended)["pkg/open.txt"], "newline\n");
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
    let error = moved.apply_fuzzy(&base(), Fuzz { offset: 1 }).unwrap_err().to_string();
    assert!(error.ends_with("hunk 1: its lines are nowhere within 1 lines of line 2"), "{error}");
    for fuzz in [Fuzz { offset: 2 }, Fuzz::GIT] {
        assert!(moved.apply_fuzzy(&base(), fuzz).unwrap()["pkg/n.py"].contains("line 4\nx\nline 6\n"));
    }
    for stale in [" LINE 4\n-line 5\n+x\n line 6\n", " line 4\n-LINE 5\n+x\n line 6\n"] {
        let stale = parsed(&modifying(&format!("@@ -4,3 +4,3 @@\n{stale}")));
        let error = stale.apply_fuzzy(&base(), Fuzz::GIT).unwrap_err().to_string();
        assert!(error.ends_with("hunk 1: its lines are nowhere in the file"), "{error}");
    }
}
