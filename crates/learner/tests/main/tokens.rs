//! The tokenizer.

use proptest::prelude::*;
use veriplay_learner::{END_TOKEN, Tokenizer, TokenizerError, build_tokenizer};

fn built() -> Tokenizer {
    let control = ["<D>", "<I>", "<PD>"].map(str::to_owned);
    let fragments = ["def f(x):", "\n    return ", "return", "x[::-1]", "x[", "  ", "sorted(x)"].map(str::to_owned);
    build_tokenizer(&control, &fragments).expect("the tokens are fine")
}

fn spelled(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
    tokenizer.encode(text).expect("ascii").iter().map(|&id| tokenizer.token(id).expect("known")).collect()
}

#[test]
fn the_end_token_is_zero_and_every_token_has_its_place() {
    let tokenizer = built();
    assert_eq!(tokenizer.token_id(END_TOKEN), Some(0));
    assert_eq!(
        (tokenizer.token_id("<D>"), tokenizer.token_id("<PD>"), tokenizer.token_id("def f(x):")),
        (Some(1), Some(3), Some(4))
    );
    assert_eq!(tokenizer.vocab_size(), 1 + 3 + 7 + 97);
}

#[test]
fn fragments_match_leftmost_longest_and_the_rest_is_spelled() {
    let tokenizer = built();
    assert_eq!(
        spelled(&tokenizer, "<D>def f(x):\n    return x[::-1]"),
        ["<D>", "def f(x):", "\n    return ", "x[::-1]"]
    );
    assert_eq!(spelled(&tokenizer, "x[:]"), ["x[", ":", "]"]);
    assert_eq!(spelled(&tokenizer, "return 12"), ["return", " ", "1", "2"]);
    assert_eq!(spelled(&tokenizer, "   x"), ["  ", " ", "x"]);
    assert_eq!(spelled(&tokenizer, "<PD><D>"), ["<PD>", "<D>"]);
    assert_eq!(tokenizer.encode("").expect("nothing"), Vec::<u32>::new());
}

#[test]
fn a_character_without_a_token_is_named_not_dropped() {
    for (text, wrong) in [("a→b", '→'), ("é", 'é'), ("x\r\n", '\r'), ("\u{7f}", '\u{7f}'), ("a\0", '\0')] {
        assert_eq!(built().encode(text), Err(TokenizerError::Character(wrong, wrong as u32)));
    }
}

#[test]
fn lists_that_would_make_an_ambiguous_vocabulary_are_refused() {
    let build = |control: &[&str], fragments: &[&str]| {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        build_tokenizer(&own(control), &own(fragments)).map(|_| ())
    };
    assert_eq!(build(&["<D>"], &["ab"]), Ok(()));
    for (control, fragments) in [
        (&["<D>", "<D>"][..], &[][..]),
        (&["<D>"], &["<D>"]),
        (&[], &["x"]),
        (&[], &[""]),
        (&[], &["né"]),
        (&[END_TOKEN], &[]),
    ] {
        assert!(matches!(build(control, fragments), Err(TokenizerError::Token { .. })), "{control:?} {fragments:?}");
    }
}

#[test]
fn the_file_gives_the_same_tokenizer_back() {
    let tokenizer = built();
    let again = Tokenizer::from_json(&tokenizer.to_json().expect("serialises")).expect("parses");
    let text = "<I>def f(x):\n    return sorted(x)[0] ~ <|end|>";
    assert_eq!(tokenizer.encode(text), again.encode(text));
    assert_eq!(again.decode(&again.encode(text).expect("ascii")), text);
    assert_eq!(tokenizer.to_json(), again.to_json());
    assert!(matches!(Tokenizer::from_json("{"), Err(TokenizerError::File(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_ascii_text_survives_a_round_trip(parts in prop::collection::vec(prop_oneof![
        "[ -~\n\t]{0,12}", Just("<D>".to_owned()), Just("<|end|>".to_owned()), Just("\n    return ".to_owned()), Just("x[::-".to_owned()),
    ], 0..8)) {
        let text = parts.concat();
        let tokenizer = built();
        let tokens = tokenizer.encode(&text).expect("ascii");
        prop_assert_eq!(tokenizer.decode(&tokens), text);
        prop_assert!(tokens.iter().all(|&t| (t as usize) < tokenizer.vocab_size()));
    }
}
