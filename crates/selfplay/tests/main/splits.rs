//! The guard of splits: what counts as one program, what set-up refuses, and what it says.

use proptest::prelude::*;
use veriplay_core::Digest;
use veriplay_python::fingerprint::{functions, program_fingerprint};
use veriplay_selfplay::splits::{EvalSet, Guard, HELD_OUT, Overlap, text_fingerprint};

/// The program that adds `n`.
fn adds(n: i64) -> String {
    format!("def f(x):\n    return x + {n}")
}

const SUM: &str = "def total(xs):\n    result = 0\n    for x in xs:\n        result += x\n    return result\n";

#[test]
fn layout_comments_docstrings_quotes_annotations_and_names_of_variables_do_not_make_another_program() {
    for (one, other) in [
        (SUM, "def total(xs):\n  '''Adds.'''\n\n  result=0 # so far\n  for x in xs:\n      result+=x\n  return result"),
        (SUM, "def f(a):\n    b = 0\n    for c in a: b += c\n    return b\n"),
        (
            SUM,
            "def total(xs: list[int]) -> int:\n    result = 0; pass\n    for x in xs:\n        result += x\n    return result\n",
        ),
        ("def f(x):\n    return [v for v in x if v != 'a']", "def f(y):\n    return [w for w in y if w != \"a\"]"),
        ("f = lambda x, *y: x + len(y)", "g = lambda a, *b: a + len(b)"),
        ("def f(x):\n    return f'{x}: {x!r:>4}'", "def f(z):\n    return F\"{z}: { z !r:>4}\""),
        (
            "with open(p) as file:\n    a, (b, c) = file\nprint(a, b, c)",
            "with open(p) as g:\n    x, (y, z) = g\nprint(x, y, z)",
        ),
        (
            "def f(x):\n    if (n := len(x)) > 1: return n\n    return 1_000",
            "def f(y):\n    if (m := len(y)) > 1:\n        return m\n    return 1000",
        ),
        ("async def f(x):\n    await x", "async def g(y):\n    await y"),
        ("class A:\n    pass\nx = A()", "class B:\n    'Nothing.'\ny = B()"),
        ("def f(s):\n    count = s.count('a')\n    return count", "def f(s):\n    n = s.count('a')\n    return n"),
        (
            "def f(s):\n    key = len\n    return sorted(s, key=key)",
            "def f(s):\n    by = len\n    return sorted(s, key=by)",
        ),
        (
            "def f(x, y):\n    return [c for c in x], [c for c in y]",
            "def f(x, y):\n    return [c for c in x], [d for d in y]",
        ),
        (
            "def f(s):\n    return sorted(s, key=lambda s: -ord(s))",
            "def f(s):\n    return sorted(s, key=lambda c: -ord(c))",
        ),
        (
            "def f(x):\n    match x:\n        case [first, *rest]: return first, rest\n        case {'a': b, **c} as d: return b, c, d",
            "def f(y):\n    match y:\n        case [k, *l]: return k, l\n        case {'a': m, **n} as o: return m, n, o",
        ),
        ("def f[T](text: T, k):\n    return text * k", "def f(s, times):\n    return s * times"),
        ("def f(a, b):\n    return g(a, b)", "def f(\n    a,\n    b,\n):\n    return (g(a, b,))"),
        (
            "def f(a):\n    for x, y in a:\n        (c, d) = x, y\n    return c + d",
            "def f(a):\n    for (x, y) in a:\n        c, d = (x, y)\n    return c \\\n        + d",
        ),
        ("def f():\n    return 'ab' + 'c'", "def f():\n    return 'a' \"b\" + \"\"\"c\"\"\""),
        ("def f(x):\n    'Sums ' 'things.'\n    return x + 1", "def f(x):\n    ('Sums.')\n    ...\n    return x + 1"),
        (
            "def f(x):\n    total = 0\n    return total + x",
            "def f(x):\n    y: str\n    total: int = 0\n    return total + x",
        ),
        (
            "def f(x):\n    def g(): nonlocal x; x = 1\n    g()\n    return x",
            "def f(y):\n    def h(): nonlocal y; y = 1\n    h()\n    return y",
        ),
        ("try:\n    f()\nexcept E as e:\n    print(e)", "try:\n    f()\nexcept E as error:\n    print(error)"),
        (
            "def f(x):\n    if x: return 1\n    elif g(x): return 2\n    else: return 3",
            "def f(x):\n    if x: return 1\n    else:\n        if g(x): return 2\n        else:\n            return 3",
        ),
        ("def f(x):\n    x.sort()", "def f(x):\n    x.sort()\n    return None"),
        ("def f(x):\n    if x: return\n    x.sort()", "def f(x):\n    if x: return None\n    x.sort()\n    return"),
        ("def f(x, y):\n    return x not in y", "def f(x, y):\n    return not x in y"),
        ("def f(x):\n    return x + 'ab'", "def f(x):\n    return x + f'a' 'b'"),
        ("def f(x):\n    if x: return 1\n    x.sort()", "def f(x):\n    if x: return 1\n    else: pass\n    x.sort()"),
        (
            "def f(x):\n    if x: x.sort()",
            "def f(x):\n    if x: x.sort()\n    elif 0: pass\n    else:\n        'Nothing.'\n        0",
        ),
        (
            "def f(x):\n    if x: x.sort()\n    elif g(x): return 2",
            "def f(x):\n    if x: x.sort()\n    else:\n        if g(x): return 2\n        else: z: int",
        ),
        ("def f(x):\n    x.sort()", "def f(x):\n    x.sort()\n    return\n    pass"),
        ("def f(x):\n    x.sort()", "def f(x):\n    x.sort()\n    return None\n    0\n    zz: int"),
        (
            "def f(x):\n    if x: x.sort()",
            "def f(x):\n    if x:\n        x.sort()\n        return\n    else: return None",
        ),
        ("def f(x):\n    return g(x)", "def f(x):\n    return g(x)\n    x = 3\n    return x"),
        ("for x in y:\n    if x: f(x)", "for x in y:\n    if x:\n        f(x)\n        continue\n    continue"),
        ("def f(x):\n    x.sort()", "def f(x):\n    try: x.sort()\n    finally: pass"),
        ("def f(x):\n    x.sort()", "def f(x):\n    try: pass\n    except E: x.a()\n    else: x.sort()"),
        (
            "def f(x):\n    x.sort()",
            "def f(x):\n    f'note' 'b'\n    (1, -2)\n    assert True\n    while 0: pass\n    x.sort()",
        ),
        ("def f(x):\n    return f'{len(x)}:{x}'", "def f(x):\n    return '' f'{len(x)}' ':' f'{x:}' f''"),
        ("def f(x):\n    return f'{x:>4}a'", "def f(x):\n    return f'{f\"{x:>4}\"}{\"a\"}'"),
        ("def f(x):\n    return b'ab'", "def f(x):\n    return b'a' b'b'"),
        (
            "def f(x):\n    import math\n    return math.sqrt(x)",
            "def f(x):\n    import math as m\n    return m.sqrt(x)",
        ),
        (
            "def f(x):\n    import math\n    return math.sqrt(x)",
            "def f(x):\n    import math as math\n    return math.sqrt(x)",
        ),
        ("from math import sqrt, pi\nsqrt(pi)", "from math import sqrt as s, pi as p\ns(p)"),
        ("print(x)", "from __future__ import annotations\nprint: int\nprint(x)"),
        ("x = y + 0xFFFFFFFFFFFFFFFFFFFF", "x = y + 1_208_925_819_614_629_174_706_175"),
    ] {
        assert_eq!(program_fingerprint(one), program_fingerprint(other), "{one}\n{other}");
    }
}

#[test]
fn what_a_program_computes_is_in_its_fingerprint() {
    for (one, other) in [
        (SUM, "def total(xs):\n    result = 0\n    for x in xs:\n        result -= x\n    return result\n"),
        (SUM, "def total(xs):\n    result = 0\n    for x in xs:\n        result += x\n    return x\n"),
        ("def f(x):\n    return x + 1", "def f(x):\n    return x + 2"),
        ("def f(x, y):\n    return x - y", "def f(x, y):\n    return y - x"),
        ("def f(x):\n    return len(x)", "def f(x):\n    return sum(x)"),
        ("def f(x):\n    return x == 'a b'", "def f(x):\n    return x == 'a  b'"),
        ("def f(x):\n    return 'x'", "def f(y):\n    return 'y'"),
        ("def f(x):\n    if x:\n        x = 1\n    return x", "def f(x):\n    if x:\n        x = 1\n        return x"),
        ("def f(x):\n    return x.a", "def f(x):\n    return x.b"),
        ("def f(x):\n    return g(a=x)", "def f(x):\n    return g(b=x)"),
        ("def f(x):\n    y[x] = 1", "def f(x):\n    z[x] = 1"),
        ("def f(x=lambda y: y + 1):\n    return x", "def f(x=lambda y: y - 1):\n    return x"),
        ("def f(x):\n    return f'{x}'", "def f(x):\n    return '{x}'"),
        ("def f(x):\n    return r'\\n'", "def f(x):\n    return '\\n'"),
        ("def f(x):\n    return b'a'", "def f(x):\n    return 'a'"),
        ("def f(x):\n    return [x for y in x]", "def f(x):\n    return [y for y in x]"),
        ("def f(x):\n    return [y for x in x]", "def f(x):\n    return [x for x in x]"),
        ("class A:\n    a = 1", "class A:\n    b = 1"),
        ("def f(x):\n    def g(x): return x\n    return g(1)", "def f(x):\n    def g(y): return x\n    return g(1)"),
        ("x = 0\ndef f():\n    global x\n    x = 1", "x = 0\ndef f():\n    x = 1"),
        ("import os as a\na.x()", "import re as a\na.x()"),
        ("def f(x):\n    if x: return 1\n    elif f: return 2", "def f(x):\n    if x: return 1\n    else: return 2"),
        ("import os\nos.x()", "import re as os\nos.x()"),
        ("from os import a\na()", "from os import b\nb()"),
        ("import a.b\na.b.c()", "import a.b as a\na.b.c()"),
        ("def f(x):\n    return x\n", "def f(x):\n    return x\n    yield"),
        ("def f(x):\n    return len(x)\n", "def f(x):\n    return len(x)\n    len = 3"),
        ("def f(x):\n    len: int\n    return len(x)\n", "def f(x):\n    return len(x)"),
        ("def f(x):\n    if x: x.sort()", "def f(x):\n    if x: x.sort()\n    elif g(x): pass"),
        ("def f(x):\n    if x: return\n    x.sort()", "def f(x):\n    if x: pass\n    x.sort()"),
        ("for x in y:\n    if x: continue\n    f(x)", "for x in y:\n    if x: pass\n    f(x)"),
        ("for x in y:\n    if x: break", "for x in y:\n    if x: continue"),
        ("def f(x):\n    try: x.sort()\n    except E: pass", "def f(x):\n    try: x.sort()\n    finally: pass"),
        ("def f(x):\n    return f'{x:>4}'", "def f(x):\n    return f'{x:>}4'"),
        ("def f(x):\n    return f'{x}'", "def f(x):\n    return f'{x!r}'"),
        ("def f(x):\n    f'{x.pop()}'\n    return x + 1", "def f(x):\n    return x + 1"),
        ("this is no python", "this is no other"),
    ] {
        assert_ne!(program_fingerprint(one), program_fingerprint(other), "{one}\n{other}");
    }
}

#[test]
fn functions_are_found_where_they_are_and_short_ones_are_nobodys() {
    let module = format!(
        "import os\n\n@cache\n{SUM}\nclass A:\n    def each(self, f):\n        def inner(x): return f(x) + 1\n        return map(inner, self)\n    def __iter__(self):\n        return self\n\nx = 'def no(y):\\n    return y + y'\n"
    );
    let found: Vec<String> = functions(&module).into_iter().map(|function| function.name).collect();
    assert_eq!(found, ["total", "each", "inner"]);
    assert_eq!(functions(&module)[0].fingerprint, program_fingerprint(SUM));
    assert_eq!(functions(&module)[2].fingerprint, program_fingerprint("def g(y):\n    return f(y) + 1"));
}

fn guard() -> Guard {
    let mut guard = Guard::default();
    guard.add_program(EvalSet::HeldOut, "task 7", SUM);
    guard.add_text(EvalSet::Validation, "problem 3", "Add 3 to x.");
    let code = [("src/one.py", "def one(a):\n    return a * a + 1\n\n\ndef same(a):\n    return a\n")];
    guard.add_repository(EvalSet::HeldOut, "one", &Digest::of(b"one"), code);
    guard
}

#[test]
fn an_overlap_names_the_item_both_sets_and_what_to_do() {
    let guard = guard();
    let told = |refused: Result<(), Overlap>| refused.unwrap_err().to_string();
    assert_eq!(
        told(guard.check_program("`tasks.snippets`", "snippet 4", &SUM.replace("result", "sum_"))),
        "snippet 4 of `tasks.snippets` contains a program of the held_out set: `total` of task 7"
    );
    assert_eq!(
        told(guard.check_program("seeds", "seed 1", "import os\n\ndef two(b):\n    return b * b + 1")),
        "seed 1 of seeds contains a function of the held_out set: `one` of `one/src/one.py`"
    );
    assert_eq!(
        told(guard.check_text("given", "task 2", "add 3  to x")),
        "task 2 of given contains a text of the validation set: problem 3"
    );
    assert_eq!(
        told(guard.check_repository("training", "`two`", &Digest::of(b"one"))),
        "`two` of training contains a repository of the held_out set: repository `one`"
    );
    assert!(Overlap::HINT.starts_with("remove it from one of the two"));
    assert_eq!(guard.check_program("seeds", "1", "def same(b):\n    return b"), Ok(()), "too short to be anybody's");
    assert_eq!(guard.check_program("seeds", "1", &adds(3)), Ok(()));
    assert_eq!(guard.check_text("given", "1", "add 4 to x"), Ok(()));
    assert_eq!(guard.check_repository("training", "1", &Digest::of(b"two")), Ok(()));
}

#[test]
fn texts_that_differ_in_layout_alone_are_one() {
    let same = ["Add 3 to x.", "add 3  to x", "add 3, to\nx!"];
    assert!(same.iter().all(|text| text_fingerprint(text) == text_fingerprint(same[0])));
    let others = ["add -3 to x", "add 3 to y", "add 33 to x", "add x to 3"];
    assert!(others.iter().all(|text| text_fingerprint(text) != text_fingerprint(same[0])));
}

/// Texts are a policy's, and recursion over their trees must not end the process.
#[test]
fn nesting_without_end_has_a_fingerprint() {
    let deep = |open: &str, middle: &str, close: &str| {
        for count in [50, 1_500, 15_000, 200_000] {
            let text = format!("x = {}{middle}{}\n", open.repeat(count), close.repeat(count));
            assert_eq!(program_fingerprint(&text), program_fingerprint(&format!("{text}\n\n")), "{open} {count}");
            assert_eq!(functions(&text), []);
        }
    };
    deep("(", "1", ")");
    deep("[", "", "]");
    deep("f(", "", ")");
    deep("-", "1", "");
    deep("not ", "1", "");
    deep("lambda: ", "1", "");
    deep("1 if 2 else ", "3", "");
    deep("", "a", ".b");
    deep("", "a", "()");
    deep("", "a", "[0]");
    deep("1 % ", "1", "");
    deep("a or ", "b", "");
    deep("f'{", "1", "}'");
    deep("f\"{", "1", "}\"");
    let blocks: String = (0..3_000).map(|level| format!("{}if x:\n", " ".repeat(level))).collect();
    assert_eq!(functions(&blocks), []);
}

#[test]
fn layout_hides_no_function_and_what_nests_too_deep_is_refused() {
    let mut guard = Guard::default();
    guard.add_program(EvalSet::HeldOut, "sum", SUM);
    let blank = SUM.replace("\n    for", &format!("\n{}\n    for", " ".repeat(30_000)));
    let comment = SUM.replace("\n    for", &format!("\n{}# so far\n    for", " ".repeat(30_000)));
    let wide = SUM.replace("\n    ", &format!("\n{}", " ".repeat(30_000)));
    let beside = format!("{SUM}x = {}1\n", "1 + ".repeat(5_000));
    for program in [&blank, &comment, &wide, &beside] {
        assert!(guard.find_program(program).is_some(), "{}", &program[..60]);
    }
    let refused = guard.refuse_programs([format!("{SUM}x = {}''\n", "'' ".repeat(30_000)).as_str()]).unwrap();
    assert_eq!(refused.evidence.rule, HELD_OUT);
    assert!(refused.evidence.detail.contains("too deep"), "{refused:?}");
    assert_eq!(guard.refuse_programs(["x = 1 + 2 + 3\n"]), None);
}

/// Programs, and texts in each whose replacement changes what it computes.
const SAMPLES: [(&str, &[(&str, &str)]); 4] = [
    (
        "def f(x, y):\n    total = 0\n    for item in x:\n        if item > y:\n            total += item\n        elif item < 0:\n            continue\n        y = total\n    return total\n",
        &[("total = 0", "total = 1"), ("+=", "-="), ("continue", "break"), ("return total", "return y")],
    ),
    (
        "import math\ndef g(x):\n    if x < 0:\n        raise ValueError('negative')\n    while x > 9:\n        x = math.sqrt(x)\n    return f'{x}:{math.pi:.2f}'\n",
        &[
            ("math.sqrt", "math.exp"),
            ("'negative'", "'positive'"),
            (":.2f", ""),
            ("import math", "import cmath as math"),
        ],
    ),
    (
        "class Box:\n    def up(self, v):\n        if v:\n            self.v = v\n            return\n        self.v = v * 2\n    def down(self):\n        try:\n            return self.v\n        except AttributeError:\n            return 0\n        finally:\n            print(self)\n",
        &[("            return\n", ""), ("v * 2", "2 * v"), ("return 0", "return 1"), ("print(self)", "print()")],
    ),
    (
        "def h(n):\n    with n:\n        for k in n:\n            if k:\n                break\n            yield k\n    def inner():\n        nonlocal n\n        n = 1\n    match n:\n        case 1:\n            return inner\n        case _:\n            n()\n",
        &[("break", "pass"), ("yield k", "yield n"), ("n = 1", "n = 2"), ("case 1", "case 2"), ("nonlocal n", "pass")],
    ),
];

/// Statements of one line that do nothing.
const IDLE: [&str; 13] = [
    "pass", "0", "...", "'text' 'more'", "f'note' ''", "-1", "(1, [2.5, None])", "zz: int", "b'' b'x'", "if 0: pass",
    "assert True", "while False: 1", "f'{3}'",
];

/// Adds a part that does nothing at a line of a program, in one of four ways where it may stand there.
fn with_idle_part(program: &str, way: usize, place: usize, idle: &str) -> String {
    let mut lines: Vec<String> = program.lines().map(str::to_owned).collect();
    let at = place % lines.len();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (column, text) = (indent(&lines[at]), lines[at].trim_start().to_owned());
    let margin = " ".repeat(column);
    let starts = |line: &str, words: &[&str]| words.iter().any(|word| line.trim_start().starts_with(word));
    let joins = |line: &str| starts(line, &["else", "elif", "except", "finally", "case"]);
    match way {
        0 if !joins(&text) => lines.insert(at, format!("{margin}{idle}")),
        1 if starts(&text, &["return", "raise", "break", "continue"]) => {
            lines.insert(at + 1, format!("{margin}{idle}"))
        }
        2 if starts(&text, &["if", "for", "while"]) => {
            let end = (at + 1..lines.len()).find(|&line| indent(&lines[line]) <= column).unwrap_or(lines.len());
            let joined = lines.get(end).is_some_and(|line| indent(line) == column && joins(line));
            if !joined {
                lines.insert(end, format!("{margin}else: {}", if idle.contains(':') { "pass" } else { idle }));
            }
        }
        3 => {
            if let Some((name, value)) = text.split_once(" = ")
                && name.chars().all(char::is_alphabetic)
                && !program.contains("nonlocal")
            {
                lines[at] = format!("{margin}{name}: 'list[int]' = {value}");
            } else if text.starts_with("def ") {
                lines[at] = lines[at].replace("):", ") -> dict[str, int]:");
            }
        }
        _ => {}
    }
    format!("{}\n", lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn parts_that_do_nothing_keep_the_fingerprint_and_hide_no_change(
        sample in 0..SAMPLES.len(),
        parts in prop::collection::vec((0..4_usize, 0..64_usize, 0..IDLE.len()), 0..12),
    ) {
        let (plain, changes) = SAMPLES[sample];
        let pad = |program: &str| {
            parts.iter().fold(program.to_owned(), |text, &(way, place, idle)| with_idle_part(&text, way, place, IDLE[idle]))
        };
        let padded = pad(plain);
        prop_assert_eq!(program_fingerprint(plain), program_fingerprint(&padded), "{}", padded);
        let fingerprints = |program: &str| functions(program).into_iter().map(|found| found.fingerprint).collect::<Vec<_>>();
        prop_assert_eq!(fingerprints(plain), fingerprints(&padded), "{}", padded);
        for (from, to) in changes {
            let changed = pad(&plain.replacen(from, to, 1));
            prop_assert_ne!(program_fingerprint(plain), program_fingerprint(&changed), "{}", changed);
        }
    }

    #[test]
    fn any_text_has_a_fingerprint(text in "(def |class |lambda |for |in |f'|\"|'''|\\{|\\}|\\(|\\)|:|;|=|,|\\*|->|é|\\\\|\n|    |[a-c]|[0-9]|#|\\.){0,40}") {
        prop_assert_eq!(program_fingerprint(&text), program_fingerprint(&format!("# a remark\n\n{text}")));
        let _ = functions(&text);
    }
}
