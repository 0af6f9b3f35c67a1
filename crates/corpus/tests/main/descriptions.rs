//! Programs in words.

use std::collections::HashMap;

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use veriplay_corpus::{Grammar, InputKind};

#[test]
fn a_description_says_each_step_in_words_of_the_data() {
    let grammar = Grammar::built_in();
    let said = |kind, body: &str| {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        grammar.describe(&format!("def f(x):{body}"), kind, &mut rng)
    };
    let told = said(InputKind::List, "\n    x = x[::-1]\n    return [v + 3 for v in x]").unwrap();
    let (first, second) = told.split_once(", then ").unwrap();
    assert!(["reverse it", "back to front"].contains(&first), "{told}");
    assert!(["add 3 to each", "each plus 3"].contains(&second), "{told}");
    let told = said(InputKind::Str, "\n    if 'a' in x:\n        return len(x)\n    return x + 'b'").unwrap();
    assert!(told.starts_with("if ") && told.contains(" answer: ") && told.contains('b'), "{told}");
    let told = said(InputKind::Int, "\n    for i in range(2):\n        x = x + i\n    return x * x").unwrap();
    assert!(told.starts_with("2 times with i from 0: "), "{told}");
    // Of another type, by hand, cut short, or with more after its end.
    for (kind, body) in [
        (InputKind::Int, "\n    return x[::-1]"),
        (InputKind::Int, "\n    return x + 3 + 4"),
        (InputKind::Int, "\n    x = x + 3\n"),
        (InputKind::Int, ""),
        (InputKind::Int, "\n    return x + 3\n    return x"),
        (InputKind::Int, "\n    if x > 3:\n    return x + 1"),
        (InputKind::Int, "\n    for i in range(2\n    return x + 1"),
    ] {
        assert_eq!(said(kind, body), None, "{body}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every generated program can be described, and the description determines the program.
    #[test]
    fn every_program_can_be_told_and_no_two_are_told_alike(seed: u64) {
        let grammar = Grammar::built_in();
        let phrases = grammar.phrases();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut told: HashMap<(InputKind, String), String> = HashMap::new();
        for _ in 0..100 {
            let program = grammar.sample(&mut rng, "natural").unwrap();
            let text = grammar.describe(&program.program, program.input_kind, &mut rng);
            let text = text.ok_or_else(|| TestCaseError::fail(format!("not told: {}", program.program)))?;
            let others = phrases.iter().fold(text.clone(), |text, phrase| text.replace(phrase.as_str(), ""));
            prop_assert!(others.len() < text.len());
            let key = (program.input_kind, text);
            if let Some(other) = told.insert(key.clone(), program.program.clone()) {
                prop_assert_eq!(other, program.program, "{:?}", key);
            }
        }
    }
}
