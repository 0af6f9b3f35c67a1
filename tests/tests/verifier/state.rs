//! Beyond the release: programs that know which call they are in, so as to look as if they did something.

use veriplay_verifier::triplets::rules;

use super::{gold, refused_by};

#[test]
fn an_output_that_depends_on_the_calls_before_is_refused() {
    let programs = [
        "n = 0\ndef f(x):\n    global n\n    n += 1\n    return n\n",
        "n = 0\ndef f(x):\n    global n\n    n += 1\n    return 7 if n == 1 else x\n",
        "seen = {}\ndef f(x):\n    return seen.setdefault(x, len(seen))\n",
        "def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)\n",
        "def f(x):\n    f.n = getattr(f, 'n', 0) + 1\n    return min(f.n, 8 - f.n)\n",
        "import itertools\nc = itertools.count()\ndef f(x):\n    return next(c)\n",
    ];
    for program in programs {
        assert_eq!(refused_by(program, "3"), rules::NONDETERMINISTIC, "{program}");
    }
}

#[test]
fn a_cache_that_changes_no_output_is_fine() {
    let program = "cache = {}\ndef f(x):\n    if x not in cache:\n        cache[x] = x * x\n    return cache[x]\n";
    assert_eq!(gold(program, "3").to_string(), "9");
    let program = "import functools\n@functools.cache\ndef f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\n";
    assert_eq!(gold(program, "20").to_string(), "6765");
}

#[test]
fn constants_and_the_identity_are_refused_and_what_is_neither_is_not() {
    assert_eq!(refused_by("def f(x):\n    return 7\n", "3"), rules::CONSTANT);
    assert_eq!(refused_by("def f(x):\n    x = 4\n    return x + 1\n", "3"), rules::CONSTANT);
    assert_eq!(refused_by("def f(x):\n    return x\n", "3"), rules::IDENTITY);
    assert_eq!(refused_by("def f(x):\n    return list(x)\n", "[1, 2]"), rules::IDENTITY);
    assert_eq!(refused_by("def f(a, b):\n    return (a, b)\n", "1, 'a'"), rules::IDENTITY);
    assert_eq!(refused_by("def f(x):\n    pass\n", "3"), rules::NONE);
    assert_eq!(gold("def f(x):\n    return x[::-1]\n", "[1, 2, 3]").to_string(), "[3, 2, 1]");
}
