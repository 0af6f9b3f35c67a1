//! What shells, `man` and the book get: completions that a real bash loads, a manual page for every command, and the command reference.

use std::process::{Command, Stdio};

use veriplay_tests::external::report_skipped;

use super::commands::{fails, read};
use super::{says, stderr, stdout, succeeded, veriplay};

#[test]
fn a_real_bash_completes_commands_and_options() {
    if Command::new("bash").arg("--version").output().is_err() {
        return report_skipped("there is no bash");
    }
    let script = printed(&["completions", "bash"]);
    let complete = |words: &[&str]| {
        let (last, line) = (words[words.len() - 1], words.join(" "));
        let ask = format!(
            "{script}\ncomplete -p veriplay >&2\nCOMP_WORDS=({line}) COMP_CWORD={}\n_veriplay veriplay {last} {}\necho \"${{COMPREPLY[@]}}\"\n",
            words.len() - 1,
            words[words.len() - 2]
        );
        let output = succeeded(Command::new("bash").args(["--norc", "-c", &ask]));
        says(&stderr(&output), &["-F _veriplay"]);
        stdout(&output).trim().to_owned()
    };
    assert_eq!(complete(&["veriplay", "completio"]), "completions");
    assert_eq!(complete(&["veriplay", "config", "val"]), "validate");
    assert_eq!(complete(&["veriplay", "play", "--dry"]), "--dry-run");
    assert_eq!(complete(&["veriplay", "completions", "ela"]), "");
}

#[test]
fn every_shell_has_completions_that_name_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        for command in commands() {
            assert!(script.contains(&command), "`{command}` is not completed by {shell}");
        }
    }
}

#[test]
fn manual_pages_make_one_folder_at_most() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fails(veriplay().args(["man", "--out"]).arg(dir.path().join("nowhere/new")), 3, &[]);
    assert!(!dir.path().join("nowhere").exists());
    succeeded(veriplay().args(["man", "--out"]).arg(dir.path().join("new")));
    assert!(dir.path().join("new/veriplay.1").exists());
}

#[test]
fn every_command_has_a_manual_page() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    succeeded(veriplay().args(["man", "--out"]).arg(dir.path()));
    let first = printed(&["man"]);
    for command in commands() {
        says(&read(dir.path().join(format!("veriplay-{command}.1"))), &[".TH", ".SH NAME", ".SH SYNOPSIS"]);
        says(&first, &[&format!("veriplay\\-{}", command.replace('-', "\\-"))]);
    }
    says(&read(dir.path().join("veriplay-config-diff.1")), &["run directory"]);
    let warnings = groff_warnings(&dir.path().join("veriplay-play.1"));
    assert_eq!(warnings.unwrap_or_default(), "");
}

#[test]
fn the_command_reference_has_every_command_and_exit_code() {
    let page = printed(&["man", "--markdown"]);
    for command in commands() {
        says(&page, &[&format!("\n## `veriplay {command}`\n")]);
    }
    says(&page, &["| 0 | success |", "| 143 | ended by SIGTERM"]);
    let rows = page.lines().skip_while(|line| *line != "## Exit codes").filter(|line| line.starts_with("| "));
    assert!(rows.count() > 10, "{page}");
}

fn printed(arguments: &[&str]) -> String {
    stdout(&succeeded(veriplay().args(arguments)))
}

/// The commands of `--help`.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<String> =
        lines.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next().map(str::to_owned)).collect();
    assert!(names.len() > 15 && names.iter().any(|name| name == "man"), "{names:?}");
    names.into_iter().filter(|name| name != "help").collect()
}

/// What groff has against a page; `None` without groff.
fn groff_warnings(page: &std::path::Path) -> Option<String> {
    let mut command = Command::new("groff");
    let output = command.args(["-man", "-Tutf8", "-ww", "-z"]).arg(page).stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}
