//! The split of all programs.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use veriplay_corpus::{Grammar, Split, SplitShares};

const SHARES: SplitShares = SplitShares { validation: 0.1, held_out: 0.2 };

#[test]
fn the_split_of_these_programs_never_changes() {
    let splits: Vec<&str> =
        (0..16).map(|n| Split::of_program(&format!("def f(x):\n    return x + {n}"), SHARES).name()).collect();
    assert_eq!(
        splits.join(" "),
        "held_out held_out train held_out train train train validation held_out held_out train train train train held_out train"
    );
}

#[test]
fn shares_are_what_they_say() {
    let mut counts: HashMap<Split, f64> = HashMap::new();
    for n in 0..20_000 {
        *counts.entry(Split::of_program(&format!("def f(x):\n    return x + {n}"), SHARES)).or_default() +=
            1.0 / 20_000.0;
    }
    assert!((counts[&Split::HeldOut] - 0.2).abs() < 0.01, "{counts:?}");
    assert!((counts[&Split::Validation] - 0.1).abs() < 0.01, "{counts:?}");
    assert!((counts[&Split::Train] - 0.7).abs() < 0.01, "{counts:?}");
}

#[test]
fn every_split_of_the_tiny_grammar_has_programs_of_every_family() {
    let grammar = Grammar::built_in();
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for family in ["one", "two", "three", "four"] {
        let mut programs: BTreeMap<String, Split> = BTreeMap::new();
        for _ in 0..4000 {
            let program = grammar.program(&mut rng, family).unwrap().program;
            let split = grammar.split_of(&program);
            programs.insert(program, split);
        }
        let share = |split| programs.values().filter(|own| **own == split).count() as f64 / programs.len() as f64;
        let (validation, held_out) = if family == "one" { (0.06, 0.08) } else { (0.04, 0.06) };
        assert!((share(Split::Validation) - validation).abs() < 0.035, "{family}: {}", share(Split::Validation));
        assert!((share(Split::HeldOut) - held_out).abs() < 0.035, "{family}: {}", share(Split::HeldOut));
    }
}

#[test]
fn layout_does_not_move_a_program_to_another_split() {
    let grammar = Grammar::built_in();
    for n in 0..300 {
        let program = format!("def f(x):\n    return x * {n}");
        let layouts =
            [format!("{program}\n"), format!("\n{program}\n\n"), format!("# a comment\n{program}  # another\n")];
        for layout in layouts {
            assert_eq!(grammar.split_of(&layout), grammar.split_of(&program), "{layout}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_larger_share_keeps_what_a_smaller_one_held_out(n: u32, small in 0.0..0.5_f64, more in 0.0..0.5_f64) {
        let program = format!("def f(x):\n    return x + {n}");
        let split = |held_out| Split::of_program(&program, SplitShares { validation: 0.0, held_out });
        prop_assert!(split(small) != Split::HeldOut || split(small + more) == Split::HeldOut);
        prop_assert_eq!(split(1.0), Split::HeldOut);
        prop_assert_eq!(split(0.0), Split::Train);
    }

    #[test]
    fn any_text_has_a_split(program: String) {
        let grammar = Grammar::built_in();
        prop_assert!(Split::ALL.contains(&grammar.split_of(&program)));
    }
}
