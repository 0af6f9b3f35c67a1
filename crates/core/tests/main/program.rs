//! Normalised programs: what the interpreter runs is kept, what it skips is not.

use proptest::prelude::*;
use veriplay_core::{count_statements, normalize_program, program_hash};

/// Pairs of a program and its normal form.
pub(crate) const CORPUS: &[(&str, &str)] = &[
    ("def f(x):\n    return x\n", "def f(x):\n    return x\n"),
    ("def f(x):\n  return x", "def f(x):\n    return x\n"),
    ("def f(x):\n\treturn x", "def f(x):\n    return x\n"),
    ("\n# head\ndef f(x):  # here\n\n    # there\n    return x   \n\n", "def f(x):\n    return x\n"),
    ("def f(x):\r\n    return x\r\n", "def f(x):\n    return x\n"),
    ("x = '# no comment'  # one\n", "x = '# no comment'\n"),
    ("x = \"a\\\"# no\" # one\n", "x = \"a\\\"# no\"\n"),
    ("x = r'\\'# no' # one\n", "x = r'\\'# no'\n"),
    ("x = '''a  \n\n  # no\n'''  # one\n", "x = '''a  \n\n  # no\n'''\n"),
    (
        "def f():\n    \"\"\"Doc.\n\n      more  \n    \"\"\"\n    return 1\n",
        "def f():\n    \"\"\"Doc.\n\n      more  \n    \"\"\"\n    return 1\n",
    ),
    ("x = f'{y:#x}' # one\n", "x = f'{y:#x}'\n"),
    ("x = f\"{d[\"a # b\"]}\" # one\n", "x = f\"{d[\"a # b\"]}\"\n"),
    ("x = f'{{# {y:{w}} #' # one\n", "x = f'{{# {y:{w}} #'\n"),
    ("x = f'{y:\\'>3}' # one\n", "x = f'{y:\\'>3}'\n"),
    ("x = 'a' if\"{\"else 1 # one\n", "x = 'a' if\"{\"else 1\n"),
    ("x = [1,  # one\n\n     2]\n", "x = [1,\n2]\n"),
    ("x = 1 + \\\n    2\n", "x = 1 + \\\n2\n"),
    ("x = 1 \\\n\ny = 2\n", "x = 1\ny = 2\n"),
    ("if a:\n  if b:\n      c\n  d\ne\n", "if a:\n    if b:\n        c\n    d\ne\n"),
    ("", ""),
    ("# only\n", ""),
];

#[test]
fn the_corpus_has_its_normal_forms() {
    for (program, wanted) in CORPUS {
        assert_eq!(normalize_program(program), *wanted, "{program:?}");
    }
}

#[test]
fn programs_that_differ_in_layout_alone_have_one_hash() {
    let hash = program_hash("def f(x):\n    return x\n");
    assert_eq!(hash, program_hash("# a\ndef f(x):\n  return x # b"));
    for other in ["def f(x):\n    return  x\n", "def f(x):\n    return 'x'\n", "def f(y):\n    return y\n"] {
        assert_ne!(hash, program_hash(other));
    }
}

#[test]
fn what_is_a_syntax_error_stays_one() {
    // A dedent to no open level, and text that is indented for no reason.
    assert_eq!(normalize_program("if a:\n    b\n  c\n"), "if a:\n    b\n   c\n");
    assert_eq!(normalize_program("  x = 1\n"), "    x = 1\n");
}

#[test]
fn statements_are_counted_without_def_lines() {
    let corpus = [
        ("def f(x):\n    return x\n", 1),
        ("def f(x): return x\n", 1),
        ("def f(x):\n    x = x + 1\n    return x\n", 2),
        ("def f(x):\n    x += 1; x += 2; return x\n", 3),
        ("def f(x):\n    x = 1;\n    return x;\n", 2),
        ("def f(x):\n    if x: x = 2\n    return x\n", 3),
        ("def f(x):\n    if x:\n        x = 2\n    return x\n", 3),
        ("def f(x):\n    y: int = 1\n    return {1: y}\n", 2),
        ("def f(x):\n    return (x, # ; a ; b\n      ';')\n", 1),
        ("def f(x):\n    return [x,\n      x,\n      x]\n", 1),
        ("# none\n", 0),
    ];
    for (program, wanted) in corpus {
        assert_eq!(count_statements(program), wanted, "{program:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_scanned(text in any::<String>()) {
        let once = normalize_program(&text);
        prop_assert!(once.len() <= 5 * text.len() + 8 + 4 * text.lines().count() * text.lines().count());
    }
}
