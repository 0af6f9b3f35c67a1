//! Programs, inputs and fragments.

use std::collections::HashSet;

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use veriplay_core::{Digest, Value};
use veriplay_corpus::{CorpusError, Grammar, InputKind};

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Cuts `program` leftmost-longest into fragments and single characters.
fn cut<'a>(mut program: &'a str, fragments: &[String]) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    while let Some(first) = program.chars().next() {
        let fits = fragments.iter().filter(|fragment| program.starts_with(fragment.as_str())).map(String::len).max();
        let (piece, rest) = program.split_at(fits.unwrap_or(first.len_utf8()));
        pieces.push(piece);
        program = rest;
    }
    pieces
}

fn mean_tokens(family: &str, seed: u64) -> f64 {
    let grammar = Grammar::built_in();
    let mut rng = rng(seed);
    let count = 400;
    let lengths =
        (0..count).map(|_| cut(&grammar.program(&mut rng, family).unwrap().program, grammar.fragments()).len());
    lengths.sum::<usize>() as f64 / f64::from(count)
}

#[test]
fn the_first_hundred_programs_of_seed_0_never_change() {
    let grammar = Grammar::built_in();
    let mut rng = rng(0);
    let programs: Vec<String> = (0..100).map(|_| grammar.sample(&mut rng, "natural").unwrap().program).collect();
    assert_eq!(Digest::of(programs.join("\n\n").as_bytes()).short(), "07ac52a1484f", "first:\n{}", programs[0]);
}

#[test]
fn fragments_are_few_distinct_and_stable() {
    let grammar = Grammar::built_in();
    let fragments = grammar.fragments();
    assert!((60..=90).contains(&fragments.len()), "{}", fragments.len());
    assert_eq!(fragments.iter().collect::<HashSet<_>>().len(), fragments.len());
    assert!(fragments.iter().all(|fragment| fragment.is_ascii() && fragment.len() > 1));
    assert_eq!(fragments, Grammar::built_in().fragments());
    for wanted in ["def f(x):\n    return ", "\n    x = ", "\n    return ", "x[::-1]", " for v in x]", ", "] {
        assert!(fragments.iter().any(|fragment| fragment == wanted), "`{wanted}` is missing");
    }
}

#[test]
fn fragments_cut_programs_into_few_tokens() {
    let mean = |family| mean_tokens(family, 3);
    assert!(mean("one") <= 5.0, "one: {}", mean("one"));
    assert!(mean("two") <= 9.0, "two: {}", mean("two"));
    assert!(mean("three") <= 13.0, "three: {}", mean("three"));
    assert!(mean("four") <= 17.0, "four: {}", mean("four"));
}

#[test]
fn a_mix_draws_its_families_in_proportion() {
    let grammar = Grammar::built_in();
    let mut rng = rng(5);
    let families: Vec<String> = (0..4000).map(|_| grammar.sample(&mut rng, "natural").unwrap().family).collect();
    for (family, share) in [("one", 0.30), ("two", 0.36), ("three", 0.22), ("four", 0.12)] {
        let found = families.iter().filter(|name| *name == family).count() as f64 / 4000.0;
        assert!((found - share).abs() < 0.03, "{family}: {found}");
    }
    let warmup: HashSet<String> = (0..500).map(|_| grammar.sample(&mut rng, "warmup").unwrap().family).collect();
    assert!(!warmup.contains("four"), "warm-up draws `four`");
}

#[test]
fn an_unknown_family_or_mix_is_refused_with_the_names_there_are() {
    let grammar = Grammar::built_in();
    let error = grammar.program(&mut rng(0), "seven").unwrap_err();
    assert!(matches!(&error, CorpusError::Unknown { what: "family", .. }));
    assert!(error.to_string().contains("`seven`") && error.to_string().contains("`four`"), "{error}");
    let error = grammar.sample(&mut rng(0), "natrual").unwrap_err().to_string();
    assert!(error.contains("`natrual`") && error.contains("`natural`"), "{error}");
}

#[test]
fn a_kind_with_few_inputs_gives_all_of_them_and_stops() {
    let grammar = Grammar::built_in();
    let inputs = grammar.inputs(&mut rng(1), InputKind::Int, 50);
    assert_eq!(inputs.len(), 13, "0 to 12");
}

#[test]
fn a_grammar_with_a_wrong_key_template_or_type_is_refused() {
    let text = include_str!("../../../../task-corpus/tiny/grammar.toml");
    assert_eq!(Grammar::parse(text).unwrap().fragments(), Grammar::built_in().fragments());
    for (old, new, problem) in [
        ("[placeholders]\nc =", "[placeholders]\ncc = 1\nc =", "unknown field `cc`"),
        ("multi = { two = 0.50", "multi = { twwo = 0.50", "no family `twwo`"),
        ("[split.default]", "[split.others]", "`default` is missing"),
        ("say = [\"add {c}\"", "say = [\"add {d}\"", "int -> int: the template has no `{d}`"),
        ("say = [\"add {c}\"", "say = [\"\"", "int -> int: `` are not words"),
        ("\"int -> int\"", "\"int - int\"", "`int - int` is no signature"),
        ("\"int -> str\"", "\"int -> bytes\"", "nothing starts from `bytes`"),
        ("{ text = \"x // {c}\"", "{ text = \"x // {k}\"", "no placeholder `{k}`"),
        ("{ text = \"x // {c}\"", "{ text = \"x // {c\"", "a placeholder such as `{c}`"),
        ("{ text = \"x // {c}\"", "{ text = \"7 // {c}\"", "`7 // {c}` does not use `x`"),
    ] {
        assert!(text.contains(old), "`{old}` is not in the file");
        let found = Grammar::parse(&text.replacen(old, new, 1)).expect_err(new);
        assert!(found.contains(problem), "{new}: {found}");
    }
}

fn is_in_range(kind: InputKind, input: &[Value]) -> bool {
    let digit = |value: &Value| matches!(value, Value::Int(n) if *n >= 0.into() && *n <= 9.into());
    match (kind, input) {
        (InputKind::Int, [Value::Int(n)]) => *n >= 0.into() && *n <= 12.into(),
        (InputKind::List, [Value::List(items)]) => (2..=4).contains(&items.len()) && items.iter().all(digit),
        (InputKind::Str, [Value::Str(text)]) => {
            (2..=4).contains(&text.len()) && text.bytes().all(|byte| (b'a'..=b'e').contains(&byte))
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn inputs_are_distinct_and_in_their_kinds_range(seed: u64, kind in 0..3_usize, count in 1..10_usize) {
        let kind = InputKind::ALL[kind];
        let inputs = Grammar::built_in().inputs(&mut rng(seed), kind, count);
        prop_assert_eq!(inputs.len(), count);
        prop_assert!(inputs.iter().all(|input| is_in_range(kind, input)));
        let texts: HashSet<String> = inputs.iter().map(|input| Value::arguments_text(input)).collect();
        prop_assert_eq!(texts.len(), count);
    }

    #[test]
    fn a_program_has_the_shape_its_family_says(seed: u64) {
        let grammar = Grammar::built_in();
        let generated = grammar.sample(&mut rng(seed), "natural").unwrap();
        prop_assert_eq!(&generated, &grammar.sample(&mut rng(seed), "natural").unwrap());
        let body: Vec<&str> = generated.program.lines().skip(1).filter(|line| !line.starts_with("     ")).collect();
        prop_assert_eq!(generated.program.lines().count() - 1, generated.statements);
        prop_assert_eq!(body.len(), 1 + ["one", "two", "three", "four"].iter().position(|name| *name == generated.family).unwrap());
        prop_assert!(body[body.len() - 1].starts_with("    return "));
        prop_assert_eq!(grammar.family_of(&generated.program), generated.family.as_str());
        prop_assert_eq!(cut(&generated.program, grammar.fragments()).concat(), generated.program);
    }
}
