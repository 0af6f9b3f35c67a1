//! Values of classes beyond the literal ones: their states, their texts, their `==`.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use veriplay_core::{DecodeError, EncodeCaps, PythonClass, Value};

use crate::arbitrary::value;
use crate::python::python;

pub(crate) fn read(text: &str) -> Value {
    Value::parse_repr(text).unwrap_or_else(|error| panic!("`{text}`: {error}"))
}

/// Texts that Python (or numpy 2) writes.
fn texts() -> impl Iterator<Item = &'static str> {
    include_str!("objects.txt").lines()
}

fn decode(bytes: &[u8]) -> Result<Value, DecodeError> {
    Value::decode(bytes, EncodeCaps::with_bytes(1 << 20))
}

#[test]
fn objects_are_written_as_python_writes_them_and_read_back_but_no_literals() {
    for text in texts() {
        let value = read(text);
        assert_eq!(value.to_string(), text);
        assert_eq!(decode(&value.encode()).as_ref(), Ok(&value), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&serde_json::to_string(&value).unwrap()).unwrap(), value);
        assert!(Value::parse_literal(text).is_err(), "`{text}` was taken as a literal");
        assert!(Value::parse_arguments(text).is_err(), "`{text}` was taken as an argument");
    }
}

#[test]
fn calls_that_repr_does_not_write_are_refused() {
    for text in include_str!("refused_objects.txt").lines() {
        assert!(Value::parse_repr(text).is_err(), "`{text}` was taken as {:?}", Value::parse_repr(text));
    }
}

#[test]
fn a_counter_is_no_equivalence_and_has_the_key_of_its_pairs() {
    let (zero, none, dict) = (read("Counter({'a': 0})"), read("Counter()"), read("{}"));
    assert!(zero.python_eq(&none) && none.python_eq(&dict) && !zero.python_eq(&dict));
    assert_eq!(none.python_key(), dict.python_key());
}

#[test]
fn what_python_cannot_hash_is_no_key() {
    for text in [
        "bytearray(b'')", "Counter()", "OrderedDict()", "defaultdict(None, {})", "deque([])", "Decimal('sNaN')",
        "(Counter(),)",
    ] {
        assert!(!read(text).is_hashable(), "{text}");
        assert!(Value::parse_repr(&format!("{{{text}}}")).is_err(), "{{{text}}}");
    }
    for text in ["2j", "range(0, 1)", "Decimal('NaN')", "Fraction(1, 3)", "datetime.timedelta(0)", "np.int64(1)"] {
        assert!(read(text).is_hashable(), "{text}");
    }
}

/// Tag and code of a class, and a state that it does not have.
const OTHER_STATES: &[&str] = &[
    "oc (1, 2)", "oc (1.0,)", "or (0, 1, 0)", "or (0, True, 1)", "o/ (1, -3)", "ox '1'", "ox '01E0'", "ox '1E+5'",
    "ox '1E05'", "ox '1E-0'", "ox 'E5'", "ox '--1E5'", "ox '1E9999999999999999999'", "ox 'NaN01'", "ox 'infinity'",
    "oy (2023, 2, 29)", "oh (1, 2, 3, 4, 0)", "oe (0, -1, 0)", "oz 86400000000", "oz -86400000000", "oq ([None], 0)",
    "oD ('eval', {})", "nf 0.1", "ne 65520.0", "nb 128", "n? 1", "n? 0", "oX None", "nX None",
];

#[test]
fn a_state_in_another_form_is_no_object() {
    let large = format!("o/ (0x1{}, 1)", "0".repeat(512));
    for case in OTHER_STATES.iter().chain([&large.as_str()]) {
        let (class, state) = case.split_once(' ').unwrap();
        let found = decode(&[class.as_bytes(), &read(state).encode()].concat());
        assert!(matches!(found, Err(DecodeError::Invalid { .. })), "{case}: {found:?}");
    }
    for object in ["oc (1.0, 2.0)", "o/ (1, 3)", "ox '1E5'", "oz -86399999999", "nb 127", "n? True"] {
        let (class, state) = object.split_once(' ').unwrap();
        assert!(decode(&[class.as_bytes(), &read(state).encode()].concat()).is_ok(), "{object}");
    }
    assert!(Value::object(PythonClass::Complex, read("(1, 2)")).is_err());
    assert!(decode(b"o").is_err() && decode(b"oc").is_err());
}

#[test]
fn nested_objects_end_where_the_encoding_ends() {
    let bytes = b"oC".repeat(100_000);
    assert_eq!(decode(&bytes), Err(DecodeError::TooDeep(EncodeCaps::DEPTH)));
    for open in ["Counter(", "datetime.timezone(", "deque([", "np.int64("] {
        assert!(Value::parse_repr(&open.repeat(100_000)).is_err(), "{open}");
    }
    // A `Counter` in lists in deques: each deque is an object, its state and a list.
    let deep = |depth: usize| read(&format!("{}Counter(){}", "deque([".repeat(depth), "])".repeat(depth)));
    assert_eq!(decode(&deep(21).encode()).as_ref(), Ok(&deep(21)));
    assert_eq!(Value::parse_repr(&deep(21).to_string()).as_ref(), Ok(&deep(21)));
    let deeper = Value::Tuple(vec![Value::List(vec![deep(21)]), Value::None]);
    let deeper = Value::object(PythonClass::Deque, deeper).unwrap();
    assert!(decode(&deeper.encode()).is_err() && Value::parse_repr(&deeper.to_string()).is_err());
}

#[test]
fn huge_exponents_are_never_written_out() {
    let texts = ["Decimal('1E+999999999999999999')", "Decimal('-1E-999999999999999999')", "Decimal('9E+401')"];
    for text in texts {
        let value = read(text);
        assert!(value.python_key().len() < 100 && value.to_string().len() < 100, "{text}");
    }
    let many = Value::List((1..20_000).map(|n| read(&format!("Decimal('{n}E+99999')"))).collect());
    assert!(many.python_eq(&many.clone()) && many.python_key().len() < 2_000_000);
}

/// Values without numpy's, infinite or NaN complex numbers and NaN, of which Python's own answer depends on identity.
fn comparable(count: usize) -> Vec<Value> {
    let mut runner = TestRunner::deterministic();
    let draws = std::iter::repeat_with(|| value().new_tree(&mut runner).unwrap().current());
    let strange = |text: &String| ["np.", "nan", "inf", "NaN"].iter().any(|word| text.contains(word));
    draws.filter(|value| !strange(&value.to_string())).take(count).collect()
}

#[test]
fn python_writes_complex_numbers_alike() {
    let texts: Vec<&str> = texts().filter(|text| read(text).class() == Some(PythonClass::Complex)).collect();
    let script = "import json, sys\nfor line in sys.stdin: print(repr(complex(json.loads(line))))";
    let Some(replies) = python(script, &texts) else { return };
    assert_eq!(replies, texts);
}

#[test]
fn python_writes_the_same_texts_and_calls_the_same_objects_equal() {
    let named = texts().filter(|text| !text.contains("np.") && !text.to_lowercase().contains("nan"));
    let mut values: Vec<Value> = named.map(read).collect();
    let others = [
        "1", "1.0", "True", "0.5", "0", "-0.0", "(1,)", "[1]", "{1}", "{1.0}", "{1: 1}", "{True: 1.0}", "{'a': 1}",
        "b'a\\x00'", "Counter({'a': 1})",
    ];
    values.extend(others.map(read));
    values.extend(comparable(120));
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let Some(replies) = python(include_str!("python/objects.py"), &texts) else { return };
    assert_eq!(replies.len(), values.len());
    for ((a, written), reply) in values.iter().zip(&texts).zip(replies) {
        let (text, row): (String, String) = serde_json::from_str(&reply).unwrap();
        // Sets have an order of their own, and an `OrderedDict` was written otherwise before Python 3.12.
        // `eval` adds the parts of a complex number, which loses the signs of zeros.
        if written.is_ascii() && !["{", "OrderedDict", "j"].iter().any(|word| written.contains(word)) {
            assert_eq!(*written, text);
        }
        for (b, cell) in values.iter().zip(row.bytes()) {
            assert_eq!(a.python_eq(b), cell == b'1', "{a} == {b}");
        }
    }
}
