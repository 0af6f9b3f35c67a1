//! Test code that changes nothing of its process is not looked at while it runs. Code beyond that must be.

use veriplay_core::{Exit, Job, Status, TestCode, TestStyle, Trust, Value};

use super::{LONG, judge_by_tests, python};

/// Whether the guest says that this test code can change nothing of its process.
fn is_inert(source: &str) -> bool {
    let program = "from _veriplay_inert import is_inert\nfrom _veriplay_tests import Nodes\ndef f(source):\n    return is_inert(Nodes(source))\n";
    let outcome = python().run(&Job { limits: LONG, ..Job::call(program, "f", [Value::str(source)]) }).unwrap();
    assert_eq!(outcome.exit, Exit::Returned, "{outcome:?}");
    outcome.value().unwrap() == Value::Bool(true)
}

#[test]
fn code_of_calls_comparisons_and_values_is_inert() {
    for source in [
        "METADATA = {'author': 'a'}\n\n\ndef check(candidate):\n    assert candidate([1, 2.5], x=3) == {'a': (1, None)}, 'no'\n",
        "from typing import List\nimport math\n\ndef near(a, b=1.0, *rest, **more):\n    return math.isclose(a, b) or type(a) is type(b)\n",
        "from solution import f, LIMIT\ndef test_f():\n    for x in range(10):\n        assert sorted(f(x)) == [i * i for i in range(x)]\n",
        "import random\nfor _ in range(9):\n    xs = [random.randint(0, 9) for _ in range(5)]\n    assert f(xs.copy()) == sum(xs)\n",
        "try:\n    f(-1)\nexcept ValueError as error:\n    assert error.args == ('negative',)\nelse:\n    raise AssertionError(f'{1}')\n",
        "x = {}\nx['a'] = 1\nx.update(b=2)\nassert f(x) == x and 'a,b'.split(',') == list(x)\n",
        "assert (lambda x: x if x else not x)(f(1)) is True\n",
    ] {
        assert!(is_inert(source), "{source}");
    }
}

#[test]
fn code_that_could_change_its_process_or_look_at_it_is_not() {
    for source in [
        "import os\n",
        "from os import path\n",
        "import math as __builtins__\n",
        "from math import *\n",
        "from solution import *\n",
        "import solution\nsolution.x = 1\n",
        "from typing import get_type_hints\n",
        "from random import SystemRandom\n",
        "from . import math\n",
        "print(f(1))\n",
        "x = print\n",
        "open('a')\n",
        "exec('import os')\n",
        "eval('1')\n",
        "getattr(f, 'x')\n",
        "setattr(f, 'x', 1)\n",
        "vars(f)\n",
        "id(f)\n",
        "globals()['x'] = 1\n",
        "__import__('os')\n",
        "__builtins__ = {}\n",
        "f.x = 1\n",
        "f.__globals__\n",
        "[].__class__\n",
        "del f.x\n",
        "f.environ\n",
        "'{0.__class__}'.format(f)\n",
        "type('A', (), {})\n",
        "type(f)\n",
        "type(type(1))('A', (), {})\n",
        "import copy\n",
        "x = type\n",
        "type(*[1]) is int\n",
        "class A: pass\n",
        "import math\nmath.pi = 3\n",
        "with f(): pass\n",
        "@f\ndef g(): pass\n",
        "def g():\n    global f\n    f = 1\n",
        "def g():\n    yield 1\n",
        "async def g(): pass\n",
        "def __getattr__(name): pass\n",
        "try: pass\nexcept ValueError as __builtins__: pass\n",
        "match f:\n    case _: pass\n",
        "def g[T](x: T): pass\n",
        "type X = int\n",
    ] {
        assert!(!is_inert(source), "{source}");
    }
}

/// The name is the program's, and what it means there the tests get from their own library, where they are watched from then on.
#[test]
fn code_that_gets_something_of_the_library_from_the_program_is_watched() {
    let cases = [
        ("from pathlib import Path", "assert Path('b').replace('c') is None", "files"),
        ("from tempfile import TemporaryDirectory", "assert TemporaryDirectory() is not None", "os.environ"),
    ];
    for (import, assertion, seen) in cases {
        let style = TestStyle::Asserts(vec!["assert f(1) == 2".to_owned(), assertion.to_owned()]);
        assert!(is_inert(assertion));
        let program = format!("{import}\ndef f(x): return x + 1\n");
        let verdict = judge_by_tests(TestCode::new(Trust::Split, style), &program, LONG);
        assert_eq!(verdict.status, Status::Unjudgeable, "{verdict:?}");
        assert!(verdict.evidence.detail.contains(seen), "{verdict:?}");
    }
}

/// What is sent in CPython's own format, and what is not: each comes as it was.
#[test]
fn values_of_every_kind_cross_between_tests_and_program() {
    let values = [
        "None", "True", "0", "-1", "2 ** 31", "-(2 ** 31) - 1", "2 ** 5000", "-0.0", "1e308", "'é\\n'",
        "'\\U0001f600' * 99", "b'\\xff\\0'", "()", "(1, ('a',), [])", "[[], [[1]], {}]", "{'a': [1], (1, 2): None}",
        "{1, 2, 3}", "frozenset({1, (2,)})", "1j", "range(3)", "bytearray(b'a')", "[float('inf')]",
    ]; // fmt: skip
    let mut asserts: Vec<String> = values.iter().map(|value| format!("x = {value}\nassert f(x) == x")).collect();
    asserts.push("assert repr(f(-0.0)) == '-0.0'".to_owned());
    asserts.push("x = float('nan')\ny = f(x)\nassert y != y".to_owned());
    asserts.push("from decimal import Decimal\nassert f(Decimal('1.50')) == Decimal('1.5')".to_owned());
    asserts.push("from fractions import Fraction\nfrom datetime import date\nassert f([Fraction(1, 3), date(2026, 1, 2)])[1].day == 2".to_owned());
    let count = asserts.len();
    let code = TestCode::new(Trust::Split, TestStyle::Asserts(asserts));
    let verdict = judge_by_tests(code.clone(), "def f(x): return x", LONG);
    assert_eq!((verdict.status, verdict.passed as usize), (Status::Accepted, count), "{verdict:?}");
    let wrong = judge_by_tests(code, "def f(x): return [x]", LONG);
    assert_eq!((wrong.status, wrong.passed), (Status::WrongAnswer, 0), "{wrong:?}");
}
