//! Hand-written seeds: the shipped ones, and every way a file can be incomplete.

use veriplay_core::{Proposal, TaskType, Value};
use veriplay_corpus::{CorpusError, SeedTriplet, built_in_seeds, parse_seeds};

use super::{Change, assert_refused};

const GOOD: &str =
    "# Title\n\nProse.\n\n```python\ndef f(x):\n    return x + 1\n```\n\n```input\n1\n```\n\n```input\n2\n```\n";

const CASES: &[Change] = &[
    ("```python", "```rust", 5, "a block of kind `rust`"),
    ("```python\ndef f(x):\n    return x + 1\n```\n", "", 1, "no ```python block"),
    ("```input\n1\n```\n\n```input\n2\n```\n", "", 1, "no ```input block"),
    ("def f(x)", "def g(x)", 5, "does not define `f`"),
    ("\n1\n", "\nopen('a')\n", 10, "input `open('a')`"),
    ("\n2\n", "\n1\n", 14, "the same input as before"),
    ("```input\n2\n```\n", "```input\n2\n", 14, "is not closed"),
    ("```input\n2\n", "```python\ndef f(x):\n    return 2\n", 14, "a second ```python block"),
    ("Prose.\n", "Prose.\n```toml\nzeero = true\n```\n", 5, "unknown field `zeero`"),
];

fn read_one(text: &str) -> Result<Vec<SeedTriplet>, CorpusError> {
    parse_seeds(&[("one.md", text)])
}

#[test]
fn a_whole_file_is_read() {
    let seeds = read_one(GOOD).unwrap();
    assert_eq!(seeds.len(), 1);
    let seed = &seeds[0];
    assert_eq!((seed.name.as_str(), seed.program.as_str()), ("one", "def f(x):\n    return x + 1"));
    assert_eq!(seed.inputs, [vec![Value::int(1)], vec![Value::int(2)]]);
    assert!(seed.statement.contains("Prose.") && !seed.statement.contains("def") && !seed.zero);
}

#[test]
fn every_incomplete_file_is_refused_with_its_line() {
    assert_refused(GOOD, CASES, read_one);
}

#[test]
fn two_files_with_one_program_are_refused_and_both_are_named() {
    let error = parse_seeds(&[("a.md", GOOD), ("b.md", &GOOD.replace("Prose", "Another"))]).unwrap_err().to_string();
    assert!(error.contains("a.md") && error.contains("b.md"), "{error}");
}

#[test]
fn exactly_one_seed_is_the_zero_triplet_and_it_is_the_identity() {
    let seeds = built_in_seeds();
    let zero: Vec<_> = seeds.iter().filter(|seed| seed.zero).collect();
    assert_eq!(zero.len(), 1);
    assert_eq!(zero[0].program, "def f(x):\n    return x");
    assert_eq!(zero[0].inputs, [vec![Value::str("Hello world")]]);
}

#[test]
fn a_seed_makes_one_proposal_an_input_and_one_of_all_for_induction() {
    let seed = &read_one(GOOD).unwrap()[0];
    assert_eq!(seed.proposals(TaskType::Abduction).len(), 2);
    assert!(seed.proposals(TaskType::Deduction).iter().all(|one| one.task_type() == TaskType::Deduction));
    let induction = seed.proposals(TaskType::Induction);
    assert!(matches!(&induction[..], [Proposal::Inputs { inputs, .. }] if inputs.len() == 2));
}
