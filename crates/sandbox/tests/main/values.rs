//! What crosses to the host as a value, and what does not.

use proptest::prelude::*;
use veriplay_core::{CallResult, EncodeCaps, Exit, LimitKind, Value};

use crate::support::{calls, end_of, error_of, run, value_of};

/// Values a guest returns, written as Python writes them.
const CROSSING: &[&str] = &[
    "None",
    "True",
    "False",
    "0",
    "1",
    "-1",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "2**64",
    "-2**63",
    "10**300",
    "-10**300",
    "0.0",
    "-0.0",
    "1.5",
    "1e308",
    "5e-324",
    "float('inf')",
    "-float('inf')",
    "float('nan')",
    "-float('nan')",
    "''",
    "'é\\n\\0'",
    "'\\U0001f600'",
    "b''",
    "bytes(range(256))",
    "[]",
    "[1, [2, []]]",
    "()",
    "(1,)",
    "(1, ('a', None))",
    "set()",
    "{1, 2, 3}",
    "{'a', 'b', (1, 2)}",
    "frozenset()",
    "frozenset({1, frozenset({2})})",
    "{}",
    "{'b': 1, 'a': [2]}",
    "{1: {2: {3: 4}}, None: (), (1,): b'x'}",
    "[True, 2, -3, 0.5]",
    "[2**62, -2**62, 2**62 - 1, 1 - 2**62]",
    "[float('nan'), 1]",
    "[1, float('nan'), 10**300]",
    "[237, -19, 'í', '\\ud7ff']",
    "['a', 'í', '\\U0001f600', '']",
    "['a', b'\\xed', bytearray(b'a'), None]",
    "{'a': 1.5, 'í': [b'', ()], 3: {True: None}}",
    "{1.5: 1, float('nan'): 2}",
    "[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]",
    "[(1, 2), [3, 4], ('a', 5)]",
];

#[test]
fn every_plain_value_crosses_and_means_the_same() {
    for text in CROSSING {
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
    let programs = [
        "class I(int): pass\ndef f(): return I(3)",
        "class S(str): pass\ndef f(): return [S('a')]",
        "class L(list): pass\ndef f(): return L()",
        "class D(dict): pass\ndef f(): return {1: D()}",
        "class E:\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(): return E()",
        "class E:\n    __class__ = int\n    def __eq__(self, other): return True\ndef f(): return E()",
        "import collections\nclass O(collections.OrderedDict): pass\ndef f(): return O()",
        "import collections\ndef f(): return collections.namedtuple('P', 'x')(1)",
        "import enum\nclass C(enum.IntEnum):\n    A = 1\ndef f(): return C.A",
        "def f(): return object()",
        "def f(): return f",
        "def f(): return (x for x in [1])",
        "def f(): return {1}.__iter__()",
        "def f(): return '\\ud800'",
        "def f(): return ['a', '\\ud800']",
        "def f(): return {'\\udfff': 1}",
        "def f(): return {(float('nan'),): 1, (float('nan'),): 2}",
        "import array\ndef f(): return array.array('i', [1])",
        "import array\ndef f(): return [1, array.array('i', [1])]",
        "def f(): return {'a': memoryview(b'a')}",
        "class B(bytes): pass\ndef f(): return [B(b'a')]",
        "class B(bytearray): pass\ndef f(): return B(b'a')",
        "class M(type):\n    __hash__ = lambda c: hash(int)\n    __eq__ = lambda c, other: True\n\
         class B(bytearray, metaclass=M): pass\ndef f(): return [B(b'a')]",
        "class M(type):\n    __hash__ = lambda c: 1 / 0\nclass I(int, metaclass=M): pass\ndef f(): return {I(1): [I(2)]}",
        "class I(int):\n    __lt__ = __gt__ = lambda a, b: 1 / 0\ndef f(): return [1, I(2)]",
        "def f(): return ...",
        "def f(): return [slice(1)]",
        "def f(): return (f.__code__,)",
        "def f(): return [StopIteration]",
        "def f(): return {float('nan'), float('nan')}",
        "def f(): return {float('nan'): 1, float('nan'): 2}",
        "def f():\n    x = []\n    x.append(x)\n    return x",
        "def f():\n    x = {}\n    x['x'] = x\n    return x",
        "import sys\nsys.setrecursionlimit(10 ** 6)\ndef f():\n    x = {}\n    x['x'] = ([x],)\n    return x",
        "def f():\n    x = 1\n    for _ in range(65): x = {'x': x}\n    return x",
        "def f():\n    x = []\n    for _ in range(65): x = [x]\n    return x",
        "def f():\n    x = ()\n    for _ in range(100000): x = (x,)\n    return x",
    ];
    for program in programs {
        assert_eq!(error_of(program), "no encoding", "{program}");
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
    assert_eq!((end_of(&outcome).0.as_str(), outcome.calls.len()), ("Returned", 0));
    let outcome = run(&calls("1 / 0", vec![vec![]]));
    assert_eq!((end_of(&outcome).1.as_str(), outcome.calls.len()), ("ZeroDivisionError", 0));
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
