//! The corpus of forgeries: the shipped files, and every way one can break the format.

use std::path::Path;

use veriplay_core::Status;
use veriplay_corpus::forgeries::{ForgeryEnding, JudgingMode};
use veriplay_corpus::{CorpusError, ForgeryCorpus, built_in_forgeries, parse_forgeries};

use super::{Change, assert_refused};

const GOOD: &str = "# Title\n\nProse.\n\n```toml\nrows = [\"8.1/4\", \"3.6\"]\n\n[host]\ncalls = \"wrong_answer\"\n\n[split]\nlines = \"runtime_error\"\n\n\
                    [shared]\nlines = \"undefended\"\n\n[by_rule]\ncalls = [\"float\"]\n```\n\n```python\ndef f(x):\n    return 2\n```\n";
const CALLS: &str = "# Calls\n\nProse.\n\n```toml\ntask_id = \"calls\"\n[checks.calls]\nfunction = \"f\"\n\
                     cases = [{ input = [\"1\"], expected = \"1\" }]\ncomparison = { judge = \"exact\" }\n```\n\n```python\ndef f(x):\n    return x\n```\n";
const LINES: &str = "# Lines\n\nProse.\n\n```toml\ntask_id = \"lines\"\n[checks.tests]\nstyle = { asserts = [\"assert f(1) == 1\"] }\n```\n\n\
                     ```python\ndef f(x):\n    return x\n```\n";

const CASES: &[Change] = &[
    ("Prose.\n", "", 1, "no prose"),
    ("```python", "```rust", 21, "a block of kind `rust`"),
    ("```python\ndef f(x):\n    return 2\n```\n", "", 1, "no ```python or ```text block"),
    ("```python\n", "```text\nx\n```\n```python\n", 24, "a second ```python block"),
    ("    return 2\n```\n", "    return 2\n", 21, "is not closed"),
    ("\"8.1/4\"", "\"8.1/22\"", 5, "no row `8.1/22`"),
    ("[\"8.1/4\", \"3.6\"]", "[]", 5, "`rows` is empty"),
    ("rows =", "row =", 6, "unknown field `row`"),
    ("calls = \"wrong_answer\"", "calls = \"wrong\"", 9, "unknown variant `wrong`"),
    ("calls = \"wrong_answer\"", "calls = \"accepted\"", 5, "`calls` is to accept it"),
    ("calls = \"wrong_answer\"", "calls = \"undefended\"", 5, "`calls` is `undefended`"),
    ("lines = \"runtime_error\"", "lines = \"accepted\"", 5, "`lines` is to accept it"),
    ("lines = \"runtime_error\"", "lines = \"undefended\"", 5, "`lines` is `undefended`"),
    ("lines = \"undefended\"", "", 5, "name different problems"),
    (
        "calls = \"wrong_answer\"",
        "calls = \"wrong_answer\"\nlines = \"wrong_answer\"",
        5,
        "`lines` is not judged that way",
    ),
    ("calls = \"wrong_answer\"", "calls = \"wrong_answer\"\nother = \"wrong_answer\"", 5, "no problem `other`"),
    ("calls = [\"float\"]", "lines = [\"float\"]", 5, "`[by_rule]` names `lines`"),
];

fn corpus_of(forgeries: &[(&str, &str)], problems: &[(&str, &str)]) -> Result<ForgeryCorpus, CorpusError> {
    let problems: Vec<(String, &str)> =
        problems.iter().map(|(name, text)| (format!("problems/{name}"), *text)).collect();
    let problems = problems.iter().map(|(path, text)| (path.as_str(), *text));
    parse_forgeries(&forgeries.iter().copied().chain(problems).collect::<Vec<_>>())
}

fn read_one(text: &str) -> Result<ForgeryCorpus, CorpusError> {
    corpus_of(&[("one.md", text)], &[("calls.md", CALLS), ("lines.md", LINES)])
}

#[test]
fn a_whole_file_is_read() {
    let corpus = read_one(GOOD).unwrap();
    let [forgery] = &corpus.forgeries[..] else { panic!("{corpus:?}") };
    assert_eq!((forgery.name.as_str(), forgery.attempt.as_str()), ("one", "def f(x):\n    return 2\n"));
    assert_eq!(forgery.rows, ["8.1/4", "3.6"]);
    let endings: Vec<_> =
        forgery.expected.iter().map(|one| (one.judging, one.problem.as_str(), one.ending, one.by_rule.len())).collect();
    assert_eq!(
        endings,
        [
            (JudgingMode::Host, "calls", ForgeryEnding::Status(Status::WrongAnswer), 1),
            (JudgingMode::Split, "lines", ForgeryEnding::Status(Status::RuntimeError), 0),
            (JudgingMode::Shared, "lines", ForgeryEnding::Undefended, 0),
        ]
    );
    assert_eq!(corpus.targets["calls"].honest, "def f(x):\n    return x\n");
}

#[test]
fn every_broken_file_is_refused_with_its_line() {
    assert_refused(GOOD, CASES, read_one);
}

#[test]
fn a_broken_problem_is_refused_with_its_line() {
    let changes = [
        ("\"calls\"", "\"call\"", 5, "`task_id` is `call`"),
        ("expected", "expect", 9, "unknown field `expect`"),
        ("\"exact\"", "\"exact\", best = 1", 10, "unknown field `best`"),
    ];
    assert_refused(CALLS, &changes, |text| corpus_of(&[], &[("calls.md", text)]));
}

#[test]
fn a_problem_says_that_split_trust_cannot_judge_its_honest_attempt() {
    let said = |text: &str| {
        format!(
            "{}unjudgeable = true\n{}",
            &text[..text.find("[checks").unwrap()],
            &text[text.find("[checks").unwrap()..]
        )
    };
    let read = |lines: &str, calls: &str| corpus_of(&[], &[("calls.md", calls), ("lines.md", lines)]);
    assert!(!read(LINES, CALLS).unwrap().targets["lines"].unjudgeable);
    assert!(read(&said(LINES), CALLS).unwrap().targets["lines"].unjudgeable);
    let error = read(LINES, &said(CALLS)).unwrap_err().to_string();
    assert!(error.contains("calls.md:5: it is `unjudgeable` without tests"), "{error}");
    let error = read(&said(LINES).replace("style", "stile"), CALLS).unwrap_err().to_string();
    assert!(error.contains("lines.md:9: unknown field `stile`"), "{error}");
}

#[test]
fn two_files_with_one_attempt_are_refused_and_both_are_named() {
    let error = corpus_of(&[("a.md", GOOD), ("b.md", GOOD)], &[("calls.md", CALLS), ("lines.md", LINES)]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("a.md") && error.contains("b.md"), "{error}");
}

#[test]
fn every_row_is_covered_or_the_readme_says_why_not_and_it_names_every_file() {
    let corpus = built_in_forgeries();
    assert!(corpus.forgeries.len() >= 50, "{} forgeries", corpus.forgeries.len());
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../task-corpus/forgeries/README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let line_of = |row: &str| readme.lines().find(|line| line.starts_with(&format!("| {row} |")));
    for number in 1..=21 {
        let row = format!("8.1/{number}");
        let line = line_of(&row).unwrap_or_else(|| panic!("the README has no row {row}"));
        let files: Vec<_> = corpus.forgeries.iter().filter(|forgery| forgery.rows.contains(&row)).collect();
        assert!(!files.is_empty() || line.contains("Not about a judge of programs"), "{row}: {line}");
        for forgery in files {
            assert!(line.contains(&format!("`{}`", forgery.name)), "row {row} does not name `{}`", forgery.name);
        }
    }
    for forgery in &corpus.forgeries {
        assert!(readme.contains(&format!("`{}`", forgery.name)), "the README does not name `{}`", forgery.name);
    }
}
