//! Budgets that only shrink: lines of Rust in each crate, and habits that make a body hard to read.
//!
//! Raising a number needs a reason in the commit message. Whoever gets below one lowers it.

use std::collections::BTreeMap;

use super::{read, rust_files};

/// Lines of Rust in each folder, tests and examples included.
const LINES: &[(&str, usize)] = &[
    ("benches", 259),
    ("crates/cli", 4_983),
    ("crates/console", 2_305),
    ("crates/core", 10_555),
    ("crates/corpus", 10_122),
    ("crates/eval", 2_664),
    ("crates/games/absolute_zero", 6_727),
    ("crates/games/bug_repair", 3_531),
    ("crates/games/ladder", 263),
    ("crates/games/self_challenge", 2_042),
    ("crates/games/sgs", 393),
    ("crates/games/soar", 569),
    ("crates/games/sol_ver", 3_643),
    ("crates/games/spice", 372),
    ("crates/games/src", 269),
    ("crates/games/svs", 157),
    ("crates/kernels", 3_378),
    ("crates/lab", 8_638),
    ("crates/learner", 26_512),
    ("crates/python", 1_476),
    ("crates/report", 3_769),
    ("crates/repository", 2_140),
    ("crates/run", 10_510),
    ("crates/sandbox", 20_762),
    ("crates/selfplay", 13_583),
    ("crates/server", 8_773),
    ("crates/verifier", 22_603),
    ("fuzz", 536),
    ("sandboxes", 315),
    ("tests", 18_402),
    ("xtask", 617),
];

/// Habits, and how often each may still be found in all Rust files.
const HABITS: &[(Habit, usize)] =
    &[(Habit::LongClosure, 625), (Habit::TupleParameter, 37), (Habit::ShortDocumentation, 1_192)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// A closure of several lines with a name: a function or a method says what it takes.
    LongClosure,
    /// A parameter taken apart in a signature: its type has no name, and a caller does not see what is what.
    TupleParameter,
    /// A documentation of four words or fewer, which says what the name says.
    ShortDocumentation,
}

#[test]
fn no_crate_grows_beyond_its_budget() {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for name in rust_files() {
        let row = LINES.iter().find(|(folder, _)| name.starts_with(&format!("{folder}/")));
        let (folder, _) = row.unwrap_or_else(|| panic!("`{name}` is in no row of LINES"));
        *lines.entry(folder).or_default() += read(&name).lines().count();
    }
    for (folder, most) in LINES {
        let found = lines.get(folder).copied().unwrap_or_default();
        assert!(
            found <= *most,
            "`{folder}` has {found} lines of Rust, {most} are allowed: remove some, or raise the number and say why"
        );
    }
}

#[test]
fn habits_only_fall() {
    let texts: Vec<String> = rust_files().map(|name| read(&name)).collect();
    for (habit, most) in HABITS {
        let found: usize = texts.iter().map(|text| habit.count(text)).sum();
        assert!(found <= *most, "{habit:?} is found {found} times, {most} are left: write it another way");
    }
}

#[test]
fn the_check_for_habits_can_fail() {
    let closure = "    let read = |line| {\n        line\n    };\n    let short = |line| line;\n";
    assert_eq!(Habit::LongClosure.count(closure), 1);
    let signature = "fn play((seed, step): (u64, u64)) {}\nfn other(pair: (u64, u64)) {}\n";
    assert_eq!(Habit::TupleParameter.count(signature), 1);
    let documentation = "/// The file.\nstruct A;\n/// The file\n/// of it.\nstruct B;\n/// What a reader would ask about it.\nstruct C;\n";
    assert_eq!(Habit::ShortDocumentation.count(documentation), 1);
}

impl Habit {
    fn count(self, text: &str) -> usize {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        (0..lines.len()).filter(|&place| self.is_at(&lines, place)).count()
    }

    fn is_at(self, lines: &[&str], place: usize) -> bool {
        let line = lines[place];
        match self {
            Habit::LongClosure => is_closure(line) && !line.ends_with(';'),
            Habit::TupleParameter => has_tuple_parameter(line),
            Habit::ShortDocumentation => {
                let is_documentation = |place: usize| lines.get(place).is_some_and(|line| line.starts_with("///"));
                let is_alone = !(is_documentation(place + 1) || place > 0 && is_documentation(place - 1));
                line.strip_prefix("/// ").is_some_and(|words| words.split_whitespace().count() <= 4) && is_alone
            }
        }
    }
}

/// `let name = |…` or `let name = move |…`.
fn is_closure(line: &str) -> bool {
    let Some((name, value)) = line.strip_prefix("let ").and_then(|rest| rest.split_once(" = ")) else { return false };
    !name.contains(['(', '{']) && value.strip_prefix("move ").unwrap_or(value).starts_with('|')
}

/// `(name, name): (` in a signature, on its line or on one of its own.
fn has_tuple_parameter(line: &str) -> bool {
    let is_signature = line.contains("fn ") || line.starts_with('(');
    is_signature && line.match_indices("): (").any(|(end, _)| ends_with_tuple(&line[..end]))
}

/// Whether a text ends with `(name, name`, as a parameter begins.
fn ends_with_tuple(text: &str) -> bool {
    let Some((before, names)) = text.rsplit_once('(') else { return false };
    let names: Vec<&str> = names.split(", ").map(|name| name.strip_prefix("mut ").unwrap_or(name)).collect();
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    names.len() > 1 && names.into_iter().all(is_name) && (before.is_empty() || before.ends_with(['(', ' ']))
}
