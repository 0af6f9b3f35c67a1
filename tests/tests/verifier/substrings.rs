//! Mistake 10: the release refuses any source with `input(` in it, and reads the printed text instead of the value when the
//! last line prints. Here no text is searched, and printed text is neither a value nor a verdict.

use veriplay_core::{Attempt, Status, Value};
use veriplay_verifier::triplets::rules;

use super::{abduce, gold, induce, refused_by};

#[test]
fn names_and_texts_that_look_like_something_are_fine() {
    let programs = [
        "def process_input(y):\n    return y * 2\ndef f(x):\n    return process_input(x)\n",
        "def f(x):\n    # raise Error, import os, input(\n    return x * 2\n",
        "def f(x):\n    '''error: input('''\n    return x * 2\n",
        "import os, sys, random, time\ndef f(x):\n    return x * 2\n",
        "def f(x):\n    error = x\n    def g(): return error * 2\n    return g()\n",
        "class Error(Exception):\n    pass\ndef f(x):\n    try:\n        raise Error\n    except Error:\n        return x * 2\n",
    ];
    for program in programs {
        assert_eq!(gold(program, "3"), Value::int(6), "{program}");
    }
    assert_eq!(gold("def f(x):\n    return 'SyntaxError: ' + x\n", "'a'"), Value::str("SyntaxError: a"));
}

#[test]
fn prints_are_harmless_wherever_they_stand() {
    let programs = [
        "def f(x):\n    print('42')\n    return x * 2\n",
        "print('Error')\ndef f(x):\n    return x * 2\nprint(f(1))\n",
        "import sys\ndef f(x):\n    print('Traceback (most recent call last):', 'ValueError', sep='\\n', file=sys.stderr)\n    return x * 2\n",
        "def f(x):\n    print('3 passed, 0 failed')\n    print('{\"status\": \"accepted\"}')\n    return x * 2\n",
        "import sys\ndef f(x):\n    sys.stdout = sys.stderr = None\n    return x * 2\n",
    ];
    for program in programs {
        assert_eq!(gold(program, "3"), Value::int(6), "{program}");
        assert_eq!(
            abduce(program, "6", &Attempt::Arguments(vec![Value::int(3)])).status,
            Status::Accepted,
            "{program}"
        );
    }
}

#[test]
fn what_is_printed_is_no_value_and_no_verdict() {
    assert_eq!(refused_by("def f(x):\n    print(x * 2)\n", "3"), rules::NONE);
    for text in ["4", "accepted", "1 passed", "OK"] {
        let verdict = induce(&format!("def f(x):\n    print('{text}')\n"), &[("3", "4")]);
        assert_eq!(verdict.status, Status::WrongAnswer, "{verdict:?}");
    }
}

#[test]
fn reading_input_fails_because_there_is_none() {
    assert_eq!(refused_by("def f(x):\n    return input()\n", "3"), rules::RAISES);
    assert_eq!(refused_by("def f(x):\n    return eval('in' + 'put' + '()')\n", "3"), rules::RAISES);
}
