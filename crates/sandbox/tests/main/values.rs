//! What crosses to the host as a value, and what does not.

use proptest::prelude::*;
use veriplay_core::{CallResult, EncodeCaps, Exit, LimitKind, Value};

use crate::support::{Case, calls, cases, end_of, error_of, run, value_of};

#[test]
fn every_plain_value_crosses_and_means_the_same() {
    for text in include_str!("crossing.txt").lines() {
        let crossed = value_of(&format!("def f(): return {text}"));
        // The guest itself says what the value is: the host's text of it must evaluate to the same thing.
        let program = format!(
            "nan, inf = float('nan'), float('inf')\ndef f(): return repr({crossed}) == repr({text}) or ({crossed}) == ({text})"
        );
        assert_eq!(value_of(&program), Value::Bool(true), "{text} crossed as {crossed}");
    }
}

#[test]
fn what_is_no_exact_plain_value_is_unencodable() {
    for Case { program, .. } in cases(include_str!("unencodable.txt")) {
        assert_eq!(error_of(&program), "no encoding", "{program}");
    }
}

#[test]
fn a_value_may_be_nested_as_deep_as_the_decoder_reads() {
    let program = "def f():\n    x = []\n    for _ in range(64): x = [x]\n    return x";
    let depth = std::iter::successors(Some(value_of(program)), |value| match value {
        Value::List(items) => items.first().cloned(),
        _ => None,
    });
    assert_eq!(depth.count(), 65);
}

/// What is small as objects and long when it is written out ends the job as soon as that is known.
#[test]
fn a_value_that_outgrows_the_output_is_not_written_out() {
    for value in [
        "['a' * (1 << 19)] * 1000", "[[0] * (1 << 19)] * 1000", "[1 << (1 << 22)] * 1000", "nested(60)",
        "{1: nested(60)}",
    ] {
        let program = format!(
            "def nested(n):\n    x = []\n    for _ in range(n): x = [x, x]\n    return x\ndef f(): return {value}"
        );
        let outcome = run(&calls(&program, vec![vec![]]));
        let Exit::Exceeded { limit, .. } = outcome.exit else { panic!("{value}: {outcome:?}") };
        assert_eq!(limit, LimitKind::OutputBytes, "{value}");
    }
}

/// As many values as fit are counted in the strict encoding, however they came, and each as ten bytes at least.
#[test]
fn a_value_of_just_the_output_that_is_allowed_crosses() {
    let most = calls("", vec![]).limits.output_bytes;
    for (program, is_allowed) in [
        (format!("def f(): return 'a' * {}", most - 5), true),
        (format!("def f(): return 'a' * {}", most - 4), false),
        (format!("def f(): return [0.5] * {}", most / 10 - 1), true),
        (format!("def f(): return [0.5] * {}", most / 10), false),
    ] {
        let outcome = run(&calls(&program, vec![vec![]]));
        assert_eq!(outcome.exit == Exit::Returned, is_allowed, "{program}: {:?}", outcome.exit);
    }
}

#[test]
fn a_lying_type_cannot_hide_behind_patched_builtins() {
    let program = "import builtins
class Yes:
    def __eq__(self, other): return True
builtins.type = lambda x: int
builtins.isinstance = lambda x, y: True
builtins.int = Yes
def f(): return Yes()";
    assert_eq!(error_of(program), "no encoding");
}

#[test]
fn calls_share_the_programs_state_but_not_their_arguments() {
    let program = "seen = []\ndef f(x):\n    seen.append(x)\n    x.append(0)\n    return [len(seen), x]";
    let outcome = run(&calls(program, vec![vec![Value::List(vec![])]; 2]));
    let expected = [1, 2].map(|n| Value::List(vec![Value::int(n), Value::List(vec![Value::int(0)])]));
    assert_eq!(outcome.calls, expected.map(|value| CallResult::Returned(value.encode())));
}

/// The module that reads and writes some values tells hooks of audits. A program with a hook is called without it.
#[test]
fn a_hook_of_audits_hears_nothing_of_arguments_and_results() {
    let program = "import sys\nevents = []\ndef hook(event, _):\n    events.append(event)\n    if 'marshal' in event: raise ValueError\n\
                   sys.addaudithook(hook)\ndef f(x): return [event for event in events if 'marshal' in event] + x";
    let outcome = run(&calls(program, vec![vec![Value::List(vec![Value::int(1)])]; 2]));
    let alone = CallResult::Returned(Value::List(vec![Value::int(1)]).encode());
    assert_eq!(outcome.calls, [alone.clone(), alone]);
}

#[test]
fn no_calls_are_no_results() {
    let outcome = run(&calls("def f(): pass", vec![]));
    assert_eq!((end_of(&outcome).as_str(), outcome.calls.len()), ("Returned", 0));
    let outcome = run(&calls("1 / 0", vec![vec![]]));
    assert_eq!((end_of(&outcome).as_str(), outcome.calls.len()), ("Raised ZeroDivisionError", 0));
}

fn value() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::Bool),
        any::<i128>().prop_map(|n| Value::Int(n.into())),
        any::<i8>().prop_map(|n| Value::Int(n.into())),
        any::<f64>().prop_map(Value::Float),
        any::<String>().prop_map(Value::Str),
        any::<Vec<u8>>().prop_map(Value::Bytes),
    ];
    let hashable = key
        .clone()
        .prop_filter("python has one key for 1, 1.0 and True", |v| matches!(v, Value::Str(_) | Value::Bytes(_)));
    key.prop_recursive(3, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Tuple),
            prop::collection::vec(hashable.clone(), 0..5).prop_map(|items| Value::set_of(items, false)),
            prop::collection::vec(hashable.clone(), 0..5).prop_map(|items| Value::set_of(items, true)),
            prop::collection::btree_map("[a-z]{0,3}", inner, 0..5)
                .prop_map(|map| Value::Dict(map.into_iter().map(|(key, value)| (Value::Str(key), value)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_goes_in_as_an_argument_comes_out_the_same(values in prop::collection::vec(value(), 1..4)) {
        let outcome = run(&calls("def f(*args): return list(args)", vec![values.clone()]));
        prop_assert_eq!(&outcome.exit, &Exit::Returned);
        let CallResult::Returned(bytes) = &outcome.calls[0] else { panic!("{outcome:?}") };
        prop_assert_eq!(bytes, &Value::List(values.clone()).encode());
        prop_assert_eq!(Value::decode(bytes, EncodeCaps::with_bytes(1 << 20)).unwrap(), Value::List(values));
    }
}
