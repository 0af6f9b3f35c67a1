//! What is refused before anything is done: a line of `refusals.txt` has a command, its exit code and what it says on stderr, or in brackets
//! the configuration that `config.toml` is from there on, with other keys.

use super::{configuration, ended, in_shell, root, stdout, with, write_config};

/// What the commands find in their folder.
const FILES: [(&str, &str); 6] = [
    ("broken/config.json", "{"),
    ("chat.json", r#"{"a": 1}"#),
    ("empty.json", r#"{"schema_version": 1}"#),
    ("keep.py", "print('mine')"),
    ("x.rpm", ""),
    ("x.tar.gz", "no gzip"),
];

#[test]
fn what_cannot_be_done_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    ["empty", "broken"].iter().for_each(|name| std::fs::create_dir(dir.path().join(name)).expect("a folder"));
    FILES.iter().for_each(|(name, text)| std::fs::write(dir.path().join(name), text).expect("it can be written"));
    for line in include_str!("refusals.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((name, keys)) = line.strip_prefix('[').and_then(|line| line.split_once("] ")) {
            write_config(dir.path(), &with(configuration(name), &keys.replace("; ", "\n")));
            continue;
        }
        let (command, end) = line.rsplit_once(" → ").expect("a command and its end");
        let (code, said) = end.split_once(": ").expect("an exit code and what is said");
        let said = said.replace('⏎', "\n");
        let mut shell = in_shell(&format!("exec \"$0\" {command}"));
        shell.current_dir(&dir).env("ROOT", root());
        let output = ended(&mut shell, code.parse().expect("a number"), &said.split(" | ").collect::<Vec<_>>());
        // A dry run says first what it would do.
        assert!(output.stdout.is_empty() || command.contains("--dry-run"), "{command}: {}", stdout(&output));
    }
    for (name, text) in FILES {
        assert_eq!(std::fs::read_to_string(dir.path().join(name)).expect("it is there"), text);
    }
    // Nothing is made: the folder has what it had.
    assert_eq!(std::fs::read_dir(&dir).expect("it can be listed").count(), FILES.len() + 2);
}
